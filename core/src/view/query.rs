use serde::{Deserialize, Serialize};

use super::Cell;

/// The answer to a question in SQL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryView {
    /// The columns, in the order of the statement.
    pub columns: Vec<QueryColumn>,
    /// The rows, in the order of the statement.
    pub rows: Vec<Vec<Cell>>,
    /// How many rows there are here.
    pub returned: u64,
    /// Whether the statement has more rows than these.
    pub more: bool,
    /// How many cells are cut.
    pub cut: u64,
    /// What to know of the answer, in sentences: rows were left out, values were not read.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A column of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryColumn {
    /// Its name.
    pub name: String,
    /// The type that its table declares; `None` for an expression, and where none is declared.
    pub declared: Option<String>,
}

/// What can be asked of a run in SQL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryTables {
    /// The tables: those of what was understood of the run, then the run's own.
    pub tables: Vec<QueryTable>,
    /// Questions that have a name.
    pub questions: Vec<StoredQuestion>,
}

/// A table that can be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryTable {
    /// Its name.
    pub name: String,
    /// Whether it is a table of the run's own database. The others show what was understood of the run, whatever its form.
    pub own: bool,
    /// What a row of it is; empty for the run's own tables.
    pub about: String,
    /// Rows; `None` where they are not counted.
    pub rows: Option<u64>,
    /// Its columns, in order.
    pub columns: Vec<QueryColumn>,
}

/// A question with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StoredQuestion {
    /// Its name.
    pub name: String,
    /// What it answers.
    pub about: String,
    /// The statement.
    pub sql: String,
}
