//! Parses the times that runs record, and formats times and durations for display.
//!
//! Runs mix `YYYY-MM-DD HH:MM:SS` (SQLite's `datetime('now')`, UTC), `…T…Z` and offsets in one column
//! (docs/reference/formats.md). All these become milliseconds since 1970 UTC; an unreadable time is kept and shown as
//! written. Missing times are shown as missing.
//!
//! ```
//! use prosescope_core::model::time::Stamp;
//! let a = Stamp::parse("2026-01-15 14:30:52");
//! let b = Stamp::parse("2026-01-15T15:30:52+01:00");
//! assert_eq!(a.millis(), b.millis());
//! assert_eq!(a.to_string(), "2026-01-15T14:30:52Z");
//! assert_eq!(Stamp::parse("yesterday").to_string(), "yesterday");
//! ```

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::text::Text;

/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// A recorded time: an instant if readable, else the recorded text. In JSON: RFC 3339 in UTC, or that text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub enum Stamp {
    /// Milliseconds since 1970-01-01 UTC.
    At(i64),
    /// A date and time without a zone (`2026-02-10T23:32:23`), in milliseconds since 1970-01-01 as if the zone were
    /// UTC.
    Zoneless(i64),
    /// A text that is not a readable time, as written.
    Odd(Text),
}

impl Stamp {
    /// Parses a time. A time without an offset counts as UTC if a blank separates date and time, as in SQLite's
    /// `datetime('now')`. If a `T` separates them, only an offset or a `Z` sets a zone.
    pub fn parse(text: &str) -> Stamp {
        let trimmed = text.trim();
        match parse_millis(trimmed) {
            Some(ms) if names_no_zone(trimmed) => Stamp::Zoneless(ms),
            Some(ms) => Stamp::At(ms),
            None => Stamp::Odd(text.into()),
        }
    }

    /// Returns milliseconds since 1970 UTC, if the time is readable.
    pub fn millis(&self) -> Option<i64> {
        match self {
            Stamp::At(ms) | Stamp::Zoneless(ms) => Some(*ms),
            Stamp::Odd(_) => None,
        }
    }
}

impl Stamp {
    /// Returns the time to the minute, in UTC, for lists: `2026-01-25 12:55`; an unreadable time stays as written.
    pub fn minute(&self) -> String {
        let text = self.to_string();
        match (self.millis(), text.get(..16)) {
            (Some(_), Some(short)) => short.replace('T', " "),
            _ => text,
        }
    }

    /// Returns the time as it is printed, with words if it names no zone, because it must not be compared with a time
    /// in UTC: `2026-01-15T11:47:03 (no time zone)`.
    pub fn with_zone(&self) -> String {
        match self {
            Stamp::Zoneless(_) => format!("{self} (no time zone)"),
            Stamp::At(_) | Stamp::Odd(_) => self.to_string(),
        }
    }

    /// Returns the time to the minute, for sentences: `25 Jan 2026, 12:55 UTC`. A time without a zone gets no `UTC`; an
    /// unreadable time stays as written.
    pub fn spoken(&self) -> String {
        let zone = match self {
            Stamp::At(_) => " UTC",
            _ => "",
        };
        let at = self.millis().and_then(DateTime::from_timestamp_millis);
        at.map_or_else(
            || self.to_string(),
            |at| format!("{}{zone}", at.format("%-d %b %Y, %H:%M")),
        )
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stamp::Odd(text) => f.write_str(text),
            Stamp::Zoneless(ms) => f.write_str(Stamp::At(*ms).to_string().trim_end_matches('Z')),
            Stamp::At(ms) => match DateTime::from_timestamp_millis(*ms) {
                Some(at) if ms % 1000 == 0 => write!(f, "{}", at.format("%Y-%m-%dT%H:%M:%SZ")),
                Some(at) => write!(f, "{}", at.format("%Y-%m-%dT%H:%M:%S%.3fZ")),
                None => write!(f, "{ms} ms"),
            },
        }
    }
}

/// The OpenAPI schema of a time: a string, because JSON contains the time as text.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Stamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        String::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Stamp {
    fn name() -> std::borrow::Cow<'static, str> {
        "Stamp".into()
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Stamp::parse(&String::deserialize(deserializer)?))
    }
}

