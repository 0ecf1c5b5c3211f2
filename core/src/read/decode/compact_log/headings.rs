//! Parses compact logs in which headings record the outcomes of all or some statements:
//!
//! ```text
//! ### planner — completed
//! ### searcher — failed (no network)
//! ### editor: FAILED — no draft
//! ### digest → Shortfall
//! ```
//!
//! The words after a statement's name are its outcome. If any heading of the same level has a known outcome, an
//! unknown word also counts as an outcome, and is kept as written.

use std::collections::BTreeSet;

use super::line::{ParsedLine, plain_reason};
use super::words;
use crate::model::words as listed;
use crate::model::{CompactLog, LogEvent, LogLine, Status, Text};
use crate::read::decode::state_md::lines::heading;

/// The separators between a name and its outcome in a heading.
const DASHES: &[&str] = &[" — ", " – ", " -- ", " - ", " → ", " -> "];

/// The separator between a name and a known status, as in `### searcher: FAILED — no network`. What follows a colon may
/// also be a title, so an unknown word after it is no outcome.
const COLON: &str = ": ";

/// The texts that end a status word and begin its reason, as in `failed (no network)`.
const FOLLOWS: &[&str] = &[
    "(",
    ",",
    ";",
    ":",
    ".",
    "—",
    "–",
    " after ",
    " at ",
    " because ",
    " by ",
    " due ",
    " in ",
    " on ",
    " with ",
];

/// Replaces headings with the statements that they record. A heading remains if another line, such as `1→ plan ✓`,
/// already records a statement of the same name.
pub(super) fn read(log: &mut CompactLog) {
    let is_marked =
        |line: &LogLine| line.number.is_some() || matches!(line.event, LogEvent::Statement { .. });
    let any_marked = log.lines.iter().any(is_marked);
    let name = |line: &LogLine| match &line.event {
        LogEvent::Statement { text, .. } => Some(text.clone()),
        _ => None,
    };
    let named: BTreeSet<Text> = log.lines.iter().filter_map(name).collect();
    let error = log.error().unwrap_or_default();
    let all: Vec<_> = log
        .lines
        .iter()
        .map(|line| heading(&line.raw).zip(record(&line.raw, error)))
        .collect();
    let is_known = |record: &ParsedLine<'_>| !matches!(record.status(), Some(Status::Other(_)));
    let known = all.iter().flatten().filter(|(_, record)| is_known(record));
    let levels: BTreeSet<usize> = known.map(|((level, _), _)| *level).collect();
    let records: Vec<_> = log
        .lines
        .iter()
        .zip(all)
        .map(|(line, found)| {
            let ((level, _), record) = found?;
            let counts = is_known(&record) || levels.contains(&level);
            counts.then(|| record.at(line.line, &line.raw))
        })
        .map(|record| record.filter(|record| name(record).is_some_and(|own| !named.contains(&own))))
        .collect();
    if records.iter().all(Option::is_none) {
        return;
    }
    for (line, record) in log.lines.iter_mut().zip(records) {
        match record {
            Some(record) => *line = record,
            None if any_marked || matches!(line.event, LogEvent::Trailer { .. }) => {}
            None => *line = ParsedLine::of(None, LogEvent::Note, None).at(line.line, &line.raw),
        }
    }
}

/// Reads a heading such as `### searcher — failed (no network)`. `error` is the error in the log's head: with the
/// error `searcher.NoNetwork`, the heading `### searcher — NoNetwork` records a failure.
fn record<'t>(line: &'t str, error: &str) -> Option<ParsedLine<'t>> {
    let (_, title) = heading(line).filter(|(level, _)| *level > 1)?;
    let separators = DASHES.iter().chain([&COLON]);
    let parts = separators.filter_map(|by| Some((by, title.split_once(by)?)));
    let (by, (name, rest)) = parts.min_by_key(|(_, (name, _))| name.len())?;
    let numbered = name
        .split_once(['.', ')'])
        .filter(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()));
    let name = numbered.map_or(name, |(_, name)| name);
    let name = name.trim_matches(['`', '*', ' ']);
    if name.is_empty() || name.contains(char::is_whitespace) {
        return None;
    }
    let rest = rest.trim();
    let (status, note) = match error
        .strip_prefix(name)
        .and_then(|e| e.strip_prefix(['.', ':']))
    {
        Some(error) if error.trim() == rest => (Status::Failed, rest),
        _ => status(rest).or_else(|| other(rest).filter(|_| *by != COLON))?,
    };
    let text = name.into();
    let status = Some(status);
    Some(ParsedLine::of(
        None,
        LogEvent::Statement { text, status },
        Some(note),
    ))
}

/// Parses an outcome that is not a known status word, such as `AllCallsFailed` or `shortfall (2 of 9)`; returns it
/// with its reason. Only a single word counts, because several words may be a section's title. If a mark such as `✓`
/// comes first, the mark determines the status.
fn other(text: &str) -> Option<(Status, &str)> {
    let mut behind = text.chars();
    if let Some(status) = behind.next().and_then(words::mark) {
        let behind = behind.as_str().trim_start_matches('\u{fe0f}');
        return Some((status, plain_reason(behind)));
    }
    let ends = FOLLOWS.iter().filter_map(|word| text.find(word)).min();
    let (said, note) = text.split_at_checked(ends.unwrap_or(text.len()))?;
    let said = said.trim();
    // `fetch — 12 pages` is a count, not an outcome.
    let names = said.starts_with(char::is_alphabetic) && listed::status(said).is_none();
    (names && !said.contains(char::is_whitespace))
        .then(|| (Status::Other(said.into()), plain_reason(note)))
}

/// Reads a status and its reason: `failed (no network)`, `✓ done`.
fn status(text: &str) -> Option<(Status, &str)> {
    let ends = FOLLOWS.iter().filter_map(|word| text.find(word));
    let (word, note) = text.split_at_checked(ends.min().unwrap_or(text.len()))?;
    let mark = word.chars().find_map(words::mark);
    let word = word.trim_matches(|c: char| !c.is_alphabetic());
    let status = match listed::status(word) {
        Some(Status::Iteration | Status::Retry | Status::Joined | Status::Exited) => None,
        None if word.is_empty() => mark,
        status => status,
    };
    Some((
        status?,
        plain_reason(note.trim_start_matches([',', ';', ':', '.', '—', '–'])),
    ))
}
