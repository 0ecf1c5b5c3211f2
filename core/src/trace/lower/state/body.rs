//! Adds the records (happenings) of the statements that ran at the root or in one frame, in the order of the program.

use super::Lowering;
use crate::model::{Gate, Status, Text};
use crate::program::{Statement, StatementKind, Tie, TiedBy};
use crate::trace::emit::word;
use crate::trace::gates::status as gate_status;
use crate::trace::lower::facts::Fact;
use crate::trace::lower::tied;
use crate::trace::story::{Happening, StoryAt, StoryParent};
use crate::trace::{NodeKind, NodeStatus};

/// Maximum number of listed rounds that are known only by number.
pub(super) const MOST_ROUNDS: u32 = 1_000;

impl<'a> Lowering<'_, 'a, '_> {
    /// Adds the records of the statements that ran in the body of a block, or at the root. `holder` is the record of
    /// the frame, if known. `inferred` means that the choice of this frame is a guess.
    pub(super) fn body(
        &mut self,
        block: Option<u32>,
        frame: Option<usize>,
        holder: StoryParent,
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
            let own = if self.marks.is_kept(at) {
                Some(self.statement(at, statement, frame, outer))
            } else {
                None
            };
            if let Some(own) = own {
                self.said.insert((holder, at), own);
                if let Some(told) = self.story.get_mut(own).filter(|_| outer == holder) {
                    told.inferred |= inferred;
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
        // Adds the frames whose calling statement is unknown.
        self.frames_called((frame, None), holder);
    }

    fn frames_called(&mut self, by: (Option<usize>, Option<u32>), holder: StoryParent) {
        for place in self.frames.called.get(&by).cloned().unwrap_or_default() {
            self.frame(place, None, holder);
        }
    }

    /// Adds the records of the statements that ran in a frame.
    pub(super) fn in_frame(&mut self, place: usize) {
        let at = self.frame_at.get(&place).copied();
        match self.frames.list.get(place).and_then(|frame| frame.block) {
            Some(block) if self.frames.is_walked(Some(place)) => {
                self.body(Some(block), Some(place), at, false);
            }
            _ => self.frames_called((Some(place), None), at),
        }
    }

    /// Returns the record of a frame, and adds the record if there is none yet. `mark` contains the facts about the
    /// statement that called the frame, if known.
    pub(super) fn frame(
        &mut self,
        place: usize,
        mark: Option<&Fact>,
        holder: StoryParent,
    ) -> Option<StoryAt> {
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
        let kind = NodeKind::Frame {
            block: frame.name.clone(),
            depth: 0,
        };
        let new = Happening {
            text,
            tie: frame.call.and_then(|at| tied(at, TiedBy::Target)),
            line: mark.and_then(|mark| mark.state_line),
            id: Some(frame.id),
            derived: !frame.open && mark.is_none(),
            // The place of a frame whose caller is unknown is inferred.
            inferred: !frame.open && frame.above.is_none() && frame.call.is_none(),
            by_place: true,
            ..Happening::new(kind, status)
        };
        let at = self.add(holder, new);
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

    /// Adds the record of a statement. Returns the record that will contain the records of the inner statements; for a
    /// call, this is the record of the last frame that the call made.
    fn statement(
        &mut self,
        at: u32,
        own: &'a Statement,
        frame: Option<usize>,
        outer: StoryParent,
    ) -> StoryAt {
        let facts = self.facts;
        let fact = facts.get(at);
        let called = self.frames.called.get(&(frame, Some(at)));
        let called = called.cloned().unwrap_or_default();
        let branch = own.parent.is_some_and(|p| self.is_parallel(p));
        if let Some((last, before)) = called.split_last().filter(|_| !branch) {
            for place in before {
                let made = self.frame(*place, None, outer);
                // It is unknown which round made the call.
                if let Some(told) = made.and_then(|made| self.story.get_mut(made)) {
                    told.inferred = facts.get(at).is_some_and(|f| f.in_loop.is_some());
                }
            }
            if let Some(made) = self.frame(*last, fact, outer) {
                self.store_status(at, made);
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

    /// Adds the record of a statement that is marked, or that contains a marked statement.
    fn marked(&mut self, at: u32, own: &'a Statement, outer: StoryParent, branch: bool) -> StoryAt {
        let fact = self.facts.get(at).cloned().unwrap_or_default();
        let gate = fact
            .gate
            .clone()
            .or_else(|| (own.kind == StatementKind::Gate).then(|| own.gate_name().into()));
        let kind = match &gate {
            Some(gate) => NodeKind::Gate { gate: gate.clone() },
            None => self.kind(own, branch),
        };
        let over = self.marks.passed(self.facts, at) || self.children_are_over(at);
        let status = fact.status.clone().unwrap_or(match over {
            true => NodeStatus::Completed,
            false if branch => NodeStatus::Executing,
            false => NodeStatus::Started,
        });
        let looped = kind == NodeKind::Loop;
        let (attempt, mut most) = fact.attempt.unzip();
        if looped {
            let file = self.run.state_file.as_ref();
            let state = fact.construct.and_then(|at| file?.loops.get(at));
            let said = state.and_then(|state| state.max);
            let counted = || own.number("max").or_else(|| own.number("count"));
            most = Some(said.or_else(counted));
        }
        let new = Happening {
            text: own.text.as_str().into(),
            attempts: attempt.unwrap_or(0),
            max: most.flatten(),
            tie: Some(Tie {
                statement: at,
                guessed: fact.guessed,
                by: fact.by.unwrap_or_default(),
            }),
            line: fact.state_line,
            derived: fact.derived || fact.status.is_none(),
            by_place: fact.by.is_none(),
            ..Happening::new(kind, status)
        };
        if gate.is_some() {
            let visits = self.gates.get(&at).and_then(|all| all.split_last());
            let before = visits.map_or(Vec::new(), |(_, before)| before.to_vec());
            self.visits(at, &before, outer);
        }
        let made = self.add(outer, new);
        self.store_status(at, made);
        if looped {
            self.rounds(at, made, &fact);
        }
        if self.is_parallel(at) {
            self.announce(at, made, &fact);
        }
        made
    }

    /// Returns the kind of node that a statement becomes.
    pub(super) fn kind(&self, own: &Statement, branch: bool) -> NodeKind {
        match own.kind {
            _ if branch => NodeKind::Branch {
                branch: own.name.as_deref().unwrap_or(&own.text).into(),
            },
            StatementKind::Parallel => NodeKind::Parallel,
            kind if kind.is_loop() => NodeKind::Loop,
            StatementKind::Do => match own.target.as_deref() {
                Some(block) => NodeKind::Frame {
                    block: block.into(),
                    depth: 0,
                },
                None => NodeKind::Statement,
            },
            _ => NodeKind::Statement,
        }
    }

    /// Remembers the record of a call whose frame is unknown.
    fn calls_from(&mut self, at: StoryAt, own: &Statement) {
        let target = own
            .target
            .as_deref()
            .filter(|_| own.kind == StatementKind::Do);
        if let Some(block) = target.and_then(|name| self.facts.blocks.get(name)) {
            self.called(*block, at, None);
        }
    }

    /// Adds the visits of a gate that the state file does not mark.
    fn visits(&mut self, at: u32, gates: &[&Gate], outer: StoryParent) {
        let text = self.facts.statement(at).map_or("", |own| &own.text);
        for gate in gates {
            let kind = NodeKind::Gate {
                gate: gate.id.clone(),
            };
            let new = Happening {
                text: text.into(),
                tie: tied(at, TiedBy::Name),
                inferred: true,
                ..Happening::new(kind, gate_status(gate))
            };
            self.add(outer, new);
        }
    }

    /// Adds the decided gates that the state file does not mark.
    pub(super) fn decided_gates(&mut self) {
        for (at, gates) in self.gates.clone() {
            if self.status.get(at as usize).is_none_or(Option::is_none) {
                let outer = self.facts.statement(at).and_then(|own| own.parent);
                let outer = outer.and_then(|at| self.holder.get(at as usize).copied().flatten());
                self.visits(at, &gates, outer);
            }
        }
    }

    /// Adds the branches that the section of a parallel block lists, but no line marks. A branch that is in the program
    /// is only stored in `announced`; the branch's record is added when the branch's statement is reached.
    fn announce(&mut self, at: u32, parallel: StoryAt, fact: &Fact) {
        let file = self.run.state_file.as_ref();
        let state = fact.construct.and_then(|at| file?.parallels.get(at));
        for (name, status) in state.into_iter().flat_map(|state| &state.branches) {
            match self.facts.listing.branch_of(at, name) {
                Some(known) if self.marks.is_kept(known) => {}
                Some(known) => {
                    let branch = (parallel, name.clone(), status.clone());
                    self.announced.insert(known, branch);
                }
                None => {
                    self.branch(parallel, name, status, None);
                }
            }
        }
    }

    /// Adds a branch that a section of "Active Constructs" lists.
    pub(super) fn branch(
        &mut self,
        parallel: StoryAt,
        name: &Text,
        status: &Status,
        statement: Option<u32>,
    ) -> StoryAt {
        let own = statement.and_then(|at| self.facts.statement(at));
        let text = own.map_or_else(|| name.clone(), |own| own.text.as_str().into());
        let status = word(status);
        let kind = NodeKind::Branch {
            branch: name.clone(),
        };
        let new = Happening {
            text,
            tie: statement.and_then(|at| tied(at, TiedBy::Name)),
            // A pending branch is only announced; for any other status, the section is the record.
            derived: status == NodeStatus::Pending,
            by_place: true,
            ..Happening::new(kind, status)
        };
        self.add(Some(parallel), new)
    }

    /// Adds the counted rounds of a loop. Except for the last round, only the numbers of the rounds are known.
    fn rounds(&mut self, at: u32, looped: StoryAt, fact: &Fact) {
        // If the loop was entered, but the file does not count rounds, the loop's statements ran in the first round.
        let entered = fact.construct.is_some() && self.marks.holds(at);
        if let Some(total) = fact.round.or(entered.then_some(1)) {
            self.count_rounds(looped, total, Some(at));
        }
    }

    pub(super) fn count_rounds(&mut self, looped: StoryAt, total: u32, statement: Option<u32>) {
        let listed = total.saturating_sub(1).min(self.rounds_left);
        self.rounds_left -= listed;
        for n in (1..=listed).chain([total]) {
            self.story.round(looped, n, true);
            let written = statement.and_then(|at| self.in_rounds.remove(&(at, n)));
            for inner in written.into_iter().flatten() {
                // Marks in the state file always refer to the last round.
                if n < total || !self.marks.is_kept(inner) {
                    self.written_in_round(looped, inner);
                }
            }
        }
    }

    /// Adds the record of a statement that a binding proves: `verify_round2` is the output of `verify` in round 2.
    fn written_in_round(&mut self, looped: StoryAt, at: u32) {
        let Some(own) = self.facts.statement(at) else {
            return;
        };
        let new = Happening {
            text: own.text.as_str().into(),
            tie: tied(at, TiedBy::Name),
            derived: true,
            ..Happening::new(NodeKind::Statement, NodeStatus::Completed)
        };
        self.add(Some(looped), new);
    }

    /// Whether all branches of a parallel block are over. The children of a loop do not show whether the loop is
    /// over.
    fn children_are_over(&self, at: u32) -> bool {
        let over = |c: u32| self.facts.get(c).is_some_and(Fact::is_over);
        self.is_parallel(at) && self.facts.listing.children(at).all(over)
    }

    /// Stores the status of a statement's record.
    fn store_status(&mut self, at: u32, made: StoryAt) {
        let status = self.story.get(made).map(|told| told.status.clone());
        if let Some(slot) = self.status.get_mut(at as usize) {
            *slot = status;
        }
    }

    /// Adds the next happening, and sets `has_position` if the happening gives the run a position.
    pub(super) fn add(&mut self, parent: StoryParent, new: Happening) -> StoryAt {
        let gate = matches!(new.kind, NodeKind::Gate { .. });
        self.has_position |=
            new.status == NodeStatus::Failed || new.status.is_open() && (gate || !new.derived);
        self.story.add(parent, new)
    }
}
