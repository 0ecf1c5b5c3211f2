//! Finds keys in blocks of several lines.

use std::ops::Range;

use crate::hit::floor;
use crate::plausible;

/// The longest block to search for, in bytes: an RSA key of 16384 bits has 13 KB.
const LONGEST: usize = 64 << 10;

/// Returns the range from `-----BEGIN …` to `-----END …-----`. Without an end, the range extends as far as the text can
/// belong to a key.
pub(super) fn key(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let line = floor(text, keyword.start.saturating_sub(60));
    let before = &text[line..keyword.start];
    let begin = before.rfind("BEGIN ")?;
    let label = &before[begin + 6..];
    if !label
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-'))
    {
        return None;
    }
    let dashes = before[..begin]
        .trim_end_matches(' ')
        .trim_end_matches('-')
        .len();
    if begin - dashes < 4 {
        return None;
    }
    let head = text[keyword.end..]
        .strip_prefix(" BLOCK")
        .unwrap_or(&text[keyword.end..]);
    let body = head.trim_start_matches(' ').trim_start_matches('-');
    let from = text.len() - body.len();
    let window = &text[from..floor(text, from + LONGEST)];
    // The body of a key does not contain four dashes, so the first four dashes begin this block's end or another block.
    let (length, end) = match window.find("----") {
        Some(at)
            if window[at..]
                .trim_start_matches('-')
                .trim_start()
                .starts_with("END") =>
        {
            let tail = window[at..].trim_start_matches('-');
            let close = tail
                .find("--")
                .map_or(tail, |close| tail[close..].trim_start_matches('-'));
            let same = tail.len() - close.len() < 80;
            (at, if same { window.len() - close.len() } else { at })
        }
        Some(at) => (cut(&window[..at]), cut(&window[..at])),
        None => (cut(window), cut(window)),
    };
    let written = window[..length]
        .bytes()
        .filter(|b| b.is_ascii_alphanumeric())
        .count();
    let real = written >= 32 && plausible::distinct(&window[..length]) >= 12;
    real.then_some(line + dashes..from + end)
}

/// Returns the length of the part of `text` that can belong to a block without an end: base64 characters, headers,
/// blanks and escaped line breaks.
fn cut(text: &str) -> usize {
    let mut end = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim().replace("\\n", "").replace("\\r", "");
        let body = bare
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
        let header = bare.split_once(": ").is_some_and(|(name, _)| {
            ["Proc-Type", "DEK-Info", "Comment", "Version"].contains(&name)
        });
        if !(body || header) {
            // The first line that is not part of a key from end to end closes the block; its beginning can belong to
            // the key.
            let run = line.len() - line.trim_start().len();
            let run = run
                + line[run..]
                    .bytes()
                    .take_while(|b| b.is_ascii_alphanumeric() || b"+/=\\".contains(b))
                    .count();
            return if run >= 16 { at + run } else { end };
        }
        at += line.len();
        if !bare.is_empty() {
            end = at - (line.len() - line.trim_end().len());
        }
    }
    end
}

/// Returns the range from `Private-Lines: n` to the line of `Private-MAC`, or over n lines if that line is missing.
pub(super) fn putty(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let window = &text[keyword.start..floor(text, keyword.start + LONGEST)];
    let mut lines = window.split_inclusive('\n');
    let first = lines.next()?;
    let count: usize = first.split_once(':')?.1.trim().parse().ok()?;
    let mut length = first.len();
    for line in lines.take(count.min(1000) + 1) {
        if line.starts_with("Private-") || length < window.len() {
            length += line.len();
        }
        if line.starts_with("Private-") {
            break;
        }
    }
    let range = keyword.start..keyword.start + window[..length].trim_end().len();
    (count > 0 && range.len() > first.len() + 16).then_some(range)
}
