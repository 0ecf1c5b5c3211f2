//! Decides whether a value can be a secret or is a placeholder.

use serde::Deserialize;

use crate::names::is_mark;
use crate::words::{WORDS, has};

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
    let varied = digits >= 1 && letters >= 1 && (digits >= 2 || mixed(value));
    varied || jumbled(value) || gibberish(value)
}

/// Returns whether a value is a row of letters that nobody can pronounce: few vowels, many consonants in a row, or
/// capitals at every other place. Some services make such passwords.
pub(crate) fn gibberish(value: &str) -> bool {
    let vowel = |b: u8| b"aeiouy".contains(&b);
    let consonants = value.as_bytes().split(|b| vowel(*b)).map(<[u8]>::len);
    let lower = value.to_ascii_lowercase();
    let vowels = lower.bytes().filter(|b| vowel(*b)).count();
    let length = value.len();
    if !value.bytes().all(|b| b.is_ascii_alphabetic()) || value == value.to_ascii_uppercase() {
        return false;
    }
    if value == lower {
        return length >= 14 && (vowels * 4 <= length || consonants.max() >= Some(6));
    }
    let turns = turns(value);
    length >= 9
        && (turns * 5 >= length * 3 || turns >= 4 && vowels * 5 <= length || vowels * 6 <= length)
}

/// Returns whether the value contains a run id or another name with a date and a time: `20260301-100000`.
fn dated(value: &str) -> bool {
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    value.as_bytes().windows(15).any(|part| {
        part.starts_with(b"20") && digits(&part[..8]) && part[8] == b'-' && digits(&part[9..])
    })
}

/// Returns whether people write this value in place of a secret, such as `$TOKEN`, `changeme`, `<token>` or `****`.
pub(crate) fn placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let masked = lower.starts_with("...")
        || ["***", "…", "••", "xxxxxx"]
            .iter()
            .any(|of| lower.contains(of));
    let ordinary = || has("ordinary", &lower) || has("foreign", &lower);
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    // A long word shows an example also inside of another word, as in `AKIAIOSFODNN7EXAMPLE`.
    let mut example = || {
        WORDS["example"]
            .iter()
            .any(|of| of.len() > 6 && lower.contains(of.as_str()))
            || words.any(|word| WORDS["example"].iter().any(|of| word == of))
            || lower.starts_with("your")
    };
    distinct(value) < 3
        || is_mark(value)
        || masked
        || ordinary()
        || example()
        || reference(value, &lower)
}

/// Returns whether a value says where the secret is: `$NAME`, `${…}`, `{{…}}`, `<…>`, `%NAME%`, `process.env.NAME`,
/// `vault:…`, `!Ref`, `:name`. A password that only begins with such a sign, as `$7up&Bq`, is no reference.
fn reference(value: &str, lower: &str) -> bool {
    let of_name = |b: u8| b.is_ascii_alphanumeric() || b"_.:->[]()'\"/?".contains(&b);
    let named = |rest: &str| {
        let first = rest.bytes().next();
        first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && rest.bytes().all(of_name)
            && !mixed(rest)
    };
    match value.as_bytes() {
        [b'(', .., b')'] | [b'%', .., b'%'] | [b'[', .., b']'] => return true,
        // Jenkins writes what it encrypted in braces.
        [b'{', .., b'}'] => return value.len() < 24 || !mixed(value),
        [b'<' | b'{' | b'[' | b'|' | b'`', ..] if !mixed(value) => return true,
        [b'<', .., b'>'] | [b'%', b'(' | b'{', ..] | [b'%' | b'$', _] => {
            return true;
        }
        [b'$' | b'@' | b'&' | b':' | b'!' | b'*', ..] if named(&value[1..]) => return true,
        _ => {}
    }
    ["${", "{{", "$(", "<%"].iter().any(|of| value.contains(of))
        || WORDS["reference"]
            .iter()
            .any(|of| lower.starts_with(of.as_str()))
}

/// Returns whether small letters, capitals and digits alternate as in no name or word.
pub(crate) fn jumbled(value: &str) -> bool {
    turns(value) * 3 >= value.len()
}

/// Returns whether small letters, capitals and digits alternate as in a random text.
pub(crate) fn mixed(value: &str) -> bool {
    turns(value) * 4 >= value.len()
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
