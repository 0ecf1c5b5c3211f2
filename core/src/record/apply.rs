//! Applies changes to a run in memory, so that a command can plan on top of them, and state.md is rendered from them.

use serde_json::{Map, Value};

use crate::model::change::{AgentRow, BindingRow, Change, GateResolution, MemoryRow, SegmentRow};
use crate::model::time::Stamp;
use crate::model::{
    Agent, AgentScope, Binding, BindingKind, ExecutionState, Form, Gate, GateRecord, GateStatus,
    Run, RunStatus, Segment, Status, ValueAt,
};
use crate::read::decode::rows::meta_of;
use crate::read::decode::{fields, gates_json};
use crate::record::render::{self, binding_md};

impl Run {
    /// Makes the run equal to what a reader finds after a store has written the change, as far as commands and state.md
    /// depend on it. The values themselves are not kept.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Run(change) => {
                if let Some(word) = &change.status {
                    self.status = Some(RunStatus::parse(word));
                }
                self.updated = Some(Stamp::parse(&change.updated));
            }
            Change::Execution(row) => {
                let metadata = Value::Object(row.metadata.clone()).to_string();
                let mut columns = self.columns(change);
                self.keep_event(
                    row.id,
                    &row.status,
                    row.started.as_deref(),
                    row.error.as_deref(),
                    &metadata,
                );
                let row = fields::execution(&mut columns, row.id, meta_of(&metadata));
                let at = self.executions.partition_point(|known| known.id < row.id);
                self.executions.insert(at, row);
            }
            Change::UpdateExecution(update) => {
                let keys = Value::Object(update.metadata.clone()).to_string();
                let said = |value: &Option<Option<String>>| value.clone().flatten();
                let (at, error) = (said(&update.completed), said(&update.error));
                self.keep_event(
                    update.id,
                    update.word(),
                    at.as_deref(),
                    error.as_deref(),
                    &keys,
                );
                let mut columns = self.columns(change);
                let rows = &mut self.executions;
                if let Ok(at) = rows.binary_search_by_key(&update.id, |row| row.id)
                    && let Some(row) = rows.get_mut(at)
                {
                    fields::update_execution(row, &mut columns);
                    if let Some(new) = meta_of(&keys) {
                        let old = row.meta.as_deref().cloned().unwrap_or_default();
                        row.meta = Some(old.with(&new).into());
                    }
                }
            }
            Change::Attachment(_) => {}
            Change::Binding(row) => self.bind(row),
            Change::Agent(AgentRow { agent, scope, .. })
            | Change::Memory(MemoryRow { agent, scope, .. }) => drop(self.agent(agent, scope)),
            Change::Segment(row) => {
                let segment = Segment {
                    number: row.number,
                    timestamp: Some(Stamp::parse(&row.at)),
                    prompt: None,
                    summary: None,
                };
                let SegmentRow { agent, scope, .. } = row;
                self.agent(agent, scope).segments.push(segment);
            }
            Change::Import(row) => {
                let mut import = fields::import(&mut self.columns(change));
                import.nested = row.nested.as_ref().map(|run| run.place.as_str().into());
                let mut known = self.imports.iter_mut();
                match known.find(|known| known.alias == import.alias) {
                    Some(known) => *known = import,
                    None => self.imports.push(import),
                }
            }
            Change::Gate(_) => {
                let gate = fields::gate(&mut self.columns(change));
                self.gates.push(gate);
            }
            Change::ResolveGate(row) => {
                let own = |gate: &&mut Gate| gate.recorded == GateRecord::Own;
                let mut gates = self.gates.iter_mut().filter(own);
                let pending =
                    |gate: &&mut Gate| *gate.id == *row.id && gate.status == GateStatus::Pending;
                if let Some(gate) = gates.find(pending) {
                    gate.resolve(row);
                }
            }
            Change::Audit(row) => {
                let line = render::json_rows::audit(row);
                self.audit.extend(gates_json::audit_line(&line, row.id));
            }
        }
    }

    /// Adds the event that PostgreSQL keeps of a change. The server sets the time of some events, which no command
    /// needs.
    fn keep_event(
        &mut self,
        id: i64,
        word: &str,
        at: Option<&str>,
        error: Option<&str>,
        meta: &str,
    ) {
        if !matches!(self.form, Form::Postgres { .. }) {
            return;
        }
        let orders = self.events.iter().map(|event| event.order);
        let order = orders.max().unwrap_or(0).saturating_add(1);
        let (status, at) = (Status::parse(word), at.map(Stamp::parse));
        let event =
            ExecutionState::new(order, id, status, at, error.map(Into::into), meta_of(meta));
        let at = self.events.partition_point(|known| known.row.id <= id);
        self.events.insert(at, event);
    }

    /// Returns the columns of the row that a change writes.
    fn columns(&self, change: &Change) -> Map<String, Value> {
        let stored = change.stored(&self.id).into_iter();
        stored
            .flat_map(|row| [row.key, row.columns, row.first].into_iter().flatten())
            .map(|(column, value)| (column.to_owned(), value))
            .collect()
    }

    fn bind(&mut self, row: &BindingRow) {
        let value = match self.form {
            Form::Folder { .. } => {
                let file = binding_md::file_name(&row.name, row.execution_id);
                ValueAt::file(
                    &format!("{}bindings/{file}", self.root),
                    row.value.len() as u64,
                )
            }
            _ => ValueAt::Missing,
        };
        let new = Binding {
            name: row.name.as_str().into(),
            execution_id: row.execution_id,
            kind: BindingKind::parse(&row.kind),
            value,
            source: row.source.as_deref().map(Into::into),
            created: row.created.as_deref().map(Stamp::parse),
            updated: Some(Stamp::parse(&row.at)),
            attachment: row.attachment.as_deref().map(Into::into),
            fields: Box::default(),
            tail_known: true,
            parent_execution_id: row.parent_execution_id,
            superseded: false,
        };
        let same = |known: &&mut Binding| {
            known.name == new.name && known.execution_id == new.execution_id && !known.superseded
        };
        match self.bindings.iter_mut().find(same) {
            Some(known) => *known = new,
            None => self.bindings.push(new),
        }
    }

    fn agent(&mut self, name: &str, scope: &str) -> &mut Agent {
        let scope = AgentScope::parse(scope);
        let known = self
            .agents
            .iter()
            .position(|a| *a.name == *name && a.scope == scope);
        let at = known.unwrap_or_else(|| {
            self.agents.push(Agent {
                name: name.into(),
                scope,
                store: format!("agents/{name}/").into(),
                ..Agent::default()
            });
            self.agents.len() - 1
        });
        &mut self.agents[at]
    }
}

impl Gate {
    fn resolve(&mut self, row: &GateResolution) {
        self.status = GateStatus::parse(&row.status);
        self.resolved = Some(Stamp::parse(&row.at));
        self.resolved_by = Some(row.by.as_str().into());
        self.comment = row.comment.as_deref().map(Into::into);
        if !row.metadata.is_empty() {
            let old = self
                .metadata
                .as_deref()
                .and_then(|text| serde_json::from_str(text).ok());
            let mut all: Map<String, Value> = old.unwrap_or_default();
            all.extend(row.metadata.clone());
            self.metadata = Some(Value::Object(all).to_string().into());
        }
    }
}
