//! Merges overlapping hits, and builds the text without the hits for the next round of a scan.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use crate::rule::RuleKind;

/// A hit of a rule or a value, before overlapping hits are merged.
#[derive(Clone)]
pub(crate) struct RawHit<'a> {
    pub(crate) range: Range<usize>,
    pub(crate) rule: &'a str,
    pub(crate) stem: &'a str,
    pub(crate) kind: RuleKind,
    pub(crate) rank: u8,
    pub(crate) form: &'static str,
    /// The secret, if it is not the text at `range`: an exact value, or what an encoded text says.
    pub(crate) value: Option<Cow<'a, str>>,
}

/// Merges overlapping hits. The merged hit covers all their ranges. Its name is that of the preferred hit: a secret
/// before personal data, then the longest hit, then the highest rank.
pub(crate) fn merged<'a>(raws: &[RawHit<'a>]) -> Vec<RawHit<'a>> {
    let mut raws = raws.to_vec();
    raws.sort_by_key(|raw| (raw.range.start, Reverse(raw.range.end), Reverse(raw.rank)));
    let mut merged: Vec<RawHit<'a>> = Vec::new();
    // The length of the hit whose name the merged hit gets.
    let mut winner = 0;
    for raw in raws {
        match merged.last_mut() {
            Some(last) if raw.range.start < last.range.end => {
                let union = last.range.start..last.range.end.max(raw.range.end);
                let kind = last.kind.min(raw.kind);
                if (Reverse(raw.kind), raw.range.len(), raw.rank)
                    > (Reverse(last.kind), winner, last.rank)
                {
                    winner = raw.range.len();
                    *last = raw;
                }
                if last.range != union {
                    last.range = union;
                    last.value = None;
                }
                last.kind = kind;
            }
            _ => {
                winner = raw.range.len();
                merged.push(raw);
            }
        }
    }
    merged
}

/// Replaces each place by a mark. Returns the new text and, for each replacement, its start and end in the new text
/// and the end of the replaced place in the old text.
pub(crate) fn without(text: &str, places: &[RawHit<'_>]) -> (String, Vec<[usize; 3]>) {
    const PLACEHOLDER: &str = "[x #1]";
    let (mut rest, mut cuts, mut at) = (String::with_capacity(text.len()), Vec::new(), 0);
    for place in places {
        rest.push_str(&text[at..place.range.start]);
        let from = rest.len();
        rest.push_str(PLACEHOLDER);
        at = place.range.end;
        cuts.push([from, rest.len(), at]);
    }
    rest.push_str(&text[at..]);
    (rest, cuts)
}

/// Converts a position in the new text to the position in the old text. A position inside a replacement becomes the end
/// of the replaced place.
pub(crate) fn back(cuts: &[[usize; 3]], at: usize) -> usize {
    match cuts
        .partition_point(|[from, _, _]| *from < at)
        .checked_sub(1)
        .map(|n| cuts[n])
    {
        Some([_, to, end]) => end + at.saturating_sub(to),
        None => at,
    }
}

/// Returns whether a range has a byte in common with one of these, which are in order and do not overlap.
pub(crate) fn touches(marks: &[Range<usize>], range: &Range<usize>) -> bool {
    let next = marks.partition_point(|mark| mark.end <= range.start);
    marks.get(next).is_some_and(|mark| mark.start < range.end)
}
