//! Normalizes texts of rows and statements for comparison.

use super::StatementKind as Kind;
use super::head::StatementHead;
use super::lex::{Tok, Token, tokens_of_line};
use super::scan::by_first_word;
use super::value::{inside_quotes, text_of};
use crate::model::text::clip;

/// Maximum bytes of a line that are compared.
pub(super) const LIMIT: usize = 600;

/// A normalized text: blanks, case, quotes, comments and the final punctuation do not matter.
#[derive(Debug, Default)]
pub(super) struct NormalizedText<'t> {
    /// The first line as written; `tokens` contains the tokens of this line.
    line: &'t str,
    tokens: Vec<Token>,
    /// The first line, normalized.
    pub(super) canonical: String,
    /// All lines, normalized; empty if only the first line was requested.
    pub(super) whole: String,
    /// The part of the first line after `x =`, or after the colon of a head such as `if **x**:`; normalized.
    pub(super) right: Option<String>,
    /// Whether the text was cut off, because it ends in dots or an open quote.
    pub(super) cut: bool,
    /// Whether the text ends with a colon.
    pub(super) colon: bool,
    /// Whether the name in the text is complete, because other text follows the name.
    pub(super) named: bool,
    /// Whether the text consists of a name alone.
    pub(super) lone: bool,
    pub(super) kind: Option<Kind>,
    pub(super) name: Option<String>,
    pub(super) target: Option<String>,
    pub(super) arguments: Option<String>,
    /// The name of the branch: `a` for `parallel:a`.
    pub(super) branch: Option<String>,
}

impl<'t> NormalizedText<'t> {
    pub(super) fn of_many_lines(text: &'t str) -> NormalizedText<'t> {
        let mut lines = lines_of(text);
        let mut row = NormalizedText::new(lines.next().unwrap_or_default());
        row.whole.clone_from(&row.canonical);
        for line in lines.take(40) {
            append(&mut row.whole, line);
        }
        row
    }

    pub(super) fn new(line: &'t str) -> NormalizedText<'t> {
        let line = clip(line.trim(), LIMIT);
        let tokens = tokens_of_line(line);
        let head = StatementHead::read(line, &tokens);
        let (canonical, cut) = canonical(line, &tokens);
        let right = right_of(&tokens, &head);
        let kind = match head.kind() {
            Kind::Other => by_first_word(line),
            kind => kind,
        };
        let lower = |text: &String| text.to_lowercase();
        let mut row = NormalizedText {
            line,
            tokens: Vec::new(),
            whole: String::new(),
            right: right.map(|tokens| self::canonical(line, tokens).0),
            canonical,
            cut,
            colon: tokens.last().is_some_and(|token| token.tok == Tok::Colon),
            named: right.is_some() && head.assigns || !head.assigns && tokens.len() > 2,
            lone: false,
            // `let x` alone does not show the kind of statement whose value is bound.
            kind: (kind != Kind::Other && (right.is_some() || !head.assigns)).then_some(kind),
            name: head.name.as_ref().map(lower),
            target: head.target.as_ref().map(lower),
            arguments: None,
            branch: None,
        };
        let arguments = head.properties.0.iter().find(|p| p.name == "args");
        row.arguments = arguments.map(|args| args.text.to_lowercase());
        row.loosely(line, &tokens);
        row.tokens = tokens;
        row
    }

    /// Recognises shapes that occur in rows but not in programs, such as a call without its keyword.
    fn loosely(&mut self, line: &str, tokens: &[Token]) {
        let slice = |token: &Token| line.get(token.start..token.end).unwrap_or_default();
        let words: Vec<(Tok, &str)> = tokens.iter().map(|t| (t.tok, slice(t))).collect();
        let name = |word: &str| Some(word.to_lowercase());
        match words.as_slice() {
            [
                (_, "parallel"),
                (Tok::Colon, _),
                (Tok::Word, branch),
                rest @ ..,
            ]
            | [
                (_, "branch"),
                (Tok::Colon, _),
                (Tok::Word, branch),
                rest @ ..,
            ]
            | [(_, "branch"), (Tok::Word, branch), rest @ ..]
                if matches!(rest, [] | [(Tok::Colon | Tok::Op, _), ..]) =>
            {
                self.branch = name(branch);
            }
            [(Tok::Word, word)] if self.kind.is_none() => {
                self.name = name(word);
                self.lone = true;
            }
            // A call without its keyword: `process(half)`.
            [(Tok::Word, word), (Tok::Open, "("), ..]
                if matches!(self.kind, None | Some(Kind::Call)) =>
            {
                self.target = name(word);
                let inside = line.split_once('(').map(|(_, rest)| rest.trim_end());
                self.arguments = inside
                    .and_then(|rest| rest.strip_suffix(')'))
                    .map(str::to_lowercase);
            }
            _ => {}
        }
    }

    /// Returns the quoted texts and conditions of the first line.
    pub(super) fn quoted(&self) -> Vec<String> {
        quoted(self.line, &self.tokens, self.cut)
    }

    /// Whether the text consists of a keyword alone.
    pub(super) fn is_keyword(&self) -> bool {
        self.kind.is_some() && !self.canonical.contains(' ')
    }
}

/// Returns the lines of a row's text that are neither blank nor comments.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    clip(text, LIMIT * 4).lines().filter(has_content)
}

/// Returns the quoted texts and conditions of a line.
pub(super) fn quoted_in(line: &str) -> Vec<String> {
    let line = clip(line.trim(), LIMIT);
    let tokens = tokens_of_line(line);
    let (_, cut) = canonical(line, &tokens);
    quoted(line, &tokens, cut)
}

fn quoted(line: &str, tokens: &[Token], cut: bool) -> Vec<String> {
    tokens
        .iter()
        .filter(|token| matches!(token.tok, Tok::Str | Tok::Cond))
        .map(|token| {
            let mut text = inner_text(line.get(token.start..token.end).unwrap_or_default());
            if cut {
                text.truncate(text.trim_end_matches(['.', '…']).len());
            }
            text
        })
        .collect()
}

/// Returns the part after `x =`, otherwise the part after the colon of a head (`if **x**: throw`).
fn right_of<'t>(tokens: &'t [Token], head: &StatementHead) -> Option<&'t [Token]> {
    let top = |tok: Tok| tokens.iter().position(|t| t.tok == tok && t.depth == 0);
    if head.assigns {
        let equals = tokens.iter().position(|token| token.tok == Tok::Equals)?;
        return tokens.get(equals + 1..);
    }
    let colon = top(Tok::Colon).filter(|_| head.kind().has_body())?;
    tokens.get(colon + 1..).filter(|rest| !rest.is_empty())
}

