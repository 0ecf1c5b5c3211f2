//! Searches a reading of a text for many exact values at once.

use std::ops::Range;

use aho_corasick::automaton::{Automaton, OverlappingState};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, Input};

use crate::exact::SHORTEST;
use crate::reading::{Reading, Wanted};

/// The most bytes that the values of a search have together: building it takes about 40 times as much memory.
pub(crate) const MOST: usize = 4 << 20;

/// A set of values, prepared for searching.
pub(crate) struct Needles {
    automaton: Option<NFA>,
    /// For each pattern of the automaton, the index of its value.
    owners: Vec<usize>,
    /// For each value, whether it counts only as a whole word.
    words: Vec<bool>,
    /// Whether a value has a character that JSON escapes.
    escapes: bool,
}

/// A place that contains a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NeedleMatch {
    /// The part of the text, which may be longer than the part of the reading.
    pub(crate) range: Range<usize>,
    pub(crate) value: usize,
    pub(crate) form: &'static str,
}

impl Needles {
    /// Prepares values for a search, as many as [`MOST`] allows. The flag of a value requires a whole word.
    pub(crate) fn new<'a>(values: impl Iterator<Item = (&'a str, bool)>) -> Self {
        let (mut patterns, mut owners, mut words) = (Vec::new(), Vec::new(), Vec::new());
        let (mut held, mut escapes) = (0, false);
        for (index, (value, word)) in values.enumerate() {
            words.push(word);
            held += value.len();
            if held > MOST {
                break;
            }
            escapes |= value.contains(['"', '\'', '\\', '\n', '\r', '\t']);
            patterns.push(value.to_owned());
            if value.contains(' ') {
                // A form on the web sends a blank as a plus sign.
                patterns.push(value.replace(' ', "+"));
            }
            if value.contains('\n') {
                patterns.push(value.lines().map(str::trim).collect());
            }
            owners.resize(patterns.len(), index);
        }
        let automaton = NFA::builder().prefilter(false).build(&patterns).ok();
        Needles {
            automaton: automaton.filter(|_| !owners.is_empty()),
            owners,
            words,
            escapes,
        }
    }

    /// Returns which readings a search for these values needs.
    pub(crate) fn wanted(&self, wide: bool) -> Wanted {
        Wanted {
            secrets: self.automaton.is_some(),
            escapes: self.escapes,
            wide,
        }
    }

    /// Adds the places of a reading that contain a value, in order of their ends; overlapping places of one value are
    /// merged. The search stops as soon as `enough` returns true, and then returns true.
    pub(crate) fn find(
        &self,
        reading: &Reading<'_>,
        found: &mut Vec<NeedleMatch>,
        enough: &mut dyn FnMut(&NeedleMatch) -> bool,
    ) -> bool {
        let Some(automaton) = &self.automaton else {
            return false;
        };
        let input = Input::new(&*reading.bytes).anchored(Anchored::No);
        let mut state = OverlappingState::start();
        let first = found.len();
        while automaton.try_find_overlapping(&input, &mut state).is_ok() {
            let Some(hit) = state.get_match() else { break };
            let Some(value) = self.owners.get(hit.pattern().as_usize()) else {
                continue;
            };
            // The letters of a short value or of a word also occur encoded or split by chance.
            let part = hit.start()..hit.end();
            let chance = reading.form != "plain" && part.len() < SHORTEST
                || reading.is_joined && (self.words[*value] || part.len() < SHORTEST);
            if chance || self.words[*value] && !whole(&reading.bytes, &part) {
                continue;
            }
            let Some(range) = reading.back(part) else {
                continue;
            };
            match found[first..].last_mut() {
                // Overlapping matches of one value, as in a row of equal letters, are one place.
                Some(last)
                    if last.value == *value
                        && range.start < last.range.end
                        && range.start >= last.range.start =>
                {
                    last.range.end = last.range.end.max(range.end);
                }
                _ => {
                    found.push(NeedleMatch {
                        range,
                        value: *value,
                        form: reading.form,
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
