//! Summarizes runs in plain text, for readers of a shared page without scripts.

use std::fmt::Write as _;
use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::{FoundKind, Options, Session, pages, survey};

/// A page's title, and the text above its viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The title of the page.
    pub title: String,
    /// The text above the viewer.
    pub text: String,
}

impl Summary {
    /// Summarizes the runs of a copy, opened as its recipient opens it.
    pub fn of(source: &Rc<dyn Source>) -> Summary {
        let mut text = String::new();
        let mut title = None;
        for found in survey(source.as_ref()).found {
            if found.kind == FoundKind::Agents {
                continue;
            }
            let session = Session::open(Rc::clone(source), &found.place, &Options::default());
            let Ok(session) = session else { continue };
            let (headline, of_run) = one(&session);
            title.get_or_insert(headline);
            text.push_str(&of_run);
        }
        Summary {
            title: title.unwrap_or_else(|| "A shared run".to_owned()),
            text,
        }
    }
}

/// Returns a text of the run with `> ` before each line, so that no line looks like one of the summary.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

/// Returns the title and the text of a run.
fn one(session: &Session) -> (String, String) {
    let view = pages::overview(session, None);
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{}\n", view.headline);
    let program = view.program.as_deref().unwrap_or("no program");
    let _ = writeln!(out, "{program} · {}", view.run);
    let _ = writeln!(out, "{}", view.story.join(" "));
    if let Some(failure) = &view.failure {
        let _ = writeln!(out, "\nFirst cause:\n  {}", failure.cause.text);
        out.push_str(&quoted(failure.error.as_deref().unwrap_or_default()));
    }
    for gate in &view.pending_gates {
        let _ = writeln!(out, "\nWaits for a decision: {}", gate.id);
        out.push_str(&quoted(&gate.prompt));
    }
    let run = session.run();
    if !run.bindings.is_empty() {
        let names: Vec<&str> = run.bindings.iter().map(|binding| &*binding.name).collect();
        let _ = writeln!(out, "\nValues: {}", names.join(", "));
    }
    if let Some(source) = &run.program.source {
        let _ = write!(out, "\n{}", quoted(source));
    }
    out.push('\n');
    (format!("{} · {}", view.run, view.headline), out)
}
