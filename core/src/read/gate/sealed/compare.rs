//! Compares the columns of one gate with its sealed rows.

use serde_json::{Map, Value};

use super::{SHOWN, SealedRow, SealedRows, changed};
use crate::model::issue::Issue;
use crate::model::text::cut;
use crate::model::time::Stamp;
use crate::model::{Gate, GateStatus, Text};
use crate::read::gate::{columns, prompt_hash};

impl SealedRows<'_> {
    /// Compares a gate with its sealed rows, and adds an issue for each difference.
    pub(super) fn compare(&self, gate: &Gate, issues: &mut Vec<Issue>) {
        if let Some(created) = self.created.first().or(self.adopted.last()) {
            Against::of(gate, created.event.id, issues).created(created);
        }
        match self.decided.last() {
            Some(decided) => Against::of(gate, decided.event.id, issues).decided(decided),
            // The caller reports a decision without a sealed row as one issue, not column by column.
            None if self.created.is_empty() || gate.status.is_decided() => return,
            None => {
                let row = self.created.first().map_or(0, |row| row.event.id);
                let mut against = Against::of(gate, row, issues);
                against.same("status", Some(GateStatus::Pending.word()));
                for column in ["resolved_by", "resolution_comment", "resolved_at"] {
                    against.same(column, None);
                }
            }
        }
        self.metadata(gate, issues);
    }

    /// Compares the gate's metadata with the metadata that its creation recorded, plus the keys that the decision
    /// added.
    fn metadata(&self, gate: &Gate, issues: &mut Vec<Issue>) {
        let said = gate
            .metadata
            .as_deref()
            .filter(|text| !text.trim().is_empty());
        let now = match said.map(serde_json::from_str::<Value>) {
            None => Some(Map::new()),
            Some(Ok(Value::Object(metadata))) => Some(metadata),
            Some(_) => None,
        };
        let first = self.created.first().or(self.adopted.last());
        let last = self.decided.last().or(first);
        let Some(last) = last else { return };
        let acting = self.decided.last();
        let acting = acting.and_then(|row| row.metadata.get(columns::ON_BEHALF_OF));
        let same = match first.and_then(|row| columns::GateColumns::of(&row.metadata)) {
            Some(columns) => {
                let mut then = columns.metadata;
                if let Some(name) = acting {
                    then.insert(columns::ON_BEHALF_OF.to_owned(), name.clone());
                }
                now.as_ref() == Some(&then)
            }
            // Earlier versions of Prosescope did not record `columns`, so there is no metadata to compare with.
            None if self.decided.is_empty() => true,
            None => now
                .as_ref()
                .is_some_and(|now| now.get(columns::ON_BEHALF_OF) == acting),
        };
        if !same {
            let what = "has other `metadata` than the sealed rows record";
            issues.push(changed(&gate.id, "metadata", what, last.event.id));
        }
    }
}

/// A comparison of a gate with one row of its log.
struct Against<'a> {
    gate: &'a Gate,
    row: i64,
    issues: &'a mut Vec<Issue>,
}

