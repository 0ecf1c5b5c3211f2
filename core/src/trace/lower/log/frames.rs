//! Tracks the frames of a log: `block:implement#1` enters a frame, `#1 done` leaves the frame, and the lines between
//! record what ran in the frame.

use std::collections::{BTreeMap, BTreeSet};

use super::{Lowering, node_status};
use crate::model::{LogEvent, LogLine, Status, Text};
use crate::program::StatementKind;
use crate::trace::lower::facts::LineEvidence;
use crate::trace::story::{Happening, StoryAt, StoryParent};
use crate::trace::{NodeKind, NodeStatus};

/// The frames that the lines of a log have entered so far.
#[derive(Default)]
pub(super) struct Frames<'a> {
    pub(super) by_id: BTreeMap<i64, StoryAt>,
    open: BTreeMap<StoryAt, EnteredFrame>,
    /// The frames by the number and branch of the line that entered the frame (`3a→`), the latest last. Frames that
    /// were left are removed from the end.
    by_number: BTreeMap<(Option<u32>, Option<Text>), Vec<StoryAt>>,
    by_block: BTreeMap<u32, Vec<StoryAt>>,
    /// Pairs of a block in the program and the name of a block that it calls.
    calls: BTreeSet<(u32, &'a str)>,
}

/// A frame that was entered and not left.
struct EnteredFrame {
    has_id: bool,
    block: Text,
    /// The index of the block's declaration in the program, if known.
    in_program: Option<u32>,
}

impl<'a> Frames<'a> {
    pub(super) fn of(facts: &LineEvidence<'a>) -> Frames<'a> {
        let mut frames = Frames::default();
        for (at, statement) in (0_u32..).zip(&facts.listing.statements) {
            let block = facts.get(at).and_then(|fact| fact.block);
            if let (StatementKind::Do, Some(target), Some(block)) =
                (statement.kind, &statement.target, block)
            {
                frames.calls.insert((block, target));
            }
        }
        frames
    }

    /// Marks a frame as left.
    pub(super) fn close(&mut self, first: StoryAt) {
        self.open.remove(&first);
    }

    /// Returns the last open frame that was entered on a line with the number and branch of `line`.
    fn of_number(&mut self, line: &LogLine) -> Option<StoryAt> {
        let key = (line.number, line.branch.clone());
        last_open(self.by_number.get_mut(&key)?, &self.open)
    }

    /// Returns the frame without an id that a line ends. Such a line has the name of the frame's block, or no name.
    pub(super) fn nameless(&mut self, line: &LogLine, text: &str) -> Option<StoryAt> {
        let first = self.of_number(line)?;
        let open = self.open.get(&first)?;
        (!open.has_id && (text.is_empty() || *text == *open.block)).then_some(first)
    }
}

fn last_open(stack: &mut Vec<StoryAt>, open: &BTreeMap<StoryAt, EnteredFrame>) -> Option<StoryAt> {
    while let Some(at) = stack.last().copied() {
        if open.contains_key(&at) {
            return Some(at);
        }
        stack.pop();
    }
    None
}

impl Lowering<'_, '_, '_> {
    /// Returns the frame with an id. A frame that was never entered begins at the first line that refers to it.
    pub(super) fn frame_of(&mut self, at: usize, line: &LogLine, id: i64) -> StoryAt {
        if let Some(first) = self.frames.by_id.get(&id) {
            return *first;
        }
        self.note_defect(
            "log-frame-unknown",
            line,
            format!("the log uses frame #{id}, but no line enters that frame"),
            "The frame is shown at its first use.",
        );
        let place = self.frame_around(at, line, None);
        let place = self.inside(at, line, place);
        let mut new = frame("", NodeStatus::Started);
        new.label = Some(format!("frame {id}").into());
        (new.id, new.derived) = (Some(id), true);
        let first = self.begin(at, place, new);
        if let Some(own) = self.story.get_mut(first) {
            own.tie = None;
        }
        self.frames.by_id.insert(id, first);
        self.entered(line, first, true, "".into());
        first
    }

