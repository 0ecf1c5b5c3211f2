//! Formats one row of the trace: its prompt, its inputs and its answer.

use std::fmt::Write as _;

use prosescope_core::pages::view::{
    AnswerView, Excerpt, GivenName, NodeDetail, NodeWork, Received, icon,
};
use prosescope_core::record::render::text::escape;

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT, of};
use super::table::fit;
use super::{bytes, fact, title, wrap};

pub(crate) fn node(view: &NodeDetail, width: usize) -> String {
    let mut out = String::new();
    let row = &view.row;
    let tone = of(&row.status);
    let id = row.number();
    let _ = writeln!(
        out,
        "{tone}{} {}{RESET}  {BOLD}{}{RESET}  {FAINT}{id}{RESET}",
        icon(&row.status),
        escape(&row.status, false),
        fit(&view.text, width.saturating_sub(24).max(16))
    );
    let path: Vec<&str> = view.path.iter().map(|at| at.text.as_str()).collect();
    let mut facts = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fact(
                &mut out,
                name,
                &fit(&value, width.saturating_sub(14).max(16)),
            );
        }
    };
    facts("in", Some(path.join(" › ")));
    facts("line", row.line.map(|line| line.to_string()));
    facts("detail", Some(row.detail.clone()));
    facts("took", row.duration.clone());
    if let Some(error) = &view.error {
        title(&mut out, "Error");
        // People print a row to read its error. So the error is shown whole, while values are cut.
        let whole: String = error.lines().map(|line| wrap(line, width, "  ")).collect();
        let _ = write!(out, "{BAD}{whole}{RESET}");
    }
    if !row.remarks.is_empty() {
        title(&mut out, "Remarks");
        let lines = row.remarks.iter().map(|line| wrap(line, width, "  "));
        let _ = write!(out, "{}", lines.collect::<String>());
    }
    work(&mut out, &view.work, width);
    super::issues(&mut out, &view.issues, width);
    out
}

fn work(out: &mut String, work: &NodeWork, width: usize) {
    if work.prompt.is_some() || work.prompt_note.is_some() {
        title(out, "Prompt");
        excerpt(out, work.prompt.as_ref(), width);
        note(out, work.prompt_note.as_deref(), width);
    }
    if let Some(agent) = &work.agent {
        let name = format!("{}, memory of scope {}", agent.name, agent.scope);
        fact(out, "agent", &fit(&name, width.saturating_sub(14)));
    }
    if !work.context.is_empty() || work.context_note.is_some() {
        title(out, "Context");
        note(out, work.context_note.as_deref(), width);
        for name in &work.context {
            given(out, name, width);
        }
        if work.more_context > 0 {
            let _ = writeln!(out, "{FAINT}… and {} more names{RESET}", work.more_context);
        }
    }
    if !work.answers.is_empty() || work.answer_note.is_some() {
        title(out, "Answer");
        for one in &work.answers {
            answer(out, one, width);
        }
        note(out, work.answer_note.as_deref(), width);
    }
    if !work.attempts.is_empty() || work.attempts_note.is_some() {
        title(out, "Attempts");
        for at in &work.attempts {
            let tone = of(&at.status);
            let error = at.error.as_deref().unwrap_or("");
            let _ = writeln!(
                out,
                "  {}  {tone}{} {}{RESET}  {FAINT}#{}{RESET}  {}",
                at.number,
                icon(&at.status),
                escape(&at.status, false),
                at.id,
                fit(error, width.saturating_sub(32).max(16))
            );
        }
        note(out, work.attempts_note.as_deref(), width);
    }
}

fn given(out: &mut String, name: &GivenName, width: usize) {
    let (mark, tone) = match name.seen {
        Received::Same => ("✓", OK),
        Received::Replaced => ("–", WAIT),
        Received::Unknown => ("?", WAIT),
        Received::Nothing => ("·", FAINT),
    };
    let place = name
        .binding
        .as_ref()
        .map(|binding| match binding.execution_id {
            Some(id) => format!("frame {id}: "),
            None => "root: ".to_owned(),
        });
    let why = format!("{}{}", place.unwrap_or_default(), name.why);
    let own = fit(&name.name, 32);
    let room = width.saturating_sub(own.chars().count() + 6).max(16);
    let _ = writeln!(
        out,
        "{tone}{mark}{RESET} {BOLD}{own}{RESET}  {FAINT}{}{RESET}",
        fit(&why, room)
    );
    excerpt(out, name.value.as_ref(), width);
    note(out, name.note.as_deref(), width);
}

fn answer(out: &mut String, answer: &AnswerView, width: usize) {
    let _ = writeln!(out, "{BOLD}{}{RESET}", fit(&answer.binding.name, width));
    excerpt(out, answer.value.as_ref(), width);
    note(out, answer.note.as_deref(), width);
    if let Some(by) = &answer.replaced_by {
        let text = format!("replaced by {} {}", by.number(), by.text);
        let _ = writeln!(
            out,
            "  {FAINT}{}{RESET}",
            fit(&text, width.saturating_sub(2))
        );
    }
}

fn excerpt(out: &mut String, value: Option<&Excerpt>, width: usize) {
    let Some(value) = value else { return };
    out.push_str(&lines(&value.text, width));
    if value.cut {
        let _ = writeln!(out, "  {FAINT}… of {}{RESET}", bytes(value.len));
    }
}

/// Formats lines of a text from the run, each cut to the width of the terminal.
fn lines(text: &str, width: usize) -> String {
    let line = |line: &str| format!("  {}\n", fit(line, width.saturating_sub(2)));
    text.lines().map(line).collect()
}

fn note(out: &mut String, text: Option<&str>, width: usize) {
    if let Some(text) = text {
        let text = wrap(text, width, "  ");
        let _ = writeln!(out, "{FAINT}{}{RESET}", text.trim_end());
    }
}
