use crate::model::TableInfo;

/// A table as it was found in a database: what [`TableInfo`] shows, and what reading it needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Name, kind, columns.
    pub info: TableInfo,
    /// Columns of the primary key, in the key's order; empty when there is none.
    pub key: Vec<String>,
    /// Whether it was made `WITHOUT ROWID`: rows are then stored in the key's order, key columns first.
    pub without_rowid: bool,
    /// Columns computed on reading (`GENERATED … VIRTUAL`): never read, their expression is the file's.
    pub computed: Vec<String>,
    /// Columns that cannot be written: those of `computed`, and those computed on writing (`GENERATED … STORED`).
    pub generated: Vec<String>,
}

impl Found {
    /// Whether rows can be read from it: an ordinary table, not a view or a virtual table.
    pub fn is_table(&self) -> bool {
        // A shadow table is the ordinary table in which a virtual one keeps its rows.
        self.info.kind == "table" || self.info.kind == "shadow"
    }

    /// The name of a column as the table spells it, when it is there and stored (not computed).
    pub fn column(&self, name: &str) -> Option<&str> {
        self.info
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .find(|c| c.eq_ignore_ascii_case(name))
            .filter(|c| !self.computed.iter().any(|g| g == c))
    }

    /// The columns that can be read, in the table's own order.
    pub fn read_columns(&self) -> Vec<&str> {
        let columns = self.info.columns.iter().map(|c| c.name.as_str());
        columns
            .filter(|c| !self.computed.iter().any(|g| g == c))
            .collect()
    }

    /// The columns in the order in which a row stores them. Reading one means walking over those before it.
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

    /// A name by which this table's rowid can be asked for: the first of SQLite's three that no column takes.
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
