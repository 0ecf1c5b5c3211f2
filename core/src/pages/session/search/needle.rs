//! Finds a text in bytes that are read in pieces.

/// How many bytes of a line are shown before and after a match.
const AROUND: usize = 80;

/// An error: the text to search for is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text to search for is empty")]
pub struct EmptyText;

/// A text to search for. Case is ignored unless the text has a capital letter.
#[derive(Debug, Clone)]
pub struct Needle {
    text: String,
    chars: Vec<char>,
    exact: bool,
}

impl Needle {
    /// Prepares a text for searching.
    ///
    /// # Errors
    /// An error if the text has only white space.
    pub fn new(text: &str) -> Result<Needle, EmptyText> {
        if text.trim().is_empty() {
            return Err(EmptyText);
        }
        let exact = text.chars().any(char::is_uppercase);
        let chars = text.chars().map(|c| if exact { c } else { fold(c) });
        Ok(Needle {
            chars: chars.collect(),
            text: text.to_owned(),
            exact,
        })
    }

    /// Returns the text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the search distinguishes capital and small letters.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns whether the given text contains the text that is searched for.
    pub fn is_in(&self, text: &str) -> bool {
        self.find(text.as_bytes(), 0, text.len()).is_some()
    }

    /// Returns the largest number of bytes that a match can have.
    fn most(&self) -> usize {
        4 * self.chars.len()
    }

    /// Returns the start and end of the first match in `hay` that begins at `from` or later and before `limit`.
    fn find(&self, hay: &[u8], from: usize, limit: usize) -> Option<(usize, usize)> {
        let first = *self.chars.first()?;
        let mut at = from;
        while at < limit {
            let rest = hay.get(at..)?;
            if first.is_ascii() {
                // Searching the first byte is fast. In UTF-8, an ASCII byte is never a part of another character.
                let (a, b) = (first as u8, first.to_ascii_uppercase() as u8);
                let both = !self.exact;
                at += rest.iter().position(|&c| c == a || (both && c == b))?;
                if at >= limit {
                    return None;
                }
            }
            if let Some(end) = self.matches(hay, at) {
                return Some((at, end));
            }
            at += decode(hay, at)?.1;
        }
        None
    }

    fn matches(&self, hay: &[u8], mut at: usize) -> Option<usize> {
        for want in &self.chars {
            let (c, len) = decode(hay, at)?;
            if c != *want && (self.exact || fold(c) != *want) {
                return None;
            }
            at += len;
        }
        Some(at)
    }
}

/// Returns a letter in lower case, if that is a single character. A letter outside of ASCII never becomes an ASCII
/// letter, so the Kelvin sign does not match `k`.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(low), None) if !low.is_ascii() => low,
        _ => c,
    }
}

/// Decodes the character at a position, and returns its length in bytes. An invalid byte becomes U+FFFD.
fn decode(hay: &[u8], at: usize) -> Option<(char, usize)> {
    let first = *hay.get(at)?;
    let len = match first {
        0..0x80 => return Some((char::from(first), 1)),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => 1,
    };
    let text = hay.get(at..at + len).map(std::str::from_utf8);
    let c = text.and_then(|text| text.ok()?.chars().next());
    Some(c.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, len)))
}

/// A line that contains the text that is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    /// The line of the text, from 1.
    pub line: u64,
    /// Position of the match in the text, in bytes.
    pub offset: u64,
    /// The matching line, or the part of a long line around the match.
    pub text: String,
    /// Start and end of the match in `text`, in characters.
    pub range: (u32, u32),
}

/// A search through a text that is read in pieces. Each matching line is reported once.
#[derive(Debug, Default)]
pub(super) struct NeedleScan {
    held: Vec<u8>,
    /// The position of `held` in the text.
    base: u64,
    /// The position in `held` from which matches were not searched yet.
    from: usize,
    /// The line at `from`.
    line: u64,
    /// The last line that was reported, if any.
    reported: Option<u64>,
}

impl NeedleScan {
    /// Searches the next piece. `last` marks the last piece, which may be empty.
    pub(super) fn piece(
        &mut self,
        needle: &Needle,
        piece: &[u8],
        last: bool,
        found: &mut dyn FnMut(Match),
    ) {
        self.held.extend_from_slice(piece);
        // Bytes near the end are searched with the next piece, which may complete a match or its line.
        let limit = if last {
            self.held.len()
        } else {
            self.held.len().saturating_sub(needle.most() + AROUND)
        };
        while let Some((from, to)) = needle.find(&self.held, self.from, limit) {
            self.pass(from);
            if self.reported != Some(self.line) {
                self.reported = Some(self.line);
                found(self.shown(from, to));
            }
            self.pass(from + 1);
        }
        self.pass(limit);
        let gone = self.from.saturating_sub(AROUND);
        self.held.drain(..gone);
        self.base += gone as u64;
        self.from -= gone;
    }

