//! Searches for planted secrets independently of the rules: in plain form, and in each form in which a text can be
//! encoded once.

use std::collections::{BTreeMap, HashMap};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The number of bytes at the beginning of a searched text by which the text is looked up.
const HEAD: usize = 8;

/// A searched text: the number of the planted secret, the name of its encoding, and its bytes.
type Needle = (usize, &'static str, Vec<u8>);

/// All texts to search for.
#[derive(Default)]
pub(crate) struct Sought {
    needles: HashMap<[u8; HEAD], Vec<Needle>>,
}

impl Sought {
    /// Adds a part of a planted secret, which must not remain, in every form.
    pub(crate) fn add(&mut self, plant: usize, piece: &str) {
        for (form, bytes) in forms(piece) {
            let Some(head) = bytes.first_chunk::<HEAD>() else {
                continue;
            };
            let with = self.needles.entry(*head).or_default();
            with.push((plant, form, bytes.clone()));
        }
    }

    /// Returns the numbers of the secrets that were found, each with the encoding in which it was found.
    pub(crate) fn found(&self, bytes: &[u8]) -> BTreeMap<usize, &'static str> {
        let mut found = BTreeMap::new();
        self.search(bytes, &mut found, "");
        let joined = joined(bytes);
        if joined.len() < bytes.len() {
            self.search(&joined, &mut found, "split over lines");
        }
        found
    }

    fn search(&self, bytes: &[u8], found: &mut BTreeMap<usize, &'static str>, how: &'static str) {
        for at in 0..bytes.len().saturating_sub(HEAD - 1) {
            let Some(head) = bytes.get(at..).and_then(<[u8]>::first_chunk::<HEAD>) else {
                break;
            };
            for (plant, form, needle) in self.needles.get(head).into_iter().flatten() {
                if bytes[at..].starts_with(needle) {
                    let form = if how.is_empty() { form } else { how };
                    found.entry(*plant).or_insert(form);
                }
            }
        }
    }
}

/// Returns a text in each form in which it can be encoded once.
pub(crate) fn forms(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect();
    let url = text.bytes().map(|b| match b {
        b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
        b if b.is_ascii_alphanumeric() => char::from(b).to_string(),
        b => format!("%{b:02X}"),
    });
    let json = serde_json::to_string(text).expect("JSON");
    let mut forms = vec![
        ("plain", text.as_bytes().to_vec()),
        ("UTF-16", wide(u16::to_le_bytes)),
        ("UTF-16, other order", wide(u16::to_be_bytes)),
        ("URL-encoded", url.collect::<String>().into_bytes()),
        ("in JSON", json.as_bytes()[1..json.len() - 1].to_vec()),
        ("as escapes", escaped(text).into_bytes()),
    ];
    // Base64 at each alignment, without the characters that also encode neighbouring bytes.
    for before in 0..3 {
        let whole = [&b"xxx"[..before], text.as_bytes()].concat();
        let letters = STANDARD.encode(&whole);
        let letters = letters.trim_end_matches('=');
        let from = (before * 8).div_ceil(6);
        let to = letters.len() - usize::from(!(whole.len() * 8).is_multiple_of(6));
        forms.push(("base64", letters.as_bytes()[from..to].to_vec()));
    }
    forms
}

/// Returns each character as a JSON escape.
pub(crate) fn escaped(text: &str) -> String {
    let units = text.encode_utf16();
    units.map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Returns bytes without line breaks, the blanks after them, and their escapes.
fn joined(bytes: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut is_behind = false;
    while let Some(first) = rest.first() {
        let skip = match rest {
            [b'\n' | b'\r', ..] => 1,
            [b'\\', b'n' | b'r', ..] => 2,
            [b' ' | b'\t', ..] if is_behind => 1,
            _ => 0,
        };
        is_behind = skip > 0;
        match skip {
            0 => {
                joined.push(*first);
                rest = &rest[1..];
            }
            skip => rest = &rest[skip..],
        }
    }
    joined
}

#[test]
fn each_form_is_found() {
    let mut sought = Sought::default();
    let secret = "hunter2/is+not-enough?";
    sought.add(7, secret);
    for (form, bytes) in forms(secret) {
        let text = [b"before ", &bytes[..], b" behind"].concat();
        assert!(sought.found(&text).contains_key(&7), "{form}");
    }
    for around in ["x", "xy", "xyz"] {
        let whole = STANDARD.encode(format!("{around}{secret}{around}"));
        assert!(sought.found(whole.as_bytes()).contains_key(&7), "{around}");
    }
    for split in ["hunter2/is+\n   not-enough?", "hunter2/is+\\nnot-enough?"] {
        assert!(sought.found(split.as_bytes()).contains_key(&7), "{split}");
    }
    assert!(sought.found(b"hunter2/is+not-").is_empty());
}
