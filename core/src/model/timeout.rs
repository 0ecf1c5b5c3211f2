//! Parses the timeout of a gate, such as `2h30m`, computes the deadline, and formats both.
//!
//! The grammar (errata F5): units d, h, m, s, each after a whole number. Each unit occurs at most once, the largest
//! first. Blanks are allowed only around the whole duration.
//!
//! ```
//! use prosescope_core::model::timeout::{Timeout, expires_in};
//! let timeout = Timeout::parse(" 2h30m ")?;
//! assert_eq!(timeout.seconds(), 9000);
//! assert_eq!(timeout.deadline(0)?, 9_000_000);
//! assert_eq!(expires_in(9_000_000, 0), "expires in 2h 30m");
//! assert_eq!(
//!     Timeout::parse("30m2h").unwrap_err().to_string(),
//!     "`30m2h` is not of the form `30m`, `24h`, `7d` or `2h30m`: a whole number before each unit, the units in the order d, h, m, s"
//! );
//! # Ok::<(), prosescope_core::model::timeout::TimeoutError>(())
//! ```

use thiserror::Error;

use crate::model::text::{escape, short};
use crate::model::time::human_duration;

/// Milliseconds of 10000-01-01 UTC. From this time on, SQLite's `datetime` returns NULL, so a gate would never expire.
pub const END_OF_TIME_MS: i64 = 253_402_300_800_000;

/// The units, largest first. Each has a letter and a length in seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Maximum characters of a text that an error shows.
const SHOWN: usize = 40;

/// A gate's timeout, longer than zero, with the text that the program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeout {
    text: String,
    seconds: u64,
}

/// Why a text is not a valid timeout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeoutError {
    /// The text is empty or blank.
    #[error("the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`")]
    Empty,
    /// The text does not follow the grammar.
    #[error(
        "`{text}` is not of the form `30m`, `24h`, `7d` or `2h30m`: a whole number before each unit, the units in the order d, h, m, s"
    )]
    NotADuration {
        /// The text, shortened and escaped.
        text: String,
    },
    /// All numbers are zero.
    #[error("`{text}` is not a duration: the sum must be above zero")]
    Zero {
        /// The duration, as the program writes it.
        text: String,
    },
    /// A number is too large: the timeout would be as long as the time from 1970 to the year 10000, or longer.
    #[error("`{text}` is too long: the deadline must be before the year 10000")]
    TooLarge {
        /// The duration, shortened.
        text: String,
    },
    /// The deadline is in the year 10000 or later.
    #[error(
        "`{text}` from now is beyond the year 9999, where no deadline can be kept: give a shorter timeout"
    )]
    DeadlineTooFar {
        /// The duration, as the program writes it.
        text: String,
    },
}

impl Timeout {
    /// Parses a duration, such as `2h30m` (errata F5).
    ///
    /// # Errors
    /// [`TimeoutError`] with the text and the expected form.
    pub fn parse(text: &str) -> Result<Timeout, TimeoutError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(TimeoutError::Empty);
        }
        let shown = || escape(&short(trimmed, SHOWN), false);
        // A unit is searched only after the units before it, so a repeated unit or a larger unit is not found.
        let mut units = UNITS.iter();
        let mut seconds = 0_u64;
        let mut rest = trimmed;
        while !rest.is_empty() {
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let number = rest.strip_suffix(after).unwrap_or_default();
            let mut signs = after.chars();
            let letter = signs.next().filter(|_| !number.is_empty());
            let unit = units.find(|(unit, _)| letter == Some(*unit));
            let (_, length) = unit.ok_or_else(|| TimeoutError::NotADuration { text: shown() })?;
            let count = number.parse::<u64>().ok();
            // Rejects a sum as long as the time from 1970 to the year 10000, because the deadline of a gate must be
            // before that year.
            seconds = count
                .and_then(|count| seconds.checked_add(count.checked_mul(*length)?))
                .filter(|sum| i64::try_from(*sum).is_ok_and(|sum| sum < END_OF_TIME_MS / 1000))
                .ok_or_else(|| TimeoutError::TooLarge { text: shown() })?;
            rest = signs.as_str();
        }
        if seconds == 0 {
            return Err(TimeoutError::Zero {
                text: trimmed.to_owned(),
            });
        }
        Ok(Timeout {
            text: text.to_owned(),
            seconds,
        })
    }

    /// Returns the text as written, for display.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the length in seconds.
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// Returns the deadline of a gate created at `from_ms`; both are milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// [`TimeoutError::DeadlineTooFar`] if the deadline is not before the year 10000.
    pub fn deadline(&self, from_ms: i64) -> Result<i64, TimeoutError> {
        i64::try_from(self.seconds)
            .ok()
            .and_then(|seconds| seconds.checked_mul(1000))
            .and_then(|length| from_ms.checked_add(length))
            .filter(|deadline| *deadline < END_OF_TIME_MS)
            .ok_or_else(|| TimeoutError::DeadlineTooFar {
                text: self.text.trim().to_owned(),
            })
    }
}

/// Returns how far away a deadline is: `expires in 3h 12m`, `expired 5m ago`. A gate is not expired at the deadline
/// itself.
pub fn expires_in(deadline_ms: i64, now_ms: i64) -> String {
    let left = deadline_ms.saturating_sub(now_ms);
    if left < 0 {
        format!("expired {} ago", human_duration(left.saturating_neg()))
    } else if left == 0 {
        "expires now".to_owned()
    } else {
        format!("expires in {}", human_duration(left))
    }
}

#[cfg(test)]
mod tests;
