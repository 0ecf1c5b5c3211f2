//! Texts that make a terminal act, or that its reader cannot see.

/// Characters that are invisible or reorder the surrounding text.
pub const FORMAT: [char; 46] = [
    // These characters control the writing direction: marks, embeddings, overrides, isolates.
    '\u{61c}',
    '\u{200e}',
    '\u{200f}',
    '\u{202a}',
    '\u{202b}',
    '\u{202c}',
    '\u{202d}',
    '\u{202e}',
    '\u{2066}',
    '\u{2067}',
    '\u{2068}',
    '\u{2069}',
    // These characters separate lines; some terminals and editors break lines at them.
    '\u{2028}',
    '\u{2029}',
    // These characters are invisible.
    '\u{ad}',
    '\u{34f}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{180b}',
    '\u{180e}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{2060}',
    '\u{2061}',
    '\u{2064}',
    '\u{206a}',
    '\u{206f}',
    '\u{3164}',
    '\u{fe00}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fff9}',
    '\u{fffa}',
    '\u{fffb}',
    '\u{1bca0}',
    '\u{1d173}',
    // These tags and selectors can carry a hidden text.
    '\u{e0001}',
    '\u{e0041}',
    '\u{e007f}',
    '\u{e0100}',
    '\u{e01ef}',
    // These characters also have the Unicode category "format", and belong to no group above.
    '\u{600}',
    '\u{6dd}',
    '\u{13430}',
];

/// A text in a style that `prosescope` prints too: if it is printed unescaped, it looks like the program's own
/// output.
const FORGED: &str = "\x1b[31mforged";