    /// Moves to a position in `held`, counting lines.
    fn pass(&mut self, to: usize) {
        let passed = self.held.get(self.from..to).unwrap_or_default();
        self.line += passed.iter().filter(|b| **b == b'\n').count() as u64;
        self.from = self.from.max(to);
    }

    fn shown(&self, from: usize, to: usize) -> Match {
        let held = &self.held;
        let part = |range: std::ops::Range<usize>| held.get(range).unwrap_or_default();
        let is_end = |b: &u8| *b == b'\n';
        let is_middle = |at: usize| held.get(at).is_some_and(|b| (0x80..0xc0).contains(b));
        let mut start = from.saturating_sub(AROUND);
        while start < from && is_middle(start) {
            start += 1;
        }
        let begin = part(start..from).iter().rposition(is_end);
        let begin = begin.map_or(start, |at| start + at + 1);
        let mut stop = (to + AROUND).min(held.len());
        while stop > to && is_middle(stop) {
            stop -= 1;
        }
        let end = part(to..stop).iter().position(is_end);
        let end = end.map_or(stop, |at| to + at);
        let text = |range| String::from_utf8_lossy(part(range)).into_owned();
        let (before, own) = (text(begin..from), text(from..to));
        let behind = text(to..end);
        let at = before.chars().count() as u32;
        Match {
            line: self.line + 1,
            offset: self.base + from as u64,
            range: (at, at + own.chars().count() as u32),
            text: format!("{before}{own}{}", behind.trim_end_matches('\r')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each match in a text that is read in pieces of this size: line, offset, and the line with brackets.
    fn found(text: &str, hay: &[u8], size: usize) -> Vec<String> {
        let needle = Needle::new(text).unwrap();
        let (mut scan, mut out) = (NeedleScan::default(), Vec::new());
        let mut reported = |m: Match| {
            let (from, to) = (m.range.0 as usize, m.range.1 as usize);
            let part = |from: usize, to: usize| -> String {
                m.text.chars().skip(from).take(to - from).collect()
            };
            let line = format!("{}[{}]{}", part(0, from), part(from, to), part(to, 9_999));
            out.push(format!("{} {} {line}", m.line, m.offset));
        };
        for piece in hay.chunks(size) {
            scan.piece(&needle, piece, false, &mut reported);
        }
        scan.piece(&needle, &[], true, &mut reported);
        out
    }

    #[test]
    fn a_match_is_found_wherever_the_pieces_end() {
        let hay = "first line\nthe größte Straße, straße again\r\nlast Straße".as_bytes();
        for size in [1, 2, 3, 7, 16, 1000] {
            assert_eq!(
                found("straße", hay, size),
                [
                    "2 24 the größte [Straße], straße again",
                    "3 53 last [Straße]"
                ],
                "{size}"
            );
        }
    }

    #[test]
    fn capitals_differ_only_where_the_text_has_one() {
        let hay = b"error ERROR Error";
        assert_eq!(found("error", hay, 4), ["1 0 [error] ERROR Error"]);
        assert_eq!(found("Error", hay, 4), ["1 12 error ERROR [Error]"]);
        assert_eq!(found("ÄÖ", "äö ÄÖ".as_bytes(), 3), ["1 5 äö [ÄÖ]"]);
        assert_eq!(found("äö", "ÄÖ".as_bytes(), 1), ["1 0 [ÄÖ]"]);
        // The Kelvin sign is not equal to the letter k.
        assert_eq!(found("k", "\u{212a} k".as_bytes(), 2), ["1 4 \u{212a} [k]"]);
    }

    #[test]
    fn a_long_line_is_shown_around_the_match_only() {
        let hay = format!("{}needle{}", "ä".repeat(5_000), "ö".repeat(5_000));
        for size in [13, 4096] {
            let found = found("needle", hay.as_bytes(), size);
            assert_eq!(found.len(), 1, "{size}");
            assert!(
                found[0].contains("ä[needle]ö") && found[0].len() < 200,
                "{found:?}"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text_hide_no_match() {
        assert_eq!(found("b", b"\xffab\xc3", 1), ["1 2 \u{fffd}a[b]\u{fffd}"]);
        assert!(Needle::new(" \n").is_err());
    }
}
