//! Formats what a run cost.

use std::fmt::Write as _;

use prosescope_core::model::text::{count, counted};
use prosescope_core::pages::view::{
    CostView, JoinedTranscript, RunCost, StatementCost, TokenUse, TranscriptsRead,
};

use super::style::{FAINT, RESET};
use super::table::{Fit, PrintedTable, fit, one_line};
use super::{more, run_line, title, wrap};

/// The largest number of rows of a table.
const ROWS: usize = 200;

/// The columns of tokens.
const TOKENS: [(&str, Fit); 4] = [
    ("INPUT", Fit::Right),
    ("CACHED", Fit::Right),
    ("WRITES 5M/1H", Fit::Right),
    ("OUTPUT", Fit::Right),
];

pub(crate) fn cost(view: &RunCost, width: usize) -> String {
    let mut out = run_line(view.program.as_deref(), &view.run);
    out.push_str(&wrap(&view.note, width, ""));
    if view.transcripts.is_some() {
        statements(&mut out, view, width);
        not_joined(&mut out, view, width);
        models(&mut out, view, width);
    }
    if let Some(of) = &view.reported {
        reported(&mut out, of, width);
    }
    if !view.money.is_empty() {
        title(&mut out, "Recorded prices");
    }
    for price in &view.money {
        let text = format!("{} {}: {}", price.field, price.amount, price.from);
        out.push_str(&wrap(&text, width, "  "));
    }
    if let Some(read) = &view.transcripts {
        let _ = write!(out, "\n{FAINT}{}{RESET}", wrap(&files(read), width, ""));
    }
    out
}

fn statements(out: &mut String, view: &RunCost, width: usize) {
    if view.statements.is_empty() {
        return;
    }
    title(out, "Statements");
    let mut table = table(&[("LINE", Fit::Right), ("STATEMENT", Fit::Down(16))]);
    for of in view.statements.iter().take(ROWS) {
        let line = of.line.map_or_else(String::new, |line| line.to_string());
        let mut cells = vec![line, one_line(&of.text)];
        cells.extend(tokens(of.tokens.as_ref()));
        row(&mut table, cells);
    }
    // The models and the evidence are on a line of their own, because the names of models are long.
    let printed = table.print(width);
    let mut lines = printed.lines();
    if let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
    }
    for (line, of) in lines.zip(&view.statements) {
        let _ = writeln!(out, "{line}");
        let below = of.models.iter().map(|name| model(name)).chain(evidence(of));
        let below = below.collect::<Vec<_>>().join(", ");
        let _ = write!(out, "{FAINT}{}{RESET}", wrap(&below, width, "      "));
    }
    more(
        out,
        view.statements.len() as u32,
        ROWS.min(view.statements.len()),
    );
}

/// Returns the evidence of a statement's transcripts: `by tool use`, `2 by time`.
fn evidence(of: &StatementCost) -> Vec<String> {
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for JoinedTranscript { by, .. } in &of.transcripts {
        match kinds.iter_mut().find(|(known, _)| known == by) {
            Some((_, n)) => *n += 1,
            None => kinds.push((by, 1)),
        }
    }
    let words = kinds.iter().map(|(by, n)| match n {
        1 => format!("by {by}"),
        n => format!("{n} by {by}"),
    });
    let lacking = match of.without_tokens {
        0 => None,
        n => Some(format!(
            "{} no tokens",
            counted(n.into(), "transcript records", "transcripts record")
        )),
    };
    words.chain(lacking).collect()
}

fn not_joined(out: &mut String, view: &RunCost, width: usize) {
    if view.not_joined.is_empty() {
        return;
    }
    title(out, "Not joined");
    for of in view.not_joined.iter().take(ROWS) {
        let used = of.tokens.as_ref().map_or_else(
            || "tokens unknown".to_owned(),
            |of| {
                let [input, cached, writes, output] = tokens(Some(of));
                format!("input {input}, cached {cached}, writes {writes}, output {output}")
            },
        );
        let _ = writeln!(out, "  {}", fit(&of.file, width.saturating_sub(2)));
        let mut text = format!("{used}. Not joined: {}.", of.why);
        if of.outside > 0 {
            let answers = counted(of.outside.into(), "answer", "answers");
            let _ = write!(text, " Not counted: {answers} outside of the run's time.");
        }
        out.push_str(&wrap(&text, width, "    "));
    }
    more(out, view.not_joined.len() as u32, ROWS);
}

fn models(out: &mut String, view: &RunCost, width: usize) {
    if view.by_model.is_empty() {
        return;
    }
    title(out, "By model");
    let mut table = table(&[("MODEL", Fit::Down(16)), ("OF", Fit::Fixed)]);
    for of in &view.by_model {
        let part = if of.joined {
            "statements"
        } else {
            "not joined"
        };
        let mut cells = vec![model(&of.model), part.to_owned()];
        cells.extend(tokens(Some(&of.tokens)));
        row(&mut table, cells);
    }
    out.push_str(&table.print(width));
}

fn reported(out: &mut String, of: &CostView, width: usize) {
    title(out, "Reported by the run");
    for count in of.by_node.iter().take(ROWS) {
        let text = format!("{}: {}", one_line(&count.name), count.words());
        out.push_str(&wrap(&text, width, "  "));
    }
    more(out, of.by_node.len() as u32, ROWS);
    out.push_str(&wrap(&format!("all: {}", of.total.words()), width, "  "));
}

fn files(read: &TranscriptsRead) -> String {
    let files = counted(read.files.into(), "file", "files");
    let mut text = format!("{files} read in {}", read.folder);
    for (what, n) in [
        ("without an answer of a model", read.foreign.into()),
        ("unreadable", read.unread.len() as u64),
        (
            "conversations outside of the run's time",
            read.other_time.into(),
        ),
        ("conversations that only copy others", read.copies.into()),
        ("unreadable lines", read.unreadable_lines),
    ] {
        if n > 0 {
            let _ = write!(text, "; {what}: {}", count(n));
        }
    }
    text
}

fn model(name: &str) -> String {
    match name {
        "" => "not recorded".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the cells of tokens: input, cached, cache writes, output.
fn tokens(of: Option<&TokenUse>) -> [String; 4] {
    let Some(of) = of else {
        return ["unknown", "", "", ""].map(str::to_owned);
    };
    let mut writes = match (of.written_5m, of.written_1h) {
        (0, 0) => String::new(),
        (short, long) => format!("{}/{}", count(short), count(long)),
    };
    // The time of these writes is not recorded.
    if of.written > 0 {
        let gap = if writes.is_empty() { "" } else { " + " };
        let _ = write!(writes, "{gap}{}", count(of.written));
    }
    if writes.is_empty() {
        writes.push('0');
    }
    [count(of.input), count(of.cached), writes, count(of.output)]
}

/// Returns a table with these columns before those of tokens.
fn table(first: &[(&str, Fit)]) -> PrintedTable {
    PrintedTable::new(&[first, &TOKENS].concat())
}

fn row(table: &mut PrintedTable, cells: Vec<String>) {
    let plain = anstyle::Style::new();
    table.row(cells.into_iter().map(|cell| (cell, plain)).collect());
}
