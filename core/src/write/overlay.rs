//! Plans several commands as one transaction: each command sees the changes of the commands before it.

use std::ops::ControlFlow;

use serde_json::Value;

use super::{
    AgentFact, At, AuditTail, BindingFact, Change, ExecutionRow, ExecutionUpdate, Facts, Fault,
    ImportFact, Place, Plan, Record, RunFact, Style, WriteError,
};
use crate::decode::rows::meta_of;
use crate::model::{AuditEvent, BindingKind, Execution, Gate, Status};
use crate::time::Stamp;

/// The facts of a store, as they will be after the changes planned so far.
pub(super) struct Overlay<'f> {
    facts: &'f dyn Facts,
    /// The planned new rows, in order of id.
    rows: Vec<Execution>,
    /// Rows of the store that the plan changes, with these changes.
    updated: Vec<Execution>,
    bindings: Vec<(Option<i64>, BindingFact)>,
    changes: Vec<Change>,
}

impl<'f> Overlay<'f> {
    pub(super) fn new(facts: &'f dyn Facts) -> Overlay<'f> {
        Overlay {
            facts,
            rows: Vec::new(),
            updated: Vec::new(),
            bindings: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Plans a command on top of the changes so far.
    pub(super) fn plan<R: Record>(&mut self, record: &R, at: &At) -> Result<R::Done, WriteError> {
        self.then(|facts| record.plan(facts, at))
    }

    /// Adds the changes of a plan that is computed on top of the changes so far.
    pub(super) fn then<D>(
        &mut self,
        plan: impl FnOnce(&dyn Facts) -> Result<Plan<D>, WriteError>,
    ) -> Result<D, WriteError> {
        let plan = plan(self)?;
        for change in &plan.changes {
            self.see(change)?;
        }
        self.changes.extend(plan.changes);
        Ok(plan.done)
    }

    /// Returns all changes as one plan, with the result `done`.
    pub(super) fn done<D>(self, done: D) -> Plan<D> {
        Plan {
            changes: self.changes,
            done,
        }
    }

    fn see(&mut self, change: &Change) -> Result<(), Fault> {
        match change {
            Change::Execution(row) => self.rows.push(execution(row)),
            Change::UpdateExecution(update) => {
                let mut known = self.rows.iter_mut().chain(&mut self.updated);
                match known.find(|row| row.id == update.id) {
                    Some(row) => updated(row, update),
                    None => {
                        if let Some(mut row) = self.facts.execution(update.id)? {
                            updated(&mut row, update);
                            self.updated.push(row);
                        }
                    }
                }
            }
            Change::Binding(row) => self.bindings.push((
                row.execution_id,
                BindingFact {
                    name: row.name.clone(),
                    kind: BindingKind::parse(&row.kind),
                    source: row.source.clone(),
                    updated: Some(Stamp::parse(&row.at)),
                    attachment: row.attachment.clone(),
                },
            )),
            _ => {}
        }
        Ok(())
    }

    fn now(&self, row: Execution) -> Execution {
        let updated = self.updated.iter().find(|known| known.id == row.id);
        updated.cloned().unwrap_or(row)
    }
}

/// Applies an update to a row.
pub(super) fn updated(row: &mut Execution, update: &ExecutionUpdate) {
    if let Some(word) = &update.status {
        row.status = Status::parse(word);
    }
    if let Some(at) = &update.completed {
        row.completed = at.as_deref().map(Stamp::parse);
    }
    if let Some(error) = &update.error {
        row.error = error.as_deref().map(Into::into);
    }
    if let Some(new) = meta_of(&Value::Object(update.metadata.clone()).to_string()) {
        let mut meta = super::instance::meta(row);
        meta.attempt = new.attempt.or(meta.attempt);
        meta.iteration = new.iteration.or(meta.iteration);
        meta.max = new.max.or(meta.max);
        meta.round_from = new.round_from.or(meta.round_from);
        row.meta = Some(meta.into());
    }
}

/// Returns a planned row as a store will return it once the row is written.
pub(super) fn execution(row: &ExecutionRow) -> Execution {
    let time = |at: &Option<String>| at.as_deref().map(Stamp::parse);
    Execution {
        id: row.id,
        index: row.index,
        text: row.text.as_str().into(),
        status: Status::parse(&row.status),
        parent: row.parent,
        started: time(&row.started),
        completed: time(&row.completed),
        error: row.error.as_deref().map(Into::into),
        meta: meta_of(&Value::Object(row.metadata.clone()).to_string()),
    }
}

impl Facts for Overlay<'_> {
    fn style(&self) -> Style {
        self.facts.style()
    }

    fn run(&self) -> Result<RunFact, Fault> {
        self.facts.run()
    }

    fn program(&self) -> Result<Option<String>, Fault> {
        self.facts.program()
    }

    fn next_execution(&self) -> Result<i64, Fault> {
        match self.rows.last() {
            Some(row) => Ok(row.id.saturating_add(1)),
            None => self.facts.next_execution(),
        }
    }

    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault> {
        match self.rows.iter().find(|row| row.id == id) {
            Some(row) => Ok(Some(row.clone())),
            None => Ok(self.facts.execution(id)?.map(|row| self.now(row))),
        }
    }

    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let planned = self.rows.iter().rev();
        let mut planned = planned.filter(|row| row.id >= since && place.holds(row));
        let stopped = planned.try_for_each(|row| each(row.clone())).is_break();
        // If all rows from `since` on are only planned, the store has none of them.
        if stopped || self.rows.first().is_some_and(|row| since >= row.id) {
            return Ok(());
        }
        self.facts
            .executions_back(place, since, &mut |row| each(self.now(row)))
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let mut planned = self.rows.iter().rev();
        if planned.try_for_each(|row| each(row.clone())).is_break() {
            return Ok(());
        }
        self.facts.newest(&mut |row| each(self.now(row)))
    }

    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let planned = self.rows.iter().rev().chain(&self.updated);
        let mut planned = planned.filter(|row| row.opens());
        if planned.try_for_each(|row| each(row.clone())).is_break() {
            return Ok(());
        }
        self.facts.open(
            &mut |row| match self.updated.iter().any(|known| known.id == row.id) {
                true => ControlFlow::Continue(()),
                false => each(row),
            },
        )
    }

    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let mut stopped = false;
        if self.facts.execution(parent)?.is_some() {
            self.facts.children(parent, &mut |row| {
                let flow = each(self.now(row));
                stopped = flow.is_break();
                flow
            })?;
        }
        let mut planned = self.rows.iter().filter(|row| row.parent == Some(parent));
        if !stopped {
            let _ = planned.try_for_each(|row| each(row.clone()));
        }
        Ok(())
    }

    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault> {
        let new = self
            .bindings
            .iter()
            .rev()
            .find(|(own, fact)| *own == frame && fact.name == name);
        match new {
            Some((_, fact)) => Ok(Some(fact.clone())),
            None => self.facts.binding(name, frame),
        }
    }

    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault> {
        self.facts.short_text(name, frame, most)
    }

    fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Result<Option<String>, Fault> {
        self.facts.binding_by_case(name, frame)
    }

    fn last_anonymous(&self) -> Result<u32, Fault> {
        self.facts.last_anonymous()
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        self.facts.attachment(path)
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        self.facts.agent(name)
    }

    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault> {
        self.facts.import(alias)
    }

    fn gates(&self) -> Result<Vec<Gate>, Fault> {
        self.facts.gates()
    }

    fn misnamed_gates(&self) -> Result<Vec<(String, Gate)>, Fault> {
        self.facts.misnamed_gates()
    }

    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault> {
        self.facts.gate(id)
    }

    fn gate_elsewhere(&self, id: &str) -> Result<Option<String>, Fault> {
        self.facts.gate_elsewhere(id)
    }

    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault> {
        self.facts.gate_events(gate)
    }

    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault> {
        self.facts.audit_rows(each)
    }

    fn lacks_log(&self) -> Result<bool, Fault> {
        self.facts.lacks_log()
    }

    fn audit_tail(&self) -> Result<AuditTail, Fault> {
        self.facts.audit_tail()
    }
}
