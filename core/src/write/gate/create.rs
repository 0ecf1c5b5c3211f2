use serde_json::{Map, Value};

use super::log::{Event, Log};
use super::{fits, principal};
use crate::gate::allow::{ANY_PERSON, Allow, RESERVED};
use crate::gate::audit::Head;
use crate::gate::{prompt_hash, visit};
use crate::model::{AuditKind, Execution, Gate, GateStatus, Meta, Status};
use crate::program::{self, StatementKind};
use crate::time::Stamp;
use crate::timeout::Timeout;
use crate::write::begin::{opening, touch};
use crate::write::instance::{open_parent, running};
use crate::write::meta::Keys;
use crate::write::{
    At, Change, Facts, GateRow, Named, Plan, Record, Style, WriteError, at_text, names,
};

/// `gate create`: the program stands at a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CreateGate {
    /// Its id, as the program has it.
    pub id: String,
    /// What the approver is asked.
    pub prompt: String,
    /// Who may decide; `None` is any person, an empty list nobody (errata G4).
    pub allow: Option<Vec<String>>,
    /// How long it waits (errata, "Timeouts").
    pub timeout: Option<String>,
    /// What the program does on a rejection.
    pub on_reject: Option<String>,
    /// The execution that it stands in: a branch, a loop, a frame.
    pub parent: Option<i64>,
    /// Its line in the program; looked up by its id, where it is not given.
    pub line: Option<u32>,
}

/// A gate that was created.
#[derive(Debug, Clone, PartialEq)]
pub struct GateCreated {
    /// Its id: `id#2` when the gate is met for the second time (errata G1).
    pub id: String,
    /// Which time it is met, from 1.
    pub visit: u32,
    /// The execution that waits at it.
    pub execution: i64,
    /// The statement's text.
    pub text: String,
    /// Its line in the program, where it is known.
    pub line: Option<i64>,
    /// Who may decide, in words.
    pub allow: String,
    /// Until when.
    pub deadline: Option<Stamp>,
    /// Where the audit log ends now.
    pub head: Option<Head>,
}

impl Record for CreateGate {
    type Done = GateCreated;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<GateCreated>, WriteError> {
        running(facts)?;
        names::plain("gate", &self.id)?;
        names::file_in(facts.style(), "gate", &self.id)?;
        let list = self.list()?;
        if self.prompt.trim().is_empty() {
            return Err(WriteError::wrong(
                "a gate without a prompt says nothing to its approver",
                "`--prompt TEXT` says what is to be approved",
            ));
        }
        fits("prompt", &self.prompt)?;
        fits("reaction", self.on_reject.as_deref().unwrap_or_default())?;
        let deadline = self.deadline(at)?;
        open_parent(facts, self.parent)?;
        let visit = self.next_visit(facts)?;
        let id = match visit {
            1 => self.id.clone(),
            n => format!("{}#{n}", self.id),
        };
        let (text, index) = self.statement(facts)?;
        let style = facts.style();
        let meta = Meta {
            gate_id: Some(id.as_str().into()),
            ..Meta::default()
        };
        // The word of the document: a query for `pending` finds what waits.
        let row = Execution {
            id: facts.next_execution()?,
            index,
            text: text.as_str().into(),
            status: Status::Pending,
            parent: self.parent,
            started: None,
            completed: None,
            error: None,
            meta: Some(meta.clone().into()),
        };
        let allow = Value::from(list);
        let mut log = Log::open(facts, at)?;
        let mut created = Map::new();
        created.insert("prompt_hash".to_owned(), prompt_hash(&self.prompt).into());
        created.insert("allow".to_owned(), allow.clone());
        let created = log.add(Event {
            gate: &id,
            kind: AuditKind::Created,
            principal: RESERVED,
            comment: None,
            metadata: created,
        })?;
        let mut metadata = Map::new();
        if visit > 1 {
            metadata.insert("gate".to_owned(), self.id.as_str().into());
            metadata.insert("visit".to_owned(), visit.into());
        }
        let allow = allow.to_string();
        let gate = GateRow {
            id: id.clone(),
            run_id: facts.run()?.id,
            execution_id: Some(row.id),
            prompt: Some(self.prompt.clone()),
            allow: allow.clone(),
            timeout: self.timeout.as_deref().map(|text| text.trim().to_owned()),
            timeout_at: deadline.map(|ms| at_text(ms, style)),
            on_reject: self.on_reject.clone(),
            created: at.text(style),
            metadata,
        };
        let words = Allow::parse(Some(&allow)).map_or_else(|e| e.to_string(), |a| a.words());
        Ok(Plan {
            changes: vec![
                opening(facts, at, &row, Keys::naming(&meta)),
                created,
                Change::Gate(gate),
                touch(facts, at),
            ],
            done: GateCreated {
                id,
                visit,
                execution: row.id,
                text,
                line: index,
                allow: words,
                deadline: deadline.map(Stamp::At),
                head: log.head(),
            },
        })
    }
}

