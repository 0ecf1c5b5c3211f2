//! Splits a single line into tokens.

use super::{Tok, Token};
use crate::model::text::clip;

/// The unclosed text or condition at a line's end.
pub(super) enum UnclosedSpan {
    Nothing,
    Quote { start: usize },
    Triple { start: usize },
    Cond { start: usize, stars: usize },
}

/// Returns the tokens of a single line; an unclosed text or condition ends with the line.
pub(in crate::program) fn tokens_of_line(line: &str) -> Vec<Token> {
    let mut spans = Spans::new(line);
    match spans.read(0, line.len()).0 {
        UnclosedSpan::Nothing => {}
        UnclosedSpan::Quote { start } | UnclosedSpan::Triple { start } => {
            spans.push(Tok::Str, start, line.len());
        }
        UnclosedSpan::Cond { start, .. } => spans.push(Tok::Cond, start, line.len()),
    }
    spans.tokens
}

/// Returns the tokens of a value, which may span several lines; comments end with their line.
pub(in crate::program) fn tokens_of_text(text: &str) -> Vec<Token> {
    let mut spans = Spans::new(text);
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let end = at + rest.find('\n').unwrap_or(rest.len());
        let (tok, start, close) = match spans.read(at, end).0 {
            UnclosedSpan::Nothing => {
                at = end + 1;
                continue;
            }
            UnclosedSpan::Quote { start } => {
                (Tok::Str, start, Some(find_quote(text, end).unwrap_or(end)))
            }
            UnclosedSpan::Triple { start } => (Tok::Str, start, find_triple(text, end, text.len())),
            UnclosedSpan::Cond { start, stars } => {
                let sign = "***".get(..stars).unwrap_or("**");
                let found = text.get(end..).and_then(|rest| rest.find(sign));
                let close = found.map(|found| star_run_end(text, end + found));
                (Tok::Cond, start, close)
            }
        };
        at = close.unwrap_or(text.len());
        spans.push(tok, start, at);
    }
    spans.tokens
}

/// The state of the lexer inside a line.
pub(super) struct Spans<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    /// Number of open brackets.
    pub(super) depth: u32,
}

impl<'t> Spans<'t> {
    pub(super) fn new(text: &'t str) -> Spans<'t> {
        Spans {
            text,
            tokens: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn push(&mut self, tok: Tok, start: usize, end: usize) {
        self.tokens.push(Token {
            tok,
            start,
            end,
            depth: self.depth,
        });
    }

    /// Reads `from..to`, which must be in one line. Returns the unclosed text or condition, and the start of a
    /// comment.
    pub(super) fn read(&mut self, from: usize, to: usize) -> (UnclosedSpan, Option<usize>) {
        let text = self.text;
        let mut at = from;
        while let Some(sign) = text.get(at..to).and_then(|rest| rest.chars().next()) {
            let start = at;
            at += sign.len_utf8();
            let rest = text.get(at..to).unwrap_or_default();
            match sign {
                _ if sign.is_whitespace() => {}
                '#' if begins_comment(text, start) => return (UnclosedSpan::Nothing, Some(start)),
                '"' if rest.starts_with("\"\"") => match find_triple(text, start + 3, to) {
                    Some(end) => {
                        self.push(Tok::Str, start, end);
                        at = end;
                    }
                    None => return (UnclosedSpan::Triple { start }, None),
                },
                '"' => match string_end(text, at, to) {
                    Some(end) => {
                        self.push(Tok::Str, start, end);
                        at = end;
                    }
                    None => return (UnclosedSpan::Quote { start }, None),
                },
                '\'' | '“' if may_open(text, start) => {
                    let close = if sign == '“' { '”' } else { '\'' };
                    match other_string_end(text, at, to, close) {
                        Some(end) => {
                            self.push(Tok::Str, start, end);
                            at = end;
                        }
                        None => self.push(Tok::Op, start, at),
                    }
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
                        None => return (UnclosedSpan::Cond { start, stars }, None),
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
        (UnclosedSpan::Nothing, None)
    }
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '@' | '$')
}

/// Returns the length of a word. A word may contain `-` and `.` between letters, as in `on-fail` and `exec.wsUrl`, but
/// not the arrow of `a->b`.
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

/// Whether a `#` begins a comment: at the line's start, after a blank or after a closing sign, but not within a word.
fn begins_comment(text: &str, at: usize) -> bool {
    before(text, at).is_none_or(|sign| sign.is_whitespace() || "\")]}:*,\u{feff}".contains(sign))
}

fn may_open(text: &str, at: usize) -> bool {
    before(text, at).is_none_or(|sign| sign.is_whitespace() || "([{:=,\u{feff}".contains(sign))
}

fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Returns the end of a `"…"` whose content begins at `at`, after the closing quote.
fn string_end(text: &str, at: usize, to: usize) -> Option<usize> {
    let mut escaped = false;
    for (offset, byte) in text.get(at..to).unwrap_or_default().bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + offset + 1),
            _ => {}
        }
    }
    None
}

/// Returns the end of a `"…"` that is not closed on its own line, which ends at `from`. The next quote closes the text
/// if the rest of its line has whole texts only. Otherwise the next quote opens a text, and the author forgot to close
/// this one.
pub(super) fn find_quote(text: &str, from: usize) -> Option<usize> {
    let end = string_end(text, from, text.len())?;
    let rest = text.get(end..)?.lines().next().unwrap_or_default();
    let word_follows = rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '"');
    let opens = may_open(text, end - 1) && word_follows;
    let whole = rest.matches('"').count().is_multiple_of(2);
    (whole && !opens).then_some(end)
}

/// Returns the end of a `'…'` or `“…”`: after a closing quote in the same line that is not an apostrophe. The search
/// is limited, because a line may be long and full of apostrophes.
fn other_string_end(text: &str, at: usize, to: usize, close: char) -> Option<usize> {
    const FAR: usize = 2_000;
    const TRIES: usize = 16;
    let rest = clip(text.get(at..to)?, FAR);
    let ends = rest.match_indices(close).take(TRIES);
    ends.map(|(found, sign)| at + found + sign.len())
        .find(|end| {
            let next = text.get(*end..to).and_then(|rest| rest.chars().next());
            next.is_none_or(|sign| !sign.is_alphanumeric())
        })
}

/// Returns the end of a triple-quoted text whose content begins at `from`. Additional quotes belong to the text.
pub(super) fn find_triple(text: &str, from: usize, to: usize) -> Option<usize> {
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

pub(super) fn star_run_end(text: &str, at: usize) -> usize {
    let stars = text.get(at..).unwrap_or_default().bytes();
    at + stars.take_while(|b| *b == b'*').count()
}
