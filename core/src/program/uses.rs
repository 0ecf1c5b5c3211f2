//! Determines the names that a statement uses, and the names that it provides to the statements inside it.
//!
//! | written | names |
//! |---|---|
//! | `context: { a, b }`, `context: [a, b]`, `context: a` | `a`, `b` |
//! | `do process(part, topic: subject)` | `part`, `subject` |
//! | `for x in pieces:`, `items \| map:` | `pieces`, `items` |
//! | `output report = draft`, `let both = [a, b]` | `draft`, `a`, `b` |
//! | `prompt: "Deploy {version}?"` | `version`, which may not be a name at all |
//!
//! Text in `**…**` is an instruction to a model, so only names in braces count there.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lex::{Tok, Token, tokens_of_text};
use super::{LineRole, Listing, Statement, StatementKind as Kind, ValueType};

/// A name that a statement uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameUse {
    /// The name; for a value of an import, `alias.name`.
    pub name: String,
    /// The first line on which the statement uses the name, from 1.
    pub line: u32,
    /// Whether the text certainly is a name; `{x}` inside a text may also be plain text.
    pub sure: bool,
}

/// The way in which a statement provides a name to the statements inside of it without binding the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProvidedName {
    /// A parameter of a block.
    Parameter,
    /// A loop's variable or counter.
    Counter,
    /// The error that a `catch` handles.
    Error,
    /// The item that a pipe passes to its body.
    Item,
}

impl Listing {
    /// Returns the names used by a statement's own lines, ordered by name; statements inside it are not included.
    pub fn uses(&self, statement: u32) -> Vec<NameUse> {
        let Some(this) = self.get(statement) else {
            return Vec::new();
        };
        let mut found = NameUses::default();
        for property in &this.properties {
            if expects_names(&property.name) && !is_quoted(&property.value) {
                found.expression(&property.text, property.line);
            }
        }
        let right = match this.kind {
            Kind::Assign | Kind::Output | Kind::Pipe | Kind::Arrow => right_side(this),
            _ => None,
        };
        if let Some(text) = right {
            found.expression(text, this.line);
        }
        // The right side of `let both = [` continues on the lines below.
        let open = right.is_some_and(|text| {
            text.trim_start().starts_with(['[', '{']) && !text.trim_end().ends_with([']', '}'])
        });
        for (at, text) in self.own_lines(statement) {
            let goes_on = at > this.line && open;
            let continued = self
                .lines
                .get(at as usize - 1)
                .is_some_and(|l| l.role == LineRole::Continuation);
            if goes_on && continued {
                found.expression(text, at);
            }
            found.braces(text, at);
        }
        found
            .0
            .into_iter()
            .map(|(name, (line, sure))| NameUse { name, line, sure })
            .collect()
    }

    /// Returns the names that enclosing statements provide without binding them: parameters, counters, caught errors,
    /// items. Each name comes with the statement that provides it.
    pub fn given(&self, statement: u32) -> BTreeMap<String, (ProvidedName, u32)> {
        let mut given = BTreeMap::new();
        for around in self.enclosing(statement) {
            let Some(this) = self.get(around) else {
                continue;
            };
            let mut add = |name: &str, how: ProvidedName| {
                given.entry(name.to_owned()).or_insert((how, around));
            };
            for property in &this.properties {
                let how = match (property.name.as_str(), this.kind) {
                    ("params", Kind::Block) => ProvidedName::Parameter,
                    ("params", Kind::Pipe) => ProvidedName::Item,
                    ("as", Kind::Catch) => ProvidedName::Error,
                    ("as" | "each" | "index", _) => ProvidedName::Counter,
                    _ => continue,
                };
                for name in names_in(&property.text) {
                    add(&name, how);
                }
            }
            if this.kind == Kind::Pipe {
                add("item", ProvidedName::Item);
            }
        }
        given
    }

    /// Returns a statement's own lines with their numbers, without comments and without the statements inside it.
    fn own_lines(&self, statement: u32) -> impl Iterator<Item = (u32, &str)> {
        let first = self.get(statement).map_or(1, |s| s.line);
        let end = self.get(statement).map_or(0, |s| s.end);
        let inside = statement
            .checked_add(1)
            .and_then(|next| self.get(next))
            .filter(|next| next.parent == Some(statement))
            .map_or(end, |next| next.line.saturating_sub(1));
        (first..=inside.max(first)).filter_map(move |at| {
            let line = self.lines.get(at.checked_sub(1)? as usize)?;
            let own = line.statement == Some(statement)
                && matches!(
                    line.role,
                    LineRole::Statement | LineRole::Property | LineRole::Continuation
                );
            own.then_some((at, line.text.as_str()))
        })
    }
}

