//! Formats a comparison of two runs for `diff`: the status of each run, different rows as a tree, different values line
//! by line, and counts.

use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::model::text::counted;
use prosescope_core::pages::view::{
    ChangedLine, CompareView, ComparedNode, ComparedRow, ComparedRun, ComparedValue, Difference,
    ProgramRelation,
};
use prosescope_core::record::render::text::escape;
use unicode_width::UnicodeWidthStr;

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT};
use super::table::fit;
use super::{bytes, more, title, wrap};

/// The deepest level of the tree that is indented. A deeper level is printed as a number.
const INDENTED: u32 = 12;

/// The largest number of other records that are printed. `--json` lists more.
const RECORDS: usize = 40;

pub(crate) fn compared(view: &CompareView, width: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{RESET}", fit(&view.headline, width));
    out.push_str(&wrap(&view.found, width, ""));
    out.push('\n');
    run(&mut out, "A", &view.a, width);
    run(&mut out, "B", &view.b, width);
    if let Some(longer) = &view.longer {
        let _ = writeln!(out, "  {FAINT}took{RESET}  B {longer}");
    }
    for note in &view.notes {
        let _ = write!(out, "{WAIT}{}{RESET}", wrap(note, width, "  "));
    }
    programs(&mut out, view, width);
    if !view.rows.is_empty() {
        title(&mut out, "Rows");
    }
    for of in &view.rows {
        row(&mut out, of, width);
    }
    if view.rows_left_out > 0 {
        more(&mut out, view.rows_left_out, 0);
    }
    values(&mut out, "Other values", &view.values, width);
    values(&mut out, "Memories", &view.memories, width);
    let records = view.records.get(..RECORDS).unwrap_or(&view.records);
    values(&mut out, "Other records", records, width);
    let all = view.counts.records_differ.values().sum();
    more(&mut out, all, records.len());
    if !view.outputs.is_empty() {
        title(&mut out, "Outputs that differ");
        out.push_str(&wrap(&view.outputs.join(", "), width, "  "));
    }
    if view.not_compared_count > 0 {
        title(&mut out, "Not compared");
        for value in &view.not_compared {
            let text = format!("{}: {}", value.name, value.why);
            let _ = writeln!(out, "  {}", fit(&text, width.saturating_sub(2)));
        }
        more(&mut out, view.not_compared_count, view.not_compared.len());
    }
    let _ = write!(out, "\n{FAINT}{}{RESET}", wrap(&counts(view), width, ""));
    out
}

fn run(out: &mut String, name: &str, of: &ComparedRun, width: usize) {
    let program = of.program.as_deref().unwrap_or("(program not recorded)");
    let took = of.duration.as_deref();
    let took = took.map_or(String::new(), |took| format!(", {took}"));
    let tokens = of.tokens.as_ref();
    let tokens = tokens.map_or(String::new(), |tokens| format!(", {}", tokens.words()));
    let text = format!("{}  {}{took}{tokens}  {program}", of.run, of.status);
    let _ = writeln!(
        out,
        "  {BOLD}{name}{RESET}  {}",
        fit(&text, width.saturating_sub(5))
    );
}

fn programs(out: &mut String, view: &CompareView, width: usize) {
    let of = &view.programs;
    if of.relation == ProgramRelation::Same {
        return;
    }
    title(out, "Program");
    out.push_str(&wrap(&of.words, width, "  "));
    lines(out, &of.lines, of.more_lines, "  ", width);
}

fn row(out: &mut String, of: &ComparedRow, width: usize) {
    let has = |what: Difference| of.differs.contains(&what);
    let (mark, tone) = match () {
        () if has(Difference::OnlyA) => ('-', BAD),
        () if has(Difference::OnlyB) => ('+', OK),
        () if of.differs.is_empty() => (' ', FAINT),
        () => ('~', WAIT),
    };
    let indent = match of.level {
        level if level <= INDENTED => "  ".repeat(level as usize),
        level => format!("{}({level}) ", "  ".repeat(INDENTED as usize)),
    };
    let ids = ids(of);
    let text = of.a.as_ref().or(of.b.as_ref()).map_or("", |at| &at.at.text);
    let room = width.saturating_sub(2 + indent.width() + ids.width() + 2);
    let text = fit(text, room.max(8));
    let pad = room.saturating_sub(text.width());
    let _ = writeln!(
        out,
        "{tone}{mark}{RESET} {indent}{tone}{text}{RESET}{}  {FAINT}{ids}{RESET}",
        " ".repeat(pad)
    );
    let below = " ".repeat(4 + indent.width());
    details(out, of, &below, width);
}

/// Returns the numbers of a row in run A and in run B, in the form that commands take, such as `#7` or `~12`.
fn ids(of: &ComparedRow) -> String {
    let number = |(side, of): (&str, &Option<ComparedNode>)| {
        Some(format!("{side} {}", of.as_ref()?.at.number()))
    };
    let both = [("A", &of.a), ("B", &of.b)];
    both.into_iter()
        .filter_map(number)
        .collect::<Vec<_>>()
        .join(", ")
}

fn details(out: &mut String, of: &ComparedRow, below: &str, width: usize) {
    let left = width.saturating_sub(below.width()).max(16);
    let mut say = |style: Style, text: &str| {
        let _ = writeln!(out, "{below}{style}{}{RESET}", fit(text, left));
    };
    if let (Some(a), Some(b)) = (&of.a, &of.b) {
        pair(&mut say, of, a, b);
    } else if let Some(one) = of.a.as_ref().or(of.b.as_ref()) {
        let rows = match of.below {
            0 => String::new(),
            n => format!(", with {} below it", counted(n.into(), "row", "rows")),
        };
        let line = one
            .at
            .line
            .map_or(String::new(), |line| format!(", line {line}"));
        say(FAINT, &format!("{}{line}{rows}", one.at.status));
        if let Some(error) = &one.at.error {
            say(BAD, error);
        }
    }
    for of in &of.values {
        value(out, of, below, width);
    }
}

