//! What frames have written and no mark tells of, as statements of them.

use std::collections::BTreeMap;

use super::Lowering;
use crate::model::{BindingKind, Meta, Text};
use crate::program::{Tie, TiedBy};
use crate::trace::NodeStatus;
use crate::trace::lower::{At, Beside, Record, disk};

/// Statements of a frame that are looked at for the one that comes after a written one.
const LOOKED_AT: usize = 64;

/// Why a statement of a frame is taken for written.
struct Written {
    /// By what its binding is tied to it.
    by: Option<TiedBy>,
    /// The line of the state file that tells of it, if any does.
    line: Option<u32>,
}

impl Lowering<'_, '_, '_> {
    pub(super) fn written(&mut self, written: &disk::Written<'_>) {
        let mut told = self.facts.elsewhere.clone();
        let by_statement: BTreeMap<(i64, &str), (u32, TiedBy)> = written
            .iter()
            .filter_map(|((at, frame), (binding, by))| {
                Some((((*frame)?, &*binding.name), (*at, *by)))
            })
            .collect();
        for place in 0..self.frames.list.len() {
            let (Some(frame), Some(at)) = (self.frames.list.get(place), self.frame_at.get(&place))
            else {
                continue;
            };
            let (id, at) = (frame.id, *at);
            let mut found: BTreeMap<(Option<u32>, &str), Written> = BTreeMap::new();
            // What a frame was called with is no statement of it.
            let all = self.frames.written.get(&id).into_iter().flatten();
            for binding in all.filter(|b| b.kind != BindingKind::Input) {
                let own = by_statement.get(&(id, &*binding.name)).copied();
                let line = own.and_then(|(own, _)| told.remove(&(id, own)));
                let text = match own {
                    Some(_) => "",
                    None => binding.first_line().unwrap_or(&binding.name),
                };
                let by = own.map(|own| own.1);
                found.insert((own.map(|own| own.0), text), Written { by, line });
            }
            // Lines that tell of a binding which is not at hand.
            let rest: Vec<(i64, u32)> =
                told.range((id, 0)..=(id, u32::MAX)).map(|e| *e.0).collect();
            for key in rest {
                let line = told.remove(&key);
                found.insert((Some(key.1), ""), Written { by: None, line });
            }
            for ((statement, text), written) in found {
                self.write(at, statement, text.into(), &written);
            }
        }
    }

    /// A statement of a frame that has written.
    fn write(&mut self, frame: At, at: Option<u32>, text: Text, written: &Written) {
        if at.is_some_and(|at| self.said.contains_key(&(Some(frame), at))) {
            return;
        }
        let own = at.and_then(|at| self.facts.statement(at));
        let beside = Beside {
            tie: at.map(|statement| Tie {
                statement,
                guessed: false,
                by: written.by.unwrap_or_default(),
            }),
            line: written.line,
            derived: written.line.is_none(),
            by_place: written.by.is_none(),
            ..Beside::default()
        };
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
        let text = own.map_or(text, |own| own.text.as_str().into());
        let (parent, meta) = (Some(frame), Meta::default());
        match later {
            None => {
                self.add(parent, text, NodeStatus::Completed, meta, beside);
            }
            Some(later) => {
                let record = Record {
                    parent,
                    of: None,
                    text,
                    status: crate::model::Status::Completed,
                    meta: None,
                    beside,
                };
                self.story.add_before(later, record);
            }
        }
    }
}
