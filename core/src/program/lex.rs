//! Tokens of a program, and where a logical line ends.
//!
//! A logical line is what one statement head or one property takes: texts in triple quotes, conditions in
//! `***…***` and open brackets carry it over several lines. What is never closed does not swallow the rest of
//! the file: it ends where the next line is plainly a statement. Every byte is looked at a bounded number of
//! times.

use super::head;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tok {
    /// `parallel`, `on-fail`, `exec.wsUrl`, `120s`.
    Word,
    /// `"…"` or `"""…"""`, quotes included.
    Str,
    /// `**…**` or `***…***`, asterisks included.
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
    /// Brackets open around it; an opening bracket and its closing one have the depth outside of them.
    pub(super) depth: u32,
}

/// One logical line.
#[derive(Debug, Default)]
pub(super) struct Logical {
    /// Index of its first line.
    pub(super) first: usize,
    /// Index of its last line.
    pub(super) last: usize,
    /// Its tokens.
    pub(super) tokens: Vec<Token>,
    /// Where the first line's text ends: before a trailing comment.
    pub(super) text_end: usize,
    /// Lines inside that hold a comment and nothing else.
    pub(super) comments: Vec<usize>,
    /// Blank lines inside, but for those in a text.
    pub(super) blanks: Vec<usize>,
}

/// The source with its lines found.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// Start and end of each line without its break, in bytes.
    pub(super) lines: Vec<(usize, usize)>,
    tab: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Source<'a> {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut at = text.len() - body.len();
        let mut lines = Vec::new();
        let mut tab = None;
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let (line, next) = match rest.split_once('\n') {
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
        Source {
            text,
            lines,
            tab: tab.unwrap_or(4),
        }
    }

    pub(super) fn line(&self, index: usize) -> &'a str {
        self.lines
            .get(index)
            .and_then(|(start, end)| self.text.get(*start..*end))
            .unwrap_or_default()
    }

    /// Columns before the first sign. A tab goes to the next stop of the file's own first indentation.
    pub(super) fn indent(&self, index: usize) -> usize {
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

    pub(super) fn is_blank(&self, index: usize) -> bool {
        self.line(index).trim().is_empty()
    }

    pub(super) fn is_comment(&self, index: usize) -> bool {
        self.line(index).trim_start().starts_with('#')
    }
}

/// Reads logical lines one after the other.
#[derive(Debug)]
pub(super) struct Lexer<'s, 'a> {
    source: &'s Source<'a>,
    /// Once a closing sign was looked for in vain, it is nowhere further down either.
    no_triple: bool,
    no_cond: [bool; 2],
}

/// What a line left open.
enum Left {
    Nothing,
    Triple { start: usize },
    Cond { start: usize, stars: usize },
}

impl<'s, 'a> Lexer<'s, 'a> {
    pub(super) fn new(source: &'s Source<'a>) -> Lexer<'s, 'a> {
        Lexer {
            source,
            no_triple: false,
            no_cond: [false; 2],
        }
    }

