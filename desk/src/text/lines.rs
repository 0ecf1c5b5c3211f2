//! Indexes the lines of a long text, so that a list can show a few lines without splitting the whole text.

use std::ops::Range;

/// The maximum number of characters of one shown line. A longer line is split into several.
const WIDEST: usize = 1000;

/// The number of a shown line and its text. The number is `None` if the line continues a split line.
pub type LineOf<T> = (Option<u32>, T);

/// A text and an index of its lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexedLines {
    text: String,
    /// For each shown line: its offset in `text`, in bytes, and its number. The number is `None` if the line continues
    /// a split line.
    starts: Vec<(u32, Option<u32>)>,
}

impl IndexedLines {
    /// Builds the index of a text of less than 4 GB.
    pub fn new(text: String) -> IndexedLines {
        let mut starts = Vec::new();
        let mut at = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            starts.push((at as u32, Some(number as u32 + 1)));
            if line.len() > WIDEST {
                let parts = line.char_indices().enumerate().skip(WIDEST).step_by(WIDEST);
                starts.extend(parts.map(|(_, (offset, _))| ((at + offset) as u32, None)));
            }
            at += line.len();
        }
        IndexedLines { text, starts }
    }

    /// Returns the number of shown lines.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the indexes of the shown lines that make up one line of the text. `number` counts lines from 1.
    pub fn of_number(&self, number: u64) -> Option<Range<usize>> {
        let is = |start: &(u32, Option<u32>)| start.1.map(u64::from) == Some(number);
        let from = self.starts.iter().position(is)?;
        let rest = self.starts.get(from + 1..).unwrap_or_default();
        let more = rest.iter().take_while(|(_, number)| number.is_none());
        Some(from..from + 1 + more.count())
    }

    /// Returns the number of a shown line and its text. The number is `None` if the line continues a split line.
    pub fn get(&self, index: usize) -> Option<LineOf<&str>> {
        let (start, number) = *self.starts.get(index)?;
        let end = self
            .starts
            .get(index + 1)
            .map_or(self.text.len(), |(end, _)| *end as usize);
        let line = self.text.get(start as usize..end)?;
        Some((number, line.trim_end_matches(['\n', '\r'])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[(Option<u32>, &str)]) {
        let lines = IndexedLines::new(text.to_owned());
        let got: Vec<_> = (0..lines.len()).filter_map(|i| lines.get(i)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn lines_are_numbered_and_keep_no_break() {
        check("", &[]);
        check("a", &[(Some(1), "a")]);
        check(
            "a\r\n\nb\n",
            &[(Some(1), "a"), (Some(2), ""), (Some(3), "b")],
        );
    }

    #[test]
    fn a_line_is_found_by_its_number() {
        let lines = IndexedLines::new(format!("a\n{}\nz", "b".repeat(2 * WIDEST + 1)));
        assert_eq!(lines.of_number(1), Some(0..1));
        assert_eq!(lines.of_number(2), Some(1..4));
        assert_eq!(lines.of_number(3), Some(4..5));
        assert_eq!(lines.of_number(0), None);
        assert_eq!(lines.of_number(4), None);
    }

    #[test]
    fn an_endless_line_is_shown_in_parts() {
        let long = "ü".repeat(WIDEST + 5);
        check(
            &format!("{long}\nz"),
            &[
                (Some(1), &"ü".repeat(WIDEST)),
                (None, &"ü".repeat(5)),
                (Some(2), "z"),
            ],
        );
    }
}
