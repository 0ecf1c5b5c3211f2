//! The readings of a text: unescaped, joined over line breaks, decoded from base64, hexadecimal digits or UTF-16.
//!
//! A search looks for a secret in each reading of a text, instead of for each encoding of each secret in the text: so
//! its time depends on the text, and not on how many secrets there are.

use std::borrow::Cow;
use std::ops::Range;

use crate::escape::escape;
use crate::exact;

/// How often escapes are undone: JSON in a string of JSON in a log has three levels.
const LEVELS: usize = 3;
/// The shortest base64 or hexadecimal digits in which the rules search, too.
const SHORTEST_TEXT: usize = 24;

/// What a search needs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// Whether anything encoded is to be searched for known secrets, and not only what the rules can read.
    pub(crate) secrets: bool,
    /// Whether to undo `\n`, `\"` and `\\`, which most JSON has and few secrets contain.
    pub(crate) escapes: bool,
    /// Whether to read UTF-16.
    pub(crate) wide: bool,
}

/// A reading of a text, with the way back to the text.
pub(crate) struct Reading<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// The name of the encoding in reports.
    pub(crate) form: &'static str,
    /// Whether the rules can search in it; else only known secrets are searched for.
    pub(crate) is_text: bool,
    /// Whether line breaks were removed, in this reading or in one that it comes from.
    pub(crate) is_joined: bool,
    steps: Vec<Step>,
    from: Option<&'a Reading<'a>>,
}

/// A stretch of a reading, which begins at byte `at` and comes from byte `from` of the reading before.
///
/// Its positions have 32 bits, because a text of escapes has a step each six bytes.
struct Step {
    at: u32,
    from: u32,
    ratio: Ratio,
}

/// How many bytes are read as how many.
#[derive(Clone, Copy)]
enum Ratio {
    One,
    /// Two as one: hexadecimal digits, UTF-16.
    Two,
    /// Four as three: base64.
    Base64,
    /// All bytes of an escape, of this length, as one character.
    Escape(u16),
}

/// A function that gets each reading, and returns whether to stop.
type See<'a> = dyn FnMut(&Reading<'_>) -> bool + 'a;

/// Passes the text itself and then its other readings to `see`, until `see` returns true.
pub(crate) fn each_reading(text: &[u8], wanted: Wanted, see: &mut See<'_>) {
    let whole = Reading {
        bytes: Cow::Borrowed(text),
        form: "plain",
        is_text: true,
        is_joined: false,
        steps: Vec::new(),
        from: None,
    };
    let long = u32::try_from(text.len()).is_err();
    if see(&whole) || long || whole.deeper(LEVELS, wanted, see) || !wanted.secrets {
        return;
    }
    let joined = whole.joined();
    if joined.is_some_and(|joined| see(&joined) || joined.deeper(LEVELS, wanted, see)) {
        return;
    }
    let _ = wanted.wide && (0..2).any(|first| whole.narrowed(first).is_some_and(|of| see(&of)));
}