impl<'a> Against<'a> {
    fn of(gate: &'a Gate, row: i64, issues: &'a mut Vec<Issue>) -> Against<'a> {
        Against { gate, row, issues }
    }

    fn created(&mut self, created: &SealedRow<'_>) {
        let said = &created.metadata;
        let list = self
            .gate
            .allow
            .as_deref()
            .map(serde_json::from_str::<Value>);
        let list = list.and_then(Result::ok);
        if let Some(then) = said.get(columns::ALLOW).filter(|then| then.is_array())
            && list.as_ref() != Some(then)
        {
            self.differs("allow", self.now("allow"), Some(&then.to_string()));
        }
        if let Some(then) = said.get(columns::PROMPT_HASH).and_then(Value::as_str) {
            self.hash("prompt", Some(then));
        }
        // The row of an override has its own time, so its metadata records the time of the gate's creation.
        match said.get(columns::CREATED_AT) {
            Some(adopted) => self.same("created_at", adopted.as_str()),
            None => self.time("created_at", created.event.timestamp.as_ref()),
        }
        // Earlier versions of Prosescope did not record `columns`, so the columns below cannot be compared.
        let Some(then) = columns::GateColumns::of(said) else {
            return;
        };
        if then.execution_id.is_none() || then.execution_id != self.gate.source_execution_id {
            let before = then.execution_id.map(|id| id.to_string());
            self.same("execution_id", before.as_deref());
        }
        self.same("timeout", then.timeout.as_deref());
        self.time("timeout_at", then.timeout_at.as_ref());
        self.hash("on_reject", then.on_reject.as_deref());
    }

    fn decided(&mut self, decided: &SealedRow<'_>) {
        let event = decided.event;
        self.same("status", Some(event.kind.word()));
        self.same("resolved_by", event.principal.as_deref());
        self.same("resolution_comment", event.comment.as_deref());
        self.time("resolved_at", event.timestamp.as_ref());
        // Compares these two columns with the decision's row, if that row contains them. The row of the creation lacks
        // both columns if an earlier version of Prosescope wrote it.
        for column in ["timeout_at", "on_reject"] {
            let said = decided.metadata.get(column).and_then(Value::as_str);
            if said.is_some() {
                self.same(column, said);
            }
        }
    }

    /// Returns the present text of a column of the gate.
    fn now(&self, column: &str) -> Option<String> {
        let gate = self.gate;
        let text = |text: &Option<Text>| text.as_deref().map(str::to_owned);
        let time = |at: &Option<Stamp>| at.as_ref().map(ToString::to_string);
        match column {
            "allow" => text(&gate.allow),
            "created_at" => time(&gate.created),
            "execution_id" => gate.execution_id.map(|id| id.to_string()),
            "on_reject" => text(&gate.on_reject),
            "prompt" => text(&gate.prompt),
            "resolution_comment" => text(&gate.comment),
            "resolved_at" => time(&gate.resolved),
            "resolved_by" => text(&gate.resolved_by),
            "timeout" => text(&gate.timeout),
            "timeout_at" => time(&gate.timeout_at),
            _ => Some(gate.status.word().to_owned()),
        }
    }

    /// Compares a column of the gate with the recorded text `then`. Times are compared as instants.
    fn same(&mut self, column: &str, then: Option<&str>) {
        let then = if column.ends_with("_at") {
            then.map(|at| Stamp::parse(at).to_string())
        } else {
            then.map(str::to_owned)
        };
        let written = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let now = self.now(column);
        if written(&now) != written(&then) {
            self.differs(column, now, then.as_deref());
        }
    }

    fn time(&mut self, column: &str, then: Option<&Stamp>) {
        self.same(column, then.map(ToString::to_string).as_deref());
    }

    /// Compares a column of the gate with the hash `then`, which the sealed row records.
    fn hash(&mut self, column: &str, then: Option<&str>) {
        let now = self.now(column);
        let now = now.filter(|text| !text.is_empty() || then.is_some());
        if now.as_deref().map(prompt_hash).as_deref() != then {
            let what = format!("has another `{column}` than the sealed row records");
            self.issues
                .push(changed(&self.gate.id, column, &what, self.row));
        }
    }

    fn differs(&mut self, column: &str, now: Option<String>, then: Option<&str>) {
        let shown = |text: Option<&str>| match text.filter(|text| !text.is_empty()) {
            Some(text) => format!("“{}”", cut(text, SHOWN)),
            None => "nothing".to_owned(),
        };
        let (now, then) = (shown(now.as_deref()), shown(then));
        let what = format!("has `{column}` {now}, but the sealed row records {then}");
        self.issues
            .push(changed(&self.gate.id, column, &what, self.row));
    }
}