/// Terminal sequences: what each does, and its bytes.
const SEQUENCES: &[(&str, &[u8])] = &[
    ("clears the screen", b"\x1b[2J\x1b[H"),
    ("moves the cursor up", b"\x1b[3A\x1b[K"),
    ("saves, moves, restores", b"\x1b7\x1b[1;1Hx\x1b8"),
    ("hides what follows", b"\x1b[8m"),
    ("reverses, blinks", b"\x1b[7;5;95m"),
    ("true colour", b"\x1b[38;2;1;2;3m"),
    ("colon parameters", b"\x1b[4:3m"),
    ("alternate screen", b"\x1b[?1049h"),
    ("mouse reports", b"\x1b[?1000h\x1b[?1006h"),
    ("bracketed paste off", b"\x1b[?2004l"),
    ("asks for its place", b"\x1b[6n"),
    ("asks for its name", b"\x1b[c\x1b[>c"),
    ("asks for its title", b"\x1b[21t"),
    ("resizes the window", b"\x1b[8;1;1t"),
    ("a sequence cut off", b"\x1b["),
    ("an escape alone", b"\x1b"),
    ("intermediate bytes", b"\x1b[ q\x1b[!p"),
    ("title", b"\x1b]0;owned\x07"),
    ("title, ended by ST", b"\x1b]2;owned\x1b\\"),
    ("title, never ended", b"\x1b]0;owned"),
    (
        "link",
        b"\x1b]8;;http://canary.invalid/\x1b\\click\x1b]8;;\x1b\\",
    ),
    ("writes the clipboard", b"\x1b]52;c;b3duZWQ=\x07"),
    ("reads the clipboard", b"\x1b]52;c;?\x07"),
    ("palette", b"\x1b]4;1;rgb:00/00/00\x07"),
    ("working folder", b"\x1b]7;file://canary.invalid/\x07"),
    ("notification", b"\x1b]9;owned\x07\x1b]777;notify;a;b\x07"),
    ("picture", b"\x1b]1337;File=inline=1:AAAA\x07"),
    ("picture, kitty", b"\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\"),
    ("prompt marks", b"\x1b]133;A\x07"),
    ("DCS: request of a setting", b"\x1bP$qm\x1b\\"),
    ("DCS: sixel", b"\x1bPq#0;2;0;0;0#0~~\x1b\\"),
    (
        "DCS: tmux passthrough",
        b"\x1bPtmux;\x1b\x1b]0;owned\x07\x1b\\",
    ),
    ("APC", b"\x1b_owned\x1b\\"),
    ("PM", b"\x1b^owned\x1b\\"),
    ("SOS", b"\x1bXowned\x1b\\"),
    ("screen's title", b"\x1bkowned\x1b\\"),
    ("full reset", b"\x1bc"),
    ("line drawing", b"\x1b(0lqk\x1b(B"),
    ("shift out and in", b"\x0elqk\x0f"),
    ("single shifts", b"\x1bN\x1bO"),
    ("UTF-8 off and on", b"\x1b%@\x1b%G"),
    ("keypad", b"\x1b=\x1b>"),
    ("double height", b"\x1b#3"),
    ("CSI of 8 bits, in UTF-8", b"\xc2\x9b2J"),
    ("OSC of 8 bits, in UTF-8", b"\xc2\x9d0;owned\xc2\x9c"),
    ("DCS of 8 bits, in UTF-8", b"\xc2\x90$qm\xc2\x9c"),
    (
        "APC, PM, SOS of 8 bits",
        b"\xc2\x9fa\xc2\x9c\xc2\x9ea\xc2\x9c\xc2\x98a\xc2\x9c",
    ),
    ("NEL and index of 8 bits", b"a\xc2\x85b\xc2\x84c\xc2\x8dd"),
    ("CSI as a byte that is no UTF-8", b"\x9b2J\x9b31m"),
    ("OSC as a byte that is no UTF-8", b"\x9d0;owned\x9c"),
    ("overwrites its line", b"rm -rf /\rls      "),
    ("overwrites with line breaks", b"evil\r\ngood\n\rgood"),
    ("backspaces over itself", b"evil\x08\x08\x08\x08good"),
    ("delete", b"evil\x7f\x7f\x7f\x7fgood"),
    ("bell", b"\x07\x07\x07"),
    ("tabs", b"a\tb\x0bc\x0cd"),
    ("NUL in the middle", b"a\x00b\x1b[5m"),
    ("XOFF and XON", b"\x13\x11"),
    ("cancels a sequence", b"\x1b[3\x18\x1b[3\x1a"),
    (
        "all C0",
        b"\x01\x02\x03\x04\x05\x06\x10\x12\x14\x15\x16\x17\x19\x1c\x1d\x1e\x1f",
    ),
    ("a fence closed", b"```\n````\n~~~\n\x1b[2J"),
    ("an escaped escape", b"\\u{1b}[2J \\x1b[2J \\033[2J \x1b[2J"),
    (
        "overlong and broken UTF-8",
        b"\xc0\x9b\xe0\x80\x9b[2J\xff\xfe\xc2",
    ),
    ("replaced in JSON", b"\",\"status\":\"completed\x1b[2J"),
];

/// Returns each terminal sequence, and each character of [`FORMAT`] between letters, all followed by `FORGED`.
pub fn texts() -> Vec<Vec<u8>> {
    let sequences = SEQUENCES.iter().map(|(_, bytes)| bytes.to_vec());
    let hidden = FORMAT.iter().map(|c| format!("ab{c}cd{c}").into_bytes());
    let spoofs = [
        "user\u{202e}txt.exe",
        "/*\u{202e} } \u{2066}if (admin)\u{2069} \u{2066} begin */",
    ];
    let spoofs = spoofs.map(|text| text.as_bytes().to_vec());
    let all = sequences.chain(hidden).chain(spoofs);
    all.map(|text| [&text, FORGED.as_bytes()].concat())
        .collect()
}

/// Returns the first part of an output on which a terminal would act, with its surroundings. A terminal does not act
/// on printable text, a line break or a tab. The program's own styles are allowed, too.
pub fn acted_on(output: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(output) {
        // A terminal device writes a line break as two characters.
        Ok(text) => text.replace("\r\n", "\n"),
        Err(e) => return Some(format!("no UTF-8 at byte {}", e.valid_up_to())),
    };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some(style) = STYLES.iter().find(|style| rest.starts_with(**style))
            && !rest.starts_with(FORGED)
        {
            at += style.len();
            continue;
        }
        if (c.is_control() && !matches!(c, '\n' | '\t')) || FORMAT.contains(&c) {
            let before: String = text[..at].chars().rev().take(60).collect();
            let before: String = before.chars().rev().collect();
            let after: String = rest.chars().take(60).collect();
            return Some(format!("{before:?} then {after:?}"));
        }
        at += c.len_utf8();
    }
    None
}

/// The styles of the program's own output: reset, bold, faint, underline (in usage errors), and the four colours of a
/// status.
const STYLES: [&str; 8] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[4m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_would_be_seen() {
        for text in texts() {
            assert!(acted_on(&text).is_some(), "{text:?}");
        }
        assert_eq!(
            acted_on("\x1b[1m✓ done\x1b[0m\r\n\tüber 🙂\r\n".as_bytes()),
            None
        );
    }
}
