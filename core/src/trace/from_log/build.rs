//! Lines become instances, each in the frame, branch or round that it runs in.
//!
//! ```text
//! line ──► scope: frame #1, branch 3a, else the root ──► container: the round of the loop around it ──► node
//! ```
//!
//! A log says what was done, one after the other: what stands open while something behind it in the same container
//! is told is over, as far as anybody knows.

use std::collections::BTreeMap;

use super::ahead::Ahead;
use super::branches::Parallel;
use super::frames::Frames;
use super::rounds::Loop;
use crate::issue::{Issue, Severity};
use crate::model::{CompactLog, LogEvent, LogLine, Run, RunStatus, Text};
use crate::program::{Statement, Tie, TiedBy};
use crate::trace::emit::derived;
use crate::trace::from_state::facts::Facts;
use crate::trace::gates;
use crate::trace::rows::Ledger;
use crate::trace::{Node, NodeKind, NodeStatus};

/// Rounds that are listed though nothing but their number is known.
const MOST_ROUNDS: u32 = 1_000;

/// What a node lies in; `None` is the root.
pub(super) type Place = Option<u32>;

/// Nodes under construction.
pub(super) struct Builder<'b, 'a> {
    pub(super) run: &'a Run,
    pub(super) log: &'a CompactLog,
    pub(super) facts: &'b Facts<'a>,
    pub(super) ties: &'b [Option<Tie>],
    pub(super) ahead: &'b Ahead,
    pub(super) ledger: &'b mut Ledger,
    pub(super) nodes: Vec<Node>,
    /// Statement of each node, and whether only its text told of it.
    pub(super) about: Vec<About>,
    /// `(node, line)`: who was told of where.
    pub(super) told: Vec<(u32, u32)>,
    /// Children of a container, in order.
    pub(super) kids: BTreeMap<Place, Vec<u32>>,
    /// The latest node of a number, and of a name of that number.
    pub(super) latest: BTreeMap<(Place, Option<u32>), u32>,
    pub(super) named: BTreeMap<(Place, Option<u32>, Text), u32>,
    pub(super) parallels: BTreeMap<(Place, Option<u32>), Parallel>,
    /// Parallels whose number came again.
    pub(super) earlier: Vec<Parallel>,
    /// Where the last parallel of a number began.
    pub(super) forks: BTreeMap<Option<u32>, Place>,
    pub(super) loops: BTreeMap<Place, Vec<Loop>>,
    pub(super) frames: Frames<'a>,
    rounds_left: u32,
}

/// What is known of a node beside itself.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    pub(super) statement: Option<u32>,
    /// Nothing but its text was told: it was at hand, and nobody said how it ended.
    pub(super) soft: bool,
    /// Nothing names it.
    pub(super) anonymous: bool,
    pub(super) number: Option<u32>,
}

