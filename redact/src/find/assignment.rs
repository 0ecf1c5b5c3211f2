//! Finds the value that is assigned to a name for secrets, in any notation: `TOKEN=…`, `"password": "…"`, `api_key: …`,
//! `<password>…</password>`, `--token …`, also in JSON inside a JSON string.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;
use crate::value_place::ValuePattern;
use crate::words::{Says, WORDS, says};

/// The longest part of a name on each side of its keyword, in bytes.
const NAME: usize = 64;

/// The length in bytes above which a rejected value is skipped, without a search for secrets inside the value.
const LONG: usize = 512;

/// Adds the value of the name that contains the keyword, if the value can be a secret. Returns the position before which
/// nothing is to be searched again.
pub(super) fn value(text: &str, keyword: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let Some(name) = name(text, keyword) else {
        return 0;
    };
    // Most names that contain a keyword have no value. Whether one follows is quick to see, so it comes first.
    let Some(place) = ValuePattern::after(text, name.clone()) else {
        return 0;
    };
    let Some((name, says)) = named(text, name) else {
        return 0;
    };
    let Some(value) = place.value(text) else {
        return 0;
    };
    let value = match says {
        Says::Password if place.quote.is_none() => phrase(text, name.start, value),
        _ => value,
    };
    let whole = &text[value.clone()];
    if !fits(text, name, says, value.clone(), &place) {
        return if whole.len() > LONG { value.end } else { 0 };
    }
    // A plan of changes shows the old value and the new one: `"…" -> "…"`.
    let new = text[value.end..].strip_prefix("\" -> \"");
    let length = new.and_then(|new| new[..floor(new, LONG)].find(['"', '\n']));
    found.push(value.clone());
    if let Some(length) = length {
        found.push(value.end + 6..value.end + 6 + length);
    }
    value.end
}

/// Returns the whole name around a keyword.
pub(super) fn name(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    // A keyword can end with the sign after the name: `pw:`.
    let sign = |c: char| matches!(c, ':' | '=' | '"' | '\'' | ' ');
    let keyword = keyword.start..keyword.start + text[keyword].trim_end_matches(sign).len();
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
    (start < end).then_some(start..end)
}

/// Returns a name and what the name announces, if it is a name for secrets. A single word such as `key` may need the
/// word before: `API key`.
fn named(text: &str, name: Range<usize>) -> Option<(Range<usize>, Says)> {
    if let Some(says) = says(&text[name.clone()]) {
        return Some((name, says));
    }
    // The first key of an object, which has the name: `encryption: {key: …}`.
    if text[name.clone()].eq_ignore_ascii_case("key") {
        let from = floor(text, name.start.saturating_sub(NAME));
        let outer =
            text[from..name.start].trim_end_matches([' ', '\n', '\r', '\t', '"', '\'', '-']);
        let sign = outer.strip_suffix([':', '{'])?;
        let sign = sign.trim_end_matches([' ', ':', '=', '"', '\'']);
        let word = sign.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
        return Some((name, says(&format!("{word}_key"))?));
    }
    let before = text[..name.start].strip_suffix(' ')?.bytes().rev();
    let length = before
        .take(NAME)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    let start = name.start - 1 - length;
    Some((start..name.end, says(&text[start..name.end])?))
}

/// Returns whether a value can be the secret that its name announces.
pub(super) fn fits(
    text: &str,
    name: Range<usize>,
    says: Says,
    value: Range<usize>,
    place: &ValuePattern,
) -> bool {
    let alone = || alone(text, name.clone(), value.clone(), place);
    let (name, value) = (&text[name.clone()], &text[value.clone()]);
    let dense = !value.bytes().any(|b| b.is_ascii_whitespace());
    match says {
        _ if place.option && !dense => false,
        Says::Password => password(name, value, place, alone),
        Says::Token => token(name, value, place, alone),
        Says::Code => code_of_digits(value),
        Says::Key => {
            let close = place.quote.is_some() || place.tight;
            let base32 = || {
                value
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || (b'2'..b'8').contains(&b))
            };
            let varied = plausible::mixed(value) || base32();
            let long = value.len() >= 16 && varied && !value.contains('.');
            close && long && token(name, value, place, alone)
        }
        Says::Pass => {
            let digits = || value.bytes().all(|b| b.is_ascii_digit());
            let quoted = place.quote.is_some() && (digits() || signs(value));
            let fits = quoted || plausible::random(value) && !code(value);
            value.len() >= 8 && dense && !place.pair && fits && password(name, value, place, alone)
        }
    }
}

