//! Plans several commands as one transaction: each command sees the changes of the commands before it.

use std::borrow::Cow;

use super::{At, Change, CommandPlan, Facts, Record, WriteError};

/// The plan of a command that consists of several commands.
pub(super) struct Steps<'f, 's> {
    facts: Cow<'f, Facts<'s>>,
    changes: Vec<Change>,
    /// How many of the changes `facts` contain. A single command needs no copy of the facts.
    applied: usize,
}

impl<'f, 's> Steps<'f, 's> {
    pub(super) fn new(facts: &'f Facts<'s>) -> Steps<'f, 's> {
        Steps {
            facts: Cow::Borrowed(facts),
            changes: Vec::new(),
            applied: 0,
        }
    }

    /// Returns the facts after the changes so far.
    pub(super) fn facts(&mut self) -> &Facts<'s> {
        let new = self.changes.get(self.applied..).unwrap_or_default();
        if !new.is_empty() {
            self.facts.to_mut().apply(new);
            self.applied = self.changes.len();
        }
        &self.facts
    }

    /// Plans a command on top of the changes so far.
    pub(super) fn plan<R: Record>(&mut self, record: &R, at: &At) -> Result<R::Done, WriteError> {
        self.then(|facts| record.plan(facts, at))
    }

    /// Adds the changes of a plan that is computed on top of the changes so far.
    pub(super) fn then<D>(
        &mut self,
        plan: impl FnOnce(&Facts<'_>) -> Result<CommandPlan<D>, WriteError>,
    ) -> Result<D, WriteError> {
        let plan = plan(self.facts())?;
        self.changes.extend(plan.changes);
        Ok(plan.done)
    }

    /// Adds changes that need no facts.
    pub(super) fn add(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.changes.extend(changes);
    }

    /// Returns all changes as one plan, with the result `done`.
    pub(super) fn done<D>(self, done: D) -> CommandPlan<D> {
        CommandPlan {
            changes: self.changes,
            done,
        }
    }
}