/// Returns the names in braces in a text: `a` and `b.c` for `Say {a} and {b.c}`.
pub fn names_in_text(text: &str) -> Vec<String> {
    let (_, names) = fill(text, |_| None);
    names
}

/// The names found, each with its first line and whether any of its uses certainly is a name.
#[derive(Default)]
struct NameUses(BTreeMap<String, (u32, bool)>);

impl NameUses {
    fn add(&mut self, name: &str, line: u32, sure: bool) {
        let known = self.0.entry(name.to_owned()).or_insert((line, sure));
        known.1 |= sure;
        known.0 = known.0.min(line);
    }

    fn expression(&mut self, text: &str, line: u32) {
        for name in names_in(text) {
            self.add(&name, line, true);
        }
    }

    fn braces(&mut self, text: &str, line: u32) {
        for (_, name) in in_braces(text) {
            self.add(name, line, false);
        }
    }
}

/// Returns `{name}` and `{alias.name}` with their byte ranges; `${x}`, `\{x}` and `{{x}}` are not names.
fn in_braces(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')) {
        let start = at + open;
        let skipped = text.get(at..start).and_then(|t| t.chars().next_back());
        before = skipped.unwrap_or(before);
        at = start + 1;
        let rest = text.get(at..).unwrap_or_default();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        at += end;
        if after.starts_with('}') && !matches!(before, '$' | '\\' | '{' | '#') && is_name(name) {
            found.push((start..at + 1, name));
        }
        before = if name.is_empty() { '{' } else { 'x' };
    }
    found
}

