//! Cells of a database as a grid shows them: on one line, in columns as wide as their content.

use prosescope_core::view::Cell;

/// Characters of a cell that its row shows at most, and its title.
const TITLE: usize = 300;
/// Characters that a column is wide at least, and at most.
const NARROW: usize = 4;
const WIDE: usize = 56;

/// A cell as text: NULL as a word, bytes as SQL writes them.
pub(crate) fn text(cell: &Cell) -> String {
    match cell.stored.as_str() {
        "null" => "NULL".to_owned(),
        "blob" => format!("x'{}'", cell.text),
        _ => cell.text.clone(),
    }
}

/// The beginning of that text.
pub(crate) fn beginning(cell: &Cell) -> String {
    text(cell).chars().take(TITLE).collect()
}

/// A text as one line: the marks that end a line are shown.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", "↵")
        .replace(['\n', '\r'], "↵")
        .replace('\t', "⇥")
}

/// The class of a cell, by what is stored in it.
pub(crate) fn class(cell: &Cell) -> &'static str {
    match cell.stored.as_str() {
        "null" => "null",
        "integer" | "real" => "number",
        "blob" => "blob",
        _ => "",
    }
}

/// Widens columns to what rows hold: rows that come later widen them, and none makes them narrower.
pub(crate) fn widen(widths: &mut Vec<usize>, names: &[String], rows: &[Vec<Cell>]) {
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

/// The columns of the grid: as wide as their content, the last one to the end of the row.
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
