//! Provides a store in memory for tests of recording commands. The store keeps rows in plain lists, and the changes of
//! the last command.

use std::cell::Cell;
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::decode::gates_json as decode;
use crate::gate::audit::Chain;
use crate::model::{
    AgentScope, AuditEvent, AuditKind, BindingKind, Execution, Gate, GateStatus, RunStatus, Text,
};
use crate::render::gates_json as render;
use crate::time::Stamp;
use crate::write::import::slug;
use crate::write::overlay::{execution, updated};
use crate::write::{
    AgentFact, At, AuditRow, AuditTail, BindingFact, Change, Facts, Fault, FaultKind,
    GateResolution, GateRow, ImportFact, Place, Record, RunFact, RunStore, Style, Work, WriteError,
    record,
};

/// The run's id.
pub(crate) const RUN: &str = "20260125-120000-abc123";

/// A run in memory, in which tests record instead of a folder or a database.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) style: Style,
    pub(crate) status: RunStatus,
    pub(crate) program: Option<String>,
    pub(crate) executions: Vec<Execution>,
    pub(crate) bindings: Vec<(Option<i64>, BindingFact)>,
    pub(crate) attachments: Vec<String>,
    pub(crate) agents: Vec<(String, AgentFact)>,
    pub(crate) imports: Vec<(String, ImportFact)>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) audit: Vec<AuditEvent>,
    /// How many execution rows were passed to plans, as a measure of a command's cost.
    pub(crate) handed: Cell<usize>,
    /// The changes of the last command.
    pub(crate) changes: Vec<Change>,
}

impl Memory {
    /// Returns a new, running run of this style.
    pub(crate) fn new(style: Style) -> Memory {
        Memory {
            style,
            status: RunStatus::Running,
            program: None,
            executions: Vec::new(),
            bindings: Vec::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            imports: Vec::new(),
            gates: Vec::new(),
            audit: Vec::new(),
            handed: Cell::default(),
            changes: Vec::new(),
        }
    }

    /// Records a command at a given time, such as `2026-01-25 12:00:00`.
    pub(crate) fn at<R: Record>(&mut self, time: &str, command: &R) -> Result<R::Done, WriteError> {
        let at = At {
            now: Stamp::parse(time).millis().expect("a time"),
            os_user: Some("ray".to_owned()),
            client: "cli".to_owned(),
        };
        record(self, command, &at)
    }

    /// Returns the row of an execution.
    pub(crate) fn row(&self, id: i64) -> &Execution {
        let found = self.executions.iter().find(|row| row.id == id);
        found.expect("the row is there")
    }

