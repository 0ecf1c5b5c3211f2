//! Restricts which tables and functions a user's SQL query may use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use prosescope_authorizer::{Action, authorize};
use rusqlite::Connection;

use crate::model::database::FoundTable;
use crate::read::sqlite::guard::NOT_FUNCTIONS;

/// SQLite's own tables that describe the file, and table-valued functions that only compute.
const OF_SQLITE: &[&str] = &[
    "json_each",
    "json_tree",
    "pragma_table_info",
    "pragma_table_list",
    "pragma_table_xinfo",
    "sqlite_master",
    "sqlite_schema",
    "sqlite_sequence",
    "sqlite_stat1",
    "sqlite_stat4",
    "sqlite_temp_master",
    "sqlite_temp_schema",
];

/// Pragmas that describe the file. They are allowed only without an argument, because an argument may change a setting.
const PRAGMAS: &[&str] = &[
    "encoding",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
];
const TABLE_PRAGMAS: &[&str] = &[
    "index_info",
    "index_list",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Restricts later statements to reading the file's tables and the tables that Prosescope added. Stores the reason of
/// the first refusal in `refused`.
pub(super) fn only_reads(
    conn: &Connection,
    tables: &[FoundTable],
    refused: Arc<Mutex<Option<String>>>,
) -> rusqlite::Result<()> {
    let readable = Readable::of(tables);
    authorize(conn, move |action, _| {
        let why = readable.why_not(action);
        let allowed = why.is_none();
        if let (Some(why), Ok(mut first)) = (why, refused.lock()) {
            first.get_or_insert(why);
        }
        allowed
    })
}

/// The readable parts of a file. Names are in lower case.
struct Readable {
    tables: BTreeSet<String>,
    /// The file's views and virtual tables, by name, with their kind.
    others: BTreeMap<String, String>,
    /// The pairs of table and column whose values an expression of the file computes on reading.
    computed: BTreeSet<(String, String)>,
}

impl Readable {
    fn of(tables: &[FoundTable]) -> Readable {
        let mut readable = Readable {
            tables: OF_SQLITE.iter().map(|name| (*name).to_owned()).collect(),
            others: BTreeMap::new(),
            computed: BTreeSet::new(),
        };
        for found in tables {
            let name = found.info.name.to_lowercase();
            let computed = found.computed.iter().map(|c| c.to_lowercase());
            let computed = computed.map(|column| (name.clone(), column));
            readable.computed.extend(computed);
            if found.is_table() {
                let _ = readable.tables.insert(name);
            } else {
                drop(readable.others.insert(name, found.info.kind.clone()));
            }
        }
        readable
    }

    /// Returns the reason why an action is refused, as a clause without a full stop. Returns `None` if the action is
    /// allowed.
    fn why_not(&self, action: &Action<'_>) -> Option<String> {
        let one_of =
            |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        match action {
            Action::Select | Action::Recursive => None,
            Action::Read {
                database,
                table,
                column,
            } => self.why_not_read(database.as_deref(), table, column),
            Action::Function(name) => one_of(NOT_FUNCTIONS, name)
                .then(|| format!("the function {name} reaches outside the database")),
            Action::Pragma(name, value) => {
                let allowed =
                    one_of(TABLE_PRAGMAS, name) || (value.is_none() && one_of(PRAGMAS, name));
                (!allowed)
                    .then(|| format!("PRAGMA {name} is not in the list of pragmas that only read"))
            }
            _ => Some("the statement does more than read tables".to_owned()),
        }
    }

    fn why_not_read(&self, database: Option<&str>, table: &str, column: &str) -> Option<String> {
        let name = table.to_lowercase();
        if database == Some("temp") {
            return None;
        }
        if let Some(kind) = self.others.get(&name) {
            let kind = match kind.as_str() {
                "virtual" => "virtual table",
                kind => kind,
            };
            return Some(format!(
                "{table} is a {kind}: reading it would run code of the file, which is not trusted"
            ));
        }
        // If SQLite passes no database name, an unknown table name is the name of a subquery.
        if database.is_some_and(|database| database != "main" || !self.tables.contains(&name)) {
            return Some(format!("{table} is not a table of the run"));
        }
        let is_computed = self.computed.contains(&(name, column.to_lowercase()));
        is_computed.then(|| {
            format!("{table}.{column} is computed by an expression of the file, which is not trusted. Select the other columns by name")
        })
    }
}
