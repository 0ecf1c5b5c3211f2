//! Finds a value alone on a line below its name: below a heading, a label, or a head of a form.

use std::ops::Range;

use super::assignment::signs;
use crate::hit::floor;
use crate::plausible;
use crate::words::has;

/// The longest line that can announce a value, and the longest value, in bytes.
const LINE: usize = 160;

/// Returns the text of the next line that is not blank or a fence, if the line with the keyword ends in a way that
/// announces a value, and the next line is one random word.
pub(super) fn value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let behind = &text[keyword.end..floor(text, keyword.end + LINE)];
    let (rest, _) = behind.split_once('\n')?;
    let head = rest.trim_end();
    let from = floor(text, keyword.start.saturating_sub(LINE));
    let before = text[from..keyword.start].rsplit('\n').next()?;
    let heading = before.starts_with('#') && head.len() < 24;
    let form = head == "\"" && before.contains("form-data;");
    let bold = before.starts_with("**") && head.ends_with("**");
    let label = bold || head.trim_end_matches('*').ends_with(':');
    // An interpreter or a shell shows the value of an expression on the next line.
    let closed = head.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let closed = closed.len() < 4 && closed.bytes().all(|b| b"\"')]}".contains(&b));
    let shell = ["echo $", "echo \"$", "echo ${", "printenv ", "> $env:"];
    let echo = closed && shell.iter().any(|of| before.contains(of));
    let shown = closed && before.contains(['.', '[', '>', '$']);
    let lower = before.to_ascii_lowercase();
    let given = head.is_empty()
        && ["here", "hier", "voici", "aquí"]
            .iter()
            .any(|of| lower.contains(of));
    if !(heading || form || label || shown || given) {
        return None;
    }
    let shown = shown && !given;
    let mut at = keyword.end + rest.len() + 1;
    for _ in 0..4 {
        let line = text[at..floor(text, at + LINE)].split('\n').next()?;
        let word = line.trim_start_matches([' ', '>']).trim().trim_matches('`');
        if word.is_empty() || line.starts_with("```") {
            at += line.len() + 1;
            text.get(at..)?;
            continue;
        }
        let start = at + line.find(word)?;
        if shown && !echo && !heading {
            return quoted(word).map(|inside| start + inside.start..start + inside.end);
        }
        if has("told_login", &text[keyword]) {
            return login(word).map(|of| start + word.len() - of.len()..start + word.len());
        }
        let usable = word.len() >= 8
            && !word.contains(char::is_whitespace)
            && !word.contains("://")
            && !word.starts_with(['/', '-', '#', '<', '{', '['])
            && !word.ends_with([':', '{', ';', ',', '('])
            && plausible::random(word)
            && plausible::mixed(word);
        return usable.then(|| start..start + word.len());
    }
    None
}

/// Returns the range of the random text in quotes that an interpreter shows: `'…'`, `=> "…"`.
fn quoted(line: &str) -> Option<Range<usize>> {
    let bare = line.strip_prefix("=> ").unwrap_or(line);
    let quote = bare.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = bare.strip_prefix(quote)?.strip_suffix(quote)?;
    let dense = inside.len() >= 8 && !inside.contains([' ', quote]);
    let start = line.len() - bare.len() + 1;
    (dense && plausible::random(inside)).then_some(start..start + inside.len())
}

/// Returns the password of a line that has only a user's name and a password: `admin:…`, `admin / …`.
fn login(line: &str) -> Option<&str> {
    let (user, password) = line.split_once([':', '/'])?;
    let (user, password) = (user.trim(), password.trim());
    let name = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let fits = !user.is_empty() && user.chars().all(name) && password.len() >= 6;
    let dense = !password.contains([' ', '/', '(', '=', '<']);
    (fits && dense && signs(password) && !plausible::placeholder(password)).then_some(password)
}