/// Returns whether a time has a `T` before its time of day and neither an offset nor a `Z` after it.
fn names_no_zone(text: &str) -> bool {
    let of_day = text.split_once('T').map(|(_, of_day)| of_day);
    of_day.is_some_and(|of_day| {
        !of_day.contains(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.')))
    })
}

fn parse_millis(text: &str) -> Option<i64> {
    if let Some(at) = plain_millis(text.as_bytes()) {
        return Some(at);
    }
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.timestamp_millis());
    }
    for form in [
        "%Y-%m-%d %H:%M:%S%.f%:z",
        "%Y-%m-%d %H:%M:%S%.f%#z",
        "%Y-%m-%dT%H:%M%:z",
    ] {
        if let Ok(at) = DateTime::parse_from_str(text, form) {
            return Some(at.timestamp_millis());
        }
    }
    let bare = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let bare = bare.strip_suffix(" UTC").unwrap_or(bare).trim_end();
    for form in [
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M",
    ] {
        if let Ok(at) = NaiveDateTime::parse_from_str(bare, form) {
            return Some(at.and_utc().timestamp_millis());
        }
    }
    NaiveDate::parse_from_str(bare, "%Y-%m-%d")
        .ok()
        .and_then(|day| day.and_hms_opt(0, 0, 0))
        .map(|at| at.and_utc().timestamp_millis())
}

/// Parses the two forms of nearly every row, `YYYY-MM-DD HH:MM:SS` and `YYYY-MM-DDTHH:MM:SSZ`. Trying the other forms
/// first would be slow for a run of a hundred thousand rows.
fn plain_millis(text: &[u8]) -> Option<i64> {
    let text = text.strip_suffix(b"Z").unwrap_or(text);
    let at: &[u8; 19] = text.try_into().ok()?;
    let number = |places: &[usize]| {
        places.iter().try_fold(0_u32, |sum, place| {
            let digit = at.get(*place).filter(|b| b.is_ascii_digit())?;
            Some(sum * 10 + u32::from(digit - b'0'))
        })
    };
    let marks = [at[4], at[7], at[13], at[16]] == *b"--::" && (at[10] == b' ' || at[10] == b'T');
    if !marks {
        return None;
    }
    let year = i32::try_from(number(&[0, 1, 2, 3])?).ok()?;
    NaiveDate::from_ymd_opt(year, number(&[5, 6])?, number(&[8, 9])?)?
        .and_hms_opt(number(&[11, 12])?, number(&[14, 15])?, number(&[17, 18])?)
        .map(|at| at.and_utc().timestamp_millis())
}

