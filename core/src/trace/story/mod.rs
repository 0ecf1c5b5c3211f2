//! What happened, told by rows, lines or marks in order: each thing with what it lies in, until all of it is a tree.

mod nodes;

use std::collections::BTreeMap;

use crate::model::Text;
use crate::program::Tie;
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// A thing's place in its story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trace) struct At(u32);

impl At {
    pub(in crate::trace) fn new(place: u32) -> At {
        At(place)
    }

    /// Its node, among those of all.
    pub(in crate::trace) fn node(self, of: &[Option<NodeId>]) -> Option<NodeId> {
        of.get(self.0 as usize).copied().flatten()
    }
}

/// What something lies in; `None` is the root.
pub(in crate::trace) type Place = Option<At>;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(in crate::trace) struct Happening {
    pub(in crate::trace) kind: NodeKind,
    pub(in crate::trace) status: NodeStatus,
    /// The words that tell of it.
    pub(in crate::trace) text: Text,
    /// What it is called where neither it nor its statement has a text.
    pub(in crate::trace) label: Option<Text>,
    /// The statement that it is tied to.
    pub(in crate::trace) tie: Option<Tie>,
    /// It is tied by where it stands: nothing names its statement.
    pub(in crate::trace) by_place: bool,
    /// The last line that tells of it.
    pub(in crate::trace) line: Option<u32>,
    /// The id by which bindings name it.
    pub(in crate::trace) id: Option<i64>,
    /// Which attempt it is; 0: not said.
    pub(in crate::trace) attempts: u32,
    /// The most attempts or rounds.
    pub(in crate::trace) max: Option<u32>,
    /// No line says it: it follows from another.
    pub(in crate::trace) derived: bool,
    /// Its place was inferred, not recorded.
    pub(in crate::trace) inferred: bool,
    /// The branches of a parallel.
    pub(in crate::trace) announced: Vec<Text>,
    pub(in crate::trace) failed: bool,
    pub(in crate::trace) parent: Place,
    /// Of a loop, the round that is under way, and the number of the last.
    pub(in crate::trace) round: Place,
    pub(in crate::trace) rounds: u32,
    pub(in crate::trace) rows: Recorded,
}

/// What rows record beside.
#[derive(Debug, Clone, Default)]
pub(in crate::trace) struct Recorded {
    /// The ids of all but its first row.
    pub(in crate::trace) aliases: Vec<i64>,
    /// The places of its first row, and of its last.
    pub(in crate::trace) ends: Option<(u32, u32)>,
    /// Its depth.
    pub(in crate::trace) depth: Option<i64>,
    /// A branch that is the call of a block.
    pub(in crate::trace) calls: bool,
    /// A parallel that may go on without all of its branches, where that is recorded.
    pub(in crate::trace) drops: Option<bool>,
    /// Ended by force, whatever was open in it.
    pub(in crate::trace) cuts: bool,
}

impl Happening {
    pub(in crate::trace) fn new(kind: NodeKind, status: NodeStatus) -> Happening {
        Happening::told(kind, status, Text::default())
    }

    /// With the words that tell of it.
    pub(in crate::trace) fn told(kind: NodeKind, status: NodeStatus, text: Text) -> Happening {
        Happening {
            kind,
            status,
            text,
            label: None,
            tie: None,
            by_place: false,
            line: None,
            id: None,
            attempts: 0,
            max: None,
            derived: false,
            inferred: false,
            announced: Vec::new(),
            failed: false,
            parent: None,
            round: None,
            rounds: 0,
            rows: Recorded::default(),
        }
    }
}

/// Things in the order in which they happened.
#[derive(Debug, Default)]
pub(in crate::trace) struct Story {
    list: Vec<Happening>,
    /// Things that belong before another one, by that one.
    early: BTreeMap<At, At>,
}

impl Story {
    /// One of about so many things: a list that grows is held twice for a moment.
    pub(in crate::trace) fn of_about(things: usize) -> Story {
        Story {
            list: Vec::with_capacity(things),
            ..Story::default()
        }
    }

