use serde::{Deserialize, Serialize};

/// A table of a database, known or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// `table`, `view`, `virtual` or `shadow`.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "\"table\" | \"view\" | \"virtual\" | \"shadow\" | (string & {})")
    )]
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

/// A window of a table's rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableRows {
    /// The table.
    pub table: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// How many more it has than are given here.
    #[serde(default)]
    pub more_columns: u32,
    /// The first row's place.
    pub from: u64,
    /// Rows in all, where it was counted.
    pub total: Option<u64>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell: how it is stored, its beginning, and its length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cell {
    /// `null`, `integer`, `real`, `text`, `blob`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "typescript", ts(as = "crate::view::known::CellType"))]
    pub stored: String,
    /// Its text, cut; bytes of a blob as hex.
    pub text: String,
    /// Bytes in all.
    pub len: u64,
    /// Whether `text` is not all of it.
    pub cut: bool,
}