/// Replaces each `{name}` in a text with the result of `value`; inserted texts are not searched again. Also returns the
/// names for which `value` returned `None`, which remain in the text.
pub fn fill(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> (String, Vec<String>) {
    let (mut out, mut open, mut at) = (String::new(), Vec::new(), 0);
    for (place, name) in in_braces(text) {
        out.push_str(text.get(at..place.start).unwrap_or_default());
        match value(name) {
            Some(value) => out.push_str(&value),
            None => {
                out.push_str(text.get(place.clone()).unwrap_or_default());
                open.push(name.to_owned());
            }
        }
        at = place.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    open.sort();
    open.dedup();
    (out, open)
}

/// Whether the property's value is expected to consist of names, unless it is a quoted text.
fn expects_names(property: &str) -> bool {
    matches!(
        property,
        "context" | "inputs" | "in" | "args" | "condition" | "count" | "items" | "evidence"
    )
}

fn is_quoted(value: &ValueType) -> bool {
    matches!(value, ValueType::Text | ValueType::Condition)
}

/// Returns the part of a statement after `x =`; for a pipe, the part before the first `|`.
fn right_side(this: &Statement) -> Option<&str> {
    let tokens = tokens_of_text(&this.text);
    let top = |tok: Tok| tokens.iter().find(|t| t.tok == tok && t.depth == 0);
    let start = match top(Tok::Equals) {
        Some(equals) => equals.end,
        None if this.kind == Kind::Output || this.kind == Kind::Assign => return None,
        None => 0,
    };
    let end = top(Tok::Pipe).map_or(this.text.len(), |pipe| pipe.start);
    this.text.get(start..end.max(start))
}

/// Returns the names in an expression: words that are not keys, calls or keywords.
pub fn names_in(text: &str) -> Vec<String> {
    let tokens = tokens_of_text(text);
    let is = |at: usize, tok: Tok| tokens.get(at).is_some_and(|t| t.tok == tok);
    let slice = |token: &Token| text.get(token.start..token.end).unwrap_or_default();
    let mut names = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = slice(token);
        let key = is(at + 1, Tok::Colon);
        let call = tokens.get(at + 1).is_some_and(|t| slice(t) == "(");
        // In `session: writer`, the word is an agent.
        let target = at > 1
            && is(at - 1, Tok::Colon)
            && tokens
                .get(at - 2)
                .is_some_and(|t| matches!(slice(t), "session" | "resume"));
        if token.tok == Tok::Word && !key && !call && !target && is_name(word) {
            names.push(word.to_owned());
        }
    }
    names
}

/// Whether a word may be the name of a value.
pub(super) fn is_name(word: &str) -> bool {
    const NOT: [&str; 41] = [
        "and", "are", "as", "contains", "do", "each", "else", "equals", "exec", "false", "filter",
        "flatmap", "for", "from", "has", "if", "in", "is", "let", "loop", "map", "matches", "max",
        "none", "not", "null", "of", "or", "output", "parallel", "pfilter", "pmap", "reduce",
        "repeat", "resume", "session", "sort", "true", "until", "while", "with",
    ];
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    word.split('.').all(part) && !NOT.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::scan;

    #[track_caller]
    fn check(program: &str, statement: u32, expected: &str) {
        let found: Vec<String> = scan(program)
            .uses(statement)
            .into_iter()
            .map(|u| match u.sure {
                true => u.name,
                false => format!("{}?", u.name),
            })
            .collect();
        assert_eq!(found.join(" "), expected, "{program}");
    }

    #[test]
    fn names_stand_where_values_are_expected() {
        for (program, names) in [
            (
                "let x = session \"Say {a} and {b.c}, not \\{d} or ${e}\"",
                "a? b.c?",
            ),
            ("session \"x\"\n  context: a", "a"),
            ("session \"x\"\n  context: [a, b.c]", "a b.c"),
            ("session \"x\"\n  context: { a, b }", "a b"),
            ("session \"x\"\n  context: { file: a, b }", "a b"),
            ("session \"x\"\n  context: \"all of it\"", ""),
            ("session \"x\"\n  context: [\n    a,\n    b,\n  ]", "a b"),
            (
                "session: writer\n  prompt: \"\"\"\n    About {a}\n    # {b}\n  \"\"\"\n  context: a",
                "a b?",
            ),
            (
                "do process(part, \"text\", topic: subject, 3)",
                "part subject",
            ),
            ("let r = do process(part)", "part"),
            ("for x in pieces:\n  session \"{y}\"", "pieces"),
            ("parallel for x in [a, b]:\n  session \"z\"", "a b"),
            ("items | map:\n  session \"{item}\"", "items"),
            ("let y = items | filter:\n  session \"{item}\"", "items"),
            ("output report = draft", "draft"),
            ("output report = session \"x\"\n  context: draft", "draft"),
            ("let both = [a, b]", "a b"),
            ("let both = [\n  a,\n  b\n]", "a b"),
            ("const rules = \"\"\"\n  Be kind to {whom}\n\"\"\"", "whom?"),
            ("if kind is \"long\":\n  session \"x\"", "kind"),
            ("let t = \"{a}\"", "a?"),
            ("if **it is ready**:\n  session \"x\"", ""),
            (
                "loop until **{a} is done** (max: 3):\n  session \"x\"",
                "a?",
            ),
            ("if depth <= 0:\n  session \"x\"", "depth"),
            ("repeat times as i:\n  session \"x\"", "times"),
            (
                "approve deploy:\n  prompt: \"Deploy {version}?\"\n  on_reject: throw \"No\"",
                "version?",
            ),
            ("agent a:\n  model: opus\n  prompt: \"You\"", ""),
        ] {
            check(program, 0, names);
        }
    }

    #[test]
    fn what_lies_in_a_statement_has_names_of_its_own() {
        let program = "block p(part, how) (max_depth: 3):\n  try:\n    for x, i in part:\n      session \"{x}\"\n  catch as err:\n    session \"{err}\"\n";
        let listing = scan(program);
        let given = |line: u32| -> Vec<(String, ProvidedName)> {
            let at = listing.statement_at(line).unwrap();
            listing
                .given(at)
                .into_iter()
                .map(|(name, (how, _))| (name, how))
                .collect()
        };
        let of = |name: &str, how| (name.to_owned(), how);
        assert_eq!(
            given(4),
            [
                of("how", ProvidedName::Parameter),
                of("i", ProvidedName::Counter),
                of("part", ProvidedName::Parameter),
                of("x", ProvidedName::Counter)
            ]
        );
        assert_eq!(
            given(6),
            [
                of("err", ProvidedName::Error),
                of("how", ProvidedName::Parameter),
                of("part", ProvidedName::Parameter)
            ]
        );
        assert_eq!(listing.given(0), BTreeMap::new());
    }
}
