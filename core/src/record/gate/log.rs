use serde_json::{Map, Value};

use super::sealed::place_of_creation;
use crate::model::AuditKind;
use crate::read::gate::allow::RESERVED;
use crate::read::gate::audit::{AuditHead, Chain, seal, with_chain};
use crate::read::gate::lost;
use crate::record::instance::shown;
use crate::record::render::json_rows;
use crate::record::{At, AuditRow, Change, Facts, Fault, FaultKind, Style, WriteError};

/// A writer that appends rows to the audit log. Each new row is sealed with the hash of the sealed row before it
/// (errata G7).
#[derive(Debug)]
pub(super) struct Log<'a> {
    at: &'a At,
    run: String,
    /// The run's name in commands: its id, or `postgres:ID`.
    name: String,
    timestamp: String,
    /// The id for the next row of the log.
    next: i64,
    last: Option<Chain>,
}

/// The content of a new row of the log. [`Log::add`] adds the recording client and the user.
#[derive(Debug)]
pub(super) struct NewAuditRow<'a> {
    pub(super) gate: &'a str,
    pub(super) kind: AuditKind,
    /// The principal that caused the event, as claimed.
    pub(super) principal: &'a str,
    pub(super) comment: Option<&'a str>,
    pub(super) metadata: Map<String, Value>,
}

impl<'a> Log<'a> {
    /// Opens the run's log, so that new rows follow its last row.
    pub(super) fn open(facts: &Facts<'_>, at: &'a At) -> Result<Log<'a>, WriteError> {
        let (next, last) = facts.audit_tail()?;
        if last.is_none() {
            was_sealed(facts)?;
        }
        let run = facts.run();
        Ok(Log {
            at,
            run: run.id,
            name: run.name,
            timestamp: at.text(facts.style()),
            next,
            last,
        })
    }

    /// Returns the change that appends a sealed row for `event`.
    pub(super) fn add(&mut self, event: NewAuditRow<'_>) -> Result<Change, WriteError> {
        let mut metadata = event.metadata;
        metadata.insert("client".to_owned(), self.at.client.as_str().into());
        if let Some(user) = &self.at.os_user {
            metadata.insert("os_user".to_owned(), user.as_str().into());
        }
        let mut row = AuditRow {
            id: self.next,
            gate_id: event.gate.to_owned(),
            run_id: self.run.clone(),
            event: event.kind.word().to_owned(),
            principal: event.principal.to_owned(),
            comment: event.comment.map(str::to_owned),
            at: self.timestamp.clone(),
            metadata: Value::Object(metadata).to_string(),
        };
        let chain = seal(self.last.as_ref(), &json_rows::audit(&row)).map_err(unsealed)?;
        row.metadata = with_chain(Some(&row.metadata), &chain).map_err(unsealed)?;
        self.next = (row.id.checked_add(1)).ok_or_else(|| unsealed("no id is left"))?;
        self.last = Some(chain);
        Ok(Change::Audit(row))
    }

    /// Returns the change that appends a sealed row for an event without a person, under the principal `system`.
    pub(super) fn system(
        &mut self,
        gate: &str,
        kind: AuditKind,
        metadata: Map<String, Value>,
    ) -> Result<Change, WriteError> {
        self.add(NewAuditRow {
            gate,
            kind,
            principal: RESERVED,
            comment: None,
            metadata,
        })
    }

    /// Returns the place of the last sealed row in the chain, from 1; `None` if no row is sealed.
    pub(super) fn seq(&self) -> Option<i64> {
        i64::try_from(self.last.as_ref()?.seq).ok()
    }

    /// Returns the head that the log has once the changes are written. `None` if no row is sealed.
    pub(super) fn head(&self) -> Option<AuditHead> {
        self.last.as_ref().map(|last| AuditHead {
            run: self.name.as_str().into(),
            count: last.seq,
            hash: last.hash.clone(),
        })
    }
}

/// Refuses to record in a run whose audit log is missing. The decisions that the log recorded are unknown, and a
/// further row would hide the loss.
pub(in crate::record) fn log_is_there(facts: &Facts<'_>) -> Result<(), WriteError> {
    if facts.lacks_log() {
        was_sealed(facts)
    } else {
        Ok(())
    }
}

/// Refuses to start a new chain if the execution of a gate refers to a place in an earlier chain. The log or its seals
/// were then lost, and a new chain would hide the loss. Older versions of Prosescope recorded no such place, so the
/// loss of their logs is not detected.
fn was_sealed(facts: &Facts<'_>) -> Result<(), WriteError> {
    for gate in facts.gates().rev() {
        if let Some((execution, seq)) = place_of_creation(facts, gate) {
            let log = match facts.style() {
                Style::Files => "gates/audit.jsonl",
                Style::AppendOnly | Style::InPlace => "gate_audit_log",
            };
            let log = format!("the audit log of run {} ({log})", shown(&facts.run().name));
            let why = lost::evidence(&gate.id, execution, seq);
            let why = format!("the log has no sealed row, but {why}");
            let next = "without a copy, run the program again: the decisions of this run cannot be verified";
            return Err(Fault::lost_rows(log, &why, next).into());
        }
    }
    Ok(())
}

fn unsealed(why: impl std::fmt::Display) -> WriteError {
    Fault::new(
        FaultKind::Damaged,
        format!("no row can be added to the audit log: {why}"),
    )
    .hint("`prosescope audit verify RUN` shows the fault")
    .into()
}
