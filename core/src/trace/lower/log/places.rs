//! Tracks parallel blocks and loops of a log: `∥start a,b` begins a parallel block, `3a→` lines are its branches,
//! `∥done` joins them; `loop:2/5` begins round 2, `exit(…)` leaves the loop.

use std::collections::BTreeSet;

use super::{LogExecutionKey, Lowering};
use crate::model::{LogEvent, LogLine, Text};
use crate::program::{StatementKind, Tie};
use crate::trace::story::{Happening, StoryAt, StoryParent};
use crate::trace::{NodeKind, NodeStatus};

/// Maximum number of announced branches that are listed for one parallel block.
const MOST_BRANCHES: usize = 10_000;

/// An open loop, to which the next lines may belong.
pub(super) struct Loop {
    pub(super) first: StoryAt,
    pub(super) number: Option<u32>,
    statement: Option<u32>,
    pass: u32,
    /// The line of the last marker of this pass through the loop.
    pub(super) end: usize,
    /// Whether no statement ran since the last marker of the loop.
    empty: bool,
    /// The numbers of the statements that ran in the loop.
    numbers: BTreeSet<u32>,
}

impl Lowering<'_, '_, '_> {
    /// Whether a line's statement is in a parallel block of the program.
    pub(super) fn is_in_parallel(&self, at: usize) -> bool {
        let Some((tie, statement)) = self.tie(at) else {
            return false;
        };
        self.is_parallel(tie.statement) || statement.parent.is_some_and(|p| self.is_parallel(p))
    }

    fn is_parallel(&self, at: u32) -> bool {
        let kind = self.facts.statement(at).map(|s| s.kind);
        kind == Some(StatementKind::Parallel)
    }

    /// Returns the branch with a letter or name in the parallel block that has a line's number.
    pub(super) fn branch(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        letter: &Text,
    ) -> StoryAt {
        let told = match &line.event {
            LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => text.clone(),
            _ => Text::from(""),
        };
        let parallel = match self.key(scope, LogExecutionKey::Parallel(line.number)) {
            Some(parallel) => parallel,
            None => self.begin_parallel(at, line, scope, true),
        };
        let by_letter = LogExecutionKey::Letter(letter.clone());
        if let Some(branch) = self.key(Some(parallel), by_letter) {
            return branch;
        }
        let announced = self
            .story
            .get(parallel)
            .map_or(&[][..], |own| &own.announced);
        let by_letter = letter_position(letter).and_then(|at| announced.get(at));
        let is_announced = |name: &Text| self.announced.contains(&(parallel, name.clone()));
        let name = match by_letter {
            _ if is_announced(&told) => told,
            Some(name) => name.clone(),
            None if !told.is_empty() && !told.contains(' ') => told,
            None => letter.clone(),
        };
        if !announced.is_empty() && !is_announced(&name) {
            self.note_defect(
                "branch-not-announced",
                line,
                format!("branch {name} runs, but its parallel block did not announce it"),
                "The branch is shown with the announced branches.",
            );
        }
        let branch = self.branch_named(at, parallel, &name);
        let by_letter = LogExecutionKey::Letter(letter.clone());
        self.keys.insert((Some(parallel), by_letter), branch);
        branch
    }

    /// Returns the branch with this name. The first line that refers to a branch adds the branch.
    pub(super) fn branch_named(&mut self, at: usize, parallel: StoryAt, name: &Text) -> StoryAt {
        let key = (Some(parallel), LogExecutionKey::Branch(name.clone()));
        if let Some(branch) = self.keys.get(&key) {
            return *branch;
        }
        let kind = NodeKind::Branch {
            branch: name.clone(),
        };
        let mut new = Happening::new(kind, NodeStatus::Started);
        new.label = Some(name.clone());
        let branch = self.begin(at, Some(parallel), new);
        // The line is tied to a statement in the branch; the branch itself is tied by its name.
        let around = self.story.get(parallel).and_then(|own| own.tie);
        let tie = around.and_then(|around| {
            Some(Tie {
                statement: self.facts.listing.branch_of(around.statement, name)?,
                by: crate::program::TiedBy::Name,
                ..around
            })
        });
        if let Some(own) = self.story.get_mut(branch) {
            own.tie = tie;
        }
        self.keys.insert(key, branch);
        branch
    }

    /// Adds a parallel block. `by_branch` means that no line began the block, and that this line records one of its
    /// branches.
    fn begin_parallel(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        by_branch: bool,
    ) -> StoryAt {
        let place = self.inside(at, line, scope);
        let mut new = Happening::new(NodeKind::Parallel, NodeStatus::Started);
        (new.label, new.derived) = (Some("parallel".into()), by_branch);
        let first = self.begin(at, place, new);
        if by_branch {
            let around = self.tie(at).and_then(|(tie, own)| match own.kind {
                StatementKind::Parallel => Some(tie),
                _ => Some(Tie {
                    statement: own.parent?,
                    ..tie
                }),
            });
            let around = around.filter(|tie| self.is_parallel(tie.statement));
            if let Some(own) = self.story.get_mut(first) {
                own.tie = around;
            }
        }
        self.keys
            .insert((scope, LogExecutionKey::Parallel(line.number)), first);
        self.forks.insert(line.number, scope);
        first
    }

    pub(super) fn fork(&mut self, at: usize, line: &LogLine, scope: StoryParent, names: &[Text]) {
        let again = self.key(scope, LogExecutionKey::Parallel(line.number));
        let first = match again.filter(|first| self.is_open(*first)) {
            // A parallel block may begin again while open: the run was resumed (`---resume`) inside of the block.
            Some(first) => {
                let more = Happening::new(NodeKind::Parallel, NodeStatus::Started);
                self.go_on(at, first, more);
                first
            }
            None => self.begin_parallel(at, line, scope, false),
        };
        let Some(own) = self.story.get_mut(first) else {
            return;
        };
        for name in names {
            if own.announced.len() < MOST_BRANCHES && self.announced.insert((first, name.clone())) {
                own.announced.push(name.clone());
            }
        }
    }

    pub(super) fn join(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        status: NodeStatus,
    ) {
        let first = match self.key(scope, LogExecutionKey::Parallel(line.number)) {
            Some(first) => first,
            None => self.begin_parallel(at, line, scope, false),
        };
        // Joined branches are over even if no line records that.
        let from = (Some(first), LogExecutionKey::Branch("".into()));
        let all = self.keys.range(from..);
        let all = all.take_while(|((of, key), _)| {
            *of == Some(first) && matches!(key, LogExecutionKey::Branch(_))
        });
        let branches: Vec<StoryAt> = all.map(|(_, branch)| *branch).collect();
        for branch in branches {
            if self.is_open(branch) {
                let mut more = Happening::new(NodeKind::Parallel, NodeStatus::Completed);
                more.derived = true;
                self.story.go_on(branch, more);
            }
        }
        self.go_on(at, first, Happening::new(NodeKind::Parallel, status));
    }

    /// Returns the place that contains a line's record: the innermost loop of its scope that continues at the line,
    /// otherwise the scope.
    pub(super) fn inside(&mut self, at: usize, line: &LogLine, scope: StoryParent) -> StoryParent {
        loop {
            let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) else {
                return scope;
            };
            if self.is_under_way(top, at, line) {
                break;
            }
            self.leave_loop(scope);
        }
        let loops = self.loops.get_mut(&scope)?;
        for around in loops.iter_mut() {
            around.numbers.extend(line.number);
            around.empty = false;
        }
        loops.last().map(|top| top.first)
    }

    /// Leaves the loops whose last marker was read, before another loop begins. The new loop is inside of an old loop
    /// only if the program nests the two loops, or if a round of the old loop just began.
    fn leave_ended(&mut self, at: usize, scope: StoryParent) {
        let own = self.tie(at).map(|(tie, _)| tie.statement);
        while let Some(top) = self.loops.get(&scope).and_then(|loops| loops.last()) {
            let inside = own
                .zip(top.statement)
                .is_some_and(|(own, body)| self.facts.listing.contains(body, own));
            // A round that just began must contain something, so the new loop belongs to that round.
            if at <= top.end || top.empty || inside {
                break;
            }
            self.leave_loop(scope);
        }
    }

    fn leave_loop(&mut self, scope: StoryParent) {
        if let Some(loops) = self.loops.get_mut(&scope) {
            loops.pop();
        }
    }

    /// Whether a line is inside an open loop. A line before the loop's last marker always is. After that marker, the
    /// line's tie to the program decides; without a certain tie, the line's number.
    fn is_under_way(&self, around: &Loop, at: usize, line: &LogLine) -> bool {
        if at <= around.end {
            return true;
        }
        if let (Some((tie, _)), Some(body)) = (self.tie(at), around.statement)
            && !tie.guessed
        {
            return self.facts.listing.contains(body, tie.statement);
        }
        let same = |n: u32| around.number == Some(n) || around.numbers.contains(&n);
        // Inside a frame, numbers do not identify statements.
        line.frame.is_some() || around.empty || line.number.is_some_and(same)
    }

    /// Handles a marker of a loop, such as `loop:2/5`.
    pub(super) fn round(&mut self, at: usize, line: &LogLine, scope: StoryParent) {
        let LogEvent::Round { n, max, over, exit } = &line.event else {
            return;
        };
        let Some((pass, end)) = self.ahead.pass(at) else {
            return;
        };
        let new = || {
            let mut new = Happening::new(NodeKind::Loop, NodeStatus::Started);
            new.max = *max;
            new
        };
        let loops = self.loops.entry(scope).or_default();
        let known = loops.iter().position(|around| around.pass == pass);
        let first = match known {
            Some(known) => {
                loops.truncate(known + 1);
                loops.last().map_or(StoryAt::default(), |top| top.first)
            }
            None => {
                self.leave_ended(at, scope);
                let place = self.inside(at, line, scope);
                let mut new = new();
                new.label = Some("loop".into());
                let first = self.begin(at, place, new);
                let statement = self.tie(at).map(|(tie, _)| tie.statement);
                self.loops.entry(scope).or_default().push(Loop {
                    first,
                    number: line.number,
                    statement,
                    pass,
                    end,
                    empty: true,
                    numbers: BTreeSet::new(),
                });
                first
            }
        };
        if let Some(n) = n {
            self.story.round(first, *n, false);
        }
        if known.is_some() || *exit {
            let mut more = new();
            if *exit {
                more.status = NodeStatus::Completed;
            }
            self.go_on(at, first, more);
        }
        if let Some(top) = self
            .loops
            .get_mut(&scope)
            .and_then(|loops| loops.last_mut())
        {
            top.empty = true;
        }
        if *exit {
            self.leave_loop(scope);
        } else if *over {
            self.story.end_round(first, NodeStatus::Completed);
        }
    }
}

/// Returns the position of a branch letter: `a` is the first, `z` the 26th, `aa` the 27th.
fn letter_position(letter: &str) -> Option<usize> {
    let mut at = 0_usize;
    for b in letter.bytes() {
        let digit = b
            .to_ascii_lowercase()
            .checked_sub(b'a')
            .filter(|d| *d < 26)?;
        at = at.checked_mul(26)?.checked_add(usize::from(digit) + 1)?;
    }
    at.checked_sub(1)
}
