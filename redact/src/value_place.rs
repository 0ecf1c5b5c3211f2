//! Finds the value that follows a name such as `password`, in any notation: `NAME=value`, `"name": "value"`, …

use std::ops::Range;

use crate::hit::floor;

/// The longest value that is read, in bytes.
const VALUE: usize = 8 << 10;

/// Tags of HTML that show a value as code or in bold.
const TAGS: [&str; 6] = ["<code>", "<b>", "<kbd>", "<strong>", "<tt>", "<em>"];

/// Calls in programs that make a secret of another type from a text.
const CONVERSIONS: [&str; 14] = [
    "[]byte(",
    "bytes.fromhex(",
    "bytearray.fromhex(",
    "Buffer.from(",
    "b64decode(",
    "base64.b64decode(",
    "unhexlify(",
    "atob(",
    "String::from(",
    "Some(",
    "SecretString::from(",
    "SecretStr(",
    "Secret::new(",
    "SecretString::new(",
];

/// Stands for any typographic quote.
const CURLY: u8 = 0xE2;

/// The place of a value in a text: where it begins, and how to find its end.
#[derive(Default)]
pub(crate) struct ValuePattern {
    at: usize,
    /// The quote around the value, and the number of backslashes before the quote.
    pub(crate) quote: Option<(u8, usize)>,
    /// Whether the value is in an XML element and ends at a tag.
    pub(crate) element: bool,
    /// Whether the value is written as `NAME=value` without blanks, as in environments, URLs and connection strings.
    pub(crate) tight: bool,
    /// Whether the notation is `--name value`.
    pub(crate) option: bool,
    /// Whether the notation is `"name", "value"`.
    pub(crate) pair: bool,
}

