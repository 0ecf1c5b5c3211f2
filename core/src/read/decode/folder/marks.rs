//! Reads marks in the writer's own words, such as `2→ figures timed out` and `# ERROR: rate limit`. Only the program
//! shows which words of a log's line are a statement's name, and which comments of a trace are the program's own.

use std::collections::BTreeSet;

use crate::model::words::{gate, leading_status, status};
use crate::model::{Annotation, CompactLog, GateStatus, LogEvent, Run, StateFile, Status};
use crate::program::{self, StatementKind};
use crate::read::decode::state_md::annotation;

/// Maximum length in bytes of a mark that is shown as the statement's status. Longer words are shown as a remark.
const LONGEST: usize = 40;

/// Reads the marks in words of the run's log or state file.
pub(super) fn read(run: &mut Run) {
    let Some(program) = run.program.source.as_deref() else {
        return;
    };
    if let Some(log) = &mut run.log {
        of_log(log, program);
    }
    if let Some(file) = &mut run.state_file {
        of_trace(file, program);
    }
}

/// Splits lines such as `2→ figures timed out` into a name of the program and a mark.
fn of_log(log: &mut CompactLog, program: &str) {
    let is_in_words = |event: &LogEvent| match event {
        LogEvent::Statement { text, status } => match status {
            None => text.contains(' '),
            Some(status) => *status == Status::Waiting,
        },
        _ => false,
    };
    if !log.lines.iter().any(|line| is_in_words(&line.event)) {
        return;
    }
    let listing = program::scan(program);
    let mut names = BTreeSet::new();
    for own in &listing.statements {
        names.extend(own.name.as_deref());
        let called = own.target.as_deref();
        names.extend(called.filter(|_| own.kind == StatementKind::Do));
    }
    let gates = listing.statements.iter();
    let gates = gates.filter(|own| own.kind == StatementKind::Gate);
    let gates: BTreeSet<&str> = gates.filter_map(|own| own.name.as_deref()).collect();
    for line in log.lines.iter_mut().filter(|line| is_in_words(&line.event)) {
        let LogEvent::Statement { text, status } = &line.event else {
            continue;
        };
        if status.is_some() {
            if gates.contains(&**text) {
                let (gate, status) = (text.clone(), GateStatus::Pending);
                line.event = LogEvent::Gate { gate, status };
            }
            continue;
        }
        let named = text.strip_prefix("gate ").unwrap_or(text);
        let Some((name, said)) = named.split_once(' ') else {
            continue;
        };
        if gates.contains(name) {
            let (word, note) = said.split_once(' ').unwrap_or((said, ""));
            // Behind the word `gate`, other words do not decide the gate, either.
            let open = (named.len() < text.len()).then_some((GateStatus::Pending, said));
            let decided = gate(word).map(|status| (status, note.trim()));
            if let Some((status, note)) = decided.or(open) {
                let (gate, note) = (name.into(), note.into());
                (line.note, line.event) = (Some(note), LogEvent::Gate { gate, status });
                continue;
            }
        }
        let Some((name, said)) = text.split_once(' ') else {
            continue;
        };
        let (name, said) = (name.trim_end_matches(':'), said.trim());
        // `reviewer (final)` and `draft = session` are names of statements, too.
        if !names.contains(name) || said.starts_with(['(', '=', '-', '→']) {
            continue;
        }
        let Some((status, note)) = mark(said) else {
            continue;
        };
        line.note = note.map(Into::into);
        line.event = LogEvent::statement(name, Some(status));
    }
}

/// Reads the comments that a trace adds to the program's lines.
fn of_trace(file: &mut StateFile, program: &str) {
    let mut lines: BTreeSet<&str> = BTreeSet::new();
    for line in program.lines() {
        lines.insert(line.trim());
        lines.extend(annotation::comment(line).map(|(source, _)| source.trim()));
    }
    for line in file
        .trace
        .iter_mut()
        .filter(|line| line.annotation.is_none())
    {
        let Some((source, comment)) = annotation::comment(&line.text) else {
            continue;
        };
        if lines.contains(line.text.trim()) || !lines.contains(source.trim()) {
            continue;
        }
        let Some((status, note)) = mark(comment) else {
            continue;
        };
        let note = note.map(Into::into);
        let (error, note) = match status {
            Status::Failed => (note, None),
            _ => (None, note),
        };
        line.annotation = Some(Annotation {
            status: Some(status),
            error,
            note,
            raw: comment.into(),
            ..Annotation::default()
        });
        line.text = source.into();
    }
}

/// Reads a mark in words: the status that the words mean, or else the words themselves, and a remark. `None` for the
/// round of a loop, which the section of loops records. The words of a completion count only if nothing follows, because
/// `done with errors` does not mean success.
fn mark(said: &str) -> Option<(Status, Option<&str>)> {
    let said = said.trim().trim_matches(['*', '`', '_']).trim();
    match status(said).or_else(|| leading_status(said)) {
        Some(Status::Iteration) => return None,
        Some(Status::Completed | Status::Skipped) if status(said).is_none() => {}
        Some(status) => return Some((status, Some(said))),
        None => {}
    }
    let end = said.find([':', '(', ',', ';', '—', '–']);
    let (word, rest) = said.split_at_checked(end.unwrap_or(said.len()))?;
    let word = word.trim();
    if word.is_empty() || word.len() > LONGEST {
        return Some((Status::Other("unknown".into()), Some(said)));
    }
    let rest = rest.trim_start_matches([':', ',', ';', '—', '–', ' ']);
    let rest = Some(rest).filter(|rest| !rest.is_empty());
    Some((Status::Other(word.into()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_in_words_is_a_status_or_its_own_words() {
        let other = |word: &str| Status::Other(word.into());
        for (said, status, note) in [
            ("ERROR: disk full", Status::Failed, Some("ERROR: disk full")),
            ("**FAIL**", Status::Failed, Some("FAIL")),
            ("timed out", other("timed out"), None),
            (
                "BLOCKED (no network)",
                other("BLOCKED"),
                Some("(no network)"),
            ),
            ("gave up, no network", other("gave up"), Some("no network")),
            ("done", Status::Completed, Some("done")),
            ("done with errors", other("done with errors"), None),
            ("…", other("…"), None),
            (
                "looked at forty pages and found nothing in them",
                other("unknown"),
                Some("looked at forty pages and found nothing in them"),
            ),
        ] {
            assert_eq!(mark(said), Some((status, note)), "{said}");
        }
        assert_eq!(mark("iteration 2/5"), None);
    }
}
