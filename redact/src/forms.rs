//! The forms in which a text can contain a value: unchanged, encoded, escaped.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A form in which a text can contain a value.
pub(crate) struct ValueForm {
    /// The form's name in reports.
    pub(crate) name: &'static str,
    /// The bytes to search for.
    pub(crate) bytes: Vec<u8>,
    /// Whether the characters directly before and after these bytes also encode a part of the value, as in base64.
    pub(crate) partial: (bool, bool),
}

/// Returns the different forms of a value, the value itself first. `wide` adds UTF-16.
pub(crate) fn forms(value: &str, wide: bool) -> Vec<ValueForm> {
    let mut forms = vec![form("plain", value.as_bytes().to_vec())];
    for alignment in 0..3 {
        if let Some((bytes, partial)) = base64(value.as_bytes(), alignment) {
            let url = bytes
                .iter()
                .map(|b| match b {
                    b'+' => b'-',
                    b'/' => b'_',
                    other => *other,
                })
                .collect();
            forms.push(ValueForm {
                name: "base64",
                bytes,
                partial,
            });
            forms.push(ValueForm {
                name: "base64",
                bytes: url,
                partial,
            });
        }
    }
    for (upper, plus, all) in [
        (true, false, false),
        (false, false, false),
        (true, true, false),
        (true, false, true),
    ] {
        forms.push(form("URL-encoded", url(value, upper, plus, all)));
    }
    for (slash, unicode) in [(false, false), (true, false), (false, true), (true, true)] {
        forms.push(form("JSON-escaped", json(value, slash, unicode)));
    }
    // The value may be in JSON that is itself inside a JSON string, so this form is escaped twice.
    let once = String::from_utf8_lossy(&json(value, false, false)).into_owned();
    forms.push(form("JSON-escaped", json(&once, false, false)));
    for upper in [false, true] {
        forms.push(form("JSON-escaped", escapes(value, upper)));
        forms.push(form("hexadecimal", hex(value.as_bytes(), upper)));
    }
    forms.push(form("HTML-escaped", html(value)));
    if wide {
        forms.push(form(
            "UTF-16",
            value.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        ));
        forms.push(form(
            "UTF-16",
            value.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        ));
    }
    let mut kept: Vec<ValueForm> = Vec::new();
    for form in forms {
        if !form.bytes.is_empty() && !kept.iter().any(|kept| kept.bytes == form.bytes) {
            kept.push(form);
        }
    }
    kept
}

fn form(name: &'static str, bytes: Vec<u8>) -> ValueForm {
    ValueForm {
        name,
        bytes,
        partial: (false, false),
    }
}

/// Returns the base64 of a value that begins at byte `alignment` of a group of three: only the characters that encode
/// nothing but the value, and whether the characters before and after encode a part of it.
fn base64(value: &[u8], alignment: usize) -> Option<(Vec<u8>, (bool, bool))> {
    let bits = |at: usize| -> bool {
        let byte = at / 8;
        byte >= alignment
            && value
                .get(byte - alignment)
                .is_some_and(|b| b >> (7 - at % 8) & 1 == 1)
    };
    let first = (alignment * 8).div_ceil(6);
    let last = (alignment + value.len()) * 8 / 6;
    if last < first + 6 {
        return None;
    }
    let bytes = (first..last)
        .map(|char| {
            let index = (0..6).fold(0, |sum, bit| sum << 1 | usize::from(bits(char * 6 + bit)));
            STANDARD[index]
        })
        .collect();
    Some((
        bytes,
        (
            !(alignment * 8).is_multiple_of(6),
            !((alignment + value.len()) * 8).is_multiple_of(6),
        ),
    ))
}

/// Percent-encodes a value: every byte except RFC 3986's unreserved ones, or, with `all`, each byte.
fn url(value: &str, upper: bool, plus: bool, all: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in value.bytes() {
        match byte {
            b' ' if plus => out.push(b'+'),
            _ if !all
                && (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')) =>
            {
                out.push(byte);
            }
            _ if upper => out.extend(format!("%{byte:02X}").into_bytes()),
            _ => out.extend(format!("%{byte:02x}").into_bytes()),
        }
    }
    out
}

/// Escapes a value as in a JSON string; `slash` also escapes slashes, `unicode` also each character outside ASCII.
fn json(value: &str, slash: bool, unicode: bool) -> Vec<u8> {
    let mut out = String::new();
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '/' if slash => out.push_str("\\/"),
            c if c.is_control()
                || unicode && (!c.is_ascii() || matches!(c, '<' | '>' | '&' | '\'')) =>
            {
                unit(c, false, &mut out);
            }
            c => out.push(c),
        }
    }
    out.into_bytes()
}

/// Writes each character of a value as an escape such as `\u0041`.
fn escapes(value: &str, upper: bool) -> Vec<u8> {
    let mut out = String::new();
    value.chars().for_each(|c| unit(c, upper, &mut out));
    out.into_bytes()
}

fn unit(c: char, upper: bool, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&if upper {
            format!("\\u{unit:04X}")
        } else {
            format!("\\u{unit:04x}")
        });
    }
}

fn hex(value: &[u8], upper: bool) -> Vec<u8> {
    value
        .iter()
        .flat_map(|b| {
            if upper {
                format!("{b:02X}")
            } else {
                format!("{b:02x}")
            }
            .into_bytes()
        })
        .collect()
}

fn html(value: &str) -> Vec<u8> {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
        .into_bytes()
}
