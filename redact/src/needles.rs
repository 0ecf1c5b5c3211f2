//! Searches for many exact values at once, in all their forms, including those split by a line break.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};

use crate::exact::SHORTEST;
use crate::forms::{ValueForm, forms};

/// The forms of a set of values, prepared for searching.
pub(crate) struct Needles {
    automaton: Option<NFA>,
    /// The index of the value and the form, for each pattern of the automaton.
    owners: Vec<(usize, ValueForm)>,
    /// Whether a value counts only as a whole word, for each value.
    words: Vec<bool>,
}

/// A place that contains a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NeedleMatch {
    pub(crate) range: Range<usize>,
    pub(crate) value: usize,
    pub(crate) form: &'static str,
}

impl Needles {
    /// Prepares values for a search. The flag of a value requires a whole word; `wide` also searches for UTF-16.
    pub(crate) fn new<'a>(values: impl Iterator<Item = (&'a str, bool)>, wide: bool) -> Self {
        let mut owners = Vec::new();
        let mut words = Vec::new();
        for (index, (value, word)) in values.enumerate() {
            // A short value is searched for only as written, because its few letters in another form, such as
            // hexadecimal, would occur by chance.
            let found = forms(value, wide)
                .into_iter()
                .filter(|form| form.name == "plain" || value.len() >= SHORTEST);
            owners.extend(found.map(|form| (index, form)));
            words.push(word);
        }
        let automaton = NFA::builder()
            .prefilter(false)
            .build(owners.iter().map(|(_, form)| &form.bytes))
            .ok();
        Needles {
            automaton: automaton.filter(|_| !owners.is_empty()),
            owners,
            words,
        }
    }

    /// Returns the places that contain a value: first those of unsplit values, then those of split ones, each in order
    /// of their ends. Overlapping places of one value are merged. The search stops as soon as `enough` returns true.
    pub(crate) fn find(
        &self,
        text: &[u8],
        enough: &mut dyn FnMut(&NeedleMatch) -> bool,
    ) -> Vec<NeedleMatch> {
        let mut found = Vec::new();
        if self.pass(text, &mut found, None, enough) {
            return found;
        }
        let squeezed = SqueezedText::of(text);
        if !squeezed.cuts.is_empty() {
            self.pass(&squeezed.bytes, &mut found, Some(&squeezed), enough);
        }
        found
    }

    /// Searches a text once; returns whether `enough` stopped the search.
    fn pass(
        &self,
        text: &[u8],
        found: &mut Vec<NeedleMatch>,
        squeezed: Option<&SqueezedText>,
        enough: &mut dyn FnMut(&NeedleMatch) -> bool,
    ) -> bool {
        let Some(automaton) = &self.automaton else {
            return false;
        };
        let input = Input::new(text).anchored(Anchored::No);
        let mut state = OverlappingState::start();
        let first = found.len();
        while automaton.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(hit) = state.get_match() else { break };
            let Some((value, form)) = self.owners.get(hit.pattern().as_usize()) else {
                continue;
            };
            let mut range = hit.start()..hit.end();
            if let Some(squeezed) = squeezed {
                // The second pass finds only split values. Whole words and short values are skipped, because their
                // letters also occur split by chance.
                if self.words[*value] || form.bytes.len() < SHORTEST {
                    continue;
                }
                let Some(split) = squeezed.split(&range) else {
                    continue;
                };
                range = split;
            } else {
                if self.words[*value] && !whole(text, &range) {
                    continue;
                }
                let base64 = |at: Option<&u8>| {
                    at.is_some_and(|b| b.is_ascii_alphanumeric() || b"+/-_".contains(b))
                };
                if form.partial.0 && range.start > 0 && base64(text.get(range.start - 1)) {
                    range.start -= 1;
                }
                if form.partial.1 && base64(text.get(range.end)) {
                    range.end += 1;
                }
            }
            match found[first..].last_mut() {
                // Overlapping matches of one value, as in a row of equal letters, are one place.
                Some(last)
                    if last.value == *value
                        && last.form == form.name
                        && range.start < last.range.end
                        && range.start >= last.range.start =>
                {
                    last.range.end = last.range.end.max(range.end);
                }
                _ => {
                    found.push(NeedleMatch {
                        range,
                        value: *value,
                        form: form.name,
                    });
                    if found.last().is_some_and(&mut *enough) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Returns whether neither a letter nor a digit is directly beside the range.
fn whole(text: &[u8], range: &Range<usize>) -> bool {
    let letter = |at: Option<&u8>| at.is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
    !(range
        .start
        .checked_sub(1)
        .is_some_and(|at| letter(text.get(at)))
        || letter(text.get(range.end)))
}

/// A text without its line breaks, the blanks around them, and their escapes (`\n` as two characters).
struct SqueezedText {
    bytes: Vec<u8>,
    /// For each omission, its position in `bytes` and the number of bytes omitted up to this position.
    cuts: Vec<(usize, usize)>,
}

impl SqueezedText {
    fn of(text: &[u8]) -> Self {
        let mut squeezed = SqueezedText {
            bytes: Vec::with_capacity(text.len()),
            cuts: Vec::new(),
        };
        let mut at = 0;
        while at < text.len() {
            let mut end = at;
            loop {
                let rest = &text[end..];
                end += match rest {
                    [b'\n' | b'\r', ..] => 1,
                    [b'\\', b'\n' | b'\r', ..] => 2,
                    [b'\\', b'n' | b'r', ..] => 2,
                    [b' ' | b'\t', ..] if end > at => 1,
                    _ => break,
                };
            }
            if end > at {
                squeezed
                    .cuts
                    .push((squeezed.bytes.len(), end - squeezed.bytes.len()));
                at = end;
            } else {
                squeezed.bytes.push(text[at]);
                at += 1;
            }
        }
        squeezed
    }

    /// Returns the range in the original text; `None` if no omission splits the range.
    fn split(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let inside = self.cuts.partition_point(|(at, _)| *at <= range.start);
        let cut = self.cuts.get(inside).is_some_and(|(at, _)| *at < range.end);
        cut.then(|| {
            let shift = |before: usize| before.checked_sub(1).map_or(0, |n| self.cuts[n].1);
            let last = self.cuts.partition_point(|(at, _)| *at < range.end);
            range.start + shift(inside)..range.end + shift(last)
        })
    }
}
