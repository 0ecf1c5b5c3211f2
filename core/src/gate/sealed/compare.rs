use serde_json::{Map, Value};

use super::{Recorded, SHOWN, Sealed, changed};
use crate::gate::{columns, prompt_hash};
use crate::issue::Issue;
use crate::model::{Gate, GateStatus};
use crate::text::cut;
use crate::time::Stamp;

impl Recorded<'_> {
    /// Compares a gate with its sealed rows.
    pub(super) fn compare(&self, gate: &Gate, issues: &mut Vec<Issue>) {
        if let Some(created) = self.created.first() {
            created_as(gate, created, issues);
        } else if let Some(adopted) = self.adopted.last() {
            created_as(gate, adopted, issues);
        }
        match self.decided.last() {
            Some(decided) => decided_as(gate, decided, issues),
            // A decision without a sealed row is told as a whole.
            None if self.created.is_empty() || gate.status.is_decided() => return,
            None => {
                let mut against = Against {
                    gate,
                    row: self.created.first().map_or(0, |row| row.event.id),
                    issues,
                };
                if gate.status != GateStatus::Pending {
                    against.differs("status", Some(gate.status.word()), Some("pending"));
                }
                against.text("resolved_by", gate.resolved_by.as_deref(), None);
                against.text("resolution_comment", gate.comment.as_deref(), None);
                against.time("resolved_at", gate.resolved.as_ref(), None);
            }
        }
        self.metadata(gate, issues);
    }

    /// The gate's metadata: what it was created with, and what the decision added.
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
        let same = match first.and_then(|row| columns::Columns::of(&row.metadata)) {
            Some(columns) => {
                let mut then = columns.metadata;
                if let Some(name) = acting {
                    then.insert(columns::ON_BEHALF_OF.to_owned(), name.clone());
                }
                now.as_ref() == Some(&then)
            }
            // Rows that were sealed before `columns` was recorded.
            None if self.decided.is_empty() => true,
            None => now
                .as_ref()
                .is_some_and(|now| now.get(columns::ON_BEHALF_OF) == acting),
        };
        if !same {
            let what = "has other metadata than its sealed rows record";
            issues.push(changed(&gate.id, "metadata", what, last.event.id));
        }
    }
}

fn created_as(gate: &Gate, created: &Sealed<'_>, issues: &mut Vec<Issue>) {
    let said = &created.metadata;
    let mut against = Against {
        gate,
        row: created.event.id,
        issues,
    };
    let list = gate.allow.as_deref().map(serde_json::from_str::<Value>);
    let list = list.and_then(Result::ok);
    if let Some(then) = said.get(columns::ALLOW).filter(|then| then.is_array())
        && list.as_ref() != Some(then)
    {
        let then = then.to_string();
        against.differs("allow", gate.allow.as_deref(), Some(&then));
    }
    if let Some(then) = said.get(columns::PROMPT_HASH).and_then(Value::as_str) {
        against.hash("prompt", gate.prompt.as_deref(), Some(then));
    }
    // The row of an override is not the one of a creation: it names its time.
    let adopted = said.get(columns::CREATED_AT);
    let adopted = adopted.map(|at| at.as_str().map(Stamp::parse));
    let then = adopted.unwrap_or_else(|| created.event.timestamp.clone());
    against.time("created_at", gate.created.as_ref(), then.as_ref());
    // Rows that were sealed before `columns` was recorded do not cover these.
    let Some(then) = columns::Columns::of(said) else {
        return;
    };
    let number = |id: Option<i64>| id.map(|id| id.to_string());
    if then.execution_id.is_none() || then.execution_id != gate.source_execution_id {
        let (now, before) = (number(gate.execution_id), number(then.execution_id));
        against.text("execution_id", now.as_deref(), before.as_deref());
    }
    against.text("timeout", gate.timeout.as_deref(), then.timeout.as_deref());
    against.time(
        "timeout_at",
        gate.timeout_at.as_ref(),
        then.timeout_at.as_ref(),
    );
    against.hash(
        "on_reject",
        gate.on_reject.as_deref(),
        then.on_reject.as_deref(),
    );
}

fn decided_as(gate: &Gate, decided: &Sealed<'_>, issues: &mut Vec<Issue>) {
    let event = decided.event;
    let mut against = Against {
        gate,
        row: event.id,
        issues,
    };
    if gate.status.word() != event.kind.word() {
        against.differs("status", Some(gate.status.word()), Some(event.kind.word()));
    }
    against.text(
        "resolved_by",
        gate.resolved_by.as_deref(),
        event.principal.as_deref(),
    );
    against.text(
        "resolution_comment",
        gate.comment.as_deref(),
        event.comment.as_deref(),
    );
    against.time(
        "resolved_at",
        gate.resolved.as_ref(),
        event.timestamp.as_ref(),
    );
    // What a decision repeats of the gate; rows that were sealed before `columns` was recorded cover these only here.
    let said = |key: &str| decided.metadata.get(key).and_then(Value::as_str);
    if let Some(then) = said("timeout_at") {
        against.time(
            "timeout_at",
            gate.timeout_at.as_ref(),
            Some(&Stamp::parse(then)),
        );
    }
    if let Some(then) = said("on_reject") {
        against.text("on_reject", gate.on_reject.as_deref(), Some(then));
    }
}

/// A gate against one row of its log.
struct Against<'a> {
    gate: &'a Gate,
    row: i64,
    issues: &'a mut Vec<Issue>,
}

impl Against<'_> {
    fn text(&mut self, column: &str, now: Option<&str>, then: Option<&str>) {
        let written = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        if written(now) != written(then) {
            self.differs(column, now, then);
        }
    }

    fn time(&mut self, column: &str, now: Option<&Stamp>, then: Option<&Stamp>) {
        if now != then {
            let text = |at: Option<&Stamp>| at.map(ToString::to_string);
            self.differs(column, text(now).as_deref(), text(then).as_deref());
        }
    }

    fn hash(&mut self, column: &str, now: Option<&str>, then: Option<&str>) {
        let now = now.filter(|text| !text.is_empty() || then.is_some());
        if now.map(prompt_hash).as_deref() != then {
            let what = format!("has another {column} than when it was created");
            self.issues
                .push(changed(&self.gate.id, column, &what, self.row));
        }
    }

    fn differs(&mut self, column: &str, now: Option<&str>, then: Option<&str>) {
        let shown = |text: Option<&str>| match text.filter(|text| !text.is_empty()) {
            Some(text) => format!("“{}”", cut(text, SHOWN)),
            None => "nothing".to_owned(),
        };
        let what = format!(
            "has {column} {}, and its sealed row records {}",
            shown(now),
            shown(then)
        );
        self.issues
            .push(changed(&self.gate.id, column, &what, self.row));
    }
}
