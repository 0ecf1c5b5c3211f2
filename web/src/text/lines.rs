//! A long text as lines that a list can show a few of: an index, not copies.

/// The most characters of one shown line; longer ones are shown as several.
const WIDEST: usize = 1000;

/// A text and where its lines begin.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lines {
    text: String,
    /// Where each shown line begins, and the number of the line that begins there; `None` for the rest of one.
    starts: Vec<(u32, Option<u32>)>,
}

impl Lines {
    /// Finds the lines of a text (below 4 GB).
    pub(crate) fn new(text: String) -> Lines {
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
        Lines { text, starts }
    }

    /// How many there are to show.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The number of a shown line, where one begins, and its text.
    pub(crate) fn get(&self, index: usize) -> Option<(Option<u32>, &str)> {
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
        let lines = Lines::new(text.to_owned());
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
