//! Derives the task of a session from an execution in the trace, for the session's brief.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::trace::frame_of;
use crate::model::{Execution, Status};
use crate::pages::session::Opened;
use crate::pages::view::{FrameView, TaskView};
use crate::program;
use crate::record::inputs::{InputLookup, input, inputs};
use crate::record::render::brief::InputOfTask;
use crate::record::{Fault, StatementPlace};
use crate::trace::scope;
use crate::trace::{NodeId, NodeKind};

/// Returns the task of the session that an execution records. `None` if no row has this id, or if the VM
/// itself carries out the statement.
pub fn task(opened: &Opened, row: i64) -> Option<TaskView> {
    let node = opened.node_numbered(row)?;
    let own = opened.node(node)?;
    // A statement that the program does not have is read as a program of its own.
    let of_program = opened.listing().zip(own.line);
    let of_program = of_program
        .and_then(|(listing, line)| Some((Cow::Borrowed(listing), listing.begun_at(line)?)));
    let (listing, at) = of_program.unwrap_or_else(|| (Cow::Owned(program::scan(&own.text)), 0));
    let listing = listing.as_ref();
    let statement = || {
        let task = TaskView::of(listing, at, opened.listing().unwrap_or(listing))?;
        let before = own.id.unwrap_or(row);
        let run = Before { opened, before };
        let first = run.row(before).ok().flatten();
        let from = first.as_ref().and_then(|row| row.parent);
        let branch = first
            .as_ref()
            .and_then(|row| row.meta.as_deref()?.branch.as_deref());
        let inputs = inputs(&run, listing, at, from, branch).unwrap_or_default();
        Some(TaskView { inputs, ..task })
    };
    let statement = statement()?;
    let frame = frame_of(opened, node).and_then(|frame| match (&frame.kind, frame.id) {
        (NodeKind::Frame { block, depth }, Some(id)) => Some(FrameView {
            id,
            block: block.to_string(),
            depth: i64::from(*depth),
        }),
        _ => None,
    });
    let its = |id: i64| own.id == Some(id) || own.aliases.contains(&id);
    let rows = opened.run().executions.iter().rev();
    let failed = rows.filter(|row| row.status == Status::Failed && its(row.id));
    Some(TaskView {
        frame,
        failed: failed
            .take(1)
            .find_map(|row| row.error.as_deref())
            .map(str::to_owned),
        ..statement
    })
}

/// Returns what a name in the statement of an execution means, as the execution's brief says. `None` if no row has the
/// execution, or if the name is not the name of a value.
pub(super) fn input_of(
    opened: &Opened,
    node: NodeId,
    statement: u32,
    name: &str,
) -> Option<InputOfTask> {
    let before = opened.node(node)?.id?;
    let run = Before { opened, before };
    let from = run.row(before).ok()??.parent;
    input(&run, opened.listing()?, statement, from, name).ok()?
}

/// An opened run in its state before an execution began. Only the bindings are in their present state.
struct Before<'a> {
    opened: &'a Opened,
    before: i64,
}

impl Before<'_> {
    fn rows(&self) -> &[Execution] {
        &self.opened.run().executions
    }

    fn earlier(&self) -> impl Iterator<Item = &Execution> {
        let earlier = |row: &&Execution| row.id < self.before;
        self.rows().iter().rev().filter(earlier)
    }
}

impl InputLookup for Before<'_> {
    fn row(&self, id: i64) -> Result<Option<Execution>, Fault> {
        let at = self.rows().binary_search_by_key(&id, |row| row.id);
        Ok(at.ok().and_then(|at| self.rows().get(at)).cloned())
    }

    fn scope_of(&self, name: &str, from: Option<i64>) -> Result<Option<Option<i64>>, Fault> {
        let (run, trace) = (self.opened.run(), self.opened.trace());
        let winner = scope::winner(run, trace, name, from);
        let binding = winner.and_then(|at| run.bindings.get(at));
        Ok(binding.map(|binding| binding.execution_id))
    }

    fn back(
        &self,
        place: &StatementPlace<'_>,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let mut rows = self.earlier().filter(|row| place.holds(row));
        let _ = rows.try_for_each(|row| each(row.clone()));
        Ok(())
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let _ = self.earlier().try_for_each(|row| each(row.clone()));
        Ok(())
    }

    fn imported(&self, alias: &str) -> Result<bool, Fault> {
        Ok(self.opened.run().imports.iter().any(|i| *i.alias == *alias))
    }
}
