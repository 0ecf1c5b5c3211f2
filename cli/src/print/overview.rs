use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::issue::Severity;
use prosescope_core::render::text::escape;
use prosescope_core::time::Stamp;
use prosescope_core::view::{ImportsView, IssuesView, Overview, RunList};

use super::style::{BAD, BOLD, FAINT, RESET, WAIT, of, status};
use super::table::{Fit, Table, cut};
use super::{bytes, run_line, wrap};

/// How many issues the first page prints; `--json` has them all.
const ISSUES: usize = 10;

pub(crate) fn overview(
    view: &Overview,
    imports: &ImportsView,
    issues: &IssuesView,
    width: usize,
) -> String {
    let mut out = run_line(view.program.as_deref(), &view.run);
    let tone = of(&view.status);
    let _ = writeln!(
        out,
        "{tone}{}{RESET}  {BOLD}{}{RESET}",
        escape(&status(&view.status), false),
        escape(&cut(&view.headline, width.saturating_sub(14)), false)
    );
    out.push('\n');
    out.push_str(&wrap(&view.story.join(" "), width.min(88), ""));
    out.push('\n');
    facts(&mut out, view);
    section(
        &mut out,
        "Where it stands",
        view.positions.iter().flat_map(|node| {
            let error = node.error.as_deref().map(|error| error_line(error, width));
            std::iter::once(node_line(node, width)).chain(error)
        }),
    );
    if let Some(failure) = &view.failure {
        let first = std::iter::once(node_line(&failure.cause, width));
        let error = failure.error.iter().map(|e| error_line(e, width));
        section(&mut out, "What failed first", first.chain(error));
        section(
            &mut out,
            "Because of it",
            failure.because_of.iter().map(|n| node_line(n, width)),
        );
    }
    section(
        &mut out,
        "Waiting for a decision",
        view.pending_gates.iter().map(|gate| {
            let left = gate.remaining.as_deref().unwrap_or("no deadline");
            format!(
                "  {WAIT}◷{RESET} {}  {FAINT}{} · may decide: {}{RESET}\n    {}",
                escape(&gate.id, false),
                escape(left, false),
                escape(&gate.allow_words, false),
                escape(&cut(&gate.prompt, width.saturating_sub(4)), false)
            )
        }),
    );
    section(
        &mut out,
        "Imports",
        imports.imports.iter().map(|import| {
            let at = import
                .nested_status
                .as_deref()
                .map(|s| format!("  {}", escape(&status(s), false)))
                .unwrap_or_default();
            format!(
                "  {}  {FAINT}{}{RESET}{at}",
                escape(&import.alias, false),
                escape(import.source_url.as_deref().unwrap_or(""), false)
            )
        }),
    );
    section(
        &mut out,
        "Issues",
        issues.issues.iter().take(ISSUES).map(|issue| {
            let (mark, tone) = match issue.issue.severity {
                Severity::Error => ("✗", BAD),
                Severity::Warning => ("!", WAIT),
                Severity::Info => ("·", FAINT),
            };
            let place = if issue.place.is_empty() {
                String::new()
            } else {
                format!("  {FAINT}{}{RESET}", escape(&issue.place, false))
            };
            let text = wrap(&issue.issue.message, width, "    ");
            format!(
                "  {tone}{mark}{RESET} {}{place}\n{}",
                escape(&issue.issue.rule, false),
                text.trim_end()
            )
        }),
    );
    if issues.issues.len() > ISSUES {
        let _ = writeln!(
            out,
            "  {FAINT}… {} more; --json prints them all{RESET}",
            issues.issues.len() - ISSUES
        );
    }
    out
}

