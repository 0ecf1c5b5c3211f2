//! Untrusted text made safe for a terminal.

/// Escapes what a terminal would act on or hide: C0, C1 and DEL, bidirectional controls, other format and invisible
/// characters (reliability.md, "Terminal output"). Line breaks and tabs stay when `lines` is set; a carriage return
/// never does.
///
/// ```
/// use prosescope_core::render::text::escape;
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

/// Whether a terminal or a reader could be misled by it.
pub fn is_hazard(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_stays() {
        let nasty: String = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x202e, 0x2066, 0x200b, 0xfeff, 0xe0041])
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
    fn words_of_all_scripts_stay() {
        for text in ["→ ✓ ∥", "naïve café", "日本語", "emoji 🙂", "עברית"] {
            assert_eq!(escape(text, false), text);
        }
    }
}
