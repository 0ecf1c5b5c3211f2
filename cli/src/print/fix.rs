use std::fmt::Write as _;

use prosescope_core::pages::view::{Counts, RunRepaired};
use prosescope_core::record::render::text::escape;

use super::style::{BOLD, FAINT, OK, RESET, WAIT};
use super::wrap;

pub(crate) fn fixed(fixed: &RunRepaired, width: usize) -> String {
    let mut out = String::new();
    let Some(copy) = &fixed.copy else {
        let run = escape(&fixed.run, false);
        return format!("{BOLD}{run}{RESET}  nothing needs repair: no copy was written\n");
    };
    let copy = escape(copy, false);
    let _ = writeln!(
        out,
        "{BOLD}{copy}{RESET}  {FAINT}a repaired copy of {}{RESET}\n",
        escape(&fixed.run, false)
    );
    if fixed.repaired.is_empty() {
        out.push_str("nothing needed repair: the copy has the same rows\n");
    }
    for done in &fixed.repaired {
        let times = match done.count {
            1 => String::new(),
            n => format!(" ({n} times)"),
        };
        let rule = match done.rule.as_str() {
            "" => "not repaired",
            rule => rule,
        };
        let tone = if done.rule.is_empty() { WAIT } else { OK };
        let _ = writeln!(
            out,
            "{tone}·{RESET} {}{FAINT}{times}{RESET}",
            escape(rule, false)
        );
        out.push_str(&wrap(&done.did, width, "  "));
    }
    let _ = writeln!(
        out,
        "\nissues before: {}; in the copy: {}",
        counts(&fixed.before),
        counts(&fixed.after.counts)
    );
    for view in &fixed.after.issues {
        let issue = &view.issue;
        let _ = writeln!(
            out,
            "{WAIT}·{RESET} {}  {FAINT}{}{RESET}",
            escape(&issue.rule, false),
            escape(&view.place, false)
        );
        out.push_str(&wrap(&issue.message, width, "  "));
    }
    out
}

fn counts(counts: &Counts) -> String {
    format!(
        "{} errors, {} warnings, {} notes",
        counts.error, counts.warning, counts.note
    )
}
