//! Parses the values of statement properties.
//!
//! | written | text | value |
//! |---|---|---|
//! | `retry: 3`, `(max: 5)` | `3`, `5` | [`ValueType::Number`] |
//! | `timeout: 2h30m`, `timeout: "4h"` | `2h30m`, `4h` | [`ValueType::Duration`], in seconds |
//! | `prompt: "Say \"hi\""`, `"""…"""`, `\|` and lines below | `Say "hi"` | [`ValueType::Text`] |
//! | `if **all tests pass**:`, `if ***` … `***:` | `all tests pass` | [`ValueType::Condition`] |
//! | `skills: ["a", "b"]`, `context: { a, b }`, `- a` lines | as written | [`ValueType::List`] |
//! | `persist: true` | `true` | [`ValueType::Flag`] |
//! | `model: opus`, `backoff: exponential` | `opus` | [`ValueType::Word`] |
//! | `permissions:`, `on-reject:` with lines below | empty | [`ValueType::Nothing`] |
//! | `on_reject: throw "No"`, `depth - 1` | as written | [`ValueType::Raw`] |

use super::lex::{Tok, Token, tokens_of_text};
use crate::model::timeout::Timeout;

/// A property of a statement: in its head, in brackets or braces after the head, or on the lines below.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The name as written; a property inside another property has both names joined by a dot (`permissions.bash`).
    /// Values of a head that have no name in the program get one of the names `condition`, `check` (`until`, `while`),
    /// `strategy`, `count`, `as`, `each`, `index`, `in`, `params`, `args`, `op`, `label`, `command`, `message`,
    /// `description`.
    pub name: String,
    /// The value as text. A quoted text is without quotes, escapes and common indentation; a condition is without
    /// asterisks, and on one line unless it is a prompt; other values are as written.
    pub text: String,
    /// The value's type and data.
    pub value: ValueType,
    /// The line on which the property begins, from 1.
    pub line: u32,
}

/// The type of a property's value.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueType {
    /// The value is empty, because the property's content is on the lines below.
    Nothing,
    /// A text in quotes.
    Text,
    /// A condition in `**…**` or `***…***`.
    Condition,
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A duration in the notation of programs (see [`crate::model::timeout`]), in seconds.
    Duration(u64),
    /// A list, with its entries without quotes.
    List(Vec<String>),
    /// A single word: a name, a model, a strategy.
    Word,
    /// Any other value: an action, an expression, an object.
    Raw,
}

impl ValueType {
    /// Returns the type's name: `text`, `condition`, `number`, `flag`, `duration`, `list`, `word`, `raw`; empty for
    /// [`ValueType::Nothing`].
    pub fn word(&self) -> &'static str {
        match self {
            ValueType::Nothing => "",
            ValueType::Text => "text",
            ValueType::Condition => "condition",
            ValueType::Number(_) => "number",
            ValueType::Flag(_) => "flag",
            ValueType::Duration(_) => "duration",
            ValueType::List(_) => "list",
            ValueType::Word => "word",
            ValueType::Raw => "raw",
        }
    }
}

impl Property {
    /// Parses a property.
    pub(super) fn read(name: &str, raw: &str, line: u32) -> Property {
        // A value that begins on the line after the property has its own indentation.
        let below = raw.starts_with('\n').then(|| dedent(raw));
        let (text, value) = value(name, below.as_deref().unwrap_or(raw).trim());
        Property {
            name: name.to_owned(),
            text,
            value,
            line,
        }
    }
}

/// Whether two property names are equal; `-` and `_` are equivalent, because programs use both.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .all(|(a, b)| a == b || (matches!(a, b'_' | b'-') && matches!(b, b'_' | b'-')))
}

