//! Hits: the places in a text to replace, and the text with its hits replaced.

use std::ops::Range;

use crate::rule::RuleKind;

/// One place in one text to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The range of bytes to replace.
    pub range: Range<usize>,
    /// The id of the rule that found the hit; `exact` for an exact value, `pattern` for a user's pattern.
    pub rule: String,
    /// Whether the hit is a secret or personal data.
    pub kind: RuleKind,
    /// The secret's name in the whole file, without brackets: `github-token #1`.
    pub name: String,
    /// The form of an exact value at this place: `plain`, `base64`, …
    pub form: &'static str,
}

impl Hit {
    /// Returns the replacement: `[github-token #1]`.
    pub fn replacement(&self) -> String {
        format!("[{}]", self.name)
    }
}

/// Returns the text with each hit replaced. The number of lines stays the same: line breaks of a hit follow its
/// replacement, each with the indentation of the next line.
///
/// Expects the hits of one scan of this text, in order, without the hits that the user keeps.
pub fn replace(text: &str, hits: &[Hit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        // A caller can pass the hits of another text by mistake: ranges that do not fit are skipped instead of
        // causing a panic.
        let (Some(before), Some(secret)) =
            (text.get(at..hit.range.start), text.get(hit.range.clone()))
        else {
            continue;
        };
        out.push_str(before);
        out.push_str(&hit.replacement());
        breaks(secret, &mut out);
        at = hit.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Writes the line breaks of a secret, each with the blanks that follow it.
fn breaks(secret: &str, out: &mut String) {
    let mut blank = false;
    for c in secret.chars() {
        match c {
            '\r' | '\n' => blank = true,
            ' ' | '\t' if blank => {}
            _ => {
                blank = false;
                continue;
            }
        }
        out.push(c);
    }
}

/// Returns up to `width` characters before and after a hit on its line, with every hit in them replaced, so that a
/// report can quote the place.
pub fn surroundings(text: &str, hits: &[Hit], index: usize, width: usize) -> (String, String) {
    let Some(hit) = hits.get(index) else {
        return Default::default();
    };
    let (start, end) = (hit.range.start, hit.range.end);
    if !text.is_char_boundary(start) || !text.is_char_boundary(end) || start > end {
        return Default::default();
    }
    // A character has at most four bytes, so a window of `4 * width` bytes contains `width` characters. A hit that is
    // partly inside the window is replaced as a whole.
    let from = floor(text, start.saturating_sub(width * 4));
    let from = text[from..start]
        .rfind('\n')
        .map_or(from, |at| from + at + 1);
    let to = floor(text, end.saturating_add(width * 4)).max(end);
    let to = text[end..to].find(['\n', '\r']).map_or(to, |at| end + at);
    let before = masked(text, &hits[..index], from..start);
    let behind = masked(text, &hits[index + 1..], end..to);
    let skip = before.chars().count().saturating_sub(width);
    (
        before.chars().skip(skip).collect(),
        behind.chars().take(width).collect(),
    )
}

/// Returns a part of the text with its hits replaced, including the hits that cross the edges of the part.
fn masked(text: &str, hits: &[Hit], part: Range<usize>) -> String {
    let mut out = String::new();
    let mut at = part.start;
    let first = hits.partition_point(|hit| hit.range.end <= part.start);
    let inside = |hit: &&Hit| hit.range.start < part.end;
    for hit in hits[first..].iter().take_while(inside) {
        out.push_str(text.get(at..hit.range.start.max(at)).unwrap_or_default());
        out.push_str(&hit.replacement());
        at = hit.range.end.max(at);
    }
    out.push_str(text.get(at..part.end).unwrap_or_default());
    out
}

/// Returns the nearest character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