/// Formats the differences of a row that both runs record.
fn pair(say: &mut dyn FnMut(Style, &str), of: &ComparedRow, a: &ComparedNode, b: &ComparedNode) {
    let has = |what: Difference| of.differs.contains(&what);
    if !of.differs.is_empty() {
        let line = |at: &ComparedNode| at.at.line.filter(|_| !at.at.line_guessed);
        match (line(a), line(b)) {
            (Some(a), Some(b)) if a != b => say(FAINT, &format!("line {a} in A, {b} in B")),
            (Some(line), _) | (_, Some(line)) => say(FAINT, &format!("line {line}")),
            (None, None) => {}
        }
        if of.guessed {
            say(FAINT, "probably the same row");
        }
    }
    if has(Difference::Text) {
        say(BAD, &format!("- {}", a.at.text));
        say(OK, &format!("+ {}", b.at.text));
    }
    if has(Difference::Status) {
        say(WAIT, &format!("status {} → {}", a.at.status, b.at.status));
    }
    if has(Difference::Attempts) {
        say(WAIT, &format!("attempts {} → {}", a.attempts, b.attempts));
    }
    if let (Some(longer), false) = (&of.longer, of.differs.is_empty()) {
        let took = |at: &ComparedNode| at.duration.clone().unwrap_or_default();
        let style = if has(Difference::Duration) {
            WAIT
        } else {
            FAINT
        };
        say(style, &format!("took {} → {} ({longer})", took(a), took(b)));
    }
    let mut two = |what: &str, a: &Option<String>, b: &Option<String>| {
        let none = || "none".to_owned();
        say(
            BAD,
            &format!("- {what}: {}", a.clone().unwrap_or_else(none)),
        );
        say(OK, &format!("+ {what}: {}", b.clone().unwrap_or_else(none)));
    };
    if has(Difference::Error) {
        two("error", &a.at.error, &b.at.error);
    }
    if has(Difference::Outcome) {
        two("decision", &a.outcome, &b.outcome);
    }
}

fn values(out: &mut String, heading: &str, of: &[ComparedValue], width: usize) {
    if !of.is_empty() {
        title(out, heading);
    }
    for of in of {
        value(out, of, "  ", width);
    }
}

fn value(out: &mut String, of: &ComparedValue, below: &str, width: usize) {
    let len = |len: Option<u64>| len.map_or_else(|| "no value".to_owned(), bytes);
    let only = |run: &str, of: Option<u64>| {
        let len = of.map_or_else(String::new, |of| format!(", {}", bytes(of)));
        format!("only in {run}{len}")
    };
    let mut text = format!("{} ({}): ", of.name, of.kind);
    text.push_str(&match (of.a, of.b) {
        (Some(_), None) => only("A", of.a_len),
        (None, Some(_)) => only("B", of.b_len),
        _ if (of.a_len, of.b_len) == (None, None) => "differs".to_owned(),
        _ => format!("{} → {}", len(of.a_len), len(of.b_len)),
    });
    if let Some(note) = &of.note {
        text.push_str(&format!("; {note}"));
    } else if of.cut {
        text.push_str("; only the first 64 KiB were compared line by line");
    }
    if of.inferred {
        text.push_str("; inferred");
    }
    let left = width.saturating_sub(below.width()).max(16);
    let _ = writeln!(out, "{below}{WAIT}{}{RESET}", fit(&text, left));
    lines(out, &of.lines, of.more_lines, &format!("{below}  "), width);
}

fn lines(out: &mut String, of: &[ChangedLine], left_out: u32, below: &str, width: usize) {
    let left = width.saturating_sub(below.width() + 2).max(16);
    for line in of {
        let tone = if line.mark == '-' { BAD } else { OK };
        let _ = writeln!(
            out,
            "{below}{tone}{} {}{RESET}",
            escape(&line.mark.to_string(), false),
            fit(&shown(line, left), left)
        );
    }
    if left_out > 0 {
        let text = counted(left_out.into(), "more line", "more lines");
        let _ = writeln!(out, "{below}{FAINT}… and {text}{RESET}");
    }
}

/// Leaves out the beginning of a long line, so that the part that differs is visible.
fn shown(line: &ChangedLine, room: usize) -> String {
    let alike = line.alike as usize;
    // Two thirds of the width show text before the difference, so a third remains for the difference.
    let before = room * 2 / 3;
    if line.text.chars().count() > room && alike > before {
        let rest = line.text.chars().skip(alike - before);
        std::iter::once('…').chain(rest).collect()
    } else {
        line.text.clone()
    }
}

fn counts(view: &CompareView) -> String {
    let of = &view.counts;
    let same = of
        .paired
        .saturating_sub(of.differ)
        .saturating_sub(of.durations);
    format!(
        "A has {}, B {}: {} the same, {} differ, {} in duration only, {} only in A, {} only in B. {} compared, {} differ. {} compared, {} differ. Ids, times and earlier values are not compared.",
        counted(of.a_rows.into(), "row", "rows"),
        of.b_rows,
        same,
        of.differ,
        of.durations,
        of.only_a,
        of.only_b,
        counted(of.values.into(), "value and memory", "values and memories"),
        of.values_differ,
        counted(of.records.into(), "other record", "other records"),
        of.records_differ.values().sum::<u32>(),
    )
}
