//! The records of what ran at the root, or in one frame, in the order of the program.

use std::sync::Arc;

use super::{Lowering, Place};
use crate::model::{Gate, Meta, Status, Text};
use crate::program::{Statement, StatementKind, Tie, TiedBy};
use crate::trace::NodeStatus;
use crate::trace::emit::word;
use crate::trace::gates::status as gate_status;
use crate::trace::lower::facts::Fact;
use crate::trace::lower::site::{self, tied};
use crate::trace::lower::{At, Beside, Record, Round};

/// Rounds that are listed though nothing but their number is known.
pub(super) const MOST_ROUNDS: u32 = 1_000;

impl<'a> Lowering<'_, 'a, '_> {
    /// Tells what ran in the body of a block, or at the root: in a frame, where that is known, whose record is `holder`.
    /// `inferred`: that it is this one is a guess.
    pub(super) fn body(
        &mut self,
        block: Option<u32>,
        frame: Option<usize>,
        holder: Place,
        inferred: bool,
    ) {
        self.walked.extend(block);
        for at in self.bodies.get(&block).cloned().unwrap_or_default() {
            let Some(statement) = self.facts.statement(at) else {
                break;
            };
            let outer = match statement.parent {
                outer if outer == block => holder,
                outer => outer.and_then(|p| self.holder.get(p as usize).copied().flatten()),
            };
            let own = match self.marks.is_kept(at) {
                true => Some(self.statement(at, statement, frame, outer)),
                false => None,
            };
            if let Some(own) = own {
                self.said.insert((holder, at), own);
                if let Some(record) = self.story.get_mut(own).filter(|_| outer == holder) {
                    record.beside.inferred |= inferred;
                }
            }
            if let Some((parallel, name, status)) = self.announced.remove(&at) {
                let made = self.branch(parallel, &name, &status, Some(at));
                self.calls_from(made, statement);
            }
            if let Some(slot) = self.holder.get_mut(at as usize) {
                *slot = own.or(outer);
            }
            self.strays_after(Some(at));
        }
        // Frames of which nobody knows what called them.
        self.frames_called((frame, None), holder);
    }

    fn frames_called(&mut self, by: (Option<usize>, Option<u32>), holder: Place) {
        for place in self.frames.called.get(&by).cloned().unwrap_or_default() {
            self.frame(place, None, holder);
        }
    }

    /// What ran in a frame.
    pub(super) fn in_frame(&mut self, place: usize) {
        let at = self.frame_at.get(&place).copied();
        match self.frames.list.get(place).and_then(|frame| frame.block) {
            Some(block) if self.frames.is_walked(Some(place)) => {
                self.body(Some(block), Some(place), at, false);
            }
            _ => self.frames_called((Some(place), None), at),
        }
    }

    /// The record of a frame; `mark` is the call that is marked, and speaks of it.
    pub(super) fn frame(&mut self, place: usize, mark: Option<&Fact>, holder: Place) -> Option<At> {
        let frame = self.frames.list.get(place)?;
        if let Some(known) = self.frame_at.get(&place) {
            return Some(*known);
        }
        let statement = frame.call.and_then(|at| self.facts.statement(at));
        let text: Text = match statement {
            Some(statement) => statement.text.as_str().into(),
            None if frame.name.is_empty() => format!("frame {}", frame.id).into(),
            None => format!("do {}", frame.name).into(),
        };
        let mark = mark.filter(|mark| mark.ran());
        let status = match mark.and_then(|mark| mark.status.clone()) {
            Some(said) if !frame.open => said,
            _ => frame.status.clone(),
        };
        let beside = Beside {
            tie: frame.call.and_then(|at| tied(at, TiedBy::Target)),
            line: mark.and_then(|mark| mark.state_line),
            id: Some(frame.id),
            derived: !frame.open && mark.is_none(),
            // Who called it, and where, is not known.
            inferred: !frame.open && frame.above.is_none() && frame.call.is_none(),
            by_place: true,
            ..Beside::default()
        };
        let meta = site::frame(frame.name.clone());
        let at = self.add(holder, text, status, meta, beside);
        self.frame_at.insert(place, at);
        if let Some(call) = frame.call {
            self.said.entry((holder, call)).or_insert(at);
        }
        self.queue.push_back(place);
        if let Some(block) = frame.block.filter(|_| !frame.open) {
            self.called(block, at, Some(place));
        }
        Some(at)
    }

    pub(super) fn is_parallel(&self, at: u32) -> bool {
        self.facts
            .statement(at)
            .is_some_and(|s| s.kind == StatementKind::Parallel && s.find("each").is_none())
    }