/// Returns a duration in its two largest units: `41s`, `2m 40s`, `3h 12m`, `3d 4h`; below a second in milliseconds:
/// `812ms`.
pub fn human_duration(ms: i64) -> String {
    let ms = ms.max(0);
    let (s, m, h, d) = (ms / 1000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    if d > 0 {
        two(d, "d", h % 24, "h")
    } else if h > 0 {
        two(h, "h", m % 60, "m")
    } else if m > 0 {
        two(m, "m", s % 60, "s")
    } else if s > 0 {
        format!("{s}s")
    } else {
        format!("{ms}ms")
    }
}

/// Returns how long ago something was, in words that change seldom: `just now`, `40s ago`, `12m ago`, `3h 12m ago`.
pub fn ago(ms: i64) -> String {
    match ms / step_of_ago(ms) {
        ..=0 => "just now".to_owned(),
        steps => format!("{} ago", human_duration(steps * step_of_ago(ms))),
    }
}

/// Returns the time in milliseconds after which the words of [`ago`] change.
pub fn step_of_ago(ms: i64) -> i64 {
    match ms {
        // Words that change every second distract the reader.
        ..60_000 => 5000,
        60_000..86_400_000 => 60_000,
        _ => 3_600_000,
    }
}

/// Returns a duration in its largest unit, for columns: `322d`, `5h`, `12m`, `40s`.
pub fn rough_duration(ms: i64) -> String {
    let words = human_duration(ms.max(0) / 1000 * 1000);
    match words.split(' ').next() {
        None | Some("0ms") => "0s".to_owned(),
        Some(largest) => largest.to_owned(),
    }
}

fn two(big: i64, big_unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 {
        format!("{big}{big_unit}")
    } else {
        format!("{big}{big_unit} {small}{small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_that_runs_use() {
        let same = 1_768_487_452_000;
        for text in [
            "2026-01-15 14:30:52",
            "2026-01-15T14:30:52Z",
            "2026-01-15T14:30:52",
            "2026-01-15T14:30:52.000Z",
            "2026-01-15 14:30:52+00:00",
            "2026-01-15 14:30:52 UTC",
            " 2026-01-15T09:30:52-05:00 ",
        ] {
            assert_eq!(Stamp::parse(text).millis(), Some(same), "{text}");
        }
        assert_eq!(
            Stamp::parse("2026-01-15").to_string(),
            "2026-01-15T00:00:00Z"
        );
    }

    #[test]
    fn a_time_without_a_zone_gets_none() {
        for (text, shown) in [
            ("2026-02-10T23:32:23", "2026-02-10T23:32:23"),
            ("2026-02-10T23:32", "2026-02-10T23:32:00"),
            ("2026-02-10T23:32:23.5", "2026-02-10T23:32:23.500"),
            ("2026-02-10T23:32:23Z", "2026-02-10T23:32:23Z"),
            ("2026-02-10T23:32:23-05:00", "2026-02-11T04:32:23Z"),
            ("2026-02-10 23:32:23", "2026-02-10T23:32:23Z"),
            ("2026-02-10T23:32:23 UTC", "2026-02-10T23:32:23Z"),
        ] {
            let stamp = Stamp::parse(text);
            assert_eq!(stamp.to_string(), shown, "{text}");
            assert_eq!(Stamp::parse(shown), stamp, "{text}");
        }
    }

    #[test]
    fn keeps_what_is_no_time() {
        for text in [
            "",
            "soon",
            "2026-13-01",
            "99999-01-01",
            "\0",
            "2026-01-15 24:30:52",
            "2026-02-30T10:00:00Z",
            "2026-01-15x10:00:00",
            "2026-01-15 1é:00:00",
        ] {
            assert_eq!(Stamp::parse(text), Stamp::Odd(text.into()));
        }
    }

    #[test]
    fn a_minute_is_short_and_what_is_no_time_stays() {
        assert_eq!(
            Stamp::parse("2026-01-15T14:30:52Z").minute(),
            "2026-01-15 14:30"
        );
        assert_eq!(
            Stamp::parse("2026-01-05T14:30:52Z").spoken(),
            "5 Jan 2026, 14:30 UTC"
        );
        assert_eq!(
            Stamp::parse("2026-01-05T14:30:52").spoken(),
            "5 Jan 2026, 14:30"
        );
        assert_eq!(
            Stamp::parse("some time yesterday").spoken(),
            "some time yesterday"
        );
        assert_eq!(
            Stamp::parse("some time yesterday").minute(),
            "some time yesterday"
        );
    }

    #[test]
    fn an_age_changes_with_its_step() {
        for (ms, text) in [
            (-5, "just now"),
            (996, "just now"),
            (4999, "just now"),
            (44_999, "40s ago"),
            (119_999, "1m ago"),
            (11_520_000, "3h 12m ago"),
            (273_600_000, "3d 4h ago"),
        ] {
            assert_eq!(ago(ms), text);
            let left = step_of_ago(ms) - ms.rem_euclid(step_of_ago(ms));
            assert_eq!(ago(ms + left - 1), text);
            assert!(ms < 0 || ago(ms + left) != text, "{ms}");
        }
    }

    #[test]
    fn durations_read_like_speech() {
        for (ms, text) in [
            (0, "0ms"),
            (999, "999ms"),
            (41_000, "41s"),
            (160_000, "2m 40s"),
            (11_520_000, "3h 12m"),
            (273_600_000, "3d 4h"),
            (3_600_000, "1h"),
        ] {
            assert_eq!(human_duration(ms), text);
        }
    }
}
