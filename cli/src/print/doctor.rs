use std::fmt::Write as _;

use prosescope_core::render::text::escape;
use prosescope_core::upkeep::doctor::server::ServerStatus;
use prosescope_core::upkeep::doctor::{Check, Checkup, State};

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT};
use super::{bytes, wrap};
use crate::locate;

pub(crate) fn checkup(checkup: &Checkup, width: usize) -> String {
    let mut out = checks(&checkup.checks, width);
    let mode = &checkup.mode;
    let for_what = match &mode.program {
        Some(program) => format!("  {FAINT}for {}{RESET}", escape(program, false)),
        None => String::new(),
    };
    let _ = writeln!(out, "\n{BOLD}State mode: {}{RESET}{for_what}", mode.mode);
    for reason in &mode.reasons {
        out.push_str(&wrap(reason, width, "  "));
    }
    let _ = writeln!(
        out,
        "\n{BOLD}Questions of OpenProse about the state mode{RESET}"
    );
    for answer in &mode.questions {
        let word = match answer.yes {
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        let _ = writeln!(
            out,
            "  {} {BOLD}{word}{RESET} {FAINT}(if yes: {}){RESET}",
            answer.question, answer.then
        );
        out.push_str(&wrap(&answer.because, width, "    "));
    }
    out
}

/// Formats checks: the result, the reason, and what to do.
fn checks(checks: &[Check], width: usize) -> String {
    let mut out = String::new();
    for check in checks {
        let (mark, tone) = match check.state {
            State::Ok => ("✓", OK),
            State::Warning => ("!", WAIT),
            State::Error => ("✗", BAD),
        };
        let about = match &check.about {
            Some(what) => format!("  {BOLD}{}{RESET}", escape(what, false)),
            None => String::new(),
        };
        let _ = writeln!(out, "{tone}{mark}{RESET} {}{about}", check.name);
        out.push_str(&wrap(&check.found, width, "  "));
        if !check.next.is_empty() {
            out.push_str(&wrap(&format!("→ {}", check.next), width, "  "));
        }
    }
    out
}

/// Formats the status of a server.
pub(crate) fn server(status: &ServerStatus, width: usize) -> String {
    let several = |n: u64| if n == 1 { "" } else { "s" };
    let mut out = checks(&status.checks, width);
    let _ = writeln!(
        out,
        "\n{BOLD}{} run{}, {}{RESET}  {FAINT}{}{RESET}",
        status.runs,
        several(status.runs),
        bytes(status.bytes),
        escape(&status.address, false)
    );
    for run in &status.newest {
        let _ = writeln!(
            out,
            "  {}  {} row{}, {}",
            escape(&locate::server_name(&run.run), false),
            run.rows,
            several(run.rows),
            bytes(run.bytes)
        );
    }
    out
}
