use super::{GATES, LOG};
use crate::gate::allow::Allow;
use crate::gate::lifecycle::on_behalf_of;
use crate::issue::Issue;
use crate::model::{AuditEvent, Gate, GateStatus};
use crate::time::Stamp;

/// Whether who decided was admitted, and in time (errata G3, G4).
pub(super) fn decision(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    if !matches!(gate.status, GateStatus::Approved | GateStatus::Rejected) {
        return;
    }
    let word = gate.status.word();
    let acting_for = on_behalf_of(gate.metadata.as_deref()).or_else(|| {
        resolving
            .iter()
            .find_map(|event| on_behalf_of(event.metadata.as_deref()))
    });
    if let (Some(by), Ok(allow)) = (&gate.resolved_by, Allow::parse(gate.allow.as_deref()))
        && let Err(refusal) = allow.check(by, acting_for.as_deref())
    {
        issues.push(
            gate.warned(
                "gate-decided-by-stranger",
                &format!("was {word} by “{by}”: {refusal}"),
                "resolved_by",
            )
            .hint("Names are claims; the documents' own commands do not look at allow."),
        );
    }
    let deadline = gate.timeout_at.as_ref().and_then(Stamp::millis);
    let resolved = gate.resolved.as_ref().and_then(Stamp::millis);
    if let (Some(deadline), Some(resolved)) = (deadline, resolved)
        && resolved > deadline
    {
        issues.push(
            gate.warned(
                "gate-decided-late",
                &format!(
                    "was {word} at {}, past its deadline {}",
                    Stamp::At(resolved),
                    Stamp::At(deadline)
                ),
                "resolved_at",
            )
            .hint("Past its deadline a gate can only time out."),
        );
    }
}

/// Whether the log resolves the gate once (errata G3, G10).
pub(super) fn twice(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    if let [first, .., last] = resolving {
        let then: Vec<String> = resolving
            .iter()
            .take(6)
            .map(|event| format!("{} (row {})", event.kind.word(), event.id))
            .collect();
        issues.push(
            Issue::warning(
                "gate-resolved-twice",
                format!(
                    "the log resolves gate {} {} times: {}",
                    gate.id,
                    resolving.len(),
                    then.join(", ")
                ),
            )
            .at_row(
                LOG,
                if first.kind == last.kind {
                    last.id
                } else {
                    first.id
                },
            )
            .hint("A gate has one resolution: what its own row says."),
        );
    }
}

/// Whether a log that nobody sealed tells of the same resolution.
pub(super) fn agreement(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    let same = |event: &&AuditEvent| event.kind.word() == gate.status.word();
    let Some(last) = resolving.last() else {
        if gate.status.is_decided() {
            issues.push(
                Issue::info(
                    "gate-not-logged",
                    format!(
                        "gate {} is {}, and the log does not say so",
                        gate.id,
                        gate.status.word()
                    ),
                )
                .at_table(GATES)
                .hint("The documents' own commands decide without logging."),
            );
        }
        return;
    };
    if gate.status == GateStatus::Pending {
        issues.push(
            Issue::warning(
                "gate-log-ahead",
                format!(
                    "gate {} is pending, and the log says {}",
                    gate.id,
                    last.kind.word()
                ),
            )
            .at_row(LOG, last.id)
            .hint("The log is written first: the writer stopped before it changed the gate."),
        );
    } else if !matches!(gate.status, GateStatus::Other(_)) && !resolving.iter().any(same) {
        issues.push(
            Issue::warning(
                "gate-log-disagrees",
                format!(
                    "gate {} is {}, and the log says {}",
                    gate.id,
                    gate.status.word(),
                    last.kind.word()
                ),
            )
            .at_row(LOG, last.id)
            .hint("The gate's own row is believed."),
        );
    }
}
