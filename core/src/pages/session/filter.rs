//! Filters a list of runs.

use super::history::message;
use crate::model::run_id;
use crate::model::time::Stamp;
use crate::pages::view::RunSummary;

/// The conditions that a run of a list must meet; by default, none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The run has one of these statuses, ignoring case; an empty list accepts any status. Runs that cannot be opened
    /// have the status `unreadable`.
    pub status: Vec<String>,
    /// The run began at this time or later, in milliseconds since 1970 UTC. Runs without a known time are left out.
    pub since: Option<i64>,
    /// The run began before this time, in milliseconds since 1970 UTC. Runs without a known time are left out.
    pub before: Option<i64>,
    /// The run has had no sign of life since this time, in milliseconds since 1970 UTC. Without a sign of life, the
    /// start counts. Runs without a known time are left out.
    pub quiet_since: Option<i64>,
    /// The path or name of the run's program contains this text, ignoring case; `None` accepts any program.
    pub program: Option<String>,
    /// Whether the run must have a gate that waits for a decision.
    pub pending: bool,
    /// Each of these lower-case words occurs in the run's program, id, name, status or error.
    pub words: Vec<String>,
    /// The run failed with this message, in which `#` replaces each number ([`super::WhyFailed::pattern`]); `None`
    /// accepts any run.
    pub why: Option<String>,
}

/// The statuses that Prosescope assigns to runs. A run may record any other word.
pub const RUN_STATUSES: [&str; 8] = [
    "completed",
    "failed",
    "interrupted",
    "running",
    SILENT,
    "unknown",
    "unreadable",
    "waiting",
];

/// The status that lists show instead of `running` after a day without a sign of life. Filters accept both words.
pub const SILENT: &str = "silent";

/// An error: the requested status is neither known nor recorded by any run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no run has the status {0}: expected {known}, or a word that a run records", known = RUN_STATUSES.join(", "))]
pub struct UnknownStatus(pub String);

impl Filter {
    /// Checks that each requested status is one of [`RUN_STATUSES`] or is recorded by one of these runs. Otherwise, a
    /// spelling error would result in an empty list.
    ///
    /// # Errors
    /// [`UnknownStatus`] with the first unknown word.
    pub fn known_status<'r>(
        &self,
        runs: impl Iterator<Item = &'r RunSummary> + Clone,
    ) -> Result<(), UnknownStatus> {
        let is_known = |word: &String| {
            RUN_STATUSES
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known))
                || runs
                    .clone()
                    .any(|run| word.eq_ignore_ascii_case(status(run)))
        };
        match self.status.iter().find(|word| !is_known(word)) {
            Some(word) => Err(UnknownStatus(word.clone())),
            None => Ok(()),
        }
    }

    /// Returns whether a run meets the conditions.
    pub fn wants(&self, run: &RunSummary) -> bool {
        let status = status(run);
        let silent = run.stale.then_some(SILENT);
        let has = |word: &String| {
            [Some(status), silent]
                .into_iter()
                .flatten()
                .any(|own| word.eq_ignore_ascii_case(own))
        };
        let program = run.program.as_deref().unwrap_or_default().to_lowercase();
        let named = |part: &String| program.contains(&part.to_lowercase());
        (self.status.is_empty() || self.status.iter().any(has))
            && self.program.as_ref().is_none_or(named)
            && self
                .since
                .is_none_or(|since| began(run).is_some_and(|at| at >= since))
            && self
                .before
                .is_none_or(|before| began(run).is_some_and(|at| at < before))
            && self
                .quiet_since
                .is_none_or(|since| last_sign(run).is_some_and(|at| at < since))
            && (!self.pending || run.pending_gates > 0)
            && self.is_said_of(run)
    }

    fn is_said_of(&self, run: &RunSummary) -> bool {
        let is_why = |pattern: &String| {
            message(run).is_some_and(|said| super::history::pattern(said) == *pattern)
        };
        let texts = [
            run.program.as_deref(),
            Some(&*run.id),
            Some(&*run.name),
            Some(&*run.status),
            run.failure.as_deref(),
            run.error.as_deref(),
        ];
        let is_in = |word: &String| {
            let has = |text: &str| text.to_lowercase().contains(word.as_str());
            texts.into_iter().flatten().any(has)
        };
        self.why.as_ref().is_none_or(is_why) && self.words.iter().all(is_in)
    }

    /// Returns whether a run's own row is enough to apply this filter, so that the run need not be opened.
    pub(super) fn is_of_heads(&self) -> bool {
        self.status.is_empty()
            && self.quiet_since.is_none()
            && !self.pending
            && self.words.is_empty()
            && self.why.is_none()
    }

    /// Returns whether a run with this name may meet the conditions, judging only by the time in the name. The run need
    /// not be open.
    pub fn may_want(&self, name: &str) -> bool {
        match (self.since, run_id::RunId::parse(name).millis()) {
            (Some(since), Some(at)) => at >= since,
            _ => true,
        }
    }
}