    /// The record of a statement; of a call, that of the last frame that it made. What lies in the statement lies in it.
    fn statement(&mut self, at: u32, own: &'a Statement, frame: Option<usize>, outer: Place) -> At {
        let facts = self.facts;
        let fact = facts.get(at);
        let called = self.frames.called.get(&(frame, Some(at)));
        let called = called.cloned().unwrap_or_default();
        let branch = own.parent.is_some_and(|p| self.is_parallel(p));
        if let Some((last, before)) = called.split_last().filter(|_| !branch) {
            for place in before {
                let made = self.frame(*place, None, outer);
                // Which round called it is not told.
                if let Some(record) = made.and_then(|made| self.story.get_mut(made)) {
                    record.beside.inferred = facts.get(at).is_some_and(|f| f.in_loop.is_some());
                }
            }
            if let Some(made) = self.frame(*last, fact, outer) {
                self.note(at, made);
                return made;
            }
        }
        let made = self.marked(at, own, outer, branch);
        if called.is_empty() {
            self.calls_from(made, own);
        }
        for place in called {
            self.frame(place, None, Some(made));
        }
        made
    }

    /// The record of what a mark speaks of, or of what holds something that one speaks of.
    fn marked(&mut self, at: u32, own: &'a Statement, outer: Place, branch: bool) -> At {
        let fact = self.facts.get(at).cloned().unwrap_or_default();
        let gate = fact.gate.clone().or_else(|| {
            (own.kind == StatementKind::Gate)
                .then(|| own.name.as_deref().unwrap_or(&own.text).into())
        });
        let kind = match &gate {
            Some(gate) => site::gate(gate.clone()),
            None => self.site(at, own, branch),
        };
        let over = self.marks.passed(self.facts, at) || self.children_are_over(at);
        let status = fact.status.clone().unwrap_or(match over {
            true => NodeStatus::Completed,
            false if branch => NodeStatus::Executing,
            false => NodeStatus::Started,
        });
        let looped = kind.loop_id.is_some();
        let (attempt, mut most) = fact.attempt.unzip();
        if looped {
            let file = self.run.state_file.as_ref();
            let state = fact.construct.and_then(|at| file?.loops.get(at));
            let said = state.and_then(|state| state.max);
            let counted = || own.number("max").or_else(|| own.number("count"));
            most = Some(said.or_else(counted));
        }
        let meta = Meta {
            attempt: attempt.map(i64::from),
            max: most.flatten().map(i64::from),
            ..kind
        };
        let beside = Beside {
            tie: Some(Tie {
                statement: at,
                guessed: fact.guessed,
                by: fact.by.unwrap_or_default(),
            }),
            line: fact.state_line,
            derived: fact.derived || fact.status.is_none(),
            by_place: fact.by.is_none(),
            ..Beside::default()
        };
        let text: Text = own.text.as_str().into();
        if gate.is_some() {
            let visits = self.gates.get(&at).and_then(|all| all.split_last());
            let before = visits.map_or(Vec::new(), |(_, before)| before.to_vec());
            self.visits(at, &before, outer);
        }
        let made = self.add(outer, text, status, meta, beside);
        self.note(at, made);
        if looped {
            self.rounds(at, made, &fact);
        }
        if self.is_parallel(at) {
            self.announce(at, made, &fact);
        }
        made
    }

    /// What names a statement's record.
    pub(super) fn site(&self, at: u32, own: &Statement, branch: bool) -> Meta {
        match own.kind {
            _ if branch => {
                let name = own.name.as_deref().unwrap_or(&own.text);
                site::branch(parallel_id(own.parent.unwrap_or(at)), name.into())
            }
            StatementKind::Parallel => site::parallel(parallel_id(at)),
            kind if kind.is_loop() => site::looped(format!("loop {at}").into()),
            StatementKind::Do => match own.target.as_deref() {
                Some(block) => site::frame(block.into()),
                None => Meta::default(),
            },
            _ => Meta::default(),
        }
    }

    /// Remembers the record of a call whose frame is not known.
    fn calls_from(&mut self, at: At, own: &Statement) {
        let target = own
            .target
            .as_deref()
            .filter(|_| own.kind == StatementKind::Do);
        if let Some(block) = target.and_then(|name| self.facts.blocks.get(name)) {
            self.called(*block, at, None);
        }
    }

    /// Visits of a gate of which no mark tells.
    fn visits(&mut self, at: u32, gates: &[&Gate], outer: Place) {
        let text = self.facts.statement(at).map_or("", |own| &own.text);
        for gate in gates {
            let meta = site::gate(gate.id.clone());
            let beside = Beside {
                tie: tied(at, TiedBy::Name),
                inferred: true,
                ..Beside::default()
            };
            self.add(outer, text.into(), gate_status(gate), meta, beside);
        }
    }

    /// Gates that are decided and that no mark speaks of.
    pub(super) fn decided_gates(&mut self) {
        for (at, gates) in self.gates.clone() {
            if self.status.get(at as usize).is_none_or(Option::is_none) {
                let outer = self.facts.statement(at).and_then(|own| own.parent);
                let outer = outer.and_then(|at| self.holder.get(at as usize).copied().flatten());
                self.visits(at, &gates, outer);
            }
        }
    }

