use super::expire::{is_due, time_out, touched};
use super::log::{Log, NewAuditRow};
use super::sealed::{DecisionBasis, Measure, overriding};
use super::waits::resolved;
use super::{fits, known, principal};
use crate::model::time::Stamp;
use crate::model::visit;
use crate::model::{AuditKind, Gate, GateStatus};
use crate::read::gate::allow::{Allow, Refusal};
use crate::record::meta::MetaKeys;
use crate::record::{At, CommandPlan, Facts, GateDecided, GateTimedOut, Record, WriteError};

/// The command `approve` or `reject`, which decides a gate. The person's name is a claim and is not verified (errata
/// G4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveGate {
    /// The id of the gate to decide.
    pub gate: String,
    /// The decision: approve or reject.
    pub decision: Decision,
    /// The principal who decides, as claimed.
    pub by: String,
    /// The principal for which the person acts (`--for`), as claimed.
    pub on_behalf_of: Option<String>,
    /// Whether to record the time-out if the decision comes after the deadline.
    pub record_timeout: bool,
    /// Whether to decide the gate even if the log has no sealed row of its creation. The log records this override.
    pub overrides: bool,
}

/// A decision about a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The gate is approved.
    Approve {
        /// An optional comment.
        comment: Option<String>,
    },
    /// The gate is rejected.
    Reject {
        /// The reason for the rejection; must not be empty.
        reason: String,
    },
}

/// The result of the command `approve` or `reject`.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolveResult {
    /// The gate was decided.
    Decided(GateDecided),
    /// The decision came after the deadline and does not count; as requested, the due time-out was recorded instead
    /// (errata G3).
    TooLate(GateTimedOut),
}

impl Record for ResolveGate {
    type Done = ResolveResult;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ResolveResult>, WriteError> {
        let by = principal(&self.by)?;
        let acting_for = self.on_behalf_of.as_deref().map(principal).transpose()?;
        let (kind, comment) = self.decision.words()?;
        let gate = known(facts, &self.gate)?;
        if gate.status != GateStatus::Pending {
            return Err(decided_already(facts, gate)?);
        }
        let mut log = Log::open(facts, at)?;
        let measured = Measure::new(facts, self.overrides).of(gate)?;
        if is_due(gate, at.now) && !self.record_timeout {
            let refused = admitted(gate, by, acting_for).err();
            return Err(past_deadline(gate, refused));
        }
        if !is_due(gate, at.now) {
            admitted(gate, by, acting_for)?;
        }
        let overridden = measured == DecisionBasis::ByOverride;
        let mut changes = Vec::new();
        if overridden {
            changes.push(overriding(&mut log, gate, by, acting_for)?);
        }
        if is_due(gate, at.now) {
            let out = time_out(facts, at, gate, &mut log)?;
            changes.extend(out.changes);
            changes.extend(touched(facts, at)?);
            return Ok(CommandPlan {
                changes,
                done: ResolveResult::TooLate(out.done),
            });
        }
        let status = kind.word().to_owned();
        let on_reject = gate.on_reject.as_deref();
        let on_reject = on_reject.filter(|_| kind == AuditKind::Rejected);
        let waited_ms = gate.created.as_ref().and_then(Stamp::millis);
        let waited_ms = waited_ms.and_then(|from| at.now.checked_sub(from));
        let waited_ms = waited_ms.map(|ms| ms.max(0));

        let own = MetaKeys::default().text("on_behalf_of", acting_for);
        let metadata = MetaKeys::default()
            .number("approval_time_seconds", waited_ms.map(|ms| ms / 1000))
            .text("on_reject", on_reject);
        let event = NewAuditRow {
            gate: &gate.id,
            kind,
            principal: by,
            comment,
            metadata: metadata.done(),
        };
        changes.extend(resolved(facts, at, gate, &mut log, event, own)?);
        changes.extend(touched(facts, at)?);
        Ok(CommandPlan {
            changes,
            done: ResolveResult::Decided(GateDecided {
                run: facts.run().name,
                gate: gate.id.to_string(),
                status,
                resolved_by: by.to_owned(),
                on_behalf_of: acting_for.map(str::to_owned),
                claimed: true,
                overridden,
                waited_ms,
                on_reject: on_reject.map(str::to_owned),
                execution_id: gate.execution_id,
                head: log.head(),
            }),
        })
    }
}

