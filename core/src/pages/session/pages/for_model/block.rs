//! Writes a block of the text for a language model: a heading in Prosescope's words, and text of the run in fences
//! below the heading.

use crate::model::text::{bytes, escape};
use crate::pages::resume::fence;

/// The largest number of bytes of a line in a list; longer lines are cut.
pub(super) const LINE: usize = 240;

/// The text of the run that a block quotes.
pub(super) enum QuotedContent {
    /// A text whose end is cut if the whole text does not fit.
    Text {
        /// The quoted text or its beginning, escaped.
        text: String,
        /// How many bytes the whole text has in the store.
        len: u64,
        /// Whether `text` is only the beginning of the whole text.
        more: bool,
    },
    /// Lines that are cut around the most important line if not all lines fit.
    Lines {
        /// The lines, escaped.
        lines: Vec<String>,
        /// The index of the most important line.
        focus: usize,
        /// How many lines come before the first of `lines`.
        before: usize,
        /// How many lines the whole text has.
        total: usize,
    },
}

/// A block of the text, before its size is decided.
pub(super) struct Block {
    /// The heading, in Prosescope's own words without text of the run.
    pub(super) title: String,
    /// An explanation below the heading, in Prosescope's own words.
    pub(super) lead: &'static str,
    /// Facts of the run, one per line, escaped. They come before the quoted text.
    pub(super) facts: Vec<String>,
    /// The quoted text of the run; `None` if the block quotes none.
    pub(super) content: Option<QuotedContent>,
    /// The bytes that are reserved for the block; 0 if the block can be left out.
    pub(super) least: usize,
    /// The priority for the remaining bytes; lower numbers come first.
    pub(super) rank: u8,
}

/// A block that was written within a limit of bytes.
pub(super) struct WrittenBlock {
    /// The Markdown text.
    pub(super) text: String,
    /// The part that was kept, if the block was cut: `the first 1.2 KB of 12.3 KB`, or `lines 3 to 9 of 20`.
    pub(super) cut: Option<String>,
}

/// Escapes a text of the run for quotation: CRLF becomes a line break, and invisible characters are escaped.
pub(super) fn quoted(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), true)
}

/// Returns the beginning of a text on one line, with at most `most` bytes.
pub(super) fn one_line(text: &str, most: usize) -> String {
    // Escaping never shortens a text, so bytes after the limit are not needed.
    let text = text.trim();
    let near = beginning(text, most.saturating_add(1));
    let cut = near.len() < text.len();
    let line = escape(near, false).replace("\\n", " ");
    if !cut && line.len() <= most {
        line
    } else {
        format!("{}…", beginning(&line, most.saturating_sub(3)))
    }
}

/// Returns the beginning of a text, with at most `most` bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

