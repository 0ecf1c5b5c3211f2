//! Parses one line of a state.md's execution trace: the program's source and the annotation of its progress.
//!
//! | line | read as |
//! |------|---------|
//! | `let a = session "A"   # --> bindings/a.md` | done, output at that path |
//! | `a = session "A"       # --> bindings/a.md (complete)` | done, output at that path; used for a branch |
//! | `session "A"           # (failed: no network)` | failed, with its message |
//! | `session "A"           # <-- RETRYING (attempt 2/3)` | the second attempt is under way |
//! | `agent x:              # [registered]` | a declaration |
//! | `loop until **x**:     # [not yet entered]` | ahead: not reached yet |
//! | `use "x" as y          ✓ defined` | a declaration; no `#` is needed (docs/reference/formats.md) |
//! | `session "issue #42"   # my own note` | source as it is: no annotation |
//!
//! The annotation is the **last** comment of a line that has the form of an annotation.

use crate::model::{Annotation, Status, Text, words};
use crate::read::decode::compact_log::words::mark;
use crate::read::decode::text::unescape;

/// Maximum number of comments tried, from the end of a line, so that a line with a million `#` is not read a million
/// times.
pub(super) const MOST_COMMENTS: usize = 64;
/// Maximum length in bytes of an annotation without a `#`.
const LONGEST_BARE: usize = 200;

/// Splits a line of the trace into its source, without trailing blanks, and its annotation.
pub(crate) fn split(line: &str) -> (&str, Option<Annotation>) {
    let line = line.trim_end();
    let marks = AnnotationMarks::of(line);
    for &at in marks.hashes.iter().rev() {
        let (source, comment) = line.split_at(at);
        let comment = comment.strip_prefix('#').unwrap_or(comment);
        if let Some(annotation) = parse(comment, source.trim().is_empty()) {
            return (source.trim_end(), Some(annotation));
        }
    }
    for at in marks.bare.into_iter().flatten() {
        let (source, tail) = line.split_at(at);
        if tail.len() <= LONGEST_BARE
            && !source.trim().is_empty()
            && let Some(annotation) = parse_bare(tail)
        {
            return (source.trim_end(), Some(annotation));
        }
    }
    (line, None)
}

/// Splits a line with a comment that is no annotation into its source and the comment's text.
pub(crate) fn comment(line: &str) -> Option<(&str, &str)> {
    let at = AnnotationMarks::of(line).hashes.pop()?;
    let (source, comment) = line.split_at_checked(at)?;
    let comment = comment.strip_prefix('#')?.trim();
    (!source.trim().is_empty() && !comment.is_empty()).then(|| (source.trim_end(), comment))
}

/// Whether a line of a trace replaces several omitted lines, such as `...remaining stages...`.
pub(crate) fn elides(line: &str) -> bool {
    let line = line.trim();
    (line.starts_with("...") || line.starts_with('…'))
        && (line.ends_with("...") || line.ends_with('…'))
}

/// The positions in a line at which an annotation may begin.
struct AnnotationMarks {
    /// Byte offsets of `#` after a blank or at the start, outside of quotes. If there are many, only the last are kept.
    hashes: Vec<usize>,
    /// Possible starts of an annotation without `#`: an arrow, a check mark, a bracket, in this order.
    bare: [Option<usize>; 3],
}

impl AnnotationMarks {
    fn of(line: &str) -> AnnotationMarks {
        let mut outside: Vec<usize> = Vec::new();
        let mut all: Vec<usize> = Vec::new();
        let mut bare = [None; 3];
        let mut quoted = false;
        let mut escaped = false;
        let mut blank_before = true;
        for (i, c) in line.char_indices() {
            if c == '#' && blank_before {
                if !quoted {
                    keep_last(&mut outside, i);
                }
                keep_last(&mut all, i);
            } else if !quoted && blank_before {
                let tail = line.get(i..).unwrap_or_default();
                match c {
                    '-' if tail.starts_with("--> ") => bare[0] = Some(i),
                    '<' if tail.starts_with("<-- ") => bare[0] = Some(i),
                    '[' if tail.len() < 40 => bare[2] = Some(i),
                    c if mark(c).is_some_and(|status| status.is_terminal()) => bare[1] = Some(i),
                    _ => {}
                }
            }
            quoted ^= c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            blank_before = c.is_whitespace();
        }
        AnnotationMarks {
            // A quote that is never closed is not a quotation, so every `#` of the line may begin a comment.
            hashes: if quoted { all } else { outside },
            bare,
        }
    }
}

fn keep_last(list: &mut Vec<usize>, at: usize) {
    if list.len() == 2 * MOST_COMMENTS {
        list.drain(..MOST_COMMENTS);
    }
    list.push(at);
}

