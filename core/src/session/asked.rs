//! What a person types to find runs: `failed last week`, `waiting tax`, `translate 2026-01-18`.

use super::Filter;
use super::filter::RUN_STATUSES;
use crate::time::Stamp;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Days that a month of looking back has.
const MONTH: i64 = 30;

impl Filter {
    /// Reads words: statuses, days (`today`, `yesterday`, `last week`, `last 3 days`, `last month`, `2026-01-18`,
    /// `2026-01-18..2026-01-20`), and other words, each of which the run's program, id, status or error has. Days are days of
    /// UTC; without `now`, words that look back from it are words like others.
    pub fn of_words(text: &str, now: Option<i64>) -> Filter {
        let lower = text.to_lowercase();
        let mut words = lower.split_whitespace().peekable();
        let mut filter = Filter::default();
        let today = now.map(|now| now.div_euclid(DAY));
        while let Some(word) = words.next() {
            let next = words.peek().copied().unwrap_or_default();
            let back = match (word, next) {
                ("today", _) => Some((1, 0)),
                ("yesterday", _) => Some((1, 1)),
                ("last", "week") => Some((7, 0)),
                ("last", "month") => Some((MONTH, 0)),
                _ => None,
            };
            if let (Some((days, ago)), Some(today)) = (back, today) {
                filter.between(today - ago - days + 1, today - ago);
                if word == "last" {
                    words.next();
                }
            } else if let ("last", Ok(days @ 1..=3_660), Some(today)) =
                (word, next.parse::<i64>(), today)
                && is_days(text, next)
            {
                filter.between(today - days + 1, today);
                words.next();
                words.next();
            } else if let Some((from, until)) = days_of(word) {
                filter.between(from, until);
            } else if RUN_STATUSES.contains(&word) {
                filter.status.push(word.to_owned());
            } else {
                filter.words.push(word.to_owned());
            }
        }
        filter
    }

    /// From one day to another, both days of UTC since 1970 and included.
    fn between(&mut self, from: i64, until: i64) {
        self.since = Some(from.saturating_mul(DAY));
        self.before = Some(until.saturating_add(1).saturating_mul(DAY));
    }
}

/// Whether `days` (or `day`) follows a number.
fn is_days(text: &str, number: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split_whitespace().skip_while(|word| *word != number);
    words
        .nth(1)
        .is_some_and(|word| matches!(word, "day" | "days"))
}

/// A day, or the first and the last of several.
fn days_of(word: &str) -> Option<(i64, i64)> {
    let (from, until) = word.split_once("..").unwrap_or((word, word));
    let day = |text: &str| {
        let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
        let at = is_date.then(|| Stamp::parse(text).millis())??;
        Some(at.div_euclid(DAY))
    };
    day(from).zip(day(until))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 24 November 2026, 12:00 UTC.
    const NOW: i64 = 1_795_521_600_000;

    fn days(text: &str) -> Option<(i64, i64)> {
        let filter = Filter::of_words(text, Some(NOW));
        let today = NOW.div_euclid(DAY);
        Some((
            filter.since?.div_euclid(DAY) - today,
            filter.before?.div_euclid(DAY) - today,
        ))
    }

    #[test]
    fn words_name_a_status_a_time_and_the_rest_is_looked_for() {
        let filter = Filter::of_words("Failed translate  LAST week cut", Some(NOW));
        assert_eq!(filter.status, ["failed"]);
        assert_eq!(filter.words, ["translate", "cut"]);
        for (text, expected) in [
            ("today", Some((0, 1))),
            ("yesterday", Some((-1, 0))),
            ("last week", Some((-6, 1))),
            ("last 3 days", Some((-2, 1))),
            ("last month", Some((-29, 1))),
            ("2026-11-20", Some((-4, -3))),
            ("2026-11-20..2026-11-22", Some((-4, -1))),
            ("last words", None),
            ("last 3 attempts", None),
            ("2026-99-99", None),
        ] {
            assert_eq!(days(text), expected, "{text}");
        }
        let filter = Filter::of_words("last 3 attempts", Some(NOW));
        assert_eq!(filter.words, ["last", "3", "attempts"]);
        assert_eq!(Filter::of_words("today", None).words, ["today"]);
    }
}
