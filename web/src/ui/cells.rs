//! Formats the cells of a database table for a grid: each cell on one line, in columns as wide as their content.

use prosescope_core::pages::view::ShownCell;

/// The most characters of a cell shown in its row and its tooltip.
const TITLE: usize = 300;
/// The smallest ([`NARROW`]) and the largest ([`WIDE`]) width of a column, in characters.
const NARROW: usize = 4;
const WIDE: usize = 56;

/// Formats a cell as text: NULL as `NULL`, bytes as in SQL (`x'00ff'`).
pub(crate) fn text(cell: &ShownCell) -> String {
    match cell.stored.as_str() {
        "null" => "NULL".to_owned(),
        "blob" => format!("x'{}'", cell.text),
        _ => cell.text.clone(),
    }
}

/// Returns the beginning of a cell's text.
pub(crate) fn beginning(cell: &ShownCell) -> String {
    text(cell).chars().take(TITLE).collect()
}

/// Puts a text on one line, with a visible mark for each line break.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", "↵")
        .replace(['\n', '\r'], "↵")
        .replace('\t', "⇥")
}

/// Returns the CSS class of a cell, by its storage class.
pub(crate) fn class(cell: &ShownCell) -> &'static str {
    match cell.stored.as_str() {
        "null" => "null",
        "integer" | "real" => "number",
        "blob" => "blob",
        _ => "",
    }
}

/// Widens columns to fit their names and rows. Columns never become narrower, so that they do not jump while the user
/// scrolls.
pub(crate) fn widen(widths: &mut Vec<usize>, names: &[String], rows: &[Vec<ShownCell>]) {
    let heads = names.iter().map(|name| name.chars().count());
    let rows = rows.iter().map(|row| {
        let cells = row.iter().map(|cell| text(cell).chars().take(WIDE).count());
        cells.collect::<Vec<_>>()
    });
    for row in std::iter::once(heads.collect::<Vec<_>>()).chain(rows) {
        for (at, width) in row.into_iter().enumerate() {
            let width = width.clamp(NARROW, WIDE);
            match widths.get_mut(at) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
}

/// Returns the value of the CSS property `grid-template-columns`. Each column is as wide as its content; the last
/// column extends to the end of the row.
pub(crate) fn template(widths: &[usize]) -> String {
    let last = widths.len().saturating_sub(1);
    let columns = widths
        .iter()
        .enumerate()
        .map(|(at, width)| match at == last {
            true => format!("minmax(calc({width}ch + 26px), 1fr)"),
            false => format!("calc({width}ch + 26px)"),
        });
    columns.collect::<Vec<_>>().join(" ")
}
