//! A shared run: what was replaced and left out, and the summary that a page shows without a script.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::render::text::escape;
use prosescope_core::session::Session;
use prosescope_core::text::{count, counted};
use prosescope_core::view::{Overview, RunShared};

use super::bytes;
use super::style::{BOLD, FAINT, RESET};
use super::table::{Fit, Table};

/// Places that are listed; `--json` has more.
const LISTED: usize = 40;

/// What was shared.
pub(crate) fn shared(view: &RunShared, width: usize) -> String {
    let mut out = String::new();
    let runs = view.runs.join(", ");
    match &view.file {
        Some(file) => {
            let _ = writeln!(
                out,
                "{BOLD}{}{RESET}  {}  {}",
                escape(file, false),
                bytes(view.bytes),
                escape(&runs, false)
            );
        }
        None => {
            let _ = writeln!(out, "{BOLD}{}{RESET}", escape(&runs, false));
        }
    }
    if let Some(key) = &view.signed {
        let _ = writeln!(out, "Signed with the key {}.", escape(key, false));
    }
    let total: u64 = view.replaced.iter().map(|of| of.count).sum();
    let places = counted(total, "place", "places");
    let _ = match (view.raw, total) {
        (false, 0) => writeln!(out, "Nothing that looks like a secret was found."),
        (false, _) => writeln!(out, "{places} replaced:"),
        (true, 0) => writeln!(out, "Unchanged. Nothing in it looks like a secret."),
        (true, _) => writeln!(
            out,
            "Unchanged, and it holds what looks like secrets in {places}:"
        ),
    };
    let mut rules: BTreeMap<(&str, &str), (u64, Vec<&str>)> = BTreeMap::new();
    for of in &view.replaced {
        let rule = rules.entry((&of.kind, &of.rule)).or_default();
        rule.0 += of.count;
        rule.1.push(&of.place);
    }
    let mut table = Table::new(&[
        ("kind", Fit::Fixed),
        ("rule", Fit::Fixed),
        ("count", Fit::Right),
        ("where", Fit::Shrinks),
    ]);
    for ((kind, rule), (number, places)) in rules.iter().rev() {
        table.row(vec![
            ((*kind).to_owned(), FAINT),
            ((*rule).to_owned(), Style::new()),
            (count(*number), Style::new()),
            (places.join(", "), FAINT),
        ]);
    }
    if !rules.is_empty() {
        out.push_str(&table.print(width));
    }
    if !view.found.is_empty() {
        out.push('\n');
        for found in view.found.iter().take(LISTED) {
            let _ = writeln!(
                out,
                "  {}  {FAINT}{}{RESET}\n    {}{BOLD}[{}]{RESET}{}",
                escape(&found.at, false),
                escape(&found.place, false),
                escape(&found.before, false),
                escape(&found.name, false),
                escape(&found.after, false)
            );
        }
        if view.found.len() > LISTED {
            let more = view.found.len() - LISTED;
            let _ = writeln!(out, "  … and {more} more; --json lists them");
        }
    }
    for left in &view.left_out {
        let size = match left.bytes {
            0 => String::new(),
            n => format!(", {}", bytes(n)),
        };
        let _ = writeln!(
            out,
            "left out: {} ({}{size})",
            escape(&left.what, false),
            count(left.count)
        );
    }
    for log in &view.sealed_anew {
        let _ = writeln!(
            out,
            "The audit log of {} was sealed anew; its head was row {}, {}",
            escape(&log.run, false),
            count(log.count),
            escape(&log.head, false)
        );
    }
    let _ = writeln!(
        out,
        "{FAINT}Nobody finds every secret: look at the file before you send it.{RESET}"
    );
    out
}

/// A run in plain text, for whoever opens a shared page without scripts.
pub(crate) fn summary(session: &Session, view: &Overview) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", view.headline);
    let program = view.program.as_deref().unwrap_or("no program");
    let _ = writeln!(out, "{program} · {}", view.run);
    let _ = writeln!(out, "{}", view.story.join(" "));
    if let Some(failure) = &view.failure {
        let _ = writeln!(out, "\nWhat failed first:\n  {}", failure.cause.text);
        if let Some(error) = &failure.error {
            let _ = writeln!(out, "  {error}");
        }
    }
    for gate in &view.pending_gates {
        let _ = writeln!(
            out,
            "\nWaits for a decision: {}\n  {}",
            gate.id, gate.prompt
        );
    }
    let run = session.run();
    if !run.bindings.is_empty() {
        let names: Vec<&str> = run.bindings.iter().map(|binding| &*binding.name).collect();
        let _ = writeln!(out, "\nValues: {}", names.join(", "));
    }
    if let Some(source) = &run.program.source {
        let _ = writeln!(out, "\n{source}");
    }
    out.push('\n');
    out
}
