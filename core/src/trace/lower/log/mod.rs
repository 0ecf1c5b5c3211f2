//! Converts a compact log into a story (docs/reference/formats.md).
//!
//! ```text
//! line ──► scope: frame #1, branch 3a, or the root ──► the innermost loop of the scope ──► a happening in that place
//! ```
//!
//! A log records the ends of statements. The numbers before the arrows repeat and skip, but most lines contain the name
//! of their statement. `ties` finds the statement of each line. Within one frame or branch, lines with the same
//! `LogExecutionKey` are about the same happening.

mod ahead;
mod frames;
mod marks;
mod places;
mod statements;
#[cfg(test)]
mod tests;
mod ties;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use super::disk;
use super::facts::LineEvidence;
use super::tied;
use crate::model::issue::{Issue, Severity};
use crate::model::{CompactLog, LogEvent, LogLine, Run, RunStatus, Text};
use crate::program::{Statement, StatementKind, Tie, TiedBy};
use crate::trace::rows::Ledger;
use crate::trace::story::{Happening, Story, StoryAt, StoryParent};
use crate::trace::{NodeKind, NodeStatus};
use ahead::LogPreview;
use frames::Frames;
use places::Loop;

/// A log, converted into a story.
pub(in crate::trace) struct LogStory {
    pub(in crate::trace) story: Story,
    /// The lines that record something, each with the happening to which it belongs.
    pub(in crate::trace) told: Vec<(StoryAt, u32)>,
    /// The lines that do not record a statement, each with the happening of the line before it.
    pub(in crate::trace) remarks: Vec<(StoryParent, u32)>,
    /// The names of written bindings whose statements the log does not mention.
    pub(in crate::trace) unmarked: Vec<String>,
}

/// Converts a log into a story.
pub(in crate::trace) fn lower(
    run: &Run,
    log: &CompactLog,
    facts: &LineEvidence<'_>,
    ledger: &mut Ledger,
) -> LogStory {
    let ahead = LogPreview::of(log);
    let ties = ties::of(run, log, &ahead, facts);
    let mut lowering = Lowering {
        log,
        facts,
        ties,
        ahead,
        ledger,
        story: Story::default(),
        keys: BTreeMap::new(),
        names: BTreeMap::new(),
        deferred: BTreeMap::new(),
        announced: BTreeSet::new(),
        holders: BTreeSet::new(),
        frames: Frames::of(facts),
        forks: BTreeMap::new(),
        loops: BTreeMap::new(),
        newest: BTreeMap::new(),
        last: None,
        of_statement: BTreeMap::new(),
        not_run: BTreeSet::new(),
        told: Vec::new(),
        remarks: Vec::new(),
    };
    for (at, line) in log.lines.iter().enumerate() {
        lowering.take(at, line);
    }
    let unmarked = lowering.disk(run);
    LogStory {
        story: lowering.story,
        told: lowering.told,
        remarks: lowering.remarks,
        unmarked,
    }
}

/// The key of the execution that a log line is about, among the executions with the same parent.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LogExecutionKey {
    /// The statement to which the last line with this number referred.
    Number(Option<u32>),
    Gate(Option<u32>, Text),
    /// The parallel block of the lines with this number.
    Parallel(Option<u32>),
    Branch(Text),
    /// A branch, identified by the letter of its lines.
    Letter(Text),
}

struct Lowering<'l, 'f, 'a> {
    log: &'l CompactLog,
    facts: &'f LineEvidence<'a>,
    ties: Vec<Option<Tie>>,
    ahead: LogPreview,
    ledger: &'f mut Ledger,
    story: Story,
    keys: BTreeMap<(StoryParent, LogExecutionKey), StoryAt>,
    /// The name that the log uses for each statement.
    names: BTreeMap<StoryAt, Text>,
    /// The postponed statements, each with the line that postpones it.
    deferred: BTreeMap<StoryAt, usize>,
    /// The branches that a parallel block announced.
    announced: BTreeSet<(StoryAt, Text)>,
    /// The happenings that contain other happenings.
    holders: BTreeSet<StoryAt>,
    frames: Frames<'a>,
    /// The place in which the last parallel block began, by the number of its lines.
    forks: BTreeMap<Option<u32>, StoryParent>,
    loops: BTreeMap<StoryParent, Vec<Loop>>,
    /// The last happening in each place.
    newest: BTreeMap<StoryParent, StoryAt>,
    /// The happening of the last line.
    last: StoryParent,
    /// The last happening tied to each statement of the program.
    of_statement: BTreeMap<u32, StoryAt>,
    /// The statements of the program whose condition did not hold.
    not_run: BTreeSet<u32>,
    told: Vec<(StoryAt, u32)>,
    remarks: Vec<(StoryParent, u32)>,
}

