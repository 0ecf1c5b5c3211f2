//! Makes text safe and short for display, and defines [`Text`], which many rows share.

use std::fmt::Write as _;
use std::sync::Arc;

/// A text shared by many rows: a statement, a status, an error. A clone is cheap, because all clones share the bytes.
pub type Text = Arc<str>;

/// Escapes the characters that a terminal would act on or hide: C0, C1 and DEL, bidirectional controls, other format
/// and invisible characters (errata R6). Keeps line breaks and tabs if `lines` is set; a carriage return is always
/// escaped.
///
/// ```
/// use prosescope_core::model::text::escape;
/// assert_eq!(escape("a\u{1b}[31mb\n", false), "a\\u{1b}[31mb\\n");
/// assert_eq!(escape("a\tb\nc", true), "a\tb\nc");
/// assert_eq!(escape("abc\u{202e}def", true), "abc\\u{202e}def");
/// ```
pub fn escape(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if lines => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if is_hazard(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

/// Escapes in a JSON document the characters that [`escape`] escapes in text, because JSON writers leave DEL, C1 and
/// format characters unescaped.
///
/// The escaped characters occur only inside of JSON strings, so the document keeps its meaning. Line breaks between
/// values stay.
///
/// ```
/// use prosescope_core::record::render::text::escape_json;
/// assert_eq!(escape_json("[\n  \"a\u{9b}\u{e0041}\"\n]"), "[\n  \"a\\u009b\\udb40\\udc41\"\n]");
/// ```
pub fn escape_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if c == '\n' || !is_hazard(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Returns whether a character could mislead a terminal or a reader: control and format characters (Cc, Cf), line
/// separators, and characters that are drawn as nothing (Unicode's Default_Ignorable_Code_Point), except the two
/// selectors used in emoji.
pub fn is_hazard(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}'
            | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a text on one line, cut at `most` characters.
pub fn short(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (n, c) in text.trim().chars().enumerate() {
        if n == most {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// Returns the first `most` lines of a text.
pub(crate) fn first_lines(text: &str, most: usize) -> &str {
    let mut ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let Some(last) = most.checked_sub(1) else {
        return "";
    };
    let end = ends.nth(last);
    end.and_then(|(at, _)| text.get(..=at)).unwrap_or(text)
}

/// Returns a text cut at `most` characters, with `…` at the cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

/// Returns at most that many bytes of a text, cut at a character boundary.
pub(crate) fn clip(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

/// Returns a number with thin spaces between its thousands: `50 000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun: `1 gate`, `3 gates`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Returns a number of bytes with a unit: `812 B`, `4.1 KB`, `1.9 MB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        // What would be rounded to 1000.0 of a unit has the next one.
        1000..999_950 => format!("{:.1} KB", n as f64 / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes that hexadecimal digits encode; `None` if the text is anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect::<Option<_>>()
        .filter(|_| text.len().is_multiple_of(2))
}

/// Returns whether a path is plain: `/` between its parts; no part empty, `.` or `..`; no root, drive or NUL. Only
/// plain paths are read (errata R4, R5).
pub fn is_plain_path(path: &str) -> bool {
    !path.is_empty()
        && !path.contains('\0')
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !path.as_bytes().get(1).is_some_and(|&c| {
            c == b':' && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_stays() {
        let nasty: String = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([
                0x600, 0x3164, 0x202e, 0x2028, 0x2066, 0x200b, 0xfe00, 0xfeff, 0xe0041, 0xe0100,
            ])
            .filter_map(char::from_u32)
            .collect();
        for lines in [false, true] {
            let out = escape(&nasty, lines);
            assert!(
                out.chars()
                    .all(|c| !is_hazard(c) || (lines && matches!(c, '\n' | '\t'))),
                "{out}"
            );
        }
    }

    #[test]
    fn short_is_one_line() {
        assert_eq!(short("  a\nb\u{1b}[31m  ", 10), "a b [31m");
        assert_eq!(short("äbcd", 3), "äbc…");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(50_000), "50\u{202f}000");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "gate", "gates"), "1 gate");
        assert_eq!(counted(2_000, "gate", "gates"), "2\u{202f}000 gates");
    }

    #[test]
    fn a_json_document_stays_the_same_value() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        let value = serde_json::json!({ text.as_str(): [text.as_str(), "\u{202e}\u{e0041}"] });
        let written = escape_json(&serde_json::to_string_pretty(&value).unwrap());
        assert!(written.chars().all(|c| c == '\n' || !is_hazard(c)));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&written).unwrap(),
            value
        );
    }

    #[test]
    fn words_of_all_scripts_stay() {
        for text in [
            "→ ✓ ∥",
            "naïve café",
            "日本語",
            "emoji 🙂 ⚠\u{fe0f}",
            "עברית",
        ] {
            assert_eq!(escape(text, false), text);
        }
    }
}
