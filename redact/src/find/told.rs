//! Finds a password or key in a sentence that speaks of it: "the password is …", "log in with password `…`",
//! "creds: me / …", "use … as the password".

use std::ops::Range;

use super::assignment::{capitals, path, signs};
use crate::hit::floor;
use crate::plausible;
use crate::words::has;

/// The longest part of a sentence that is read on each side of the keyword, in bytes.
const PART: usize = 120;
/// What stands around a word and is not part of a password.
const AROUND: &str = "\"'`„“”‚‘’«»*()[],.;:!?。，、；";

/// Returns the word of the keyword's sentence that can only be a password or key. Directly behind the keyword, a colon,
/// or a word such as "is", less is asked of it.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let in_name = |c: char| c.is_alphanumeric() || "_-/.$".contains(c);
    let follows = |c: char| !c.is_ascii() || " \t:=*\"'`,<|)?".contains(c);
    let before = &text[floor(text, keyword.start.saturating_sub(PART))..keyword.start];
    let behind = &text[keyword.end..floor(text, keyword.end + PART)];
    // Some languages decline the keyword: `lösenordet`. Those without blanks between words continue at once.
    let declined = if keyword.len() > 5 { 3 } else { 0 };
    let ending = behind.chars().take_while(|c| c.is_lowercase());
    let ending = ending.take(declined).map(char::len_utf8).sum::<usize>();
    let rest = &behind[ending..];
    let word = &text[keyword.clone()];
    // A German word can be the end of a longer one: `Root-Kennwort`, `Benutzerpasswort`.
    let foreign = has("foreign", word);
    let within = |c: char| in_name(c) && !(foreign && (c.is_alphabetic() || c == '-'));
    let inside_name = before.ends_with(within) && word.is_ascii();
    if inside_name || !(rest.is_empty() || rest.starts_with(follows)) {
        return None;
    }
    let login = has("told_login", word);
    let of_password = foreign || has("password", word) || word.ends_with(" with");
    if of_password && let Some(phrase) = phrase_before(before) {
        return Some(
            keyword.start - before.len() + phrase.start..keyword.start - before.len() + phrase.end,
        );
    }
    let start = keyword.end + ending;
    let line = rest.split('\n').next()?;
    let mut direct = !login;
    let (mut announced, mut listed) = (word.ends_with(" with"), false);
    for word in words(line).take(12) {
        let bare = word.trim_matches('*').split('<').next()?;
        let mut range = inside(line, word);
        let user = range
            .clone()
            .find(|at| b"/:".contains(&line.as_bytes()[*at]));
        if login && let Some(at) = user.filter(|at| at - range.start < 24) {
            (range.start, direct) = (at + 1, true);
        }
        let quoted = keyword.len() <= 3
            || line[..range.start].ends_with(['"', '\'', '`', '„', '“', '«', '(']);
        let said = &line[range.clone()];
        let chosen = announced && of_password && chosen(said)
            || listed && !of_password && bare_token(said, &line[..range.start])
            || keyword.len() == 2 && line.trim() == said && said.matches('-').count() > 1
            || announced && of_password && joined(said, quoted);
        if direct && likely(said, quoted) || chosen || certain(said) {
            return Some(start + range.start..start + range.end);
        }
        if bare.ends_with(['.', ';']) {
            break;
        }
        direct = bare.ends_with([':', '=']) || has("told_by", bare);
        (announced, listed) = (direct, bare.ends_with(','));
    }
    // The sentence up to the keyword: "use … as the password".
    let line = before.rsplit(['\n', ';']).next()?;
    let line = line.rsplit(". ").next()?;
    let from = keyword.start - line.len();
    let range = words(line).map(|word| inside(line, word));
    let found = range
        .rev()
        .take(8)
        .find(|range| certain(&line[range.clone()]))?;
    Some(from + found.start..from + found.end)
}

fn words(line: &str) -> impl DoubleEndedIterator<Item = &str> {
    line.split([' ', '\t']).filter(|word| !word.is_empty())
}

/// Returns the range of a word in its line, without the signs around it. What is in marks of code ends with them.
fn inside(line: &str, word: &str) -> Range<usize> {
    let at = word.as_ptr() as usize - line.as_ptr() as usize;
    let bare = word.trim_start_matches(|c: char| AROUND.contains(c) || !c.is_ascii());
    let start = at + word.len() - bare.len();
    let length = match bare.find(['`', '"', '”', '“']) {
        Some(length) => length,
        None => bare
            .trim_end_matches(|c: char| AROUND.contains(c) || !c.is_ascii())
            .len(),
    };
    start..start + length
}