/// Returns whether a value can be a password.
fn password(name: &str, value: &str, place: &ValuePattern, alone: impl Fn() -> bool) -> bool {
    let example = plausible::placeholder(value) || value.len() < 4 || path(value);
    let item = place.pair && (shouted(value) || !signs(value));
    let digit = || value.bytes().any(|b| b.is_ascii_digit());
    if example || item || place.quote.is_none() && code(value) && !(digit() && alone()) {
        return false;
    }
    let varied = value.bytes().any(|b| !b.is_ascii_lowercase());
    let phrase = name.to_ascii_lowercase().contains("passphrase");
    let word = value
        .chars()
        .all(|c| c.is_ascii_alphabetic() || "_-. ".contains(c));
    match place.quote {
        _ if value.contains([' ', '\t']) => {
            let words = || sentence(value) || place.quote.is_none() || signs(value) && alone();
            phrase || !place.element && words() && !describes_secret(value)
        }
        // A quoted word of eight letters can be a password. A word with `_`, `-` or `.` is an identifier or a
        // translation key, unless the name is that of a variable of the environment.
        Some(_) if word => {
            // Two hyphens, or one beside a capital, join the words of a password rather than those of an identifier.
            let joined = value.matches('-').count() + usize::from(capital(value)) >= 2;
            let joined = joined && !value.contains(['_', '.', ' ']);
            let long = value.len() >= 8 && (joined || !value.contains(['_', '-', '.']))
                || value.len() >= 6 && alone();
            phrase || long && !describes_secret(value)
        }
        Some(_) => varied || value.len() >= 6,
        None if place.element => varied || value.len() >= 6,
        None if value.len() < 6 => false,
        // Several passwords that are a number are a count of them.
        None if value.bytes().all(|b| b.is_ascii_digit()) => !name.ends_with(['s', 'S']),
        None => {
            let open = value.contains(['(', '[', '{', '$']);
            let random = signs(value) || place.tight && value.len() >= 8 && capitals(value, 3);
            let joined = value.contains('-') && capital(value) && word && value.len() >= 10;
            !open && (random || joined && !describes_secret(value) && !place.option)
                || alone() && (random || !describes_secret(value))
        }
    }
}

/// Returns whether a value can be a token, a key or another random secret.
fn token(name: &str, value: &str, place: &ValuePattern, alone: impl Fn() -> bool) -> bool {
    let close = place.quote.is_some() || place.tight;
    let long = if close { 8 } else { 12 };
    if value.len() < long
        || value.bytes().any(|b| b.is_ascii_whitespace())
        || path(value)
        || value.contains(['(', '[', '{'])
        || plausible::placeholder(value)
    {
        return false;
    }
    // The name `auth` also occurs with settings, so its value must be quoted, long and random, as in Docker's
    // config.json.
    if name.trim_matches(['-', '_']).eq_ignore_ascii_case("auth") {
        let digits = value.bytes().filter(u8::is_ascii_digit).count();
        let varied = !place.option && value.len() >= 24 && digits > 1 && plausible::mixed(value);
        let close = place.quote.is_some() || place.tight && name.starts_with('_') || varied;
        return close && value.len() >= 16 && plausible::random(value);
    }
    let identifier = value
        .bytes()
        .all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.'));
    let dotted = value.contains('.')
        && value.split('.').all(|part| {
            let long = part.len() >= if plausible::mixed(part) { 12 } else { 24 };
            !long && part.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        });
    if dotted && !close || place.option && identifier {
        return false;
    }
    if identifier && value.contains('-') && !describes_secret(value) && alone() {
        return true;
    }
    let written = place.quote.is_none() && code(value);
    plausible::random(value)
        && !written
        && (!identifier || value.len() >= 16 && capitals(value, 2) || plausible::gibberish(value))
}

/// Returns whether the place of a value leaves no doubt that the value is meant literally, so that words count as a
/// secret, too: a variable of the environment (`API_TOKEN=changeme-please`), a line of an ini section, and a line of
/// YAML with many words (`secret: keyboard-dog-left-the-building`).
fn alone(text: &str, name: Range<usize>, value: Range<usize>, place: &ValuePattern) -> bool {
    let (before, behind) = (&text[..name.start], &text[value.end..]);
    let (name, value) = (&text[name], &text[value]);
    let behind = behind[..floor(behind, 32)].trim_start_matches([' ', '\t', '\r', '"', '\'']);
    let ended = behind.is_empty() || behind.starts_with(['\n', '\\', '#']);
    let sign = text[before.len() + name.len()..].trim_start();
    let shout = name.bytes().all(|b| !b.is_ascii_lowercase());
    if place.tight && shout {
        return before.is_empty() || before.ends_with([' ', '\n', '\t', '"', '\'', '+', '-', ';']);
    }
    let recent = &before[floor(before, before.len().saturating_sub(600))..];
    let (above, indent) = recent.rsplit_once('\n').unwrap_or(("", recent));
    let bare = indent.bytes().all(|b| b" \t+-".contains(&b));
    // A line of a file of properties: `spring.datasource.password=…`.
    let dotted = place.tight && !indent.starts_with([' ', '\t']) && indent.ends_with('.');
    if !ended || place.quote.is_some() || !(bare || dotted) {
        return false;
    }
    let section = |line: &str| {
        let line = line.trim_end();
        line.starts_with('[') && line.ends_with(']') && !line.contains(['"', ',', '(', '#'])
    };
    // The line before is one of a file of properties, too: `user=…`.
    let setting = |line: &str| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        let of_key = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        !value.is_empty()
            && key.bytes().all(of_key)
            && !value.contains([' ', '(', ';', '"', '=', '$'])
    };
    match sign.bytes().next() {
        Some(b'=') => {
            dotted
                || above.lines().any(section)
                || place.tight && above.lines().last().is_some_and(setting)
        }
        Some(b':') => shout || value.len() >= 16 && value.matches('-').count() >= 3,
        _ => false,
    }
}

