//! Formats the matches of a search, by run and kind, each with its place and line.

use std::fmt::Write as _;

use prosescope_core::pages::view::{HitKind, SearchHit, SearchView, SearchedRun};
use prosescope_core::record::render::text::escape;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{BAD, BOLD, FAINT, RESET, WAIT};
use super::table::fit;
use super::{bytes, title};

pub(crate) fn search(view: &SearchView, width: usize) -> String {
    let mut out = String::new();
    let many = view.runs.len() > 1;
    let hit = |run: &&SearchedRun| !run.groups.is_empty() || run.error.is_some();
    for (nth, run) in view.runs.iter().filter(hit).enumerate() {
        if many {
            let gap = if nth > 0 { "\n" } else { "" };
            let _ = writeln!(out, "{gap}{BOLD}{}{RESET}", fit(&run.run, width));
        }
        if let Some(error) = &run.error {
            let _ = writeln!(out, "{BAD}✗ {}{RESET}", fit(error, width.saturating_sub(2)));
        }
        groups(&mut out, run, width);
    }
    let none = view.runs.iter().all(|run| run.groups.is_empty());
    if none {
        let runs = match view.runs.len() {
            1 => view
                .runs
                .iter()
                .map(|of| format!(" in {}", of.run))
                .collect(),
            n => format!(" in {n} runs"),
        };
        let text = format!("no match for {}{runs}", view.text);
        let _ = writeln!(out, "{}", fit(&text, width));
    }
    let read: u64 = view.runs.iter().map(|run| run.read).sum();
    let _ = writeln!(out, "\n{FAINT}{} of values read{RESET}", bytes(read));
    for run in &view.runs {
        skipped(&mut out, run, width);
    }
    out
}

fn groups(out: &mut String, run: &SearchedRun, width: usize) {
    for group in &run.groups {
        let all = group.hits.len() as u64 + group.more;
        title(out, &format!("{} ({all})", word(group.kind)));
        let mut place = None;
        for hit in &group.hits {
            // The place is printed once, above all matching lines that it contains.
            if place != Some(&hit.place) {
                let shown = fit(&hit.place, width.saturating_sub(2));
                let _ = writeln!(out, "  {FAINT}{shown}{RESET}");
                place = Some(&hit.place);
            }
            line(out, hit, width);
        }
        if group.more > 0 {
            let _ = writeln!(out, "  {FAINT}… and {} more lines{RESET}", group.more);
        }
    }
}

fn word(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Statements => "Statements",
        HitKind::Errors => "Errors",
        HitKind::Prompts => "Prompts",
        HitKind::Values => "Values",
        HitKind::Memories => "Memories",
        HitKind::Gates => "Gates",
        HitKind::Files => "Files",
        HitKind::Tables => "Other tables",
    }
}

/// Formats a line with its match marked. A long line is cut around the match.
fn line(out: &mut String, hit: &SearchHit, width: usize) {
    let (from, to) = (hit.range.0 as usize, hit.range.1 as usize);
    let part = |from: usize, len: usize| -> String {
        let part: String = hit.text.chars().skip(from).take(len).collect();
        escape(&part, false)
    };
    let number = format!("    {}: ", hit.text_line);
    let room = width.saturating_sub(number.width()).max(8);
    let own = fit(&part(from, to.saturating_sub(from)), room);
    let behind = part(to, usize::MAX);
    let left = room - own.width().min(room);
    // The text before the match gets a third of the width, or more if the text after the match is short.
    let before = last(
        part(0, from).trim_start(),
        left.saturating_sub(behind.width().min(left * 2 / 3)),
    );
    let behind = match left.saturating_sub(before.width()) {
        0 => String::new(),
        left => fit(behind.trim_end(), left),
    };
    let _ = writeln!(
        out,
        "{FAINT}{number}{RESET}{before}{BOLD}{WAIT}{own}{RESET}{behind}"
    );
}

/// Returns the end of a text in at most `most` columns.
fn last(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let (mut kept, mut used) = (Vec::new(), 1);
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > most {
            break;
        }
        kept.push(c);
    }
    match most {
        0 => String::new(),
        _ => std::iter::once('…').chain(kept.into_iter().rev()).collect(),
    }
}

fn skipped(out: &mut String, run: &SearchedRun, width: usize) {
    for value in &run.skipped {
        let text = format!(
            "not searched: {} ({}): {}",
            value.place,
            bytes(value.len),
            value.why
        );
        let _ = writeln!(out, "{FAINT}{}{RESET}", fit(&text, width));
    }
    if run.more_skipped > 0 {
        let _ = writeln!(out, "{FAINT}… and {} more values{RESET}", run.more_skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, range: (u32, u32), width: usize) -> String {
        let hit = SearchHit {
            text: text.to_owned(),
            text_line: 7,
            range,
            ..SearchHit::default()
        };
        let mut out = String::new();
        line(&mut out, &hit, width);
        anstream::adapter::strip_str(&out).to_string()
    }

    #[test]
    fn the_match_stays_in_sight_however_long_the_line_is() {
        assert_eq!(shown("a match here", (2, 7), 80), "    7: a match here\n");
        let long = format!("{}MATCH{}", "ab ".repeat(60), " cd".repeat(60));
        for width in [40, 80] {
            let line = shown(&long, (180, 185), width);
            assert!(
                line.contains("MATCH") && line.trim_end().width() <= width,
                "{line}"
            );
        }
        let line = shown("x\u{1b}[2J needle", (6, 12), 80);
        assert_eq!(line, "    7: x\\u{1b}[2J needle\n");
    }
}
