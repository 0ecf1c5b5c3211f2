/// Why a database could not be read at all. What is odd in a part of it is an [`crate::issue::Issue`].
///
/// The message says what was found and why; [`DecodeError::next_step`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A file of no bytes.
    #[error("the file is empty (0 bytes)")]
    Empty,
    /// Something else than a database.
    #[error("this is not a SQLite database: {what}")]
    NotSqlite {
        /// How much of it there is, and what it probably is, or how it begins: `12 KB, a PNG picture`.
        what: String,
    },
    /// Noise where a header should be: an encrypted database, or not one.
    #[error(
        "this is not a readable SQLite database: {size} that look random, beginning with {head}; \
         it is probably encrypted"
    )]
    Encrypted {
        /// How much of it there is.
        size: String,
        /// The first bytes.
        head: String,
    },
    /// The header announces more pages than there are bytes.
    #[error("the database is cut off: its header says {expected}, the file has {found}")]
    Truncated {
        /// Bytes that the header announces.
        expected: String,
        /// Bytes that are there.
        found: String,
    },
    /// A header that contradicts itself.
    #[error("the database's header is damaged: {0}")]
    BadHeader(String),
    /// A database of somebody else.
    #[error("no run and no agents are in this database: {0}")]
    NoTables(String),
    /// SQLite says that the file is malformed.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// Somebody holds a lock.
    #[error("the database is locked by the program that writes it")]
    Locked,
    /// The file could not be read, or is not the one that was opened.
    #[error("reading the database's file failed ({0}); it may have changed since it was opened")]
    Io(String),
    /// Reading was stopped by the deadline or by a person.
    #[error("reading was stopped because it took too long")]
    Stopped,
    /// A value or a statement beyond the limits, or no memory for it.
    #[error("the database asks for more memory than is allowed: {0}")]
    TooBig(String),
    /// The guard refused what the file asks for.
    #[error("the database asks for something that reading never needs: {0}")]
    Refused(String),
    /// There is no such table, row or column.
    #[error("there is no {0}")]
    NotFound(String),
    /// A database server does not answer, or refuses; the message names it, without a password.
    #[error("{0}")]
    Server(String),
    /// Anything else that SQLite says.
    #[error("SQLite cannot read the database: {0}")]
    Sqlite(String),
}

impl DecodeError {
    /// What to do next, in one sentence.
    pub fn next_step(&self) -> &'static str {
        match self {
            DecodeError::Empty => {
                "Nothing was written to it, or it was lost while copying; copy it again, with state.db-wal if there is one."
            }
            DecodeError::NotSqlite { .. } => {
                "Open the run's state.db, an agents.db, a run folder or its state.md."
            }
            DecodeError::Encrypted { .. } => {
                "Decrypt it with the program that made it, and open the result."
            }
            DecodeError::Truncated { .. } => {
                "Copy it again from where it came; a download may have stopped early."
            }
            DecodeError::BadHeader(_) | DecodeError::Damaged(_) => {
                "Copy it again from where it came; if that is no better, `sqlite3 state.db .recover` may save its rows."
            }
            DecodeError::NoTables(_) => {
                "Open the state.db of a run (.prose/runs/ID/state.db) or an agents.db."
            }
            DecodeError::Locked => {
                "Wait until the writer is done, or open a copy made with `sqlite3 state.db .backup`."
            }
            DecodeError::Io(_) => "Open it again.",
            DecodeError::Stopped => {
                "Open a smaller part of it, or try again when the machine is less busy."
            }
            DecodeError::TooBig(_) => "Open a smaller part of the value.",
            DecodeError::Refused(_) => "Do not trust this file; ask the sender how it was made.",
            DecodeError::NotFound(_) => "Open the database again; it may have changed.",
            DecodeError::Server(_) => {
                "Check that the server runs and that the address is right, and try again."
            }
            DecodeError::Sqlite(_) => {
                "Open it again; if it stays so, copy it again from where it came."
            }
        }
    }

    /// Whether reading failed, so that another try may succeed; else what is there cannot be read.
    pub fn is_failed(&self) -> bool {
        matches!(
            self,
            DecodeError::Locked
                | DecodeError::Io(_)
                | DecodeError::Stopped
                | DecodeError::Server(_)
        )
    }

    /// Whether reading was stopped by the deadline or by a person.
    pub fn is_stopped(&self) -> bool {
        matches!(self, DecodeError::Stopped)
    }
}

/// `1 byte`, `12 bytes`, `3.4 MB`: for messages.
pub(crate) fn bytes_in_words(n: u64) -> String {
    match n {
        1 => "1 byte".into(),
        0..=9_999 => format!("{n} bytes"),
        10_000..=999_999 => format!("{:.0} KB", n as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}
