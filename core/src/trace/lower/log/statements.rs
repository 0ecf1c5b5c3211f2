//! Statements and gates of a log: which lines speak of the same one.

use super::{At, Lowering, Place, Said};
use crate::model::words::DEFERRED;
use crate::model::{GateStatus, LogLine, Meta, Status, Text};
use crate::program::StatementKind;
use crate::trace::gates::status_word;
use crate::trace::lower::site;

/// The statement of a number that a line spoke of last.
#[derive(Clone)]
pub(super) struct Latest {
    first: At,
    name: Text,
    attempts: u32,
}

impl Lowering<'_, '_, '_> {
    pub(super) fn gate(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        name: &Text,
        status: &GateStatus,
    ) {
        let place = self.inside(at, line, scope);
        let statement = self.tie(at).map(|(_, statement)| statement);
        let gate: Text = match (&**name, statement) {
            ("", Some(statement)) => statement.name.as_deref().unwrap_or(&statement.text).into(),
            ("", None) => "gate".into(),
            (name, _) => name.into(),
        };
        let slot = (place, line.number, gate.clone());
        let known = self.gates.get(&slot).copied();
        let over = !matches!(status, GateStatus::Pending);
        let word = if over {
            Status::Completed
        } else {
            Status::Pending
        };
        let said = Said {
            text: if name.is_empty() {
                Text::from("")
            } else {
                format!("gate {name}").into()
            },
            label: "gate".into(),
            meta: site::gate(gate),
            gate: Some(status_word(status)),
            ..Said::default()
        };
        match known.filter(|first| self.is_open(*first)) {
            Some(first) => self.go_on(Some(at), first, word, said),
            None => {
                let first = self.begin(at, place, word, said);
                self.gates.insert(slot, first);
            }
        }
    }

    pub(super) fn retry(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        attempt: Option<u32>,
        max: Option<u32>,
    ) {
        let meta = Meta {
            attempt: attempt.map(i64::from),
            max: max.map(i64::from),
            ..Meta::default()
        };
        self.told(at, line, scope, text, Status::Retry, meta);
    }

    pub(super) fn statement(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        status: Option<&Status>,
    ) {
        let Some(status) = status else {
            // Without a mark it is a statement only when it names one of the program (one-fold.md, rule 6).
            let named = self.tie(at).is_some_and(|(tie, _)| !tie.guessed);
            if named && !text.is_empty() {
                self.told(at, line, scope, text, Status::Executing, Meta::default());
            } else {
                self.remark(at);
            }
            return;
        };
        if self.closes_construct(at, line, scope, text, status) {
            return;
        }
        let mut meta = Meta::default();
        if *status == Status::Skipped {
            let note = line.note.as_deref().unwrap_or_default();
            meta.reason = match line.deferred {
                true => Some(format!("{DEFERRED} {note}").into()),
                false => line.note.clone(),
            };
            let condition = self.tie(at).filter(|(_, own)| {
                let kinds = [StatementKind::If, StatementKind::Elif, StatementKind::Else];
                kinds.contains(&own.kind)
            });
            self.not_run.extend(condition.map(|(tie, _)| tie.statement));
        }
        self.told(at, line, scope, text, status.clone(), meta);
    }

    /// Adds a record of a statement, or of the branch that it is.
    fn told(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        status: Status,
        mut meta: Meta,
    ) {
        let said = Said {
            text: text.clone(),
            label: match line.number {
                Some(n) => format!("statement {n}{}", line.branch.as_deref().unwrap_or("")).into(),
                None => "statement".into(),
            },
            ..Said::default()
        };
        let mut attempts = 1;
        let mut known = self.own_branch(at, line, scope, text);
        let place = match known {
            Some(_) => scope,
            None => self.inside(at, line, scope),
        };
        let slot = (place, line.number);
        if known.is_none()
            && let Some(latest) = self.latest.get(&slot)
            && self.is_continued(latest, text)
        {
            (known, attempts) = (Some(latest.first), latest.attempts);
        }
        let name = match known {
            Some(_) if text.is_empty() => self.latest.get(&slot).map(|latest| latest.name.clone()),
            _ => None,
        };
        let first = match known {
            Some(first) => {
                // Tried again, though nothing says so.
                if self.has_failed(first) && status != Status::Retry {
                    attempts = attempts.saturating_add(1);
                    meta.attempt = Some(i64::from(attempts));
                } else if status == Status::Retry {
                    attempts = attempts.saturating_add(1);
                }
                self.go_on(Some(at), first, status, Said { meta, ..said });
                first
            }
            None => self.begin(at, place, status, Said { meta, ..said }),
        };
        self.latest.insert(
            slot,
            Latest {
                first,
                name: name.unwrap_or_else(|| text.clone()),
                attempts,
            },
        );
    }

    /// Whether a line goes on with the statement that its number spoke of last: one that is open or failed, of the
    /// same name where both have one.
    fn is_continued(&self, latest: &Latest, text: &Text) -> bool {
        let goes_on = self.is_open(latest.first) || self.has_failed(latest.first);
        let same = text.is_empty() || latest.name.is_empty() || latest.name == *text;
        goes_on && same
    }

    /// The branch that a line is of, where it speaks of the branch itself.
    fn own_branch(&mut self, at: usize, line: &LogLine, scope: Place, text: &Text) -> Option<At> {
        if let Some(branch) = scope.filter(|_| line.branch.is_some())
            && let Some(name) = self.branch_name(branch)
        {
            return (text.is_empty() || *text == name).then_some(branch);
        }
        // `3→ a ✓` while parallel 3 has a branch a.
        let key = (scope, line.number);
        let parallel = self.parallels.get(&key).filter(|p| p.announces(text));
        let open = parallel.is_some_and(|parallel| self.is_open(parallel.first));
        open.then(|| self.branch_named(at, key, text))
    }

    fn branch_name(&self, branch: At) -> Option<Text> {
        let meta = self.story.get(branch)?.meta.as_deref()?;
        meta.branch.clone()
    }

    /// `3→ ✓` after the branches of parallel 3, `5→ ✓` after the rounds of loop 5, `5→ implement ✓` for a block.
    fn closes_construct(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        status: &Status,
    ) -> bool {
        if !matches!(status, Status::Completed | Status::Failed) {
            return false;
        }
        if let Some(id) = line.frame
            && text.is_empty()
            && line.branch.is_none()
            && self.tie(at).is_none()
            && self.ahead.is_last_of(id, at)
            && self.ahead.left_at(id, at).is_none()
            && let Some(first) = self.frame_with_id(id)
            && self.holders.contains(&first)
        {
            self.leave_frame(at, first, status);
            return true;
        }
        if line.branch.is_some() {
            return false;
        }
        if line.frame.is_none()
            && let Some(first) = self.nameless_frame(line, text)
        {
            self.leave_frame(at, first, status);
            return true;
        }
        if !text.is_empty() {
            return false;
        }
        let parallel = self.parallels.get(&(scope, line.number));
        if let Some(first) = parallel.map(|parallel| parallel.first)
            && self.is_open(first)
        {
            self.join(at, line, scope, status);
            return true;
        }
        let own = |l: &super::Loop| line.number.is_some() && l.number == line.number && l.end < at;
        let loops = self.loops.get(&scope);
        let Some(depth) = loops.and_then(|loops| loops.iter().rposition(own)) else {
            return false;
        };
        // A loop of which the program has more to run is not over yet.
        let inside = self.tie(at).is_some_and(|(tie, statement)| {
            !tie.guessed && !statement.kind.is_loop() && statement.kind != StatementKind::Pipe
        });
        if inside {
            return false;
        }
        let Some(first) = loops.and_then(|loops| loops.get(depth)).map(|l| l.first) else {
            return false;
        };
        if let Some(loops) = self.loops.get_mut(&scope) {
            loops.truncate(depth);
        }
        let status = match status {
            Status::Failed => Status::Failed,
            _ => Status::Exited,
        };
        self.go_on(Some(at), first, status, Said::default());
        true
    }
}
