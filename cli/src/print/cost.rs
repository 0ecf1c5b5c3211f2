//! Formats what a run cost.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use prosescope_core::model::text::{count, counted};
use prosescope_core::pages::view::{RunCost, StatementCost, TokenUse};

use super::style::{FAINT, RESET};
use super::table::{Fit, PrintedTable, one_line};
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

/// A row: the cells before those of the tokens, the tokens of each model, and a text below, for what may be long.
type Row<'v> = (Vec<String>, &'v Tokens, String);

/// The tokens of each model.
type Tokens = BTreeMap<String, TokenUse>;

pub(crate) fn cost(view: &RunCost, width: usize) -> String {
    let mut out = run_line(view.program.as_deref(), &view.run);
    out.push_str(&wrap(&view.note, width, ""));
    if view.transcripts.is_some() {
        let statements = view.statements.iter().map(|of| {
            let line = of.line.map_or_else(String::new, |line| line.to_string());
            (vec![line, one_line(&of.text)], &of.tokens, evidence(of))
        });
        let columns = [("LINE", Fit::Right), ("STATEMENT", Fit::Down(16))];
        table(&mut out, "Statements", &columns, statements, width);
        let others = view.not_joined.iter().map(|of| {
            let name = of.file.rsplit(['/', '\\']).next().unwrap_or_default();
            let below = format!("{}: {}", of.file, of.why);
            (vec![name.to_owned()], &of.tokens, below)
        });
        let columns = [("TRANSCRIPT", Fit::Down(16))];
        table(&mut out, "Not joined", &columns, others, width);
        let below = "with sessions that name the run";
        let sum = [(vec!["all".to_owned()], &view.by_model, below.to_owned())];
        table(
            &mut out,
            "Sum",
            &[("OF", Fit::Fixed)],
            sum.into_iter(),
            width,
        );
    }
    if let Some(of) = &view.reported {
        title(&mut out, "Reported by the run");
        for count in &of.by_node {
            let text = format!("{}: {}", one_line(&count.name), count.words());
            out.push_str(&wrap(&text, width, "  "));
        }
        out.push_str(&wrap(&format!("all: {}", of.total.words()), width, "  "));
    }
    let prices = [view.price_cents, view.total_cost_usd];
    for (field, price) in ["price_cents", "total_cost_usd"].iter().zip(prices) {
        if let Some(price) = price {
            let _ = writeln!(out, "\nRecorded price: {field} {price}");
        }
    }
    if let Some(read) = &view.transcripts {
        let text = format!(
            "{} read in {}; without an answer of a model: {}; unreadable: {}; unreadable lines: {}",
            counted(read.files.into(), "file", "files"),
            read.folder,
            count(read.foreign.into()),
            count(read.unread.len() as u64),
            count(read.unreadable_lines),
        );
        let _ = write!(out, "\n{FAINT}{}{RESET}", wrap(&text, width, ""));
    }
    out
}

/// Adds a heading and a table. Adds nothing if there are no rows.
fn table<'v>(
    out: &mut String,
    heading: &str,
    columns: &[(&str, Fit)],
    rows: impl ExactSizeIterator<Item = Row<'v>>,
    width: usize,
) {
    let all = rows.len();
    if all == 0 {
        return;
    }
    title(out, heading);
    let mut table = PrintedTable::new(&[columns, &TOKENS].concat());
    let mut below = vec![String::new()];
    for (cells, by_model, text) in rows.take(ROWS) {
        let row = |used: [String; 4]| {
            let cells = cells.iter().cloned().chain(used);
            cells.map(|cell| (cell, anstyle::Style::new())).collect()
        };
        if by_model.is_empty() {
            table.row(row(["unknown", "", "", ""].map(str::to_owned)));
            below.push(text.clone());
        }
        for (model, used) in by_model {
            table.row(row(tokens(used)));
            below.push(format!("{model}, {text}"));
        }
    }
    for (line, below) in table.print(width).lines().zip(below) {
        let below = wrap(&below, width, "      ");
        let _ = write!(out, "{line}\n{FAINT}{below}{RESET}");
    }
    more(out, all as u32, ROWS.min(all));
}

/// Returns the evidence of a statement's transcripts: `by time, by tool use`.
fn evidence(of: &StatementCost) -> String {
    let all = of.transcripts.iter().map(|of| match &of.by {
        Some(by) if !of.tokens.is_empty() => format!("by {by}"),
        _ => "a transcript records no tokens".to_owned(),
    });
    Vec::from_iter(all.collect::<BTreeSet<_>>()).join(", ")
}

/// Returns the cells of tokens: input, cached, cache writes, output.
fn tokens(of: &TokenUse) -> [String; 4] {
    let writes = match (of.written_5m, of.written_1h, of.written) {
        (0, 0, any) => count(any),
        (short, long, 0) => format!("{}/{}", count(short), count(long)),
        (short, long, any) => format!("{}/{} + {}", count(short), count(long), count(any)),
    };
    [count(of.input), count(of.cached), writes, count(of.output)]
}
