use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::render::text::escape;
use prosescope_core::view::{
    AheadView, GateOutcomeView, How, NeedState, PositionView, ResumeView, Risk, icon, numbers,
};
use unicode_width::UnicodeWidthStr;

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT, of, status};
use super::table::{Fit, Table, fit};
use super::{bytes, more, run_line, title, wrap};

/// Lines are broken there even on a wide terminal.
const WIDTH: usize = 96;
/// How many statements ahead are printed; `--json` has more.
const AHEAD: usize = 20;

pub(crate) fn resume(view: &ResumeView, width: usize) -> String {
    let width = width.min(WIDTH);
    let mut out = run_line(view.program.as_deref(), &view.run);
    let tone = of(&view.status);
    let word = escape(&status(&view.status), false);
    let room = width.saturating_sub(word.width() + 2);
    let headline = fit(&view.headline, room);
    let _ = writeln!(out, "{tone}{word}{RESET}  {BOLD}{headline}{RESET}\n");
    if let Some(first) = view.done.story.first() {
        out.push_str(&wrap(first, width.min(88), ""));
    }
    for note in &view.notes {
        out.push_str(&wrap(&format!("Note: {note}."), width, ""));
    }
    positions(&mut out, view, width);
    items(
        &mut out,
        "Before anything is repeated",
        width,
        view.cautions.iter().map(|c| {
            let tone = match c.risk {
                Risk::Branches | Risk::Rounds => ("·", FAINT),
                _ => ("!", WAIT),
            };
            (tone, c.text.clone())
        }),
    );
    gates(&mut out, view, width);
    items(
        &mut out,
        "Missing",
        width,
        view.missing().into_iter().map(|(text, sure)| match sure {
            true => (("✗", BAD), text),
            false => (("·", FAINT), text),
        }),
    );
    needs(&mut out, view, width);
    steps(&mut out, view, width);
    ahead(&mut out, view, width);
    out
}

