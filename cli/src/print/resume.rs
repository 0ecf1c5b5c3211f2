use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::pages::resume::sections;
use prosescope_core::pages::view::{AheadView, How, NeedState, ResumeView, numbers};
use prosescope_core::record::render::text::escape;
use unicode_width::UnicodeWidthStr;

use super::style::{BOLD, FAINT, RESET, of, status};
use super::table::{Fit, PrintedTable, fit};
use super::{bytes, more, run_line, section, title, wrap};

/// Maximum width of a printed line, even if the terminal is wider.
const WIDTH: usize = 96;
/// Maximum number of remaining statements that are printed; `--json` prints more.
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
    let said = sections(view);
    section(&mut out, &said.positions, width);
    more(&mut out, view.position_count, view.positions.len());
    for of in [&said.cautions, &said.gates, &said.missing] {
        section(&mut out, of, width);
    }
    needs(&mut out, view, width);
    section(&mut out, &said.steps, width);
    ahead(&mut out, view, width);
    out
}

fn needs(out: &mut String, view: &ResumeView, width: usize) {
    let memories = view.memories.iter();
    let mut memories = memories.filter(|m| m.state == NeedState::There).peekable();
    if view.there().next().is_none() && memories.peek().is_none() {
        return;
    }
    title(out, "What the rest needs");
    let mut table = PrintedTable::new(&[
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

fn ahead(out: &mut String, view: &ResumeView, width: usize) {
    // Several frames may call the same block; its statements are printed once.
    let mut lines = BTreeSet::new();
    let all: Vec<&AheadView> = view
        .ahead
        .iter()
        .filter(|at| lines.insert(at.line) || at.how != How::Called)
        .collect();
    if all.is_empty() {
        return;
    }
    title(out, "The program from this point on");
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
    use prosescope_core::pages::view::{
        BindingRef, CautionView, GateOutcomeView, GateOutcomes, MemoryNeedView, NeedView, NodeRef,
        PositionView, Risk, StepView,
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
                gate: prosescope_core::pages::view::GateView {
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
