use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::pages::view::{
    AgentsView, BindingRow, BindingsPage, ResolutionView, StateMdView,
};
use prosescope_core::record::render::text::escape;
use prosescope_core::trace::scope::Outcome;

use super::bytes;
use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT};
use super::table::{Fit, PrintedTable, fit, one_line};

pub(crate) fn bindings(view: &BindingsPage, width: usize) -> String {
    let shown = view.from.saturating_add(view.rows.len() as u32);
    let more = match view.total.saturating_sub(shown) {
        0 => String::new(),
        n => format!("{FAINT}… {n} more values; --json lists all values{RESET}\n"),
    };
    if view.rows.is_empty() {
        return "no values\n".to_owned();
    }
    let mut table = PrintedTable::new(&[
        ("NAME", Fit::Shrinks),
        ("FRAME", Fit::Fixed),
        ("KIND", Fit::Shrinks),
        ("SIZE", Fit::Right),
        ("VALUE", Fit::Shrinks),
        ("", Fit::Shrinks),
    ]);
    let plain = Style::new();
    for row in &view.rows {
        let size = match (row.attachment_len, row.len) {
            (Some(len), _) | (None, Some(len)) => bytes(len),
            (None, None) => row.stored.clone(),
        };
        let mut notes: Vec<String> = Vec::new();
        notes.extend(row.superseded.then(|| "superseded".to_owned()));
        if let Some(path) = &row.attachment {
            notes.push(if row.attachment_len.is_some() {
                format!("↗ {path}")
            } else {
                format!("missing: {path}")
            });
        }
        notes.extend(
            row.fields
                .iter()
                .map(|(key, value)| format!("{key}: {value}")),
        );
        notes.extend(writer(row).map(|(who, _)| format!("written by {who}")));
        let missing = row.attachment.is_some() && row.attachment_len.is_none();
        table.row(vec![
            (row.name.clone(), if row.superseded { FAINT } else { BOLD }),
            (
                row.execution_id
                    .map_or_else(|| "root".to_owned(), |id| format!("#{id}")),
                FAINT,
            ),
            (row.kind.clone(), plain),
            (size, plain),
            (row.preview.clone(), FAINT),
            (notes.join(" · "), if missing { BAD } else { FAINT }),
        ]);
    }
    table.print(width) + &more
}

/// Returns the writer of a binding (`#24` or `line 3`), and its statement.
fn writer(row: &BindingRow) -> Option<(String, &str)> {
    let node = row.written_by.as_ref()?;
    let who = match (node.id, node.line) {
        (Some(id), _) => format!("#{id}"),
        (None, Some(line)) => format!("line {line}"),
        (None, None) => return None,
    };
    let mark = if row.writer_inferred {
        " (inferred)"
    } else {
        ""
    };
    Some((format!("{who}{mark}"), &node.text))
}

pub(crate) fn resolution(view: &ResolutionView, width: usize) -> String {
    let mut out = String::new();
    let from = view
        .from
        .map_or_else(|| "the root".to_owned(), |id| format!("frame {id}"));
    let _ = writeln!(
        out,
        "{BOLD}{}{RESET} from {from}",
        escape(&view.name, false)
    );
    let shown: Vec<&str> = view.chain.iter().take(12).map(String::as_str).collect();
    let more = if view.chain.len() > 12 {
        format!(" → … {} more", view.chain.len() - 12)
    } else {
        String::new()
    };
    let _ = writeln!(out, "{FAINT}looked in {}{more}{RESET}", shown.join(" → "));
    if view.candidates.is_empty() {
        let _ = writeln!(out, "\nno value with this name");
    }
    for at in &view.candidates {
        let (mark, tone) = match at.outcome {
            Outcome::Wins => ("✓", OK),
            Outcome::Shadowed => ("–", FAINT),
            Outcome::OutOfReach => ("·", FAINT),
            Outcome::Superseded => ("–", WAIT),
        };
        let id = at.row.execution_id;
        let id = id.map_or_else(String::new, |id| format!(" {FAINT}#{id}{RESET}"));
        let _ = writeln!(
            out,
            "\n{tone}{mark} {}{RESET}{id}  {}",
            escape(&at.row.scope, false),
            escape(&at.reason, false)
        );
        let _ = writeln!(
            out,
            "    {FAINT}{}{RESET}",
            fit(&at.row.preview, width.saturating_sub(4))
        );
        if let Some((who, statement)) = writer(&at.row) {
            let text = format!("written by {who}: {statement}");
            let text = fit(&text, width.saturating_sub(4));
            let _ = writeln!(out, "    {FAINT}{text}{RESET}");
        }
    }
    if view.more > 0 {
        let _ = writeln!(
            out,
            "\n{FAINT}and {} more values, farther away than the values above{RESET}",
            view.more
        );
    }
    super::issues(&mut out, &view.issues, width);
    out
}

