//! Bindings on disk whose statements no line of the log tells of: they ran all the same.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Lowering, Said};
use crate::issue::{Issue, Severity};
use crate::model::{Binding, BindingKind, Meta, Run, Status, Text};
use crate::program::{StatementKind, Tie, TiedBy};
use crate::trace::from_state::disk::{bound, is_there};

impl Lowering<'_, '_, '_> {
    pub(super) fn disk(&mut self, run: &Run) {
        let mut binders: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (at, statement) in (0_u32..).zip(&self.facts.listing.statements) {
            let in_block = self.facts.get(at).is_some_and(|fact| fact.block.is_some());
            if let Some(name) = bound(statement).filter(|_| !in_block) {
                binders.entry(name).or_default().push(at);
            }
        }
        let mut found: BTreeMap<u32, TiedBy> = BTreeMap::new();
        let root = |b: &&Binding| b.execution_id.is_none() && b.kind != BindingKind::Input;
        for binding in run.bindings.iter().filter(|b| is_there(b)).filter(root) {
            let all = binders.get(&*binding.name).map_or(&[][..], Vec::as_slice);
            let first = binding
                .source
                .as_deref()
                .and_then(|s| s.trim().lines().next());
            let quoted = |at: &&u32| {
                let own = self.facts.statement(**at);
                own.is_some_and(|s| Some(s.text.as_str()) == first.map(str::trim_end))
            };
            let mut by_source = all.iter().filter(quoted);
            let one = match (by_source.next(), by_source.next(), all) {
                (Some(one), None, _) => Some((*one, TiedBy::Text)),
                // Whichever of them it was has a line, or nothing tells which it was.
                (_, _, [one]) => Some((*one, TiedBy::Name)),
                _ => None,
            };
            found.extend(one);
        }
        let told: BTreeSet<u32> = self
            .ties
            .iter()
            .flatten()
            .map(|tie| tie.statement)
            .collect();
        let mut count = 0_usize;
        for (statement, by) in found {
            if !told.contains(&statement) && !self.lies_in_not_run(statement) {
                count += 1;
                self.written(statement, by);
            }
        }
        if count > 0 && !self.log.sealed {
            let file = self.log.file.to_string();
            self.ledger
                .note(Severity::Warning, "state-file-behind", || {
                    let message = match count {
                        1 => {
                            "a binding is written whose statement the log does not mark".to_owned()
                        }
                        n => format!(
                            "{n} bindings are written whose statements the log does not mark"
                        ),
                    };
                    Issue::info("", message).at_file(file).hint(
                        "Their statements are shown as completed: nothing else writes a binding.",
                    )
                });
        }
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
            && let Some(meta) = self.story.get(at).and_then(|record| record.meta.clone())
            && meta.parallel_id.is_some()
        {
            said.meta = Meta {
                parallel_id: meta.parallel_id.clone(),
                branch: Some(branch),
                ..Meta::default()
            };
        }
        let mut record = self.record(None, parent, Status::Completed, said);
        record.beside.tie = Some(Tie {
            statement,
            guessed: false,
            by,
        });
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