impl ValuePattern {
    /// Returns the place of the value that follows a name; `None` if no value follows.
    pub(crate) fn after(text: &str, name: Range<usize>) -> Option<ValuePattern> {
        let bytes = text.as_bytes();
        let before = name.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let mut at = name.end;
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(b'\n');
        let blanks = |mut at: usize| {
            let from = at;
            while at - from < 32 && matches!(byte(at), b' ' | b'\t') {
                at += 1;
            }
            at
        };
        if let Some(at) = element(text, name.clone()).or_else(|| cell(text, name.clone())) {
            let element = true;
            return Some(ValuePattern {
                at,
                element,
                ..ValuePattern::default()
            });
        }
        while byte(at) == b'\\' && at - name.end < 8 {
            at += 1;
        }
        let closed = matches!(byte(at), b'"' | b'\'' | b'`');
        // Stars and underscores around a label make it bold: `**Password:** …`, `**Password**: …`.
        let bold = |mut at: usize| {
            let from = at;
            while at - from < 3 && matches!(byte(at), b'*' | b'_') {
                at += 1;
            }
            at
        };
        if closed {
            at += 1;
            if matches!(byte(at), b']' | b')') {
                at += 1;
            }
            at = bold(at);
        } else if before == b'[' && byte(name.end) == b']' {
            at = name.end + 1;
        } else {
            at = bold(name.end);
        }
        let marked = matches!(before, b'*' | b'_') && at > name.end + usize::from(closed);
        let sign = blanks(at);
        let option = name.len() > 4 && text[name.clone()].starts_with('-');
        let (mut tight, mut pair) = (false, false);
        let mut value = sign;
        if closed && text[sign..].starts_with("value=") {
            value += 6;
        } else {
            match (byte(sign), byte(sign + 1)) {
                // A comparison, and a value for the case that there is none: `password === "…"`, `SECRET || "…"`.
                (b'=', b'=') | (b'!', b'=') | (b'|', b'|') | (b'?', b'?') => {
                    let rest = &text[floor(text, sign + 2)..];
                    let rest = rest.trim_start_matches('=').trim_start_matches(' ');
                    pair = true;
                    value = text.len() - rest.len();
                    if !rest.starts_with(['"', '\'']) {
                        return None;
                    }
                }
                (b'=', b'>') | (b':' | b'?', b'=') => value += 2,
                (b'=', _) => {
                    tight = sign == name.end;
                    value += 1;
                    // A backslash at the end of a line continues it.
                    let broken = blanks(value);
                    if text[broken..].starts_with("\\\n") {
                        value = broken + 2;
                    }
                }
                (b':', b':') => return None,
                // A part of a name such as `arn:aws:…:secret:…`.
                (b':', _) if before == b':' => return None,
                (b':', _) => value = bold(block(bytes, typed(bytes, value + 1))),
                // An arrow behind a label: `secret -> …`, `*Master key* → …`.
                (b'-', b'>') if sign > at && byte(sign + 2) == b' ' => value += 2,
                (0xE2, 0x86 | 0x87 | 0x9E) => value += 3,
                // The prompt of a program: `key> …`.
                (b'>', b' ') if sign == name.end && before == b'\n' => value += 1,
                // The name and the value are cells in a row of a table.
                (b'|', next) if next != b'|' => {
                    value += 1;
                    pair = true;
                }
                // The name and the value form a pair, as in `("TOKEN", "…")`. Two items of a plain list look the
                // same, so the caller judges by the value.
                (b',', _) if closed && matches!(before, b'"' | b'\'') => {
                    value += 1;
                    pair = true;
                }
                _ if option && !closed && sign > at => {}
                (b'`', _) if marked => {}
                // Two cells of a row: `Password` and its value after a tab, or between commas.
                _ if text[at..sign].contains('\t') && b"\n\t ".contains(&before) => pair = true,
                (b',', _) if before == b',' && sign == at => {
                    value += 1;
                    pair = true;
                }
                _ => return None,
            }
        }
        let mut begin = blanks(value);
        tight &= begin == value;
        // A call that only converts the text, and a tag of HTML around it.
        let rest = &text[begin..];
        if let Some(tag) = TAGS.iter().find(|tag| rest.starts_with(**tag)) {
            return Some(ValuePattern {
                at: begin + tag.len(),
                element: true,
                ..ValuePattern::default()
            });
        }
        if let Some(call) = CONVERSIONS.iter().find(|call| rest.starts_with(**call)) {
            begin += call.len();
        }
        let mut open = begin;
        // The value is the only item, or the first, of a list.
        if byte(open) == b'[' && matches!(byte(open + 1), b'"' | b'\'') {
            open += 1;
        }
        // Skips the prefix of a string literal in Python or Rust, such as the `b` in `b"…"`.
        if matches!(byte(open), b'b' | b'r' | b'u' | b'f') && matches!(byte(open + 1), b'"' | b'\'')
        {
            open += 1;
        }
        let mut slashes = 0;
        while byte(open + slashes) == b'\\' && slashes < 8 {
            slashes += 1;
        }
        // The beginning of a typographic quote in UTF-8: “ „ ‘ ‚ and «.
        let quote = match bytes.get(open..) {
            Some([0xE2, 0x80, 0x98..=0x9E, ..]) => {
                open += 2;
                CURLY
            }
            Some([0xC2, 0xAB, ..]) => {
                open += 1;
                CURLY
            }
            _ => byte(open + slashes),
        };
        let quoted = quote == CURLY || matches!(quote, b'"' | b'\'' | b'`');
        Some(ValuePattern {
            at: if quoted { open + slashes + 1 } else { begin },
            quote: quoted.then_some((quote, slashes)),
            element: false,
            tight,
            option,
            pair,
        })
    }

    /// Returns the range of the value, without quotes.
    pub(crate) fn value(&self, text: &str) -> Option<Range<usize>> {
        let window = &text.as_bytes()[self.at..floor(text, self.at + VALUE)];
        let length = match self.quote {
            Some((quote, slashes)) => quoted(window, quote, slashes)?,
            None if self.element => {
                let end = |two: &[u8]| matches!(two[0], b'<' | b'\n') || two == b"]]";
                window.windows(2).position(end)?
            }
            None => window
                .iter()
                .enumerate()
                .position(|(at, b)| {
                    b.is_ascii_whitespace()
                        // A password can begin with `&`; later, a `&` begins the next parameter.
                        || at > 0 && matches!(b, b'&' | b')')
                        || self.pair && *b == b'|'
                        || matches!(
                            b,
                            b'"' | b'\''
                                | b'`'
                                | b'<'
                                | b'>'
                                | b','
                                | b';'
                                | b'}'
                                | b']'
                                | b'\\'
                        )
                })
                .unwrap_or(window.len()),
        };
        let mut value = &text[self.at..self.at + length];
        if self.quote.is_none() {
            // Punctuation at the end of a sentence is not part of a value.
            value = value.trim_end_matches(['.', ':', '!', '?', '|']);
        }
        (!value.is_empty()).then(|| self.at..self.at + value.len())
    }
}

