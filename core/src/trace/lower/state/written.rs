//! Adds the statements of frames for which a written binding is the only evidence.

use std::collections::BTreeMap;

use super::Lowering;
use crate::model::{BindingKind, Text};
use crate::program::TiedBy;
use crate::trace::lower::{disk, tied};
use crate::trace::story::{Happening, StoryAt};
use crate::trace::{NodeKind, NodeStatus};

/// Maximum number of a frame's statements that are examined to find the statement after a written binding.
const LOOKED_AT: usize = 64;

/// The bindings of a frame by statement, or by quoted text if the statement is unknown, with the evidence for the tie.
type Wrote<'r> = BTreeMap<(Option<u32>, &'r str), Option<TiedBy>>;

impl Lowering<'_, '_, '_> {
    pub(super) fn written(&mut self, written: &disk::WrittenBindings<'_>) {
        let tied: BTreeMap<(i64, &str), (u32, TiedBy)> = written
            .iter()
            .filter_map(|((at, frame), (binding, by))| {
                Some((((*frame)?, &*binding.name), (*at, *by)))
            })
            .collect();
        let mut wrote: BTreeMap<i64, Wrote<'_>> = BTreeMap::new();
        // The caller of a frame passes the frame's inputs, so an input was not written by a statement of the frame.
        let bindings = self.run.bindings.iter().filter(|b| b.is_written());
        for binding in bindings.filter(|b| b.kind != BindingKind::Input) {
            let Some(id) = binding.execution_id else {
                continue;
            };
            let (at, by) = tied.get(&(id, &*binding.name)).copied().unzip();
            let text = match at {
                Some(_) => "",
                None => binding.first_line().unwrap_or(&binding.name),
            };
            wrote.entry(id).or_default().insert((at, text), by);
        }
        let frames = self.frames;
        for (place, frame) in frames.list.iter().enumerate() {
            let all = wrote.remove(&frame.id).into_iter().flatten();
            if let Some(holder) = self.frame_at.get(&place).copied() {
                for ((at, text), by) in all {
                    self.write(holder, at, text.into(), by);
                }
            }
        }
    }

    /// Adds a statement of a frame, because the statement's binding is written.
    fn write(&mut self, frame: StoryAt, at: Option<u32>, text: Text, by: Option<TiedBy>) {
        if at.is_some_and(|at| self.said.contains_key(&(Some(frame), at))) {
            return;
        }
        let own = at.and_then(|at| self.facts.statement(at));
        let later = at.and_then(|at| {
            let after = self.said.range((Some(frame), at + 1)..);
            after
                .take(LOOKED_AT)
                .take_while(|((of, _), _)| *of == Some(frame))
                .map(|(_, later)| *later)
                .find(|later| {
                    self.story
                        .get(*later)
                        .is_some_and(|r| r.parent == Some(frame))
                })
        });
        let new = Happening {
            text: own.map_or(text, |own| own.text.as_str().into()),
            tie: at.and_then(|at| tied(at, by.unwrap_or_default())),
            derived: true,
            ..Happening::new(NodeKind::Statement, NodeStatus::Completed)
        };
        match later {
            Some(later) => self.story.add_before(later, new),
            None => self.add(Some(frame), new),
        };
    }
}
