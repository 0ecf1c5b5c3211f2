//! Describes a comparison in words.

use imara_diff::InternedInput;

use super::super::lines::texts;
use crate::model::text::counted;
use crate::model::time::human_duration;
use crate::pages::view::{ChangedLine, CompareCounts, CompareView, ComparedRow, ComparedRun};

/// The largest number of characters that are shown of a differing line.
const LINE: usize = 400;

/// How many characters of two long lines are shown before their first difference.
const BEFORE: usize = 40;

/// The largest number of parts that the result names as not compared.
const NAMED: usize = 3;

/// The largest number of lines that are listed as different.
const LINES: usize = 40;

/// A range of lines of the first text, and the range of lines that replaces it in the second text.
pub(super) type Hunk = (std::ops::Range<u32>, std::ops::Range<u32>);

/// Returns the first lines in which two texts differ, and how many more there are.
pub(super) fn lines(input: &InternedInput<&str>, hunks: Vec<Hunk>) -> (Vec<ChangedLine>, u32) {
    let mut lines = Vec::new();
    for (gone, new) in hunks {
        let gone = texts(input, &input.before, gone);
        let new = texts(input, &input.after, new);
        lines.extend(changed(&gone, &new));
    }
    let all = lines.len();
    lines.truncate(LINES);
    let more = (all - lines.len()) as u32;
    (lines, more)
}

/// Returns the removed lines (`-`) and then the new lines (`+`). Long lines are cut around the first difference.
fn changed(gone: &[&str], new: &[&str]) -> Vec<ChangedLine> {
    let is_each = gone.len() == new.len();
    let line = |mark: char, text: &str, other: Option<&&str>| {
        let other = other.filter(|_| is_each);
        let alike = other.map_or(0, |other| alike(text, other));
        let (text, alike) = around(text, alike);
        ChangedLine {
            mark,
            text,
            alike: alike as u32,
        }
    };
    let gone_lines = gone.iter().enumerate();
    let gone_lines = gone_lines.map(|(at, text)| line('-', text, new.get(at)));
    let new_lines = new.iter().enumerate();
    let new_lines = new_lines.map(|(at, text)| line('+', text, gone.get(at)));
    gone_lines.chain(new_lines).collect()
}

/// Returns how many characters at the beginning of two texts are equal.
fn alike(a: &str, b: &str) -> usize {
    let both = a.chars().zip(b.chars());
    both.take_while(|(a, b)| a == b).count()
}

/// Cuts a line so that the position `at` stays visible. Returns the cut line, and the position in the cut line.
fn around(text: &str, at: usize) -> (String, usize) {
    let is_long = text.chars().nth(LINE).is_some();
    let skipped = if is_long {
        at.saturating_sub(BEFORE)
    } else {
        0
    };
    let mut chars = text.chars().skip(skipped);
    let (mut out, at) = match skipped {
        0 => (String::new(), at),
        skipped => (String::from("…"), at - skipped + 1),
    };
    out.extend(chars.by_ref().take(LINE));
    if chars.next().is_some() {
        out.push('…');
    }
    (out, at)
}

/// Returns how much longer B took, in milliseconds and in words: `+9m 12s`, `-1s`. `None` if equal or unknown.
pub(super) fn longer(a: Option<i64>, b: Option<i64>) -> (Option<i64>, Option<String>) {
    let by = a.zip(b).map(|(a, b)| b.saturating_sub(a));
    let by = by.filter(|by| *by != 0);
    let words = by.map(|by| {
        let sign = if by < 0 { '-' } else { '+' };
        format!("{sign}{}", human_duration(by.saturating_abs()))
    });
    (by, words)
}

/// Describes how both runs ended, in one line.
pub(super) fn headline(a: &ComparedRun, b: &ComparedRun) -> String {
    let said = |name: &str, run: &ComparedRun| {
        let headline = run.headline.as_str();
        let colon = if headline.starts_with("Status") {
            ":"
        } else {
            ""
        };
        format!("{name}{colon} {}", lower(headline))
    };
    if a.headline == b.headline {
        return said("Both", a);
    }
    if untimed(a) == untimed(b) {
        return format!("Both {}", lower(untimed(a)));
    }
    if b.status == "failed" && a.status != "failed" {
        format!("{}; {}", said("B", b), said("A", a))
    } else {
        format!("{}; {}", said("A", a), said("B", b))
    }
}

/// Returns a headline without the duration.
fn untimed(run: &ComparedRun) -> &str {
    let took = run.duration.as_ref().map(|took| format!(" in {took}"));
    let headline = took.and_then(|took| run.headline.strip_suffix(&took));
    headline.unwrap_or(&run.headline)
}

/// Returns a sentence with a lower-case first letter, to continue another sentence.
fn lower(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Describes the result of the comparison in one line.
pub(super) fn found(view: &CompareView, first: Option<&ComparedRow>) -> String {
    let CompareCounts {
        differ,
        durations,
        only_a,
        only_b,
        ..
    } = view.counts;
    let mut parts: Vec<String> = Vec::new();
    let mut add = |count: u32, one: &str, many: &str, behind: &str| {
        if count > 0 {
            parts.push(format!("{}{behind}", counted(count.into(), one, many)));
        }
    };
    add(differ, "row differs", "rows differ", "");
    add(only_a, "row is", "rows are", " only in A");
    add(only_b, "row is", "rows are", " only in B");
    let values = view.values.len() as u32;
    add(values, "other value differs", "other values differ", "");
    let memories = view.memories.len() as u32;
    add(memories, "memory differs", "memories differ", "");
    let kinds = &view.counts.records_differ;
    let each: Vec<String> = kinds
        .iter()
        .map(|(kind, n)| format!("{kind} {n}"))
        .collect();
    let each = format!(" ({})", each.join(", "));
    add(
        kinds.values().sum(),
        "other record differs",
        "other records differ",
        &each,
    );
    add(
        durations,
        "row took longer or shorter",
        "rows took longer or shorter",
        "",
    );
    let names = view.not_compared.iter().map(|of| &*of.name);
    let names = names.take(NAMED).collect::<Vec<_>>().join(", ");
    let open = match (view.not_compared_count as usize).saturating_sub(NAMED) {
        _ if names.is_empty() => String::new(),
        0 => format!("; not compared: {names}"),
        more => format!("; not compared: {names} and {more} more"),
    };
    if parts.is_empty() {
        let none = match view {
            _ if !open.is_empty() => "no difference in what was compared",
            _ if view.incomplete => "no difference in what could be read",
            _ if view.a.status == view.b.status && view.programs.lines.is_empty() => {
                "no difference"
            }
            _ => "no row and no value differs",
        };
        return format!("{none}{open}");
    }
    if let Some(line) = first.and_then(line_of) {
        parts.push(format!("the first difference is at {line}"));
    }
    let nothing = if view.equal {
        "only durations differ: "
    } else {
        ""
    };
    format!("{nothing}{}{open}", parts.join(", "))
}

/// Returns the line of a row in the program, such as `line 24` or `line 24 of A, line 26 of B`.
fn line_of(row: &ComparedRow) -> Option<String> {
    let own = |at: &crate::pages::view::ComparedNode| {
        let line = at.at.line.filter(|_| !at.at.line_guessed)?;
        Some(format!("line {line}"))
    };
    let a = row.a.as_ref().and_then(own);
    let b = row.b.as_ref().and_then(own);
    match (a, b) {
        (Some(a), Some(b)) if a != b => Some(format!("{a} of A, {b} of B")),
        (a, b) => a.or(b),
    }
}
