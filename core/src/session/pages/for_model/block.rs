//! A part of the text: a heading of ours, and in fences below it what comes from the run.

use crate::resume::fence;
use crate::text::{bytes, escape};

/// Bytes of a line of a list; a longer line is cut.
pub(super) const LINE: usize = 240;

/// What a block quotes.
pub(super) enum Content {
    /// A text, of which the beginning counts most.
    Text {
        /// The text, or its beginning; escaped.
        text: String,
        /// Bytes of all of it, as they are stored.
        len: u64,
        /// Whether `text` is only its beginning.
        more: bool,
    },
    /// Lines, of which those around one count most.
    Lines {
        /// The lines; escaped.
        lines: Vec<String>,
        /// The line that counts most, by its place in `lines`.
        focus: usize,
        /// Lines before the first of `lines`.
        before: usize,
        /// Lines in all.
        total: usize,
    },
}

/// A part of the text.
pub(super) struct Block {
    /// The heading, in our words: nothing of the run.
    pub(super) title: String,
    /// What to know of it, in our words.
    pub(super) lead: &'static str,
    /// Facts of the run that come first, a line each; escaped.
    pub(super) facts: Vec<String>,
    /// What is quoted.
    pub(super) content: Option<Content>,
    /// Bytes that it has in every case; 0 where it may be left out.
    pub(super) least: usize,
    /// What of the room that is left it gets: lower numbers first.
    pub(super) rank: u8,
}

/// A block as it is written into so much room.
pub(super) struct Written {
    /// The Markdown.
    pub(super) text: String,
    /// What of it was cut: `1.2 KB of 12.3 KB`.
    pub(super) cut: Option<String>,
}

/// Returns a text of the run as it is quoted: CRLF as a line break, and what a reader does not see escaped.
pub(super) fn quoted(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), true)
}

/// Returns the beginning of a text on one line, in at most so many bytes.
pub(super) fn one_line(text: &str, most: usize) -> String {
    // An escaped text is not shorter than the text: the rest of the text is never needed.
    let text = text.trim();
    let near = beginning(text, most.saturating_add(1));
    let cut = near.len() < text.len();
    let line = escape(near, false).replace("\\n", " ");
    match !cut && line.len() <= most {
        true => line,
        false => format!("{}…", beginning(&line, most.saturating_sub(3))),
    }
}

/// Returns the beginning of a text, in at most so many bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

/// Puts a text into a fence that nothing in it closes: one that is longer than each run of backticks in the text.
pub(super) fn fenced(text: &str) -> String {
    let fence = fence(text);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

impl Block {
    /// A block that quotes a whole text.
    pub(super) fn text(title: impl Into<String>, text: &str) -> Block {
        Block::part_of(title, text, text.len() as u64, false)
    }

    /// A block that quotes a text, of which only the beginning may be there.
    pub(super) fn part_of(title: impl Into<String>, text: &str, len: u64, more: bool) -> Block {
        // A fence ends without the line breaks that its text ends with: they need no room.
        let text = quoted(text).trim_end_matches('\n').to_owned();
        Block::of(title, Some(Content::Text { text, len, more }))
    }

    /// A block that quotes lines, each on one line.
    pub(super) fn lines(title: impl Into<String>, lines: Vec<String>, focus: usize) -> Block {
        let content = Content::Lines {
            focus: focus.min(lines.len().saturating_sub(1)),
            before: 0,
            total: lines.len(),
            lines,
        };
        Block::of(title, Some(content))
    }

    /// A block of facts alone.
    pub(super) fn of(title: impl Into<String>, content: Option<Content>) -> Block {
        Block {
            title: title.into(),
            lead: "",
            facts: Vec::new(),
            content,
            least: 0,
            rank: 0,
        }
    }

    /// The same with a rank, and with bytes that it has in every case.
    pub(super) fn ranked(self, rank: u8, least: usize) -> Block {
        Block {
            rank,
            least,
            ..self
        }
    }

    /// The same with a fact, unless that is empty.
    pub(super) fn fact(mut self, name: &str, fact: &str) -> Block {
        if !fact.is_empty() {
            self.facts
                .push(format!("{name}: {}", one_line(fact, LINE / 2)));
        }
        self
    }

    /// Writes the block into at most so many bytes, with as many of its facts as fit; `None` where not even its heading fits.
    pub(super) fn write(&self, room: usize) -> Option<Written> {
        let mut keeps = (0..=self.facts.len()).rev();
        keeps.find_map(|keep| self.write_with(self.facts.get(..keep)?, room))
    }

    fn write_with(&self, facts: &[String], room: usize) -> Option<Written> {
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
            Some(Content::Text {
                text: quoted,
                len,
                more,
            }) => {
                let (own, is_cut) = write_text(quoted, *len, *more, left)?;
                text.push_str(&own);
                cut = is_cut;
            }
            Some(Content::Lines {
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
        Some(Written { text, cut })
    }
}

/// The longest beginning of a text that fits into so many bytes with its fence, and what was cut.
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
    // The fence grows with the longest run of backticks, so that how much fits is not known beforehand.
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

/// The lines around one that fit into so many bytes with their fence, and what was cut. `of`: the lines before the first, and
/// the lines in all.
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

/// The largest stretch of lines around one that has at most so many bytes; that line in any case.
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
