//! Parses the timeout of a gate, such as `2h30m`, computes the deadline, and formats both.
//!
//! The grammar (errata F5): units d, h, m, s, each after a whole number. Each unit occurs at most once, the largest
//! first. Blanks are allowed only around the whole duration.
//!
//! | text | seconds | SQLite modifiers |
//! |---|---|---|
//! | `30s` | 30 | `+30 seconds` |
//! | `4h` | 14400 | `+4 hours` |
//! | `2h30m` | 9000 | `+2 hours`, `+30 minutes` |
//!
//! ```
//! use prosescope_core::timeout::{Timeout, expires_in};
//! let timeout = Timeout::parse(" 2h30m ")?;
//! assert_eq!(timeout.seconds(), 9000);
//! assert_eq!(timeout.deadline(0)?, 9_000_000);
//! assert_eq!(expires_in(9_000_000, 0), "expires in 2h 30m");
//! assert_eq!(
//!     Timeout::parse("30m2h").unwrap_err().to_string(),
//!     "`h` at character 5 comes after a smaller unit: write the largest first (d, h, m, s)"
//! );
//! # Ok::<(), prosescope_core::timeout::TimeoutError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::time::human_duration;

/// Milliseconds of 10000-01-01 UTC. From this time on, SQLite's `datetime` returns NULL, so a gate would never expire.
pub const END_OF_TIME_MS: i64 = 253_402_300_800_000;

/// The units, largest first. Each has a letter, a length in seconds, and SQLite's word.
const UNITS: [(char, u64, &str); 4] = [
    ('d', 86_400, "days"),
    ('h', 3_600, "hours"),
    ('m', 60, "minutes"),
    ('s', 1, "seconds"),
];

/// A gate's timeout, longer than zero, with the text that the program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeout {
    text: String,
    /// The number before each unit, in the order of [`UNITS`]; `None` if the unit does not occur.
    counts: [Option<u64>; 4],
    seconds: u64,
}

/// Why a text is not a valid timeout. Positions count characters from 1, including blanks at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeoutError {
    /// The text is empty or blank.
    #[error("the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`")]
    Empty,
    /// A number was expected.
    #[error("{found} at character {at}: expected a whole number{}", hint(.found))]
    ExpectedNumber {
        /// Position of the character.
        at: usize,
        /// The character found instead.
        found: Found,
    },
    /// A unit was expected.
    #[error("{found} at character {at}: expected a unit after `{number}`: d, h, m or s{}", hint(.found))]
    ExpectedUnit {
        /// Position of the character, or of the end.
        at: usize,
        /// The character found instead.
        found: Found,
        /// The number after which the unit is missing.
        number: String,
    },
    /// A unit occurs twice.
    #[error("`{unit}` at character {at} is repeated: give each unit once")]
    Repeated {
        /// Position of the unit.
        at: usize,
        /// The unit.
        unit: char,
    },
    /// A larger unit comes after a smaller one.
    #[error(
        "`{unit}` at character {at} comes after a smaller unit: write the largest first (d, h, m, s)"
    )]
    OutOfOrder {
        /// Position of the unit.
        at: usize,
        /// The unit.
        unit: char,
    },
    /// All numbers are zero.
    #[error("`{text}` is not a duration: the sum must be above zero")]
    Zero {
        /// The duration, as the program writes it.
        text: String,
    },
    /// A number is too large: the timeout would be as long as the time from 1970 to the year 10000, or longer.
    #[error(
        "the number at character {at} is too large: the deadline must be before the year 10000"
    )]
    TooLarge {
        /// Position of the number.
        at: usize,
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

/// The character at the position of a fault, or the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The end of the text.
    End,
    /// A character.
    Sign(char),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Found::End => f.write_str("the end"),
            Found::Sign(sign) if sign.is_whitespace() => f.write_str("a blank"),
            Found::Sign(sign) => write!(f, "`{}`", sign.escape_debug()),
        }
    }
}

fn hint(found: &Found) -> &'static str {
    match found {
        Found::Sign(sign) if sign.is_whitespace() => " (no blanks inside)",
        Found::Sign('.' | ',') => " (no fractions: `1h30m`, not `1.5h`)",
        Found::Sign('D' | 'H' | 'M' | 'S') => " (in small letters)",
        Found::Sign('w') => " (a week is `7d`)",
        Found::Sign('-' | '+') => " (no sign)",
        _ => "",
    }
}

impl Timeout {
    /// Parses a duration, such as `2h30m` (errata F5).
    ///
    /// # Errors
    /// [`TimeoutError`] with the fault, its position, and the expected text.
    pub fn parse(text: &str) -> Result<Timeout, TimeoutError> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(TimeoutError::Empty);
        }
        let before = text.len() - text.trim_start().len();
        let before = text.get(..before).unwrap_or_default().chars().count();
        let mut signs = (before + 1..).zip(trimmed.chars()).peekable();
        let end = before + 1 + trimmed.chars().count();
        let mut counts = [None; 4];
        let mut seconds = 0_u64;
        let mut smallest = None;
        while let Some(&(start, first)) = signs.peek() {
            let mut number = String::new();
            while let Some((_, digit)) = signs.next_if(|(_, sign)| sign.is_ascii_digit()) {
                number.push(digit);
            }
            if number.is_empty() {
                return Err(TimeoutError::ExpectedNumber {
                    at: start,
                    found: Found::Sign(first),
                });
            }
            let (at, found) = match signs.next() {
                Some((at, sign)) => (at, Found::Sign(sign)),
                None => (end, Found::End),
            };
            let unit = UNITS
                .iter()
                .position(|(letter, ..)| found == Found::Sign(*letter));
            let Some((index, slot)) = unit.and_then(|i| Some((i, counts.get_mut(i)?))) else {
                return Err(TimeoutError::ExpectedUnit { at, found, number });
            };
            let (unit, length, _) = UNITS.get(index).copied().unwrap_or(('s', 1, "seconds"));
            if slot.is_some() {
                return Err(TimeoutError::Repeated { at, unit });
            }
            if smallest.is_some_and(|smallest| index < smallest) {
                return Err(TimeoutError::OutOfOrder { at, unit });
            }
            smallest = Some(index);
            let too_large = TimeoutError::TooLarge { at: start };
            let sum = number.parse::<u64>().ok().and_then(|count| {
                *slot = Some(count);
                seconds.checked_add(count.checked_mul(length)?)
            });
            // Rejects a sum as long as the time from 1970 to the year 10000, because the deadline of a gate must be
            // before that year.
            seconds = sum
                .filter(|sum| i64::try_from(*sum).is_ok_and(|sum| sum < END_OF_TIME_MS / 1000))
                .ok_or(too_large)?;
        }
        if seconds == 0 {
            return Err(TimeoutError::Zero {
                text: trimmed.to_owned(),
            });
        }
        Ok(Timeout {
            text: text.to_owned(),
            counts,
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

    /// Returns the modifiers for SQLite's `datetime('now', …)`, one for each unit (errata G12). SQLite returns NULL for
    /// one modifier with two units, such as `'+2 hours +30 minutes'`.
    pub fn sqlite_modifiers(&self) -> Vec<String> {
        self.counts
            .iter()
            .zip(UNITS)
            .filter_map(|(count, (.., word))| {
                (*count)
                    .filter(|count| *count > 0)
                    .map(|count| format!("+{count} {word}"))
            })
            .collect()
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

impl FromStr for Timeout {
    type Err = TimeoutError;

    fn from_str(text: &str) -> Result<Timeout, TimeoutError> {
        Timeout::parse(text)
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
