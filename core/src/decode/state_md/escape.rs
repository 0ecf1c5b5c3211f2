//! Escapes any text so that it fits on one line of a state.md, and reads escaped texts back.
//!
//! The escapes are Markdown's own, so that the file reads well in any viewer: a backslash before punctuation, which
//! formatters also add (`result\_\_43`; errata F1), and numeric references (`&#10;`) for characters that cannot be on
//! a line. Ordinary names and paths, including those of Windows, stay unchanged.

use std::borrow::Cow;

/// Reads an escaped text: `\_` is `_`, `&#10;` a line break, `&amp;` an ampersand.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '&']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let (c, used) = escaped_char(tail);
        out.push(c);
        rest = tail.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the character that an escape at the start of `tail` means, and the escape's length in bytes.
fn escaped_char(tail: &str) -> (char, usize) {
    if let Some(after) = tail.strip_prefix('\\') {
        return match after.chars().next() {
            Some(c) if c.is_ascii_punctuation() => (c, 2),
            _ => ('\\', 1),
        };
    }
    if tail.starts_with("&amp;") {
        return ('&', 5);
    }
    if let Some(after) = tail.strip_prefix("&#") {
        let digits = after.bytes().take(8).take_while(u8::is_ascii_digit).count();
        let number = after.get(..digits).and_then(|n| n.parse::<u32>().ok());
        if let (Some(c), Some(b';')) = (
            number.and_then(char::from_u32),
            after.as_bytes().get(digits),
        ) {
            return (c, digits + 3);
        }
    }
    ('&', 1)
}

/// Escapes a text for one line; [`unescape`] returns the original. `special` lists the characters that have a meaning
/// where the text is written, such as the pipe in a table.
pub(crate) fn escape(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    let last = text.char_indices().next_back().map(|(i, _)| i);
    for (i, c) in text.char_indices() {
        let after = text.get(i + c.len_utf8()..).unwrap_or_default();
        let at_edge = i == 0 || Some(i) == last;
        match c {
            '\\' if after.starts_with(|next: char| next.is_ascii_alphanumeric()) => out.push('\\'),
            '\\' => out.push_str("\\\\"),
            '&' if after.starts_with('#') || after.starts_with("amp;") => out.push_str("&amp;"),
            '|' if special.contains(&c) => out.push_str("\\|"),
            _ if is_hidden(c) || special.contains(&c) || (at_edge && c.is_whitespace()) => {
                push_reference(&mut out, c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Does the same as [`escape`], but also escapes the first character, for a text that would otherwise have a special
/// meaning (a binding named `None`).
pub(crate) fn escape_first(text: &str, special: &[char]) -> String {
    let Some(first) = text.chars().next() else {
        return String::new();
    };
    let mut out = String::new();
    push_reference(&mut out, first);
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    // A blank at the start of the rest is not at the edge of the whole text, so it needs no escape.
    let escaped = escape(rest, special);
    out.push_str(&escaped);
    out
}

fn push_reference(out: &mut String, c: char) {
    out.push_str("&#");
    out.push_str(&u32::from(c).to_string());
    out.push(';');
}

pub(crate) use crate::text::is_hazard as is_hidden;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_formatters_leave_behind() {
        for (raw, text) in [
            // Markdown formatters add backslashes to names (errata F1).
            (r"result\_\_43", "result__43"),
            (r"bindings/a\_b.md", "bindings/a_b.md"),
            (r"C:\temp\new", r"C:\temp\new"),
            (r"a\|b", "a|b"),
            (r"\\", r"\"),
            (r"trailing\", r"trailing\"),
            ("R&D &amp; AT&T", "R&D & AT&T"),
            ("a&#10;b", "a\nb"),
            ("&#1114112; &#x41; &# &#;", "&#1114112; &#x41; &# &#;"),
            ("&#99999999999;", "&#99999999999;"),
        ] {
            assert_eq!(unescape(raw), text, "{raw}");
        }
    }

    #[test]
    fn ordinary_texts_pass_unchanged() {
        for text in [
            "research",
            "bindings/result__43.md",
            r"C:\temp\new",
            "R&D",
            "(root)",
            "a b",
            "日本語",
        ] {
            assert_eq!(escape(text, &['|']), text);
        }
        assert_eq!(
            escape("a|b\nc\u{1b}[31m \u{202e}", &['|']),
            "a\\|b&#10;c&#27;[31m &#8238;"
        );
        assert_eq!(escape_first("None", &['|']), "&#78;one");
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in "\\PC{0,12}|[\\\\&#;|amp0-9 \\n\\t\u{1b}\u{202e}]{0,16}") {
            for special in [&['|'][..], &[], &['#', ':', '(']] {
                for raw in [escape(&text, special), escape_first(&text, special)] {
                    prop_assert!(!raw.contains('\n'));
                    prop_assert_eq!(raw.trim(), raw.as_str());
                    prop_assert_eq!(unescape(&raw), text.as_str(), "{}", raw);
                }
            }
        }
    }
}
