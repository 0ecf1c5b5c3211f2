use std::collections::BTreeSet;

use super::index::{node_of_row, short};
use super::{Session, values};
use crate::issue::Location;
use crate::model::{Execution, LogEvent, LogLine, Status};
use crate::time::{Stamp, human_duration};
use crate::trace::{Node, NodeKind};
use crate::view::{BindingRef, Cell, NodeDetail, NodeRef, RowView, TracePage, TreeRow};

/// How much of a statement or an error a row shows.
const ROW_TEXT: usize = 400;
/// How much of a remark stands beside a row.
const NOTE: usize = 80;

/// How much of the way to a node is linked: deeper ones exist, but nobody walks up a hundred links.
const PATH: usize = 100;

impl Session {
    /// A window of the trace: `folded` holds the nodes whose children are hidden.
    pub fn trace_page(&self, folded: &BTreeSet<u32>, from: u32, len: u32) -> TracePage {
        let nodes = &self.trace.nodes;
        let mut page = TracePage {
            total: 0,
            from,
            rows: Vec::new(),
            note: self
                .unread()
                .iter()
                .find(|unread| unread.sealed)
                .map(|sealed| format!("{} is not readable: {}", sealed.what, sealed.why)),
            remarks: self.remarks_after(None),
        };
        let mut at = 0_usize;
        let mut folds = folded
            .iter()
            .copied()
            .map(|f| f as usize)
            .filter(|&f| nodes.get(f).is_some_and(|n| n.descendants > 0))
            .peekable();
        // Between two folds every node is visible: whole stretches are counted, not walked.
        while at < nodes.len() {
            while folds.peek().is_some_and(|&f| f < at) {
                folds.next();
            }
            let stop = folds.peek().map_or(nodes.len(), |&f| f + 1);
            let stretch = (stop - at) as u32;
            let (want_from, want_to) = (
                from.max(page.total),
                (from.saturating_add(len)).min(page.total + stretch),
            );
            for visible in want_from..want_to.max(want_from) {
                let node = at + (visible - page.total) as usize;
                let is_folded = node + 1 == stop && folds.peek() == Some(&node);
                if let Some(row) = self.tree_row(node as u32, is_folded) {
                    page.rows.push(row);
                }
            }
            page.total += stretch;
            at = match folds.next() {
                Some(f) => f + 1 + nodes.get(f).map_or(0, |n| n.descendants as usize),
                None => nodes.len(),
            };
        }
        page
    }

    /// The place of a node among the visible rows, or of the fold that hides it.
    pub fn trace_place(&self, folded: &BTreeSet<u32>, node: u32) -> u32 {
        let mut hidden = 0_u32;
        let mut skip_to = 0_u32;
        for &fold in folded.iter().take_while(|&&f| f < node) {
            let Some(at) = self.trace.nodes.get(fold as usize) else {
                break;
            };
            if fold < skip_to {
                continue;
            }
            let end = fold + at.descendants;
            if node <= end {
                return fold - hidden;
            }
            hidden += at.descendants;
            skip_to = end + 1;
        }
        node - hidden.min(node)
    }

    /// The next (or previous) cause of a failure, as seen from `node`: what failed, was not recovered, and has no such
    /// failure below it. Blocks around a cause failed because of it.
    pub fn next_failure(&self, node: Option<u32>, forward: bool) -> Option<u32> {
        let failed = |&(at, node): &(usize, &Node)| self.is_cause(at, node);
        let all = self.trace.nodes.iter().enumerate();
        let at = match (node, forward) {
            (Some(from), true) => all.skip(from as usize + 1).find(failed),
            (Some(from), false) => all.take(from as usize).rev().find(failed),
            (None, true) => {
                let mut all = all;
                all.find(failed)
            }
            (None, false) => all.rev().find(failed),
        };
        at.map(|(i, _)| i as u32)
    }

    /// Whether a node failed by itself, not because of what lies in it.
    pub(super) fn is_cause(&self, at: usize, node: &Node) -> bool {
        node.has_failed() && self.index.fails_below.get(at) != Some(&true)
    }

