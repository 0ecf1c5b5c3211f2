//! Iterates over the lines of a text with their numbers; recognises headings and fences.

/// An iterator over the lines of a text. A copy is cheap and can be used to look ahead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a> {
    rest: Option<&'a str>,
    /// Number of the last line returned, from 1.
    pub(crate) number: u32,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        Lines {
            rest: Some(text),
            number: 0,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        let line = match rest.split_once('\n') {
            Some((line, after)) => {
                self.rest = Some(after);
                line
            }
            None => {
                self.rest = None;
                rest
            }
        };
        self.number = self.number.saturating_add(1);
        Some(line.trim_end_matches('\r'))
    }
}

/// Splits a heading into level and text: `## Index` is level 2, `Index`.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|&b| b == b'#').count();
    let rest = line.get(level..)?;
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then(|| (level, rest.trim()))
}

/// Returns the parts of a line that opens a fence: the fence's character and length, and the text after it (`prose`).
pub(crate) fn fence(line: &str) -> Option<(u8, usize, &str)> {
    let line = line.trim_start();
    let mark = *line
        .as_bytes()
        .first()
        .filter(|b| matches!(b, b'`' | b'~'))?;
    let count = line.bytes().take_while(|&b| b == mark).count();
    let info = line.get(count..)?.trim();
    // Backticks that are closed on the same line are inline code, not a fence.
    (count >= 3 && !(mark == b'`' && info.contains('`'))).then_some((mark, count, info))
}

/// Whether the line closes a fence of this character and length.
pub(crate) fn closes(line: &str, mark: u8, count: usize) -> bool {
    fence(line).is_some_and(|(m, n, info)| m == mark && n >= count && info.is_empty())
}
