//! Checks the decision of a gate: who decided, when, how often, and whether unsealed rows of the log agree.

use super::{GATES, LOG};
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{AuditEvent, Gate, GateStatus};
use crate::read::gate::allow::Allow;
use crate::read::gate::lifecycle::on_behalf_of;

/// Checks that the gate's `allow` admits the principal that decided, and that the decision was in time (errata G3, G4).
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
        let what = format!("was {word} by “{by}”: {refusal}");
        let issue = gate.warned("gate-decided-by-stranger", &what, "resolved_by");
        let hint = "Find out who decided: a name is only a claim, and OpenProse's own commands do not check `allow`.";
        issues.push(issue.hint(hint));
    }
    let deadline = gate.timeout_at.as_ref().and_then(Stamp::millis);
    let resolved = gate.resolved.as_ref().and_then(Stamp::millis);
    if let (Some(deadline), Some(resolved)) = (deadline, resolved)
        && resolved > deadline
    {
        let (then, due) = (Stamp::At(resolved), Stamp::At(deadline));
        let what = format!("was {word} at {then}, past its deadline {due}");
        let issue = gate.warned("gate-decided-late", &what, "resolved_at");
        issues.push(issue.hint(
            "Ask whether the decision is valid: after its deadline, a gate can only time out.",
        ));
    }
}

/// Checks that the log records only one decision of the gate (errata G3, G10).
pub(super) fn twice(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    if let [first, .., last] = resolving {
        let then = resolving.iter().take(6);
        let then = then.map(|event| format!("{} (row {})", event.kind.word(), event.id));
        let (times, then) = (resolving.len(), then.collect::<Vec<_>>().join(", "));
        let what = format!(
            "the audit log records {times} decisions of gate {}: {then}",
            gate.id
        );
        let at = if first.kind == last.kind { last } else { first };
        let issue = Issue::warning("gate-resolved-twice", what).at_row(LOG, at.id);
        issues.push(
            issue.hint(
                "Find out which decision is right. The decision in the gate's own row counts.",
            ),
        );
    }
}

/// Checks that unsealed rows of the log record the same decision as the gate.
pub(super) fn agreement(gate: &Gate, resolving: &[&AuditEvent]) -> Option<Issue> {
    let (id, own) = (&gate.id, gate.status.word());
    let Some(last) = resolving.last() else {
        let what = format!("gate {id} is {own}, but the audit log does not record the decision");
        let issue = Issue::noted("gate-not-logged", what).at_table(GATES);
        let hint = "OpenProse's own commands decide a gate without writing to the audit log.";
        return gate.status.is_decided().then(|| issue.hint(hint));
    };
    let (rule, hint) = match gate.status {
        GateStatus::Other(_) => return None,
        GateStatus::Pending => (
            "gate-log-ahead",
            "Decide the gate again: the writer stopped after writing to the log, before it changed the gate.",
        ),
        _ if resolving.iter().any(|event| event.kind.word() == own) => return None,
        _ => (
            "gate-log-disagrees",
            "Find out who changed the gate. Prosescope uses the decision in the gate's own row.",
        ),
    };
    let what = format!(
        "gate {id} is {own}, but the audit log records {}",
        last.kind.word()
    );
    Some(Issue::warning(rule, what).at_row(LOG, last.id).hint(hint))
}
