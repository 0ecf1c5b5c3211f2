//! The marks and words of a compact log, each with what it means: the one list for reading and for writing. The
//! first of each is the one that is written.

use crate::model::{GateStatus, RunStatus, Status};

/// Between the statement's number and what is told of it.
pub(crate) const ARROWS: &[&str] = &["→", "->", "-->", "⟶", "➜", "➔", "=>", "–>", "—>"];

/// Begins what is told of a parallel: `∥start`, `∥done`.
pub(crate) const PARALLEL: &[&str] = &["∥", "‖", "||"];

/// Before `n/max` of a round.
pub(crate) const LOOP: &[&str] = &["loop", "repeat", "while", "for", "round", "iteration"];

/// Before a block's name.
pub(crate) const BLOCK: &[&str] = &["block", "do", "call"];

/// Before a gate's name.
pub(crate) const GATE: &[&str] = &["gate", "approve"];

/// Begins a trailer.
pub(crate) const TRAILER: &str = "---";

/// A mark behind a statement, and how the statement then stands.
pub(crate) fn mark(c: char) -> Option<Status> {
    Some(match c {
        '✓' | '✔' | '☑' | '✅' => Status::Completed,
        '✗' | '✘' | '✖' | '❌' | '☒' => Status::Failed,
        '⊘' | '⏭' => Status::Skipped,
        '⏳' | '⌛' | '⏸' | '⇒' => Status::Waiting,
        '⟳' | '↻' | '▶' => Status::Executing,
        _ => return None,
    })
}

/// A word in place of a mark, for writers that keep to ASCII.
pub(crate) fn status(word: &str) -> Option<Status> {
    Some(match word.to_ascii_lowercase().as_str() {
        "ok" | "done" | "complete" | "completed" | "success" | "succeeded" => Status::Completed,
        "fail" | "failed" | "error" => Status::Failed,
        "skip" | "skipped" | "deferred" => Status::Skipped,
        "pending" => Status::Pending,
        "waiting" => Status::Waiting,
        "start" | "started" | "running" | "executing" => Status::Executing,
        _ => return None,
    })
}

/// A word or mark behind a gate's name.
pub(crate) fn gate(word: &str) -> Option<GateStatus> {
    let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ':' | '.'));
    Some(match word.to_lowercase().as_str() {
        "approved" | "approve" | "granted" | "passed" => GateStatus::Approved,
        "rejected" | "reject" | "denied" => GateStatus::Rejected,
        "timeout" | "timed" | "timed_out" | "expired" => GateStatus::Timeout,
        "pending" | "waiting" | "awaiting" => GateStatus::Pending,
        _ => return None,
    })
}

/// What a trailer's word says of the run; a word that is not listed says nothing.
pub(crate) fn trailer(word: &str) -> Option<RunStatus> {
    Some(match word.to_ascii_lowercase().as_str() {
        "end" | "ended" | "done" | "complete" | "completed" => RunStatus::Completed,
        "error" | "fail" | "failed" => RunStatus::Failed,
        "resume" | "resumed" | "restart" | "continue" => RunStatus::Running,
        "interrupt" | "interrupted" | "pause" | "paused" | "stop" | "stopped" | "abort"
        | "aborted" | "cancel" | "cancelled" | "suspended" => RunStatus::Interrupted,
        "waiting" => RunStatus::Waiting,
        _ => return None,
    })
}
