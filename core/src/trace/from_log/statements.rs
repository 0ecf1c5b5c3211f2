//! Statements and gates of a log: which lines speak of the same one.

use super::build::{Builder, Place};
use super::rounds::Loop;
use crate::gate::visit;
use crate::model::{LogEvent, LogLine, Status, Text};
use crate::trace::emit::word;
use crate::trace::gates;
use crate::trace::{NodeKind, NodeStatus};

/// Where a statement's node stands.
struct Spot {
    place: Place,
    /// It is this node.
    own: Option<u32>,
}

impl Builder<'_, '_> {
    pub(super) fn gate(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        name: &Text,
        status: NodeStatus,
    ) {
        let place = self.inside(at, line, scope);
        let statement = self.tie(at).map(|(_, _, statement)| statement);
        let gate: Text = match (&**name, statement) {
            ("", Some(statement)) => statement.name.as_deref().unwrap_or(&statement.text).into(),
            ("", None) => "gate".into(),
            (name, _) => name.into(),
        };
        let key = (place, line.number, gate.clone());
        let known = self
            .named
            .get(&key)
            .copied()
            .filter(|node| self.is_open(*node));
        // The gates' own record wins over the log (errata, below the gates).
        let mut visits = self
            .run
            .gates
            .iter()
            .filter(|g| *g.id == *gate || *visit(&g.id).0 == *gate);
        let status = visits.next_back().map_or(status, gates::status);
        if let Some(node) = known {
            self.tell(node, at);
            self.close(node, status);
            return;
        }
        let words = if name.is_empty() {
            String::new()
        } else {
            format!("gate {name}")
        };
        let node = self.make(at, line, place, NodeKind::Gate { gate }, &words, status);
        self.named.insert(key, node);
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
        let place = self.spot(at, line, scope);
        let own = place.own.or_else(|| self.known(place.place, line, text));
        let node = match own {
            Some(node) => {
                self.tell(node, at);
                self.close(node, NodeStatus::Retry);
                node
            }
            None => self.make(
                at,
                line,
                place.place,
                NodeKind::Statement,
                text,
                NodeStatus::Retry,
            ),
        };
        if let Some(made) = self.node_mut(node) {
            made.attempts = attempt.unwrap_or(made.attempts.saturating_add(1)).max(1);
            made.max = max.or(made.max);
        }
        self.remember(place.place, line, text, node);
    }

    pub(super) fn statement(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        status: &Option<Status>,
    ) {
        if status.is_some() && self.closes_construct(at, line, scope, text, status) {
            return;
        }
        let spot = self.spot(at, line, scope);
        let soft = status.is_none();
        let said = status.as_ref().map_or(NodeStatus::Executing, word);
        let Some(node) = spot.own.or_else(|| self.known(spot.place, line, text)) else {
            let node = self.make(at, line, spot.place, NodeKind::Statement, text, said);
            if let Some(about) = self.about.get_mut(node as usize) {
                about.soft = soft;
            }
            self.remember(spot.place, line, text, node);
            return;
        };
        self.tell(node, at);
        if soft {
            return;
        }
        let failed = self
            .node(node)
            .is_some_and(|n| n.status == NodeStatus::Failed);
        let unnamed = self
            .about(node)
            .is_some_and(|about| about.soft || about.anonymous);
        self.close(node, said);
        let (tie, by) = (self.tie(at), self.tied_by(at));
        if let Some(made) = self.node_mut(node) {
            // Nobody said that it was tried again, but it was.
            made.attempts = made.attempts.saturating_add(u32::from(failed));
            // A remark that came first gives way to the name.
            if unnamed && !text.is_empty() && made.kind == NodeKind::Statement {
                made.text = text.clone();
                if let Some((_, guessed, statement)) = tie {
                    made.line = Some(statement.line);
                    made.line_guessed = guessed;
                    made.line_by = by;
                    made.text = if guessed {
                        text.clone()
                    } else {
                        statement.text.as_str().into()
                    };
                }
            }
        }
        if let (Some(about), Some((statement, ..))) = (self.about.get_mut(node as usize), tie) {
            about.statement = about.statement.or(Some(statement));
        }
        self.remember(spot.place, line, text, node);
    }

