use serde::{Deserialize, Serialize};

use crate::timeout::Timeout;

/// A duration as programs write it, read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimeoutView {
    /// The text as it was written.
    pub text: String,
    /// Its length in seconds.
    pub seconds: u64,
    /// What SQLite's `datetime('now', …)` takes, one modifier a unit.
    pub sqlite_modifiers: Vec<String>,
}

impl From<&Timeout> for TimeoutView {
    fn from(timeout: &Timeout) -> TimeoutView {
        TimeoutView {
            text: timeout.as_str().to_owned(),
            seconds: timeout.seconds(),
            sqlite_modifiers: timeout.sqlite_modifiers(),
        }
    }
}
