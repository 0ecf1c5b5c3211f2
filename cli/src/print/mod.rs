//! Formats views as text for a terminal. All functions return text, and [`crate::out`] writes it.

mod audit;
mod check;
mod clean;
mod compare;
mod convert;
mod cost;
mod decide;
mod doctor;
mod fix;
mod gates;
mod markdown;
mod node;
mod overview;
mod program;
mod query;
mod resume;
mod search;
mod share;
pub(crate) mod style;
mod table;
mod timeline;
mod trace;
mod values;
mod workflows;

pub(crate) use audit::{audit, audit_check, audit_stats, audit_timeouts, audits, gate_waits};
pub(crate) use check::{checked, explained, rules};
pub(crate) use clean::cleaned;
pub(crate) use compare::compared;
pub(crate) use convert::converted;
pub(crate) use cost::cost;
pub(crate) use decide::{decided, expired, head, note};
pub(crate) use doctor::{checks, server};
pub(crate) use fix::fixed;
pub(crate) use gates::{gate, gates};
pub(crate) use markdown::{compared as compared_as_markdown, shown as shown_as_markdown};
pub(crate) use node::node;
pub(crate) use overview::{overview, runs};
pub(crate) use program::program;
pub(crate) use query::{query, query_notes, query_tables};
pub(crate) use resume::resume;
pub(crate) use search::search;
pub(crate) use share::{shared, shared_file};
pub(crate) use timeline::timeline;
pub(crate) use trace::trace;
pub(crate) use values::{agents, bindings, resolution, state_diff};
pub(crate) use workflows::{event, stuck, workflow, workflows};

use prosescope_core::model::issue::{Issue, Severity};
pub(crate) use prosescope_core::model::text::bytes;
use prosescope_core::pages::view::{Section, Tone};
use prosescope_core::record::render::text::escape;

use crate::args::wrapped::fill;

/// Formats the first line about a run: its program and its id. A program alone has no id.
fn run_line(program: Option<&str>, run: &str) -> String {
    use style::{BOLD, FAINT, RESET};
    let program = escape(program.unwrap_or("(program not recorded)"), false);
    if run.is_empty() {
        return format!("{BOLD}{program}{RESET}\n");
    }
    format!(
        "{BOLD}{program}{RESET}  {FAINT}{}{RESET}\n",
        escape(run, false)
    )
}

/// Adds a line with the name of a fact and its value.
fn fact(out: &mut String, name: &str, value: &str) {
    use style::{FAINT, RESET};
    let value = escape(value, false);
    out.push_str(&format!("  {FAINT}{name:<12}{RESET}{value}\n"));
}

/// Adds an empty line and a heading.
fn title(out: &mut String, text: &str) {
    use style::{BOLD, RESET};
    out.push_str(&format!("\n{BOLD}{text}{RESET}\n"));
}

/// Returns the mark of a severity, and its colour.
fn mark(severity: Severity) -> (&'static str, Tone) {
    match severity {
        Severity::Error => ("✗", Tone::Bad),
        Severity::Warning => ("!", Tone::Wait),
        Severity::Note => ("·", Tone::Quiet),
    }
}

/// Adds issues, each after an empty line.
fn issues(out: &mut String, issues: &[Issue], width: usize) {
    use style::{BAD, RESET, WAIT};
    for issue in issues {
        let (mark, tone) = match issue.severity {
            Severity::Error => ('✗', BAD),
            Severity::Warning | Severity::Note => ('!', WAIT),
        };
        let rule = escape(&issue.rule, false);
        let text = wrap(&issue.message, width, "    ");
        out.push_str(&format!("\n{tone}{mark} {rule}{RESET}\n{text}"));
    }
}

/// Adds a heading and its items. Adds nothing if the section has no items.
fn section(out: &mut String, of: &Section, width: usize) {
    use std::fmt::Write as _;
    use style::{BAD, FAINT, RESET, toned};
    if !of.items.is_empty() {
        title(out, of.title);
    }
    for item in &of.items {
        let (mark, tone) = (&item.mark, toned(item.tone));
        let text = wrap(&item.text, width, "     ");
        let _ = writeln!(out, "  {tone}{mark}{RESET} {}", text.trim());
        if let Some(error) = &item.error {
            let _ = write!(out, "{BAD}{}{RESET}", wrap(error, width, "     > "));
        }
        for line in &item.below {
            let quoted = line.strip_prefix("> ").map(|said| ("     > ", said));
            let (indent, line) = quoted.unwrap_or(("     ", line));
            let _ = write!(out, "{FAINT}{}{RESET}", wrap(line, width, indent));
        }
        for command in &item.commands {
            let _ = writeln!(out, "     {FAINT}${RESET} {}", escape(command, false));
        }
    }
}

/// Adds a line with the number of rows that a list leaves out.
fn more(out: &mut String, all: u32, shown: usize) {
    use style::{FAINT, RESET};
    if let Some(more @ 1..) = (all as usize).checked_sub(shown) {
        out.push_str(&format!("  {FAINT}… and {more} more{RESET}\n"));
    }
}

/// Wraps a text to lines of at most `width` columns, each beginning with `indent`. Lines of a run's text begin with `> `
/// after the spaces, so that they cannot look like lines of this program, such as `decided by …`.
fn wrap(text: &str, width: usize, indent: &str) -> String {
    let text = escape(text, false);
    if text.trim().is_empty() {
        return String::new();
    }
    let lines = fill("", &text, width.saturating_sub(indent.len()), 0);
    let lines = lines.lines().map(|line| format!("{indent}{line}\n"));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (4_096, "4.1 KB"),
            (1_900_000, "1.9 MB"),
            (3_100_000_000, "3.1 GB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn wraps_at_words() {
        assert_eq!(wrap("one two three", 9, "  "), "  one two\n  three\n");
        let quoted = "  > one two\n  > three\n";
        assert_eq!(wrap("one two three", 11, "  > "), quoted);
    }
}