    /// `3→ ✓` behind the branches of parallel 3, `5→ ✓` behind the rounds of loop 5, `5→ implement ✓` for a block.
    fn closes_construct(
        &mut self,
        at: usize,
        line: &LogLine,
        scope: Place,
        text: &Text,
        status: &Option<Status>,
    ) -> bool {
        let Some(status) = status
            .as_ref()
            .filter(|s| matches!(s, Status::Completed | Status::Failed))
        else {
            return false;
        };
        if let Some(id) = line.frame
            && text.is_empty()
            && line.branch.is_none()
            && self.ahead.is_last_of(id, at)
            && self.ahead.left_at(id, at).is_none()
            && let Some(node) = self.frame_with_id(id)
            && self
                .kids
                .get(&Some(node))
                .is_some_and(|kids| !kids.is_empty())
        {
            self.leave_node(at, node, status);
            return true;
        }
        if line.branch.is_some() {
            return false;
        }
        if let Some(node) = self
            .nameless_frame(line, text)
            .filter(|_| line.frame.is_none())
        {
            self.leave_node(at, node, status);
            return true;
        }
        if !text.is_empty() {
            return false;
        }
        if let Some(parallel) = self
            .parallels
            .get(&(scope, line.number))
            .map(|p| p.node)
            .filter(|p| self.is_open(*p))
        {
            self.tell(parallel, at);
            self.close(parallel, word(status));
            return true;
        }
        let own = |l: &Loop| line.number.is_some() && l.number == line.number && l.end < at;
        let Some(depth) = self
            .loops
            .get(&scope)
            .and_then(|loops| loops.iter().rposition(own))
        else {
            return false;
        };
        while self
            .loops
            .get(&scope)
            .is_some_and(|loops| loops.len() > depth + 1)
        {
            self.finish_loop(scope, true);
        }
        if let Some(node) = self
            .loops
            .get(&scope)
            .and_then(|loops| loops.last())
            .map(|l| l.node)
        {
            self.tell(node, at);
        }
        self.exit(scope, word(status));
        true
    }

    /// Where a statement's node stands, or the node itself when it is a branch.
    fn spot(&mut self, at: usize, line: &LogLine, scope: Place) -> Spot {
        let text = match &line.event {
            LogEvent::Statement { text, .. } | LogEvent::Retry { text, .. } => text.clone(),
            _ => Text::from(""),
        };
        if let Some(branch) = scope.filter(|s| line.branch.is_some() && self.is_branch(*s)) {
            let name = match self.node(branch).map(|n| &n.kind) {
                Some(NodeKind::Branch { branch }) => branch.clone(),
                _ => Text::from(""),
            };
            if text.is_empty() || text == name {
                return Spot {
                    place: scope,
                    own: Some(branch),
                };
            }
            let place = self.inside(at, line, scope);
            return Spot { place, own: None };
        }
        // `3→ a ✓` while parallel 3 has a branch a.
        let key = (scope, line.number);
        let parallel = self.parallels.get(&key).filter(|p| p.announces(&text));
        if parallel
            .map(|p| p.node)
            .is_some_and(|node| self.is_open(node))
        {
            let branch = self.branch_named(at, line, key, &text);
            return Spot {
                place: scope,
                own: Some(branch),
            };
        }
        Spot {
            place: self.inside(at, line, scope),
            own: None,
        }
    }

    fn is_branch(&self, at: u32) -> bool {
        self.node(at)
            .is_some_and(|n| matches!(n.kind, NodeKind::Branch { .. }))
    }

    /// The instance that a line goes on with: open or failed, of the same number, and of the same name where it has
    /// one.
    fn known(&self, place: Place, line: &LogLine, text: &Text) -> Option<u32> {
        let goes_on = |node: &u32| {
            self.node(*node).is_some_and(|n| {
                let statement = matches!(n.kind, NodeKind::Statement | NodeKind::Branch { .. });
                statement && (n.status.is_open() || n.status == NodeStatus::Failed)
            })
        };
        let latest = || {
            self.latest
                .get(&(place, line.number))
                .copied()
                .filter(goes_on)
        };
        if text.is_empty() {
            return latest();
        }
        let named = self
            .named
            .get(&(place, line.number, text.clone()))
            .copied()
            .filter(goes_on);
        // A remark, or an attempt without a name.
        named.or_else(|| {
            let at = latest()?;
            let about = self.about.get(at as usize)?;
            (about.soft || about.anonymous || self.node(at)?.status == NodeStatus::Retry)
                .then_some(at)
        })
    }

    fn remember(&mut self, place: Place, line: &LogLine, text: &Text, node: u32) {
        self.latest.insert((place, line.number), node);
        if !text.is_empty() {
            self.named.insert((place, line.number, text.clone()), node);
        }
    }
}
