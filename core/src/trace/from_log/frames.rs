//! Frames of a log: `block:implement#1` enters one, `#1 done` leaves it, and lines between run in it.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Builder, Place};
use crate::model::{LogEvent, LogLine, Status, Text};
use crate::program::{Listing, StatementKind};
use crate::trace::emit::{derived, word};
use crate::trace::from_state::facts::Facts;
use crate::trace::{NodeKind, NodeStatus};

/// The frames that were entered.
#[derive(Default)]
pub(super) struct Frames<'a> {
    by_id: BTreeMap<i64, u32>,
    list: Vec<Open>,
    by_node: BTreeMap<u32, usize>,
    /// Of the same number and branch, the latest last; those that were left are dropped from the end.
    by_number: BTreeMap<(Option<u32>, Option<Text>), Vec<usize>>,
    by_block: BTreeMap<u32, Vec<usize>>,
    /// Which blocks a block of the program calls.
    calls: BTreeSet<(u32, &'a str)>,
}

/// A frame that was entered.
#[derive(Clone)]
struct Open {
    node: u32,
    id: Option<i64>,
    block: Text,
    /// The block in the program.
    in_program: Option<u32>,
    /// The line that leaves it.
    left: Option<usize>,
    over: bool,
}

impl<'a> Frames<'a> {
    pub(super) fn of(listing: &'a Listing, facts: &Facts<'a>) -> Frames<'a> {
        let mut frames = Frames::default();
        for (at, statement) in (0_u32..).zip(&listing.statements) {
            let block = facts.get(at).and_then(|fact| fact.block);
            if let (StatementKind::Do, Some(target), Some(block)) =
                (statement.kind, &statement.target, block)
            {
                frames.calls.insert((block, target));
            }
        }
        frames
    }

    /// A frame is over, whoever says so.
    pub(super) fn close(&mut self, node: u32) {
        if let Some(open) = self
            .by_node
            .get(&node)
            .and_then(|at| self.list.get_mut(*at))
        {
            open.over = true;
        }
    }

    /// The last frame of a line's number that is still open.
    fn of_number(&mut self, line: &LogLine) -> Option<&Open> {
        let key = (line.number, line.branch.clone());
        let at = last_open(self.by_number.get_mut(&key)?, &self.list)?;
        self.list.get(at)
    }

    fn of_block(&mut self, block: u32) -> Option<&Open> {
        let at = last_open(self.by_block.get_mut(&block)?, &self.list)?;
        self.list.get(at)
    }
}

fn last_open(stack: &mut Vec<usize>, list: &[Open]) -> Option<usize> {
    while let Some(at) = stack.last().copied() {
        if list.get(at).is_some_and(|open| !open.over) {
            return Some(at);
        }
        stack.pop();
    }
    None
}

impl Builder<'_, '_> {
    /// The frame of an id; one that nothing entered is made.
    pub(super) fn frame_of(&mut self, at: usize, line: &LogLine, id: i64) -> u32 {
        if let Some(node) = self.frames.by_id.get(&id) {
            return *node;
        }
        self.odd(
            "log-frame-unknown",
            line,
            format!("frame #{id} is spoken of, and nothing entered it"),
            "It is shown where it is first spoken of.",
        );
        let place = self.frame_around(at, line, None);
        let place = self.inside(at, line, place);
        let kind = NodeKind::Frame {
            block: Text::from(""),
            depth: 1,
        };
        let mut node = derived(kind, format!("frame {id}").into(), NodeStatus::Started);
        node.id = Some(id);
        node.inferred = true;
        let node = self.push(node, place);
        self.frames.by_id.insert(id, node);
        self.opened(at, line, node, Some(id), Text::from(""));
        node
    }

    fn opened(&mut self, at: usize, line: &LogLine, node: u32, id: Option<i64>, block: Text) {
        let in_program = self.facts.blocks.get(&*block).copied();
        let left = id.and_then(|id| self.ahead.left_at(id, at + 1));
        let place = self.frames.list.len();
        self.frames.list.push(Open {
            node,
            id,
            block,
            in_program,
            left,
            over: false,
        });
        self.frames.by_node.insert(node, place);
        let key = (line.number, line.branch.clone());
        self.frames.by_number.entry(key).or_default().push(place);
        if let Some(block) = in_program {
            self.frames.by_block.entry(block).or_default().push(place);
        }
    }

