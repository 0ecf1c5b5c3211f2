use serde::{Deserialize, Serialize};

/// A table of a database, whether OpenProse defines it or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableInfo {
    /// The table's name in the database.
    pub name: String,
    /// The kind of table: `table`, `view`, `virtual` or `shadow`.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "\"table\" | \"view\" | \"virtual\" | \"shadow\" | (string & {})")
    )]
    pub kind: String,
    /// The number of rows; `None` if counting would evaluate a view or take too long.
    pub rows: Option<u64>,
    /// Whether OpenProse defines the table; other tables are extensions (`x_…`) or foreign.
    pub known: bool,
    /// The columns of the table, in order.
    pub columns: Vec<ColumnInfo>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ColumnInfo {
    /// The name of the column.
    pub name: String,
    /// The declared type; may be empty.
    pub declared: String,
    /// Whether OpenProse defines the column.
    pub known: bool,
}

/// A file of the run folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileInfo {
    /// The path inside the run folder, with `/` as separator.
    pub path: String,
    /// Size in bytes.
    pub len: u64,
    /// The part of the run as which the file was read: `state file`, `binding`, `program`, `attachment`, …; `None` for
    /// a file that no other part of the run refers to.
    pub role: Option<String>,
}

/// A page of a table's rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableRows {
    /// The name of the table that the rows are from.
    pub table: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The number of further columns that are not included here.
    #[serde(default)]
    pub more_columns: u32,
    /// The index of the first row of the page, counted from 0.
    pub from: u64,
    /// The total number of rows, if counted.
    pub total: Option<u64>,
    /// The rows of the page. Each has one cell for each column.
    pub rows: Vec<Vec<ShownCell>>,
}

/// A cell: its storage type, its beginning, and its length.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShownCell {
    /// The storage type of the cell: `null`, `integer`, `real`, `text`, `blob`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "typescript", ts(as = "crate::pages::view::known::CellType"))]
    pub stored: String,
    /// The cell as text, possibly cut; a blob as hexadecimal digits.
    pub text: String,
    /// The length of the whole cell in bytes.
    pub len: u64,
    /// Whether `text` contains only the beginning of the cell.
    pub cut: bool,
}
