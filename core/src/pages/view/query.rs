//! Defines the JSON of a run's tables and stored questions, for `prosescope query`.

use serde::{Deserialize, Serialize};

pub use crate::model::database::query::{QueryColumn, QueryTable, QueryView};

/// The tables and questions that SQL queries of a run can use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryTables {
    /// The tables: first the tables with the run's interpreted data, then the run's own tables.
    pub tables: Vec<QueryTable>,
    /// The stored questions, which callers use by name.
    pub questions: Vec<StoredQuestion>,
}

/// A question about a run that is stored as SQL under a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StoredQuestion {
    /// The question's name.
    pub name: String,
    /// What the question answers.
    pub about: String,
    /// The SQL statement.
    pub sql: String,
}