    /// One row of the trace.
    pub fn tree_row(&self, node: u32, folded: bool) -> Option<TreeRow> {
        let i = node as usize;
        let at = self.trace.nodes.get(i)?;
        let (first, last) = (self.execution(at.first_row), self.execution(at.last_row));
        let started = first.and_then(|e| e.started.clone());
        let ended = last
            .and_then(|e| e.completed.clone())
            .or_else(|| first.and_then(|e| e.completed.clone()));
        let duration_ms = span(&started, &ended);
        let (branch, round, depth, gate) = match &at.kind {
            NodeKind::Branch { branch } => (Some(branch.to_string()), None, None, None),
            NodeKind::Round { n } => (None, Some(*n), None, None),
            NodeKind::Frame { depth, .. } => (None, None, Some(*depth), None),
            NodeKind::Gate { gate } => (None, None, None, Some(gate.to_string())),
            _ => (None, None, None, None),
        };
        Some(TreeRow {
            node,
            id: at.id,
            aliases: at.aliases.clone(),
            level: at.level,
            descendants: at.descendants,
            children: self.index.children.get(i).copied().unwrap_or(0),
            place: self.index.place.get(i).copied().unwrap_or((1, 1)),
            folded,
            kind: at.kind.word().to_owned(),
            text: short(&at.text, ROW_TEXT),
            detail: self.detail_words(node, at),
            remarks: self.remarks_after(Some(node)),
            status: self.status_word(at).to_owned(),
            attempts: at.attempts,
            max: at.max,
            branch,
            round,
            depth,
            gate,
            duration: duration_ms.map(human_duration),
            duration_ms,
            started,
            ended,
            error: self.error_of(node, at).map(|e| short(e, ROW_TEXT)),
            bindings: self.wrote(node),
            line: at.line,
            line_guessed: at.line_guessed,
            recovered: at.recovered,
            inferred: at.inferred,
            derived: at.derived,
            position: self.trace.positions.binary_search(&i).is_ok(),
            first_cause: self.trace.first_cause == Some(i),
            because_of: self.trace.because_of.contains(&i),
        })
    }

    /// Everything that is known of a node; its rows are read from the store now.
    pub fn node_detail(&self, node: u32) -> Option<NodeDetail> {
        let row = self.tree_row(node, false)?;
        let at = self.trace.nodes.get(node as usize)?;
        let ids: Vec<i64> = at
            .id
            .into_iter()
            .chain(at.aliases.iter().copied())
            .take(200)
            .collect();
        let mut rows = values::execution_rows(self, &ids);
        rows.extend(self.told(node).take(200).map(told_row));
        let frame = match at.kind {
            NodeKind::Frame { .. } => at.id,
            _ => self
                .index
                .frame
                .get(node as usize)
                .copied()
                .flatten()
                .and_then(|f| self.trace.nodes.get(f as usize))
                .and_then(|f| f.id),
        };
        Some(NodeDetail {
            path: self
                .ancestors(node, PATH)
                .into_iter()
                .filter_map(|n| self.node_ref(n))
                .collect(),
            text: at.text.to_string(),
            error: self.error_of(node, at).map(str::to_owned),
            frame,
            line_why: at
                .line_by
                .filter(|_| at.line_guessed)
                .map(|by| by.why_guessed().to_owned()),
            properties: self
                .statement_of(at)
                .map_or_else(Vec::new, super::program::properties),
            inferred_why: self.inferred_words(at),
            issues: self
                .issues()
                .filter(|issue| {
                    let at = &issue.location;
                    let of_row = at.table.as_deref() == Some("execution")
                        && at.row.is_some_and(|r| ids.contains(&r));
                    of_row || self.node_of_line(at) == Some(node)
                })
                .cloned()
                .collect(),
            rows,
            row,
        })
    }

    /// What of a node's place was inferred, in a sentence.
    fn inferred_words(&self, node: &Node) -> Option<String> {
        let above = |node: &Node| self.trace.nodes.get(node.parent? as usize);
        let recorded = self.execution(node.first_row).and_then(|row| row.parent);
        node.inferred.then(|| match (recorded, above(node).map(|n| &n.kind)) {
            (Some(id), Some(NodeKind::Round { .. })) => format!(
                "Its row names execution {id} around it; which round it belongs to follows from the order of the rows."
            ),
            (Some(id), _) => format!(
                "Its row names execution {id} around it; where in there it belongs follows from the order of the rows."
            ),
            (None, _) => "No row records where it belongs; its place follows from the order of the rows.".to_owned(),
        })
    }