impl Decision {
    /// Returns the kind of the audit event, and the comment if there is one. Refuses a rejection without a reason.
    fn words(&self) -> Result<(AuditKind, Option<&str>), WriteError> {
        let (kind, text) = match self {
            Decision::Approve { comment } => (AuditKind::Approved, comment.as_deref()),
            Decision::Reject { reason } if reason.trim().is_empty() => {
                return Err(WriteError::wrong(
                    "a rejection needs a reason",
                    "give the reason: `--reason TEXT`",
                ));
            }
            Decision::Reject { reason } => (AuditKind::Rejected, Some(reason.as_str())),
        };
        fits("comment", text.unwrap_or_default())?;
        Ok((kind, text.filter(|text| !text.trim().is_empty())))
    }
}

/// Refuses a principal that the gate's `allow` does not admit (errata G4).
fn admitted(gate: &Gate, by: &str, acting_for: Option<&str>) -> Result<(), WriteError> {
    let allow = Allow::parse(gate.allow.as_deref()).map_err(|error| {
        WriteError::refused(
            "gate-allow-unreadable",
            format!("gate {} admits no principal: {error}", gate.id),
            "first correct the gate's `allow`; `prosescope check RUN` shows the fault",
        )
    })?;
    allow.check(by, acting_for).map_err(|refusal| {
        let hint = match &refusal {
            Refusal::NotListed { .. } => {
                "decide as a principal that the gate admits, or on behalf of one: `--as NAME --for NAME`"
            }
            _ => "nothing was changed",
        };
        WriteError::refused(
            "gate-not-allowed",
            format!("gate {}: {refusal}", gate.id),
            hint,
        )
    })
}

/// Returns the refusal of a decision after the deadline. The program treats a time-out as a rejection, so a command
/// that was meant to approve must not record a time-out (errata G3). `refused` is a further reason, which does not
/// depend on the deadline.
fn past_deadline(gate: &Gate, refused: Option<WriteError>) -> WriteError {
    let also = refused.map_or(String::new(), |refused| format!(". Also, {refused}"));
    let deadline = gate
        .timeout_at
        .as_ref()
        .map_or(String::new(), |at| format!(" ({})", at.spoken()));
    let then = match gate.on_reject.as_deref() {
        Some(action) => format!(
            ", after which the program goes on with: {}",
            super::shown(action)
        ),
        None => String::new(),
    };
    WriteError::refused(
        "gate-past-deadline",
        format!(
            "gate {} is past its deadline{deadline}: nothing was changed{also}",
            gate.id
        ),
        format!(
            "record the time-out with `prosescope gates expire`, or repeat this command with --record-timeout{then}"
        ),
    )
}

/// Returns the refusal for a gate that is not pending. If another visit to the gate is pending, the hint contains the
/// id of that visit.
fn decided_already(facts: &Facts<'_>, gate: &Gate) -> Result<WriteError, WriteError> {
    let by = gate.resolved_by.as_deref();
    let by = by.map_or(String::new(), |by| format!(", by {by} (as claimed)"));
    let when = gate.resolved.as_ref();
    let when = when.map_or(String::new(), |at| format!(" at {at}"));
    let again = facts.gates().find(|other| {
        other.status == GateStatus::Pending && visit(&other.id).0 == visit(&gate.id).0
    });
    let hint = match again {
        Some(again) => format!(
            "the program reached the gate again: decide gate {} instead",
            again.id
        ),
        None => "a gate is decided once; nothing was changed".to_owned(),
    };
    Ok(WriteError::refused(
        "gate-not-pending",
        format!(
            "gate {} is not pending: it is {} already{by}{when}",
            gate.id,
            gate.status.word()
        ),
        hint,
    ))
}