/// Puts a text into a fence that is longer than each run of backticks in it, so that the text cannot close the fence.
pub(super) fn fenced(text: &str) -> String {
    let fence = fence(text);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

impl Block {
    /// Creates a block that quotes a whole text.
    pub(super) fn text(title: impl Into<String>, text: &str) -> Block {
        Block::part_of(title, text, text.len() as u64, false)
    }

    /// Creates a block that quotes a text, which is only a beginning if `more` is true. `len` is the length of the
    /// whole text in bytes.
    pub(super) fn part_of(title: impl Into<String>, text: &str, len: u64, more: bool) -> Block {
        // Line breaks at the end of a text do not appear in its fence, so they take no bytes.
        let text = quoted(text).trim_end_matches('\n').to_owned();
        Block::of(title, Some(QuotedContent::Text { text, len, more }))
    }

    /// Creates a block that quotes lines.
    pub(super) fn lines(title: impl Into<String>, lines: Vec<String>, focus: usize) -> Block {
        let content = QuotedContent::Lines {
            focus: focus.min(lines.len().saturating_sub(1)),
            before: 0,
            total: lines.len(),
            lines,
        };
        Block::of(title, Some(content))
    }

    /// Creates a block without explanation and facts.
    pub(super) fn of(title: impl Into<String>, content: Option<QuotedContent>) -> Block {
        Block {
            title: title.into(),
            lead: "",
            facts: Vec::new(),
            content,
            least: 0,
            rank: 0,
        }
    }

    /// Sets the priority and the reserved bytes.
    pub(super) fn ranked(self, rank: u8, least: usize) -> Block {
        Block {
            rank,
            least,
            ..self
        }
    }

    /// Adds a fact, unless the fact is empty.
    pub(super) fn fact(mut self, name: &str, fact: &str) -> Block {
        if !fact.is_empty() {
            self.facts
                .push(format!("{name}: {}", one_line(fact, LINE / 2)));
        }
        self
    }

    /// Writes the block within `room` bytes, with as many of its facts as fit. `None` if the heading does not fit.
    pub(super) fn write(&self, room: usize) -> Option<WrittenBlock> {
        let mut keeps = (0..=self.facts.len()).rev();
        keeps.find_map(|keep| self.write_with(self.facts.get(..keep)?, room))
    }

    fn write_with(&self, facts: &[String], room: usize) -> Option<WrittenBlock> {
        let mut text = format!("\n## {}\n\n", self.title);
        if !self.lead.is_empty() {
            text.push_str(self.lead);
            text.push_str("\n\n");
        }
        if !facts.is_empty() {
            text.push_str(&fenced(&facts.join("\n")));
        }
        let left = room.checked_sub(text.len())?;
        let mut cut = None;
        match &self.content {
            None => {}
            Some(QuotedContent::Text {
                text: quoted,
                len,
                more,
            }) => {
                let (own, is_cut) = write_text(quoted, *len, *more, left)?;
                text.push_str(&own);
                cut = is_cut;
            }
            Some(QuotedContent::Lines {
                lines,
                focus,
                before,
                total,
            }) => {
                let (own, is_cut) = write_lines(lines, *focus, (*before, *total), left)?;
                text.push_str(&own);
                cut = is_cut;
            }
        }
        Some(WrittenBlock { text, cut })
    }
}

/// Writes the longest beginning of a text that fits into `room` bytes with its fence, and describes what was cut.
fn write_text(text: &str, len: u64, more: bool, room: usize) -> Option<(String, Option<String>)> {
    let write = |most: usize| {
        let shown = beginning(text, most);
        let is_cut = more || shown.len() < text.len();
        let mut out = fenced(shown);
        if is_cut {
            out.push_str(&format!("… {} in all\n", bytes(len)));
        }
        let cut = is_cut.then(|| {
            let shown = bytes(shown.len() as u64);
            format!("the first {shown} of {}", bytes(len))
        });
        (out.len() <= room).then_some((out, cut))
    };
    let whole = write(text.len());
    if whole.is_some() {
        return whole;
    }
    // A longer beginning may need a longer fence, so the fitting length has to be searched.
    let (mut fits, mut over) = (0, text.len().min(room));
    while fits + 1 < over {
        let most = fits.midpoint(over);
        match write(most) {
            Some(_) => fits = most,
            None => over = most,
        }
    }
    write(fits)
}

/// Writes the lines around the line `focus` that fit into `room` bytes with their fence, and describes what was cut.
/// `of` has the number of lines before `lines` in the whole text, and the number of all its lines.
fn write_lines(
    lines: &[String],
    focus: usize,
    of: (usize, usize),
    room: usize,
) -> Option<(String, Option<String>)> {
    let (before, total) = of;
    let mut most = room;
    loop {
        let window = around(lines, focus, most);
        let shown = lines.get(window.clone()).unwrap_or_default();
        let is_cut = shown.len() < total;
        let words = format!(
            "lines {} to {} of {total}",
            before + window.start + 1,
            before + window.end
        );
        let mut out = fenced(&shown.join("\n"));
        if is_cut {
            out.push_str(&format!("… {words}\n"));
        }
        match out.len().checked_sub(room) {
            None | Some(0) => return Some((out, is_cut.then_some(words))),
            Some(_) if shown.len() <= 1 => return None,
            Some(over) => {
                let size: usize = shown.iter().map(|line| line.len() + 1).sum();
                most = size.saturating_sub(over);
            }
        }
    }
}

/// Returns the largest range of lines around the line `focus` with at most `most` bytes. That line is always included.
fn around(lines: &[String], focus: usize, most: usize) -> std::ops::Range<usize> {
    let len = |at: usize| lines.get(at).map(|line| line.len() + 1);
    let Some(mut size) = len(focus) else {
        return 0..0;
    };
    let (mut from, mut to) = (focus, focus + 1);
    loop {
        let mut grown = false;
        if let Some(more) = len(to).filter(|more| size + more <= most) {
            (size, to, grown) = (size + more, to + 1, true);
        }
        if let Some(above) = from.checked_sub(1)
            && let Some(more) = len(above).filter(|more| size + more <= most)
        {
            (size, from, grown) = (size + more, above, true);
        }
        if !grown {
            return from..to;
        }
    }
}
