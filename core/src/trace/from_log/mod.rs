//! The trace of a run that a compact log tells of: its events, and the bindings on disk (trace.md 10; dialects.md, "B").
//!
//! ```text
//! lines ──► tied to statements ──► instances in frames, branches and rounds ─┐
//! bindings on disk ──────────────────────────────────────────────────────────┴─► what ran, and where it stands
//! ```
//!
//! A log is written as things end: what is under way is not in it. So a run without an end stands before the
//! statement behind the last that was told of, and a binding whose statement was never told of shows that it ran.
//! Numbers repeat and skip, branches run that nobody announced, constructs are left without a word: later lines are
//! the newer evidence, and what follows from them alone is marked as derived.

mod ahead;
mod branches;
mod build;
mod disk;
mod frames;
mod rounds;
mod statements;
#[cfg(test)]
mod tests;
mod ties;

use super::Trace;
use super::finish::finish;
use super::from_state::facts::Facts;
use super::from_state::{claims, count_depths};
use super::rows::Ledger;
use crate::model::{CompactLog, Run, RunStatus};
use crate::program::Listing;
use build::Builder;

/// Folds a compact log. `program` is the run's scanned program; without it lines are not tied, and only their own
/// words say what lies in what.
pub(crate) fn from_log(
    run: &Run,
    log: &CompactLog,
    program: Option<&Listing>,
    now: Option<i64>,
) -> Trace {
    let none = Listing::default();
    let listing = program.unwrap_or(&none);
    let mut ledger = Ledger::default();
    let mut facts = Facts::of(run, listing, &none, false, &mut ledger);
    let ahead = ahead::Ahead::of(log);
    let ties = ties::of(log, &ahead, &facts);
    let mut builder = Builder::new(run, log, &facts, &ties, &ahead, &mut ledger);
    for (at, line) in log.lines.iter().enumerate() {
        builder.take(at, line);
    }
    builder.settle();
    let mut grown = builder.grown();
    let stale = disk::compare(run, log, &mut grown, &mut facts, &mut ledger);
    let (mut nodes, told) = grown.into_nodes();
    count_depths(&mut nodes);
    let claims = claims::of(run, &facts, &nodes, &stale);
    let mut trace = finish(run, program, nodes, claims, now, ledger);
    trace.told = told;
    claims::explain(run, &stale, &mut trace);
    explain(log, &mut trace);
    trace
}

impl Builder<'_, '_> {
    /// What the last line leaves behind.
    fn settle(&mut self) {
        let completed = self.log.status == Some(RunStatus::Completed);
        let scopes: Vec<_> = self.loops.keys().copied().collect();
        for scope in scopes {
            let over = scope.is_some_and(|node| !self.is_open(node));
            while let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) {
                if !(over || completed && top.had_all(self.node(top.node))) {
                    break;
                }
                self.finish_loop(scope, true);
            }
        }
        let parallels = std::mem::take(&mut self.parallels);
        for parallel in std::mem::take(&mut self.earlier)
            .into_iter()
            .chain(parallels.into_values())
        {
            self.settle_parallel(&parallel);
        }
        if completed {
            for at in 0..self.nodes.len() as u32 {
                if self.about(at).is_some_and(|about| about.soft) {
                    self.passed(at);
                }
            }
        }
    }
}

/// What a log says beside its trailer's word.
fn explain(log: &CompactLog, trace: &mut Trace) {
    let verdict = &mut trace.verdict;
    if verdict.source == "nothing" && log.lines.is_empty() {
        verdict.reason =
            "the log holds its header alone: the run began, and nothing was told of it after"
                .to_owned();
    }
    let said = log
        .trailer
        .and_then(|at| log.lines.get(at as usize)?.note.as_ref());
    if let (Some(note), "log") = (said, verdict.source.as_str()) {
        verdict.reason.push_str(&format!(": {note}"));
    }
}
