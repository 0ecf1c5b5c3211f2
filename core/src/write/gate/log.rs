use serde_json::{Map, Value};

use super::sealed::place_of_creation;
use crate::gate::allow::RESERVED;
use crate::gate::audit::{Chain, Head, seal, with_chain};
use crate::gate::lost;
use crate::model::AuditKind;
use crate::render::gates_json;
use crate::write::instance::shown;
use crate::write::{At, AuditRow, Change, Facts, Fault, FaultKind, Style, WriteError};

/// How many gates are looked at, the newest first, where a log has no sealed row.
const LOOKED_AT: usize = 64;

/// Rows of the audit log under construction: each is sealed behind the one before (errata G7).
#[derive(Debug)]
pub(super) struct Log<'a> {
    at: &'a At,
    run: String,
    /// What commands call the run.
    name: String,
    timestamp: String,
    /// The id that the next row gets.
    next: i64,
    last: Option<Chain>,
}

/// What a row of the log says; who records it is added.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) gate: &'a str,
    pub(super) kind: AuditKind,
    /// Who, as claimed.
    pub(super) principal: &'a str,
    pub(super) comment: Option<&'a str>,
    pub(super) metadata: Map<String, Value>,
}

impl<'a> Log<'a> {
    /// Begins behind the last row of the run's log.
    pub(super) fn open(facts: &dyn Facts, at: &'a At) -> Result<Log<'a>, WriteError> {
        let tail = facts.audit_tail()?;
        if tail.chain.is_none() {
            was_sealed(facts)?;
        }
        let run = facts.run()?;
        Ok(Log {
            at,
            run: run.id,
            name: run.name,
            timestamp: at.text(facts.style()),
            next: tail.next,
            last: tail.chain,
        })
    }

    /// The next row.
    pub(super) fn add(&mut self, event: Event<'_>) -> Result<Change, WriteError> {
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
        let chain = seal(self.last.as_ref(), &gates_json::audit(&row)).map_err(unsealed)?;
        row.metadata = with_chain(Some(&row.metadata), &chain).map_err(unsealed)?;
        self.next = (row.id.checked_add(1)).ok_or_else(|| unsealed("no id is left"))?;
        self.last = Some(chain);
        Ok(Change::Audit(row))
    }

    /// The next row, of what no person does.
    pub(super) fn system(
        &mut self,
        gate: &str,
        kind: AuditKind,
        metadata: Map<String, Value>,
    ) -> Result<Change, WriteError> {
        self.add(Event {
            gate,
            kind,
            principal: RESERVED,
            comment: None,
            metadata,
        })
    }

    /// The place of the last row in the chain.
    pub(super) fn seq(&self) -> Option<i64> {
        i64::try_from(self.last.as_ref()?.seq).ok()
    }

    /// The last row: where the log ends once it is written. `None` in a log without sealed rows.
    pub(super) fn head(&self) -> Option<Head> {
        self.last.as_ref().map(|last| Head {
            run: self.name.as_str().into(),
            count: last.seq,
            hash: last.hash.clone(),
        })
    }
}

/// Refuses to record anything in a run whose audit log is gone: what was decided in it is not known any more, and whoever goes
/// on would hide that.
pub(in crate::write) fn log_is_there(facts: &dyn Facts) -> Result<(), WriteError> {
    match facts.lacks_log()? {
        true => was_sealed(facts),
        false => Ok(()),
    }
}

/// Refuses to begin a chain anew where the executions of gates name a place in one: the log, or its seals, are gone, and a new
/// chain would hide that. Older versions recorded no such place; a log of theirs that is gone does not show.
fn was_sealed(facts: &dyn Facts) -> Result<(), WriteError> {
    let gates = facts.gates()?;
    for gate in gates.iter().rev().take(LOOKED_AT) {
        if let Some((execution, seq)) = place_of_creation(facts, gate)? {
            let log = match facts.style() {
                Style::Files => "gates/audit.jsonl",
                Style::AppendOnly | Style::InPlace => "gate_audit_log",
            };
            let log = format!("the audit log of run {} ({log})", shown(&facts.run()?.name));
            let why = lost::evidence(gate, execution, seq);
            let why = format!("it has no sealed row, and {why}");
            let next = "where there is none, run the program anew: what was decided in this run cannot be verified";
            return Err(Fault::lost_rows(log, &why, next).into());
        }
    }
    Ok(())
}

fn unsealed(why: impl std::fmt::Display) -> WriteError {
    Fault::new(
        FaultKind::Damaged,
        format!("the audit log takes no further row: {why}"),
    )
    .hint("`prosescope audit verify RUN` says how it stands")
    .into()
}