/// Parses the text after a `#`; returns `None` for an ordinary comment.
fn parse(comment: &str, alone: bool) -> Option<Annotation> {
    let raw = comment.trim();
    // A comment on a line of its own belongs to the program, unless it begins with an arrow (`-->`, `<--`).
    if alone && !raw.starts_with("-->") && !raw.starts_with("<--") {
        return None;
    }
    let mut annotation = if let Some(path) = raw.strip_prefix("-->") {
        arrow(path)
    } else if let Some(marker) = raw.strip_prefix("<--") {
        marker_annotation(marker)?
    } else if let Some(inside) = raw.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        phrase(inside.trim_matches(|c: char| c == '.' || c == '…' || c.is_whitespace()))?
    } else if let Some(inside) = raw.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
        phrase(inside)?
    } else {
        check_mark(raw)?
    };
    annotation.raw = raw.into();
    Some(annotation)
}

/// Parses an annotation without a `#`; returns `None` if the text may belong to the source.
fn parse_bare(tail: &str) -> Option<Annotation> {
    let raw = tail.trim();
    if let Some((Status::Completed, rest)) = marked(raw) {
        // `✓ DONE` and `✓ defined` are annotations; a check mark before other words may be part of a prompt.
        let rest = rest.trim();
        if !rest.is_empty() && phrase(rest).is_none() {
            return None;
        }
    } else if raw.starts_with('[')
        && !matches!(raw, "[not yet entered]" | "[...next...]" | "[registered]")
    {
        return None;
    }
    parse(raw, false)
}

/// Parses an arrow, which means completed: `--> bindings/a.md (complete)`.
fn arrow(text: &str) -> Annotation {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    let behind = text.get(first.len()..).unwrap_or_default().trim_start();
    let (rest, said) = match bracketed(behind, behind.split_once('(')) {
        Some(("", said)) => (first, Some(said)),
        _ => match bracketed(text, text.rsplit_once('(')) {
            Some((before, said)) => (before, Some(said)),
            None => (text, None),
        },
    };
    let mut annotation = said.unwrap_or_default();
    annotation.path = read_path(rest).map(Into::into);
    // An arrow without a binding means completed, too (`--> exceptions.py created`).
    if annotation.path.is_none() && annotation.status.is_none() {
        annotation.status = Some(Status::Completed);
    }
    annotation
}

/// Returns the annotation in the brackets at the end of a text, and the text before; `cut` is the text split at the
/// opening bracket.
fn bracketed<'a>(text: &'a str, cut: Option<(&'a str, &'a str)>) -> Option<(&'a str, Annotation)> {
    let (before, inside) = cut.filter(|_| text.ends_with(')'))?;
    let inside = inside.strip_suffix(')')?;
    Some((before.trim_end(), phrase(inside)?))
}

/// Returns the path of an arrow: the only word, or the first word if it starts with `bindings/`.
fn read_path(text: &str) -> Option<String> {
    let text = text.trim();
    let first = text.split_whitespace().next()?;
    let alone = first.len() == text.len();
    let word = match first.strip_prefix('`').and_then(|w| w.strip_suffix('`')) {
        Some(inside) if !inside.is_empty() => inside,
        _ => first.trim_end_matches(','),
    };
    let path = unescape(word);
    (!path.is_empty() && (alone || path.starts_with("bindings/"))).then(|| path.into_owned())
}

/// Parses a marker: `<-- RETRYING (attempt 2/3)`, `<-- WAITING (gate id)`.
fn marker_annotation(text: &str) -> Option<Annotation> {
    let text = text.trim();
    let (word, group) = match text.split_once('(') {
        Some((word, group)) => (
            word.trim_end(),
            group.strip_suffix(')').unwrap_or(group).trim(),
        ),
        None => (text, ""),
    };
    if word.is_empty() {
        return None;
    }
    let mut annotation = Annotation {
        status: Some(Status::parse(word)),
        ..Annotation::default()
    };
    if let Some(gate) = strip_word(group, "gate") {
        let gate = gate.strip_prefix(':').unwrap_or(gate).trim();
        annotation.gate = Some(gate.into());
    } else if let Some(attempt) = strip_word(group, "attempt") {
        annotation.attempt = read_attempt(attempt).map(|(attempt, _)| attempt);
    }
    Some(annotation)
}

/// Status words of state files that rows do not have: a gate's decision, and `abandoned` for a statement that the
/// run's end interrupted.
pub(crate) const DECISIONS: [&str; 4] = ["approved", "rejected", "timed out", "abandoned"];

/// Words in brackets that are not status words, as in `[not yet entered]`. Only punctuation or a small word such as
/// `after` may follow such a word.
const PHRASES: &[(&str, Phrase)] = &[
    ("not yet entered", Phrase::Ahead),
    ("next", Phrase::Ahead),
    ("registered", Phrase::Declared),
    ("defined", Phrase::Declared),
    ("approved", Phrase::Decision),
    ("rejected", Phrase::Decision),
    ("timed out", Phrase::Decision),
    ("abandoned", Phrase::Decision),
];

