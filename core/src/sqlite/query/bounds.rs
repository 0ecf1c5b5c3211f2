//! What a question may read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use prosescope_authorizer::{Action, authorize};
use rusqlite::Connection;

use crate::database::Found;
use crate::sqlite::guard::NOT_FUNCTIONS;

/// SQLite's own tables that tell something of the file, and table-valued functions that only compute.
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

/// Pragmas that tell something of a table or of the file.
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

/// Lets statements read the file's tables and ours, and nothing else from now on. Notes in `refused` why one is refused.
pub(super) fn only_reads(
    conn: &Connection,
    tables: &[Found],
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

/// What of a file can be read. Names are in small letters.
struct Readable {
    tables: BTreeSet<String>,
    /// Views and virtual tables, and what each is.
    others: BTreeMap<String, String>,
    /// Columns that the file computes on reading.
    computed: BTreeSet<(String, String)>,
}

impl Readable {
    fn of(tables: &[Found]) -> Readable {
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
            match found.is_table() {
                true => drop(readable.tables.insert(name)),
                false => drop(readable.others.insert(name, found.info.kind.clone())),
            }
        }
        readable
    }

    /// Why an action is refused, as a clause; `None` when it is allowed.
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
                .then(|| format!("the function {name} reaches out of the database")),
            Action::Pragma(name, value) => {
                let allowed =
                    one_of(TABLE_PRAGMAS, name) || (value.is_none() && one_of(PRAGMAS, name));
                (!allowed).then(|| format!("PRAGMA {name} is not one that only reads tables"))
            }
            _ => Some("the statement does something else than read tables".to_owned()),
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
                "{table} is a {kind}: the file says how it is read, and that is not trusted"
            ));
        }
        // Without a database, a name that is no table's is that of a subquery.
        if database.is_some_and(|database| database != "main" || !self.tables.contains(&name)) {
            return Some(format!("{table} is not a table of the run"));
        }
        let is_computed = self.computed.contains(&(name, column.to_lowercase()));
        is_computed.then(|| {
            format!("{table}.{column} is computed by an expression of the file, which is not trusted: name the other columns")
        })
    }
}
