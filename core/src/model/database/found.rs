use crate::model::TableInfo;

/// The columns that contract 2 renamed, each with its table and its name before (contract-2.md, "Databases").
const RENAMED: [(&str, &str, &str); 7] = [
    ("run", "program_path", "root_path"),
    ("run", "program_source", "root_source"),
    ("bindings", "kind", "binding"),
    ("imports", "source_url", "source_ref"),
    ("imports", "fetched_at", "resolved_at"),
    ("imports", "inputs_schema", "requires_schema"),
    ("imports", "outputs_schema", "ensures_schema"),
];

/// Returns the name that contract 2 gives to a column of OpenProse; `None` if it kept the name.
pub(crate) fn renamed(table: &str, column: &str) -> Option<&'static str> {
    let mut renamed = RENAMED.iter();
    let is = |(of, old, _): &&(&str, &str, &str)| {
        of.eq_ignore_ascii_case(table) && old.eq_ignore_ascii_case(column)
    };
    renamed.find(is).map(|(_, _, new)| *new)
}

/// Returns whether contract 2 gives this name to a column of the table.
pub(crate) fn is_new_name(table: &str, column: &str) -> bool {
    let mut renamed = RENAMED.iter();
    renamed.any(|(of, _, new)| *of == table && new.eq_ignore_ascii_case(column))
}

/// A table of a database: its description for users ([`TableInfo`]), and what a store needs to read its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTable {
    /// The table's name, kind and columns.
    pub info: TableInfo,
    /// Columns of the primary key, in the key's order; empty without a primary key.
    pub key: Vec<String>,
    /// Whether the table was created `WITHOUT ROWID`: it then stores rows in the key's order, key columns first.
    pub without_rowid: bool,
    /// Columns computed on reading (`GENERATED … VIRTUAL`). They are never read, because their expression comes from
    /// the file and is not trusted.
    pub computed: Vec<String>,
    /// Columns that cannot be written: those of `computed`, and those computed on writing (`GENERATED … STORED`).
    pub generated: Vec<String>,
}

impl FoundTable {
    /// Returns whether the table has rows to read: an ordinary table, not a view or a virtual table.
    pub fn is_table(&self) -> bool {
        // A shadow table is the ordinary table in which a virtual table stores its rows.
        self.info.kind == "table" || self.info.kind == "shadow"
    }

    /// Returns a column's name as the table spells it, which may be the column's name since contract 2; `None` if the
    /// table lacks the column or computes it on reading.
    pub fn column(&self, name: &str) -> Option<&str> {
        let renamed = || self.spelled(renamed(&self.info.name, name)?);
        self.spelled(name)
            .or_else(renamed)
            .filter(|c| !self.computed.iter().any(|g| g == c))
    }

    fn spelled(&self, name: &str) -> Option<&str> {
        let mut columns = self.info.columns.iter().map(|c| c.name.as_str());
        columns.find(|c| c.eq_ignore_ascii_case(name))
    }

    /// Returns the columns that can be read, in the table's order.
    pub fn read_columns(&self) -> Vec<&str> {
        let columns = self.info.columns.iter().map(|c| c.name.as_str());
        columns
            .filter(|c| !self.computed.iter().any(|g| g == c))
            .collect()
    }

    /// Returns the columns in the order in which a row stores them. To read a column, SQLite walks over all columns
    /// that are stored before it.
    pub fn stored_order(&self) -> Vec<&str> {
        let stored = self
            .info
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .filter(|c| !self.computed.iter().any(|g| g == c));
        if !self.without_rowid {
            return stored.collect();
        }
        let in_key = |c: &str| self.key.iter().any(|k| k.eq_ignore_ascii_case(c));
        let mut order: Vec<&str> = self.key.iter().filter_map(|k| self.column(k)).collect();
        order.extend(stored.filter(|c| !in_key(c)));
        order
    }

    /// Returns a name for this table's rowid: the first of SQLite's three names that is not also a column's name.
    pub fn rowid_name(&self) -> Option<&'static str> {
        if self.without_rowid || !self.is_table() {
            return None;
        }
        ["_rowid_", "rowid", "oid"].into_iter().find(|alias| {
            !self
                .info
                .columns
                .iter()
                .any(|c| c.name.eq_ignore_ascii_case(alias))
        })
    }
}