    fn apply(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Run(change) => {
                if let Some(word) = &change.status {
                    self.status = RunStatus::parse(word);
                }
            }
            Change::Execution(row) => {
                if self.executions.iter().any(|known| known.id == row.id) {
                    return Err(broken("an execution of that id is there"));
                }
                self.executions.push(execution(row));
            }
            Change::UpdateExecution(update) => {
                let row = self.executions.iter_mut().find(|row| row.id == update.id);
                let row = row.ok_or_else(|| broken("no such execution"))?;
                updated(row, update);
            }
            Change::Attachment(file) => self.attachments.push(file.path.clone()),
            Change::Binding(row) => {
                let same = |(frame, known): &(Option<i64>, BindingFact)| {
                    *frame == row.execution_id && known.name == row.name
                };
                self.bindings.retain(|binding| !same(binding));
                let fact = BindingFact {
                    name: row.name.clone(),
                    kind: BindingKind::parse(&row.kind),
                    source: row.source.clone(),
                    updated: Some(Stamp::parse(&row.at)),
                    attachment: row.attachment.clone(),
                };
                self.bindings.push((row.execution_id, fact));
            }
            Change::Agent(row) => {
                self.agent_of(&row.agent, &row.scope);
            }
            Change::Memory(row) => self.agent_of(&row.agent, &row.scope).has_memory = true,
            Change::Segment(row) => {
                self.agent_of(&row.agent, &row.scope).last_segment = row.number;
            }
            Change::Import(row) => {
                let fact = match self.style {
                    Style::Files => ImportFact {
                        source_url: None,
                        nested: vec![format!("imports/{}--{}", row.alias, slug(&row.source_url))],
                        inputs_schema: row.inputs_schema.clone(),
                        outputs_schema: row.outputs_schema.clone(),
                    },
                    Style::AppendOnly | Style::InPlace => ImportFact {
                        source_url: Some(row.source_url.clone()),
                        nested: Vec::new(),
                        inputs_schema: row.inputs_schema.clone(),
                        outputs_schema: row.outputs_schema.clone(),
                    },
                };
                self.imports.retain(|(alias, _)| *alias != row.alias);
                self.imports.push((row.alias.clone(), fact));
            }
            Change::Gate(row) => {
                if self.gates.iter().any(|gate| *gate.id == *row.id) {
                    return Err(broken("a gate of that id is there"));
                }
                let waits = |id| self.executions.iter().any(|row| row.id == id);
                if row.execution_id.is_some_and(|id| !waits(id)) {
                    return Err(broken("the gate's execution is not there (errata G2)"));
                }
                self.gates.push(self.gate_as_kept(row));
            }
            Change::ResolveGate(row) => self.resolve(row)?,
            Change::Audit(row) => {
                if self.audit.iter().any(|event| event.id == row.id) {
                    return Err(broken("an audit row of that id is there"));
                }
                self.audit.push(self.event_as_kept(row));
            }
        }
        Ok(())
    }

    fn resolve(&mut self, row: &GateResolution) -> Result<(), Fault> {
        let last = self.audit.last();
        if !last.is_some_and(|e| *e.gate_id == *row.id && e.kind.word() == row.status) {
            return Err(broken("the log does not say so yet (errata G7)"));
        }
        let gate = self.gates.iter_mut().find(|gate| *gate.id == *row.id);
        let gate = gate.filter(|gate| gate.status == GateStatus::Pending);
        let gate = gate.ok_or_else(|| broken("no such gate is pending (errata G3)"))?;
        gate.status = GateStatus::parse(&row.status);
        gate.resolved = Some(Stamp::parse(&row.at));
        gate.resolved_by = Some(row.by.as_str().into());
        gate.comment = row.comment.as_deref().map(Into::into);
        if !row.metadata.is_empty() {
            gate.metadata = json_text(&row.metadata);
        }
        Ok(())
    }

    /// Returns a row of the log in the form in which the store reads it.
    fn event_as_kept(&self, row: &AuditRow) -> AuditEvent {
        if self.style != Style::Files {
            return event(row);
        }
        let (mut events, issues) = decode::audit(&render::audit(row));
        assert_eq!((events.len(), issues.len()), (1, 0));
        events.remove(0)
    }

    /// Returns a pending gate in the form in which the store reads it.
    fn gate_as_kept(&self, row: &GateRow) -> Gate {
        if self.style != Style::Files {
            return gate(row);
        }
        let (gate, issues) = decode::gate(&row.id, Some(&render::pending(row)), None);
        assert_eq!(issues, []);
        gate.expect("it is read")
    }

    fn hand(
        &self,
        row: &Execution,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.handed.set(self.handed.get() + 1);
        each(row.clone())
    }

    fn agent_of(&mut self, name: &str, scope: &str) -> &mut AgentFact {
        let known = self.agents.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or(self.agents.len());
        if known.is_none() {
            let fact = AgentFact {
                scope: AgentScope::parse(scope),
                has_memory: false,
                last_segment: 0,
            };
            self.agents.push((name.to_owned(), fact));
        }
        &mut self.agents[at].1
    }
}

impl RunStore for Memory {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let changes = work(self)?;
        let mut next = self.clone();
        for change in &changes {
            next.apply(change)?;
        }
        next.changes = changes;
        *self = next;
        Ok(())
    }
}

impl Facts for Memory {
    fn style(&self) -> Style {
        self.style
    }

    fn run(&self) -> Result<RunFact, Fault> {
        Ok(RunFact {
            id: RUN.to_owned(),
            name: RUN.to_owned(),
            status: self.status.clone(),
            updated: None,
        })
    }

    fn program(&self) -> Result<Option<String>, Fault> {
        Ok(self.program.clone())
    }

