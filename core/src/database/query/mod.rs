//! A question in SQL that a person or a model asks of a store: what it is asked beside, how far it may go, and why it is
//! refused.

mod names;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{DecodeError, Value};
use crate::model::Cell;
pub(crate) use names::{instead, words};

/// Rows of an answer without a limit of its own.
pub const ROWS: u32 = 1_000;

/// The most rows of an answer.
pub const MOST_ROWS: u32 = 100_000;

/// Steps of SQLite's virtual machine that a question may take: about two seconds natively.
pub const STEPS: u64 = 100_000_000;

/// How long a shell lets a question take: longer than [`STEPS`] do on a slow machine, since a step may take long.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Bytes of a cell of an answer; the rest is cut.
pub const CELL: usize = 64 << 10;

/// Bytes of all cells of an answer.
pub const ANSWER: usize = 32 << 20;

/// A question.
pub struct Question<'a> {
    /// One statement.
    pub sql: &'a str,
    /// Tables that are put beside those of the store.
    pub beside: &'a [Beside<'a>],
    /// All tables that can be asked, for messages about a name that is none.
    pub tables: &'a [QueryTable],
    /// The most rows of the answer.
    pub limit: u32,
    /// The most steps, see [`STEPS`]. A clock or a cancel button stops it by the [`super::Limits`] with which the store was
    /// opened.
    pub steps: u64,
}

/// What takes a row; `false`: no more are wanted.
pub type Push<'p> = &'p mut dyn FnMut(&[Value<'_>]) -> bool;

/// What gives the rows of a table, one value a column.
pub type Fill<'a> = Box<dyn Fn(Push<'_>) + 'a>;

/// A table that is put beside those of the store, for as long as the question takes.
pub struct Beside<'a> {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<QueryColumn>,
    /// Gives its rows.
    pub fill: Fill<'a>,
}

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

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Nothing, or comments alone.
    #[error("the question has no SQL statement")]
    Empty,
    /// A stored question was asked for by a name that none has.
    #[error("no stored question is called {0}")]
    NoQuestion(String),
    /// More than one statement.
    #[error("the question has several SQL statements; it takes one")]
    Several,
    /// SQLite does not understand it.
    #[error("SQLite: {message}{}", at(.offset))]
    Sql {
        /// In SQLite's words.
        message: String,
        /// Where in the statement: characters before the place.
        offset: Option<usize>,
        /// What there is instead, or what to do.
        next: String,
    },
    /// It asks for more than reading tables.
    #[error("refused: {0}")]
    Refused(String),
    /// It took too long, or a person stopped it.
    #[error("stopped: the question takes longer than is allowed, about two seconds of computing")]
    Stopped,
    /// It needs too much memory.
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
    /// What to do next, in a sentence.
    pub fn next(&self) -> String {
        match self {
            QueryError::Empty => "Give a SELECT, such as SELECT * FROM trace.".to_owned(),
            QueryError::NoQuestion(_) => "Ask one of those that are listed.".to_owned(),
            QueryError::Several => "Ask one after the other.".to_owned(),
            QueryError::Sql { next, .. } => next.clone(),
            QueryError::Refused(_) => {
                "A question reads the run's tables and changes nothing; ask with SELECT.".to_owned()
            }
            QueryError::Stopped => {
                "Ask for less: name the rows with WHERE, and join tables by their keys.".to_owned()
            }
            QueryError::TooBig(_) => {
                "Ask for less: fewer rows, or no values longer than 16 MB; value_list has the beginning of each.".to_owned()
            }
            QueryError::Store(error) => error.next_step().to_owned(),
        }
    }
}
