//! Makes texts that look like secrets from shapes.
//!
//! The examples of the rules and the lists of the tests are shapes, so that no file of this repository contains a
//! text that a secret scanner of a code host would report. A shape is text with fields `{class:length}`, such as
//! `ghp_{A:36}`; a brace that does not open a field stays as it is.

/// The characters of each class, by the class's name.
const CLASSES: [(&str, &str); 11] = [
    ("d", "0123456789"),
    ("h", "0123456789abcdef"),
    ("H", "0123456789ABCDEF"),
    ("l", "abcdefghijklmnopqrstuvwxyz"),
    ("a", "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("U", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    ("L", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    (
        "A",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    ),
    ("bech", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    (
        "w",
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
    ),
];
/// The characters of base64.
const BASE64: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
/// Characters that people choose for passwords.
const PASSWORD: &str = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!#%*_-";

/// The largest length of a field: a user's file of rules can name any length.
const LONGEST: usize = 10_000;

/// Fills the fields of a shape with characters that depend only on `seed`.
///
/// Classes: `d` digits, `h` and `H` hexadecimal, `l` small letters, `L` letters, `a` small letters and digits, `U`
/// capitals and digits, `A` letters and digits, `w` these with `_-`, `b` base64, `32` base32, `bech` bech32, `p` a
/// password, `uuid` UUIDs, `line` lines of 64 characters of base64.
pub fn fill(shape: &str, seed: u64) -> String {
    let mut dice = Dice(
        shape
            .bytes()
            .fold(seed ^ 0x9E37_79B9_7F4A_7C15, |sum, byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            }),
    );
    let mut out = String::new();
    let mut rest = shape;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let field = rest.split_once('}').and_then(|(field, after)| {
            let (class, length) = field.split_once(':')?;
            let known = class.bytes().all(|b| b.is_ascii_alphanumeric());
            let length = length
                .parse::<usize>()
                .ok()
                .filter(|length| known && *length <= LONGEST)?;
            Some((class, length, after))
        });
        match field {
            Some((class, length, after)) => {
                write(class, length, &mut dice, &mut out);
                rest = after;
            }
            None => out.push('{'),
        }
    }
    out + rest
}

fn write(class: &str, length: usize, dice: &mut Dice, out: &mut String) {
    match class {
        "uuid" => {
            for n in 0..length {
                for (place, part) in [8, 4, 4, 4, 12].into_iter().enumerate() {
                    out.push_str(if place > 0 {
                        "-"
                    } else if n > 0 {
                        " "
                    } else {
                        ""
                    });
                    write("h", part, dice, out);
                }
            }
        }
        "line" => {
            for _ in 0..length {
                write("b", 64, dice, out);
                out.push('\n');
            }
        }
        _ => {
            let of = match class {
                "b" => BASE64,
                "p" => PASSWORD,
                class => CLASSES
                    .iter()
                    .find(|(name, _)| *name == class)
                    .map_or("?", |(_, of)| of),
            };
            for n in 0..length {
                // The first and the last character are letters or digits. A sign at an edge would make tests depend on
                // the seed.
                let of = if n == 0 || n + 1 == length {
                    of.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())
                } else {
                    of
                };
                let at = dice.below(of.len().max(1));
                out.push_str(of.get(at..=at).unwrap_or("?"));
            }
        }
    }
}

/// A generator that returns the same numbers for the same seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
