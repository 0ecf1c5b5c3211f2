//! The marks and keywords of a compact log, each with what it means: the one list for reading and for writing. The
//! first of each is the one that is written. Words for a status are those of every form ([`crate::model::words`]).

use crate::model::Status;

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

/// Before a condition.
pub(crate) const CONDITIONS: &[&str] = &["if", "elif", "elseif", "else if", "else", "option"];

/// Records that a body did not run, whatever follows.
pub(crate) const PASSED_OVER: &[&str] = &[
    "not executed",
    "not taken",
    "not entered",
    "not run",
    "not met",
    "skipped",
    "skip",
    "⊘",
];

/// Values of a condition, and words for its body: whether the body ran.
pub(crate) const HELD: &[(&str, bool)] = &[
    ("false", false),
    ("no", false),
    ("executed", true),
    ("taken", true),
    ("entered", true),
    ("met", true),
    ("true", true),
    ("yes", true),
];

/// Keys of remarks.
pub(crate) const REMARKS: &[&str] = &["exit_condition", "note", "reason", "remark", "comment"];

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
