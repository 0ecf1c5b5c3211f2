use serde::{Deserialize, Serialize};

/// A table of a database, known or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// `table`, `view`, `virtual` or `shadow`.
    pub kind: String,
    /// Rows; `None` where counting would read a view or run too long.
    pub rows: Option<u64>,
    /// Whether a document defines it; all others are extensions (`x_…`) or foreign.
    pub known: bool,
    /// Its columns, in order.
    pub columns: Vec<ColumnInfo>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// The type as declared, may be empty.
    pub declared: String,
    /// Whether a document defines it.
    pub known: bool,
}

/// A file of the run folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileInfo {
    /// Path inside the run folder, `/` between its parts.
    pub path: String,
    /// Bytes.
    pub len: u64,
    /// What it was read as: `state file`, `binding`, `program`, `attachment`, …; `None` for a file that nothing
    /// else here speaks of.
    pub role: Option<String>,
}
