use std::cell::OnceCell;

use super::fits;
use super::log::{Log, NewAuditRow};
use crate::model::issue::{Issue, Severity};
use crate::model::{AuditEvent, AuditKind, Gate};
use crate::read::gate::audit::{AuditWalk, Chain, edited, is_sealed};
use crate::read::gate::canonical::key_twice;
use crate::read::gate::columns::GateColumns;
use crate::read::gate::{contradictions, lost, seals_creations};
use crate::record::instance::shown;
use crate::record::meta::MetaKeys;
use crate::record::{Change, Facts, WriteError};

/// The name of the rule for a gate whose creation has no sealed row.
const UNSEALED: &str = "gate-creation-unsealed";

/// The hint for a gate that differs from its sealed rows.
const AS_RECORDED: &str = "`prosescope audit verify RUN` shows what the audit log records; find out who changed the gate, and restore the gate's row, or the log, from a copy";

/// A comparison of gates with their sealed rows, made before a decision (docs/reference/audit.md).
pub(super) struct Measure<'a> {
    facts: &'a Facts<'a>,
    /// Whether the log seals the creation of each gate; read once for all gates of a command.
    creations: OnceCell<bool>,
    /// Whether the caller allows deciding a gate whose creation has no sealed row.
    overrides: bool,
}

/// The basis on which a gate may be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecisionBasis {
    /// The gate may be decided without an override: its creation is sealed, or the log has no seals, as in OpenProse.
    Plainly,
    /// The gate may be decided only by an override, because its creation has no sealed row.
    ByOverride,
}

impl<'a> Measure<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, overrides: bool) -> Measure<'a> {
        Measure {
            facts,
            creations: OnceCell::new(),
            overrides,
        }
    }

    /// Refuses a gate that differs from its sealed rows.
    ///
    /// # Errors
    /// A refusal by the rule `gate-changed`; or by `gate-creation-unsealed` if the creation has no sealed row, there is
    /// no evidence that the row was removed, and the caller does not override the rule.
    pub(super) fn of(&self, gate: &Gate) -> Result<DecisionBasis, WriteError> {
        let facts = self.facts;
        // This call is made only for its fault: `Facts::gate` returns a fault for a gate with ambiguous files, but
        // `Facts::gates` does not.
        facts.gate(&gate.id)?;
        let events = facts.gate_events(&gate.id)?;
        let texts = events.iter().map(|event| &event.metadata);
        let mut texts = texts.chain([&gate.metadata]).flatten();
        let double = texts.find_map(|text| key_twice(text));
        let edited = double
            .map(|why| format!("gate {} can be read in two ways: {why}", gate.id))
            .or_else(|| edited(&events));
        if let Some(what) = edited {
            return Err(was_changed(&what));
        }
        let issues = contradictions(std::slice::from_ref(gate), &events);
        // A run that was converted to another store has new execution ids, so a difference in `execution_id` is not a
        // change of the gate.
        let is_moved = |issue: &Issue| {
            gate.execution_id.is_some() && issue.location.column.as_deref() == Some("execution_id")
        };
        let counts = |issue: &&Issue| issue.severity == Severity::Error && !is_moved(issue);
        if let Some(issue) = issues.iter().find(counts) {
            return Err(was_changed(&issue.message));
        }
        let created = |event: &AuditEvent| event.kind == AuditKind::Created && is_sealed(event);
        if events.iter().any(created) || !self.seals_creations() {
            return Ok(DecisionBasis::Plainly);
        }
        if let Some(why) = removed(facts, gate, &events) {
            return Err(was_changed(&why));
        }
        if self.overrides {
            Ok(DecisionBasis::ByOverride)
        } else {
            Err(WriteError::refused(
                UNSEALED,
                format!(
                    "the audit log of this run seals the creation of each gate, but has no sealed row for the creation of gate {}: nothing was decided",
                    shown(&gate.id)
                ),
                "another tool created the gate, or its row was cut off the end of the log: ask who created the gate, and compare the log with a head that you kept (`prosescope audit verify RUN --expect-head HEAD`). To decide the gate nevertheless, add --override to `prosescope approve`, `reject` or `gates expire`; the log records the override",
            ))
        }
    }

    fn seals_creations(&self) -> bool {
        *self.creations.get_or_init(|| {
            let chain = |event: &AuditEvent| Chain::of_metadata(event.metadata.as_deref()?);
            let mut sealed = self
                .facts
                .audit()
                .filter_map(|event| Some((event, chain(event)?)));
            let first = sealed.next();
            first.is_some_and(|(event, chain)| seals_creations(&event.kind, &chain))
        })
    }
}

/// Returns the log row that records the override and the gate's present state.
///
/// # Errors
/// A refusal if the gate's metadata is not a JSON object, or if its metadata or its list of principals is too long.
pub(super) fn overriding(
    log: &mut Log<'_>,
    gate: &Gate,
    by: &str,
    acting_for: Option<&str>,
) -> Result<Change, WriteError> {
    fits(
        "list of principals",
        gate.allow.as_deref().unwrap_or_default(),
    )?;
    fits(
        "gate's metadata",
        gate.metadata.as_deref().unwrap_or_default(),
    )?;
    let Some(mut metadata) = GateColumns::adopted(gate) else {
        return Err(was_changed(&format!(
            "the metadata of gate {} is not a JSON object, so the log cannot record it",
            shown(&gate.id)
        )));
    };
    let more = MetaKeys::default()
        .text("overrides", Some(UNSEALED))
        .text("on_behalf_of", acting_for);
    metadata.extend(more.done());
    log.add(NewAuditRow {
        gate: &gate.id,
        kind: AuditKind::Overridden,
        principal: by,
        comment: None,
        metadata,
    })
}

fn was_changed(what: &str) -> WriteError {
    WriteError::refused(
        "gate-changed",
        format!("{what}: nothing was decided"),
        AS_RECORDED,
    )
}

/// Returns the evidence that the row of a gate's creation was removed or lost its seal. A person who cut the row off
/// the end of the log and also changed the execution leaves no evidence. Therefore every override is recorded.
fn removed(facts: &Facts<'_>, gate: &Gate, events: &[AuditEvent]) -> Option<String> {
    let id = shown(&gate.id);
    if let Some(row) = events.iter().find(|event| is_ours(event)) {
        return Some(format!(
            "row {} of the log, which records the creation of gate {id}, lost its seal",
            row.id
        ));
    }
    if let Some((execution, seq)) = place_of_creation(facts, gate) {
        return Some(format!(
            "execution {execution} names the sealed row at place {seq} of the audit log as the creation of gate {id}, but the log has no such row"
        ));
    }
    let mut walk = AuditWalk::default();
    let wrong = facts.audit().find_map(|event| walk.step(event))?;
    Some(format!(
        "no sealed row of the log records the creation of gate {id}, and the log was changed ({wrong})"
    ))
}

/// Returns whether an unsealed row has keys that only `prosescope` writes for a creation.
fn is_ours(event: &AuditEvent) -> bool {
    let metadata = event.metadata.as_deref();
    let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
    event.kind == AuditKind::Created
        && metadata.is_some_and(|metadata| GateColumns::of(&metadata).is_some())
}

/// Returns the execution that waits at a gate, and the place in the log's chain that this execution records for the
/// gate's creation. Returns `None` if the execution records no place.
pub(super) fn place_of_creation(facts: &Facts<'_>, gate: &Gate) -> Option<(i64, i64)> {
    let id = gate.execution_id?;
    Some((id, lost::place(gate, facts.execution(id)?)?))
}
