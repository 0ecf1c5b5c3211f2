//! Defines the JSON of a parsed duration, for the JavaScript package.

use serde::{Deserialize, Serialize};

use crate::model::timeout::Timeout;

/// A duration, parsed from the notation of programs (`4h`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimeoutView {
    /// The text of the duration, as the program writes it.
    pub text: String,
    /// The length in seconds.
    pub seconds: u64,
}

impl From<&Timeout> for TimeoutView {
    fn from(timeout: &Timeout) -> TimeoutView {
        TimeoutView {
            text: timeout.as_str().to_owned(),
            seconds: timeout.seconds(),
        }
    }
}
