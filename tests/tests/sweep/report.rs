//! Reports how many programs of a sweep were recorded, and which errors stopped the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::driver::Stop;

/// One recording of a program, and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) program: String,
    /// The interpreter, the form, and the kind of failure of the recording.
    pub(crate) way: String,
    pub(crate) stops: Vec<Stop>,
    pub(crate) commands: usize,
}

/// Returns a text with the table of results and the errors, grouped by their kind.
pub(crate) fn table(all: &[Ended]) -> String {
    let mut ways: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<(&Ended, &Stop)>> = BTreeMap::new();
    for one in all {
        let way = ways.entry(&one.way).or_default();
        way.1 += 1;
        way.0 += usize::from(one.stops.is_empty());
        for stop in &one.stops {
            kinds.entry(kind(stop)).or_default().push((one, stop));
        }
    }
    let mut out = String::new();
    for (way, (done, of)) in ways {
        let _ = writeln!(out, "{way:<32} {done:>5} of {of}");
    }
    let commands: usize = all.iter().map(|one| one.commands).sum();
    let _ = writeln!(out, "{commands} commands");
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, left)| std::cmp::Reverse(left.len()));
    for (kind, left) in kinds {
        let _ = writeln!(out, "\n## {} left: {kind}", left.len());
        for (one, stop) in left.iter().take(3) {
            let _ = writeln!(
                out,
                "- {} ({}): `{}`\n    {}",
                one.program,
                one.way,
                stop.tried,
                stop.error.replace('\n', "\n    "),
            );
        }
    }
    out
}

/// Returns the kind of an error, which similar errors share: a rule, the part of the trace that differs, or the words
/// of a message without its variable parts.
fn kind(stop: &Stop) -> String {
    let start = |words: usize| {
        let words: Vec<&str> = stop.tried.split_whitespace().take(words).collect();
        words.join(" ")
    };
    if stop.tried.starts_with("check: ") {
        return start(3);
    }
    if stop.tried.starts_with("trace: ") {
        return start(2);
    }
    let message = stop.error.lines().next().unwrap_or_default();
    let words = message.split_whitespace().take(14).map(|word| {
        let varies = word.chars().any(|c| c.is_ascii_digit() || c == '"');
        if varies { "…" } else { word }
    });
    format!("{}: {}", start(2), words.collect::<Vec<_>>().join(" "))
}
