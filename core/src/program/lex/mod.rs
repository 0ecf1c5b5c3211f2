//! Splits a program into logical lines and their tokens.
//!
//! A logical line contains one statement head or one property. It continues over several lines inside quoted texts, conditions in `***…***` and open brackets. An unclosed text, condition or bracket ends before the next line
//! that clearly begins a statement. A missing quote therefore does not swallow the rest of the file. Each byte is read
//! a bounded number of times, so scanning is linear.

mod source;
mod spans;

use super::head;
pub(super) use source::LexedSource;
use spans::{Spans, UnclosedSpan, find_quote, find_triple, star_run_end};
pub(super) use spans::{tokens_of_line, tokens_of_text};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tok {
    /// A word: `parallel`, `on-fail`, `exec.wsUrl`, `120s`.
    Word,
    /// A quoted text, including its quotes: `"…"` or `"""…"""`.
    Str,
    /// A condition, including its asterisks: `**…**` or `***…***`.
    Cond,
    Open,
    Close,
    Colon,
    Comma,
    /// A single `=`.
    Equals,
    Pipe,
    /// `->`
    Arrow,
    /// Any other sign.
    Op,
}

/// A token: a range of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of open brackets around the token; a bracket itself has the depth outside of it.
    pub(super) depth: u32,
}

/// One logical line of a program, with its tokens.
#[derive(Debug, Default)]
pub(super) struct Logical {
    /// Index of the first source line, from 0.
    pub(super) first: usize,
    /// Index of the last source line.
    pub(super) last: usize,
    /// The tokens of the logical line.
    pub(super) tokens: Vec<Token>,
    /// The offset of the end of the first line's text, before a trailing comment.
    pub(super) text_end: usize,
    /// The lines inside the logical line that contain only a comment.
    pub(super) comments: Vec<usize>,
    /// The blank lines inside the logical line, except those inside a quoted text.
    pub(super) blanks: Vec<usize>,
}

/// A lexer that reads logical lines one after another.
#[derive(Debug)]
pub(super) struct Lexer<'s, 'a> {
    source: &'s LexedSource<'a>,
    /// Whether a search for closing triple quotes found none up to the end of the source. A later search would fail as
    /// well, so the search is not repeated.
    no_triple: bool,
    no_nested: bool,
    no_cond: [bool; 2],
}

impl<'s, 'a> Lexer<'s, 'a> {
    pub(super) fn new(source: &'s LexedSource<'a>) -> Lexer<'s, 'a> {
        Lexer {
            source,
            no_triple: false,
            no_nested: false,
            no_cond: [false; 2],
        }
    }

    /// Reads the logical line that begins at line `first`.
    pub(super) fn read(&mut self, first: usize) -> Logical {
        let source = self.source;
        let (from, to) = source.span(first);
        let mut logical = Logical {
            first,
            last: first,
            text_end: to,
            ..Logical::default()
        };
        let mut spans = Spans::new(source.text);
        let (mut at, mut line) = (from, first);
        loop {
            let end = source.lines.get(line).map_or(at, |(_, end)| *end);
            let (left, comment) = spans.read(at, end);
            if let (true, Some(comment)) = (line == first, comment) {
                logical.text_end = comment;
            }
            let resumed = match left {
                UnclosedSpan::Nothing => None,
                UnclosedSpan::Quote { start } => find_quote(source.text, end).map(|end| Closed {
                    token: (Tok::Str, start, end),
                    last: self.line_of(line, end),
                }),
                UnclosedSpan::Triple { start } => Some(self.close_triple(first, line, start)),
                UnclosedSpan::Cond { start, stars } => self.close_cond(first, line, start, stars),
            };
            match resumed {
                Some(Closed { token, last }) => {
                    spans.push(token.0, token.1, token.2);
                    line = last;
                    // The logical line may continue after the closing quotes or asterisks.
                    at = token.2;
                }
                None => {
                    match left {
                        UnclosedSpan::Cond { start, .. } => spans.push(Tok::Cond, start, end),
                        UnclosedSpan::Quote { start } => spans.push(Tok::Str, start, end),
                        UnclosedSpan::Nothing | UnclosedSpan::Triple { .. } => {}
                    }
                    if line == first && opens_body(&spans) {
                        spans.tokens.pop();
                        break;
                    }
                    match self.next_in_brackets(&spans, first, line, &mut logical) {
                        Some(next) => {
                            line = next;
                            at = source.lines.get(line).map_or(end, |(start, _)| *start);
                        }
                        None => break,
                    }
                }
            }
        }
        logical.last = line;
        logical.tokens = spans.tokens;
        logical
    }

    /// Returns the next line if a bracket is open and the line does not clearly begin a statement or a known property.
    fn next_in_brackets(
        &self,
        spans: &Spans<'_>,
        first: usize,
        line: usize,
        logical: &mut Logical,
    ) -> Option<usize> {
        if spans.depth == 0 {
            return None;
        }
        let source = self.source;
        let mut next = line + 1;
        while next < source.lines.len() && source.is_blank(next) {
            next += 1;
        }
        if next >= source.lines.len() || self.is_new(next, source.indent(first)) {
            return None;
        }
        logical.blanks.extend(line + 1..next);
        if source.is_comment(next) {
            logical.comments.push(next);
        }
        Some(next)
    }

