use serde_json::{Map, Value};

use crate::gate::allow::RESERVED;
use crate::gate::audit::{Chain, Head, seal, with_chain};
use crate::model::AuditKind;
use crate::render::gates_json;
use crate::write::{At, AuditRow, Change, Facts, Fault, FaultKind, WriteError};

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

    /// The last row: where the log ends once it is written. `None` in a log without sealed rows.
    pub(super) fn head(&self) -> Option<Head> {
        self.last.as_ref().map(|last| Head {
            run: self.name.as_str().into(),
            count: last.seq,
            hash: last.hash.clone(),
        })
    }
}

fn unsealed(why: impl std::fmt::Display) -> WriteError {
    Fault::new(
        FaultKind::Damaged,
        format!("the audit log takes no further row: {why}"),
    )
    .hint("`prosescope audit verify RUN` says how it stands")
    .into()
}
