//! Values that are assigned to a name that says secret, in any notation: `TOKEN=…`, `"password": "…"`, `api_key: …`,
//! `<password>…</password>`, `--token …`, also in JSON in JSON.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;
use crate::rule::Rule;
use crate::words::{Says, says};

pub(super) const RULES: &[Rule] = &[
    Rule::code(
        "secret",
        "Values of names that say secret: TOKEN=…, \"password\": \"…\", api_key: …, --token …",
        &["password", "passwd", "pwd", "passphrase", "passcode", "_pass", "secret", "token", "key", "credential", "creds", "auth"],
        assigned,
        ["MY_SERVICE_TOKEN=⟦{A:30}⟧", "{\"user\": \"x\", \"password\": \"⟦{p:14}⟧\"}"],
        ["max_tokens = 4096", "{\"password\": \"<your password>\", \"token\": process.env.TOKEN}"],
    ),
    Rule::place(
        "told-secret",
        "Passwords and keys that a sentence tells: the password is …",
        &["password is", "passphrase is", "token is", "api key is", "secret is", "password:", "api key:", "access key:", "secret key:"],
        r#"(?i)(?:password|passphrase|token|api key|access key|secret key|secret)(?: is:?|:) {1,2}[`"']?([^\s`"'<>\[\]{}()]{7,200}[^\s`"'<>\[\]{}().,;:?])"#,
        ["The password is ⟦{A:14}⟧, please log in.", "API key: `⟦{A:32}⟧`"],
        ["The password is required.", "The token is stored in the keychain"],
    )
    .check(told),
];

/// How long a name, and what stands between it and its value, may be.
const NAME: usize = 64;
/// The longest value, in bytes.
const VALUE: usize = 8 << 10;

/// Finds the value of the name that the keyword is a part of.
fn assigned(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let in_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let left = bytes[..keyword.start]
        .iter()
        .rev()
        .take(NAME + 1)
        .take_while(in_name)
        .count();
    let right = bytes[keyword.end..]
        .iter()
        .take(NAME + 1)
        .take_while(in_name)
        .count();
    let (mut start, end) = (keyword.start - left, keyword.end + right);
    if left > NAME || right > NAME {
        return None;
    }
    // In JSON in JSON, the n of an escaped line break is no part of the name.
    if start > 0
        && bytes[start - 1] == b'\\'
        && matches!(bytes[start], b'n' | b't' | b'r')
        && start < keyword.start
    {
        start += 1;
    }
    let name = &text[start..end];
    let says = says(name)?;
    let place = Place::after(text, start..end)?;
    let value = place.value(text)?;
    let whole = &text[value.clone()];
    let fits = match says {
        Says::Password => password(name, whole, &place),
        Says::Token => token(name, whole, &place),
    };
    fits.then_some(value)
}

/// Where a value begins, and how its end is known.
struct Place {
    at: usize,
    /// The quote around it, and how many backslashes stand before the quote.
    quote: Option<(u8, usize)>,
    /// A value of an element ends at a tag.
    element: bool,
    /// `NAME=value` without blanks, as in environments, URLs and connection strings.
    tight: bool,
    /// `--name value`.
    option: bool,
    /// `"name", "value"`.
    pair: bool,
}

impl Place {
    fn after(text: &str, name: Range<usize>) -> Option<Place> {
        let bytes = text.as_bytes();
        let before = name.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let mut at = name.end;
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
        let blanks = |mut at: usize| {
            let from = at;
            while at - from < 32 && matches!(byte(at), b' ' | b'\t') {
                at += 1;
            }
            at
        };
        if before == b'<' && byte(at) == b'>' {
            return Some(Place {
                at: at + 1,
                quote: None,
                element: true,
                tight: false,
                option: false,
                pair: false,
            });
        }
        while byte(at) == b'\\' && at - name.end < 8 {
            at += 1;
        }
        let closed = matches!(byte(at), b'"' | b'\'' | b'`');
        if closed {
            at += 1;
            if byte(at) == b']' {
                at += 1;
            }
        } else {
            at = name.end;
        }
        let sign = blanks(at);
        let option = text[name.clone()].starts_with("--");
        let (mut tight, mut pair) = (false, false);
        let mut value = sign;
        if closed && text[sign..].starts_with("value=") {
            value += 6;
        } else {
            match (byte(sign), byte(sign + 1)) {
                (b'=', b'=') => return None,
                (b'=', b'>') | (b':' | b'?', b'=') => value += 2,
                (b'=', _) => {
                    tight = sign == name.end;
                    value += 1;
                }
                (b':', b':') => return None,
                (b':', _) => value += 1,
                // A pair, as in `("TOKEN", "…")`: what is only listed side by side is told apart by the value.
                (b',', _) if closed && matches!(before, b'"' | b'\'') => {
                    value += 1;
                    pair = true;
                }
                _ if option && !closed && sign > at => {}
                _ => return None,
            }
        }
        let begin = blanks(value);
        tight &= begin == value;
        let mut open = begin;
        // Python's and Rust's letters before a quote.
        if matches!(byte(open), b'b' | b'r' | b'u' | b'f') && matches!(byte(open + 1), b'"' | b'\'')
        {
            open += 1;
        }
        let mut slashes = 0;
        while byte(open + slashes) == b'\\' && slashes < 8 {
            slashes += 1;
        }
        let quote = byte(open + slashes);
        if matches!(quote, b'"' | b'\'' | b'`') {
            return Some(Place {
                at: open + slashes + 1,
                quote: Some((quote, slashes)),
                element: false,
                tight,
                option,
                pair,
            });
        }
        Some(Place {
            at: begin,
            quote: None,
            element: false,
            tight,
            option,
            pair,
        })
    }

