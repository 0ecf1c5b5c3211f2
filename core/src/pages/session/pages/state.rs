//! Builds the page of state.md: renders the file from the run's data, and compares it with the folder's own file.

use std::ops::Range;

use imara_diff::{InternedInput, Token};

use super::lines::{hunks, texts};
use crate::model::{FolderForm, Form, StateFile, TraceLine};
use crate::pages::session::{Opened, Session};
use crate::pages::view::{StateLine, StateMdView};
use crate::read::decode::{folder, state_md};
use crate::record::render::state_md as render;

/// How many bytes of a state file are compared and shown.
const OWN: usize = 1 << 20;

/// The longest rendered text that is compared, in bytes. A longer text is cut and not compared.
const COMPARED_MOST: usize = 4 << 20;

/// Renders state.md from the run's data. With `whole`, the text has the whole program; otherwise, only the statements
/// that ran and the statements that come next.
pub fn state_md(opened: &Opened, whole: bool) -> String {
    let (run, trace) = (&opened.run, &opened.trace);
    let whole_program = whole;
    let options = render::RenderOptions { whole_program };
    render::from_run(run, trace, opened.listing.as_ref(), &options)
}

/// Builds the page: the rendered text, the folder's own file, and their differences.
pub fn state_page(session: &Session, whole: bool) -> StateMdView {
    let mut rendered = state_md(session, whole);
    let long = rendered.len() > COMPARED_MOST;
    if long {
        rendered.truncate(rendered.floor_char_boundary(COMPARED_MOST));
        rendered.push_str("\n…\n");
    }
    let Some((own, cut)) = own_state_file(session) else {
        return StateMdView {
            rendered,
            ..StateMdView::default()
        };
    };
    let form = state_md::form(&own);
    let note = match form {
        FolderForm::StateMd if long => "the rendered file is too long for a comparison",
        FolderForm::StateMd if cut => "the file is longer than 1 MiB and shown in part",
        FolderForm::StateMd => "",
        FolderForm::CompactLog => {
            "the file is a compact log: its content is rendered, but cannot be compared line by line"
        }
        FolderForm::Receipts => "the file only refers to receipts, so it is shown as text",
        _ => "the form of the file is unknown (it may be encrypted), so it is shown as text",
    };
    let note = Some(note).filter(|note| !note.is_empty());
    let mut view = StateMdView {
        note: note.map(str::to_owned),
        ..StateMdView::default()
    };
    if form == FolderForm::StateMd && !long {
        let ((theirs, _), (ours, _)) = (state_md::parse(&own), state_md::parse(&rendered));
        view.differs = !carries_the_same(&theirs, &ours);
        if own != rendered {
            view.lines = compare(&own, &rendered);
        }
    }
    StateMdView {
        rendered,
        own: Some(own),
        ..view
    }
}

fn own_state_file(session: &Session) -> Option<(String, bool)> {
    let source = session.values.source.as_ref();
    let is_file = source.file(&session.place).is_some();
    let path = match session.run.form {
        Form::Folder { .. } if is_file => session.place.clone(),
        _ => folder::state_file_of(source, &session.root)?,
    };
    let cut = source.file(&path)?.len > OWN as u64;
    let bytes = source.read(&path, 0, OWN).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), cut))
}

/// Returns whether two state files have the same content, as far as the form defines it (docs/reference/formats.md).
/// The two files may contain different parts of the program.
fn carries_the_same(a: &StateFile, b: &StateFile) -> bool {
    let marks = |f: &StateFile| {
        let mark = |line: &TraceLine| {
            let annotation = line.annotation.as_ref();
            let annotation = annotation.filter(|a| !a.ahead && !a.declared)?;
            let status = annotation.status.as_ref().map(|s| s.word().to_owned());
            Some((line.text.trim().to_owned(), status, annotation.attempt))
        };
        f.trace.iter().filter_map(mark).collect::<Vec<_>>()
    };
    a.run == b.run
        && a.status == b.status
        && marks(a) == marks(b)
        && a.bindings == b.bindings
        && a.call_stack == b.call_stack
        && a.parallels == b.parallels
        && a.loops == b.loops
}

/// Compares two texts line by line, in limited time. `-` marks a line that is only in the file, `+` a line that is only
/// in the rendered text, and `=` a line of both.
fn compare(own: &str, rendered: &str) -> Vec<StateLine> {
    let input = InternedInput::new(own, rendered);
    let mut lines = Vec::with_capacity(input.before.len());
    let mut add = |mark: char, tokens: &[Token], range: Range<u32>| {
        let texts = texts(&input, tokens, range).into_iter();
        lines.extend(texts.map(|text| StateLine {
            mark,
            text: text.to_owned(),
        }));
    };
    let mut at = 0;
    for (before, after) in hunks(&input) {
        add('=', &input.before, at..before.start);
        at = before.end;
        add('-', &input.before, before);
        add('+', &input.after, after);
    }
    add('=', &input.before, at..input.before.len() as u32);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::session::pages;

    fn marked(own: &str, rendered: &str) -> Vec<String> {
        let lines = compare(own, rendered).into_iter();
        lines.map(|l| format!("{}{}", l.mark, l.text)).collect()
    }

    #[test]
    fn the_own_state_file_is_found_by_any_of_its_names() {
        let text = "# Execution State\n\nrun: r\n";
        for name in ["state.md", "STATE.md", "State.md", "vm.log.md"] {
            let files = [(format!("r/{name}"), text.as_bytes().to_vec())];
            let source = std::rc::Rc::new(crate::read::sqlite::MemorySource::new("d", files));
            let session =
                Session::open(source, "r", &crate::pages::session::Options::default()).unwrap();
            assert_eq!(
                pages::state_page(&session, false).own.as_deref(),
                Some(text),
                "{name}"
            );
        }
    }

    #[test]
    fn lines_that_differ_are_marked() {
        assert_eq!(
            marked("a\nb\r\nc\n", "a\nx\ny\nc\n"),
            ["=a", "-b", "+x", "+y", "=c"]
        );
        assert_eq!(marked("", "a\n"), ["+a"]);
        assert_eq!(marked("a\n", ""), ["-a"]);
        assert_eq!(marked("a", "a"), ["=a"]);
    }

    /// Comparing texts with almost no common lines would take quadratic time, so their middle counts as one difference.
    #[test]
    fn of_texts_that_have_little_in_common_the_middle_is_one_difference() {
        let text = |word: &str| -> String {
            let lines = (0..40_000).map(|n| format!("{word} {}\n\n", n % 999));
            format!("begin\n{}end\n", lines.collect::<String>())
        };
        let marks: String = compare(&text("own"), &text("rendered"))
            .iter()
            .map(|line| line.mark)
            .collect();
        let expected = format!("={}{}==", "-".repeat(79_999), "+".repeat(79_999));
        assert!(marks == expected, "{} lines", marks.len());
    }
}