fn value(name: &str, raw: &str) -> (String, ValueType) {
    if raw.is_empty() {
        return (String::new(), ValueType::Nothing);
    }
    if let Some(end) = raw.find('\n')
        && let (mark, below) = raw.split_at(end)
        && is_block_mark(mark)
    {
        return (dedent(below), ValueType::Text);
    }
    // A triple-quoted text, such as a prompt about programs, may contain other triple-quoted texts.
    if raw.len() > 6 && raw.starts_with("\"\"\"") && raw.ends_with("\"\"\"") && raw.contains('\n') {
        return (text_of(raw), ValueType::Text);
    }
    if let Some(entries) = dashes(raw) {
        return (raw.to_owned(), ValueType::List(entries));
    }
    let tokens = tokens_of_text(raw);
    match tokens.as_slice() {
        [one] if one.tok == Tok::Str => {
            let text = text_of(raw);
            let value = quoted(name, &text);
            (text, value)
        }
        [one] if one.tok == Tok::Cond => {
            let inner = raw.trim_matches('*');
            // A prompt in asterisks is a question to a user. It may have paragraphs, so its line breaks are kept.
            let text = if same_name(name, "prompt") {
                dedent(inner)
            } else {
                inner.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            (text, ValueType::Condition)
        }
        [open, inner @ .., close]
            if open.tok == Tok::Open
                && close.tok == Tok::Close
                && inner.iter().all(|token| token.depth > open.depth) =>
        {
            let object = raw.starts_with('{');
            // In `max: {attempts}`, the braces are a placeholder for a number, not a list.
            let list = entries(raw, inner, object).filter(|_| !(object && is_numeric(name)));
            let value = list.map_or(ValueType::Raw, ValueType::List);
            (raw.to_owned(), value)
        }
        _ => (raw.to_owned(), bare(raw, &tokens)),
    }
}

/// Whether a value is `|` or `>`, which begin a text on the lines below.
pub(super) fn is_block_mark(text: &str) -> bool {
    matches!(text.trim(), "|" | ">" | "|-" | ">-")
}

/// Whether properties with that name are numbers.
fn is_numeric(name: &str) -> bool {
    const NUMBERS: [&str; 12] = [
        "max",
        "count",
        "retry",
        "retries",
        "max-depth",
        "max-iterations",
        "max-tokens",
        "max-turns",
        "max-retries",
        "concurrency",
        "limit",
        "temperature",
    ];
    NUMBERS.iter().any(|known| same_name(known, name))
}

fn quoted(name: &str, text: &str) -> ValueType {
    const DURATIONS: [&str; 5] = ["timeout", "deadline", "delay", "interval", "wait"];
    let lasts = DURATIONS.iter().any(|known| same_name(known, name));
    let number = number(text).filter(|_| is_numeric(name));
    let duration = Timeout::parse(text).ok().filter(|_| lasts);
    match (number, duration) {
        (Some(number), _) => ValueType::Number(number),
        (_, Some(timeout)) => ValueType::Duration(timeout.seconds()),
        _ => ValueType::Text,
    }
}

fn bare(raw: &str, tokens: &[Token]) -> ValueType {
    if let Some(number) = number(raw) {
        return ValueType::Number(number);
    }
    match (raw, tokens) {
        ("true", _) => ValueType::Flag(true),
        ("false", _) => ValueType::Flag(false),
        (_, [one]) if one.tok == Tok::Word => match Timeout::parse(raw) {
            Ok(timeout) => ValueType::Duration(timeout.seconds()),
            Err(_) => ValueType::Word,
        },
        _ => ValueType::Raw,
    }
}

fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (plain && digits.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
}

/// Returns the entries between brackets; `None` for an object with values (`{ file: x }`).
pub(super) fn entries(text: &str, inner: &[Token], object: bool) -> Option<Vec<String>> {
    let Some(depth) = inner.first().map(|token| token.depth) else {
        return Some(Vec::new());
    };
    let comma = |token: &Token| token.tok == Tok::Comma && token.depth == depth;
    let mut found = Vec::new();
    for entry in inner.split(comma).filter(|entry| !entry.is_empty()) {
        if object && entry.len() > 1 {
            return None;
        }
        found.push(text_of(super::properties::slice(text, entry)));
    }
    Some(found)
}

/// Returns the entries of a list written as lines that all begin with `- `; otherwise `None`.
fn dashes(raw: &str) -> Option<Vec<String>> {
    raw.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let entry = line.strip_prefix('-')?;
            (entry.is_empty() || entry.starts_with([' ', '\t'])).then(|| text_of(entry))
        })
        .collect()
}

/// Returns a quoted text without quotes and common indentation, with escapes resolved. Other text is only trimmed.
/// The closing quote may be missing.
pub(super) fn text_of(raw: &str) -> String {
    let raw = raw.trim();
    match inside_quotes(raw) {
        Some((inner, _)) if raw.starts_with("\"\"\"") => unescape(&dedent(inner)),
        Some((inner, _)) => unescape(inner),
        None => raw.to_owned(),
    }
}

/// Returns the text inside quotes, and whether the closing quote exists; `None` without an opening quote.
pub(super) fn inside_quotes(raw: &str) -> Option<(&str, bool)> {
    for (open, close) in [("\"\"\"", "\"\"\""), ("\"", "\""), ("'", "'"), ("“", "”")] {
        if let Some(rest) = raw.strip_prefix(open) {
            let closed = rest
                .strip_suffix(close)
                .filter(|inner| !ends_escaped(inner));
            return Some((closed.unwrap_or(rest), closed.is_some()));
        }
    }
    None
}

