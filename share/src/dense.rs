//! Encodes bytes as text of an HTML page, seven bits per character.
//!
//! Most hosts serve a page as UTF-8 whatever it declares, so a byte above 127 cannot be used directly, and base64 is
//! longer by a third. This encoding writes each group of seven bits as the ASCII character with that number. A script
//! element cannot contain three of these characters (NUL, carriage return, `<`); each is combined with the next group
//! into one character of two bytes. The text is longer than the bytes by about a seventh.

/// The groups of seven bits whose characters cannot occur in a script element.
const ODD: [u8; 3] = [0, b'\r', b'<'];
/// The first character with two bytes in UTF-8.
const TWO: u32 = 0x80;

/// Encodes bytes as text.
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

/// Decodes `len` bytes from a text of [`encode`]; `None` if the text is not an encoding of `len` bytes.
pub fn decode(text: &str, len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(text.len()));
    let mut decoder = Decoder::new(len as u64);
    decoder.feed(text.as_bytes(), &mut bytes)?;
    decoder.end()?;
    Some(bytes)
}

/// Decodes a text of [`encode`] in pieces, which may end in the middle of a character.
#[derive(Debug)]
pub struct Decoder {
    /// The number of bytes that are still to be decoded.
    left: u64,
    held: u32,
    bits: u32,
    /// The number of bits after the last whole byte.
    spare: u32,
    /// The first byte of a character that a later piece completes.
    lead: Option<u8>,
}

impl Decoder {
    /// Creates a decoder for the text of `len` encoded bytes.
    pub fn new(len: u64) -> Decoder {
        Decoder {
            left: len,
            held: 0,
            bits: 0,
            spare: 0,
            lead: None,
        }
    }

    /// Decodes a piece of the text; `None` if the piece is not part of an encoding.
    pub fn feed(&mut self, text: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
        for byte in text {
            match (self.lead.take(), byte) {
                (None, 0..=0x7f) => self.put(u32::from(*byte), bytes),
                (None, 0xc2..=0xc7) => self.lead = Some(*byte),
                (Some(lead), 0x80..=0xbf) => {
                    let code = u32::from(lead & 0x1f) << 6 | u32::from(byte & 0x3f);
                    let two = code.checked_sub(TWO)?;
                    self.put(u32::from(*ODD.get((two >> 7) as usize)?), bytes);
                    self.put(two & 0x7f, bytes);
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Checks, after the last piece, that the text was exactly as long as the expected bytes need; `None` if the text
    /// was shorter or longer.
    pub fn end(self) -> Option<()> {
        // The last group is padded. If its character cannot occur in a script element, another group follows. Padding
        // and group have fewer than 14 bits together.
        let whole = self.left == 0 && self.lead.is_none();
        (whole && self.spare < 14).then_some(())
    }

    fn put(&mut self, group: u32, bytes: &mut Vec<u8>) {
        if self.left == 0 {
            self.spare = self.spare.saturating_add(7);
            return;
        }
        self.held = (self.held << 7 | group) & 0x7fff;
        self.bits += 7;
        if self.bits >= 8 {
            self.bits -= 8;
            bytes.push((self.held >> self.bits & 0xff) as u8);
            self.left -= 1;
            self.spare = self.bits;
        }
    }
}

/// Bytes in groups of seven bits, the last padded with zeros.
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
        fn bytes_come_back_of_a_text_in_pieces(bytes: Vec<u8>, piece in 1usize..9) {
            let (mut decoder, mut read) = (Decoder::new(bytes.len() as u64), Vec::new());
            for part in encode(&bytes).as_bytes().chunks(piece) {
                prop_assert!(decoder.feed(part, &mut read).is_some());
            }
            prop_assert!(decoder.end().is_some());
            prop_assert_eq!(read, bytes);
        }

        #[test]
        fn another_length_is_refused(bytes: Vec<u8>, other in 0usize..200) {
            let text = encode(&bytes);
            // A length that is wrong by one can decode, because a byte passes for padding or padding for a byte. The
            // length and checksums of the zip detect these cases.
            prop_assume!(other.abs_diff(bytes.len()) > 1);
            prop_assert_eq!(decode(&text, other), None);
        }

        #[test]
        fn any_text_is_read_or_refused(text: String, len in 0usize..100) {
            let _ = decode(&text, len);
        }
    }
}
