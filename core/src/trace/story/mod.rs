//! Defines a story: the happenings of a run in order, each with its parent. A story is built from rows, log lines or
//! the marks of a state file, and is converted into the nodes of a trace.

mod nodes;

use std::collections::BTreeMap;

use crate::model::Text;
use crate::program::Tie;
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// The index of a happening in its story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trace) struct StoryAt(u32);

impl StoryAt {
    pub(in crate::trace) fn new(place: u32) -> StoryAt {
        StoryAt(place)
    }

    /// Returns the happening's node; `of` lists the node of each happening.
    pub(in crate::trace) fn node(self, of: &[Option<NodeId>]) -> Option<NodeId> {
        of.get(self.0 as usize).copied().flatten()
    }
}

/// The parent of a happening; `None` is the root.
pub(in crate::trace) type StoryParent = Option<StoryAt>;

/// One thing that happened in a run, such as an execution or a round. Each happening becomes a node.
#[derive(Debug, Clone)]
pub(in crate::trace) struct Happening {
    pub(in crate::trace) kind: NodeKind,
    pub(in crate::trace) status: NodeStatus,
    /// The text that records the happening.
    pub(in crate::trace) text: Text,
    /// The text that is shown if neither the happening nor its statement has a text.
    pub(in crate::trace) label: Option<Text>,
    /// The tie to the happening's statement in the program.
    pub(in crate::trace) tie: Option<Tie>,
    /// Whether the tie follows only from the happening's position, because no record identifies the statement.
    pub(in crate::trace) by_place: bool,
    /// The index of the last line that records the happening: in the log, or in the state file's trace.
    pub(in crate::trace) line: Option<u32>,
    /// The id by which bindings refer to the happening.
    pub(in crate::trace) id: Option<i64>,
    /// The number of attempts so far; 0 if unknown.
    pub(in crate::trace) attempts: u32,
    /// The maximum number of attempts or rounds.
    pub(in crate::trace) max: Option<u32>,
    /// Whether the happening is derived from other records.
    pub(in crate::trace) derived: bool,
    /// Whether the happening's place was inferred, not recorded.
    pub(in crate::trace) inferred: bool,
    /// The branches that the happening announced, if it is a parallel block.
    pub(in crate::trace) announced: Vec<Text>,
    pub(in crate::trace) failed: bool,
    pub(in crate::trace) parent: StoryParent,
    /// The current round, if the happening is a loop; `rounds` is the number of the last round.
    pub(in crate::trace) round: StoryParent,
    pub(in crate::trace) rounds: u32,
    pub(in crate::trace) rows: RowFacts,
}

/// The additional facts about a happening that only rows record.
#[derive(Debug, Clone, Default)]
pub(in crate::trace) struct RowFacts {
    /// The ids of the happening's rows except the first.
    pub(in crate::trace) aliases: Vec<i64>,
    /// The indices of the happening's first and last row.
    pub(in crate::trace) ends: Option<(u32, u32)>,
    /// The recorded depth of the frame.
    pub(in crate::trace) depth: Option<i64>,
    /// Whether the happening is a branch that calls a block.
    pub(in crate::trace) calls: bool,
    /// Whether the happening, a parallel block, may finish before all its branches do; `None` if not recorded.
    pub(in crate::trace) drops: Option<bool>,
    /// Whether the happening was ended by force, so that all open happenings inside of it ended, too.
    pub(in crate::trace) cuts: bool,
}

impl Happening {
    pub(in crate::trace) fn new(kind: NodeKind, status: NodeStatus) -> Happening {
        Happening::told(kind, status, Text::default())
    }

    /// Returns a happening with the text that records it.
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
            rows: RowFacts::default(),
        }
    }
}

/// Happenings in the order in which they occurred.
#[derive(Debug, Default)]
pub(in crate::trace) struct Story {
    list: Vec<Happening>,
    /// Happenings that were added too late, each mapped to the sibling before which the happening belongs.
    early: BTreeMap<StoryAt, StoryAt>,
}

impl Story {
    /// Returns a story with room for about `things` happenings, because growing a list temporarily needs twice its
    /// memory.
    pub(in crate::trace) fn of_about(things: usize) -> Story {
        Story {
            list: Vec::with_capacity(things),
            ..Story::default()
        }
    }

    pub(in crate::trace) fn get(&self, at: StoryAt) -> Option<&Happening> {
        self.list.get(at.0 as usize)
    }

    pub(in crate::trace) fn get_mut(&mut self, at: StoryAt) -> Option<&mut Happening> {
        self.list.get_mut(at.0 as usize)
    }

    /// Adds the next happening inside `parent`. If `parent` is a loop with a current round, the happening is placed in
    /// that round.
    pub(in crate::trace) fn add(&mut self, parent: StoryParent, new: Happening) -> StoryAt {
        let parent = parent.map(|parent| self.inside(parent));
        self.push(parent, new)
    }

    /// Adds the next happening directly inside `parent`.
    pub(in crate::trace) fn push(&mut self, parent: StoryParent, mut new: Happening) -> StoryAt {
        new.parent = parent;
        new.failed |= new.status == NodeStatus::Failed;
        let again = u32::from(new.status == NodeStatus::Retry);
        new.attempts = new.attempts.max(1 + again);
        self.list.push(new);
        StoryAt(self.list.len() as u32 - 1)
    }

    /// Adds a happening directly before an existing sibling.
    pub(in crate::trace) fn add_before(&mut self, later: StoryAt, new: Happening) -> StoryAt {
        let parent = self.get(later).and_then(|later| later.parent);
        let at = self.push(parent, new);
        self.early.insert(at, later);
        at
    }

    /// Updates an existing happening from `more`, a newer record of the same happening.
    pub(in crate::trace) fn go_on(&mut self, at: StoryAt, more: Happening) {
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

    /// Begins a round of a loop and ends the previous round. `derived` means that only the round's number is known.
    pub(in crate::trace) fn round(&mut self, looped: StoryAt, n: u32, derived: bool) {
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

    /// Ends the current round of a loop.
    pub(in crate::trace) fn end_round(&mut self, looped: StoryAt, status: NodeStatus) {
        let round = self.get_mut(looped).and_then(|own| own.round.take());
        if let Some(round) = round.and_then(|round| self.get_mut(round)) {
            round.status = status;
        }
    }

    /// Returns the place for a child: the current round if there is one, otherwise the happening itself.
    fn inside(&mut self, at: StoryAt) -> StoryAt {
        let Some(own) = self.get(at) else { return at };
        match own.round {
            Some(round) => round,
            // A statement that runs after the end of a round begins the next round.
            None if own.rounds > 0 && own.status.is_open() => {
                let n = own.rounds.saturating_add(1);
                self.round(at, n, false);
                self.get(at).and_then(|own| own.round).unwrap_or(at)
            }
            None => at,
        }
    }
}
