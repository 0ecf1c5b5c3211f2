//! Finds a value alone on a line below its name: below a heading, a label, or a head of a form.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;

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
    if !(heading || form || label) {
        return None;
    }
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
