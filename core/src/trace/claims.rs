//! Collects the run's status from each source (row, state file, log, disk), and explains which status counts (errata
//! T10).

use super::emit::word;
use super::lower::disk::Stale;
use super::lower::facts::LineEvidence;
use super::verdict::{Claim, recorded};
use super::{Node, NodeKind, NodeSlice, NodeStatus, Trace};
use crate::model::{BindingKind, Run, RunStatus};

/// Returns one claim for each source that records the run's status. If no source records an end, but every statement
/// is over, adds a claim from the statements.
///
/// A file that records `running` counts even if all its lines are done, because the run may continue. But if bindings
/// on disk are newer than the file's marks, the file's `running` is outdated too.
pub(super) fn of(
    run: &Run,
    facts: &LineEvidence<'_>,
    nodes: &NodeSlice,
    stale: &Stale,
) -> Vec<Claim> {
    let mut claims = recorded(run);
    let ended = claims
        .iter()
        .any(|c| c.status.is_finished() || c.status == RunStatus::Interrupted);
    let outdated = claims.is_empty() || stale.any();
    if !ended && outdated && all_is_over(run, facts, nodes) {
        // If bindings on disk are newer than the state file, the state file's call stack is outdated too.
        claims.push(if root_is_open(run) && !stale.any() {
            Claim::new("call stack", RunStatus::Running, None)
        } else {
            Claim::new(completion_source(run), RunStatus::Completed, None)
        });
    }
    claims
}

/// Whether the call stack's row for the root records that the run is running.
fn root_is_open(run: &Run) -> bool {
    let status = run.state_file.as_ref().and_then(|file| file.root.as_ref());
    status.is_some_and(|status| word(status).is_open())
}

/// Returns the source that shows that all statements are over.
fn completion_source(run: &Run) -> &'static str {
    match (&run.state_file, &run.log) {
        (None, None) => "disk",
        _ => "execution trace",
    }
}

/// Whether all statements are over: no node is open or failed, and each top-level statement that always runs has a
/// node. Of a program that is only its beginning, this is unknown.
pub(super) fn all_is_over(run: &Run, facts: &LineEvidence<'_>, nodes: &NodeSlice) -> bool {
    let file = run.state_file.as_ref();
    let elided = facts.is_trace && file.is_some_and(|f| f.trace.iter().any(|l| l.line.is_none()));
    let open = |n: &Node| n.status.is_open() && !matches!(n.kind, NodeKind::Round { .. });
    if elided
        || facts.listing.cut_at().is_some()
        || file.is_some_and(|f| !f.call_stack.is_empty())
        || nodes
            .iter()
            .any(|n| open(n) || n.status == NodeStatus::Failed)
    {
        return false;
    }
    let lines: std::collections::BTreeSet<u32> = nodes.iter().filter_map(|n| n.line).collect();
    let top = facts
        .listing
        .statements
        .iter()
        .filter(|s| s.parent.is_none() && s.kind.runs() && s.kind.is_work());
    let mut any = false;
    for statement in top {
        any = true;
        if !lines.contains(&statement.line) {
            return false;
        }
    }
    any
}

/// Lists all sources in the verdict if bindings on disk contradict older marks in the state file or the log.
pub(super) fn explain(run: &Run, stale: &Stale, trace: &mut Trace) {
    let (told_by, status) = match (&run.state_file, &run.log) {
        (Some(file), _) => ("state file", &file.status),
        (None, Some(log)) => ("log", &log.status),
        (None, None) => return,
    };
    let verdict = &mut trace.verdict;
    if let (None, Some(log)) = (&run.state_file, &run.log) {
        if verdict.source == "nothing" && log.lines.is_empty() {
            "the log contains only its header: the run started, and nothing more is recorded"
                .clone_into(&mut verdict.reason);
        }
        // The words after the status in the log's trailer (`---error …`), for example the text of an error.
        let trailer = log.trailer.and_then(|at| log.lines.get(at as usize));
        let note_of_end = trailer.and_then(|line| line.note.as_ref());
        if let (Some(note), "log") = (note_of_end, verdict.source.as_str()) {
            verdict.reason.push_str(&format!(": {note}"));
        }
    }
    if verdict.source == completion_source(run) {
        verdict.reason =
            "every statement has ended, and no record of the run contradicts that".to_owned();
        if status.is_some() {
            verdict.reason = format!(
                "every statement has ended, but the {told_by} does not record the end of the run"
            );
        }
    }
    // A log that records the run's end is as recent as the bindings on disk, so the bindings do not contradict the log.
    let has_end = run.state_file.is_none() && status.as_ref().is_some_and(RunStatus::is_finished);
    if !stale.any() || has_end {
        return;
    }
    let claim = |source: &str, says: String| (source.to_owned(), says);
    let recorded = status.as_ref().map_or("no status", RunStatus::word);
    if !verdict.claims.iter().any(|(source, _)| source == told_by) {
        verdict.claims.push(claim(told_by, recorded.to_owned()));
    }
    let rounds = (!stale.rounds.is_empty()).then(|| match stale.reached {
        0 => format!("the {told_by} does not count rounds"),
        n => format!("the {told_by} stopped at round {n}"),
    });
    let markers = match stale.overruled.as_slice() {
        [] if stale.unmarked.is_empty() => None,
        [] => Some(format!(
            "the {told_by} does not mark every statement whose binding is written"
        )),
        [one] => Some(format!("{one} is under way")),
        [first, second] => Some(format!("{first} and {second} are under way")),
        [first, more @ ..] => Some(format!("{first} and {} others are under way", more.len())),
    };
    let markers: Vec<String> = rounds.into_iter().chain(markers).collect();
    let markers = markers.join("; ");
    let known = |(source, _): &(String, String)| source == "execution markers";
    if !stale.overruled.is_empty() || !verdict.claims.iter().any(known) {
        verdict.claims.push(claim("execution markers", markers));
    }
    let files = run
        .bindings
        .iter()
        .filter(|b| b.is_written() && b.kind != BindingKind::Input);
    let mut disk = vec![match files.count() {
        1 => "1 is written".to_owned(),
        n => format!("{n} are written"),
    }];
    disk.extend(
        stale
            .rounds
            .iter()
            .take(3)
            .map(|round| format!("up to {round}")),
    );
    verdict
        .claims
        .push(claim("bindings on disk", disk.join(", ")));
    verdict.reason.push_str(&format!(
        "; the bindings on disk are newer than the marks in the {told_by}"
    ));
}
