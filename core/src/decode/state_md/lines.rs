//! Walking through a text line by line, with its line numbers; headings and fences.

/// A place between two lines of a text. Cloning it is free: looking ahead is walking on with a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines<'a> {
    rest: Option<&'a str>,
    /// Number of the line that was taken last, from 1.
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

/// `## Index` is level 2, `Index`.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|&b| b == b'#').count();
    let rest = line.get(level..)?;
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then(|| (level, rest.trim()))
}

/// A line that opens a fence: its mark, how many there are, and what follows (`prosescope`).
pub(crate) fn fence(line: &str) -> Option<(u8, usize, &str)> {
    let line = line.trim_start();
    let mark = *line
        .as_bytes()
        .first()
        .filter(|b| matches!(b, b'`' | b'~'))?;
    let count = line.bytes().take_while(|&b| b == mark).count();
    let info = line.get(count..)?.trim();
    // `x``` in the middle of a text is code, not a fence.
    (count >= 3 && !(mark == b'`' && info.contains('`'))).then_some((mark, count, info))
}

/// Whether the line closes a fence of that mark and length.
pub(crate) fn closes(line: &str, mark: u8, count: usize) -> bool {
    fence(line).is_some_and(|(m, n, info)| m == mark && n >= count && info.is_empty())
}