/// Whether a text ends with an unescaped backslash.
fn ends_escaped(text: &str) -> bool {
    text.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// Replaces the escapes `\n`, `\t`, `\"`, `\'`, `\\`, `\{` and `\}` with their characters. Other backslashes are kept.
fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            out.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(sign @ ('"' | '\\' | '{' | '}' | '\'')) => out.push(sign),
            Some(other) => out.extend(['\\', other]),
            None => {}
        }
    }
    out
}

/// Removes the common indentation of a text's lines and the blanks around it. The first line follows an opening
/// quote, so its indentation does not count.
fn dedent(text: &str) -> String {
    let text = text.trim_end();
    let Some((first, rest)) = text.split_once('\n') else {
        return text.trim().to_owned();
    };
    let blanks = |line: &str| line.len() - line.trim_start().len();
    let shared = rest
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(blanks)
        .min()
        .unwrap_or(0);
    let mut out = String::with_capacity(text.len());
    out.push_str(first.trim());
    for line in rest.lines() {
        out.push('\n');
        out.push_str(line.get(shared..).unwrap_or_default().trim_end());
    }
    out.trim_start_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_types() {
        use ValueType as V;
        let list = |entries: &[&str]| V::List(entries.iter().map(|e| (*e).to_owned()).collect());
        for (name, raw, text, value) in [
            ("prompt", "\"Say \\\"hi\\\"\"", "Say \"hi\"", V::Text),
            (
                "prompt",
                "\"a\\n\\tb\\\\ \\{x} \\d\"",
                "a\n\tb\\ {x} \\d",
                V::Text,
            ),
            ("prompt", "'single'", "single", V::Text),
            ("prompt", "“curly”", "curly", V::Text),
            ("prompt", "\"open", "open", V::Text),
            ("prompt", "\"ends in \\\"", "ends in \"", V::Text),
            ("prompt", "\"\"", "", V::Text),
            (
                "prompt",
                "\"\"\"\n    Two\n      lines\n\n    # no comment\n  \"\"\"",
                "Two\n  lines\n\n# no comment",
                V::Text,
            ),
            (
                "prompt",
                "\"\"\"One\n    two\n  three\"\"\"",
                "One\n  two\nthree",
                V::Text,
            ),
            ("prompt", "|\n    a\n      b: c\n", "a\n  b: c", V::Text),
            ("condition", "**it is:  done**", "it is: done", V::Condition),
            (
                "condition",
                "***\n  all pass\n  and more\n***",
                "all pass and more",
                V::Condition,
            ),
            (
                "condition",
                "**x** or depth <= 0",
                "**x** or depth <= 0",
                V::Raw,
            ),
            ("max", "5", "5", V::Number(5.0)),
            ("max", "\"5\"", "5", V::Number(5.0)),
            ("label", "\"5\"", "5", V::Text),
            ("temperature", "0.7", "0.7", V::Number(0.7)),
            ("offset", "-1", "-1", V::Number(-1.0)),
            ("version", "1.2.3", "1.2.3", V::Word),
            ("x", "inf", "inf", V::Word),
            ("timeout", "120s", "120s", V::Duration(120)),
            ("timeout", "\"2h30m\"", "2h30m", V::Duration(9000)),
            ("timeout", "\"soon\"", "soon", V::Text),
            ("timeout", "30m2h", "30m2h", V::Word),
            ("persist", "true", "true", V::Flag(true)),
            ("persist", "project", "project", V::Word),
            (
                "skills",
                "[\"a\", 'b', c]",
                "[\"a\", 'b', c]",
                list(&["a", "b", "c"]),
            ),
            (
                "skills",
                "[\n  \"a, b\",  # c\n  \"d\",\n]",
                "[\n  \"a, b\",  # c\n  \"d\",\n]",
                list(&["a, b", "d"]),
            ),
            ("context", "{ a, b }", "{ a, b }", list(&["a", "b"])),
            ("context", "[]", "[]", list(&[])),
            ("context", "{ file: x }", "{ file: x }", V::Raw),
            ("context", "[a] + [b]", "[a] + [b]", V::Raw),
            (
                "context",
                "- a\n- \"b c\"",
                "- a\n- \"b c\"",
                list(&["a", "b c"]),
            ),
            ("context", "-1 - 2", "-1 - 2", V::Raw),
            ("on_reject", "throw \"No\"", "throw \"No\"", V::Raw),
            ("permissions", "", "", V::Nothing),
        ] {
            let property = Property::read(name, raw, 1);
            assert_eq!(property.text, text, "{name}: {raw}");
            assert_eq!(property.value, value, "{name}: {raw}");
        }
    }
}
