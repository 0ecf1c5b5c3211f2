//! Parses tables and lists of the index and the call stack.

use crate::model::Text;
use crate::read::decode::text::unescape;

/// Maximum number of cells in a row; the rest of a longer row becomes one more cell.
const MOST_CELLS: usize = 64;

/// Splits a row at its pipes; an escaped pipe belongs to its cell. Cells are returned as written, trimmed.
pub(super) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (i, b) in row.bytes().enumerate() {
        if b == b'|' && !escaped {
            cells.push(row.get(start..i).unwrap_or_default().trim());
            start = i + 1;
            if cells.len() == MOST_CELLS {
                break;
            }
        }
        escaped = b == b'\\' && !escaped;
    }
    let last = row.get(start..).unwrap_or_default().trim();
    if !last.is_empty() {
        cells.push(last);
    }
    cells
}

/// Whether a row is the rule under the headings: `|------|:----:|`.
pub(super) fn is_rule(cells: &[&str]) -> bool {
    let dashes = |c: &&str| c.contains('-') && c.bytes().all(|b| matches!(b, b'-' | b':' | b' '));
    !cells.is_empty() && cells.iter().all(dashes)
}

/// Returns a cell's text without markup around it: `code`, **bold**.
pub(super) fn cell_text(raw: &str) -> Text {
    unescape(unwrap(raw)).into()
}

fn unwrap(raw: &str) -> &str {
    for mark in ["**", "`"] {
        if let Some(inside) = raw.strip_prefix(mark).and_then(|r| r.strip_suffix(mark))
            && !inside.trim().is_empty()
            && !inside.contains(mark)
        {
            return inside.trim();
        }
    }
    raw
}

/// The meaning of a table's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnMeaning {
    Name,
    Kind,
    Path,
    Frame,
    Scope,
    Block,
    Depth,
    Status,
    Other,
}

/// The columns of a table in order, each with its heading and with alternative headings of real files, in lower case.
pub(crate) type TableHeadings = [(ColumnMeaning, &'static str, &'static [&'static str])];

/// The columns of the index of bindings.
pub(crate) const BINDINGS: &TableHeadings = &[
    (ColumnMeaning::Name, "Name", &["binding", "agent"]),
    (ColumnMeaning::Kind, "Kind", &["type"]),
    (ColumnMeaning::Path, "Path", &["file", "location"]),
    (
        ColumnMeaning::Frame,
        "Execution ID",
        &["execution", "frame"],
    ),
];

/// The columns of the index of agents.
pub(crate) const AGENTS: &TableHeadings = &[
    (ColumnMeaning::Name, "Name", &["binding", "agent"]),
    (ColumnMeaning::Scope, "Scope", &[]),
    (ColumnMeaning::Path, "Path", &["file", "location"]),
];

/// The columns of the call stack.
pub(crate) const STACK: &TableHeadings = &[
    (
        ColumnMeaning::Frame,
        "execution_id",
        &["id", "execution", "frame"],
    ),
    (ColumnMeaning::Block, "block", &[]),
    (ColumnMeaning::Depth, "depth", &[]),
    (ColumnMeaning::Status, "status", &[]),
];

/// Returns a heading in lower case, with blanks for `_` and `-`.
pub(super) fn folded(heading: &str) -> String {
    heading.trim().to_lowercase().replace(['_', '-'], " ")
}

/// Returns the meaning of the column with this heading.
pub(crate) fn column(table: &TableHeadings, heading: &str) -> ColumnMeaning {
    let heading = folded(heading);
    let is = |(_, own, others): &&(ColumnMeaning, &str, &[&str])| {
        folded(own) == heading || others.contains(&&*heading)
    };
    table
        .iter()
        .find(is)
        .map_or(ColumnMeaning::Other, |(column, ..)| *column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_rows() {
        for (row, expected) in [
            ("| a | b |", &["a", "b"][..]),
            ("a | b", &["a", "b"]),
            (r"| a\|b | c\\| d |", &[r"a\|b", r"c\\", "d"]),
            ("| (none yet) | | | |", &["(none yet)", "", "", ""]),
            ("|", &[]),
        ] {
            assert_eq!(cells(row), expected, "{row}");
        }
        assert!(is_rule(&cells("|------|:---:|")));
        assert!(!is_rule(&cells("| - | a |")));
    }

    #[test]
    fn reads_cells_through_their_marks() {
        for (raw, text) in [
            ("`bindings/a.md`", "bindings/a.md"),
            ("**a**", "a"),
            (r"result\_\_43", "result__43"),
            ("`", "`"),
            ("****", "****"),
        ] {
            assert_eq!(&*cell_text(raw), text);
        }
    }
}
