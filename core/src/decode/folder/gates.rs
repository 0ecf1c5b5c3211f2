//! Gates, their audit log and execution events of a run folder.

use std::collections::BTreeMap;

use super::tree::Tree;
use crate::decode::gates_json;
use crate::issue::Issue;
use crate::model::{Gate, Run};
use crate::source::FileEntry;

/// Bytes of one gate file that are read.
const GATE_MOST: usize = 1 << 20;
const CHECKPOINT: &str = "x_checkpoint.jsonl";
/// Bytes of the checkpoint in which it says how far it reaches.
const CHECKPOINT_HEAD: usize = 128;
/// Bytes of a log that are read.
const LOG_MOST: usize = 64 << 20;
/// Bytes that the rows of a log may take in memory, and about how many one takes beside twice its text.
const HELD_MOST: usize = 200 << 20;
const ROW: usize = 500;

/// Adds what `gates/` and `x_events.jsonl` hold.
pub(super) fn read(tree: &mut Tree<'_>, run: &mut Run) {
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
    for (id, [pending, resolved]) in by_id {
        let mut text = |file: Option<&FileEntry>| file.and_then(|file| tree.text(file, GATE_MOST));
        let (pending, resolved) = (text(pending), text(resolved));
        let (gate, issues) = gates_json::gate(id, pending.as_deref(), resolved.as_deref());
        tree.issues_of(&format!("gates/{id}.json"), issues);
        run.gates.extend(gate);
    }
    // In order of creation, as far as it is recorded; the names decide between equals.
    let created = |gate: &Gate| {
        gate.created
            .as_ref()
            .and_then(crate::time::Stamp::millis)
            .unwrap_or(i64::MAX)
    };
    run.gates.sort_by_key(created);
    if let Some(log) = tree
        .get("gates/audit.jsonl")
        .and_then(|file| tree.text(file, LOG_MOST))
    {
        let (log, cut) = held(&log);
        let (audit, mut issues) = gates_json::audit(log);
        issues.extend(unread(log, audit.len(), true));
        issues.extend(cut);
        if is_blank(log) && !run.gates.is_empty() {
            let beside = match run.gates.len() {
                1 => "a gate lies beside it".to_owned(),
                n => format!("{n} gates lie beside it"),
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
        let (log, cut) = held(&log);
        let (rows, mut issues) = gates_json::events(log);
        issues.extend(unread(log, rows.len(), false));
        issues.extend(cut);
        if let Some(bytes) = is_blank(log).then(|| checked(tree)).flatten() {
            let beside = format!("it had {bytes} bytes when {CHECKPOINT} was written");
            issues.push(emptied(&beside));
        }
        run.executions = rows;
        tree.issues_of("x_events.jsonl", issues);
    }
}

/// The lines at the beginning of a log whose rows can be held in memory, and what is to be said where there are more.
fn held(log: &str) -> (&str, Option<Issue>) {
    let (mut bytes, mut end) = (log.len(), 0);
    for (lines, line) in log.split_inclusive('\n').enumerate() {
        bytes += ROW + 2 * line.len();
        if bytes > HELD_MOST {
            let message = format!("the log has more than the {lines} lines that can be held");
            let cut = Issue::warning("log-cut", message)
                .hint("The rest is not held; the file itself shows it.");
            return (log.get(..end).unwrap_or(log), Some(cut));
        }
        end += line.len();
    }
    (log, None)
}

/// Whether a log has no line. A writer of ours begins the audit log with a row, so that only an empty log of events may be new.
fn is_blank(log: &str) -> bool {
    log.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Says that a log has lost its rows, which is not a log without rows.
fn emptied(beside: &str) -> Issue {
    Issue::error("log-unreadable", format!("the log is empty, and {beside}"))
        .hint("Put back the file as it was; what it says is missing here.")
}

/// How long the log of events was when its checkpoint was written, as the beginning of that file says; `None` where it was empty
/// too, or there is no checkpoint.
fn checked(tree: &mut Tree<'_>) -> Option<u64> {
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

/// Says that nothing of a log could be read, which is not a log without lines; of one that is verified as a whole also that some
/// of it could not.
fn unread(log: &str, read: usize, is_verified: bool) -> Option<Issue> {
    let lines = log.trim_start_matches('\u{feff}').lines();
    let lines = lines.filter(|line| !line.trim().is_empty()).count();
    let message = match lines.checked_sub(read) {
        None | Some(0) => return None,
        Some(1) if lines == 1 => "the only line of the log cannot be read".to_owned(),
        Some(_) if read == 0 => format!("none of the {lines} lines of the log can be read"),
        Some(unread) => format!("{unread} of the {lines} lines of the log cannot be read"),
    };
    let hint = "Put back the file as it was; what it says is missing here.";
    match read {
        0 => Some(Issue::error("log-unreadable", message).hint(hint)),
        _ => is_verified.then(|| Issue::error("audit-lines-unread", message).hint(hint)),
    }
}
