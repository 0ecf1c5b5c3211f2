use std::fmt::Write as _;

use prosescope_core::pages::view::{TracePage, TreeRow};
use prosescope_core::record::render::text::escape;
use unicode_width::UnicodeWidthStr;

use super::style::{BAD, BOLD, FAINT, RESET, of, status};
use super::table::{cut, fit};

/// Width of the column with durations, and minimum width of the column with statuses, in characters.
const TOOK: usize = 8;
const STATUS: usize = 11;

/// Maximum width of the column with statuses. A status that OpenProse does not define may have any length.
const STATUS_MOST: usize = 15;

/// The deepest level of the tree that is indented. A deeper level is printed as a number, because indenting it leaves
/// no room.
const INDENTED: u32 = 12;

/// Formats the tree, one row per node. Notes are printed beside the statement if they fit, else below it.
pub(crate) fn trace(view: &TracePage, width: usize) -> String {
    let mut out = String::new();
    if let Some(note) = &view.note {
        let _ = writeln!(out, "{}", escape(note, false));
    } else if view.rows.is_empty() {
        out.push_str("no statement is recorded\n");
    }
    let ids = view.rows.iter().map(|row| row.number().len()).max();
    let ids = ids.unwrap_or(0);
    let times = view.rows.iter().any(|r| r.duration.is_some());
    let right = ids + 2 + if times { TOOK + 2 } else { 0 };
    let words = view.rows.iter().map(|row| status(&row.status).width());
    let word = words.max().unwrap_or(0).clamp(STATUS, STATUS_MOST);
    let room = width.saturating_sub(word + 2 + right).max(16);
    let columns = ColumnWidths {
        word,
        room,
        ids,
        times,
        width,
    };
    for remark in &view.remarks {
        let _ = writeln!(out, "{FAINT}· {}{RESET}", escape(remark, false));
    }
    for row in &view.rows {
        print_row(&mut out, row, &columns);
    }
    for remark in &view.remarks_behind {
        let _ = writeln!(out, "{FAINT}· {}{RESET}", escape(remark, false));
    }
    let hidden = view
        .total
        .saturating_sub(view.from + view.rows.len() as u32);
    if hidden > 0 {
        let _ = writeln!(out, "{FAINT}… {hidden} more rows{RESET}");
    }
    let untimed = |r: &TreeRow| r.started.is_none() && r.ended.is_none();
    if !view.rows.is_empty() && view.rows.iter().all(untimed) {
        let _ = writeln!(out, "{FAINT}times were not recorded{RESET}");
    }
    out
}

/// The widths of the columns in characters.
struct ColumnWidths {
    /// The width of the status.
    word: usize,
    /// The width of the statement with its notes.
    room: usize,
    /// The width of the numbers of executions.
    ids: usize,
    /// Whether durations are printed.
    times: bool,
    /// The width of the whole line.
    width: usize,
}

fn print_row(out: &mut String, row: &TreeRow, columns: &ColumnWidths) {
    let ColumnWidths {
        word: most,
        room,
        ids,
        times,
        width,
    } = *columns;
    let indent = match row.level {
        level if level <= INDENTED => "  ".repeat(level as usize),
        level => format!("{}({level}) ", "  ".repeat(INDENTED as usize)),
    };
    let tone = of(&row.status);
    let word = fit(&status(&row.status), most);
    let text = fit(&row.text, room.saturating_sub(indent.width()).max(8));
    let notes = escape(&notes(row).join(" · "), false);
    let used = indent.width() + text.width();
    let beside = !notes.is_empty() && used + 2 + notes.width() <= room;
    let pad = |have: usize, want: usize| " ".repeat(want.saturating_sub(have));
    let strong = if row.position || row.first_cause {
        BOLD
    } else {
        anstyle::Style::new()
    };
    let _ = write!(
        out,
        "{tone}{word}{RESET}{}  {indent}{strong}{text}{RESET}",
        pad(word.width(), most)
    );
    let mut filled = used;
    if beside {
        let _ = write!(out, "  {FAINT}{notes}{RESET}");
        filled += 2 + notes.width();
    }
    let mut tail = String::new();
    if times {
        let _ = write!(tail, "  {:>TOOK$}", row.duration.as_deref().unwrap_or(""));
    }
    let _ = write!(tail, "  {FAINT}{:>ids$}{RESET}", row.number());
    if !tail.trim().is_empty() {
        let _ = write!(out, "{}{}", pad(filled, room), tail.trim_end());
    }
    out.push('\n');
    let below = " ".repeat(most + 2 + indent.width() + 2);
    let left = width.saturating_sub(below.width()).max(16);
    if !notes.is_empty() && !beside {
        let _ = writeln!(out, "{below}{FAINT}{}{RESET}", cut(&notes, left));
    }
    if let Some(error) = &row.error {
        let _ = writeln!(out, "{below}{BAD}{}{RESET}", fit(error, left));
    }
    for remark in &row.remarks {
        let _ = writeln!(out, "{below}{FAINT}· {}{RESET}", escape(remark, false));
    }
}

fn notes(row: &TreeRow) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(row.first_cause.then(|| "first cause".to_owned()));
    notes.extend(row.position.then(|| "stands here".to_owned()));
    let guessed = row.line.filter(|_| row.line_guessed);
    notes.extend(guessed.map(|line| format!("line {line}?")));
    notes.extend(Some(row.detail.clone()).filter(|d| !d.is_empty()));
    notes.extend(row.bindings.iter().map(|b| {
        if b.overwritten {
            format!("→ {} (overwritten later)", b.name)
        } else {
            format!("→ {}", b.name)
        }
    }));
    notes.extend(row.recovered.then(|| "recovered".to_owned()));
    notes.extend(row.inferred.then(|| "inferred".to_owned()));
    notes.extend(row.derived.then(|| "derived".to_owned()));
    notes
}
