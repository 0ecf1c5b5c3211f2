//! A question in SQL that a person or a model asks of a store: what it is asked beside, how far it may go, and why it is
//! refused.

use super::{DecodeError, Value};
use crate::view::{QueryColumn, QueryTable};

/// Rows of an answer without a limit of its own.
pub const ROWS: u32 = 1_000;

/// The most rows of an answer.
pub const MOST_ROWS: u32 = 100_000;

/// Steps of SQLite's virtual machine that a question may take: about two seconds natively.
pub const STEPS: u64 = 100_000_000;

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
    /// The run's database cannot be opened.
    #[error(transparent)]
    Source(#[from] crate::source::SourceError),
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
            QueryError::Source(error) => match error {
                crate::source::SourceError::Database { next, .. } => next.clone(),
                _ => "Open the run again.".to_owned(),
            },
        }
    }
}

/// What to say about a name that nothing has: the likest of those that there are, and some of them. `kind` is SQLite's word
/// for it: `column`, `table`, `function`.
pub(crate) fn instead(kind: &str, name: &str, sql: &str, tables: &[QueryTable]) -> String {
    // A qualified name: `t.stauts`.
    let name = name.rsplit('.').next().unwrap_or(name);
    let (known, listed) = match kind {
        "table" => {
            let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            let listed = format!("The tables are {}.", names.join(", "));
            (names, listed)
        }
        "column" => {
            let named = words(sql);
            let asked = |table: &&QueryTable| named.contains(&table.name.to_lowercase());
            let asked: Vec<&QueryTable> = tables.iter().filter(asked).collect();
            let names = |table: &QueryTable| -> Vec<String> {
                table.columns.iter().map(|c| c.name.clone()).collect()
            };
            let lists: Vec<String> = asked
                .iter()
                .map(|table| format!("{} has {}.", table.name, names(table).join(", ")))
                .collect();
            let known = asked.iter().flat_map(|table| &table.columns);
            let known = known.map(|column| column.name.as_str()).collect();
            (known, lists.join(" "))
        }
        _ => (Vec::new(), String::new()),
    };
    match nearest(name, &known) {
        Some(near) => format!("Did you mean {near}? {listed}").trim().to_owned(),
        None => listed,
    }
}

/// The words of a statement, in small letters: every name in it that needs no quotes is among them.
pub(crate) fn words(sql: &str) -> std::collections::BTreeSet<String> {
    sql.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The name that is nearly this one: a third of its letters may be wrong, missing or swapped.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(64).collect();
    let far = |other: &str| {
        let other: Vec<char> = other.to_lowercase().chars().take(64).collect();
        distance(&wanted, &other)
    };
    let near = known.iter().map(|other| (far(other), *other)).min()?;
    (near.0 <= wanted.len().div_ceil(3)).then_some(near.1)
}

/// How many letters are wrong, missing, too many, or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut least = (at(&last, j) + usize::from(from != to))
                .min(at(&last, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if swapped {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        for (name, near) in [
            ("stauts", Some("status")),
            ("STATUS_", Some("status")),
            ("kin", Some("kind")),
            ("zzzzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &["status", "kind", "text"]), near, "{name}");
        }
        assert_eq!(nearest("a", &[]), None);
    }
}
