//! Finds the parts of a line in its tokens: words, the colon, the left side of `=`.

use super::lex::{Tok, Token};
use super::properties::slice;

/// The tokens of a line, or of its right side.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineTokens<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
}

impl<'t> LineTokens<'t> {
    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn tok(&self, at: usize) -> Option<Tok> {
        self.tokens.get(at).map(|token| token.tok)
    }

    pub(super) fn is(&self, at: usize, tok: Tok) -> bool {
        self.tok(at) == Some(tok)
    }

    pub(super) fn slice(&self, at: usize) -> &'t str {
        self.tokens
            .get(at)
            .and_then(|token| self.text.get(token.start..token.end))
            .unwrap_or_default()
    }

    pub(super) fn word(&self, at: usize) -> Option<&'t str> {
        self.is(at, Tok::Word).then(|| self.slice(at))
    }

    pub(super) fn from(&self, at: usize) -> LineTokens<'t> {
        LineTokens {
            text: self.text,
            tokens: self.tokens.get(at..).unwrap_or_default(),
        }
    }

    /// Whether a statement's head ends before the token with this index: the token is a colon, or does not exist.
    pub(super) fn ends_at(&self, at: usize) -> bool {
        matches!(self.tok(at), None | Some(Tok::Colon))
    }

    /// Returns the index of the first token of this kind outside of brackets.
    pub(super) fn top(&self, tok: Tok) -> Option<usize> {
        self.tokens
            .iter()
            .position(|token| token.tok == tok && token.depth == 0)
    }

    /// Returns the index of the `=` in `x = …`, `x.y = …`, `x[0] = …`, `{ a, b } = …`; the left side begins at `at`.
    pub(super) fn left_of_equals(&self, at: usize) -> Option<usize> {
        let rest = self.from(at);
        let equals = rest.top(Tok::Equals)?;
        let simple = match rest.tok(0)? {
            Tok::Word => equals == 1 || matches!(rest.tok(1), Some(Tok::Open)),
            Tok::Open => true,
            _ => false,
        };
        // A declaration with a type: `let x: type = …`.
        let typed = at == 1 && rest.is(1, Tok::Colon) && equals <= 8;
        let called = rest.word(0).is_some_and(|word| {
            equals != 1 && matches!(word, "parallel" | "loop" | "session" | "exec" | "do")
        });
        ((simple || typed) && !called).then_some(at + equals)
    }

    /// Returns the index of a word outside of brackets.
    pub(super) fn find_word(&self, word: &str) -> Option<usize> {
        (0..self.len()).find(|at| {
            self.tokens.get(*at).is_some_and(|token| token.depth == 0)
                && self.word(*at) == Some(word)
        })
    }

    pub(super) fn after_word(&self, word: &str) -> Option<&'t str> {
        self.find_word(word).and_then(|at| self.word(at + 1))
    }

    /// Returns the text from token `at` up to the colon, the options in brackets, or the final `as x`.
    pub(super) fn until_colon(&self, at: usize) -> &'t str {
        let mut to = at;
        while let Some(token) = self.tokens.get(to) {
            let stop = token.depth == 0
                && match token.tok {
                    Tok::Colon => true,
                    Tok::Open => to > at && self.slice(to) == "(" && self.is(to + 2, Tok::Colon),
                    Tok::Word => {
                        self.slice(to) == "as"
                            && matches!(self.tok(to + 2), None | Some(Tok::Colon | Tok::Open))
                    }
                    _ => false,
                };
            if stop {
                break;
            }
            to += 1;
        }
        slice(self.text, self.tokens.get(at..to).unwrap_or_default())
    }
}

/// Returns the key of a property line `key: …`.
pub(super) fn property_key<'t>(line: LineTokens<'t>) -> Option<&'t str> {
    if !line.is(1, Tok::Colon) {
        return None;
    }
    match line.tok(0)? {
        Tok::Word => line.word(0),
        Tok::Str => Some(line.slice(0).trim_matches(['"', '\''])),
        _ => None,
    }
}