impl<'a> Reading<'a> {
    fn of(from: &'a Reading<'a>, form: &'static str) -> Reading<'a> {
        Reading {
            bytes: Cow::default(),
            form,
            is_text: false,
            is_joined: from.is_joined,
            steps: Vec::new(),
            from: Some(from),
        }
    }

    /// Returns the part of the text that a part of this reading comes from; `None` if this reading removed line breaks,
    /// but none in this part: then an earlier reading has the same.
    pub(crate) fn back(&self, part: Range<usize>) -> Option<Range<usize>> {
        let Some(from) = self.from else {
            return Some(part);
        };
        let (begin, end) = (part.start as u32, part.end as u32);
        let first = self.steps.partition_point(|step| step.at <= begin);
        let last = self.steps.partition_point(|step| step.at < end);
        if self.is_joined && !from.is_joined && first == last {
            return None;
        }
        let (first, last) = (first.checked_sub(1)?, last.checked_sub(1)?);
        let (first, last) = (&self.steps[first], &self.steps[last]);
        let start = match (first.ratio, begin - first.at) {
            (Ratio::One, bytes) => bytes,
            (Ratio::Two, bytes) => bytes * 2,
            (Ratio::Base64, bytes) => bytes * 4 / 3,
            (Ratio::Escape(_), _) => 0,
        };
        let end = match (last.ratio, end - last.at) {
            (Ratio::One, bytes) => bytes,
            (Ratio::Two, bytes) => bytes * 2,
            (Ratio::Base64, bytes) => (bytes * 4).div_ceil(3),
            (Ratio::Escape(length), _) => u32::from(length),
        };
        from.back((first.from + start) as usize..(last.from + end) as usize)
    }

    /// Passes the readings of this reading to `see`; returns whether to stop.
    fn deeper(&self, levels: usize, wanted: Wanted, see: &mut See<'_>) -> bool {
        let mut decoded = self.decoded(wanted).into_iter();
        if decoded.any(|of| !of.bytes.is_empty() && see(&of)) {
            return true;
        }
        let next = self.unescaped(wanted).filter(|_| levels > 0);
        next.is_some_and(|next| see(&next) || next.deeper(levels - 1, wanted, see))
    }

    /// Adds a stretch that comes from byte `from` of the reading before.
    fn push(&mut self, bytes: &[u8], from: usize, ratio: Ratio) {
        let (at, from) = (self.bytes.len() as u32, from as u32);
        if !bytes.is_empty() {
            self.steps.push(Step { at, from, ratio });
            self.bytes.to_mut().extend_from_slice(bytes);
        }
    }

    /// Returns the text without its escapes: JSON's, percent signs, HTML's, and the codes of a terminal's colours.
    fn unescaped(&self, wanted: Wanted) -> Option<Reading<'_>> {
        let text = &*self.bytes;
        let mut reading = Reading::of(self, "escaped");
        reading.is_text = !self.is_joined;
        let (mut at, mut copied, mut worth) = (0, 0, false);
        let mut read = Vec::new();
        let begins = |byte: &u8| matches!(byte, b'\\' | b'%' | b'&' | 0x1B);
        while let Some(found) = text[at..].iter().position(begins) {
            at += found;
            read.clear();
            let Some(found) = escape(&text[at..], &mut read) else {
                at += 1;
                continue;
            };
            worth |= wanted.escapes || !found.common;
            reading.push(&text[copied..at], copied, Ratio::One);
            reading.push(&read, at, Ratio::Escape(found.length as u16));
            at += found.length;
            copied = at;
        }
        reading.push(&text[copied..], copied, Ratio::One);
        worth.then_some(reading)
    }

    /// Returns the text without line breaks, the blanks around them, and their escapes (`\n` as two characters).
    fn joined(&self) -> Option<Reading<'_>> {
        let text = &*self.bytes;
        let mut reading = Reading::of(self, "plain");
        reading.is_joined = true;
        let (mut at, mut copied) = (0, 0);
        let begins = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\\');
        while let Some(found) = text[at..].iter().position(begins) {
            at += found;
            let length = line_break(&text[at..]);
            if length > 0 {
                reading.push(&text[copied..at], copied, Ratio::One);
                copied = at + length;
            }
            at += length.max(1);
        }
        reading.push(&text[copied..], copied, Ratio::One);
        (copied > 0).then_some(reading)
    }

    /// Returns what base64 and hexadecimal digits encode: first what is text, then the rest from each place at which
    /// its encoding can begin.
    fn decoded(&self, wanted: Wanted) -> Vec<Reading<'_>> {
        let mut all: Vec<_> = CODES
            .iter()
            .flat_map(|code| (0..=code.places).map(|_| Reading::of(self, code.form)))
            .collect();
        let [base64, hexadecimal] = &CODES;
        let (of_base64, of_hexadecimal) = all.split_at_mut(base64.places + 1);
        let mut at = 0;
        // Hexadecimal digits are digits of base64, too.
        while let Some(run) = base64.next(&self.bytes, at..self.bytes.len()) {
            at = run.end;
            self.decode(base64, run.clone(), wanted, of_base64);
            let mut inside = run.start;
            while let Some(digits) = hexadecimal.next(&self.bytes, inside..run.end) {
                inside = digits.end;
                self.decode(hexadecimal, digits, wanted, of_hexadecimal);
            }
        }
        all
    }

    /// Decodes a run of digits into the readings of its code.
    fn decode(&self, code: &Code, run: Range<usize>, wanted: Wanted, into: &mut [Reading<'_>]) {
        let least = if wanted.secrets {
            code.shortest
        } else {
            SHORTEST_TEXT
        };
        if run.len() < least {
            return;
        }
        let mut read = Vec::new();
        for place in 0..code.places.min(run.len()) {
            if place > 0 && !wanted.secrets {
                break;
            }
            let from = run.start + place;
            code.packed(&self.bytes[from..run.end], &mut read);
            let is_text =
                place == 0 && !self.is_joined && run.len() >= SHORTEST_TEXT && readable(&read);
            if is_text || wanted.secrets {
                // A zero byte separates two runs: no secret contains one.
                read.push(0);
                let reading = &mut into[if is_text { 0 } else { place + 1 }];
                reading.is_text |= is_text;
                reading.push(&read, from, code.ratio);
            }
        }
    }

    /// Returns the characters of UTF-16 of which one of the two bytes is zero; `first` is the place of the other byte.
    fn narrowed(&self, first: usize) -> Option<Reading<'_>> {
        let mut reading = Reading::of(self, "UTF-16");
        let unit = |two: &&[u8]| two.len() == 2 && two[1 - first] == 0 && two[first] != 0;
        let mut at = 0;
        while let Some(zero) = self.bytes[at..].iter().position(|byte| *byte == 0) {
            // In one order of bytes, the zero is the second byte of its character.
            at += zero.saturating_sub(1 - first);
            let units = self.bytes[at..].chunks(2).take_while(unit).count();
            if units < exact::SHORTEST {
                at += 1 + 2 * units;
                continue;
            }
            for n in 0..units {
                let c = char::from(self.bytes[at + 2 * n + first]);
                let ratio = if c.is_ascii() {
                    Ratio::Two
                } else {
                    Ratio::Escape(2)
                };
                reading.push(c.encode_utf8(&mut [0; 4]).as_bytes(), at + 2 * n, ratio);
            }
            at += 2 * units;
            reading.push(&[0], at, Ratio::One);
        }
        (!reading.steps.is_empty()).then_some(reading)
    }
}