    /// The lines of a compact log that tell of a node.
    fn told(&self, node: u32) -> impl Iterator<Item = &LogLine> {
        let told = &self.trace.told;
        let from = told.partition_point(|(at, _)| *at < node);
        let own = told.get(from..).unwrap_or_default();
        let lines = self.run.log.as_ref().map_or(&[][..], |log| &log.lines);
        own.iter()
            .take_while(move |(at, _)| *at == node)
            .filter_map(|(_, line)| lines.get(*line as usize))
    }

    /// The node that a line of the run's log tells of.
    pub(super) fn node_of_line(&self, at: &Location) -> Option<u32> {
        let log = self.run.log.as_ref()?;
        let number = at.line.filter(|_| at.file.as_deref() == Some(&*log.file))?;
        let line = log.lines.binary_search_by_key(&number, |l| l.line).ok()?;
        let told = &self.index.told;
        let behind = told.partition_point(|(of, _)| *of as usize <= line);
        let (of, node) = told.get(behind.checked_sub(1)?)?;
        (*of as usize == line).then_some(*node)
    }

    /// A node as a link.
    pub fn node_ref(&self, node: u32) -> Option<NodeRef> {
        let at = self.trace.nodes.get(node as usize)?;
        let above = self.ancestors(node, 7);
        let cut = above.len().saturating_sub(6);
        let mut path: Vec<String> = above
            .iter()
            .skip(cut)
            .filter_map(|&n| self.trace.nodes.get(n as usize))
            .map(|n| short(&n.text, 40))
            .collect();
        if cut > 0 {
            path.insert(0, "…".to_owned());
        }
        Some(NodeRef {
            node,
            id: at.id,
            kind: at.kind.word().to_owned(),
            text: short(&at.text, ROW_TEXT),
            status: self.status_word(at).to_owned(),
            path: path.join(" › "),
            line: at.line,
            line_guessed: at.line.is_some() && at.line_guessed,
            error: self.error_of(node, at).map(|e| short(e, ROW_TEXT)),
        })
    }

    /// The node that a row of the store belongs to.
    pub fn node_of_row(&self, row: i64) -> Option<u32> {
        node_of_row(&self.trace, row)
    }

    /// What is above a node, from the outside in; of a longer way the nearest `most`.
    fn ancestors(&self, node: u32, most: usize) -> Vec<u32> {
        let parent = |node: &u32| self.trace.nodes.get(*node as usize)?.parent;
        let mut above: Vec<u32> = std::iter::successors(parent(&node), parent)
            .take(most)
            .collect();
        above.reverse();
        above
    }

    pub(super) fn execution(&self, row: Option<u32>) -> Option<&Execution> {
        self.run.executions.get(row? as usize)
    }

    pub(super) fn binding_ref(&self, binding: u32) -> Option<BindingRef> {
        let at = self.run.bindings.get(binding as usize)?;
        Some(BindingRef {
            binding,
            name: at.name.to_string(),
            execution_id: at.execution_id,
            overwritten: false,
            inferred: false,
        })
    }

