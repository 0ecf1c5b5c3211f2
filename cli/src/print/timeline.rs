//! Draws the rows of the trace on a time axis.

use std::fmt::Write as _;

use prosescope_core::model::time::Stamp;
use prosescope_core::pages::view::{Bar, BarEnd, Timeline, TracePage, TreeRow};
use unicode_width::UnicodeWidthStr;

use super::style::{FAINT, RESET, of};
use super::table::fit;
use super::title;

/// Width of the column with durations, in characters.
const TOOK: usize = 9;

/// The deepest level of rows that is indented. Deeper rows get the same indentation.
const INDENTED: u32 = 6;

pub(crate) fn timeline(page: &TracePage, view: &Timeline, width: usize) -> String {
    let mut out = String::new();
    let (Some(from), Some(until)) = (&view.from, &view.until) else {
        out.push_str("times were not recorded\n");
        return out;
    };
    let names = (width * 2 / 5).clamp(16, 56);
    let room = width.saturating_sub(names + TOOK + 2).max(10);
    let ends = format!("{} to {}", words(from), words(until));
    let took = view.took.as_deref().unwrap_or_default();
    let _ = writeln!(out, "{FAINT}{ends}, {took}{RESET}");
    for row in &page.rows {
        let bar = view.bar(row.node);
        let indent = "  ".repeat(row.level.min(INDENTED) as usize);
        let name = format!("{indent}{}", fit(&row.text, names - indent.width()));
        let pad = " ".repeat(names.saturating_sub(name.width()));
        let drawn = draw(row, bar, view, room);
        let took = row.duration.as_deref().unwrap_or_default();
        let line = format!("{name}{pad} {drawn} {FAINT}{took:>TOOK$}{RESET}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let mut keys = match view.sequential {
        Some(true) => vec!["one after the other"],
        Some(false) => vec![
            "━ the run's end waited for this row",
            "─ ran beside other rows",
        ],
        None => vec!["branches without times may have run at the same time"],
    };
    let has = |end: BarEnd| view.bars.iter().any(|bar| bar.end == end);
    keys.extend(has(BarEnd::Open).then_some("→ not ended"));
    keys.extend(has(BarEnd::Unknown).then_some("╺ no end recorded"));
    keys.extend((!view.gaps.is_empty()).then_some("┊ idle, drawn short"));
    let _ = writeln!(out, "{FAINT}{}{RESET}", keys.join(" · "));
    for gap in &view.gaps {
        let _ = writeln!(out, "{FAINT}┊ {} from {}{RESET}", gap.len, words(&gap.from));
    }
    if view.untimed > 0 {
        let rows = if view.untimed == 1 {
            "row has"
        } else {
            "rows have"
        };
        let _ = writeln!(out, "{FAINT}{} {rows} no time{RESET}", view.untimed);
    }
    if !view.longest.is_empty() {
        title(&mut out, "Longest");
        for one in &view.longest {
            let text = fit(&one.node.text, width.saturating_sub(TOOK + 2));
            let _ = writeln!(out, "{:>TOOK$}  {text}", one.took);
        }
    }
    out
}

fn words(stamp: &Stamp) -> String {
    stamp.to_string()
}

/// Draws the bar of a row in `room` characters.
fn draw(row: &TreeRow, bar: Option<&Bar>, view: &Timeline, room: usize) -> String {
    let column = |at: u64| {
        let at = u128::from(at) * room as u128 / u128::from(view.len.max(1));
        usize::try_from(at)
            .unwrap_or(room)
            .min(room.saturating_sub(1))
    };
    let mut cells = vec![' '; room];
    for gap in &view.gaps {
        if let Some(cell) = cells.get_mut(column(gap.at + gap.drawn / 2)) {
            *cell = '┊';
        }
    }
    let Some(bar) = bar else {
        return cells.into_iter().collect();
    };
    let (from, until) = (column(bar.from), column(bar.until));
    let line = if bar.critical { '━' } else { '─' };
    for cell in cells.iter_mut().take(until + 1).skip(from) {
        *cell = line;
    }
    let end = match bar.end {
        BarEnd::Open => Some('→'),
        BarEnd::Unknown => Some('╺'),
        BarEnd::Recorded | BarEnd::Inner => None,
    };
    if let (Some(end), Some(cell)) = (end, cells.get_mut(until)) {
        *cell = end;
    }
    let part = |cells: &[char]| cells.iter().collect::<String>();
    let tone = of(&row.status);
    let (before, rest) = cells.split_at(from);
    let (own, behind) = rest.split_at(until + 1 - from);
    format!("{}{tone}{}{RESET}{}", part(before), part(own), part(behind))
}