/// Returns whether a word can be a secret where one is announced: no name of a type, a function or a constant.
fn likely(word: &str, quoted: bool) -> bool {
    let bytes = word.as_bytes();
    // Most words of a sentence end here.
    if word.len() < if quoted { 6 } else { 8 } || !bytes.iter().any(u8::is_ascii_alphabetic) {
        return false;
    }
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    // Names of models, hosts, files and versions have signs and digits, too: `claude-3-5-sonnet`, `node-v20`.
    let of_name = if quoted { &b"_"[..] } else { b"_-./" };
    let name = bytes
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || of_name.contains(b));
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = |of: &str| of.bytes().all(|b| b.is_ascii_lowercase());
    let stem = bare
        .strip_suffix('-')
        .filter(|_| digits >= 4)
        .unwrap_or(bare);
    let numbered = digits >= 2 && stem.len() >= 5 && lower(stem.get(1..).unwrap_or_default());
    let random = || {
        plausible::random(word) && (digits > 0 || capitals(word, 2) || plausible::gibberish(word))
    };
    let reference = path(word) || word.contains("::") || word.starts_with(['#', '@', '&']);
    !reference
        && !word.contains(['(', '{', '}', '=', '\'', '<', '['])
        && (!name
            || numbered
            || plausible::gibberish(word)
            || plausible::mixed(word) && (digits > 1 || !word.contains('_')))
        && !plausible::placeholder(word)
        && (random() || quoted && digits > 0 && signs(word))
}

/// Returns whether a word is a password that somebody chose, of words, digits and signs, and no name of a method or
/// version, if a sentence says "the password is …".
fn chosen(word: &str) -> bool {
    const METHODS: [&str; 9] = [
        "sha", "aes", "hmac", "md5", "rfc", "utf", "base64", "version", "rsa",
    ];
    let bytes = word.as_bytes();
    if word.len() < 8 {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let capital = bytes.iter().skip(1).any(u8::is_ascii_uppercase);
    let vowels = lower.bytes().filter(|b| b"aeiouy".contains(b)).count();
    let of_words = word.contains('-')
        && (word.ends_with(|c: char| c.is_ascii_digit()) && digits >= 2 || capital && digits >= 1);
    let signed = digits >= 1 && word.contains(['*', '!', '?', '%', '$', '&', '+', '~', '^', '#']);
    let jumbled =
        letters == word.len() && letters >= 12 && plausible::jumbled(word) && vowels * 4 <= letters;
    letters >= 4
        && (of_words || signed || jumbled)
        && !path(word)
        && !word.contains([
            '/', '(', ')', '{', '}', '=', '\'', '<', '>', '[', ':', '@', ',',
        ])
        && !METHODS.iter().any(|of| lower.contains(of))
        && !plausible::placeholder(word)
}

/// Returns whether a word is a password of small words with hyphens between them: three in quotes, or else four.
fn joined(word: &str, quoted: bool) -> bool {
    let hyphens = word.matches('-').count();
    hyphens >= if quoted { 2 } else { 3 }
        && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && !word.starts_with("end-to")
        && !plausible::placeholder(word)
}

/// Returns whether a word is a token of small letters and digits behind a comma, and the sentence before it speaks of
/// no commit or checksum.
fn bare_token(word: &str, before: &str) -> bool {
    const OTHER: [&str; 7] = [
        "commit", "sha", "hash", "digest", "checksum", "revision", " id",
    ];
    let small = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.len() >= 20
        && word.as_bytes().iter().all(small)
        && digits >= 3
        && plausible::random(word)
        && !OTHER.iter().any(|of| before.contains(of))
}

/// Returns the range of the words of "use … as the passphrase" in the text before the keyword.
fn phrase_before(before: &str) -> Option<Range<usize>> {
    const AS: [&str; 8] = [
        " as the ",
        " as my ",
        " as your ",
        " as ",
        " als ",
        " comme ",
        " como ",
        " come ",
    ];
    const USE: [&str; 9] = [
        "use ",
        "using ",
        "enter ",
        "type ",
        "Use ",
        "nimm ",
        "verwende ",
        "utilise ",
        "usa ",
    ];
    let line = AS.iter().find_map(|of| before.strip_suffix(of))?;
    let start = USE
        .iter()
        .filter_map(|of| Some(line.rfind(of)? + of.len()))
        .max()?;
    let bare = line[start..].trim_matches(|c: char| AROUND.contains(c));
    let small = |word: &str| word.len() >= 3 && word.bytes().all(|b| b.is_ascii_lowercase());
    let phrase = (3..9).contains(&bare.split(' ').count()) && bare.split(' ').all(small);
    let start = start + line[start..].find(bare)?;
    phrase.then_some(start..start + bare.len())
}

/// Returns whether a word is no word of any language, and no name, path, hash or number.
fn certain(word: &str) -> bool {
    let bytes = word.as_bytes();
    if word.len() < 10 {
        return false;
    }
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let plain = bytes
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"!@#$%^&*+=".contains(b));
    let upper = bytes.iter().any(u8::is_ascii_uppercase);
    let lower = bytes.iter().any(u8::is_ascii_lowercase);
    let varied = upper && lower && digits > 0;
    varied && plain && plausible::jumbled(word) && likely(word, false)
}
