//! Frames of a log: `block:implement#1` enters one, `#1 done` leaves it, and lines between run in it.

use std::collections::{BTreeMap, BTreeSet};

use super::{At, Lowering, Place, Said};
use crate::model::{LogEvent, LogLine, Status, Text};
use crate::program::StatementKind;
use crate::trace::lower::facts::Facts;
use crate::trace::lower::site;

/// The frames that were entered.
#[derive(Default)]
pub(super) struct Frames<'a> {
    by_id: BTreeMap<i64, At>,
    list: Vec<Entered>,
    by_first: BTreeMap<At, Vec<usize>>,
    /// Of the same number and branch, the latest last; those that were left are dropped from the end.
    by_number: BTreeMap<(Option<u32>, Option<Text>), Vec<usize>>,
    by_block: BTreeMap<u32, Vec<usize>>,
    /// Which blocks a block of the program calls.
    calls: BTreeSet<(u32, &'a str)>,
}

/// A frame that was entered.
#[derive(Clone)]
struct Entered {
    first: At,
    id: Option<i64>,
    block: Text,
    /// The block in the program.
    in_program: Option<u32>,
    over: bool,
}

impl<'a> Frames<'a> {
    pub(super) fn of(facts: &Facts<'a>) -> Frames<'a> {
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

    /// A frame is over.
    pub(super) fn close(&mut self, first: At) {
        let places = self.by_first.get(&first).into_iter().flatten();
        for place in places {
            if let Some(entered) = self.list.get_mut(*place) {
                entered.over = true;
            }
        }
    }

    fn is_over(&self, first: At) -> bool {
        let places = self.by_first.get(&first).into_iter().flatten();
        let mut frames = places.filter_map(|place| self.list.get(*place));
        frames.all(|entered| entered.over)
    }

    /// The last frame of a line's number that is still open.
    fn of_number(&mut self, line: &LogLine) -> Option<&Entered> {
        let key = (line.number, line.branch.clone());
        let at = last_open(self.by_number.get_mut(&key)?, &self.list)?;
        self.list.get(at)
    }

    fn of_block(&mut self, block: u32) -> Option<&Entered> {
        let at = last_open(self.by_block.get_mut(&block)?, &self.list)?;
        self.list.get(at)
    }
}

fn last_open(stack: &mut Vec<usize>, list: &[Entered]) -> Option<usize> {
    while let Some(at) = stack.last().copied() {
        if list.get(at).is_some_and(|frame| !frame.over) {
            return Some(at);
        }
        stack.pop();
    }
    None
}

impl Lowering<'_, '_, '_> {
    /// The frame of an id; one that nothing entered begins where a line first speaks of it.
    pub(super) fn frame_of(&mut self, at: usize, line: &LogLine, id: i64) -> At {
        if let Some(first) = self.frames.by_id.get(&id) {
            return *first;
        }
        self.odd(
            "log-frame-unknown",
            line,
            format!("frame #{id} is spoken of, and nothing entered it"),
            "It is shown where it is first spoken of.",
        );
        let place = self.frame_around(at, line, None);
        let place = self.inside(at, line, place);
        let said = Said {
            label: format!("frame {id}").into(),
            meta: site::frame("".into()),
            id: Some(id),
            derived: true,
            ..Said::default()
        };
        let first = self.begin(at, place, Status::Started, said);
        if let Some(record) = self.story.get_mut(first) {
            record.beside.tie = None;
        }
        self.frames.by_id.insert(id, first);
        self.entered(line, first, Some(id), Text::from(""));
        first
    }

    fn entered(&mut self, line: &LogLine, first: At, id: Option<i64>, block: Text) {
        let in_program = self.facts.blocks.get(&*block).copied();
        let place = self.frames.list.len();
        self.frames.list.push(Entered {
            first,
            id,
            block,
            in_program,
            over: false,
        });
        let key = (line.number, line.branch.clone());
        self.frames.by_first.entry(first).or_default().push(place);
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
        let tied = self.tie(at).filter(|(tie, _)| !tie.guessed);
        let block = tied.and_then(|(tie, _)| self.facts.get(tie.statement)?.block);
        if let Some(found) = self.frames.of_number(line).cloned() {
            let inside = match called {
                Some(called) => self.calls(&found, called),
                // Its own end, by its name or without one.
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
                return Some(found.first);
            }
        }
        Some(self.frames.of_block(block?)?.first)
    }

    /// Whether an open frame calls that block, as far as the program has it.
    fn calls(&self, open: &Entered, called: &str) -> bool {
        open.in_program
            .is_none_or(|block| self.frames.calls.contains(&(block, called)))
    }

    /// The frame without an id that a line of its number ends: by its block's name, or by none.
    pub(super) fn nameless_frame(&mut self, line: &LogLine, text: &str) -> Option<At> {
        let open = self.frames.of_number(line)?;
        (open.id.is_none() && (text.is_empty() || *text == *open.block)).then_some(open.first)
    }

    pub(super) fn frame_with_id(&self, id: i64) -> Option<At> {
        self.frames.by_id.get(&id).copied()
    }

    pub(super) fn enter(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        block: &Text,
        id: Option<i64>,
        status: Option<&Status>,
    ) {
        let over = status.filter(|status| status.is_terminal());
        let known = id.and_then(|id| self.frames.by_id.get(&id).copied());
        if let (Some(id), Some(first)) = (id, known) {
            let failed = self.has_failed(first);
            let open = self.is_open(first) && !self.frames.is_over(first);
            if open || failed {
                match over {
                    Some(status) => {
                        self.go_on(Some(at), first, status.clone(), Said::default());
                        self.frames.close(first);
                    }
                    // Entered again after it failed: the next attempt.
                    None if failed => {
                        self.go_on(Some(at), first, Status::Retry, Said::default());
                        self.entered(line, first, Some(id), block.clone());
                    }
                    None => self.go_on(Some(at), first, Status::Started, Said::default()),
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
        let text = match &line.note {
            Some(argument) => format!("do {block} {argument}").into(),
            None => Text::from(""),
        };
        let said = Said {
            text,
            label: format!("do {block}").into(),
            meta: site::frame(block.clone()),
            id: id.filter(|_| known.is_none()),
            ..Said::default()
        };
        let first = self.begin(at, place, over.cloned().unwrap_or(Status::Started), said);
        if let Some(id) = id {
            self.frames.by_id.insert(id, first);
        }
        if over.is_none() {
            self.entered(line, first, id, block.clone());
        }
    }

    pub(super) fn leave(&mut self, at: usize, line: &LogLine, status: &Status) {
        let Some(id) = line.frame else { return };
        let first = self.frame_of(at, line, id);
        self.leave_frame(at, first, status);
    }

    pub(super) fn leave_frame(&mut self, at: usize, first: At, status: &Status) {
        self.go_on(Some(at), first, status.clone(), Said::default());
        self.frames.close(first);
        self.loops.remove(&Some(first));
    }
}