    fn next_execution(&self) -> Result<i64, Fault> {
        Ok(self.executions.last().map_or(1, |row| row.id + 1))
    }

    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        self.handed.set(self.handed.get() + 1);
        Ok(self.executions.iter().find(|row| row.id == id).cloned())
    }

    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let rows = self.executions.iter().rev();
        for row in rows.filter(|row| place.holds(row) && row.id >= since) {
            if self.hand(row, each).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        for row in self.executions.iter().rev() {
            if self.hand(row, each).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        // In the style of a folder, the store leaves out ended rows, because a folder keeps the current rows
        // separately.
        let over = |row: &&Execution| {
            let mut later = self.executions.iter().filter(|other| other.id > row.id);
            later.any(|other| Place::of(row).holds(other) && other.status.is_terminal())
        };
        let rows = self.executions.iter().rev().filter(|row| row.opens());
        for row in rows.filter(|row| self.style != Style::Files || !over(row)) {
            if self.hand(row, each).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let rows = self.executions.iter();
        for row in rows.filter(|row| row.parent == Some(parent)) {
            if self.hand(row, each).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        let mut all = self.bindings.iter();
        let found = all.find(|(at, known)| *at == frame && known.name == name);
        Ok(found.map(|(_, known)| known.clone()))
    }

    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        let mut all = self.changes.iter().rev();
        let value = all.find_map(|change| match change {
            Change::Binding(row) if row.name == name && row.execution_id == frame => {
                Some(&row.value)
            }
            _ => None,
        });
        Ok(value.filter(|value| value.len() <= most).cloned())
    }

    fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Result<Option<String>, Fault> {
        let like = |known: &str| known != name && known.to_lowercase() == name.to_lowercase();
        let mut all = self.bindings.iter();
        let found = all.find(|(at, known)| *at == frame && like(&known.name));
        Ok(found.map(|(_, known)| known.name.clone()))
    }

    fn last_anonymous(&self) -> Result<u32, Fault> {
        let number = |name: &str| name.strip_prefix("anon_")?.parse::<u32>().ok();
        let names = self.bindings.iter().map(|(_, known)| known.name.as_str());
        Ok(names.filter_map(number).max().unwrap_or(0))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        Ok(self.attachments.iter().any(|known| known == path))
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let found = self.agents.iter().find(|(known, _)| known == name);
        Ok(found.map(|(_, fact)| fact.clone()))
    }

    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault> {
        let found = self.imports.iter().find(|(known, _)| known == alias);
        Ok(found.map(|(_, fact)| fact.clone()))
    }

    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        Ok(self.gates.clone())
    }

    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault> {
        Ok(self.gates.iter().find(|gate| *gate.id == *id).cloned())
    }

    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        let own = |event: &&AuditEvent| *event.gate_id == *gate && event.kind != AuditKind::Viewed;
        Ok(self.audit.iter().filter(own).cloned().collect())
    }

    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        let _ = self.audit.iter().cloned().try_for_each(each);
        Ok(())
    }

    fn lacks_log(&self) -> Result<bool, Fault> {
        Ok(!self.gates.is_empty() && self.audit.is_empty())
    }

    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        let chain = |event: &AuditEvent| Chain::of_metadata(event.metadata.as_deref()?);
        Ok(AuditTail {
            next: self.audit.last().map_or(1, |event| event.id + 1),
            chain: self.audit.iter().rev().find_map(chain),
        })
    }
}

fn broken(why: &str) -> Fault {
    Fault::new(FaultKind::Damaged, why)
}

fn gate(row: &GateRow) -> Gate {
    Gate {
        id: row.id.as_str().into(),
        run_id: Some(row.run_id.as_str().into()),
        execution_id: row.execution_id,
        source_execution_id: None,
        prompt: row.prompt.as_deref().map(Into::into),
        allow: Some(row.allow.as_str().into()),
        timeout: row.timeout.as_deref().map(Into::into),
        timeout_at: row.timeout_at.as_deref().map(Stamp::parse),
        on_reject: row.on_reject.as_deref().map(Into::into),
        status: GateStatus::Pending,
        created: Some(Stamp::parse(&row.created)),
        resolved: None,
        resolved_by: None,
        comment: None,
        metadata: json_text(&row.metadata),
    }
}

/// Returns the row as a database does, with its metadata as text.
fn event(row: &AuditRow) -> AuditEvent {
    let columns = json!({
        "id": row.id, "gate_id": row.gate_id, "run_id": row.run_id, "event_type": row.event,
        "principal": row.principal, "comment": row.comment, "timestamp": row.at,
        "metadata": row.metadata,
    });
    AuditEvent {
        id: row.id,
        gate_id: row.gate_id.as_str().into(),
        run_id: row.run_id.as_str().into(),
        kind: AuditKind::parse(&row.event),
        principal: Some(row.principal.as_str().into()),
        comment: row.comment.as_deref().map(Into::into),
        timestamp: Some(Stamp::parse(&row.at)),
        metadata: Some(row.metadata.as_str().into()),
        row_json: Some(columns.to_string().into()),
    }
}

fn json_text(object: &Map<String, Value>) -> Option<Text> {
    (!object.is_empty()).then(|| Value::Object(object.clone()).to_string().into())
}
