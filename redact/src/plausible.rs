//! Decides whether a value can be a secret or is a placeholder.

use serde::Deserialize;

use crate::names::is_mark;

/// Words that examples contain in place of a secret.
const PLACEHOLDERS: [&str; 24] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "your-",
    "your_",
    "yourpass",
    "yourtoken",
    "yourkey",
    "my-secret",
    "my_secret",
    "mysecret",
    "dummy",
    "insert",
    "replace",
    "not-a-real",
    "fake",
    "xxxx",
    "****",
    "....",
    "todo",
    "<secret",
];

/// Words that are never a secret when they are the whole value.
const ORDINARY: [&str; 34] = [
    "password",
    "passwd",
    "pass",
    "pw",
    "pwd",
    "secret",
    "token",
    "string",
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "hidden",
    "masked",
    "default",
    "prompt",
    "test",
    "user",
    "username",
    "postgres",
    "root",
    "admin",
    "guest",
    "empty",
    "unset",
    "missing",
    "invalid",
    "unknown",
    "bearer",
    "basic",
    "password123",
];

/// How plausible the match of a pattern must be. `rules.toml` names the checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlausibilityCheck {
    /// Rejects a token that looks like an example: few different characters, `EXAMPLE`, `xxxxxx`, a replacement.
    #[default]
    Token,
    /// Rejects a placeholder: for places where a secret is expected.
    Value,
    Random,
    Any,
}

impl PlausibilityCheck {
    pub(crate) fn accepts(self, value: &str) -> bool {
        match self {
            PlausibilityCheck::Token => {
                distinct(value) >= 8
                    && !value.contains("EXAMPLE")
                    && !value.to_ascii_lowercase().contains("xxxxxx")
                    && !is_mark(value)
            }
            PlausibilityCheck::Value => !placeholder(value),
            // A `!` can end a sentence.
            PlausibilityCheck::Random => random(value.trim_end_matches('!')),
            PlausibilityCheck::Any => true,
        }
    }
}

/// Accepts a value that looks random: its characters often change between small letters, capitals and digits.
pub(crate) fn random(value: &str) -> bool {
    if placeholder(value)
        || distinct(value) < 6
        || value.contains("0123456789")
        || value.contains("abcdefghij")
        || dated(value)
    {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    (digits >= 1 && letters >= 1 && (digits >= 2 || turns(value) * 4 >= value.len()))
        || turns(value) * 3 >= value.len()
}

/// Returns whether the value contains a run id or another name with a date and a time: `20260301-100000`.
fn dated(value: &str) -> bool {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    value.as_bytes().windows(15).any(|part| {
        part.starts_with(b"20") && digits(&part[..8]) && part[8] == b'-' && digits(&part[9..])
    })
}

/// Returns whether people write this value in place of a secret, such as `$TOKEN` or `changeme`.
pub(crate) fn placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let first = value.bytes().next().unwrap_or(b' ');
    is_mark(value)
        || matches!(
            first,
            b'$' | b'<' | b'{' | b'[' | b'(' | b'%' | b'@' | b'&' | b'|' | b'`'
        )
        || value.starts_with("...")
        || value.contains("${")
        || value.contains("{{")
        || value.contains("…")
        || value.contains("$(")
        || distinct(value) < 3
        || ORDINARY.contains(&lower.as_str())
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || [
            "env.", "env[", "environ", "getenv", "config.", "self.", "this.", "process.",
            "secrets.", "vault:", "var.",
        ]
        .iter()
        .any(|source| {
            lower.starts_with(source) || lower.starts_with("os.") && lower.contains(source)
        })
}

/// Returns the number of different bytes in a value.
pub(crate) fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    value
        .bytes()
        .filter(|byte| !std::mem::replace(&mut seen[usize::from(*byte)], true))
        .count()
}

/// Counts the changes between small letters, capitals and digits. Random texts change at about every second character,
/// words and names at every fifth. A sign between words does not count.
fn turns(value: &str) -> usize {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let turn = |a: u8, b: u8| a != b && a < 3 && b < 3;
    value
        .as_bytes()
        .windows(2)
        .filter(|two| turn(class(two[0]), class(two[1])))
        .count()
}