/// Returns the status of a run, as lists show it.
fn status(run: &RunSummary) -> &str {
    match run.error {
        Some(_) => "unreadable",
        None => &run.status,
    }
}

/// Returns when a run began, in milliseconds since 1970 UTC: the time in its id, or else `started`, or else its last
/// sign of life.
pub fn began(run: &RunSummary) -> Option<i64> {
    let millis = |stamp: &Option<Stamp>| stamp.as_ref().and_then(Stamp::millis);
    run_id::RunId::parse(&run.id)
        .millis()
        .or_else(|| millis(&run.started))
        .or_else(|| millis(&run.last_sign))
}

/// Returns the last sign of life of a run, or else when the run began, in milliseconds since 1970 UTC.
fn last_sign(run: &RunSummary) -> Option<i64> {
    let sign = run.last_sign.as_ref().and_then(Stamp::millis);
    sign.or_else(|| began(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::session::ListOrder;
    use crate::read::sqlite::MemorySource;

    fn run(id: &str, status: &str, program: &str, took: Option<i64>, gates: u32) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            place: id.to_owned(),
            status: status.to_owned(),
            program: Some(program.to_owned()),
            duration_ms: took,
            pending_gates: gates,
            ..RunSummary::default()
        }
    }

    fn runs() -> Vec<RunSummary> {
        vec![
            run(
                "20260103-000000-cccccc",
                "failed",
                "ship/tax.prose",
                Some(5),
                0,
            ),
            run("20260101-000000-aaaaaa", "completed", "hunt.prose", None, 0),
            run(
                "20260102-000000-bbbbbb",
                "waiting",
                "ship/tax.prose",
                Some(9),
                1,
            ),
            run("no-time", "Failed", "hunt.prose", None, 0),
        ]
    }

    fn ids(runs: &[RunSummary]) -> String {
        let first = |run: &RunSummary| run.id.chars().last().unwrap_or_default();
        runs.iter().map(first).collect()
    }

    #[test]
    fn filters_narrow_together() {
        let since = Stamp::parse("2026-01-02").millis();
        let status = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        let program = Some("TAX".to_owned());
        for (filter, expected) in [
            (Filter::default(), "cabe"),
            (
                Filter {
                    status: status(&["failed"]),
                    ..Filter::default()
                },
                "ce",
            ),
            (
                Filter {
                    status: status(&["failed", "waiting"]),
                    ..Filter::default()
                },
                "cbe",
            ),
            (
                Filter {
                    since,
                    ..Filter::default()
                },
                "cb",
            ),
            (
                Filter {
                    before: since,
                    ..Filter::default()
                },
                "a",
            ),
            (
                Filter {
                    quiet_since: since,
                    ..Filter::default()
                },
                "a",
            ),
            (
                Filter {
                    program: program.clone(),
                    ..Filter::default()
                },
                "cb",
            ),
            (
                Filter {
                    program,
                    pending: true,
                    ..Filter::default()
                },
                "b",
            ),
        ] {
            let mut found = runs();
            found.retain(|run| filter.wants(run));
            assert_eq!(ids(&found), expected, "{filter:?}");
        }
    }

    #[test]
    fn a_status_is_known_by_our_words_and_by_those_that_runs_record() {
        let mut odd = runs();
        odd.push(run("odd", "Paused", "hunt.prose", None, 0));
        for (words, expected) in [
            (
                &["completed", "WAITING", "unreadable", "unknown"][..],
                Ok(()),
            ),
            (&["paused"], Ok(())),
            (&["failed", "complete"], Err("complete")),
            (&[""], Err("")),
        ] {
            let filter = Filter {
                status: words.iter().map(|word| (*word).to_owned()).collect(),
                ..Filter::default()
            };
            let expected = expected.map_err(|word| UnknownStatus(word.to_owned()));
            assert_eq!(filter.known_status(odd.iter()), expected, "{words:?}");
        }
        let message = UnknownStatus("complete".to_owned()).to_string();
        assert!(message.starts_with("no run has the status complete: expected completed, failed,"));
    }

    #[test]
    fn a_run_that_cannot_be_opened_is_unreadable() {
        let broken = RunSummary {
            error: Some("not a database".to_owned()),
            ..RunSummary::default()
        };
        let filter = Filter {
            status: vec!["unreadable".to_owned()],
            ..Filter::default()
        };
        assert!(filter.wants(&broken) && !filter.wants(&runs()[0]));
    }

    #[test]
    fn orders_put_what_is_unknown_last() {
        for (order, expected) in [
            (ListOrder::Newest, "cbae"),
            (ListOrder::Oldest, "abce"),
            (ListOrder::Duration, "bcae"),
            (ListOrder::Status, "eacb"),
            (ListOrder::Program, "aecb"),
            (ListOrder::Problems, "ceba"),
        ] {
            let mut found = runs();
            order.sort(&mut found, &MemorySource::default());
            assert_eq!(ids(&found), expected, "{order:?}");
        }
    }
}
