//! Checks, before a writing statement runs, which code of the schema it would run, and refuses foreign code.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use prosescope_core::sqlite::{MOST_GIVEN, Program, program_of};
use prosescope_core::write::WriteError;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, Params};

use crate::record::fault;

/// The reason why a change was not written.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// A table of the schema would run code of its own. The text is a noun for that code, such as a trigger or a view.
    Foreign(String),
    /// The stored row differs from the written one; the text is a sentence about the difference.
    Otherwise(String),
}

impl From<rusqlite::Error> for Unwritten {
    fn from(error: rusqlite::Error) -> Unwritten {
        Unwritten::Sqlite(error)
    }
}

impl Unwritten {
    /// Returns the error of the command, whose transaction is rolled back.
    pub(super) fn into_command_error(self, path: &Path) -> WriteError {
        let name = path.display();
        let hint = "nothing was recorded; `prosescope check RUN` shows what is odd about the database, \
                    `prosescope check RUN --fix` writes a copy with OpenProse's tables alone";
        match self {
            Unwritten::Sqlite(error) => WriteError::Fault(fault::sqlite(path, &error)),
            Unwritten::Foreign(what) => WriteError::refused(
                "foreign-code",
                format!(
                    "{name} was not written: the database's schema would run {what} with each write"
                ),
                hint,
            ),
            Unwritten::Otherwise(what) => {
                let message = format!("{name} was not written: {what}");
                WriteError::refused("written-otherwise", message, hint)
            }
        }
    }
}

/// The statements of one transaction. The schema cannot change during the transaction.
pub(super) struct Statements<'a> {
    conn: &'a Connection,
    /// The checked statements, each with whether it runs expressions of the schema.
    looked_at: RefCell<HashMap<String, bool>>,
}

impl Statements<'_> {
    pub(super) fn new(conn: &Connection) -> Statements<'_> {
        Statements {
            conn,
            looked_at: RefCell::default(),
        }
    }

    /// Executes a writing statement, unless the schema adds code of its own; returns the number of changed rows.
    pub(super) fn run(&self, sql: &str, params: impl Params) -> Result<usize, Unwritten> {
        let known = self.looked_at.borrow().get(sql).copied();
        let bounded = match known {
            Some(bounded) => bounded,
            None => {
                let bounded = match program_of(self.conn, sql)? {
                    Program::Own => false,
                    Program::Bounded => true,
                    Program::Foreign(foreign) => return Err(Unwritten::Foreign(foreign)),
                };
                self.looked_at.borrow_mut().insert(sql.to_owned(), bounded);
                bounded
            }
        };
        let mut statement = self.conn.prepare_cached(sql)?;
        if !bounded {
            return Ok(statement.execute(params)?);
        }
        let before = self
            .conn
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_GIVEN)?;
        let done = statement.execute(params);
        self.conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, before)?;
        done.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::TooBig) => Unwritten::Foreign(format!(
                "expressions over a value of more than {} MB",
                MOST_GIVEN >> 20
            )),
            _ => error.into(),
        })
    }
}
