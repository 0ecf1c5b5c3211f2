use serde_json::{Map, Value, json};

use crate::gate::allow::RESERVED;
use crate::gate::audit::{Chain, Head, seal, with_chain};
use crate::model::AuditKind;
use crate::write::{At, AuditRow, Change, Facts, Fault, FaultKind, WriteError};

/// Rows of the audit log under construction: each is sealed behind the one before (errata G7).
#[derive(Debug)]
pub(super) struct Log<'a> {
    at: &'a At,
    run: String,
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
        Ok(Log {
            at,
            run: facts.run()?.id,
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
        let metadata = Value::Object(metadata);
        let mut row = json!({
            "id": self.next,
            "gate_id": event.gate,
            "run_id": self.run,
            "event_type": event.kind.word(),
            "principal": event.principal,
            "timestamp": self.timestamp,
            "metadata": metadata,
        });
        if let (Some(comment), Value::Object(row)) = (event.comment, &mut row) {
            row.insert("comment".to_owned(), comment.into());
        }
        let chain = seal(self.last.as_ref(), &row.to_string()).map_err(unsealed)?;
        let metadata = with_chain(Some(&metadata.to_string()), &chain).map_err(unsealed)?;
        let id = self.next;
        self.next = id.checked_add(1).ok_or_else(|| unsealed("no id is left"))?;
        self.last = Some(chain.clone());
        Ok(Change::Audit(AuditRow {
            id,
            gate_id: event.gate.to_owned(),
            run_id: self.run.clone(),
            event: event.kind.word().to_owned(),
            principal: event.principal.to_owned(),
            comment: event.comment.map(str::to_owned),
            at: self.timestamp.clone(),
            metadata,
            chain,
        }))
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
            run: self.run.as_str().into(),
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
    .hint("`prose audit verify RUN` says how it stands")
    .into()
}
