//! Finds the value that is assigned to a name for secrets, in any notation: `TOKEN=…`, `"password": "…"`, `api_key: …`,
//! `<password>…</password>`, `--token …`, also in JSON inside a JSON string.

use std::ops::Range;

use crate::plausible;
use crate::value_place::ValuePattern;
use crate::words::{Says, says};

/// The longest part of a name on each side of its keyword, in bytes.
const NAME: usize = 64;

/// The length in bytes above which a rejected value is skipped, without a search for secrets inside the value.
const LONG: usize = 512;

/// Returns the value of the name that contains the keyword, if the value can be a secret. The error is the end of a
/// long value that is rejected.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Result<Option<Range<usize>>, usize> {
    let Some((name, says)) = named(text, keyword) else {
        return Ok(None);
    };
    let place = ValuePattern::after(text, name.clone());
    let Some((place, value)) =
        place.and_then(|place| place.value(text).map(|value| (place, value)))
    else {
        return Ok(None);
    };
    let (name, whole) = (&text[name], &text[value.clone()]);
    let fits = match says {
        Says::Password => password(name, whole, &place),
        Says::Token => token(name, whole, &place),
    };
    match fits {
        true => Ok(Some(value)),
        false if whole.len() > LONG => Err(value.end),
        false => Ok(None),
    }
}

/// Returns the whole name around a keyword, if it is a name for secrets.
fn named(text: &str, keyword: Range<usize>) -> Option<(Range<usize>, Says)> {
    let bytes = text.as_bytes();
    let in_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let before = bytes[..keyword.start].iter().rev().take(NAME + 1);
    let behind = bytes[keyword.end..].iter().take(NAME + 1);
    let (left, right) = (
        before.take_while(in_name).count(),
        behind.take_while(in_name).count(),
    );
    let (mut start, end) = (keyword.start - left, keyword.end + right);
    if left > NAME || right > NAME {
        return None;
    }
    // In JSON inside a JSON string, the `n` of the escape `\n` is not part of the name.
    if start > 0
        && bytes[start - 1] == b'\\'
        && matches!(bytes[start], b'n' | b't' | b'r')
        && start < keyword.start
    {
        start += 1;
    }
    Some((start..end, says(&text[start..end])?))
}

/// Returns whether a value can be a password.
fn password(name: &str, value: &str, place: &ValuePattern) -> bool {
    if plausible::placeholder(value)
        || value.len() < 4
        || value.starts_with('/')
        || place.quote.is_none() && code(value)
    {
        return false;
    }
    if place.pair && (shouted(value) || !signs(value)) {
        return false;
    }
    let varied = value.bytes().any(|b| !b.is_ascii_lowercase());
    let phrase = name.to_ascii_lowercase().contains("passphrase");
    match place.quote {
        _ if value.bytes().any(|b| matches!(b, b' ' | b'\t')) && !phrase => false,
        // A quoted word of eight letters can be a password. A word with `_`, `-` or `.` is an identifier or a
        // translation key.
        Some(_) => {
            let word = value
                .bytes()
                .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b' '));
            if word {
                phrase
                    || value.len() >= 8
                        && !value.contains(['_', '-', '.', ' '])
                        && !describes_secret(value)
            } else {
                varied || value.len() >= 6
            }
        }
        None if value.contains(['(', '[', '{', '$']) => false,
        None if place.element => varied || value.len() >= 6,
        None => value.len() >= 6 && (signs(value) || place.tight && jumbled(value)) && !path(value),
    }
}

/// Returns whether a value can be a token, a key or another random secret.
fn token(name: &str, value: &str, place: &ValuePattern) -> bool {
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
    // The name `auth` also occurs with settings, so its value must be quoted, long and random, as in Docker's
    // config.json.
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
    let written = place.quote.is_none() && code(value);
    plausible::random(value)
        && !written
        && (!identifier || value.len() >= 16 && two_capitals(value))
}

/// Returns whether a value contains something that words lack: a letter with a digit or sign, or frequent changes of
/// case.
fn signs(value: &str) -> bool {
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let sign = value
        .bytes()
        .any(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.'));
    letter && (digit || sign) || plausible::random(value)
}

/// Returns whether an unquoted value is a type, a constant or a pointer in a program.
fn code(value: &str) -> bool {
    value.contains("::") || value.starts_with(['*', '&']) || shouted(value) && value.contains('_')
}

/// Returns whether a value is written like a constant, in capitals.
fn shouted(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns whether a value has small letters and two adjacent capitals, which names of types rarely have.
fn two_capitals(value: &str) -> bool {
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    lower
        && value
            .as_bytes()
            .windows(2)
            .any(|two| two.iter().all(u8::is_ascii_uppercase))
}

/// Returns whether a value has small letters and three adjacent capitals, which identifiers rarely have.
fn jumbled(value: &str) -> bool {
    let lower = value.bytes().any(|b| b.is_ascii_lowercase());
    lower
        && value.len() >= 8
        && value
            .as_bytes()
            .windows(3)
            .any(|three| three.iter().all(u8::is_ascii_uppercase))
}

/// Returns whether a value is a path or a URL, which is not itself a secret.
fn path(value: &str) -> bool {
    value.contains("://")
        || value.starts_with(['/', '~', '.'])
        || value.split('/').count() > 2
            && value
                .split('/')
                .all(|part| part.len() < 16 && !part.bytes().any(|b| b.is_ascii_uppercase()))
}

/// Returns whether a word describes a secret instead of being one, such as `passwordHash`.
fn describes_secret(value: &str) -> bool {
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
