//! Bytes as text of a page, seven bits a character.
//!
//! A page is served as UTF-8 by most hosts, whatever the page says, so a byte above 127 cannot stand for itself; base64 takes a third
//! more. Here each group of seven bits is the ASCII character of that number. The three that a page's script element cannot hold (NUL,
//! a carriage return, `<`) take the next group with them into one character of two bytes: a seventh more in all.

/// Groups that cannot stand for themselves.
const ODD: [u8; 3] = [0, b'\r', b'<'];
/// The first character of two bytes.
const TWO: u32 = 0x80;

/// Writes bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 7 * 8 + 16);
    let mut groups = Groups {
        bytes: bytes.iter(),
        held: 0,
        bits: 0,
    };
    while let Some(group) = groups.next() {
        match ODD.iter().position(|odd| *odd == group) {
            None => text.push(char::from(group)),
            Some(odd) => {
                let next = groups.next().unwrap_or_default();
                let code = TWO + ((odd as u32) << 7) + u32::from(next);
                text.extend(char::from_u32(code));
            }
        }
    }
    text
}

/// Reads what [`encode`] wrote of `len` bytes; `None` where the text is something else.
pub fn decode(text: &str, len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(text.len()));
    let (mut held, mut bits) = (0u32, 0);
    let mut groups = 0_usize;
    let mut put = |group: u32| {
        groups += 1;
        held = (held << 7 | group) & 0x7fff;
        bits += 7;
        if bits >= 8 && bytes.len() < len {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    };
    for c in text.chars() {
        let code = u32::from(c);
        match code.checked_sub(TWO) {
            None => put(code),
            Some(two) => {
                put(u32::from(*ODD.get((two >> 7) as usize)?));
                put(two & 0x7f);
            }
        }
    }
    // A character of two bytes at the end may carry a group of nothing.
    let most = len.checked_mul(8)?.div_ceil(7) + 1;
    (bytes.len() == len && groups <= most).then_some(bytes)
}

/// Bytes in groups of seven bits, the last one filled up with zeros.
struct Groups<'a> {
    bytes: std::slice::Iter<'a, u8>,
    held: u32,
    bits: u32,
}

impl Iterator for Groups<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.bits < 7 {
            match self.bytes.next() {
                Some(byte) => {
                    self.held = (self.held << 8 | u32::from(*byte)) & 0x7fff;
                    self.bits += 8;
                }
                None if self.bits == 0 => return None,
                None => {
                    self.held <<= 7 - self.bits;
                    self.bits = 7;
                }
            }
        }
        self.bits -= 7;
        Some((self.held >> self.bits & 0x7f) as u8)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_page_cannot_hold_is_not_in_the_text() {
        let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_be_bytes).collect();
        let text = encode(&all);
        assert!(!text.contains(['\0', '\r', '<']));
        assert!(text.len() < all.len() * 8 / 7 + 16, "{}", text.len());
        assert_eq!(decode(&text, all.len()), Some(all));
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes), bytes.len()), Some(bytes));
        }

        #[test]
        fn any_text_is_read_or_refused(text: String, len in 0usize..100) {
            let _ = decode(&text, len);
        }
    }
}
