use serde::{Deserialize, Serialize};

pub use crate::database::query::{QueryColumn, QueryTable, QueryView};

/// What can be asked of a run in SQL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryTables {
    /// The tables: those of what was understood of the run, then the run's own.
    pub tables: Vec<QueryTable>,
    /// Questions that have a name.
    pub questions: Vec<StoredQuestion>,
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
