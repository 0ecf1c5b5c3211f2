use std::fmt::Write as _;

use prosescope_core::model::shell::{command, option};
use prosescope_core::record::render::text::escape;
use prosescope_workflow::{StuckRun, Turn, WorkflowEvent, WorkflowList, WorkflowView};

use super::style::{BAD, BOLD, FAINT, RESET, WAIT, of, status};
use super::table::{Fit, PrintedTable};
use super::{fact, title, wrap};

/// Maximum number of messages of a conversation that `workflow show` prints.
const MESSAGES: usize = 20;

pub(crate) fn workflows(list: &WorkflowList, width: usize) -> String {
    if list.workflows.is_empty() {
        return "no workflows\n".to_owned();
    }
    let mut table = PrintedTable::new(&[
        // The id is never cut, because commands take it.
        ("workflow", Fit::Fixed),
        ("status", Fit::Fixed),
        ("run", Fit::Fixed),
        ("changed", Fit::Fixed),
        ("message", Fit::Shrinks),
    ]);
    let plain = anstyle::Style::new();
    for one in &list.workflows {
        let run = one.run_status.as_deref().unwrap_or_default();
        let message = match &one.question {
            Some(question) => format!("asks: {question}"),
            None => one.input.clone().unwrap_or_default(),
        };
        let changed = one.updated_at.as_ref().map(|at| at.minute());
        table.row(vec![
            (one.id.clone(), plain),
            (status(&one.status), of(&one.status)),
            (
                if run.is_empty() {
                    String::new()
                } else {
                    status(run)
                },
                of(run),
            ),
            (changed.unwrap_or_default(), FAINT),
            (message, plain),
        ]);
    }
    let mut out = table.print(width);
    if list.more {
        let _ = writeln!(out, "{FAINT}--limit N lists more workflows{RESET}");
    }
    out
}

pub(crate) fn stuck(runs: &[StuckRun], silent: &str, width: usize) -> String {
    if runs.is_empty() {
        return format!("every running run gave a sign of life within {silent}\n");
    }
    let mut table = PrintedTable::new(&[
        ("run", Fit::Fixed),
        ("owner", Fit::Shrinks),
        ("heartbeat", Fit::Fixed),
        ("last sign", Fit::Fixed),
        ("silent", Fit::Right),
    ]);
    let plain = anstyle::Style::new();
    for one in runs {
        let owner = one
            .owner
            .clone()
            .unwrap_or_else(|| "owner unknown".to_owned());
        let heartbeat = one
            .heartbeat
            .as_ref()
            .map_or("none".to_owned(), |at| at.minute());
        let last = one
            .last_sign
            .as_ref()
            .map_or("unknown".to_owned(), |at| at.minute());
        let silent = one.silent_ms.map_or(
            "unknown".to_owned(),
            prosescope_core::model::time::human_duration,
        );
        table.row(vec![
            (one.run_id.clone(), plain),
            (owner, plain),
            (heartbeat, FAINT),
            (last, FAINT),
            (silent, WAIT),
        ]);
    }
    table.print(width)
}

pub(crate) fn workflow(view: &WorkflowView, width: usize) -> String {
    let workflow = &view.workflow;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}{}{RESET}  {BOLD}{}{RESET}",
        of(&workflow.status),
        escape(&status(&workflow.status), false),
        escape(&workflow.id, false)
    );
    let time = |at: &Option<prosescope_core::model::time::Stamp>| {
        at.as_ref()
            .map_or("not recorded".to_owned(), ToString::to_string)
    };
    fact(&mut out, "begun", &time(&workflow.created_at));
    fact(&mut out, "changed", &time(&workflow.updated_at));
    if let Some(version) = workflow.version {
        fact(&mut out, "version", &version.to_string());
    }
    if let Some(error) = &workflow.error {
        fact(&mut out, "error", error.as_str());
    }
    for (name, json) in [
        ("preferences", &workflow.preferences),
        ("steps", &workflow.important_steps),
    ] {
        if !matches!(json.as_str(), "{}" | "null" | "[]") {
            fact(&mut out, name, json.as_str());
        }
    }
    for (name, value) in &workflow.extra {
        fact(
            &mut out,
            &escape(name, false),
            value.as_deref().unwrap_or("NULL"),
        );
    }
    conversation(&mut out, view, width);
    title(&mut out, "Runs");
    for turn in &view.runs {
        one_run(&mut out, turn, width);
    }
    if let Some(turn) = view.runs.iter().find(|turn| turn.question().is_some()) {
        let _ = writeln!(
            out,
            "\n{FAINT}{}{RESET}",
            command(
                "workflow input",
                &[&workflow.id],
                &format!("{} --text TEXT", option("--run", &turn.id))
            )
        );
    }
    out
}

fn conversation(out: &mut String, view: &WorkflowView, width: usize) {
    let context = view.workflow.context.value();
    if let Some(summary) = context.get("summary").and_then(|summary| summary.as_str()) {
        title(out, "Summary");
        for line in summary.lines() {
            out.push_str(&wrap(line, width.min(88), "  "));
        }
    }
    let Some(tail) = context.get("tail").and_then(|tail| tail.as_array()) else {
        return;
    };
    title(out, "Conversation");
    let hidden = tail.len().saturating_sub(MESSAGES);
    if hidden > 0 {
        let _ = writeln!(
            out,
            "  {FAINT}{hidden} earlier messages: --json shows all messages{RESET}"
        );
    }
    for message in tail.iter().skip(hidden) {
        let word = |key: &str| message.get(key).and_then(|word| word.as_str());
        let role = word("role").unwrap_or("unknown");
        let _ = writeln!(out, "  {FAINT}{}{RESET}", escape(role, false));
        let content = word("content").map_or_else(|| message.to_string(), str::to_owned);
        for line in content.lines() {
            out.push_str(&wrap(line, width.min(88), "    "));
        }
    }
}

fn one_run(out: &mut String, turn: &Turn, width: usize) {
    let begun = turn.created_at.as_ref().map(ToString::to_string);
    let _ = writeln!(
        out,
        "  {}{}{RESET}  {}  {FAINT}{}{RESET}",
        of(&turn.status),
        escape(&status(&turn.status), false),
        escape(&turn.id, false),
        escape(&begun.unwrap_or_default(), false)
    );
    let mut line = |name: &str, value: &str| {
        let text = wrap(&format!("{name}: {value}"), width.min(88), "      ");
        out.push_str(&text);
    };
    if let Some(input) = &turn.user_input {
        line("input", input);
    }
    if let Some(question) = turn.question() {
        line("asks", &question);
    }
    if let Some(output) = &turn.final_output {
        line("output", output.as_str());
    }
    if let Some(error) = &turn.error {
        line("error", error.as_str());
    }
    if let Some(owner) = &turn.owner {
        line("owner (as claimed)", owner);
    }
    for (name, value) in &turn.extra {
        line(name, value.as_deref().unwrap_or("NULL"));
    }
}

/// Formats an event. A text of several lines stays on several lines.
pub(crate) fn event(event: &WorkflowEvent) -> String {
    let tone = match event.kind.to_ascii_lowercase().as_str() {
        "error" => BAD,
        "warning" => WAIT,
        "final" => BOLD,
        _ => FAINT,
    };
    let at = event
        .created_at
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!(
        "{FAINT}{} {}{RESET} {tone}{:<8}{RESET} {}\n",
        event.id,
        escape(&at, false),
        escape(&event.kind, false),
        escape(&event.text, true)
    )
}