impl CreateGate {
    /// Who may decide, as a list of names.
    fn list(&self) -> Result<Vec<&str>, WriteError> {
        let Some(list) = &self.allow else {
            return Ok(vec![ANY_PERSON]);
        };
        list.iter().map(|name| principal(name)).collect()
    }

    /// The deadline in milliseconds. It is counted from the second that is recorded as that of its creation.
    fn deadline(&self, at: &At) -> Result<Option<i64>, WriteError> {
        let Some(text) = &self.timeout else {
            return Ok(None);
        };
        let created = at.now.div_euclid(1000).saturating_mul(1000);
        let deadline = Timeout::parse(text).and_then(|timeout| timeout.deadline(created));
        deadline.map(Some).map_err(|error| {
            WriteError::wrong(
                format!("--timeout {}: {error}", super::shown(text)),
                "such as 30s, 30m, 4h, 7d or 2h30m",
            )
        })
    }

    /// Which time the gate is met now. Refuses when it is pending in the same place already: two rows could not be told
    /// apart.
    fn next_visit(&self, facts: &dyn Facts) -> Result<u32, WriteError> {
        let mut highest: u32 = 0;
        for gate in facts.gates()? {
            let (base, visit) = visit(&gate.id);
            if base == self.id {
                highest = highest.max(visit);
                self.not_twice(facts, &gate)?;
            } else if facts.style() == Style::Files && base.to_lowercase() == self.id.to_lowercase()
            {
                return Err(WriteError::refused(
                    "name-differs-by-case",
                    format!(
                        "gates {} and {base} differ in case only, and could share a file",
                        self.id
                    ),
                    "take another name",
                ));
            }
        }
        highest.checked_add(1).ok_or_else(|| {
            WriteError::wrong(
                format!("gate {} was met too often", self.id),
                "take another id",
            )
        })
    }

    fn not_twice(&self, facts: &dyn Facts, gate: &Gate) -> Result<(), WriteError> {
        if gate.status != GateStatus::Pending {
            return Ok(());
        }
        let parent = match gate.execution_id {
            Some(id) => facts.execution(id)?.and_then(|row| row.parent),
            None => None,
        };
        if parent != self.parent {
            return Ok(());
        }
        Err(WriteError::refused(
            "gate-pending",
            format!("gate {} waits for a decision already", gate.id),
            "`prose approve` or `prose reject` decides it; once it is past its deadline, `prose gates expire` does",
        ))
    }

    /// Its statement: as the program has it, where one alone is of this gate; else as the document writes it.
    fn statement(&self, facts: &dyn Facts) -> Result<(String, Option<i64>), WriteError> {
        let listing = facts.program()?.map(|source| program::scan(&source));
        let mut own = listing.iter().flat_map(|l| &l.statements).filter(|s| {
            s.kind == StatementKind::Gate
                && match self.line {
                    Some(line) => s.line == line,
                    None => s.name.as_deref() == Some(self.id.as_str()),
                }
        });
        if let (Some(statement), None) = (own.next(), own.next()) {
            return Ok((statement.text.clone(), Some(statement.line.into())));
        }
        let named = Named {
            text: Some(format!("approve {}:", self.id)),
            line: self.line,
        };
        named.find(facts)
    }
}
