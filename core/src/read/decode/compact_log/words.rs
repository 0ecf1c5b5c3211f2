//! Lists the marks and keywords of a compact log. Reading accepts every entry of a list; writing uses the first entry.
//! Status words are in [`crate::model::words`], which all forms share.

use crate::model::Status;

/// The arrows between a statement's number and its event.
pub(crate) const ARROWS: &[&str] = &["→", "->"];

/// The marks before the events of a parallel block: `∥start`, `∥done`.
pub(crate) const PARALLEL: &[&str] = &["∥"];

/// The keywords before the number of a loop's round, as in `loop:2/5`.
pub(crate) const LOOP: &[&str] = &["loop"];

/// The keywords before a block's name, as in `block:implement#1`.
pub(crate) const BLOCK: &[&str] = &["block"];

/// The keywords before a gate's name, as in `gate:tests`.
pub(crate) const GATE: &[&str] = &["gate"];

/// The keywords before a condition, as in `if(false) skip`.
pub(crate) const CONDITIONS: &[&str] = &["if", "elif", "else", "option"];

/// The words which record that a body did not run, whatever text follows them.
pub(crate) const PASSED_OVER: &[&str] = &[
    "not executed",
    "not taken",
    "not run",
    "skipped",
    "skip",
    "⊘",
];

/// The values of a condition and the words about its body, each with whether the body ran.
pub(crate) const HELD: &[(&str, bool)] = &[
    ("false", false),
    ("executed", true),
    ("taken", true),
    ("true", true),
];

/// The keys of lines that are remarks, as in `note: the cache was cold`.
pub(crate) const REMARKS: &[&str] = &["exit_condition", "note", "reason", "remark", "comment"];

/// The text at the start of a trailer, as in `---end`.
pub(crate) const TRAILER: &str = "---";

/// Returns the status that a mark after a statement means.
pub(crate) fn mark(c: char) -> Option<Status> {
    Some(match c {
        '✓' | '✅' => Status::Completed,
        '✗' | '❌' => Status::Failed,
        '⊘' => Status::Skipped,
        '∅' => Status::Unchanged,
        '⏳' | '⇒' => Status::Waiting,
        '⟳' => Status::Executing,
        _ => return None,
    })
}
