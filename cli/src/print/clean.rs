use std::fmt::Write as _;

use prosescope_core::pages::upkeep::clean::{CleanPlan, CleanRun};
use prosescope_core::record::render::text::escape;

use super::style::{BOLD, FAINT, RESET, of, status};
use super::table::{Fit, PrintedTable};
use super::{bytes, wrap};

pub(crate) fn cleaned(plan: &CleanPlan, done: bool, width: usize) -> String {
    let mut out = String::new();
    let heading = if done { "Removed" } else { "Would be removed" };
    section(&mut out, heading, &plan.remove, width);
    if !plan.leftovers.is_empty() {
        let size = plan.leftovers.iter().map(|left| left.bytes).sum();
        let _ = writeln!(
            out,
            "{BOLD}{heading}: remains of interrupted commands{RESET}  {FAINT}{} · {}{RESET}\n",
            folders(plan.leftovers.len()),
            bytes(size)
        );
    }
    kept(&mut out, &plan.keep, width);
    let nothing = plan.remove.is_empty() && plan.leftovers.is_empty();
    match (nothing, done) {
        (true, true) => out.push_str("nothing was removed\n"),
        (true, false) => out.push_str("no run to remove\n"),
        (false, true) => {
            let _ = writeln!(out, "{} freed", bytes(plan.bytes));
        }
        (false, false) => {
            let _ = writeln!(
                out,
                "{} in all; nothing was removed. Repeat the command with --yes to remove the runs",
                bytes(plan.bytes)
            );
        }
    }
    out
}

fn folders(n: usize) -> String {
    match n {
        1 => "1 folder".to_owned(),
        n => format!("{n} folders"),
    }
}

/// Formats the runs that `clean` keeps. The reasons are wrapped, never cut, because the reader needs them.
fn kept(out: &mut String, runs: &[CleanRun], width: usize) {
    if runs.is_empty() {
        return;
    }
    let _ = writeln!(out, "{BOLD}Kept{RESET}");
    for run in runs {
        let name = escape(&run.run, false);
        let style = of(&run.status);
        let status = escape(&status(&run.status), false);
        let _ = writeln!(out, "{BOLD}{name}{RESET}  {style}{status}{RESET}");
        out.push_str(&wrap(&run.why, width, "  "));
    }
    out.push('\n');
}

fn section(out: &mut String, heading: &str, runs: &[CleanRun], width: usize) {
    if runs.is_empty() {
        return;
    }
    let _ = writeln!(out, "{BOLD}{heading}{RESET}");
    let mut table = PrintedTable::new(&[
        ("RUN", Fit::Fixed),
        ("STATUS", Fit::Fixed),
        ("QUIET FOR", Fit::Fixed),
        ("SIZE", Fit::Right),
        ("WHY", Fit::Shrinks),
    ]);
    for run in runs {
        table.row(vec![
            (run.run.clone(), BOLD),
            (status(&run.status), of(&run.status)),
            (run.age.clone().unwrap_or_default(), FAINT),
            (bytes(run.bytes), FAINT),
            (run.why.clone(), FAINT),
        ]);
    }
    out.push_str(&table.print(width));
    out.push('\n');
}
