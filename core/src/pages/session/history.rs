//! Computes statistics of a list of runs: how many runs began on each day, and why runs failed.

use std::collections::BTreeMap;

use super::filter::began;
use crate::model::time::DAY;
use crate::pages::view::RunSummary;

/// How many runs began on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayOfRuns {
    /// The day, in days of UTC since 1970.
    pub day: i64,
    /// How many runs began on this day.
    pub all: u32,
    /// How many of the day's runs failed or cannot be read.
    pub failed: u32,
    /// How many of the day's runs wait for a person or stopped.
    pub waiting: u32,
}

/// Counts the runs of each day, in order of days. Days without runs are left out, and so are runs without a known time.
pub fn days<'a>(runs: impl IntoIterator<Item = &'a RunSummary>) -> Vec<DayOfRuns> {
    let mut days: BTreeMap<i64, DayOfRuns> = BTreeMap::new();
    for run in runs {
        let Some(day) = day_of(run) else { continue };
        let of = days.entry(day).or_insert(DayOfRuns {
            day,
            ..DayOfRuns::default()
        });
        let failed = run.error.is_some() || run.status == "failed";
        let waits = run.stale || matches!(&*run.status, "waiting" | "interrupted");
        of.all += 1;
        of.failed += u32::from(failed);
        of.waiting += u32::from(waits && !failed);
    }
    days.into_values().collect()
}

/// Returns the day on which a run began, in days of UTC since 1970; `None` without a known time.
pub fn day_of(run: &RunSummary) -> Option<i64> {
    began(run).map(|at| at.div_euclid(DAY))
}

/// Runs that failed with the same message, apart from numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WhyFailed {
    /// The message of the newest of these runs.
    pub message: String,
    /// The message with `#` in place of each number, which all of these runs share.
    pub pattern: String,
    /// How many runs failed with this message.
    pub count: u32,
    /// When the newest of these runs began, in milliseconds since 1970 UTC; `None` without a known time.
    pub last: Option<i64>,
}

/// Groups failed runs by message, the most frequent one first. Runs without a known message are left out.
pub fn why_failed<'a>(runs: impl IntoIterator<Item = &'a RunSummary>) -> Vec<WhyFailed> {
    let mut all: BTreeMap<String, WhyFailed> = BTreeMap::new();
    for run in runs {
        let Some(message) = message(run) else {
            continue;
        };
        let at = began(run);
        let pattern = pattern(message);
        let why = all.entry(pattern.clone()).or_insert_with(|| WhyFailed {
            pattern,
            ..WhyFailed::default()
        });
        why.count += 1;
        if why.message.is_empty() || at > why.last {
            (why.message, why.last) = (message.to_owned(), at);
        }
    }
    let mut all: Vec<WhyFailed> = all.into_values().collect();
    all.sort_by(|a, b| (b.count, b.last, &a.pattern).cmp(&(a.count, a.last, &b.pattern)));
    all
}

/// Returns the error of a failed or unreadable run, if the run's line of the list has an error.
pub(super) fn message(run: &RunSummary) -> Option<&str> {
    let failed = run.failure.as_deref().filter(|_| run.status == "failed");
    failed.or(run.error.as_deref())
}

/// Replaces each number in a message by `#`.
pub(super) fn pattern(message: &str) -> String {
    let mut out = String::new();
    let mut chars = message.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_digit() {
            out.push(c);
            continue;
        }
        out.push('#');
        // A separator between two digits is a part of the number: `32,768`, `4.2-14`, `12:30`.
        while let Some(&next) = chars.peek() {
            let mut ahead = chars.clone();
            let joins = matches!(ahead.next(), Some(',' | '.' | ':' | '-'))
                && ahead.next().is_some_and(|c| c.is_ascii_digit());
            if !next.is_ascii_digit() && !joins {
                break;
            }
            chars.next();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, status: &str, failure: Option<&str>) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            status: status.to_owned(),
            failure: failure.map(str::to_owned),
            ..RunSummary::default()
        }
    }

    #[test]
    fn failures_that_differ_in_numbers_alone_are_one_reason() {
        assert_eq!(
            pattern("table 4.2-14 (32,768 tokens) at 12:30. 3 of 3"),
            "table # (# tokens) at #. # of #"
        );
        let runs = [
            run(
                "20260118-201530-aaaaaa",
                "failed",
                Some("cut off at 32,768 tokens"),
            ),
            run(
                "20260119-201530-bbbbbb",
                "failed",
                Some("cut off at 65,536 tokens"),
            ),
            run("20260119-211530-cccccc", "failed", Some("reset by peer")),
            run("20260119-221530-dddddd", "failed", None),
            run("20260120-201530-eeeeee", "completed", Some("recovered")),
        ];
        let why = why_failed(&runs);
        assert_eq!(why.len(), 2);
        assert_eq!(
            (why[0].count, &*why[0].message),
            (2, "cut off at 65,536 tokens")
        );
        assert_eq!((why[1].count, &*why[1].message), (1, "reset by peer"));
        let days = days(&runs);
        let counts: Vec<_> = days.iter().map(|day| (day.all, day.failed)).collect();
        assert_eq!(counts, [(1, 1), (3, 3), (1, 0)]);
        assert_eq!(days[1].day, days[0].day + 1);
    }
}
