//! What a line says of the statement that it speaks of.

use crate::model::{LogEvent, LogLine};
use crate::program::StatementKind as Kind;

/// What a line says. What it does not say stays empty.
pub(super) struct Mark<'l> {
    /// `3` of `3→` and of `3a→`.
    pub(super) number: Option<u32>,
    /// What it must be, where the line says so.
    pub(super) kind: Option<Kind>,
    /// A name, or words: `plan`; of `block:implement#1` the block, of `gate:fast_tests` the gate.
    pub(super) label: &'l str,
}

/// What a line says; `None` for what speaks of no statement.
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
/// What a condition belongs to: `else` has none of its own.
fn condition(text: &str) -> Option<Kind> {
    Some(match text.starts_with("else") {
        true => Kind::Else,
        false => Kind::If,
    })
}

/// `exec .version` and `if(false)` say what they are.
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

/// `[input] topic ✓`: the tag says what is named.
fn is_input(line: &LogLine) -> bool {
    line.tag()
        .is_some_and(|tag| tag.eq_ignore_ascii_case("input"))
}

/// `reviewer (final)`: a name, and a remark.
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