    /// The open frame that a line without `#` runs in: of the same number, unless the program says otherwise; or
    /// whose block the statement lies in.
    pub(super) fn frame_around(
        &mut self,
        at: usize,
        line: &LogLine,
        called: Option<&Text>,
    ) -> Place {
        let tied = self
            .tie(at)
            .filter(|(_, guessed, _)| !guessed)
            .map(|(statement, ..)| statement);
        let block = tied.and_then(|statement| self.facts.get(statement)?.block);
        if let Some(found) = self.frames.of_number(line).cloned() {
            let inside = match called {
                Some(called) => self.calls(&found, called, at, line),
                // Its own end, told by its name or by none.
                None if found.id.is_none() => !matches!(
                    &line.event,
                    LogEvent::Statement { text, status: Some(_) } if text.is_empty() || *text == found.block
                ),
                None => match (tied, found.in_program) {
                    (Some(_), Some(own)) => block == Some(own),
                    _ => true,
                },
            };
            if inside {
                return Some(found.node);
            }
        }
        Some(self.frames.of_block(block?)?.node)
    }

    /// Whether an open frame calls that block: as the program has it, else when it is left behind it.
    fn calls(&self, open: &Open, called: &str, at: usize, line: &LogLine) -> bool {
        if let Some(block) = open.in_program {
            return self.frames.calls.contains(&(block, called));
        }
        let id = match &line.event {
            LogEvent::Enter { id, .. } => *id,
            _ => None,
        };
        match (open.left, id.and_then(|id| self.ahead.left_at(id, at))) {
            (Some(outer), Some(inner)) => outer > inner,
            (outer, None) => outer.is_none() && open.id.is_some(),
            (None, Some(_)) => true,
        }
    }

    /// The frame without an id that a line of its number ends: by its block's name, or by none.
    pub(super) fn nameless_frame(&mut self, line: &LogLine, text: &str) -> Option<u32> {
        let open = self.frames.of_number(line)?;
        (open.id.is_none() && (text.is_empty() || *text == *open.block)).then_some(open.node)
    }

    pub(super) fn frame_with_id(&self, id: i64) -> Option<u32> {
        self.frames.by_id.get(&id).copied()
    }

    pub(super) fn enter(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        block: &Text,
        id: Option<i64>,
        status: &Option<Status>,
    ) {
        let over = status.as_ref().filter(|s| s.is_terminal());
        if let (Some(id), Some(node)) = (id, id.and_then(|id| self.frames.by_id.get(&id).copied()))
        {
            let (open, failed) = (
                self.is_open(node),
                self.node(node)
                    .is_some_and(|n| n.status == NodeStatus::Failed),
            );
            if open || failed {
                self.tell(node, at);
                match over {
                    Some(status) => self.close(node, word(status)),
                    // Entered again after it failed: the next attempt.
                    None if failed => {
                        self.close(node, NodeStatus::Started);
                        if let Some(node) = self.node_mut(node) {
                            node.attempts = node.attempts.saturating_add(1);
                        }
                        self.opened(at, line, node, Some(id), block.clone());
                    }
                    None => {}
                }
                return;
            }
            self.odd(
                "log-frame-twice",
                line,
                format!("frame #{id} is entered again after it was left"),
                "Both are shown; the bindings of that frame hang on the first.",
            );
        }
        let place = self.inside(at, line, scope);
        let words = match &line.note {
            Some(argument) => format!("do {block} {argument}"),
            None => String::new(),
        };
        let fallback = format!("do {block}");
        let kind = NodeKind::Frame {
            block: block.clone(),
            depth: 1,
        };
        let status = over.map_or(NodeStatus::Started, word);
        let node = self.make(
            at,
            line,
            place,
            kind,
            if words.is_empty() { &fallback } else { &words },
            status,
        );
        let first = id.filter(|id| !self.frames.by_id.contains_key(id));
        if let Some(made) = self.node_mut(node) {
            made.id = first;
            if !words.is_empty() {
                made.text = words.as_str().into();
            }
        }
        if let Some(id) = id {
            self.frames.by_id.insert(id, node);
        }
        if over.is_none() {
            self.opened(at, line, node, id, block.clone());
        }
    }

    pub(super) fn leave(&mut self, at: usize, line: &LogLine, status: &Status) {
        let Some(id) = line.frame else { return };
        let node = self.frame_of(at, line, id);
        self.leave_node(at, node, status);
    }

    pub(super) fn leave_node(&mut self, at: usize, node: u32, status: &Status) {
        self.tell(node, at);
        self.close(node, word(status));
        let last = self
            .kids
            .get(&Some(node))
            .and_then(|kids| kids.last())
            .copied();
        if let Some(last) = last.filter(|_| *status == Status::Completed) {
            self.passed(last);
        }
        self.frames.close(node);
        while self
            .loops
            .get(&Some(node))
            .is_some_and(|loops| !loops.is_empty())
        {
            self.finish_loop(Some(node), true);
        }
    }
}
