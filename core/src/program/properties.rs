//! Properties: those in a head's brackets and those of the lines below it.

use super::lex::{Tok, Token};

/// Names and values in the order of the source. The names of nested ones are joined by a dot
/// (`permissions.bash`).
#[derive(Debug, Default)]
pub(super) struct Properties(pub(super) Vec<(String, String)>);

impl Properties {
    pub(super) fn add(&mut self, key: &str, value: &str) {
        self.0.push((key.to_owned(), value.to_owned()));
    }

    /// The options in the brackets of a head: `(max: 5)`, `("first", on-fail: "continue")`. `bare` is the name of
    /// an option without one; without a name for it, it is none.
    pub(super) fn brackets(&mut self, text: &str, tokens: &[Token], bare: Option<&str>) {
        for group in groups(text, tokens) {
            self.options(text, group, bare);
        }
    }

    /// The first brackets are parameters or arguments, kept as written; later ones are options. Options that
    /// are known to belong to a block (`max_depth`) may stand in the first as well.
    pub(super) fn parameters(&mut self, key: &str, text: &str, tokens: &[Token]) {
        for (at, group) in groups(text, tokens).into_iter().enumerate() {
            let options = group
                .first()
                .zip(group.get(1))
                .is_some_and(|(word, colon)| {
                    let name = text.get(word.start..word.end).unwrap_or_default();
                    colon.tok == Tok::Colon && matches!(name, "max_depth" | "max-depth")
                });
            if at > 0 || options {
                self.options(text, group, None);
            } else {
                self.add(key, slice(text, group));
            }
        }
    }

    /// The names in `| reduce(sum, item):`.
    pub(super) fn pipe_brackets(&mut self, text: &str, tokens: &[Token]) {
        let groups = tokens.windows(3).enumerate().filter(|(_, three)| {
            matches!(three, [pipe, word, open]
                if (pipe.tok, word.tok, open.tok) == (Tok::Pipe, Tok::Word, Tok::Open)
                    && open.depth == 0)
        });
        for (at, _) in groups {
            let rest = tokens.get(at + 2..).unwrap_or_default();
            if let Some(group) = self::groups(text, rest).first() {
                self.add("params", slice(text, group));
            }
        }
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
                    self.add(unquote(key), unquote(slice(text, value)));
                }
                _ => {
                    if let Some(bare) = bare {
                        self.add(bare, unquote(slice(text, entry)));
                    }
                }
            }
        }
    }
}

/// The insides of the round brackets that stand outside of others.
fn groups<'t>(text: &str, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::Open if token.depth == 0 && open.is_none() => {
                open = (text.get(token.start..token.end) == Some("(")).then_some(at);
            }
            Tok::Close if token.depth == 0 => {
                if let Some(inner) = open.take().and_then(|from| tokens.get(from + 1..at)) {
                    found.push(inner);
                }
            }
            _ => {}
        }
    }
    found
}

/// The text from the first to the last of the tokens.
pub(super) fn slice<'t>(text: &'t str, tokens: &[Token]) -> &'t str {
    tokens
        .first()
        .zip(tokens.last())
        .and_then(|(first, last)| text.get(first.start..last.end))
        .unwrap_or_default()
}

/// A value without the quotes around it, when it is one text; triple quotes go with the blanks inside of them.
/// Backslashes stay as written.
pub(super) fn unquote(value: &str) -> &str {
    let value = value.trim();
    for quotes in ["\"\"\"", "\""] {
        if let Some(rest) = value.strip_prefix(quotes) {
            return match rest.strip_suffix(quotes) {
                Some(inner) if quotes.len() == 3 => inner.trim(),
                Some(inner) if is_one(inner) => inner,
                None if !rest.contains('"') => rest,
                _ => value,
            };
        }
    }
    value
}

fn is_one(inner: &str) -> bool {
    let mut escaped = false;
    for byte in inner.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return false,
            _ => {}
        }
    }
    true
}