    /// Branches that a parallel's section names and that no line marks: of those in the program the record follows at their
    /// place.
    fn announce(&mut self, at: u32, parallel: At, fact: &Fact) {
        let file = self.run.state_file.as_ref();
        let state = fact.construct.and_then(|at| file?.parallels.get(at));
        for (name, status) in state.into_iter().flat_map(|state| &state.branches) {
            let id = parallel_id(at);
            match self.facts.listing.branch_of(at, name) {
                Some(known) if self.marks.is_kept(known) => {}
                Some(known) => {
                    let branch = ((parallel, id), name.clone(), status.clone());
                    self.announced.insert(known, branch);
                }
                None => {
                    self.branch((parallel, id), name, status, None);
                }
            }
        }
    }

    /// A branch that a section names.
    pub(super) fn branch(
        &mut self,
        (parallel, id): (At, Text),
        name: &Text,
        status: &Status,
        statement: Option<u32>,
    ) -> At {
        let own = statement.and_then(|at| self.facts.statement(at));
        let text = own.map_or_else(|| name.clone(), |own| own.text.as_str().into());
        let status = word(status);
        let meta = site::branch(id, name.clone());
        let beside = Beside {
            tie: statement.and_then(|at| tied(at, TiedBy::Name)),
            // It is announced; anything more is said of it.
            derived: status == NodeStatus::Pending,
            by_place: true,
            ..Beside::default()
        };
        self.add(Some(parallel), text, status, meta, beside)
    }

    /// The rounds that are counted. Of all but the last nothing but the number is known.
    fn rounds(&mut self, at: u32, looped: At, fact: &Fact) {
        // Entered, and nothing says how often: what ran in it ran in the first round.
        let entered = fact.construct.is_some() && self.marks.holds(at);
        if let Some(total) = fact.round.or(entered.then_some(1)) {
            self.count_rounds(looped, total, Some(at));
        }
    }

    pub(super) fn count_rounds(&mut self, looped: At, total: u32, statement: Option<u32>) {
        let Some(begun) = self.story.get(looped).cloned() else {
            return;
        };
        let listed = total.saturating_sub(1).min(self.rounds_left);
        self.rounds_left -= listed;
        for n in (1..=listed).chain([total]) {
            let mut record = begun.clone();
            record.of = Some(looped);
            record.beside.round = Some(Round { n, derived: true });
            self.story.add(record);
            let written = statement.and_then(|at| self.in_rounds.remove(&(at, n)));
            for inner in written.into_iter().flatten() {
                // The marks speak of the last round.
                if n < total || !self.marks.is_kept(inner) {
                    self.written_in_round(looped, inner);
                }
            }
        }
    }

    /// The record of a statement that a binding tells of: `verify_round2` is what `verify` wrote in round 2.
    fn written_in_round(&mut self, looped: At, at: u32) {
        let Some(own) = self.facts.statement(at) else {
            return;
        };
        let beside = Beside {
            tie: tied(at, TiedBy::Name),
            derived: true,
            ..Beside::default()
        };
        let text = own.text.as_str().into();
        self.add(
            Some(looped),
            text,
            NodeStatus::Completed,
            Meta::default(),
            beside,
        );
    }

    /// A parallel all of whose branches are over; of a loop that says nothing.
    fn children_are_over(&self, at: u32) -> bool {
        let over = |c: u32| self.facts.get(c).is_some_and(Fact::is_over);
        self.is_parallel(at) && self.facts.listing.children(at).all(over)
    }

    /// Remembers how the record of a statement stands.
    fn note(&mut self, at: u32, made: At) {
        let status = self.status_of(made);
        if let Some(slot) = self.status.get_mut(at as usize) {
            *slot = status;
        }
    }

    pub(super) fn status_of(&self, made: At) -> Option<NodeStatus> {
        let record = self.story.get(made)?;
        let said = record.beside.status.clone();
        Some(said.unwrap_or_else(|| word(&record.status)))
    }

    /// Adds the record of a new instance.
    pub(super) fn add(
        &mut self,
        parent: Place,
        text: Text,
        status: NodeStatus,
        meta: Meta,
        beside: Beside,
    ) -> At {
        let is_gate = meta.gate_id.is_some();
        self.stands |=
            status == NodeStatus::Failed || status.is_open() && (is_gate || !(beside.derived));
        let (row, said) = as_row(status);
        self.story.add(Record {
            parent,
            of: None,
            text,
            status: row,
            meta: (meta != Meta::default()).then(|| Arc::new(meta)),
            beside: Beside {
                status: said,
                ..beside
            },
        })
    }
}

fn parallel_id(at: u32) -> Text {
    format!("parallel {at}").into()
}

/// The word of a row for a status, and the status where rows have no word for it.
fn as_row(status: NodeStatus) -> (Status, Option<NodeStatus>) {
    let row = match &status {
        NodeStatus::Pending => Status::Pending,
        NodeStatus::Executing => Status::Executing,
        NodeStatus::Started => Status::Started,
        NodeStatus::Waiting => Status::Waiting,
        NodeStatus::Retry => Status::Retry,
        NodeStatus::Completed => Status::Completed,
        NodeStatus::Failed => Status::Failed,
        NodeStatus::Skipped => Status::Skipped,
        NodeStatus::Other(word) => Status::Other(word.clone()),
        NodeStatus::Iteration => return (Status::Started, Some(status)),
        _ => return (Status::Completed, Some(status)),
    };
    (row, None)
}
