use std::fmt::Write as _;

use prosescope_core::pages::upkeep::doctor::server::ServerStatus;
use prosescope_core::pages::upkeep::doctor::{CheckResult, DoctorCheck};
use prosescope_core::record::render::text::escape;

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT};
use super::{bytes, wrap};
use crate::locate;

/// Formats checks: the result, the finding, and what to do.
pub(crate) fn checks(checks: &[DoctorCheck], width: usize) -> String {
    let mut out = String::new();
    for check in checks {
        let (mark, tone) = match check.state {
            CheckResult::Ok => ("✓", OK),
            CheckResult::Warning => ("!", WAIT),
            CheckResult::Error => ("✗", BAD),
        };
        let found = match &check.about {
            Some(what) => &format!("{what}: {}", check.found),
            None => &check.found,
        };
        let _ = write!(
            out,
            "{tone}{mark}{RESET} {}",
            wrap(found, width, "  ").trim_start()
        );
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
