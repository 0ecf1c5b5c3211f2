//! Bindings on disk whose statements no line of the log tells of: they ran all the same.

use std::collections::BTreeSet;

use super::{At, Lowering, Said};
use crate::model::{Run, Status, Text};
use crate::program::{StatementKind, TiedBy};
use crate::trace::lower::disk;
use crate::trace::lower::site::{self, tied};

impl Lowering<'_, '_, '_> {
    /// Their names.
    pub(super) fn disk(&mut self, run: &Run) -> Vec<String> {
        let told: BTreeSet<u32> = self
            .ties
            .iter()
            .flatten()
            .map(|tie| tie.statement)
            .collect();
        let mut names = Vec::new();
        for ((statement, frame), (binding, by)) in disk::written(run, self.facts) {
            if frame.is_none() && !told.contains(&statement) && !self.lies_in_not_run(statement) {
                names.push(binding.name.to_string());
                self.written(statement, by);
            }
        }
        disk::unmarked(run, &names, self.ledger);
        names
    }

    /// Whether a statement lies in a body whose condition did not hold.
    fn lies_in_not_run(&self, statement: u32) -> bool {
        let mut outer = self.facts.listing.enclosing(statement);
        outer.any(|outer| self.not_run.contains(&outer))
    }

    /// Adds the record of a statement that has written its binding, where it stands in the program.
    fn written(&mut self, statement: u32, by: TiedBy) {
        let Some(own) = self.facts.statement(statement) else {
            return;
        };
        let outer = self.facts.listing.enclosing(statement);
        let around = outer
            .filter_map(|outer| Some((outer, *self.of_statement.get(&outer)?)))
            .find(|(outer, _)| {
                let kind = self.facts.statement(*outer).map(|s| s.kind);
                kind.is_some_and(|kind| kind.is_loop() || kind == StatementKind::Parallel)
            });
        let parent = around.map(|(_, at)| at);
        let mut said = Said {
            label: own.text.as_str().into(),
            derived: true,
            ..Said::default()
        };
        let branch: Option<Text> = own.name.as_deref().map(Text::from);
        if let (Some((outer, at)), Some(branch)) = (around, branch)
            && own.parent == Some(outer)
            && let Some(meta) = self.story.get(at).and_then(|record| record.meta.as_deref())
            && let Some(id) = &meta.parallel_id
        {
            said.meta = site::branch(id.clone(), branch);
        }
        let mut record = self.record(None, parent, Status::Completed, said);
        record.beside.tie = tied(statement, by);
        // Before what comes after it in the program, and before the end of what it lies in.
        let later = self.of_statement.range(statement + 1..);
        let later = later
            .map(|(_, at)| *at)
            .find(|at| self.story.get(*at).is_some_and(|r| r.parent == parent));
        let end = parent.and_then(|at| self.ended.get(&at).copied());
        let added: At = match later.or(end) {
            Some(later) => self.story.add_before(later, record),
            None => self.story.add(record),
        };
        self.of_statement.insert(statement, added);
    }
}
