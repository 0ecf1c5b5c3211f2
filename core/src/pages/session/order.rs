//! Sorts lists of runs.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::filter::began;
use super::survey::split;
use crate::model::run_id;
use crate::model::source::Source;
use crate::pages::view::RunSummary;

/// The order of a list of runs. Runs that began in the same second are ordered by the creation time of their files, the
/// newest first, and then by place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// The newest run first; runs without a known time last.
    #[default]
    Newest,
    /// The oldest run first; runs without a known time last.
    Oldest,
    /// The longest run first; runs without a duration last.
    Duration,
    /// Ordered by status, and runs of one status with the newest first.
    Status,
    /// Ordered by program, and runs of one program with the newest first.
    Program,
    /// The runs that most need a person first: those that cannot be read, failed, wait for a decision, or stopped. Then
    /// by number of errors and warnings, and then the newest first.
    Problems,
}

impl ListOrder {
    /// Returns whether a run's own row is enough to sort by this order, so that the run need not be opened.
    pub(super) fn is_of_heads(self) -> bool {
        matches!(self, ListOrder::Newest | ListOrder::Oldest)
    }

    /// Sorts the runs of a source.
    pub(super) fn sort(self, runs: &mut [RunSummary], source: &dyn Source) {
        let mut times: Vec<Option<i64>> = runs.iter().map(began).collect();
        times.sort_unstable();
        // Reads each creation time once, because a time that changes during sorting would make the order inconsistent.
        let ties: BTreeMap<String, SortKey> = runs
            .iter()
            .filter(|run| {
                let at = times.partition_point(|time| *time < began(run));
                times.get(at + 1) == times.get(at)
            })
            .map(|run| (run.place.clone(), tie(source, &run.place)))
            .collect();
        self.sort_with(runs, &ties);
    }

    /// Sorts by this order a list that has the newest run first. Runs that began in the same second keep their
    /// positions, so no source is needed.
    pub fn sort_listed(self, runs: &mut [RunSummary]) {
        let places: BTreeMap<String, usize> = runs
            .iter()
            .enumerate()
            .map(|(nth, run)| (run.place.clone(), nth))
            .collect();
        self.sort_with(runs, &places);
    }

    fn sort_with<T: Ord>(self, runs: &mut [RunSummary], ties: &BTreeMap<String, T>) {
        let newest = |a: &RunSummary, b: &RunSummary| {
            let tie = |run: &RunSummary| ties.get(&run.place);
            began(b).cmp(&began(a)).then_with(|| tie(a).cmp(&tie(b)))
        };
        runs.sort_by(|a, b| {
            let order = match self {
                ListOrder::Newest => Ordering::Equal,
                // Runs without a known time come last even if the oldest run comes first.
                ListOrder::Oldest => {
                    (began(a).is_none(), began(a)).cmp(&(began(b).is_none(), began(b)))
                }
                ListOrder::Duration => b.duration_ms.cmp(&a.duration_ms),
                ListOrder::Status => a.status.cmp(&b.status),
                ListOrder::Program => a.program.cmp(&b.program),
                ListOrder::Problems => trouble(b).cmp(&trouble(a)),
            };
            order
                .then_with(|| newest(a, b))
                .then_with(|| a.place.cmp(&b.place))
        });
    }
}

/// Returns the sort key for [`ListOrder::Problems`]: a rank from 0 (no problem) to 4 (cannot be read), and the number
/// of errors and warnings.
fn trouble(run: &RunSummary) -> (u8, u32) {
    let is = |word: &str| run.status.eq_ignore_ascii_case(word);
    let rank = match run.error {
        Some(_) => 4,
        None if is("failed") => 3,
        None if run.pending_gates > 0 => 2,
        None if run.stale || is("interrupted") => 1,
        None => 0,
    };
    (rank, run.issues.error + run.issues.warning)
}

/// The sort key of runs that began at the same time.
pub(super) type SortKey = (bool, Reverse<Option<i128>>);

/// Returns the sort key of a run among runs that began at the same time. The time in an id has a resolution of one
/// second, so the run whose files were created later is newer. A copy (`RUN-sqlite`, `RUN-fixed`) comes after its
/// original, although its files were created later.
pub(super) fn tie(source: &dyn Source, place: &str) -> SortKey {
    let name = run_id::RunId::parse(split(place).1);
    (!name.is_well_formed(), Reverse(source.made(place)))
}