    /// Whether a line is indented by at most `indent` and clearly begins a statement or a known property.
    fn is_new(&self, line: usize, indent: usize) -> bool {
        !self.source.is_blank(line)
            && !self.source.is_comment(line)
            && self.source.indent(line) <= indent
            && head::begins_something(self.source.line(line))
    }

    /// Returns the end of a triple-quoted text that is not closed on the line where it begins.
    fn close_triple(&mut self, first: usize, line: usize, start: usize) -> Closed {
        let source = self.source;
        let from = source.lines.get(line).map_or(start, |(_, end)| *end);
        if !self.no_triple {
            let nested = self.end_around_nested(from, source.indent(first));
            let end = nested.or_else(|| find_triple(source.text, from, source.text.len()));
            if let Some(end) = end {
                return Closed {
                    token: (Tok::Str, start, end),
                    last: self.line_of(line, end),
                };
            }
            self.no_triple = true;
        }
        let indent = source.indent(first);
        let mut last = line;
        while last + 1 < source.lines.len() && !self.is_new(last + 1, indent) {
            last += 1;
        }
        while last > line && source.is_blank(last) {
            last -= 1;
        }
        let end = source.lines.get(last).map_or(from, |(_, end)| *end);
        Closed {
            token: (Tok::Str, start, end),
            last,
        }
    }

    /// Returns the end of a triple-quoted text that may contain programs. In such a program, a deeper line such as
    /// `prompt: """` opens a nested text.
    fn end_around_nested(&mut self, from: usize, indent: usize) -> Option<usize> {
        if self.no_nested {
            return None;
        }
        let text = self.source.text;
        let mut at = from;
        while let Some(end) = find_triple(text, at, text.len()) {
            if !self.opens_inside(end, indent) {
                return Some(end);
            }
            match find_triple(text, end, text.len()) {
                Some(close) => at = close,
                None => break,
            }
        }
        // No closing quotes were found up to the end of the text, so a later search would fail as well.
        self.no_nested = true;
        None
    }

    /// Whether the quotes that end at this offset open a nested text. Such quotes end a line that is indented deeper
    /// than `indent`, and that begins a known property or a statement.
    fn opens_inside(&self, end: usize, indent: usize) -> bool {
        let text = self.source.text;
        let blank = |rest: &str| {
            rest.bytes()
                .take_while(|b| *b != b'\n')
                .all(|b| b" \t\r".contains(&b))
        };
        let before = text.get(..end).unwrap_or_default();
        if !text.get(end..).is_some_and(blank) {
            return false;
        }
        let line = before.rsplit('\n').next().unwrap_or_default();
        let Some(head) = line.strip_suffix("\"\"\"") else {
            return false;
        };
        let depth = head.len() - head.trim_start().len();
        // In a program, a blank precedes opening quotes, as in `prompt: """`.
        depth > indent && head.ends_with(' ') && head::begins_something(head)
    }

    /// Returns the end of a condition that is not closed on the line where it begins. Returns `None` if the condition
    /// is never closed, or closed only after a line that begins a statement or a known property.
    fn close_cond(
        &mut self,
        first: usize,
        line: usize,
        start: usize,
        stars: usize,
    ) -> Option<Closed> {
        let source = self.source;
        let slot = usize::from(stars > 2);
        if self.no_cond.get(slot).copied().unwrap_or(true) {
            return None;
        }
        let (_, from) = source.lines.get(line).copied()?;
        let sign = "***".get(..stars)?;
        // A blank after the asterisks means that they do not open a condition, as in `2 ** 3`.
        let inside = source.text.get(start + stars..from)?;
        if inside.starts_with(char::is_whitespace) && !inside.trim().is_empty() {
            return None;
        }
        let Some(found) = source.text.get(from..).and_then(|rest| rest.find(sign)) else {
            if let Some(flag) = self.no_cond.get_mut(slot) {
                *flag = true;
            }
            return None;
        };
        let end = star_run_end(source.text, from + found);
        let last = self.line_of(line, end);
        let indent = source.indent(first);
        let new = (line + 1..=last).any(|at| self.is_new(at, indent));
        (!new).then_some(Closed {
            token: (Tok::Cond, start, end),
            last,
        })
    }

    /// Returns the line at or after `from` that contains the byte before `end`.
    fn line_of(&self, from: usize, end: usize) -> usize {
        let rest = self.source.lines.get(from..).unwrap_or_default();
        let found = rest.partition_point(|(start, _)| *start < end);
        from + found.saturating_sub(1)
    }
}

struct Closed {
    token: (Tok, usize, usize),
    last: usize,
}

/// Whether a line ends with a brace that opens a body rather than a value: `agent a {`, `parallel: {`.
fn opens_body(spans: &Spans<'_>) -> bool {
    let Some((last, head)) = spans.tokens.split_last() else {
        return false;
    };
    // Closing brackets may precede the head, as in `} else {`.
    let closing = head.iter().take_while(|token| token.tok == Tok::Close);
    let head = head.get(closing.count()..).unwrap_or_default();
    let brace = spans.text.get(last.start..last.end) == Some("{");
    brace && last.tok == Tok::Open && spans.depth == 1 && head::takes_body(spans.text, head)
}
