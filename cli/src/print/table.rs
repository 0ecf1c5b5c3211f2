//! Formats tables with aligned columns that fit the width of a terminal.

use anstyle::Style;
use prosescope_core::record::render::text::escape;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::RESET;

/// How a column behaves on a narrow terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Keeps its width.
    Fixed,
    /// Shrinks to at least eight characters; cells are cut with an ellipsis.
    Shrinks,
    /// Shrinks to at least this number of characters.
    Down(usize),
    /// Keeps its width, aligned to the right.
    Right,
}

/// A table with a header and rows of `(text, style)`. Texts are escaped, so that a cell cannot change the terminal.
pub(crate) struct PrintedTable {
    fits: Vec<Fit>,
    rows: Vec<Vec<(String, Style)>>,
}

impl PrintedTable {
    pub(crate) fn new(columns: &[(&str, Fit)]) -> PrintedTable {
        let header = columns
            .iter()
            .map(|(name, _)| ((*name).to_owned(), super::style::FAINT))
            .collect();
        PrintedTable {
            fits: columns.iter().map(|(_, fit)| *fit).collect(),
            rows: vec![header],
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<(String, Style)>) {
        self.rows.push(
            cells
                .into_iter()
                .map(|(text, style)| (escape(&text, false), style))
                .collect(),
        );
    }

    /// Formats the table with lines of at most `width` characters. Columns without any text are left out.
    pub(crate) fn print(&self, width: usize) -> String {
        let used = self.used();
        let widths = self.widths(&used, width);
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (&c, &wide)) in used.iter().zip(&widths).enumerate() {
                let Some((text, style)) = row.get(c) else {
                    continue;
                };
                let text = cut(text, wide);
                let pad = " ".repeat(wide - text.width().min(wide));
                let rest_is_empty = used
                    .iter()
                    .skip(at + 1)
                    .all(|&c| row.get(c).is_none_or(|(t, _)| t.is_empty()));
                if text.is_empty() && rest_is_empty {
                    break;
                }
                let styled = format!("{style}{text}{RESET}");
                let cell = match self.fits.get(c) {
                    Some(Fit::Right) => format!("{pad}{styled}"),
                    _ if rest_is_empty => styled,
                    _ => format!("{styled}{pad}"),
                };
                if at > 0 {
                    line.push_str("  ");
                }
                line.push_str(&cell);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// Returns the minimum width of the table in characters.
    pub(crate) fn least(&self) -> usize {
        let used = self.used();
        let widths = self.widths(&used, 0);
        widths.iter().sum::<usize>() + gaps(&used)
    }

    /// Returns the indexes of the columns that have text in at least one row.
    fn used(&self) -> Vec<usize> {
        let is_used = |c: &usize| {
            let mut rows = self.rows.iter().skip(1);
            rows.any(|row| row.get(*c).is_some_and(|(t, _)| !t.is_empty()))
        };
        (0..self.fits.len()).filter(is_used).collect()
    }

    fn widths(&self, used: &[usize], width: usize) -> Vec<usize> {
        let natural = |c: usize| {
            self.rows
                .iter()
                .filter_map(|r| r.get(c))
                .map(|(t, _)| t.width())
                .max()
                .unwrap_or(0)
        };
        let least = |c: usize| match self.fits.get(c) {
            Some(Fit::Shrinks) => 8,
            Some(Fit::Down(least)) => *least,
            _ => usize::MAX,
        };
        let mut columns: Vec<(usize, usize)> =
            used.iter().map(|&c| (natural(c), least(c))).collect();
        // Shrinks the widest flexible column, one character at a time.
        while columns.iter().map(|(wide, _)| wide).sum::<usize>() + gaps(used) > width {
            let shrinks = columns.iter_mut().filter(|(wide, least)| wide > least);
            match shrinks.max_by_key(|(wide, _)| *wide) {
                Some((wide, _)) => *wide -= 1,
                None => break,
            }
        }
        columns.into_iter().map(|(wide, _)| wide).collect()
    }
}

/// Returns the total width of the gaps between these columns.
fn gaps(used: &[usize]) -> usize {
    2 * used.len().saturating_sub(1)
}

/// Formats a text of the run on one line of at most `most` characters.
pub(crate) fn fit(text: &str, most: usize) -> String {
    cut(&escape(text, false), most)
}

/// Joins the lines of a text to one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text to `most` characters. An ellipsis marks the cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > most {
            break;
        }
        used += wide;
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &PrintedTable, width: usize) -> String {
        anstream::adapter::strip_str(&table.print(width)).to_string()
    }

    #[test]
    fn columns_align_and_the_long_one_gives_way() {
        let mut table = PrintedTable::new(&[
            ("NAME", Fit::Shrinks),
            ("BYTES", Fit::Right),
            ("EMPTY", Fit::Fixed),
        ]);
        let cell = |t: &str| (t.to_owned(), Style::new());
        table.row(vec![cell("a very long name indeed"), cell("12"), cell("")]);
        table.row(vec![cell("日本語"), cell("1234567"), cell("")]);
        assert_eq!(
            plain(&table, 24),
            "NAME               BYTES\na very long na…       12\n日本語           1234567\n"
        );
        for line in plain(&table, 24).lines() {
            assert!(line.width() <= 24, "{line}");
        }
    }

    #[test]
    fn no_cell_breaks_out_of_its_row() {
        let mut table = PrintedTable::new(&[("A", Fit::Fixed)]);
        table.row(vec![("x\u{1b}[2J\ny".to_owned(), Style::new())]);
        assert_eq!(plain(&table, 80), "A\nx\\u{1b}[2J\\ny\n");
    }
}
