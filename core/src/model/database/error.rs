/// The reason why a whole database could not be read. A defect in one part of a database is an
/// [`crate::model::issue::Issue`] instead.
///
/// The error's message contains the fault and its cause; [`DecodeError::next_step`] returns the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The database's file has 0 bytes.
    #[error("the file is empty (0 bytes)")]
    Empty,
    /// The file is not a SQLite database.
    #[error("this is not a SQLite database: {what}")]
    NotSqlite {
        /// The file's size, and its probable type or its first bytes: `12 KB, a PNG picture`.
        what: String,
    },
    /// The file begins with random-looking bytes instead of a SQLite header: it is encrypted, or not a database.
    #[error(
        "this is not a readable SQLite database: {size} that look random, beginning with {head}; \
         it is probably encrypted"
    )]
    Encrypted {
        /// The file's size, in words: `12 KB`.
        size: String,
        /// The file's first 16 bytes, quoted and escaped.
        head: String,
    },
    /// The header announces more pages than the file contains.
    #[error("the database is cut off: its header announces {expected}, the file has {found}")]
    Truncated {
        /// The file's size according to its header, in words: `at least 512 bytes`.
        expected: String,
        /// The file's real size, in words.
        found: String,
    },
    /// The header contradicts itself.
    #[error("the database's header is damaged: {0}")]
    BadHeader(String),
    /// A database of another program: it has none of the tables of a run or of agents.
    #[error("this database contains neither a run nor agents: {0}")]
    NoTables(String),
    /// SQLite reports that the file is malformed.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// Another process holds a lock on the database.
    #[error("the database is locked by the program that writes it")]
    Locked,
    /// The file could not be read, or it is no longer the file that was opened.
    #[error("reading the database's file failed ({0}); it may have changed since it was opened")]
    Io(String),
    /// The deadline or the user stopped the reading.
    #[error("reading was stopped because it took too long")]
    Stopped,
    /// A value or a statement exceeds the limits, or its memory could not be allocated.
    #[error("the database asks for more memory than is allowed: {0}")]
    TooBig(String),
    /// The guard ([`crate::read::sqlite`]) refused an action that the file's schema demands.
    #[error(
        "reading was refused, because the database asks for an action that reading never needs: {0}"
    )]
    Refused(String),
    /// The table, row or column does not exist.
    #[error("there is no {0}")]
    NotFound(String),
    /// A database server does not answer, or refuses a request. The message names the server, without a password.
    #[error("{0}")]
    Server(String),
    /// Any other error of SQLite.
    #[error("SQLite cannot read the database: {0}")]
    Sqlite(String),
}

impl DecodeError {
    /// Returns what the user can do next, in one or two sentences.
    pub fn next_step(&self) -> &'static str {
        match self {
            DecodeError::Empty => {
                "The file was never written, or its content was lost while copying. Copy the file again, together with state.db-wal if there is one."
            }
            DecodeError::NotSqlite { .. } => {
                "Open the run's state.db, an agents.db, a run folder or its state.md."
            }
            DecodeError::Encrypted { .. } => {
                "Decrypt the file with the program that encrypted it, and open the result."
            }
            DecodeError::Truncated { .. } => {
                "Copy the file again from its source, because a download may have stopped early."
            }
            DecodeError::BadHeader(_) | DecodeError::Damaged(_) => {
                "Copy the file again from its source. If the error stays, `sqlite3 state.db .recover` may save the rows."
            }
            DecodeError::NoTables(_) => {
                "Open the state.db of a run (.prose/runs/ID/state.db) or an agents.db."
            }
            DecodeError::Locked => {
                "Wait until the writer is done, or open a copy made with `sqlite3 state.db .backup`."
            }
            DecodeError::Io(_) => "Open the file again.",
            DecodeError::Stopped => {
                "Open a smaller part of the database, or try again when the machine is less busy."
            }
            DecodeError::TooBig(_) => "Open a smaller part of the value.",
            DecodeError::Refused(_) => "Do not trust this file; ask the sender how it was made.",
            DecodeError::NotFound(_) => "Open the database again; it may have changed.",
            DecodeError::Server(_) => {
                "Check that the server runs and that the address is right, and try again."
            }
            DecodeError::Sqlite(_) => {
                "Open the database again. If the error stays, copy the file again from its source."
            }
        }
    }

    /// Returns whether reading itself failed, so that another attempt may succeed. Otherwise the content is unreadable.
    pub fn is_failed(&self) -> bool {
        matches!(
            self,
            DecodeError::Locked
                | DecodeError::Io(_)
                | DecodeError::Stopped
                | DecodeError::Server(_)
        )
    }

    /// Returns whether the deadline or the user stopped the reading.
    pub fn is_stopped(&self) -> bool {
        matches!(self, DecodeError::Stopped)
    }
}

/// Returns a number of bytes in words, for messages: `1 byte`, `12 bytes`, `3.4 MB`.
pub(crate) fn bytes_in_words(n: u64) -> String {
    match n {
        1 => "1 byte".into(),
        0..=9_999 => format!("{n} bytes"),
        10_000..=999_999 => format!("{:.0} KB", n as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}
