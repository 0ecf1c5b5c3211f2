//! Tests generated runs whose events are known: the interpretations of their rows and of their log must agree with the
//! events.

use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{Options, Session};
use prosescope_core::program;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace::{NodeKind, Trace, fold};

use crate::forms::{Whole, whole_stories};
use crate::simulate::Truth;

/// Counts of the generated runs that are interpreted correctly, partly, and wrongly. Partly means that every matched
/// line is right, and other lines are unmatched. An unknown line must stay unmatched, but not every line may. So both
/// numbers are tested. `PROSE_STORIES=1` prints the runs that are not interpreted correctly.
#[derive(Debug, Default, PartialEq)]
struct Came {
    right: usize,
    partly: usize,
    wrong: usize,
}

const ROWS: Came = Came {
    right: 66,
    partly: 0,
    wrong: 0,
};

const LOGS: Came = Came {
    right: 64,
    partly: 1,
    wrong: 1,
};

#[test]
fn what_happened_comes_out_of_rows() {
    check(&ROWS, |story| {
        let listing = program::scan(&story.program);
        seen(&fold(&story.rows, Some(&listing), None), story)
    });
}

#[test]
fn what_happened_comes_out_of_a_log() {
    check(&LOGS, |story| {
        let files = [("state.md", &story.log), ("program.prose", &story.program)];
        let files = files.map(|(path, text)| (path.to_owned(), text.clone().into_bytes()));
        let source: Rc<dyn Source> = Rc::new(MemorySource::new("told", files));
        let session = Session::open(source, "", &Options::default()).expect("a run");
        seen(session.trace(), story)
    });
}

#[track_caller]
fn check(before: &Came, seen: impl Fn(&Whole) -> Truth) {
    let mut came = Came::default();
    for story in whole_stories() {
        let seen = seen(&story);
        let is_true = |(at, count): (&(u32, String), &usize)| {
            at.0 == 0 || story.truth.get(at).is_some_and(|truth| count <= truth)
        };
        if seen == story.truth {
            came.right += 1;
            continue;
        }
        let word = if seen.iter().all(is_true) {
            "partly"
        } else {
            "wrong"
        };
        match word {
            "partly" => came.partly += 1,
            _ => came.wrong += 1,
        }
        if std::env::var_os("PROSE_STORIES").is_some() {
            let (program, log) = (&story.program, &story.log);
            println!(
                "{word}\n{program}\n\n{log}\ntrue {:?}\nseen {seen:?}\n",
                story.truth
            );
        }
    }
    assert_eq!(
        came, *before,
        "write down what is better now; nothing may be worse"
    );
}

/// Returns the events that a trace shows for the lines of a run's sessions, branches and gates.
fn seen(trace: &Trace, story: &Whole) -> Truth {
    let mut seen = Truth::new();
    for node in &trace.nodes {
        let is_one = match node.kind {
            NodeKind::Statement => node.descendants == 0,
            NodeKind::Branch { .. } | NodeKind::Gate { .. } => true,
            _ => false,
        };
        // The row of an `if` whose condition is true is not a session.
        let line = node.line.unwrap_or_default();
        let text = story.program.lines().nth((line as usize).wrapping_sub(1));
        let is_head = text.is_some_and(|text| text.trim().starts_with("if "));
        // A gate that is reached twice has only one row in the table of gates. So a visit may be shown as approved or
        // as completed, and both count as completed.
        let end = match node.status.word() {
            "completed" | "approved" => "completed",
            "failed" | "rejected" => "failed",
            _ => continue,
        };
        if is_one && !is_head {
            *seen.entry((line, end.to_owned())).or_default() += 1;
        }
    }
    seen
}