pub(crate) fn agents(view: &AgentsView, width: usize) -> String {
    if view.agents.is_empty() && view.elsewhere.is_empty() {
        return "no agents\n".to_owned();
    }
    let mut out = String::new();
    for (i, agent) in view.elsewhere.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "{BOLD}{}{RESET}  {FAINT}custom · {} · prosescope does not open this path by itself{RESET}\n  {}",
            escape(&agent.name, false),
            escape(&agent.path, false),
            escape(&agent.command, false)
        );
    }
    if !view.agents.is_empty() && !view.elsewhere.is_empty() {
        out.push('\n');
    }
    for (i, agent) in view.agents.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let memory = agent.memory_words(bytes);
        let _ = writeln!(
            out,
            "{BOLD}{}{RESET}  {FAINT}{} · {} · {memory}{RESET}",
            escape(&agent.name, false),
            escape(&agent.scope, false),
            escape(&agent.store, false)
        );
        if agent.shadowed {
            let _ = writeln!(
                out,
                "  {WAIT}this run does not use this agent, but the agent of the same name in another store of this scope{RESET}"
            );
        }
        if !agent.memory_preview.is_empty() {
            let _ = writeln!(
                out,
                "  {}",
                fit(&agent.memory_preview, width.saturating_sub(2))
            );
        }
        if agent.segments_unread {
            let _ = writeln!(out, "  {WAIT}{}{RESET}", agent.segment_words());
        }
        for segment in &agent.segments {
            let at = segment
                .timestamp
                .as_ref()
                .map_or_else(|| "time not recorded".to_owned(), ToString::to_string);
            let _ = writeln!(
                out,
                "  {:03}  {FAINT}{}{RESET}  {}",
                segment.number,
                escape(&at, false),
                fit(
                    &one_line(segment.prompt.as_deref().unwrap_or("")),
                    width.saturating_sub(30)
                )
            );
            if let Some(summary) = &segment.summary {
                let _ = writeln!(
                    out,
                    "       {FAINT}{}{RESET}",
                    fit(&one_line(summary), width.saturating_sub(7))
                );
            }
        }
    }
    out
}

pub(crate) fn state_diff(view: &StateMdView) -> String {
    let mut out = String::new();
    if let Some(note) = &view.note {
        let _ = writeln!(out, "{WAIT}{}{RESET}", escape(note, false));
    }
    if view.own.is_none() {
        return "nothing to compare: the run has no state.md\n".to_owned();
    }
    if !view.differs && view.note.is_none() {
        let _ = writeln!(out, "{OK}state.md and the data agree{RESET}");
    }
    for line in &view.lines {
        let tone = match line.mark {
            '+' => OK,
            '-' => BAD,
            _ => FAINT,
        };
        let mark = if line.mark == '=' { ' ' } else { line.mark };
        let _ = writeln!(out, "{tone}{mark} {}{RESET}", escape(&line.text, false));
    }
    out
}