    fn entered(&mut self, line: &LogLine, first: StoryAt, has_id: bool, block: Text) {
        let in_program = self.facts.blocks.get(&*block).copied();
        let key = (line.number, line.branch.clone());
        self.frames.by_number.entry(key).or_default().push(first);
        if let Some(block) = in_program {
            self.frames.by_block.entry(block).or_default().push(first);
        }
        let entered = EnteredFrame {
            has_id,
            block,
            in_program,
        };
        self.frames.open.insert(first, entered);
    }

    /// Returns the open frame of a line without a frame id: a frame that was entered under the line's number, unless
    /// the program contradicts this; otherwise a frame whose block contains the line's statement.
    pub(super) fn frame_around(
        &mut self,
        at: usize,
        line: &LogLine,
        called: Option<&Text>,
    ) -> StoryParent {
        let tied = self.tie(at).filter(|(tie, _)| !tie.guessed);
        let block = tied.and_then(|(tie, _)| self.facts.get(tie.statement)?.block);
        if let Some(first) = self.frames.of_number(line)
            && let Some(found) = self.frames.open.get(&first)
        {
            let inside = match (called, found.in_program) {
                // Calls can be checked only in blocks that the program declares.
                (Some(called), Some(block)) => self.frames.calls.contains(&(block, called)),
                (Some(_), None) => true,
                // A line that ends the frame, with or without the block's name, is not inside the frame.
                (None, _) if !found.has_id => !matches!(
                    &line.event,
                    LogEvent::Statement { text, status: Some(_) } if text.is_empty() || *text == found.block
                ),
                (None, Some(own)) if tied.is_some() => block == Some(own),
                (None, _) => true,
            };
            if inside {
                return Some(first);
            }
        }
        let of_block = self.frames.by_block.get_mut(&block?)?;
        last_open(of_block, &self.frames.open)
    }

    pub(super) fn enter(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        block: &Text,
        id: Option<i64>,
        status: Option<&Status>,
    ) {
        let over = status
            .filter(|status| status.is_terminal())
            .map(node_status);
        let known = id.and_then(|id| self.frames.by_id.get(&id).copied());
        if let (Some(id), Some(first)) = (id, known) {
            let failed = self.has_status(first, &NodeStatus::Failed);
            let open = self.is_open(first) && self.frames.open.contains_key(&first);
            if open || failed {
                // If a failed frame is entered again, this is the next attempt of the same frame.
                let again = failed && over.is_none();
                let open = if failed {
                    NodeStatus::Retry
                } else {
                    NodeStatus::Started
                };
                match over {
                    Some(_) => self.frames.close(first),
                    None if again => self.entered(line, first, true, block.clone()),
                    None => {}
                }
                self.go_on(at, first, frame(block, over.unwrap_or(open)));
                return;
            }
            self.note_defect(
                "log-frame-twice",
                line,
                format!("frame #{id} is entered again after it was left"),
                "Both frames are shown. The bindings are attached to the first frame.",
            );
        }
        let place = self.inside(at, line, scope);
        let is_over = over.is_some();
        let mut new = frame(block, over.unwrap_or(NodeStatus::Started));
        new.label = Some(format!("do {block}").into());
        new.id = id.filter(|_| known.is_none());
        if let Some(argument) = &line.note {
            new.text = format!("do {block} {argument}").into();
        }
        let first = self.begin(at, place, new);
        if let Some(id) = id {
            self.frames.by_id.insert(id, first);
        }
        if !is_over {
            self.entered(line, first, id.is_some(), block.clone());
        }
    }

    pub(super) fn leave_frame(&mut self, at: usize, first: StoryAt, status: NodeStatus) {
        self.go_on(at, first, frame("", status));
        self.frames.close(first);
        self.loops.remove(&Some(first));
    }
}

fn frame(block: &str, status: NodeStatus) -> Happening {
    let kind = NodeKind::Frame {
        block: block.into(),
        depth: 0,
    };
    Happening::new(kind, status)
}
