//! Finds hints: texts as random as a key, for a human to judge. A preview lists the hints; hints are never replaced.

use std::ops::Range;

use crate::hit::Hit;
use crate::plausible;

/// The smallest number of letters, digits and signs in sequence that can be a hint.
const SHORTEST: usize = 24;
/// The largest number of letters, digits and signs in sequence that can be a hint: a longer sequence is data, not a
/// key.
const LONGEST: usize = 512;

/// Returns up to `most` sequences of letters, digits and signs that are as random as a key and that no hit covers.
/// Common ids are not hints: hashes, commit ids and other hexadecimal digits, UUIDs, numbers, words joined by signs,
/// paths.
pub fn hints(text: &str, hits: &[Hit], most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let in_run = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'=');
    let bytes = text.as_bytes();
    let mut next = hits.iter().peekable();
    while at < bytes.len() && found.len() < most {
        let length = bytes[at..].iter().take_while(|b| in_run(**b)).count();
        let range = at..at + length;
        at += length.max(1);
        while next.peek().is_some_and(|hit| hit.range.end <= range.start) {
            next.next();
        }
        let covered = next.peek().is_some_and(|hit| hit.range.start < range.end);
        if !covered && (SHORTEST..=LONGEST).contains(&length) && random(&text[range.clone()]) {
            found.push(range);
        }
    }
    found
}

/// Returns whether a sequence has small letters, capitals and digits, and more than 4 bits of entropy per character.
fn random(run: &str) -> bool {
    let has = |class: fn(&u8) -> bool| run.bytes().filter(class).count() >= 3;
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && entropy(run) > 4.0
        && plausible::random(run)
}

/// Returns the entropy of a text in bits per character, computed from how often each character occurs.
fn entropy(run: &str) -> f64 {
    let mut counts = [0u32; 256];
    run.bytes().for_each(|b| counts[usize::from(b)] += 1);
    let length = run.len() as f64;
    counts
        .iter()
        .filter(|n| **n > 0)
        .map(|n| f64::from(*n) / length)
        .map(|p| -p * p.log2())
        .sum()
}
