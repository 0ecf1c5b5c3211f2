//! Reads the gates, the audit log and the execution events of a run folder.

use std::collections::BTreeMap;

use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::source::FileEntry;
use crate::model::{Gate, Run};
use crate::read::decode::gates_json;
use crate::read::decode::room::{METADATA, bytes_a_row};

/// Maximum bytes read of one gate file.
const GATE_MOST: usize = 1 << 20;
const CHECKPOINT: &str = "x_checkpoint.jsonl";
/// Bytes read from the start of the checkpoint file. They contain the length of the event log at the checkpoint.
const CHECKPOINT_HEAD: usize = 128;
/// Maximum bytes read of a log.
const LOG_MOST: usize = 64 << 20;

/// Adds to the run the gates and the audit log of `gates/`, and the executions of `x_events.jsonl`.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) {
    let mut by_id: BTreeMap<&str, [Option<&FileEntry>; 2]> = BTreeMap::new();
    for place in tree.under("gates/") {
        let Some(file) = tree.at(place) else { continue };
        let Some(name) = tree
            .relative(file)
            .strip_prefix("gates/")
            .and_then(|n| n.strip_suffix(".json"))
        else {
            continue;
        };
        match (
            name.strip_suffix(".resolved"),
            name.strip_suffix(".pending"),
        ) {
            (Some(id), _) => by_id.entry(id).or_default()[1] = Some(file),
            (_, Some(id)) => by_id.entry(id).or_default()[0] = Some(file),
            _ => by_id.entry(name).or_default()[0] = Some(file),
        }
    }
    let most = tree.room("gates", bytes_a_row(schema::GATES), by_id.len());
    for (id, [pending, resolved]) in by_id.into_iter().take(most) {
        let mut text = |file: Option<&FileEntry>| file.and_then(|file| tree.text(file, GATE_MOST));
        let (pending, resolved) = (text(pending), text(resolved));
        let (gate, issues) = gates_json::gate(id, pending.as_deref(), resolved.as_deref());
        tree.issues_of(&format!("gates/{id}.json"), issues);
        run.gates.extend(gate);
    }
    // Gates are ordered by their time of creation, and equal times by name. Gates without a time come last.
    let created = |gate: &Gate| {
        gate.created
            .as_ref()
            .and_then(crate::model::time::Stamp::millis)
            .unwrap_or(i64::MAX)
    };
    run.gates.sort_by_key(created);
    if let Some(log) = tree
        .get("gates/audit.jsonl")
        .and_then(|file| tree.text(file, LOG_MOST))
    {
        let bytes = bytes_a_row(schema::GATE_AUDIT_LOG);
        let first = tree.first_rows("gates/audit.jsonl", bytes, &log);
        let (audit, mut issues) = gates_json::audit(first);
        issues.extend(unread(first, audit.len(), true));
        if is_blank(&log) && !run.gates.is_empty() {
            let beside = match run.gates.len() {
                1 => "the folder contains a gate, so rows were lost".to_owned(),
                n => format!("the folder contains {n} gates, so rows were lost"),
            };
            issues.push(emptied(&beside));
        }
        run.audit = audit;
        tree.issues_of("gates/audit.jsonl", issues);
    }
    if let Some(log) = tree
        .get("x_events.jsonl")
        .and_then(|file| tree.text(file, LOG_MOST))
    {
        run.keeps_events = true;
        let bytes = bytes_a_row(schema::EXECUTION) + METADATA;
        let first = tree.first_rows("x_events.jsonl", bytes, &log);
        let (rows, mut issues) = gates_json::events(first);
        issues.extend(unread(first, rows.len(), false));
        if let Some(bytes) = is_blank(&log).then(|| checked(tree)).flatten() {
            let beside = format!("{CHECKPOINT} records that the log had {bytes} bytes");
            issues.push(emptied(&beside));
        }
        run.executions = rows;
        tree.issues_of("x_events.jsonl", issues);
    }
}

/// Whether a log has no lines. A new log of events may be blank, but Prosescope never creates an audit log without a
/// row.
fn is_blank(log: &str) -> bool {
    log.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Returns the issue for a log that lost its rows; `beside` is the evidence that the log had rows.
fn emptied(beside: &str) -> Issue {
    Issue::error("log-unreadable", format!("the log is empty, but {beside}"))
        .hint("Restore the log from a copy. The lost rows are missing here.")
}

/// Returns the length of the event log when its checkpoint was written, from the start of the checkpoint file; `None`
/// without a checkpoint, or if the log was empty then.
fn checked(tree: &mut RunTree<'_>) -> Option<u64> {
    let file = tree.get(CHECKPOINT)?;
    let head = tree.head(file, CHECKPOINT_HEAD)?;
    let head = String::from_utf8_lossy(&head);
    let (_, rest) = head.split_once("\"bytes\":")?;
    let digits = rest
        .trim_start()
        .split(|c: char| !c.is_ascii_digit())
        .next();
    digits?.parse().ok().filter(|bytes| *bytes > 0)
}

/// Returns an issue if no line of a log was read. `read` is the number of lines that were read. `is_verified` is
/// whether the log is verified as a whole; in that case a single unread line is enough for an issue.
fn unread(log: &str, read: usize, is_verified: bool) -> Option<Issue> {
    let lines = log.trim_start_matches('\u{feff}').lines();
    let lines = lines.filter(|line| !line.trim().is_empty()).count();
    let message = match lines.checked_sub(read) {
        None | Some(0) => return None,
        Some(1) if lines == 1 => "the only line of the log cannot be read".to_owned(),
        Some(_) if read == 0 => format!("none of the {lines} lines of the log can be read"),
        Some(unread) => format!("{unread} of the {lines} lines of the log cannot be read"),
    };
    let hint = "Restore the log from a copy. The unreadable lines are missing here.";
    match read {
        0 => Some(Issue::error("log-unreadable", message).hint(hint)),
        _ => is_verified.then(|| Issue::error("audit-lines-unread", message).hint(hint)),
    }
}