/// Returns a value up to the end of its line, if the line is one of a file of properties, such as
/// `signing.password=two words`, or is nothing but the name and a value with signs: `DB_PASSWORD=a;b"c`.
fn phrase(text: &str, name: usize, value: Range<usize>) -> Range<usize> {
    let before = &text[floor(text, name.saturating_sub(NAME))..name];
    let key = before.rsplit('\n').next().unwrap_or_default();
    let dotted = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let properties = key.ends_with('.') && key.bytes().all(dotted);
    let alone = ["", "export", "-", "-e", "set"].contains(&key.trim());
    let rest = &text[value.end..floor(text, value.end + NAME)];
    let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
    let words = |c: char| c.is_alphanumeric() || " -_!?.+".contains(c);
    let words = properties && rest.starts_with(' ') && rest.chars().all(words);
    let ends = |c: char| ",;({)}]\"'`<>".contains(c);
    let dense =
        alone && !rest.contains([' ', '\t', '=', '(', '{', '[', '$']) && !rest.ends_with(ends);
    value.start
        ..value.end
            + if words || dense {
                rest.trim_end().len()
            } else {
                0
            }
}

/// Returns whether a value is a code that people type: four digits or more, perhaps in groups, or a random one.
pub(super) fn code_of_digits(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let groups = value
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-'));
    let counted = ["1234", "12345", "123456", "12345678"].contains(&value);
    let code = groups && (4..=24).contains(&digits) && plausible::distinct(value) > 1;
    !counted
        && (code || digits >= 3 && value.len() >= 8 && plausible::random(value) && !path(value))
}

/// Returns whether a value is at least three words in small letters.
fn sentence(value: &str) -> bool {
    let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    value.split(' ').count() >= 3 && value.split(' ').all(|word| word.chars().all(small))
}

/// Returns whether a value contains something that words lack: a letter with a digit or sign, or frequent changes of
/// case.
pub(super) fn signs(value: &str) -> bool {
    let letter = value.bytes().any(|b| b.is_ascii_alphabetic());
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let sign = value
        .bytes()
        .any(|b| !b.is_ascii_alphanumeric() && !matches!(b, b'_' | b'-' | b'.'));
    letter && (digit || sign) || plausible::random(value)
}

/// Returns whether an unquoted value is a type, a constant or a pointer in a program.
fn code(value: &str) -> bool {
    let word = value.bytes().all(|b| b.is_ascii_alphabetic());
    let type_name = word
        && value.starts_with(char::is_uppercase)
        && !capitals(value, 2)
        && !plausible::gibberish(value);
    let small = |c: char| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit();
    let function = value.matches('_').count() > 1 && value.chars().all(small);
    value.contains("::") || type_name || function || shouted(value) && value.contains('_')
}

/// Returns whether a value has a capital and small letters.
fn capital(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_uppercase()) && value.bytes().any(|b| b.is_ascii_lowercase())
}

/// Returns whether a value is written like a constant, in capitals.
fn shouted(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns whether a value has small letters and this number of adjacent capitals. Names of types rarely have two,
/// other identifiers rarely three.
pub(super) fn capitals(value: &str, number: usize) -> bool {
    let mut adjacent = value.as_bytes().windows(number);
    value.bytes().any(|b| b.is_ascii_lowercase())
        && adjacent.any(|all| all.iter().all(u8::is_ascii_uppercase))
}

/// Returns whether a value is a path or a URL, which is not itself a secret. A random text with slashes is base64.
pub(super) fn path(value: &str) -> bool {
    let random = |part: &str| part.len() >= 8 && plausible::random(part) && plausible::mixed(part);
    let parts = || value.split('/');
    value.contains("://")
        || value.starts_with(['/', '~', '.']) && !parts().any(random)
        || parts().count() > 2
            && parts().all(|part| part.len() < 16 && !part.bytes().any(|b| b.is_ascii_uppercase()))
}

/// Returns whether a word describes a secret instead of being one, such as `passwordHash`.
fn describes_secret(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    WORDS["describing"]
        .iter()
        .any(|word| lower.contains(word.as_str()))
}
