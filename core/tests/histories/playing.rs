//! A run in memory, in which a history is recorded instead of in a folder or a database.

use std::borrow::Cow;

use prosescope_core::model::{Binding, Dialect, FolderForm, Form, Run, RunStatus, ValueAt};
use prosescope_core::program::{Listing, scan};
use prosescope_core::resume;
use prosescope_core::time::Stamp;
use prosescope_core::trace::{Trace, fold};
use prosescope_core::write::{
    AgentFact, At, BindingRow, Change, Facts, Fault, NextView, Record, RunStore, Shelf, Style,
    Work, WriteError, record,
};

/// The run's id.
const RUN: &str = "20260125-120000-abc123";

#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) style: Style,
    pub(crate) run: Run,
    values: Vec<BindingRow>,
    pub(crate) listing: Listing,
    /// The time of the next command, in milliseconds since 1970.
    pub(crate) now: i64,
}

impl Memory {
    /// Returns a running run of a program.
    pub(crate) fn new(style: Style, program: &str) -> Memory {
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
        let mut run = Run {
            id: RUN.into(),
            form,
            status: Some(RunStatus::Running),
            ..Run::default()
        };
        run.program.source = Some(program.into());
        let start = Stamp::parse("2026-01-25 12:00:00");
        Memory {
            style,
            run,
            values: Vec::new(),
            listing: scan(program),
            now: start.millis().expect("a time"),
        }
    }

    pub(crate) fn trace(&self) -> Trace {
        fold(&self.run, Some(&self.listing), None)
    }

    /// Records a command, a second after the one before.
    pub(crate) fn record<R: Record>(&mut self, command: &R) -> Result<R::Done, WriteError> {
        self.now += 1_000;
        let at = At {
            now: self.now,
            os_user: None,
            client: "cli".to_owned(),
        };
        record(self, command, &at)
    }

    /// Returns what `prosescope next` prints.
    pub(crate) fn next(&self, trace: &Trace) -> Result<NextView, WriteError> {
        let values = |binding: &Binding, most: usize| self.value(binding, most);
        let facts = resume::Facts {
            run: &self.run,
            trace,
            listing: Some(&self.listing),
        };
        resume::next(facts, self.now, (RUN, false), &values)
    }

    fn value(&self, binding: &Binding, most: usize) -> Option<String> {
        let is_it = |row: &&BindingRow| {
            *row.name == *binding.name && row.execution_id == binding.execution_id
        };
        let row = self.values.iter().rev().find(is_it)?;
        Some(row.value.clone()).filter(|value| value.len() <= most)
    }
}

impl RunStore for Memory {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let run = Cow::Borrowed(&self.run);
        let changes = work(&Facts::of(
            &*self,
            self.style,
            run,
            Some(&self.listing),
            None,
        )?)?;
        for change in &changes {
            if let Change::Binding(row) = change {
                self.values.push(row.clone());
            }
            self.run.apply(change);
        }
        Ok(())
    }
}

impl Shelf for Memory {
    fn next_execution(&self) -> Result<i64, Fault> {
        Ok(self.run.executions.last().map_or(1, |row| row.id + 1))
    }

    fn next_audit(&self) -> Result<i64, Fault> {
        Ok(self.run.audit.last().map_or(1, |event| event.id + 1))
    }

    fn whole(&self, binding: &Binding) -> Result<Binding, Fault> {
        Ok(binding.clone())
    }

    fn short_text(&self, binding: &Binding, most: usize) -> Result<Option<String>, Fault> {
        Ok(self.value(binding, most))
    }

    fn attachment(&self, _: &str) -> Result<bool, Fault> {
        Ok(false)
    }

    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault> {
        let found = self.run.agents.iter().find(|agent| *agent.name == *name);
        Ok(found.map(|agent| AgentFact {
            scope: agent.scope.clone(),
            has_memory: agent.memory != ValueAt::Missing,
            last_segment: agent.segments.last().map_or(0, |last| last.number),
        }))
    }
}
