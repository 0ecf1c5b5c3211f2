//! The types of an SQL query that a user or a language model runs on a store: the query's extra tables, its limits,
//! its answer, and the reasons for refusing it.

mod names;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{DecodeError, Value};
use crate::model::ShownCell;
pub(crate) use names::{instead, words};

/// Maximum number of rows in an answer, unless the query sets a limit.
pub const ROWS: u32 = 1_000;

/// The highest limit that a query may set, in rows.
pub const MOST_ROWS: u32 = 100_000;

/// Maximum number of steps of SQLite's virtual machine for one query: about two seconds of native computing.
pub const STEPS: u64 = 100_000_000;

/// Maximum duration of one query in a shell. Even a slow machine executes [`STEPS`] in less time; this limit stops a
/// query whose single steps are slow.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Time after which a shell gives up a query that [`DEADLINE`] did not end: SQLite is interrupted between its steps only,
/// and one step, such as `instr` of two long texts, can take hours.
pub const LAST_STEP: Duration = Duration::from_secs(1);

/// Maximum bytes of one cell in an answer; a longer cell is cut.
pub const CELL: usize = 64 << 10;

/// Maximum bytes of all cells of an answer together.
pub const ANSWER: usize = 32 << 20;

/// An SQL query with its limits.
pub struct Question<'a> {
    /// A single SQL statement.
    pub sql: &'a str,
    /// Tables that the query may use in addition to those of the store.
    pub beside: &'a [AddedTable<'a>],
    /// All tables that the query may use; an error message about an unknown name lists them.
    pub tables: &'a [QueryTable],
    /// Maximum number of rows in the answer.
    pub limit: u32,
    /// Maximum number of steps, see [`STEPS`]. A clock or a cancel button stops the query through the
    /// [`super::Limits`] with which the store was opened.
    pub steps: u64,
}

/// A callback that receives a row, and returns `false` to stop.
pub type Push<'p> = &'p mut dyn FnMut(&[Value<'_>]) -> bool;

/// A function that passes all rows of a table to a callback, one value per column.
pub type Fill<'a> = Box<dyn Fn(Push<'_>) + 'a>;

/// A table that is added to the store's tables while the query runs.
pub struct AddedTable<'a> {
    /// The name by which the query can use the table.
    pub name: String,
    /// The table's columns.
    pub columns: Vec<QueryColumn>,
    /// The function that provides the table's rows.
    pub fill: Fill<'a>,
}

/// The answer to an SQL query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryView {
    /// The columns, in the order of the statement.
    pub columns: Vec<QueryColumn>,
    /// The rows, in the order of the statement.
    pub rows: Vec<Vec<ShownCell>>,
    /// Number of rows in this answer.
    pub returned: u64,
    /// Whether the statement has more rows than this answer contains.
    pub more: bool,
    /// Number of cells that were cut.
    pub cut: u64,
    /// Remarks on the answer, in sentences: omitted rows, values that were not read.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A column of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryColumn {
    /// The column's name.
    pub name: String,
    /// The type that the column's table declares; `None` for an expression or an undeclared type.
    pub declared: Option<String>,
}

/// A table that a query may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryTable {
    /// The table's name in SQL statements.
    pub name: String,
    /// Whether the table belongs to the run's own database. The other tables are computed from the run, whatever its
    /// form.
    pub own: bool,
    /// What one row of the table describes; empty for the run's own tables.
    pub about: String,
    /// Number of rows; `None` if they are not counted.
    pub rows: Option<u64>,
    /// The table's columns, in order.
    pub columns: Vec<QueryColumn>,
}

/// The reason why a query was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The text is empty, or contains only comments.
    #[error("the question has no SQL statement")]
    Empty,
    /// A stored query of that name does not exist.
    #[error("no stored question is called {0}")]
    NoQuestion(String),
    /// The text contains several statements.
    #[error("the question has several SQL statements, but only one is allowed")]
    Several,
    /// SQLite rejects the statement.
    #[error("SQLite: {message}{}", at(.offset))]
    Sql {
        /// SQLite's own message.
        message: String,
        /// Position in the statement: the number of characters before it.
        offset: Option<usize>,
        /// A similar name that exists, or the next step.
        next: String,
    },
    /// The statement does more than read tables.
    #[error("refused: {0}")]
    Refused(String),
    /// The query took too long, or the user stopped it.
    #[error("stopped: the question takes longer than is allowed, about two seconds of computing")]
    Stopped,
    /// The query needs too much memory.
    #[error("the question needs more memory than is allowed: {0}")]
    TooBig(String),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] DecodeError),
}

fn at(offset: &Option<usize>) -> String {
    offset.map_or_else(String::new, |offset| {
        format!(" (at character {})", offset + 1)
    })
}

impl QueryError {
    /// Returns what the user can do next, in a sentence.
    pub fn next(&self) -> String {
        match self {
            QueryError::Empty => "Give a SELECT, such as SELECT * FROM trace.".to_owned(),
            QueryError::NoQuestion(_) => "Ask one of the listed questions.".to_owned(),
            QueryError::Several => "Run one statement at a time.".to_owned(),
            QueryError::Sql { next, .. } => next.clone(),
            QueryError::Refused(_) => {
                "A question reads the run's tables and changes nothing; ask with SELECT.".to_owned()
            }
            QueryError::Stopped => {
                "Ask for less: restrict the rows with WHERE, and join tables by their keys.".to_owned()
            }
            QueryError::TooBig(_) => {
                "Ask for less: fewer rows, or no values longer than 16 MB. The table `value_list` has the beginning of each value.".to_owned()
            }
            QueryError::Store(error) => error.next_step().to_owned(),
        }
    }
}
