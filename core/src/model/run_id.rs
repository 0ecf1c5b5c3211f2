//! Parses and makes the ids of runs: `{YYYYMMDD}-{HHMMSS}-{random6}` in UTC (filesystem.md, "Run ID Format"; errata
//! F6).
//!
//! The names of real folders may differ from this form, as in the table below. Any name is accepted as an id. If the
//! name contains a date, lists of runs order the run by that date and time.
//!
//! | id | time | well-formed |
//! |---|---|---|
//! | `20260115-143052-a7b3c9` | 2026-01-15 14:30:52 | yes |
//! | `20260213-064959-` | 2026-02-13 06:49:59 | no |
//! | `20260122-verify-equations` | 2026-01-22 00:00:00 | no |
//! | `broken-chain` | none | no |

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveTime};
use thiserror::Error;

use crate::model::timeout::END_OF_TIME_MS;

/// The id of a run: the name of its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunId {
    text: String,
    millis: Option<i64>,
    /// Whether the id contains a time of day as well as a date.
    timed: bool,
    well_formed: bool,
}

/// The reason why an id cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunIdError {
    /// The random part is not six letters or digits.
    #[error("`{0}` cannot end a run id: expected six characters of a-z and 0-9")]
    Random(String),
    /// The time is outside the years 0 to 9999.
    #[error("{0} ms since 1970 cannot be in a run id: expected the years 0 to 9999")]
    Time(i64),
}

impl RunId {
    /// Returns the id of a run that starts at `now_ms` (milliseconds since 1970 UTC). `random6` is six characters of
    /// a–z and 0–9. The caller draws them at random, because the core has no source of randomness.
    ///
    /// # Errors
    /// [`RunIdError`] if the time or the random part does not fit the form.
    pub fn new(now_ms: i64, random6: &str) -> Result<RunId, RunIdError> {
        if !is_random6(random6) {
            return Err(RunIdError::Random(random6.to_owned()));
        }
        DateTime::from_timestamp_millis(now_ms)
            .filter(|_| (YEAR_0_MS..END_OF_TIME_MS).contains(&now_ms))
            .map(|at| RunId::parse(&format!("{}-{random6}", at.format("%Y%m%d-%H%M%S"))))
            .ok_or(RunIdError::Time(now_ms))
    }

    /// Parses any name; never fails.
    pub fn parse(text: &str) -> RunId {
        // The prefix `run-` is removed, because filesystem.md calls it redundant.
        let id = text.strip_prefix("run-").unwrap_or(text);
        let mut parts = id.splitn(3, ['-', '_', 'T']);
        let date = parts.next().and_then(date);
        let time = parts.next().and_then(time);
        let random = parts.next();
        let at = date.map(|date| date.and_time(time.unwrap_or_default()));
        RunId {
            text: text.to_owned(),
            millis: at.map(|at| at.and_utc().timestamp_millis()),
            timed: time.is_some(),
            well_formed: date.is_some()
                && time.is_some()
                && random.is_some_and(is_random6)
                && id.len() == text.len()
                && text.get(8..9) == Some("-")
                && text.get(15..16) == Some("-"),
        }
    }

    /// Returns the name as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the time in the id, in milliseconds since 1970 UTC; for an id with only a date, the midnight at its
    /// beginning.
    pub fn millis(&self) -> Option<i64> {
        self.millis
    }

    /// Returns the start of the run, if the id contains a time of day.
    pub fn started(&self) -> Option<i64> {
        self.millis.filter(|_| self.timed)
    }

    /// Returns whether the id has OpenProse's form.
    pub fn is_well_formed(&self) -> bool {
        self.well_formed
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The beginning of the year 0 UTC, in milliseconds since 1970.
const YEAR_0_MS: i64 = -62_167_219_200_000;

fn is_random6(text: &str) -> bool {
    text.len() == 6
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

fn date(part: &str) -> Option<NaiveDate> {
    let number = digits(part, 8)?;
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

fn time(part: &str) -> Option<NaiveTime> {
    let number = digits(part, 6)?;
    NaiveTime::from_hms_opt(number / 10_000, number / 100 % 100, number % 100)
}

fn digits(part: &str, length: usize) -> Option<u32> {
    let all = part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    all.then(|| part.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Stamp;

    #[test]
    fn any_name_is_read() {
        for (text, time, well_formed) in [
            ("20260115-143052-a7b3c9", Some("2026-01-15T14:30:52Z"), true),
            ("20260120-090541-thermo", Some("2026-01-20T09:05:41Z"), true),
            ("20260213-064959-", Some("2026-02-13T06:49:59Z"), false),
            ("20260213-064959", Some("2026-02-13T06:49:59Z"), false),
            (
                "20260122-verify-equations",
                Some("2026-01-22T00:00:00Z"),
                false,
            ),
            ("20260122", Some("2026-01-22T00:00:00Z"), false),
            (
                "20260115-143052-A7B3C9",
                Some("2026-01-15T14:30:52Z"),
                false,
            ),
            (
                "20260115-143052-a7b3c9-2",
                Some("2026-01-15T14:30:52Z"),
                false,
            ),
            ("20260115-143052-é7b3", Some("2026-01-15T14:30:52Z"), false),
            (
                "20260115_143052_a7b3c9",
                Some("2026-01-15T14:30:52Z"),
                false,
            ),
            (
                "run-20260115-143052-a7b3c9",
                Some("2026-01-15T14:30:52Z"),
                false,
            ),
            (
                "20260115-253052-a7b3c9",
                Some("2026-01-15T00:00:00Z"),
                false,
            ),
            ("20261315-143052-a7b3c9", None, false),
            ("2026011-143052-a7b3c9", None, false),
            ("broken-chain", None, false),
            ("", None, false),
            ("٢٠٢٦٠١١٥-143052-a7b3c9", None, false),
        ] {
            let id = RunId::parse(text);
            let read = id.millis().map(|ms| Stamp::At(ms).to_string());
            assert_eq!(read.as_deref(), time, "{text}");
            assert_eq!(id.is_well_formed(), well_formed, "{text}");
            assert_eq!(id.as_str(), text);
        }
    }

    #[test]
    fn a_new_id_has_the_form() {
        let id = RunId::new(1_768_487_452_999, "a7b3c9").unwrap();
        assert_eq!(id.as_str(), "20260115-143052-a7b3c9");
        assert!(id.is_well_formed());
        assert_eq!(id.millis(), Some(1_768_487_452_000));
        for (now, random, message) in [
            (
                0,
                "a7b3c",
                "`a7b3c` cannot end a run id: expected six characters of a-z and 0-9",
            ),
            (
                0,
                "A7B3C9",
                "`A7B3C9` cannot end a run id: expected six characters of a-z and 0-9",
            ),
            (
                i64::MAX,
                "a7b3c9",
                "9223372036854775807 ms since 1970 cannot be in a run id: expected the years 0 to 9999",
            ),
        ] {
            assert_eq!(RunId::new(now, random).unwrap_err().to_string(), message);
        }
        assert!(RunId::new(YEAR_0_MS - 1, "a7b3c9").is_err());
        assert!(RunId::new(END_OF_TIME_MS, "a7b3c9").is_err());
        assert!(RunId::new(YEAR_0_MS, "a7b3c9").is_ok());
    }
}
