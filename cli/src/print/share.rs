//! Formats the report of `prosescope share`: the replaced and left out parts, and the summary that a page shows
//! without scripts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::model::text::{count, counted};
use prosescope_core::pages::view::RunShared;
use prosescope_core::record::render::text::escape;

use super::bytes;
use super::style::{BOLD, FAINT, RESET};
use super::table::{Fit, PrintedTable};

/// Maximum number of places of secrets that are printed; `--json` prints more.
const LISTED: usize = 12;

/// Formats the written file in one line.
pub(crate) fn shared_file(view: &RunShared) -> String {
    format!(
        "{BOLD}{}{RESET}  {}  {}\n",
        escape(view.file.as_deref().unwrap_or_default(), false),
        bytes(view.bytes),
        escape(&view.runs.join(", "), false)
    )
}

/// Formats the summary of a shared file, which may not be written yet.
pub(crate) fn shared(view: &RunShared, width: usize) -> String {
    let mut out = String::new();
    let runs = view.runs.join(", ");
    match &view.file {
        Some(_) => out.push_str(&shared_file(view)),
        None => {
            let _ = writeln!(out, "{BOLD}{}{RESET}", escape(&runs, false));
        }
    }
    let total: u64 = view.replaced.iter().map(|of| of.count).sum();
    let places = counted(total, "place", "places");
    let _ = match (view.raw, total) {
        (false, 0) => writeln!(out, "Nothing that looks like a secret was found."),
        (false, _) => writeln!(out, "{places} replaced:"),
        (true, 0) => writeln!(
            out,
            "The content is unchanged and contains nothing that looks like a secret."
        ),
        (true, _) => writeln!(
            out,
            "The content is unchanged and contains possible secrets in {places}:"
        ),
    };
    let mut rules: BTreeMap<(&str, &str), (u64, Vec<&str>)> = BTreeMap::new();
    for of in &view.replaced {
        let rule = rules.entry((&of.kind, &of.rule)).or_default();
        rule.0 += of.count;
        rule.1.push(&of.place);
    }
    let mut table = PrintedTable::new(&[
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
    if !view.staying.is_empty() {
        let names = view.staying.join(", ");
        let text =
            format!("These names stay, because the program or a waiting gate needs them: {names}");
        out.push_str(&super::wrap(&text, width, ""));
    }
    for log in &view.sealed_anew {
        let _ = writeln!(
            out,
            "The audit log of {} was sealed anew in the file; the head before was row {}, {}",
            escape(&log.run, false),
            count(log.count),
            escape(&log.head, false)
        );
    }
    if view.unsearched > 0 {
        let secrets = counted(view.unsearched, "secret is", "secrets are");
        let _ = writeln!(
            out,
            "{secrets} replaced where the rules find them, but not searched for in other forms, such as base64"
        );
    }
    let _ = writeln!(
        out,
        "{FAINT}No rule finds every secret: look at the file before you send it.{RESET}"
    );
    out
}
