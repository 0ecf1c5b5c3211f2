//! Extracts the parts of a log's line that identify its statement.

use crate::model::{LogEvent, LogLine};
use crate::program::StatementKind as Kind;

/// The parts of a line that identify its statement; missing parts are empty.
pub(super) struct Mark<'l> {
    /// The number before the arrow: `3` in `3→` and in `3a→`.
    pub(super) number: Option<u32>,
    /// The statement's kind, if the line determines it.
    pub(super) kind: Option<Kind>,
    /// The statement's name or words: `plan` in `3→ plan ✓`, the block in `block:implement#1`, the gate in
    /// `gate:fast_tests`.
    pub(super) label: &'l str,
}

/// Returns the identifying parts of a line; `None` if the line does not refer to a statement.
pub(super) fn mark(line: &LogLine) -> Option<Mark<'_>> {
    let (kind, label): (Option<Kind>, &str) = match &line.event {
        LogEvent::Statement { text, .. } if line.held.is_some() => (condition(text), ""),
        LogEvent::Statement { text, .. } if is_input(line) => (Some(Kind::Input), text),
        LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => words(text),
        LogEvent::Fork { .. } | LogEvent::Join { .. } => (Some(Kind::Parallel), ""),
        LogEvent::Round { .. } => (Some(Kind::Loop), ""),
        LogEvent::Enter { block, .. } => (Some(Kind::Do), block),
        LogEvent::Gate { gate, .. } => (Some(Kind::Gate), gate),
        LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => return None,
    };
    Some(Mark {
        number: line.number,
        kind,
        label,
    })
}
/// Returns the kind of a statement with a condition: an `else` if the text begins with that word, otherwise an `if`.
fn condition(text: &str) -> Option<Kind> {
    Some(if text.starts_with("else") {
        Kind::Else
    } else {
        Kind::If
    })
}

/// Returns the kind that a leading keyword determines, and the label: `.version` for `exec .version`.
fn words(text: &str) -> (Option<Kind>, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (lead, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    match lead {
        "exec" if rest.starts_with(' ') => (Some(Kind::Exec), rest.trim_start()),
        "if" | "elif" | "else" | "choice" | "option" if !rest.starts_with(['_', '-']) => {
            (Some(Kind::If), "")
        }
        _ => (None, name(text)),
    }
}

/// Whether the line's tag marks an input: `[input] topic ✓`.
fn is_input(line: &LogLine) -> bool {
    line.tag()
        .is_some_and(|tag| tag.eq_ignore_ascii_case("input"))
}

/// Removes a remark from a name: `reviewer (final)` becomes `reviewer`.
fn name(text: &str) -> &str {
    let name = text
        .strip_suffix(')')
        .and_then(|text| text.split_once(" ("));
    let name = name.map_or(text, |(name, _)| name);
    if name.contains([' ', '\t']) {
        text
    } else {
        name
    }
}