    fn value(&self, text: &str) -> Option<Range<usize>> {
        let window = &text.as_bytes()[self.at..floor(text, self.at + VALUE)];
        let length = match self.quote {
            Some((quote, slashes)) => quoted(window, quote, slashes)?,
            None if self.element => window.iter().position(|b| matches!(b, b'<' | b'\n'))?,
            None => window
                .iter()
                .position(|b| {
                    b.is_ascii_whitespace()
                        || matches!(
                            b,
                            b'"' | b'\''
                                | b'`'
                                | b'<'
                                | b'>'
                                | b','
                                | b';'
                                | b'&'
                                | b')'
                                | b'}'
                                | b']'
                                | b'\\'
                        )
                })
                .unwrap_or(window.len()),
        };
        let mut value = &text[self.at..self.at + length];
        if self.quote.is_none() {
            // The end of a sentence is no part of a value.
            value = value.trim_end_matches(['.', ':', '!', '?', '|']);
        }
        (!value.is_empty()).then(|| self.at..self.at + value.len())
    }
}

/// The length of a quoted value. A value that does not end on its line is none.
fn quoted(window: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut at = 0;
    while at < window.len() {
        match window[at] {
            b'\n' => return None,
            byte if byte == quote && slashes == 0 => return Some(at),
            b'\\' => {
                let run = window[at..].iter().take_while(|b| **b == b'\\').count();
                let next = window.get(at + run).copied();
                if slashes > 0 && next == Some(quote) && run <= slashes {
                    return Some(at);
                }
                at += if slashes == 0 {
                    2 * run.div_ceil(2)
                } else {
                    run + 1
                };
            }
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Whether a value can be a password.
fn password(name: &str, value: &str, place: &Place) -> bool {
    let shouted = value
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if plausible::placeholder(value)
        || value.len() < 4
        || value.starts_with('/')
        || place.pair && (shouted || !signs(value))
    {
        return false;
    }
    let varied = value.bytes().any(|b| !b.is_ascii_lowercase());
    let phrase = name.to_ascii_lowercase().contains("passphrase");
    match place.quote {
        _ if value.bytes().any(|b| matches!(b, b' ' | b'\t')) && !phrase => false,
        // A quoted word of eight letters can be a password; an identifier, a key of a form or of a translation is none.
        Some(_) => {
            let word = value
                .bytes()
                .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b' '));
            if word {
                phrase || value.len() >= 8 && !value.contains(['_', '-', '.', ' ']) && !said(value)
            } else {
                varied || value.len() >= 6
            }
        }
        None if value.contains(['(', '[', '{', '$']) => false,
        None if place.element => varied || value.len() >= 6,
        None => value.len() >= 6 && (signs(value) || place.tight && jumbled(value)) && !path(value),
    }
}

/// Whether a value can be a token, a key, a secret.
fn token(name: &str, value: &str, place: &Place) -> bool {
    let long = if place.quote.is_some() || place.tight {
        8
    } else {
        12
    };
    if value.len() < long
        || value.bytes().any(|b| b.is_ascii_whitespace())
        || path(value)
        || value.contains(['(', '[', '{'])
    {
        return false;
    }
    // `auth` alone is a secret only where it is base64, as in Docker's config.json.
    if name.trim_matches(['-', '_']).eq_ignore_ascii_case("auth") {
        return place.quote.is_some() && value.len() >= 16 && plausible::random(value);
    }
    let identifier = value
        .bytes()
        .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.'));
    let dotted = value.contains('.')
        && value.split('.').all(|part| {
            part.len() < 24 && part.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        });
    if dotted && place.quote.is_none() && !place.tight {
        return false;
    }
    if place.option && identifier {
        return false;
    }
    plausible::random(value) && (!identifier || value.len() >= 16)
}

/// Whether a value has what no word has: a digit and a letter, or signs, or capitals inside.
fn signs(value: &str) -> bool {
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let sign = value
        .bytes()
        .any(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.'));
    letter && (digit || sign) || plausible::random(value)
}

/// Whether capitals and small letters stand as in no identifier: three capitals in a row beside small letters.
fn jumbled(value: &str) -> bool {
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    lower
        && value.len() >= 8
        && value
            .as_bytes()
            .windows(3)
            .any(|three| three.iter().all(u8::is_ascii_uppercase))
}

/// Whether a value is a path or a URL without a secret of its own.
fn path(value: &str) -> bool {
    value.contains("://")
        || value.starts_with(['/', '~', '.'])
        || value.split('/').count() > 2
            && value
                .split('/')
                .all(|part| part.len() < 16 && !part.bytes().any(|b| b.is_ascii_uppercase()))
}

/// Whether a word is one that describes a secret instead of being one.
fn said(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    [
        "password",
        "secret",
        "token",
        "string",
        "text",
        "hash",
        "field",
        "input",
        "valid",
        "error",
        "require",
        "confirm",
        "credential",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// What a sentence tells is a secret only where it is no word.
fn told(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    !plausible::placeholder(value)
        && !path(value)
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && plausible::random(value)
}