fn facts(out: &mut String, view: &Overview) {
    let none = || "not recorded".to_owned();
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(out, "  {FAINT}{name:<15}{RESET}{}", escape(&value, false));
    };
    fact(
        "started",
        match (&view.started, &view.started_from) {
            (Some(at), Some(from)) => format!("{at} (from {from})"),
            (Some(at), None) => at.to_string(),
            (None, _) => none(),
        },
    );
    let sign = view.last_sign.as_ref().map_or_else(none, |at| {
        let mut words = at.to_string();
        if let Some(from) = &view.last_sign_from {
            words.push_str(&format!(" ({from})"));
        }
        if let Some(ago) = &view.last_sign_ago {
            words.push_str(&format!(", {ago}"));
        }
        words
    });
    fact("last sign", sign);
    if let Some(at) = &view.file_changed {
        fact(
            "file changed",
            format!("{at} (no sign of life: copies reset it)"),
        );
    }
    fact("took", view.duration.clone().unwrap_or_else(none));
    fact(
        "status says",
        format!(
            "{}{}",
            view.status_source,
            if view.status_reason.is_empty() {
                String::new()
            } else {
                format!(": {}", view.status_reason)
            }
        ),
    );
    for (source, word) in &view.claims {
        fact("", format!("{source} says {word}"));
    }
    let counts: Vec<String> = view
        .by_status
        .iter()
        .map(|c| format!("{} {}", c.count, c.status))
        .collect();
    fact(
        "statements",
        if counts.is_empty() {
            "none".to_owned()
        } else {
            counts.join(", ")
        },
    );
    fact(
        "bindings",
        format!("{} ({})", view.bindings, bytes(view.bindings_bytes)),
    );
    fact("read as", view.form.clone());
    for (key, value) in &view.facts {
        fact(&cut(key, 14), value.clone());
    }
    if let Some(missing) = &view.missing {
        fact("missing", missing.clone());
    }
    for id in &view.other_runs {
        fact("other run", id.clone());
    }
    let issues = view.issues;
    fact(
        "issues",
        if issues.total() == 0 {
            "none".to_owned()
        } else {
            counted(issues)
        },
    );
}

/// `1 error, 2 notes`: what there is none of is not said.
pub(super) fn counted(issues: prosescope_core::view::Counts) -> String {
    let words = [
        (issues.error, "error"),
        (issues.warning, "warning"),
        (issues.info, "note"),
    ];
    let words: Vec<String> = words
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}{}", if *n == 1 { "" } else { "s" }))
        .collect();
    words.join(", ")
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}{title}{RESET}");
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
}

fn node_line(node: &prosescope_core::view::NodeRef, width: usize) -> String {
    let tone = of(&node.status);
    let id = node.id.map(|id| format!(" #{id}")).unwrap_or_default();
    let place = match (node.path.as_str(), node.line) {
        ("", None) => String::new(),
        ("", Some(line)) => format!("line {line}"),
        (path, None) => format!("in {path}"),
        (path, Some(line)) => format!("line {line}, in {path}"),
    };
    let room = width.saturating_sub(8 + id.len());
    let text = cut(&escape(&node.text, false), room);
    let place = if place.is_empty() {
        String::new()
    } else {
        format!(
            "\n    {FAINT}{}{RESET}",
            cut(&escape(&place, false), width.saturating_sub(4))
        )
    };
    format!(
        "  {tone}{}{RESET} {text}{FAINT}{id}{RESET}{place}",
        prosescope_core::view::icon(&node.status)
    )
}

fn error_line(error: &str, width: usize) -> String {
    let error = cut(error, width.saturating_sub(4));
    format!("    {BAD}{}{RESET}", escape(&error, false))
}

pub(crate) fn runs(list: &RunList, width: usize) -> String {
    if list.runs.is_empty() {
        let label = escape(&list.label, false);
        return match list.total {
            0 => format!("no runs in {label}\n"),
            all => format!("no run in {label} matches (of {all})\n"),
        };
    }
    let mut table = Table::new(&[
        ("STATUS", Fit::Fixed),
        ("RUN", Fit::Fixed),
        ("PROGRAM", Fit::Shrinks),
        ("STARTED", Fit::Fixed),
        ("TOOK", Fit::Right),
        ("GATES", Fit::Right),
        ("ISSUES", Fit::Right),
    ]);
    let plain = Style::new();
    for run in &list.runs {
        let some = |n: u32| if n == 0 { String::new() } else { n.to_string() };
        let (word, tone) = match run.error {
            Some(_) => ("unreadable", BAD),
            None => (run.status.as_str(), of(&run.status)),
        };
        let issue = if run.issues.error > 0 { BAD } else { WAIT };
        table.row(vec![
            (status(word), tone),
            (run.title(), BOLD),
            (run.program.clone().unwrap_or_default(), plain),
            (
                run.started.as_ref().map(Stamp::minute).unwrap_or_default(),
                FAINT,
            ),
            (run.duration.clone().unwrap_or_default(), plain),
            (some(run.pending_gates), WAIT),
            (some(run.issues.error + run.issues.warning), issue),
        ]);
    }
    let mut out = table.print(width);
    if list.runs.len() < list.total as usize {
        let _ = writeln!(
            out,
            "{FAINT}{} of {} runs{RESET}",
            list.runs.len(),
            list.total
        );
    }
    for issue in &list.issues {
        let _ = writeln!(out, "{FAINT}· {}{RESET}", escape(&issue.message, false));
    }
    for run in &list.runs {
        if let Some(error) = &run.error {
            let _ = write!(
                out,
                "\n{BAD}✗ {}{RESET}\n{}",
                escape(&run.title(), false),
                wrap(error, width, "  ")
            );
        }
    }
    out
}