impl<'l, 'a> Lowering<'l, '_, 'a> {
    fn take(&mut self, at: usize, line: &'l LogLine) {
        let scope = match &line.event {
            LogEvent::Note => return self.remark(at),
            LogEvent::Trailer { status, .. } => {
                // Only the last trailer (`---end` or the like) describes the run; earlier trailers are kept as remarks.
                if self.log.trailer != Some(at as u32) {
                    self.remark(at);
                }
                return self.trailer(at, status);
            }
            LogEvent::Leave { status } => {
                let Some(id) = line.frame else { return };
                let first = self.frame_of(at, line, id);
                return self.leave_frame(at, first, node_status(status));
            }
            LogEvent::Enter { block, .. } => self.scope(at, line, Some(block)),
            _ => self.scope(at, line, None),
        };
        match &line.event {
            LogEvent::Fork { branches } => self.fork(at, line, scope, branches),
            LogEvent::Join { status } => self.join(at, line, scope, node_status(status)),
            LogEvent::Round { .. } => self.round(at, line, scope),
            LogEvent::Enter { block, id, status } => {
                self.enter(at, line, scope, block, *id, status.as_ref());
            }
            LogEvent::Gate { gate, status } => self.gate(at, line, scope, gate, status),
            LogEvent::Retry { text, attempt, max } => {
                let mut new = Happening::new(NodeKind::Statement, NodeStatus::Retry);
                (new.attempts, new.max) = (attempt.unwrap_or(0), *max);
                self.record_statement(at, line, scope, text, new);
            }
            LogEvent::Statement { text, status } => {
                self.statement(at, line, scope, text, status.as_ref());
            }
            LogEvent::Leave { .. } | LogEvent::Trailer { .. } | LogEvent::Note => {}
        }
    }

    /// Keeps a line that does not record a statement as a remark after the happening of the line before it.
    fn remark(&mut self, at: usize) {
        self.remarks.push((self.last, at as u32));
    }

    /// Adds the happening that a line is the first to record.
    fn begin(&mut self, at: usize, parent: StoryParent, mut new: Happening) -> StoryAt {
        new.tie = self.ties.get(at).copied().flatten();
        new.line = Some(at as u32);
        let statement = new.tie.map(|tie| tie.statement);
        let first = self.story.add(parent, new);
        let statement = statement.map(|statement| (statement, first));
        self.of_statement.extend(statement);
        self.holders.extend(parent);
        // A frame is over as soon as another statement runs in the place that contains the frame.
        let parent = self.story.get(first).and_then(|own| own.parent);
        if let Some(before) = self.newest.insert(parent, first) {
            self.frames.close(before);
        }
        self.told.push((first, at as u32));
        self.last = Some(first);
        first
    }

    /// Continues an existing happening.
    fn go_on(&mut self, at: usize, first: StoryAt, mut more: Happening) {
        more.tie = self.ties.get(at).copied().flatten();
        more.line = Some(at as u32);
        self.story.go_on(first, more);
        // The reason for postponing stays visible as a remark after the statement continues.
        let put_off = self.deferred.remove(&first);
        self.remarks
            .extend(put_off.map(|line| (Some(first), line as u32)));
        self.told.push((first, at as u32));
        self.last = Some(first);
    }

    fn is_open(&self, first: StoryAt) -> bool {
        self.deferred.contains_key(&first)
            || self
                .story
                .get(first)
                .is_some_and(|own| own.status.is_open())
    }

    fn has_status(&self, first: StoryAt, status: &NodeStatus) -> bool {
        self.story
            .get(first)
            .is_some_and(|own| own.status == *status)
    }

    fn tie(&self, at: usize) -> Option<(Tie, &'a Statement)> {
        let tie = self.ties.get(at).copied().flatten()?;
        Some((tie, self.facts.statement(tie.statement)?))
    }

    fn key(&self, place: StoryParent, key: LogExecutionKey) -> StoryParent {
        self.keys.get(&(place, key)).copied()
    }

    /// Reports a defect of a line.
    fn note_defect(&mut self, rule: &'static str, line: &LogLine, message: String, hint: &str) {
        let file = self.log.file.to_string();
        self.ledger.note(Severity::Note, rule, || {
            Issue::noted("", message)
                .at_file(file)
                .at_line(line.line)
                .hint(hint)
        });
    }

    /// Returns the frame or branch of a line. `called` is the block that the line enters, if any.
    fn scope(&mut self, at: usize, line: &LogLine, called: Option<&Text>) -> StoryParent {
        let frame = match line.frame {
            Some(id) => Some(self.frame_of(at, line, id)),
            None => self.frame_around(at, line, called),
        };
        let letter = line
            .branch
            .as_ref()
            .filter(|b| b.starts_with(|c: char| c.is_ascii_alphabetic()));
        let Some(letter) = letter else {
            return frame;
        };
        // The lines of a frame that was called in a branch have the branch's letter. Such lines belong to the frame,
        // unless the frame has branches of its own.
        let frame = frame.or_else(|| self.forks.get(&line.number).copied().flatten());
        if self
            .key(frame, LogExecutionKey::Parallel(line.number))
            .is_none()
            && (frame.is_some() || !self.is_in_parallel(at))
            && !self.ahead.is_joined(at, line)
        {
            // Without such evidence of a parallel block, the letter is part of a step's number, not a branch.
            return frame;
        }
        Some(self.branch(at, line, frame, letter))
    }

    /// Handles a trailer that ends the run with an error: the running statement failed.
    fn trailer(&mut self, at: usize, status: &RunStatus) {
        let Some(last) = self.last.filter(|_| *status == RunStatus::Failed) else {
            return;
        };
        if self.has_status(last, &NodeStatus::Executing) {
            self.go_on(
                at,
                last,
                Happening::new(NodeKind::Statement, NodeStatus::Failed),
            );
        }
    }

    /// Adds statements that the log does not mention but whose binding is on disk. Returns the names of these
    /// bindings.
    fn disk(&mut self, run: &Run) -> Vec<String> {
        let told: BTreeSet<u32> = self
            .ties
            .iter()
            .flatten()
            .map(|tie| tie.statement)
            .collect();
        let mut names = Vec::new();
        for ((statement, frame), (binding, by)) in disk::written(run, self.facts) {
            let mut outer = self.facts.listing.enclosing(statement);
            let passed = outer.any(|outer| self.not_run.contains(&outer));
            if frame.is_none() && !told.contains(&statement) && !passed {
                names.push(binding.name.to_string());
                self.written(statement, by);
            }
        }
        disk::unmarked(run, &names, self.ledger);
        names
    }

    /// Adds a statement whose binding is written. The order of the program determines the place of the new happening.
    fn written(&mut self, statement: u32, by: TiedBy) {
        let Some(own) = self.facts.statement(statement) else {
            return;
        };
        let outer = self.facts.listing.enclosing(statement);
        let around = outer
            .filter_map(|outer| Some((outer, *self.of_statement.get(&outer)?)))
            .find(|(outer, _)| {
                let kind = self.facts.statement(*outer).map(|s| s.kind);
                kind.is_some_and(|kind| kind.is_loop() || kind == StatementKind::Parallel)
            });
        let parallel = around.filter(|(outer, _)| own.parent == Some(*outer));
        let parallel = parallel.and_then(|(_, at)| self.story.get(at));
        let is_branch = parallel.is_some_and(|around| around.kind == NodeKind::Parallel);
        let kind = match own.name.as_deref().filter(|_| is_branch) {
            Some(name) => NodeKind::Branch {
                branch: name.into(),
            },
            None => NodeKind::Statement,
        };
        let mut new = Happening::new(kind, NodeStatus::Completed);
        (new.label, new.derived) = (Some(own.text.as_str().into()), true);
        new.tie = tied(statement, by);
        let parent = around.map(|(_, at)| at);
        // The new happening comes before the happenings of later statements of the program.
        let lies_in = |at: &StoryAt| {
            let above = self.story.get(*at).and_then(|own| own.parent);
            let further = above.and_then(|above| self.story.get(above)?.parent);
            above == parent || parent.is_some() && further == parent
        };
        let mut later = self.of_statement.range(statement + 1..);
        let later = later.find(|(_, at)| lies_in(at)).map(|(_, at)| *at);
        let added = match later {
            Some(later) => self.story.add_before(later, new),
            None => self.story.add(parent, new),
        };
        self.of_statement.insert(statement, added);
    }
}

/// Returns the node status for a line's status.
fn node_status(status: &crate::model::Status) -> NodeStatus {
    crate::trace::emit::word(status)
}
