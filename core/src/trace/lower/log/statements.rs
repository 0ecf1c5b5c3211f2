//! Records the statements and gates of a log, and decides which lines belong to the same statement.

use super::{LogExecutionKey, Lowering, node_status};
use crate::model::words::says_deferred;
use crate::model::{GateStatus, LogLine, Status, Text};
use crate::program::StatementKind;
use crate::trace::gates::status_word;
use crate::trace::story::{Happening, StoryAt, StoryParent};
use crate::trace::{NodeKind, NodeStatus};

impl Lowering<'_, '_, '_> {
    pub(super) fn gate(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        name: &Text,
        status: &GateStatus,
    ) {
        let place = self.inside(at, line, scope);
        let statement = self.tie(at).map(|(_, statement)| statement);
        let gate: Text = match (&**name, statement) {
            ("", Some(statement)) => statement.gate_name().into(),
            ("", None) => "gate".into(),
            (name, _) => name.into(),
        };
        let key = (place, LogExecutionKey::Gate(line.number, gate.clone()));
        let mut new = Happening::new(NodeKind::Gate { gate }, status_word(status));
        new.label = Some("gate".into());
        if !name.is_empty() {
            new.text = format!("gate {name}").into();
        }
        match self
            .keys
            .get(&key)
            .copied()
            .filter(|first| self.is_open(*first))
        {
            Some(first) => self.go_on(at, first, new),
            None => {
                let first = self.begin(at, place, new);
                self.keys.insert(key, first);
            }
        }
    }

    pub(super) fn statement(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        text: &Text,
        status: Option<&Status>,
    ) {
        let Some(status) = status.map(node_status) else {
            // A line without a mark such as `✓` is a statement only if the line's tie to a statement is certain
            // (errata E6).
            let named = self.tie(at).is_some_and(|(tie, _)| !tie.guessed);
            if named && !text.is_empty() {
                let new = Happening::new(NodeKind::Statement, NodeStatus::Executing);
                self.record_statement(at, line, scope, text, new);
            } else {
                self.remark(at);
            }
            return;
        };
        if self.closes_construct(at, line, scope, text, &status) {
            return;
        }
        let skipped = status == NodeStatus::Skipped;
        if let Some((tie, own)) = self.tie(at).filter(|_| skipped)
            && matches!(
                own.kind,
                StatementKind::If | StatementKind::Elif | StatementKind::Else
            )
        {
            self.not_run.insert(tie.statement);
        }
        self.record_statement(
            at,
            line,
            scope,
            text,
            Happening::new(NodeKind::Statement, status),
        );
        let put_off = line.deferred || line.note.as_deref().is_some_and(says_deferred);
        if let Some(last) = self.last.filter(|_| skipped && put_off) {
            self.deferred.insert(last, at);
        }
    }

    /// Records a statement; if the line is about a branch itself, records the branch.
    pub(super) fn record_statement(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        text: &Text,
        mut new: Happening,
    ) {
        new.text = text.clone();
        new.label = Some(match line.number {
            Some(n) => format!("statement {n}{}", line.branch.as_deref().unwrap_or("")).into(),
            None => "statement".into(),
        });
        let branch = self.own_branch(at, line, scope, text);
        let place = match branch {
            Some(_) => scope,
            None => self.inside(at, line, scope),
        };
        let latest = self.key(place, LogExecutionKey::Number(line.number));
        let known = branch.or(latest.filter(|latest| self.is_continued(*latest, text)));
        let first = match known {
            Some(first) => {
                // If a failed statement runs again, that is a further attempt, even without a retry line.
                if self.has_status(first, &NodeStatus::Failed) && new.status != NodeStatus::Retry {
                    let attempts = self.story.get(first).map_or(1, |own| own.attempts);
                    new.attempts = attempts.saturating_add(1);
                }
                self.go_on(at, first, new);
                first
            }
            None => self.begin(at, place, new),
        };
        if !text.is_empty() || !self.names.contains_key(&first) {
            self.names.insert(first, text.clone());
        }
        self.keys
            .insert((place, LogExecutionKey::Number(line.number)), first);
    }

    /// Whether a line continues `latest`, the last statement with the line's number. The statement must be open or
    /// failed, and have the same name if both have a name.
    fn is_continued(&self, latest: StoryAt, text: &Text) -> bool {
        let goes_on = self.is_open(latest) || self.has_status(latest, &NodeStatus::Failed);
        let name = self.names.get(&latest);
        goes_on && (text.is_empty() || name.is_none_or(|name| name.is_empty() || name == text))
    }

    /// Returns the branch that a line is about; `None` if the line is about a statement, inside a branch or not.
    fn own_branch(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        text: &Text,
    ) -> Option<StoryAt> {
        if let Some(around) = scope.filter(|_| line.branch.is_some())
            && let NodeKind::Branch { branch } = &self.story.get(around)?.kind
        {
            return (text.is_empty() || text == branch).then_some(around);
        }
        // The line `3→ a ✓` is about branch `a` if the open parallel block 3 announced such a branch.
        let parallel = self.key(scope, LogExecutionKey::Parallel(line.number))?;
        let announced = self.announced.contains(&(parallel, text.clone()));
        (announced && self.is_open(parallel)).then(|| self.branch_named(at, parallel, text))
    }

    /// Handles a line that ends a construct; returns `false` for any other line. Examples are `3→ ✓` after the branches
    /// of parallel block 3, `5→ ✓` after the rounds of loop 5, and `5→ implement ✓` for a block.
    fn closes_construct(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: StoryParent,
        text: &Text,
        status: &NodeStatus,
    ) -> bool {
        if !matches!(status, NodeStatus::Completed | NodeStatus::Failed) {
            return false;
        }
        if let Some(id) = line.frame
            && text.is_empty()
            && line.branch.is_none()
            && self.tie(at).is_none()
            && self.ahead.is_last_of(id, at)
            && let Some(first) = self.frames.by_id.get(&id).copied()
            && self.holders.contains(&first)
        {
            self.leave_frame(at, first, status.clone());
            return true;
        }
        if line.branch.is_some() {
            return false;
        }
        if line.frame.is_none()
            && let Some(first) = self.frames.nameless(line, text)
        {
            self.leave_frame(at, first, status.clone());
            return true;
        }
        if !text.is_empty() {
            return false;
        }
        let parallel = self.key(scope, LogExecutionKey::Parallel(line.number));
        if parallel.is_some_and(|parallel| self.is_open(parallel)) {
            self.join(at, line, scope, status.clone());
            return true;
        }
        // A loop is not over if the line's statement is inside the loop's body.
        let inside = self.tie(at).is_some_and(|(tie, statement)| {
            !tie.guessed && !statement.kind.is_loop() && statement.kind != StatementKind::Pipe
        });
        let own = |l: &super::Loop| line.number.is_some() && l.number == line.number && l.end < at;
        let Some(loops) = self.loops.get_mut(&scope).filter(|_| !inside) else {
            return false;
        };
        let Some(depth) = loops.iter().rposition(own) else {
            return false;
        };
        let first = loops.get(depth).map_or(StoryAt::default(), |own| own.first);
        loops.truncate(depth);
        self.go_on(at, first, Happening::new(NodeKind::Loop, status.clone()));
        true
    }
}
