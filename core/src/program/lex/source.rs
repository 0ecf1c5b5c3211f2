//! Splits a program's source into lines.

/// The source with its lines.
#[derive(Debug)]
pub(in crate::program) struct LexedSource<'a> {
    pub(in crate::program) text: &'a str,
    /// The start and end offset of each line in bytes, without its line break.
    pub(in crate::program) lines: Vec<(usize, usize)>,
    tab: usize,
}

impl<'a> LexedSource<'a> {
    pub(in crate::program) fn new(text: &'a str) -> LexedSource<'a> {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut at = text.len() - body.len();
        let mut lines = Vec::new();
        let mut tab = None;
        // A file without line feeds is from an old system, whose lines end with a carriage return.
        let line_break = if text.contains('\n') { '\n' } else { '\r' };
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let (line, next) = match rest.split_once(line_break) {
                Some((line, _)) => (line.strip_suffix('\r').unwrap_or(line), line.len() + 1),
                None => (rest, rest.len()),
            };
            let spaces = line.bytes().take_while(|b| *b == b' ').count();
            if tab.is_none() && spaces > 0 && spaces < line.len() {
                tab = Some(spaces.min(8));
            }
            lines.push((at, at + line.len()));
            at += next;
        }
        LexedSource {
            text,
            lines,
            tab: tab.unwrap_or(4),
        }
    }

    /// Returns the start and end offset of a line.
    pub(in crate::program) fn span(&self, index: usize) -> (usize, usize) {
        self.lines.get(index).copied().unwrap_or_default()
    }

    pub(in crate::program) fn line(&self, index: usize) -> &'a str {
        let (start, end) = self.span(index);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the number of columns before the first character. A tab extends to the next multiple of the file's
    /// first indentation.
    pub(in crate::program) fn indent(&self, index: usize) -> usize {
        let mut columns = 0;
        for sign in self.line(index).chars() {
            match sign {
                '\t' => columns = (columns / self.tab + 1) * self.tab,
                sign if sign.is_whitespace() => columns += 1,
                _ => break,
            }
        }
        columns
    }

    pub(in crate::program) fn is_blank(&self, index: usize) -> bool {
        self.line(index).trim().is_empty()
    }

    pub(in crate::program) fn is_comment(&self, index: usize) -> bool {
        self.line(index).trim_start().starts_with('#')
    }
}
