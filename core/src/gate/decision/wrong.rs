//! Errors of decision files: why a decision cannot become a file, and why a text is not a decision file.

use thiserror::Error;

use super::{FORMAT, MOST_BYTES};
use crate::gate::allow::{AllowError, Refusal};

/// The reason why a decision on a copy cannot become a decision file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoDecision {
    /// The gate is not pending.
    #[error("gate {0} is {1} already")]
    NotPending(String, String),
    /// The gate was not decided in the copy.
    #[error("gate {0} is {1} in the copy: there is no decision to import")]
    NotDecided(String, String),
    /// The gate's deadline has passed.
    #[error("gate {0} is past its deadline: only its time-out can be recorded")]
    PastDeadline(String),
    /// The gate's list of names cannot be read.
    #[error("nobody may decide gate {0}: {1}")]
    Allow(String, AllowError),
    /// The principal may not decide the gate, for example because the gate's `allow` list does not contain the name.
    #[error("gate {0}: {1}")]
    Refused(String, Refusal),
    /// The rejection lacks a reason. The VM or person that continues the run needs that reason.
    #[error("a rejection needs a reason")]
    NoReason,
    /// The copy was changed: its audit log does not agree with itself or with its gates.
    #[error("the audit log of the copy does not agree with itself or with the gates: {0}")]
    Contradicted(String),
}

/// The reason why a text is not a decision file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotADecision {
    /// The text is too long.
    #[error("the file has more than {MOST_BYTES} bytes, the limit for a decision file")]
    TooLong,
    /// The text is not JSON, or a key occurs twice.
    #[error("the file is not valid JSON: {0}")]
    NotJson(String),
    /// The JSON has no key `format`, so it is not a decision file.
    #[error("the key `format` is missing")]
    NoFormat,
    /// The file has the format of another version of Prosescope.
    #[error("the `format` is {0:?}, but this version of Prosescope reads {FORMAT:?}")]
    Format(String),
    /// A key is missing, unknown, or has a value of the wrong type.
    #[error("{0}")]
    Key(String),
    /// A value has the wrong form.
    #[error("`{key}` is {found:?}: expected {expected}")]
    Value {
        /// The key of the value.
        key: &'static str,
        /// The value in the file, shortened for the message.
        found: String,
        /// What the key's value should be, in words.
        expected: &'static str,
    },
}
