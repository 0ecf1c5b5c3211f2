//! Converts bytes to text, and recognises the texts that files use for "nothing".

use std::borrow::Cow;

use crate::model::issue::Issue;
pub use crate::model::text::is_plain_path;

/// Decodes bytes as UTF-8, or as UTF-16 with a byte order mark. Never fails: invalid bytes become U+FFFD, with an
/// issue.
pub fn lossy(bytes: &[u8]) -> (Cow<'_, str>, Vec<Issue>) {
    let units = |swap: bool| -> Vec<u16> {
        let pair = |p: &[u8]| match (p.first(), p.get(1)) {
            (Some(&a), Some(&b)) if swap => u16::from_be_bytes([a, b]),
            (Some(&a), Some(&b)) => u16::from_le_bytes([a, b]),
            _ => 0xFFFD,
        };
        bytes
            .get(2..)
            .unwrap_or_default()
            .chunks(2)
            .map(pair)
            .collect()
    };
    let wide = match bytes {
        [0xFF, 0xFE, ..] => Some(units(false)),
        [0xFE, 0xFF, ..] => Some(units(true)),
        _ => None,
    };
    if let Some(wide) = wide {
        let issue = Issue::noted("utf16", "the file is written in UTF-16")
            .hint("The file was decoded as UTF-16, although OpenProse's files are UTF-8.");
        return (Cow::Owned(String::from_utf16_lossy(&wide)), vec![issue]);
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => (Cow::Borrowed(text), Vec::new()),
        Cow::Owned(text) => {
            let issue =
                Issue::warning("invalid-utf8", "the file contains bytes that are not UTF-8")
                    .hint("These bytes are shown as \u{FFFD}; the rest is shown as written.");
            (Cow::Owned(text), vec![issue])
        }
    }
}

/// Whether a cell, an item or a line means "nothing" (docs/reference/formats.md): `None`, `(none - execution
/// complete)`, `Empty (root scope)`, `-`, or an empty text.
pub(crate) fn is_nothing(text: &str) -> bool {
    let mark = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '*' | '_' | '`' | '(' | ')' | '[' | ']' | '|' | '.' | '-' | '–' | '—'
            )
    };
    let inner = text.trim_matches(mark);
    if inner.is_empty() {
        return true;
    }
    [
        "none",
        "empty",
        "nothing",
        "n/a",
        "nil",
        "no active",
        "not applicable",
    ]
    .iter()
    .any(|word| {
        let head = inner.get(..word.len());
        let tail = inner.get(word.len()..).unwrap_or_default();
        head.is_some_and(|h| h.eq_ignore_ascii_case(word))
            && !tail.starts_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':')
            })
    })
}

/// Returns a text without the backslashes that Markdown formatters add before punctuation: `result\_\_43` is
/// `result__43` (errata F1).
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.next_if(|next| c == '\\' && next.is_ascii_punctuation()) {
            Some(escaped) => out.push(escaped),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_always_text() {
        for (bytes, text, rule) in [
            (&b"plain"[..], "plain", None),
            (b"\xEF\xBB\xBFwith a mark", "with a mark", None),
            (b"\xFF\xFEa\0b\0", "ab", Some("utf16")),
            (b"\xFE\xFF\0a\0b\0", "ab\u{FFFD}", Some("utf16")),
            (b"a\xFFb", "a\u{FFFD}b", Some("invalid-utf8")),
            (b"", "", None),
        ] {
            let (read, issues) = lossy(bytes);
            assert_eq!(read, text);
            assert_eq!(issues.first().map(|i| i.rule.as_str()), rule, "{bytes:?}");
        }
    }

    #[test]
    fn backslashes_of_formatters_go() {
        for (raw, text) in [
            (r"result\_\_43", "result__43"),
            (r"bindings/a\_b.md", "bindings/a_b.md"),
            (r"C:\temp\new", r"C:\temp\new"),
            (r"a\|b", "a|b"),
            (r"\\_", r"\_"),
            (r"trailing\", r"trailing\"),
            ("R&amp;D&#10;", "R&amp;D&#10;"),
        ] {
            assert_eq!(unescape(raw), text, "{raw}");
        }
    }

    #[test]
    fn many_words_for_nothing() {
        for text in [
            "",
            " - ",
            "None",
            "_None._",
            "(none - execution complete)",
            "Empty (root scope)",
            "(none yet)",
            "N/A",
            "—",
            "**none**",
            "No active constructs",
            "(empty)",
        ] {
            assert!(is_nothing(text), "{text}");
        }
        for text in [
            "none_of_these",
            "nonempty",
            "empty-list",
            "bindings/none.md",
            "noneed",
            "x",
            "(stateless)",
            "none.md",
            "none: complete",
        ] {
            assert!(!is_nothing(text), "{text}");
        }
    }

    #[test]
    fn only_plain_paths_are_read() {
        for path in ["a", "bindings/a b.md", "a..b", ".env", "日本"] {
            assert!(is_plain_path(path), "{path}");
        }
        for path in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "C:/x",
            "a\0b",
        ] {
            assert!(!is_plain_path(path), "{path}");
        }
    }
}