    /// Reads the logical line that begins at line `first`.
    pub(super) fn read(&mut self, first: usize) -> Logical {
        let source = self.source;
        let (from, to) = source.lines.get(first).copied().unwrap_or_default();
        let mut logical = Logical {
            first,
            last: first,
            text_end: to,
            ..Logical::default()
        };
        let mut spans = Spans {
            text: source.text,
            tokens: std::mem::take(&mut logical.tokens),
            depth: 0,
        };
        let (mut at, mut line) = (from, first);
        loop {
            let end = source.lines.get(line).map_or(at, |(_, end)| *end);
            let (left, comment) = spans.read(at, end);
            if let (true, Some(comment)) = (line == first, comment) {
                logical.text_end = comment;
            }
            let resumed = match left {
                Left::Nothing => None,
                Left::Triple { start } => Some(self.close_triple(first, line, start)),
                Left::Cond { start, stars } => self.close_cond(first, line, start, stars),
            };
            match resumed {
                Some(Closed { token, last }) => {
                    spans.push(token.0, token.1, token.2);
                    line = last;
                    // More of the line may follow the closing sign.
                    at = token.2;
                }
                None => {
                    if let Left::Cond { start, .. } = left {
                        spans.push(Tok::Cond, start, end);
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

    /// The next line when a bracket is open and that line is not plainly something new.
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

    /// Whether a line, not deeper than `indent`, plainly begins a statement or a known property.
    fn is_new(&self, line: usize, indent: usize) -> bool {
        !self.source.is_blank(line)
            && !self.source.is_comment(line)
            && self.source.indent(line) <= indent
            && head::begins_something(self.source.line(line))
    }

    /// Where a text in triple quotes that its line left open ends.
    fn close_triple(&mut self, first: usize, line: usize, start: usize) -> Closed {
        let source = self.source;
        let from = source.lines.get(line).map_or(start, |(_, end)| *end);
        if !self.no_triple {
            if let Some(end) = find_triple(source.text, from, source.text.len()) {
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

    /// Where a condition that its line left open ends; `None` when it does not, or only beyond something new.
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
        // `2 ** 3` opens nothing.
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

    /// The line at or after `from` that holds the byte before `end`.
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

/// The tokens of one line alone: what it leaves open ends with it.
pub(super) fn tokens_of_line(line: &str) -> Vec<Token> {
    let mut spans = Spans {
        text: line,
        tokens: Vec::new(),
        depth: 0,
    };
    match spans.read(0, line.len()).0 {
        Left::Nothing => {}
        Left::Triple { start } => spans.push(Tok::Str, start, line.len()),
        Left::Cond { start, .. } => spans.push(Tok::Cond, start, line.len()),
    }
    spans.tokens
}

/// Lexes inside of lines.
struct Spans<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    depth: u32,
}

impl Spans<'_> {
    fn push(&mut self, tok: Tok, start: usize, end: usize) {
        self.tokens.push(Token {
            tok,
            start,
            end,
            depth: self.depth,
        });
    }

    /// Lexes `from..to`, which lies in one line. Returns what it left open and where a comment begins.
    fn read(&mut self, from: usize, to: usize) -> (Left, Option<usize>) {
        let text = self.text;
        let mut at = from;
        while let Some(sign) = text.get(at..to).and_then(|rest| rest.chars().next()) {
            let start = at;
            at += sign.len_utf8();
            let rest = text.get(at..to).unwrap_or_default();
            match sign {
                _ if sign.is_whitespace() => {}
                '#' if begins_comment(text, start) => return (Left::Nothing, Some(start)),
                '"' if rest.starts_with("\"\"") => match find_triple(text, start + 3, to) {
                    Some(end) => {
                        self.push(Tok::Str, start, end);
                        at = end;
                    }
                    None => return (Left::Triple { start }, None),
                },
                '"' => {
                    at = string_end(text, at, to);
                    self.push(Tok::Str, start, at);
                }
                '*' if rest.starts_with('*') => {
                    let run_end = star_run_end(text, start).min(to);
                    let stars = run_end - start;
                    if stars > 3 || !may_open(text, start) {
                        self.push(Tok::Op, start, run_end);
                        at = run_end;
                        continue;
                    }
                    let sign = "***".get(..stars).unwrap_or("**");
                    match text.get(run_end..to).and_then(|rest| rest.find(sign)) {
                        Some(found) => {
                            at = star_run_end(text, run_end + found).min(to);
                            self.push(Tok::Cond, start, at);
                        }
                        None => return (Left::Cond { start, stars }, None),
                    }
                }
                '(' | '[' | '{' => {
                    self.push(Tok::Open, start, at);
                    self.depth = self.depth.saturating_add(1);
                }
                ')' | ']' | '}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.push(Tok::Close, start, at);
                }
                ':' => self.push(Tok::Colon, start, at),
                ',' => self.push(Tok::Comma, start, at),
                '|' if rest.starts_with('|') => {
                    at += 1;
                    self.push(Tok::Op, start, at);
                }
                '|' => self.push(Tok::Pipe, start, at),
                '-' if rest.starts_with('>') => {
                    at += 1;
                    self.push(Tok::Arrow, start, at);
                }
                '=' | '!' | '<' | '>' | '+' | '-' | '*' | '/' if rest.starts_with('=') => {
                    at += 1;
                    self.push(Tok::Op, start, at);
                }
                '=' => self.push(Tok::Equals, start, at),
                _ if is_word(sign) => {
                    at = start + word_length(text.get(start..to).unwrap_or_default());
                    self.push(Tok::Word, start, at);
                }
                _ => self.push(Tok::Op, start, at),
            }
        }
        (Left::Nothing, None)
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '@' | '$')
}

/// A word takes `-` and `.` between its letters: `on-fail`, `exec.wsUrl`, but not the arrow of `a->b`.
fn word_length(text: &str) -> usize {
    let mut signs = text.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let joins =
            matches!(sign, '-' | '.') && signs.peek().is_some_and(|(_, next)| is_word(*next));
        if !is_word(sign) && !joins {
            return at;
        }
    }
    text.len()
}

/// A `#` begins a comment at the start and after a blank or a sign that ends something, not within a word.
fn begins_comment(text: &str, at: usize) -> bool {
    before(text, at).is_none_or(|sign| sign.is_whitespace() || "\")]}:*,\u{feff}".contains(sign))
}

fn may_open(text: &str, at: usize) -> bool {
    before(text, at).is_none_or(|sign| sign.is_whitespace() || "([{:=,\u{feff}".contains(sign))
}

fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The end of a `"…"` whose inside begins at `at`: after its closing quote, or `to`.
fn string_end(text: &str, at: usize, to: usize) -> usize {
    let mut escaped = false;
    for (offset, byte) in text.get(at..to).unwrap_or_default().bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + offset + 1,
            _ => {}
        }
    }
    to
}

/// The end of a text in triple quotes whose inside begins at `from`. More quotes than three belong to the text.
fn find_triple(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + text.get(at..to)?.find("\"\"\"")?;
        if text.get(..found)?.ends_with('\\') && found > from {
            at = found + 1;
            continue;
        }
        let quotes = text.get(found..to)?.bytes().take_while(|b| *b == b'"');
        return Some(found + quotes.count().min(5));
    }
}

fn star_run_end(text: &str, at: usize) -> usize {
    let stars = text.get(at..).unwrap_or_default().bytes();
    at + stars.take_while(|b| *b == b'*').count()
}