    pub(in crate::trace) fn get(&self, at: At) -> Option<&Happening> {
        self.list.get(at.0 as usize)
    }

    pub(in crate::trace) fn get_mut(&mut self, at: At) -> Option<&mut Happening> {
        self.list.get_mut(at.0 as usize)
    }

    /// Adds the next thing. In a loop it lies in the round that is under way.
    pub(in crate::trace) fn add(&mut self, parent: Place, new: Happening) -> At {
        let parent = parent.map(|parent| self.inside(parent));
        self.push(parent, new)
    }

    /// Adds the next thing, which lies directly in another.
    pub(in crate::trace) fn push(&mut self, parent: Place, mut new: Happening) -> At {
        new.parent = parent;
        new.failed |= new.status == NodeStatus::Failed;
        let again = u32::from(new.status == NodeStatus::Retry);
        new.attempts = new.attempts.max(1 + again);
        self.list.push(new);
        At(self.list.len() as u32 - 1)
    }

    /// Adds a thing that happened before one beside it that is there already.
    pub(in crate::trace) fn add_before(&mut self, later: At, new: Happening) -> At {
        let parent = self.get(later).and_then(|later| later.parent);
        let at = self.push(parent, new);
        self.early.insert(at, later);
        at
    }

    /// Goes on with a thing that is there: `more` is the newer.
    pub(in crate::trace) fn go_on(&mut self, at: At, more: Happening) {
        let ends = match more.status {
            NodeStatus::Completed => Some(NodeStatus::Completed),
            ref status if !status.is_open() => Some(NodeStatus::CutOff),
            _ => None,
        };
        let Some(own) = self.get_mut(at) else { return };
        own.attempts = match more.status {
            NodeStatus::Retry => own.attempts.saturating_add(1).max(more.attempts),
            _ => own.attempts.max(more.attempts),
        };
        own.failed |= more.status == NodeStatus::Failed;
        if own.text.trim().is_empty() {
            own.text = more.text;
        }
        let is_surer = |tie: &Tie| own.tie.is_none_or(|own| own.guessed && !tie.guessed);
        if let Some(tie) = more.tie.filter(is_surer) {
            own.tie = Some(tie);
        }
        own.max = more.max.or(own.max);
        (own.status, own.line) = (more.status, more.line);
        (own.derived, own.inferred) = (more.derived, more.inferred);
        if let Some(status) = ends {
            self.end_round(at, status);
        }
    }

    /// Begins a round of a loop: the one before is over. `derived`: nothing but its number is known.
    pub(in crate::trace) fn round(&mut self, looped: At, n: u32, derived: bool) {
        let Some(own) = self.get(looped) else { return };
        if own.rounds == n && own.round.is_some() {
            return;
        }
        self.end_round(looped, NodeStatus::Completed);
        let text = format!("round {n}").into();
        let mut round = Happening::told(NodeKind::Round { n }, NodeStatus::Started, text);
        round.derived = derived;
        let round = self.push(Some(looped), round);
        if let Some(own) = self.get_mut(looped) {
            (own.round, own.rounds) = (Some(round), n);
        }
    }

    /// Ends the round of a loop that is under way.
    pub(in crate::trace) fn end_round(&mut self, looped: At, status: NodeStatus) {
        let round = self.get_mut(looped).and_then(|own| own.round.take());
        if let Some(round) = round.and_then(|round| self.get_mut(round)) {
            round.status = status;
        }
    }

    /// What lies in a thing lies in the round of it that is under way.
    fn inside(&mut self, at: At) -> At {
        let Some(own) = self.get(at) else { return at };
        match own.round {
            Some(round) => round,
            // Something runs after the end of a round.
            None if own.rounds > 0 && own.status.is_open() => {
                let n = own.rounds.saturating_add(1);
                self.round(at, n, false);
                self.get(at).and_then(|own| own.round).unwrap_or(at)
            }
            None => at,
        }
    }
}
