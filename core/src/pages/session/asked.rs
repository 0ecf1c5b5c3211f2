//! Parses the search text of a list of runs: `failed last week`, `waiting tax`, `translate 2026-01-18`.

use super::Filter;
use super::filter::RUN_STATUSES;
use crate::model::time::{DAY, Stamp};

/// The number of days that "last month" means.
const MONTH: i64 = 30;

/// The largest number of days in `last N days`.
const MOST: i64 = 3_660;

impl Filter {
    /// Parses words into a filter: statuses, days (`today`, `yesterday`, `last week`, `last 3 days`, `last month`,
    /// `2026-01-18`, `2026-01-18..2026-01-20`), and other words, which must occur in the run's program, id, status or
    /// error. Days are in UTC. Without `now`, words such as `today` are ordinary words.
    pub fn of_words(text: &str, now: Option<i64>) -> Filter {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let today = now.map(|now| now.div_euclid(DAY));
        let mut filter = Filter::default();
        let mut rest = words.as_slice();
        while let [word, behind @ ..] = rest {
            rest = behind;
            if let Some((from, until, behind)) = today.and_then(|day| back(word, behind, day)) {
                filter.between(from, until);
                rest = behind;
            } else if let Some((from, until)) = days_of(word) {
                filter.between(from, until);
            } else if RUN_STATUSES.contains(word) {
                filter.status.push((*word).to_owned());
            } else {
                filter.words.push((*word).to_owned());
            }
        }
        filter
    }

    /// Limits the filter to the days `from` to `until`, both included. Days are counted from 1970-01-01 UTC.
    fn between(&mut self, from: i64, until: i64) {
        self.since = Some(from.saturating_mul(DAY));
        self.before = Some(until.saturating_add(1).saturating_mul(DAY));
    }
}

/// Parses words that count back from `today`, such as `last 3 days`. Returns the first and the last day, and the
/// remaining words; `None` for other words.
fn back<'w>(word: &str, behind: &'w [&'w str], today: i64) -> Option<(i64, i64, &'w [&'w str])> {
    let (days, behind) = match (word, behind) {
        ("today", _) => (1, behind),
        ("yesterday", _) => return Some((today - 1, today - 1, behind)),
        ("last", ["week", behind @ ..]) => (7, behind),
        ("last", ["month", behind @ ..]) => (MONTH, behind),
        ("last", [days, "day" | "days", behind @ ..]) => (days.parse().ok()?, behind),
        _ => return None,
    };
    (1..=MOST)
        .contains(&days)
        .then_some((today - days + 1, today, behind))
}

/// Parses a date, or two dates joined by `..`. Returns the first and the last day; `None` for other words.
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
        // A number outside of `last N days` is an ordinary word.
        let filter = Filter::of_words("3 last 3 days", Some(NOW));
        assert_eq!(
            (&*filter.words, filter.since.is_some()),
            (&["3".to_owned()][..], true)
        );
        assert_eq!(Filter::of_words("today", None).words, ["today"]);
    }
}