impl<'a> Builder<'_, 'a> {
    pub(super) fn new<'b>(
        run: &'a Run,
        log: &'a CompactLog,
        facts: &'b Facts<'a>,
        ties: &'b [Option<Tie>],
        ahead: &'b Ahead,
        ledger: &'b mut Ledger,
    ) -> Builder<'b, 'a> {
        Builder {
            run,
            log,
            facts,
            ties,
            ahead,
            ledger,
            nodes: Vec::new(),
            about: Vec::new(),
            told: Vec::new(),
            kids: BTreeMap::new(),
            latest: BTreeMap::new(),
            named: BTreeMap::new(),
            parallels: BTreeMap::new(),
            earlier: Vec::new(),
            forks: BTreeMap::new(),
            loops: BTreeMap::new(),
            frames: Frames::of(facts.listing, facts),
            rounds_left: MOST_ROUNDS,
        }
    }

    /// Takes a line.
    pub(super) fn take(&mut self, at: usize, line: &'a LogLine) {
        let scope = match &line.event {
            LogEvent::Note => return,
            LogEvent::Trailer { status, .. } => return self.trailer(at, status),
            LogEvent::Leave { status } => return self.leave(at, line, status),
            LogEvent::Enter { block, .. } => self.scope(at, line, Some(block)),
            _ => self.scope(at, line, None),
        };
        match &line.event {
            LogEvent::Fork { branches } => self.fork(at, line, scope, branches),
            LogEvent::Join { status } => self.join(at, line, scope, status),
            LogEvent::Round { .. } => self.round(at, line, scope),
            LogEvent::Enter { block, id, status } => {
                self.enter(at, line, scope, block, *id, status);
            }
            LogEvent::Gate { gate, status } => {
                self.gate(at, line, scope, gate, gates::status_word(status));
            }
            LogEvent::Retry { text, attempt, max } => {
                self.retry(at, line, scope, text, *attempt, *max);
            }
            LogEvent::Statement { text, status } => self.statement(at, line, scope, text, status),
            LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => {}
        }
    }

    pub(super) fn about(&self, at: u32) -> Option<&About> {
        self.about.get(at as usize)
    }

    pub(super) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    pub(super) fn node_mut(&mut self, at: u32) -> Option<&mut Node> {
        self.nodes.get_mut(at as usize)
    }

    pub(super) fn is_open(&self, at: u32) -> bool {
        self.node(at).is_some_and(|n| n.status.is_open())
    }

    pub(super) fn tie(&self, at: usize) -> Option<(u32, bool, &'a Statement)> {
        let tie = self.ties.get(at).copied().flatten()?;
        Some((
            tie.statement,
            tie.guessed,
            self.facts.statement(tie.statement)?,
        ))
    }

    pub(super) fn tied_by(&self, at: usize) -> Option<TiedBy> {
        Some(self.ties.get(at).copied().flatten()?.by)
    }

    /// Adds a node behind what its container holds: that is over, as far as it stands open.
    pub(super) fn push(&mut self, mut node: Node, place: Place) -> u32 {
        let at = self.nodes.len() as u32;
        let in_parallel = place
            .and_then(|p| self.node(p))
            .is_some_and(|p| p.kind == NodeKind::Parallel);
        let previous = self.kids.get(&place).and_then(|kids| kids.last()).copied();
        if let Some(previous) = previous.filter(|_| !in_parallel) {
            self.passed(previous);
        }
        node.parent = place;
        self.nodes.push(node);
        self.about.push(About::default());
        self.kids.entry(place).or_default().push(at);
        at
    }

    /// Something behind it in the same container ran.
    pub(super) fn passed(&mut self, at: u32) {
        let soft = self.about.get(at as usize).is_some_and(|a| a.soft);
        let Some(node) = self.node_mut(at) else {
            return;
        };
        let goes_by = match node.kind {
            NodeKind::Gate { .. } => false,
            NodeKind::Statement | NodeKind::Branch { .. } => {
                soft || matches!(node.status, NodeStatus::Retry | NodeStatus::Executing)
            }
            _ => true,
        };
        if node.status.is_open() && goes_by {
            node.status = NodeStatus::Completed;
            node.derived = true;
            self.frames.close(at);
        }
    }

    /// A node that a line tells of.
    pub(super) fn make(
        &mut self,
        at: usize,
        line: &LogLine,
        place: Place,
        kind: NodeKind,
        words: &str,
        status: NodeStatus,
    ) -> u32 {
        let tie = self.tie(at);
        let text: Text = match tie {
            Some((_, false, statement)) => statement.text.as_str().into(),
            Some((_, true, statement)) if words.is_empty() => statement.text.as_str().into(),
            _ if words.is_empty() => self.numbered(line),
            _ => words.into(),
        };
        let mut node = derived(kind, text, status);
        node.derived = false;
        if let Some((_, guessed, statement)) = tie {
            node.line = Some(statement.line);
            node.line_guessed = guessed;
            node.line_by = self.tied_by(at);
        }
        let made = self.push(node, place);
        if let Some(about) = self.about.get_mut(made as usize) {
            about.statement = tie.map(|(statement, ..)| statement);
            about.number = line.number;
            about.anonymous = words.is_empty();
        }
        self.tell(made, at);
        made
    }

    fn numbered(&self, line: &LogLine) -> Text {
        match line.number {
            Some(n) => format!("statement {n}").into(),
            None => "statement".into(),
        }
    }

    /// Notes that a line tells of a node: what stands behind its marker is the latest word on it.
    pub(super) fn tell(&mut self, node: u32, at: usize) {
        let line = at as u32;
        self.told.push((node, line));
        if let Some(node) = self.node_mut(node) {
            node.state_line = Some(line);
        }
    }

    /// Notes what is odd about a line.
    pub(super) fn odd(&mut self, rule: &'static str, line: &LogLine, message: String, hint: &str) {
        let file = self.log.file.to_string();
        self.ledger.note(Severity::Info, rule, || {
            Issue::info("", message)
                .at_file(file)
                .at_line(line.line)
                .hint(hint)
        });
    }

    /// The frame or branch that a line speaks in. `called`: it enters that block.
    fn scope(&mut self, at: usize, line: &LogLine, called: Option<&Text>) -> Place {
        let frame = match line.frame {
            Some(id) => Some(self.frame_of(at, line, id)),
            None => self.frame_around(at, line, called),
        };
        let Some(letter) = line
            .branch
            .as_ref()
            .filter(|b| b.starts_with(|c: char| c.is_ascii_alphabetic()))
        else {
            return frame;
        };
        // What runs in a frame of a branch runs in that frame, unless that has branches of its own.
        let frame = frame.or_else(|| self.forks.get(&line.number).copied().flatten());
        if frame.is_some() && !self.parallels.contains_key(&(frame, line.number)) {
            return frame;
        }
        let told = match &line.event {
            LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => text.clone(),
            _ => Text::from(""),
        };
        Some(self.branch(at, line, frame, letter, &told))
    }

    /// Sets the status of what a line closes.
    pub(super) fn close(&mut self, at: u32, status: NodeStatus) {
        if let Some(about) = self.about.get_mut(at as usize) {
            about.soft = false;
        }
        if let Some(node) = self.node_mut(at) {
            node.status = status;
            node.derived = false;
        }
    }

    /// An end that nothing failed before: what was at hand failed.
    fn trailer(&mut self, at: usize, status: &RunStatus) {
        if *status != RunStatus::Failed {
            return;
        }
        let Some((node, _)) = self.told.last().copied() else {
            return;
        };
        let at_hand = self.is_open(node)
            && self
                .node(node)
                .is_some_and(|n| matches!(n.kind, NodeKind::Statement | NodeKind::Branch { .. }));
        if at_hand {
            self.tell(node, at);
            self.close(node, NodeStatus::Failed);
        }
    }

    pub(super) fn take_round(&mut self) -> bool {
        let left = self.rounds_left > 0;
        self.rounds_left = self.rounds_left.saturating_sub(1);
        left
    }
}
