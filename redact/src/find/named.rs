//! Finds the value beside its name: `{"name": "X-Api-Key", "value": "…"}`, `- name: DB_PASSWORD` above `value: …`,
//! `<name>…</name><value>…</value>`, `"db_password": {"value": "…"}`.

use std::ops::Range;

use super::assignment::{fits, name};
use crate::hit::floor;
use crate::plausible;
use crate::value_place::ValuePattern;
use crate::words::{has, says};

/// The most bytes between a value and its name.
const APART: usize = 400;

/// Parts of the names of cookies and other values that hold a session.
const SESSIONS: [&str; 5] = ["session", "sess_", "remember", "logged_in", "jwt"];

/// Returns the value whose key contains the keyword, if a name beside it says that the value is secret.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let (key, place, value) = field(text, keyword, "pair_value")?;
    let said = &text[value.clone()];
    if said.len() < 4 || plausible::placeholder(said) {
        return None;
    }
    let accepted = |name: Range<usize>| {
        let written = &text[name.clone()];
        let lower = written.to_ascii_lowercase();
        let part = |of: &&str| lower.contains(of);
        let listed = has("pair_secret", written) || SESSIONS.iter().any(part);
        let secret = |says| fits(text, name.clone(), says, value.clone(), &place);
        says(written).is_some_and(secret) || listed && said.len() >= 16 && plausible::random(said)
    };
    let from = floor(text, key.start.saturating_sub(APART));
    let before = &text[from..key.start];
    let open = before.rfind(['{', '}']).map_or(0, |at| at + 1);
    // An item of a list in YAML begins with a dash; a blank line and the end of an element end an object, too.
    const ENDS: [&str; 5] = ["\n\n", "\n- ", " - ", "</property>", "<add "];
    let item = ENDS
        .iter()
        .filter_map(|of| before.rfind(of))
        .max()
        .unwrap_or(0);
    let behind = &text[value.end..floor(text, value.end + APART)];
    let ends = ENDS
        .iter()
        .chain(&["}", "{"])
        .filter_map(|of| behind.find(of));
    let end = value.end + ends.min().unwrap_or(behind.len());
    let mut beside =
        names(text, from + open.max(item)..key.start).chain(names(text, value.end..end));
    // A cookie has flags beside its name and value.
    let object = &text[from + open.max(item)..end];
    let call = &before[..open.min(before.len())];
    let flag = ["ttpOnly", "ameSite", "hostOnly", "HTTP_ONLY"]
        .iter()
        .any(|of| object.contains(of));
    let set = ["etCookie", "ddCookie", "cookies.set", "cookies.add"]
        .iter()
        .any(|of| call.contains(of));
    let cookie = said.len() >= 16 && (flag || set);
    if cookie && plausible::random(said) || beside.any(&accepted) {
        return Some(value);
    }
    // `"db_password": {"value": "…"}`, `variable "db_password" { default = "…" }`
    let outer = before[..open].strip_suffix('{')?;
    let outer = outer.trim_end_matches([' ', ':', '=', '"', '\'', '\\']);
    let word = outer.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
    let length = word.map(str::len).next()?;
    accepted(from + outer.len() - length..from + outer.len()).then_some(value)
}

/// Returns the values of the keys of names in a part of the text.
fn names(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let signs = part
        .clone()
        .filter(|at| matches!(bytes[*at], b':' | b'=' | b'>'));
    signs.filter_map(move |sign| {
        let before = text[part.start..sign].trim_end_matches([' ', '"', '\'', '\\']);
        let end = part.start + before.len();
        let (_, _, name) = field(text, end.checked_sub(1)?..end, "pair_name")?;
        (name.end <= part.end).then_some(name)
    })
}

/// Returns the key around a position, the place of its value, and the value, if the key is one of a list.
fn field(
    text: &str,
    at: Range<usize>,
    keys: &str,
) -> Option<(Range<usize>, ValuePattern, Range<usize>)> {
    if !text.is_char_boundary(at.start) || !text.is_char_boundary(at.end) {
        return None;
    }
    let key = name(text, at)?;
    if !has(keys, &text[key.clone()]) {
        return None;
    }
    let place = ValuePattern::after(text, key.clone())?;
    let value = place.value(text)?;
    Some((key, place, value))
}
