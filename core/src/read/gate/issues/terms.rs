//! Checks the timeout, the deadline and the list of principals of a gate.

use crate::model::issue::{Issue, Severity};
use crate::model::time::Stamp;
use crate::model::timeout::Timeout;
use crate::model::{Gate, GateStatus};
use crate::read::gate::allow::{Allow, AllowError};

/// The tolerated difference in milliseconds between the recorded deadline and `created_at` plus the timeout. A writer
/// may read the clock once for each column.
const SLACK_MS: i64 = 60_000;

/// Checks that a gate's timeout, deadline and `allow` list can be read, and that the deadline agrees with the timeout
/// (errata G4, G5).
pub(super) fn terms(gate: &Gate, issues: &mut Vec<Issue>) {
    match Allow::parse(gate.allow.as_deref()) {
        // The decoder already reported text that is not JSON.
        Ok(_) | Err(AllowError::NotJson(_)) => {}
        Err(error) => {
            let what = format!("admits nobody: {error}");
            let issue = gate.warned("gate-allow-unreadable", &what, "allow");
            issues.push(issue.hint("Every decision is refused until the list is corrected."));
        }
    }
    if let Some(Stamp::Odd(text)) = &gate.timeout_at {
        let what = format!("has the deadline “{text}”, which is not a time");
        let issue = gate.warned("gate-deadline-unreadable", &what, "timeout_at");
        issues.push(issue.hint("The gate is shown without a deadline."));
    }
    let Some(text) = &gate.timeout else { return };
    let timeout = match Timeout::parse(text) {
        Ok(timeout) => timeout,
        Err(error) => {
            let what = format!("has the timeout “{text}”: {error}");
            issues.push(gate.warned("gate-timeout-unreadable", &what, "timeout"));
            return;
        }
    };
    let created = gate.created.as_ref().and_then(Stamp::millis);
    let Some(due) = created.and_then(|from| timeout.deadline(from).ok()) else {
        return;
    };
    let (given, due_at) = (timeout.as_str().trim(), Stamp::At(due));
    match &gate.timeout_at {
        None if gate.status == GateStatus::Pending => {
            let what = format!(
                "has a timeout of {given}, but no deadline; the deadline would be {due_at}"
            );
            let issue = gate.warned("gate-deadline-missing", &what, "timeout_at");
            issues.push(issue.hint(
                "Record a deadline: without one, OpenProse's queries never time the gate out.",
            ));
        }
        Some(Stamp::At(recorded)) if recorded.saturating_sub(due).saturating_abs() > SLACK_MS => {
            let recorded = Stamp::At(*recorded);
            let what =
                format!("has the deadline {recorded}, but its timeout of {given} ends at {due_at}");
            let mut issue = gate.warned("gate-deadline-differs", &what, "timeout_at");
            issue.severity = Severity::Note;
            issues.push(issue.hint("The recorded deadline counts."));
        }
        _ => {}
    }
}