/// Returns the position of the text of an XML element with this name: behind the attributes, and behind the tag of an
/// element that only wraps the text, as in `<Password><Value>…`.
fn element(text: &str, name: Range<usize>) -> Option<usize> {
    let before = match text[..name.start].ends_with(':') {
        true => text[..name.start - 1].trim_end_matches(|c: char| c.is_ascii_alphanumeric()),
        false => &text[..name.start],
    };
    if !before.ends_with('<') {
        return None;
    }
    let window = &text[name.end..floor(text, name.end + 400)];
    let open = window.find(['>', '<'])?;
    let attributes = &window[..open];
    let fits = attributes.is_empty() || attributes.starts_with(' ') && attributes.contains('=');
    if !fits || attributes.ends_with('/') || !window[open..].starts_with('>') {
        return None;
    }
    let inside = &window[open + 1..];
    let bare = inside.trim_start();
    const WRAPPERS: [&str; 6] = [
        "<Value>",
        "<value>",
        "<![CDATA[",
        "<string>",
        "<secret>",
        "<plainText>",
    ];
    let wrapper = WRAPPERS.iter().find(|of| bare.starts_with(**of));
    let skipped = wrapper.map_or(0, |of| inside.len() - bare.len() + of.len());
    Some(name.end + open + 1 + skipped)
}

/// Returns the position of the text of the element behind that of the name, as in `<td>Password</td><td>…` and
/// `<b>Password</b>: <code>…`.
fn cell(text: &str, name: Range<usize>) -> Option<usize> {
    let rest = text[name.end..].trim_start_matches(':');
    if !text[..name.start].ends_with('>') || !rest.starts_with("</") {
        return None;
    }
    let rest = &rest[..floor(rest, 80)];
    let close = rest.find('>')?;
    let next = rest[close + 1..].trim_start_matches([' ', ':', '\n', '\t', '-']);
    let open = next.find('>')?;
    let tag = next[..open].strip_prefix('<')?;
    let fits = !tag.starts_with(['/', '!'])
        && !["th", "span"].iter().any(|of| tag.starts_with(of))
        && !tag.ends_with('/');
    let behind = text[name.end..].len() - text[name.end..].trim_start_matches(':').len();
    let at = name.end + behind + close + 1 + (rest[close + 1..].len() - next.len()) + open + 1;
    fits.then_some(at)
}

/// Returns the position after a type and its `=`, as in `key: &str = "…"`, if a quote follows; else `at`.
fn typed(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let of_type = |b: &&u8| b.is_ascii_alphanumeric() || b" _&<>[]':?.|".contains(b);
    let length = rest.iter().take(48).take_while(of_type).count();
    match rest.get(length..).and_then(|rest| rest.strip_prefix(b"=")) {
        Some(value) if length > 1 => {
            let blanks = value.iter().take(8).take_while(|b| **b == b' ').count();
            let quoted = matches!(value.get(blanks), Some(b'"' | b'\'' | b'`'));
            if quoted { at + length + 1 } else { at }
        }
        _ => at,
    }
}

/// Returns the position of the first line of a YAML block (`key: |`); else `at`.
fn block(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let sign = rest.iter().take(8).take_while(|b| **b == b' ').count();
    if !matches!(rest.get(sign), Some(b'|' | b'>')) {
        return at;
    }
    let chomp = usize::from(matches!(rest.get(sign + 1), Some(b'-' | b'+')));
    let line = rest.get(sign + 1 + chomp..).unwrap_or_default();
    let broken = line.strip_prefix(b"\r\n").or(line.strip_prefix(b"\n"));
    match broken {
        Some(value) if value.first() == Some(&b' ') => at + rest.len() - value.len(),
        _ => at,
    }
}

/// Returns the length of a quoted value, or `None` if the quote does not end on the same line.
fn quoted(window: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut at = 0;
    while at < window.len() {
        match window[at] {
            b'\n' => return None,
            0xE2 | 0xC2 if quote == CURLY => match window[at..] {
                [0xE2, 0x80, 0x98..=0x9E, ..] | [0xC2, 0xBB, ..] => return Some(at),
                _ => at += 1,
            },
            byte if byte == quote && slashes == 0 => return Some(at),
            b'\\' => {
                let run = window[at..].iter().take_while(|b| **b == b'\\').count();
                let next = window.get(at + run).copied();
                if slashes > 0 && next == Some(quote) && run <= slashes {
                    return Some(at);
                }
                at += if slashes == 0 {
                    2 * run.div_ceil(2)
                } else {
                    run + 1
                };
            }
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}
