//! Reads one escape: of JSON, of a URL, of HTML, of a terminal.

use crate::reading::hexadecimal;

/// The longest row of escaped bytes that is read as one.
const LONGEST: usize = 64;

/// An escape at the beginning of a text.
pub(crate) struct Escape {
    /// Its length in bytes.
    pub(crate) length: usize,
    /// Whether most JSON has it: `\n`, `\"`, `\\`.
    pub(crate) common: bool,
}

/// Reads the escape with which a text begins, and writes what it stands for.
pub(crate) fn escape(text: &[u8], out: &mut Vec<u8>) -> Option<Escape> {
    let found = |length| {
        Some(Escape {
            length,
            common: false,
        })
    };
    if let Some(length) = colour(text) {
        return found(length);
    }
    match text {
        [b'%', ..] => found(numbers(text, b"%", out)?),
        [b'\\', b'x', ..] => found(numbers(text, b"\\x", out)?),
        [b'\\', b'u', ..] => {
            let unit = |at: usize| number(text.get(at..at + 6)?.strip_prefix(b"\\u")?, 16);
            let first = unit(0)? as u16;
            let mut units = vec![first];
            if (0xD800..0xDC00).contains(&first) {
                units.push(unit(6)? as u16);
            }
            out.extend(String::from_utf16(&units).ok()?.bytes());
            found(6 * units.len())
        }
        [b'\\', next, ..] => {
            out.push(match next {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'/' | b'"' | b'\'' | b'\\' => *next,
                _ => return None,
            });
            let common = *next != b'/';
            Some(Escape { length: 2, common })
        }
        [b'&', rest @ ..] => {
            let length = rest.iter().take(10).position(|byte| *byte == b';')?;
            let c = match &rest[..length] {
                b"amp" => '&',
                b"lt" => '<',
                b"gt" => '>',
                b"quot" => '"',
                b"apos" => '\'',
                [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, 16)?)?,
                [b'#', digits @ ..] => char::from_u32(number(digits, 10)?)?,
                _ => return None,
            };
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            found(length + 2)
        }
        _ => None,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Writes the characters of a row of bytes such as `%C3%A9`; returns the row's length.
fn numbers(text: &[u8], before: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let each = before.len() + 2;
    for unit in text.chunks(each).take(LONGEST) {
        let Some([high, low]) = unit.strip_prefix(before) else {
            break;
        };
        let (Some(high), Some(low)) = (hexadecimal(*high), hexadecimal(*low)) else {
            break;
        };
        out.push(high << 4 | low);
    }
    let valid = std::str::from_utf8(out).map_or_else(|wrong| wrong.valid_up_to(), str::len);
    out.truncate(valid);
    (valid > 0).then_some(valid * each)
}

/// Returns the length of a terminal's code, such as that of a colour, whose first character may be escaped itself.
fn colour(text: &[u8]) -> Option<usize> {
    let begins: [&[u8]; 5] = [b"\x1B", b"\\u001b", b"\\x1b", b"\\033", b"\\e"];
    let begun = |begin: &&[u8]| {
        let head = text.get(..begin.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(begin))
    };
    let begin = begins.iter().find(|begin| begun(begin))?.len();
    let rest = text[begin..].strip_prefix(b"[")?;
    let length = rest
        .iter()
        .take(32)
        .position(|byte| (b'@'..=b'~').contains(byte))?;
    let numbers = rest[..length]
        .iter()
        .all(|byte| (b' '..=b'?').contains(byte));
    numbers.then_some(begin + 1 + length + 1)
}
