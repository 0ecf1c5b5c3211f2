use super::known;
use super::resolve::{Decision, ResolveGate, ResolveResult};
use crate::model::shell::command;
use crate::model::{AuditEvent, AuditKind, Gate, GateStatus};
use crate::read::gate::allow::Allow;
use crate::read::gate::audit::{AuditWalk, Chain};
use crate::read::gate::prompt_hash;
use crate::read::gate::seen::{SeenGate, SeenHead};
use crate::record::instance::shown;
use crate::record::{At, CommandPlan, Facts, Record, WriteError};

/// A decision by a person who saw the gate earlier, on a page of `view --allow-decisions`. The gate is decided only if
/// it still equals what the person saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecideAsSeen {
    /// The id of the run that the person saw.
    pub run: String,
    /// The gate as the person saw it.
    pub seen: SeenGate,
    /// The decision to record.
    pub resolve: ResolveGate,
}

impl Record for DecideAsSeen {
    type Done = ResolveResult;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ResolveResult>, WriteError> {
        let run = facts.run();
        if run.id != self.run {
            return Err(WriteError::refused(
                "decision-of-another-run",
                format!(
                    "the decision was made for run {}, but this is run {}: nothing was decided",
                    shown(&self.run),
                    shown(&run.id)
                ),
                "decide the gate in its own run, with `prosescope approve` or `prosescope reject`",
            ));
        }
        let gate = known(facts, &self.resolve.gate)?;
        if gate.status == GateStatus::Pending {
            as_seen(facts, gate, &self.seen)?;
        } else if self.is_recorded(gate) {
            return Err(WriteError::refused(
                "decision-recorded-already",
                format!(
                    "gate {} is {} already, by {} (as claimed): this decision is recorded, and nothing was changed",
                    gate.id,
                    gate.status.word(),
                    shown(&self.resolve.by)
                ),
                "a gate is decided once: there is nothing left to do",
            ));
        }
        // `ResolveGate` refuses a gate that was decided differently, and explains why.
        self.resolve.plan(facts, at)
    }
}

impl DecideAsSeen {
    /// Returns whether the same principal has already decided the gate in the same way.
    fn is_recorded(&self, gate: &Gate) -> bool {
        let status = match self.resolve.decision {
            Decision::Approve { .. } => GateStatus::Approved,
            Decision::Reject { .. } => GateStatus::Rejected,
        };
        gate.status == status && gate.resolved_by.as_deref() == Some(self.resolve.by.trim())
    }
}

/// Refuses a gate that differs from what the person saw. The prompt and the `allow` list are compared one by one, so
/// that the message names the change. The head shows whether the audit log was changed.
fn as_seen(facts: &Facts<'_>, gate: &Gate, seen: &SeenGate) -> Result<(), WriteError> {
    let differs = |name, message: String| {
        let show = command("gate show", &[&facts.run().name, &gate.id], "");
        let show = format!(
            "read the current gate with `{show}`, then use `prosescope approve` or `prosescope reject`"
        );
        let message = format!("gate {}: {message}; nothing was decided", gate.id);
        Err(WriteError::refused(name, message, show))
    };
    let prompt = gate.prompt.as_deref().unwrap_or_default();
    if prompt_hash(prompt) != seen.prompt_hash {
        return differs(
            "decision-prompt-differs",
            "the prompt differs from the one that the person read".to_owned(),
        );
    }
    // `ResolveGate` refuses an unreadable `allow` list, and reports why.
    if let Ok(allow) = Allow::parse(gate.allow.as_deref())
        && allow.entries() != seen.allow
    {
        let then = Allow::of(seen.allow.clone()).words();
        return differs(
            "decision-allow-differs",
            format!(
                "`allow` admits {} now, but admitted {} when the decision was made",
                shown(&allow.words()),
                shown(&then)
            ),
        );
    }
    match &seen.head {
        Some(head) => match since(facts, gate, head)? {
            None => Ok(()),
            Some((name, message)) => differs(name, message),
        },
        None if facts.audit_tail()?.1.is_none() => Ok(()),
        None => differs(
            "decision-head-differs",
            "the audit log has sealed rows now, but had none when the decision was made".to_owned(),
        ),
    }
}

/// Returns a rule and a message if the log does not contain the head that the person saw, or records a change of the
/// gate after that head. Later rows of other gates are accepted, because otherwise a continuing run would make every
/// decision stale. Later rows of this gate are refused, because the person did not know them; only views and resumes
/// are accepted.
fn since(
    facts: &Facts<'_>,
    gate: &Gate,
    head: &SeenHead,
) -> Result<Option<(&'static str, String)>, WriteError> {
    let (_, tail) = facts.audit_tail()?;
    if tail.is_some_and(|tail| tail.seq == head.count && tail.hash == head.hash) {
        return Ok(None);
    }
    let (mut walk, mut wrong, mut found, mut later) = (AuditWalk::default(), None, false, None);
    for event in facts.audit() {
        wrong = walk.step(event);
        if wrong.is_some() {
            break;
        }
        let chain = event.metadata.as_deref().and_then(Chain::of_metadata);
        if found && later.is_none() && is_news(event, gate) {
            later = Some(event.kind.word().to_owned());
        }
        found |= chain.is_some_and(|chain| chain.seq == head.count && chain.hash == head.hash);
    }
    Ok(match (wrong, found, later) {
        (Some(wrong), ..) => Some((
            "decision-head-differs",
            format!("the audit log was changed ({wrong})"),
        )),
        (None, false, _) => Some((
            "decision-head-differs",
            format!(
                "the audit log does not contain the head {}:{}… on which the decision was made (rows were removed or rewritten)",
                head.count,
                head.hash.get(..12).unwrap_or(&head.hash)
            ),
        )),
        (None, true, Some(kind)) => Some((
            "decision-gate-moved",
            format!(
                "after the decision was made, the audit log recorded `{}` for this gate",
                shown(&kind)
            ),
        )),
        (None, true, None) => None,
    })
}

/// Returns whether a row of the log records a change of the gate.
fn is_news(event: &AuditEvent, gate: &Gate) -> bool {
    let harmless = matches!(event.kind, AuditKind::Viewed | AuditKind::Resumed);
    event.gate_id == gate.id && !harmless
}