fn items(
    out: &mut String,
    heading: &str,
    width: usize,
    lines: impl Iterator<Item = ((&'static str, Style), String)>,
) {
    for (at, ((mark, tone), text)) in lines.enumerate() {
        if at == 0 {
            title(out, heading);
        }
        let text = wrap(&text, width, "    ");
        let _ = writeln!(out, "  {tone}{mark}{RESET} {}", text.trim());
    }
}

fn positions(out: &mut String, view: &ResumeView, width: usize) {
    if view.positions.is_empty() {
        return;
    }
    title(out, "Where it stands");
    for position in &view.positions {
        one(out, position, width);
    }
    more(out, view.position_count, view.positions.len());
}

fn one(out: &mut String, position: &PositionView, width: usize) {
    let word = position.node.as_ref().map_or("", |n| n.status.as_str());
    let tone = of(word);
    let text = match (&position.node, position.source.as_str()) {
        (_, source) if !source.is_empty() => source,
        (Some(node), _) => node.text.as_str(),
        _ => "nothing is open",
    };
    let place = position.line.map_or(String::new(), |line| {
        let guess = if position.guessed { "?" } else { "" };
        format!("  line {line}{guess}")
    });
    let room = width.saturating_sub(5 + place.len());
    let _ = writeln!(
        out,
        "  {tone}{}{RESET} {}{FAINT}{place}{RESET}",
        icon(word),
        fit(text, room)
    );
    let path = Some(&position.frame_path).filter(|path| !path.is_empty());
    let attempt = match (position.attempts, position.max) {
        (n, Some(max)) if n > 1 => Some(format!("attempt {n} of {max}")),
        (n, None) if n > 1 => Some(format!("attempt {n}")),
        _ => None,
    };
    let since = position
        .since
        .as_ref()
        .map(|since| format!("begun {since}"));
    let path = path.map(|path| format!("in {path}"));
    for text in path.into_iter().chain(attempt).chain(since) {
        let text = fit(&text, width.saturating_sub(4));
        let _ = writeln!(out, "    {FAINT}{text}{RESET}");
    }
    if let Some(error) = &position.error {
        let _ = write!(out, "{BAD}{}{RESET}", wrap(error, width, "    "));
    }
    if let Some(meaning) = &position.meaning {
        let _ = write!(out, "{WAIT}{}{RESET}", wrap(meaning, width, "    "));
    }
    if let Some(next) = position
        .next
        .as_ref()
        .filter(|next| Some(next.line) != position.line)
    {
        let text = format!("→ line {}: {}", next.line, next.text);
        let _ = writeln!(out, "    {}", fit(&text, width.saturating_sub(4)));
    }
}

fn gates(out: &mut String, view: &ResumeView, width: usize) {
    if view.gates.is_empty() {
        return;
    }
    title(out, "Gates that wait");
    for GateOutcomeView { gate, outcomes } in &view.gates {
        let left = gate.remaining.as_deref().unwrap_or("no deadline");
        let id = fit(&gate.id, width / 2);
        let about = format!("{left} · may decide: {}", gate.allow_words);
        let room = width.saturating_sub(id.width() + 6);
        let about = fit(&about, room);
        let _ = writeln!(out, "  {WAIT}◷{RESET} {id}  {FAINT}{about}{RESET}");
        for (name, text) in [
            ("approved", &outcomes.if_approved),
            ("rejected", &outcomes.if_rejected),
            ("timed out", &outcomes.if_timed_out),
        ] {
            let text = wrap(text, width, "               ");
            let _ = writeln!(out, "    {FAINT}{name:<11}{RESET}{}", text.trim());
        }
    }
}

fn needs(out: &mut String, view: &ResumeView, width: usize) {
    let memories = view.memories.iter();
    let mut memories = memories.filter(|m| m.state == NeedState::There).peekable();
    if view.there().next().is_none() && memories.peek().is_none() {
        return;
    }
    title(out, "What the rest needs");
    let mut table = Table::new(&[
        ("  NAME", Fit::Shrinks),
        ("FRAME", Fit::Fixed),
        ("SIZE", Fit::Right),
        ("LINES", Fit::Shrinks),
        ("VALUE", Fit::Shrinks),
    ]);
    let plain = Style::new();
    for need in view.there() {
        let frame = need
            .binding
            .as_ref()
            .and_then(|b| b.execution_id)
            .map_or_else(|| "root".to_owned(), |id| format!("#{id}"));
        table.row(vec![
            (format!("  {}", need.name), BOLD),
            (frame, FAINT),
            (need.len.map(bytes).unwrap_or_default(), plain),
            (numbers(&need.lines), FAINT),
            (need.preview.clone(), FAINT),
        ]);
    }
    for memory in memories {
        table.row(vec![
            (format!("  {} (memory)", memory.agent), BOLD),
            (memory.scope.clone(), FAINT),
            (memory.len.map(bytes).unwrap_or_default(), plain),
            (numbers(&memory.lines), FAINT),
            (memory.preview.clone(), FAINT),
        ]);
    }
    out.push_str(&table.print(width));
}

fn steps(out: &mut String, view: &ResumeView, width: usize) {
    if view.steps.is_empty() {
        return;
    }
    title(out, "What to do next");
    for (n, step) in view.steps.iter().enumerate() {
        let text = wrap(&step.text, width, "     ");
        let _ = writeln!(out, "  {OK}{}.{RESET} {}", n + 1, text.trim());
        for command in &step.commands {
            let _ = writeln!(out, "     {FAINT}${RESET} {}", escape(command, false));
        }
    }
}

fn ahead(out: &mut String, view: &ResumeView, width: usize) {
    // A block that is called from several frames is told once.
    let mut lines = BTreeSet::new();
    let all: Vec<&AheadView> = view
        .ahead
        .iter()
        .filter(|at| lines.insert(at.line) || at.how != How::Called)
        .collect();
    if all.is_empty() {
        return;
    }
    title(out, "The program from there on");
    for at in all.iter().take(AHEAD) {
        let how = match at.how {
            How::Here => "●",
            How::Next => "→",
            How::Again => "↻",
            How::Called => "↳",
            How::Maybe => "?",
        };
        let line = format!("{:>4}", at.line);
        let indent = " ".repeat((at.indent as usize).min(width / 2));
        let room = width.saturating_sub(line.len() + 5 + indent.len());
        let text = fit(&at.text, room);
        let _ = writeln!(out, "  {FAINT}{line}{RESET} {how} {indent}{text}");
    }
    if let Some(more @ 1..) = all.len().checked_sub(AHEAD) {
        let _ = writeln!(out, "  {FAINT}… and {more} more{RESET}");
    }
    let _ = writeln!(
        out,
        "  {FAINT}● here  → next  ↻ in another round  ? if a condition says so  ↳ in a block{RESET}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use prosescope_core::view::{
        BindingRef, CautionView, GateOutcomes, MemoryNeedView, NeedView, NodeRef, StepView,
    };

    #[test]
    fn it_fits_a_terminal_and_nothing_of_a_run_acts_on_it() {
        let evil = "a\u{1b}[2J very long text that has to be broken or cut somewhere ".repeat(3);
        let text = || evil.clone();
        let view = ResumeView {
            run: "r1".to_owned(),
            status: "interrupted".to_owned(),
            headline: text(),
            resumable: true,
            positions: vec![PositionView {
                node: Some(NodeRef {
                    text: text(),
                    status: "executing".to_owned(),
                    ..NodeRef::default()
                }),
                frame_path: text(),
                source: text(),
                line: Some(31),
                error: Some(text()),
                meaning: Some(text()),
                next: Some(AheadView {
                    line: 32,
                    text: text(),
                    ..AheadView::default()
                }),
                ..PositionView::default()
            }],
            needs: [NeedState::There, NeedState::Nowhere]
                .map(|state| NeedView {
                    name: text(),
                    state,
                    reason: text(),
                    preview: text(),
                    sure: true,
                    lines: vec![1, 2, 3],
                    binding: Some(BindingRef::default()),
                    ..NeedView::default()
                })
                .to_vec(),
            memories: [NeedState::There, NeedState::Nowhere]
                .map(|state| MemoryNeedView {
                    agent: text(),
                    state,
                    ..MemoryNeedView::default()
                })
                .to_vec(),
            gates: vec![GateOutcomeView {
                outcomes: GateOutcomes {
                    if_approved: text(),
                    if_rejected: text(),
                    if_timed_out: text(),
                    ..GateOutcomes::default()
                },
                gate: prosescope_core::view::GateView {
                    id: text(),
                    allow_words: text(),
                    ..Default::default()
                },
            }],
            cautions: vec![CautionView {
                risk: Risk::Exec,
                text: text(),
                ..CautionView::default()
            }],
            steps: vec![StepView {
                text: text(),
                commands: Vec::new(),
            }],
            ahead: vec![AheadView {
                line: 1_000_000,
                text: text(),
                how: How::Next,
                ..AheadView::default()
            }],
            notes: vec![text()],
            ..ResumeView::default()
        };
        let styled = resume(&view, 80);
        let plain = anstream::adapter::strip_str(&styled).to_string();
        for line in plain.lines() {
            assert!(line.width() <= 80, "{}: {line}", line.width());
            assert!(!line.contains('\u{1b}'));
        }
        assert!(plain.matches("\\u{1b}[2J").count() > 10, "{plain}");
    }
}
