use super::{Findings, RunUnderCheck};
use crate::model::GateStatus;
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::read::gate::allow::Allow;
use crate::read::gate::lifecycle::Lifecycle;

/// Reports gates that stay undecided: their deadline has passed, or no principal is allowed to decide.
pub(super) fn check_gates(at: RunUnderCheck<'_>, findings: &mut Findings) {
    for gate in &at.run.gates {
        if gate.status != GateStatus::Pending {
            continue;
        }
        let standing = Lifecycle::of(gate, at.now);
        if standing.overdue {
            let deadline = gate.timeout_at.as_ref().map(Stamp::spoken);
            let ago = standing.remaining.unwrap_or_default();
            let message = format!(
                "gate {} is overdue: its deadline passed on {} ({ago})",
                gate.id,
                deadline.unwrap_or_default()
            );
            findings.add(
                Issue::warning("gate-overdue", message)
                    .at_table("gates")
                    .at_column("timeout_at")
                    .hint("The gate can no longer be approved. Record the time-out: `prosescope gates expire`."),
            );
        }
        let nobody = Allow::parse(gate.allow.as_deref()).is_ok_and(|a| a.entries().is_empty());
        if nobody {
            let message = format!("gate {} is pending, but its list `allow` is empty", gate.id);
            findings.add(
                Issue::warning("gate-admits-nobody", message)
                    .at_table("gates")
                    .at_column("allow")
                    .hint(match gate.timeout_at {
                        Some(_) => "Nobody may decide the gate, so the run waits until the deadline.",
                        None => "Nobody may decide the gate, and it has no deadline, so the run waits for ever.",
                    }),
            );
        }
    }
}
