use thiserror::Error;

use super::{FORMAT, MOST_BYTES};
use crate::gate::allow::{AllowError, Refusal};

/// Why a gate of a copy has no decision that could be carried to the run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoDecision {
    /// It is not pending.
    #[error("gate {0} is {1} already")]
    NotPending(String, String),
    /// It was not decided in the copy.
    #[error("gate {0} is {1} in the copy: there is no decision to import")]
    NotDecided(String, String),
    /// Its deadline has passed.
    #[error("gate {0} is past its deadline: only its time-out can be recorded")]
    PastDeadline(String),
    /// Its list of names cannot be read.
    #[error("gate {0} admits nobody: {1}")]
    Allow(String, AllowError),
    /// Its list does not allow the name.
    #[error("gate {0}: {1}")]
    Refused(String, Refusal),
    /// A rejection has no reason: whoever continues the run reads it.
    #[error("a rejection needs a reason")]
    NoReason,
    /// The copy's own log shows that it was changed.
    #[error("the audit log of the copy does not agree with itself or with the gates: {0}")]
    Contradicted(String),
}

/// Why a text is not a decision file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotADecision {
    /// It is too long.
    #[error("it has more than {MOST_BYTES} bytes, the most of a decision file")]
    TooLong,
    /// It is not JSON, or has a key twice.
    #[error("it is not valid JSON: {0}")]
    NotJson(String),
    /// It is JSON of another kind.
    #[error("it does not begin as a decision file: its `format` is missing")]
    NoFormat,
    /// Another version wrote it.
    #[error("its format is {0:?}, and this version reads {FORMAT:?}")]
    Format(String),
    /// A key is missing, unknown, or of another type.
    #[error("{0}")]
    Key(String),
    /// A value has another form.
    #[error("`{key}` is {found:?}: expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value, cut.
        found: String,
        /// Its form.
        expected: &'static str,
    },
}
