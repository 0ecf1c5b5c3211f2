//! Formats the answer of a query as a table, and lists the tables and stored questions.

use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::model::text::counted;
use prosescope_core::pages::view::{QueryTable, QueryTables, QueryView, ShownCell};
use prosescope_core::record::render::text::escape;

use super::style::{BOLD, FAINT, RESET};
use super::table::{Fit, PrintedTable, fit, one_line};
use super::{title, wrap};

/// Maximum characters of a cell that are laid out, because no terminal is wider.
const CELL: usize = 400;

/// Formats the rows as a table of at most `width` columns. Long cells are cut, and surplus columns are left out.
pub(crate) fn query(view: &QueryView, width: usize) -> String {
    let mut out = String::new();
    let mut shown = view.columns.len();
    if !view.rows.is_empty() {
        let mut of = table(view, shown);
        while shown > 1 && of.least() > width {
            shown -= 1;
            of = table(view, shown);
        }
        out.push_str(&of.print(width));
    }
    let rows = counted(view.returned, "row", "rows");
    let _ = writeln!(out, "{FAINT}{rows}{RESET}");
    let left = view.columns.len() - shown;
    if left > 0 {
        let columns = counted(left as u64, "column", "columns");
        let line = format!("{columns} left out: --csv and --json print all columns");
        let _ = writeln!(out, "{FAINT}{line}{RESET}");
    }
    for line in query_notes(view) {
        let _ = write!(out, "{FAINT}{}{RESET}", wrap(&line, width, ""));
    }
    out
}

/// Lays out the first `shown` columns as a table.
fn table(view: &QueryView, shown: usize) -> PrintedTable {
    let is_number = |at: usize| {
        let mut cells = view.rows.iter().filter_map(|row| row.get(at));
        cells.all(|cell| matches!(cell.stored.as_str(), "integer" | "real" | "null"))
    };
    let columns = view.columns.iter().take(shown).enumerate();
    let columns: Vec<(String, Fit)> = columns
        .map(|(at, column)| {
            if is_number(at) {
                (fit(&column.name, 40), Fit::Right)
            } else {
                (fit(&column.name, 40), Fit::Shrinks)
            }
        })
        .collect();
    let names: Vec<(&str, Fit)> = columns.iter().map(|(n, fit)| (n.as_str(), *fit)).collect();
    let mut table = PrintedTable::new(&names);
    for row in &view.rows {
        let cells = row
            .iter()
            .take(shown)
            .map(|cell| match cell.stored.as_str() {
                "null" => ("NULL".to_owned(), FAINT),
                _ => (in_table(cell), Style::new()),
            });
        table.row(cells.collect());
    }
    table
}

/// Formats a cell on one line. An empty text is printed as quotes, because a table leaves out empty columns.
fn in_table(cell: &ShownCell) -> String {
    let start: String = cell.text.chars().take(CELL).collect();
    match (cell.stored.as_str(), one_line(&start)) {
        ("blob", hex) => format!("x'{hex}'"),
        (_, text) if text.is_empty() => format!("'{start}'"),
        (_, text) => text,
    }
}

/// Returns notes about rows and bytes that an answer leaves out.
pub(crate) fn query_notes(view: &QueryView) -> Vec<String> {
    let mut notes = view.notes.clone();
    if view.more {
        notes.push("There are more rows: --limit N prints up to 100,000 rows.".to_owned());
    }
    if view.cut > 0 {
        let cells = counted(view.cut, "cell is", "cells are");
        notes.push(format!("{cells} cut after 64 KB."));
    }
    notes
}

/// Formats the tables and the stored questions.
pub(crate) fn query_tables(view: &QueryTables, width: usize) -> String {
    let mut out = format!("{BOLD}Tables of the run as prosescope reads it{RESET}\n");
    let (own, model): (Vec<&QueryTable>, Vec<&QueryTable>) =
        view.tables.iter().partition(|table| table.own);
    for table in model {
        described(&mut out, table, width);
    }
    if !own.is_empty() {
        title(&mut out, "The run's own tables");
    }
    for table in own {
        described(&mut out, table, width);
    }
    title(&mut out, "Stored questions");
    for question in &view.questions {
        let (name, about) = (&question.name, &question.about);
        let _ = writeln!(out, "  --ask {name:<10}{FAINT}{about}{RESET}");
    }
    out
}

fn described(out: &mut String, table: &QueryTable, width: usize) {
    let rows = table.rows.map(|rows| counted(rows, "row", "rows"));
    let rows = rows.map_or_else(String::new, |rows| format!("  {FAINT}{rows}{RESET}"));
    let _ = writeln!(out, "  {}{rows}", escape(&table.name, false));
    if !table.about.is_empty() {
        let _ = write!(out, "{FAINT}{}{RESET}", wrap(&table.about, width, "    "));
    }
    let columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    out.push_str(&wrap(&columns.join(", "), width, "    "));
}

#[cfg(test)]
mod tests {
    use prosescope_core::pages::view::QueryColumn;

    use super::*;

    fn cell(stored: &str, text: &str) -> ShownCell {
        ShownCell {
            stored: stored.to_owned(),
            text: text.to_owned(),
            len: text.len() as u64,
            cut: false,
        }
    }

    fn view(names: &[&str], row: &[ShownCell]) -> QueryView {
        QueryView {
            columns: names
                .iter()
                .map(|name| QueryColumn {
                    name: (*name).to_owned(),
                    declared: None,
                })
                .collect(),
            rows: vec![row.to_vec()],
            returned: 1,
            ..QueryView::default()
        }
    }

    #[test]
    fn a_table_is_no_wider_than_the_terminal_and_says_which_columns_it_lacks() {
        let names: Vec<String> = (0..20).map(|n| format!("column{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let row = vec![cell("text", "a long text in every cell"); 20];
        let text = query(&view(&names, &row), 60);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(
            text.lines().all(|line| line.chars().count() <= 60),
            "{text}"
        );
        assert!(text.contains("columns left out"), "{text}");
    }
}
