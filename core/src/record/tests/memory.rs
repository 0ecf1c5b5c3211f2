//! Provides a store in memory for tests of recording commands. The store keeps a decoded run, and the changes of the
//! last command.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use crate::model::time::Stamp;
use crate::model::{Binding, Dialect, Execution, FolderForm, Form, GateStatus, Run, RunStatus};
use crate::program;
use crate::record::{
    AgentFact, At, BindingRow, Change, Facts, Fault, FaultKind, GateResolution, Record, RunStore,
    Shelf, Style, Work, WriteError, record,
};

/// The run's id.
pub(crate) const RUN: &str = "20260125-120000-abc123";

/// A run in memory, in which tests record instead of a folder or a database.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) style: Style,
    run: Run,
    values: Vec<BindingRow>,
    pub(crate) attachments: Vec<String>,
    /// The changes of the last command.
    pub(crate) changes: Vec<Change>,
}

impl Deref for Memory {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.run
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Run {
        &mut self.run
    }
}

impl Memory {
    /// Returns a new, running run of this style.
    pub(crate) fn new(style: Style) -> Memory {
        let form = match style {
            Style::Files => Form::Folder {
                form: FolderForm::StateMd,
            },
            Style::AppendOnly => Form::Sqlite {
                dialect: Dialect::AppendOnly,
            },
            Style::InPlace => Form::Sqlite {
                dialect: Dialect::InPlace,
            },
        };
        Memory {
            style,
            run: Run {
                id: RUN.into(),
                form,
                status: Some(RunStatus::Running),
                ..Run::default()
            },
            values: Vec::new(),
            attachments: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Returns the run with this program.
    pub(crate) fn running(style: Style, program: &str) -> Memory {
        let mut memory = Memory::new(style);
        memory.program.source = Some(program.into());
        memory
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

    fn take(&mut self, change: &Change) -> Result<(), Fault> {
        let has = |id| self.executions.iter().any(|row| row.id == id);
        match change {
            Change::Execution(row) if has(row.id) => {
                return Err(broken("an execution of that id is there"));
            }
            Change::UpdateExecution(update) if !has(update.id) => {
                return Err(broken("no such execution"));
            }
            Change::Attachment(file) => self.attachments.push(file.path.clone()),
            Change::Binding(row) => self.values.push(row.clone()),
            Change::Gate(row) if self.gates.iter().any(|gate| *gate.id == *row.id) => {
                return Err(broken("a gate of that id is there"));
            }
            Change::Gate(row) if row.execution_id.is_some_and(|id| !has(id)) => {
                return Err(broken("the gate's execution is not there (errata G2)"));
            }
            Change::ResolveGate(row) => self.may_resolve(row)?,
            Change::Audit(row) if self.audit.iter().any(|event| event.id == row.id) => {
                return Err(broken("an audit row of that id is there"));
            }
            _ => {}
        }
        self.run.apply(change);
        Ok(())
    }

    fn may_resolve(&self, row: &GateResolution) -> Result<(), Fault> {
        let last = self.audit.last();
        if !last.is_some_and(|e| *e.gate_id == *row.id && e.kind.word() == row.status) {
            return Err(broken("the log does not say so yet (errata G7)"));
        }
        let mut gates = self.gates.iter();
        match gates.any(|gate| *gate.id == *row.id && gate.status == GateStatus::Pending) {
            true => Ok(()),
            false => Err(broken("no such gate is pending (errata G3)")),
        }
    }
}

impl RunStore for Memory {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let listing = self.program.source.as_deref().map(program::scan);
        let facts = Facts::of(
            &*self,
            self.style,
            Cow::Borrowed(&self.run),
            listing.as_ref(),
            None,
        )?;
        let changes = work(&facts)?;
        let mut next = self.clone();
        for change in &changes {
            next.take(change)?;
        }
        next.changes = changes;
        *self = next;
        Ok(())
    }
}

impl Shelf for Memory {
    fn next_execution(&self) -> Result<i64, Fault> {
        Ok(self.executions.last().map_or(1, |row| row.id + 1))
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        Ok(self.audit.last().map_or(1, |event| event.id + 1))
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        Ok(binding.clone())
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        let mut all = self.values.iter().rev();
        let row =
            all.find(|row| *row.name == *binding.name && row.execution_id == binding.execution_id);
        let value = row.map(|row| row.value.clone());
        Ok(value.filter(|value| value.len() <= most))
    }

    fn attachment(&self, path: &str) -> Result<bool, Fault> {
        Ok(self.attachments.iter().any(|known| known == path))
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let found = self.agents.iter().find(|agent| *agent.name == *name);
        Ok(found.map(|agent| AgentFact {
            scope: agent.scope.clone(),
            has_memory: agent.memory != crate::model::ValueAt::Missing,
            last_segment: agent.segments.last().map_or(0, |last| last.number),
        }))
    }
}

fn broken(why: &str) -> Fault {
    Fault::new(FaultKind::Damaged, why)
}
