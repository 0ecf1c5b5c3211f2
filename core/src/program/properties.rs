//! Parses the properties of a statement's head: in brackets, in braces, and listed after the head.

use super::head::is_known;
use super::lex::{Tok, Token};
use super::line::LineTokens;
use super::value::{Property, ValueType, entries, same_name, text_of};

/// Properties in source order. Their line numbers are set once the statement's line is known.
#[derive(Debug, Default)]
pub(super) struct Properties(pub(super) Vec<Property>);

impl Properties {
    pub(super) fn add(&mut self, name: &str, raw: &str) {
        self.0.push(Property::read(name, raw, 0));
    }

    /// Adds the options in the brackets of a head: `(max: 5)`, `("first", on-fail: "continue")`. An option without a
    /// name gets the name `bare`; if `bare` is `None`, such an option is ignored.
    pub(super) fn brackets(&mut self, text: &str, tokens: &[Token], bare: Option<&str>) {
        for (_, group) in groups(text, tokens, "(") {
            self.options(text, group, bare);
        }
    }

    /// Adds properties in an object after the head: `agent a: { model: opus }`, `session "x" { retry: 3 }`.
    pub(super) fn braces(&mut self, line: LineTokens<'_>) {
        // `context: { a: b }` is a value, not an object of properties.
        let is_value = |open: usize| {
            open > 2 && line.is(open - 1, Tok::Colon) && line.word(open - 2).is_some_and(is_known)
        };
        for (open, group) in groups(line.text, line.tokens, "{") {
            if !is_value(open) {
                self.options(line.text, group, None);
            }
        }
    }

    /// Adds properties after the head without brackets: `session "x" retry: 3`, `exec "make", timeout: 5m`.
    pub(super) fn inline(&mut self, line: LineTokens<'_>) {
        let begins = |at: usize| {
            let known = line.word(at).is_some_and(is_known);
            let top = line.tokens.get(at).is_some_and(|token| token.depth == 0);
            let named = matches!(line.word(at - 1), Some("session" | "agent"));
            known && top && !named && line.is(at + 1, Tok::Colon)
        };
        let starts: Vec<usize> = (2..line.len()).filter(|at| begins(*at)).collect();
        for (nth, at) in starts.iter().enumerate() {
            let mut end = starts.get(nth + 1).copied().unwrap_or(line.len());
            while end > at + 2 && matches!(line.tok(end - 1), Some(Tok::Comma | Tok::Colon)) {
                end -= 1;
            }
            let value = line.tokens.get(at + 2..end).unwrap_or_default();
            if !value.is_empty() {
                self.add(line.slice(*at), slice(line.text, value));
            }
        }
    }

    /// Adds the contents of the brackets of a block or call: the first pair contains parameters or arguments, later
    /// pairs contain options. Known options of a block (`max_depth`) may be in the first pair as well.
    pub(super) fn parameters(&mut self, name: &str, text: &str, tokens: &[Token]) {
        for (at, (_, group)) in groups(text, tokens, "(").into_iter().enumerate() {
            let options = group
                .first()
                .zip(group.get(1))
                .is_some_and(|(word, colon)| {
                    let name = text.get(word.start..word.end).unwrap_or_default();
                    colon.tok == Tok::Colon && same_name(name, "max_depth")
                });
            if at > 0 || options {
                self.options(text, group, None);
            } else {
                self.list(name, text, group);
            }
        }
    }

    /// Adds the names in the brackets of a pipe's operation, such as `sum` and `item` in `| reduce(sum, item):`.
    pub(super) fn pipe_brackets(&mut self, text: &str, tokens: &[Token]) {
        let groups = tokens.windows(3).enumerate().filter(|(_, three)| {
            matches!(three, [pipe, word, open]
                if (pipe.tok, word.tok, open.tok) == (Tok::Pipe, Tok::Word, Tok::Open)
                    && open.depth == 0)
        });
        for (at, _) in groups {
            if let Some((_, group)) = next_group(text, tokens, at + 2, "(") {
                self.list("params", text, group);
            }
        }
    }

    fn list(&mut self, name: &str, text: &str, group: &[Token]) {
        let list = entries(text, group, false).unwrap_or_default();
        self.0.push(Property {
            name: name.to_owned(),
            text: slice(text, group).to_owned(),
            value: ValueType::List(list),
            line: 0,
        });
    }

    fn options(&mut self, text: &str, group: &[Token], bare: Option<&str>) {
        let Some(depth) = group.first().map(|token| token.depth) else {
            return;
        };
        let comma = |token: &Token| token.tok == Tok::Comma && token.depth == depth;
        for entry in group.split(comma).filter(|entry| !entry.is_empty()) {
            match entry {
                [key, colon, value @ ..] if colon.tok == Tok::Colon => {
                    let key = text.get(key.start..key.end).unwrap_or_default();
                    self.add(&text_of(key), slice(text, value));
                }
                _ => {
                    if let Some(bare) = bare {
                        self.add(bare, slice(text, entry));
                    }
                }
            }
        }
    }
}

/// Returns the outermost brackets of one kind: the index of each opening bracket, and the tokens inside.
fn groups<'t>(text: &str, tokens: &'t [Token], sign: &str) -> Vec<(usize, &'t [Token])> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some((open, group)) = next_group(text, tokens, from, sign) {
        found.push((open, group));
        from = open + group.len() + 2;
    }
    found
}

fn next_group<'t>(
    text: &str,
    tokens: &'t [Token],
    from: usize,
    sign: &str,
) -> Option<(usize, &'t [Token])> {
    let mut open = None;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.tok {
            Tok::Open if token.depth == 0 && open.is_none() => {
                open = (text.get(token.start..token.end) == Some(sign)).then_some(at);
            }
            Tok::Close if token.depth == 0 => {
                if let Some(from) = open.take() {
                    return Some((from, tokens.get(from + 1..at)?));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the text from the first to the last of the tokens.
pub(super) fn slice<'t>(text: &'t str, tokens: &[Token]) -> &'t str {
    tokens
        .first()
        .zip(tokens.last())
        .and_then(|(first, last)| text.get(first.start..last.end))
        .unwrap_or_default()
}