#[derive(Clone, Copy)]
enum Phrase {
    Is(&'static Status),
    Ahead,
    Declared,
    /// One of the [`DECISIONS`].
    Decision,
}

/// Parses the text inside brackets: a known word, optionally an attempt and a message.
fn phrase(inside: &str) -> Option<Annotation> {
    let inside = inside.trim();
    let known = words::of_statements().map(|(word, status)| (word, Phrase::Is(status)));
    let (name, kind, rest) = PHRASES
        .iter()
        .copied()
        .chain(known)
        .find_map(|(name, kind)| Some((name, kind, strip_word(inside, name)?)))?;
    let mut annotation = Annotation::default();
    match kind {
        Phrase::Ahead => annotation.ahead = true,
        Phrase::Declared => annotation.declared = true,
        Phrase::Is(status) => annotation.status = Some(status.clone()),
        Phrase::Decision => annotation.status = Some(Status::Other(name.into())),
    }
    let rest = rest.trim_start();
    if let Some(attempt) = rest
        .strip_prefix(',')
        .and_then(|r| strip_word(r.trim_start(), "attempt"))
        && let Some((attempt, tail)) = read_attempt(attempt)
    {
        annotation.attempt = Some(attempt);
        (annotation.error, annotation.note) = message(&annotation, tail);
        return Some(annotation);
    }
    let small = ["after", "at", "by", "in", "on", "with", "via"];
    let ends_word = rest.is_empty()
        || rest
            .starts_with(|c: char| c.is_ascii_punctuation() || matches!(c, '–' | '—' | '…' | '→'))
        || small.iter().any(|w| strip_word(rest, w).is_some());
    if !ends_word {
        return None;
    }
    (annotation.error, annotation.note) = message(&annotation, rest);
    Some(annotation)
}

/// Returns the error after a status word, such as `no network` in `(failed: no network)`, or else the remark. Only after
/// `failed`, other separators than a colon begin an error.
fn message(annotation: &Annotation, rest: &str) -> (Option<Text>, Option<Text>) {
    let rest = rest.trim_start();
    let text = rest
        .strip_prefix([':', '-', '–', '—', ','])
        .unwrap_or(rest)
        .trim();
    let said = Some(text).filter(|text| !text.is_empty()).map(Text::from);
    let speaks = annotation.status == Some(Status::Failed) || rest.starts_with(':');
    if speaks && annotation.status != Some(Status::Completed) {
        (said, None)
    } else {
        (None, said)
    }
}

/// Returns the status of a mark such as `✓` at the start of a text, and the text after the mark.
fn marked(raw: &str) -> Option<(Status, &str)> {
    let first = raw.chars().next()?;
    let status = mark(first).filter(Status::is_terminal)?;
    Some((status, raw.get(first.len_utf8()..)?))
}

/// Parses a check mark or a cross, optionally followed by words or a path.
fn check_mark(raw: &str) -> Option<Annotation> {
    let (status, rest) = marked(raw)?;
    // A variation selector, which asks for a coloured glyph, may follow the mark.
    let rest = rest.trim_start_matches('\u{fe0f}').trim();
    if let Some((_, path)) = rest.split_once("-->") {
        return Some(arrow(path));
    }
    let inside = rest
        .strip_prefix('(')
        .and_then(|r| r.strip_suffix(')'))
        .unwrap_or(rest);
    let mut annotation = phrase(inside).unwrap_or_default();
    if annotation.declared {
        return Some(annotation);
    }
    if status == Status::Failed
        && annotation.error.is_none()
        && annotation.status != Some(Status::Failed)
    {
        annotation.error = (!inside.is_empty()).then(|| inside.into());
    }
    annotation.ahead = false;
    annotation.status = Some(status);
    Some(annotation)
}

/// Parses an attempt at the start of a text (`2/3`, `2 of 3`, `2`); returns it with the text after it.
fn read_attempt(text: &str) -> Option<((u32, Option<u32>), &str)> {
    let (attempt, rest) = read_number(text.trim_start())?;
    let tail = rest.trim_start();
    let most = tail.strip_prefix('/').or_else(|| strip_word(tail, "of"));
    match most.and_then(|m| read_number(m.trim_start())) {
        Some((most, rest)) => Some(((attempt, Some(most)), rest)),
        None => Some(((attempt, None), rest)),
    }
}

pub(super) fn read_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = (text.get(..digits)?, text.get(digits..)?);
    Some((number.parse().ok()?, rest))
}

/// Removes a word from the start of a text, ignoring case. A longer word that begins with `word` does not match.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = text.get(word.len()..)?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (head.eq_ignore_ascii_case(word) && ends).then_some(rest)
}
