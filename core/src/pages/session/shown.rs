//! Formats the bytes of a value for display: as text, as hexadecimal digits, or on one line.

use crate::pages::view::ValueFormat;

/// The largest number of characters of a preview, and of bytes in a preview of binary data.
const PREVIEW: usize = 160;
const PREVIEW_BYTES: usize = 24;

/// How many bytes of a text are searched for Markdown marks.
const MARKED: usize = 64 << 10;

/// Returns the beginning of a value on one line.
pub(super) fn preview(bytes: &[u8]) -> String {
    let (text, _) = to_text(bytes, true);
    match format_of(bytes, &text) {
        ValueFormat::Binary => hex(bytes, PREVIEW_BYTES),
        _ => one_line(&text, PREVIEW),
    }
}

/// Converts bytes to text. With `cut`, an incomplete character at the end is dropped; other invalid UTF-8 is replaced.
/// The flag is true if bytes were replaced.
pub(super) fn to_text(bytes: &[u8], cut: bool) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(e) if cut && e.error_len().is_none() => (
            String::from_utf8_lossy(bytes.get(..e.valid_up_to()).unwrap_or_default()).into_owned(),
            false,
        ),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

/// Detects the format of a value: binary by its control bytes, JSON by its brackets, Markdown by its marks.
pub(super) fn format_of(bytes: &[u8], text: &str) -> ValueFormat {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let odd = head
        .iter()
        .filter(|b| matches!(b, 0..=8 | 14..=26 | 28..=31))
        .count();
    let replaced = text.chars().take(2048).filter(|&c| c == '\u{fffd}').count();
    if (odd + replaced) * 10 > head.len() {
        return ValueFormat::Binary;
    }
    let trimmed = text.trim();
    let bracketed = (trimmed.starts_with('{') && trimmed.ends_with('}'))
        || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    if bracketed && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
        return ValueFormat::Json;
    }
    let marked = |line: &str| {
        let line = line.trim_start();
        ["# ", "## ", "### ", "- ", "* ", "1. ", "> ", "```", "|"]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    let beginning = text.get(..text.floor_char_boundary(MARKED));
    let inline = ["**", "`", "]("]
        .iter()
        .any(|mark| beginning.is_some_and(|text| text.contains(mark)));
    if inline || text.lines().take(200).any(marked) {
        ValueFormat::Markdown
    } else {
        ValueFormat::Text
    }
}

pub(super) fn hex(bytes: &[u8], most: usize) -> String {
    let mut out = String::with_capacity(most * 3);
    for (i, byte) in bytes.iter().take(most).enumerate() {
        if i > 0 {
            out.push(if i % 16 == 0 { '\n' } else { ' ' });
        }
        out.push_str(&format!("{byte:02x}"));
    }
    if bytes.len() > most {
        out.push_str(" …");
    }
    out
}

fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut blank = true;
    let mut n = 0;
    for c in text.chars() {
        let white = c.is_whitespace() || c.is_control();
        if white && blank {
            continue;
        }
        if n == most {
            out.push('…');
            break;
        }
        out.push(if white { ' ' } else { c });
        blank = white;
        n += 1;
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_how_a_value_reads() {
        for (bytes, format) in [
            (&b"plain words"[..], ValueFormat::Text),
            (b"# Heading\n\ntext", ValueFormat::Markdown),
            (b"with **bold** in it", ValueFormat::Markdown),
            (b" {\"a\": [1, 2]} ", ValueFormat::Json),
            (b"{not json}", ValueFormat::Text),
            (b"\x00\x01\x02\x03", ValueFormat::Binary),
            (b"", ValueFormat::Text),
        ] {
            let (text, _) = to_text(bytes, false);
            assert_eq!(format_of(bytes, &text), format, "{bytes:?}");
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let bytes = "aé".as_bytes();
        assert_eq!(to_text(&bytes[..2], true), ("a".to_owned(), false));
        assert!(to_text(&bytes[..2], false).1);
    }

    #[test]
    fn previews_are_one_line() {
        assert_eq!(one_line("  a\n\n b\tc ", 160), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
