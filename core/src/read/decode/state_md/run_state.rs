//! Decodes the state file of form D, `# Run State — …`: the program's executed lines, each with the statement's id in
//! a comment (docs/reference/formats.md).
//!
//! | comment | read as |
//! |---|---|
//! | `# s003 ✓ -> bindings/perf.md`, `# ✓ completed (s001)` | done |
//! | `# s003 SKIPPED <- source s003` | skipped |
//! | `# s012 (not executed)` | no annotation: the statement did not run |
//! | `# s010; discretion s010.d1 -> TRUE` | done: the condition held |
//! | `# s010; discretion s010.d1 -> FALSE` | skipped: the condition did not hold |
//! | `# s001 (definition)`, `# s009 (declare-once)` | a declaration |

use super::MOST_LINES;
use super::annotation::MOST_COMMENTS;
use super::lines::{fence, heading};
use crate::model::{Annotation, StateFile, Status, TraceLine, words};
use crate::read::decode::compact_log::words::mark;

/// Parses the lines of the first fenced program, and the text sections around it.
pub(crate) fn parse(text: &str) -> StateFile {
    let mut file = StateFile::default();
    let mut sections: Vec<(&str, String)> = Vec::new();
    let mut fenced: Option<bool> = None;
    for line in text.lines() {
        match (fenced, fence(line)) {
            (Some(true), Some(_)) => fenced = Some(false),
            (Some(true), None) if file.trace.len() < MOST_LINES => {
                let number = u32::try_from(file.trace.len() + 1).ok();
                file.trace.push(read(number, line));
            }
            (None, Some((_, _, "prose"))) => fenced = Some(true),
            _ => section(&mut sections, line),
        }
    }
    sections.retain(|(_, text)| !text.trim().is_empty());
    let sections = sections.into_iter();
    file.sections = sections
        .map(|(title, text)| (title.into(), text.into()))
        .collect();
    file
}

/// Keeps a line of a text section. Lines above the first section belong to the head and are not kept.
fn section<'t>(sections: &mut Vec<(&'t str, String)>, line: &'t str) {
    match heading(line) {
        Some((level, title)) if level > 1 => sections.push((title, String::new())),
        _ => {
            if let Some((_, text)) = sections.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

fn read(number: Option<u32>, line: &str) -> TraceLine {
    let comment = line
        .rmatch_indices('#')
        .filter(|(at, _)| line[..*at].ends_with([' ', '\t']))
        .take(MOST_COMMENTS)
        .find_map(|(at, _)| Some((at, annotation(line.get(at + 1..)?.trim())?)));
    let (source, annotation) = match comment {
        Some((at, annotation)) => (line.get(..at).unwrap_or(line), Some(annotation)),
        None => (line, None),
    };
    TraceLine {
        line: number,
        text: source.trim_end().into(),
        annotation,
    }
}

/// Parses a comment with a statement's id; returns `None` for a comment of the program itself.
fn annotation(comment: &str) -> Option<Annotation> {
    let (id, said) = match comment.split_once(['(', ' ', ';']) {
        Some((first, _)) if is_id(first) => (first, comment.get(first.len()..)?),
        _ if is_id(comment) => (comment, ""),
        _ => {
            let (said, id) = comment.strip_suffix(')')?.rsplit_once('(')?;
            (id, said)
        }
    };
    if !is_id(id) {
        return None;
    }
    let said = said.trim_matches([';', ' ', '\t']);
    let inside = said.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
    let path = said.split_once("-> bindings/").map(|(_, path)| path);
    let path = path.and_then(|path| path.split_whitespace().next());
    let mut own = Annotation {
        path: path.map(|path| format!("bindings/{path}").into()),
        raw: comment.into(),
        ..Annotation::default()
    };
    match inside {
        Some("definition" | "declare-once") => own.declared = true,
        Some("not executed" | "not run") => return None,
        _ => own.status = status(said),
    }
    Some(own).filter(|own| own.declared || own.status.is_some() || own.path.is_some())
}

/// Parses a status: `✓ joined (all, 2/2)`, `SKIPPED <- source s003`, `discretion s010.d1 -> TRUE`.
fn status(said: &str) -> Option<Status> {
    if let Some(decided) = said.strip_prefix("discretion ") {
        let (_, verdict) = decided.split_once("->")?;
        return match verdict.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Status::Completed),
            "false" => Some(Status::Skipped),
            _ => None,
        };
    }
    let by_mark = said.chars().next().and_then(mark);
    by_mark.or_else(|| words::status(said.split_whitespace().next()?))
}

/// Whether a word is a statement's id: `s003`, `s010.d1`.
fn is_id(word: &str) -> bool {
    word.strip_prefix('s').is_some_and(|digits| {
        digits.starts_with(|c: char| c.is_ascii_digit())
            && digits
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Text;

    #[test]
    fn comments_with_an_id_say_how_a_line_stands() {
        let said =
            |comment: &str| annotation(comment).map(|said| (said.status, said.path, said.declared));
        for (comment, status, path) in [
            (
                "s007 ✓ -> bindings/draft.md",
                Some(Status::Completed),
                Some("bindings/draft.md"),
            ),
            ("✓ completed (s001)", Some(Status::Completed), None),
            ("s003 SKIPPED <- source s003", Some(Status::Skipped), None),
            (
                "s010; discretion s010.d1 -> TRUE",
                Some(Status::Completed),
                None,
            ),
            (
                "s010; discretion s010.d1 -> FALSE",
                Some(Status::Skipped),
                None,
            ),
            ("s006 ✓ joined (all, 2/2)", Some(Status::Completed), None),
            ("s002 -> bindings/topic.md", None, Some("bindings/topic.md")),
            ("s005 ✗ (no network)", Some(Status::Failed), None),
        ] {
            let path = path.map(Text::from);
            assert_eq!(said(comment), Some((status, path, false)), "{comment}");
        }
        assert_eq!(said("s009 (declare-once)"), Some((None, None, true)));
        for own in [
            "s012 (not executed)",
            "check this",
            "see s003",
            "step 2 ✓",
            "(s is short)",
        ] {
            assert_eq!(said(own), None, "{own}");
        }
    }
}