/// Joins tokens with single blanks, in lower case, and with one `"` on each side of a text. Removes a colon or dots at
/// the end. Also returns whether the text was cut off.
fn canonical(text: &str, tokens: &[Token]) -> (String, bool) {
    let slice = |token: &Token| text.get(token.start..token.end).unwrap_or_default();
    let dots = |token: &Token| token.tok == Tok::Op && matches!(slice(token), "." | "…");
    let mut tokens = tokens;
    let mut cut = false;
    while let Some((last, rest)) = tokens.split_last() {
        // Dots, an open quote or a dash at the end show that the text was cut off.
        if dots(last) || matches!(slice(last), "\"" | "-") {
            cut = true;
        } else if last.tok != Tok::Colon && slice(last) != "{" {
            break;
        }
        tokens = rest;
    }
    let mut out = String::with_capacity(text.len() + tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        let mut own = slice(token);
        if token.tok == Tok::Cond && at + 1 == tokens.len() {
            let inner = own.trim_end_matches(['*', '"']);
            let open = inner.len() + 1 >= own.len();
            if open || inner.ends_with("...") || inner.ends_with('…') {
                cut = true;
                own = inner.trim_end_matches(['.', '…']);
            }
        }
        if token.tok != Tok::Str {
            own.split_whitespace()
                .for_each(|word| push_lower(&mut out, word));
            continue;
        }
        out.push('"');
        let (inner, closed) = inside_quotes(own).unwrap_or((own, true));
        let dots = inner.ends_with("...") || inner.ends_with('…');
        if at + 1 == tokens.len() && (!closed || dots) {
            cut = true;
            let inner = inner.trim_end_matches(['.', '…']);
            // In an open quote, a backslash at the end is half of an escape that was cut off.
            out.push_str(&inner_text(&format!("\"{inner}")));
        } else {
            out.push_str(&inner_text(own));
            out.push('"');
        }
    }
    (out, cut)
}

/// Returns the words of a text or a condition without quotes or asterisks around them, blanks collapsed, in lower
/// case.
pub(super) fn inner_text(text: &str) -> String {
    let text = text_of(text);
    let text = text.trim_matches('*');
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        push_lower(&mut out, word);
    }
    out
}

/// Appends a word in lower case, character by character.
fn push_lower(out: &mut String, word: &str) {
    let from = out.len();
    if word.is_ascii() {
        out.push_str(word);
        if let Some(own) = out.get_mut(from..) {
            own.make_ascii_lowercase();
        }
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
}

pub(super) fn append(whole: &mut String, line: &str) {
    let line = clip(line.trim(), LIMIT);
    let (more, _) = canonical(line, &tokens_of_line(line));
    if !more.is_empty() {
        whole.push(' ');
        whole.push_str(&more);
    }
}