/// Returns the length of the line break, escaped or not, and the blanks behind it, with which bytes begin; else 0.
fn line_break(bytes: &[u8]) -> usize {
    let mut end = 0;
    loop {
        end += match &bytes[end..] {
            [b'\n' | b'\r', ..] => 1,
            [b'\\', b'\n' | b'\r' | b'n' | b'r', ..] => 2,
            [b' ' | b'\t', ..] if end > 0 => 1,
            _ => return end,
        };
    }
}

/// A code that writes bytes as digits.
struct Code {
    form: &'static str,
    /// The number that each byte stands for; [`NO_DIGIT`] if it stands for none.
    digits: [u8; 256],
    ratio: Ratio,
    /// The bits of a digit.
    width: u32,
    /// At how many places a byte can begin in a group of digits.
    places: usize,
    /// The fewest digits that encode the shortest secret.
    shortest: usize,
}

const NO_DIGIT: u8 = u8::MAX;

/// Base64, in both alphabets, and hexadecimal digits.
static CODES: [Code; 2] = [
    Code {
        form: "base64",
        digits: digits(
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        ),
        ratio: Ratio::Base64,
        width: 6,
        places: 4,
        shortest: (exact::SHORTEST * 4).div_ceil(3),
    },
    Code {
        form: "hexadecimal",
        digits: digits(b"0123456789abcdef", b"0123456789ABCDEF"),
        ratio: Ratio::Two,
        width: 4,
        places: 2,
        shortest: exact::SHORTEST * 2,
    },
];

const fn digits(one: &[u8], other: &[u8]) -> [u8; 256] {
    let mut digits = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < one.len() {
        digits[one[digit] as usize] = digit as u8;
        digits[other[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
}

/// Returns the value of a hexadecimal digit.
pub(crate) fn hexadecimal(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

impl Code {
    /// Returns the next run of digits that is long enough to decode.
    fn next(&self, bytes: &[u8], within: Range<usize>) -> Option<Range<usize>> {
        let is_digit = |byte: &u8| self.digits[usize::from(*byte)] != NO_DIGIT;
        let mut at = within.start;
        loop {
            at += bytes[at..within.end].iter().position(is_digit)?;
            let rest = bytes[at..within.end].iter();
            let length = rest.take_while(|byte| is_digit(byte)).count();
            if length >= self.shortest {
                return Some(at..at + length);
            }
            at += length;
        }
    }

    /// Writes the bytes that digits encode.
    fn packed(&self, digits: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let (mut held, mut bits) = (0u32, 0);
        for digit in digits {
            held = held << self.width | u32::from(self.digits[usize::from(*digit)]);
            bits += self.width;
            if bits >= 8 {
                bits -= 8;
                out.push((held >> bits) as u8);
            }
        }
    }
}

/// Returns whether bytes are text that a person can read.
fn readable(bytes: &[u8]) -> bool {
    let shown = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(shown))
}
