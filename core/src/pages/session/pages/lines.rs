//! Compares two texts line by line, in limited time.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Token};

/// The largest number of lines that are compared individually. A person would not read more differences.
const COMPARED: usize = 2_000;

/// Returns the ranges of lines (from 0) that differ, in order. More than [`COMPARED`] differing lines are one range.
pub(super) fn hunks(input: &InternedInput<&str>) -> Vec<(Range<u32>, Range<u32>)> {
    let (before, after) = (&input.before, &input.after);
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let most = before.len().min(after.len()) - start;
    let end = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(most)
        .take_while(|(a, b)| a == b)
        .count();
    let rest = |tokens: &[Token]| start as u32..(tokens.len() - end) as u32;
    let (before, after) = (rest(before), rest(after));
    if before.len() + after.len() > COMPARED {
        return vec![(before, after)];
    }
    let diff = Diff::compute(Algorithm::Histogram, input);
    diff.hunks().map(|hunk| (hunk.before, hunk.after)).collect()
}

/// Returns the texts of a range of lines, without line breaks.
pub(super) fn texts<'t>(
    input: &InternedInput<&'t str>,
    tokens: &[Token],
    range: Range<u32>,
) -> Vec<&'t str> {
    let tokens = tokens.get(range.start as usize..range.end as usize);
    let text = |token: &Token| input.interner[*token].trim_end_matches(['\n', '\r']);
    tokens.unwrap_or_default().iter().map(text).collect()
}