    /// The word a person reads: a failure that was made good reads `recovered`.
    pub(super) fn status_word<'a>(&self, node: &'a Node) -> &'a str {
        if node.recovered && node.status == crate::trace::NodeStatus::Failed {
            "recovered"
        } else {
            node.status.word()
        }
    }

    /// The error of a node: that of its last row, or line of the log, which has one.
    pub(super) fn error_of(&self, at: u32, node: &Node) -> Option<&str> {
        let last = self
            .execution(node.last_row)
            .and_then(|e| e.error.as_deref());
        let of_row = |id: &i64| {
            let at = self
                .run
                .executions
                .binary_search_by_key(id, |e| e.id)
                .ok()?;
            self.run.executions.get(at)?.error.as_deref()
        };
        last.or_else(|| node.aliases.iter().rev().find_map(of_row))
            .or_else(|| {
                self.execution(node.first_row)
                    .and_then(|e| e.error.as_deref())
            })
            .or_else(|| node.error(&self.run).map(|error| &**error))
            .or_else(|| self.failed_line(at))
            .filter(|e| !e.trim().is_empty())
    }

    /// What the last line of a log that says that a node failed says of it.
    fn failed_line(&self, at: u32) -> Option<&str> {
        let failed = self.told(at).filter(|line| {
            matches!(
                line.event,
                LogEvent::Statement {
                    status: Some(Status::Failed),
                    ..
                }
            )
        });
        failed.last()?.note.as_deref()
    }

    fn detail_words(&self, index: u32, node: &Node) -> String {
        let meta = self
            .execution(node.first_row)
            .and_then(|e| e.meta.as_deref());
        let children = self
            .index
            .children
            .get(index as usize)
            .copied()
            .unwrap_or(0);
        // What no row says, the program may.
        let stated = self.statement_of(node).filter(|_| !node.line_guessed);
        let stated_text = |name: &str| stated.and_then(|s| s.property(name));
        let stated_max = |name: &str| stated.and_then(|s| s.number(name));
        let mut words: Vec<String> = Vec::new();
        match &node.kind {
            NodeKind::Parallel => {
                let strategy = meta.and_then(|m| m.strategy.as_deref());
                if let Some(strategy) = strategy.or_else(|| stated_text("strategy")) {
                    words.push(short(strategy, 40));
                }
                words.push(count(children, "branch", "branches"));
            }
            NodeKind::Loop => {
                let last_round = self
                    .trace
                    .nodes
                    .iter()
                    .skip(index as usize + 1)
                    .take(node.descendants as usize)
                    .filter(|n| n.parent == Some(index))
                    .filter_map(|n| {
                        if let NodeKind::Round { n } = n.kind {
                            Some(n)
                        } else {
                            None
                        }
                    })
                    .max();
                let max = node
                    .max
                    .or_else(|| stated_max("max").or(stated_max("count")));
                match (last_round, max) {
                    (Some(n), Some(max)) => words.push(format!("round {n} of {max}")),
                    (Some(n), None) => words.push(count(n, "round", "rounds")),
                    (None, Some(max)) => {
                        words.push(format!("at most {}", count(max, "round", "rounds")));
                    }
                    (None, None) => {}
                }
                let reason = self
                    .execution(node.last_row)
                    .and_then(|e| e.meta.as_deref())
                    .and_then(|m| m.reason.as_deref());
                if let Some(reason) = reason {
                    words.push(reason.replace('_', " "));
                }
            }
            NodeKind::Frame { depth, .. } => {
                if let Some(id) = node.id {
                    words.push(format!("frame {id}"));
                }
                words.push(format!("depth {depth}"));
            }
            NodeKind::Branch { .. } if node.derived => {
                words.push("announced, never seen".to_owned());
            }
            _ => {}
        }
        if node.attempts > 1 {
            let stated = stated_max("retry").filter(|max| *max >= node.attempts);
            words.push(match node.max.or(stated) {
                Some(max) if !matches!(node.kind, NodeKind::Loop) => {
                    format!("attempt {} of {max}", node.attempts)
                }
                _ => format!("attempt {}", node.attempts),
            });
        }
        if let Some(remark) = node.remark(&self.run) {
            words.push(short(remark, NOTE));
        }
        words.join(" · ")
    }
}

impl Session {
    /// What a log or a state file remarks after a node, or before the first.
    pub(crate) fn remarks_after(&self, node: Option<u32>) -> Vec<String> {
        let all = &self.trace.remarks;
        let from = all.partition_point(|(after, _)| *after < node);
        let own = all
            .iter()
            .skip(from)
            .take_while(|(after, _)| *after == node);
        own.map(|(_, line)| short(line, ROW_TEXT)).collect()
    }
}

/// A line of a log as a row of the store.
fn told_row(line: &LogLine) -> RowView {
    let cell = Cell {
        stored: "text".to_owned(),
        text: short(&line.raw, 4 * ROW_TEXT),
        len: line.raw.len() as u64,
        cut: line.raw.chars().count() > 4 * ROW_TEXT,
    };
    RowView {
        id: i64::from(line.line),
        columns: vec![("line".to_owned(), cell)],
    }
}

pub(super) fn span(from: &Option<Stamp>, to: &Option<Stamp>) -> Option<i64> {
    let (from, to) = (from.as_ref()?.millis()?, to.as_ref()?.millis()?);
    // Two equal times are one moment that was recorded twice, not a duration of nothing.
    (to > from).then_some(to - from)
}

/// `1 branch`, `3 branches`.
pub(super) fn count(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
