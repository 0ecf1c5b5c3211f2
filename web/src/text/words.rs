//! Formats amounts and times for the page.

use chrono::{DateTime, Utc};
#[cfg(target_family = "wasm")]
pub(crate) use prosescope_core::model::text::{count, counted};
use prosescope_core::model::time::Stamp;

/// Formats a number of bytes: `812 B`, `1.9 MB`, `3.1 GB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Joins clauses with commas, skipping empty clauses.
pub(crate) fn joined<const N: usize>(parts: [impl AsRef<str>; N]) -> String {
    let mut out = String::new();
    for part in parts
        .iter()
        .map(AsRef::as_ref)
        .filter(|part| !part.is_empty())
    {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(part);
    }
    out
}

/// Spells out a duration for a screen reader. Minutes are rounded down: `59m 30s` becomes `59 minutes`. Hours and days
/// keep two units: `1h 5m` becomes `1 hour 5 minutes`.
pub(crate) fn heard(duration: &str) -> String {
    let unit = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = part.split_at(digits);
        let unit = match unit {
            "d" => "day",
            "h" => "hour",
            "m" => "minute",
            "s" => "second",
            "ms" => "millisecond",
            _ => return None,
        };
        let many = if number == "1" { "" } else { "s" };
        Some((unit, format!("{number} {unit}{many}")))
    };
    let parts = duration.split(' ').map(unit).collect::<Option<Vec<_>>>();
    let Some(parts) = parts else {
        return duration.to_owned();
    };
    let is_minutes = parts.first().is_some_and(|(unit, _)| *unit == "minute");
    let parts = parts.into_iter().take(if is_minutes { 1 } else { 2 });
    parts.map(|(_, words)| words).collect::<Vec<_>>().join(" ")
}

/// Returns the sentence with a capital at its beginning.
pub(crate) fn first_upper(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Formats the time of day in UTC: `12:55:06`; returns an invalid time as written.
pub(crate) fn clock(stamp: &Stamp) -> String {
    at(stamp).map_or_else(|| stamp.to_string(), |at| at.format("%H:%M:%S").to_string())
}

/// Formats the time of day without seconds: `12:55`.
pub(crate) fn minute(stamp: &Stamp) -> String {
    at(stamp).map_or_else(|| stamp.to_string(), |at| at.format("%H:%M").to_string())
}

/// Formats the day in UTC: `25 Jan 2026`; empty for an invalid time.
pub(crate) fn day(stamp: &Stamp) -> String {
    at(stamp).map_or_else(String::new, |at| at.format("%-d %b %Y").to_string())
}

/// Formats day and time: `25 Jan 2026, 12:55:06 UTC`. A time without a zone gets no `UTC`; an invalid time is returned
/// as written.
pub(crate) fn moment(stamp: &Stamp) -> String {
    let zone = match stamp {
        Stamp::At(_) => " UTC",
        _ => "",
    };
    at(stamp).map_or_else(
        || stamp.to_string(),
        |at| format!("{}{zone}", at.format("%-d %b %Y, %H:%M:%S")),
    )
}

fn at(stamp: &Stamp) -> Option<DateTime<Utc>> {
    stamp.millis().and_then(DateTime::from_timestamp_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_like_a_file_manager() {
        for (count, words) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (9949, "9.9 KB"),
            (9950, "10 KB"),
            (999_400, "999 KB"),
            (999_500, "1.0 MB"),
            (3_100_000_000, "3.1 GB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(bytes(count), words);
        }
    }

    #[test]
    fn times_are_absolute_and_odd_ones_stay_as_written() {
        let stamp = Stamp::parse("2026-01-25 12:55:06");
        assert_eq!(clock(&stamp), "12:55:06");
        assert_eq!(day(&stamp), "25 Jan 2026");
        assert_eq!(moment(&stamp), "25 Jan 2026, 12:55:06 UTC");
        let odd = Stamp::parse("soon");
        assert_eq!(
            (clock(&odd), day(&odd), moment(&odd)),
            ("soon".into(), String::new(), "soon".into())
        );
    }
}
