//! Converts a story into nodes in preorder, with the properties that parents pass to their children.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Happening, Story, StoryAt, StoryParent};
use crate::model::issue::{Issue, Severity};
use crate::model::{Run, Text};
use crate::program::Listing;
use crate::trace::rows::{self, Ledger, NONE};
use crate::trace::words::leaves_branches;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Nodes, gates, preorder};

/// Maximum number of listed branches that were announced but have no record. The number of happenings is added.
const MOST_ANNOUNCED: usize = 10_000;

impl Story {
    /// Returns the nodes in preorder, and the node of each happening. Gates are tied by name.
    pub(in crate::trace) fn finish(
        mut self,
        run: &Run,
        program: Option<&Listing>,
        ledger: &mut Ledger,
    ) -> (Nodes, Vec<Option<NodeId>>) {
        let mut names: BTreeMap<&str, VecDeque<u32>> = BTreeMap::new();
        for (at, own) in (0..).zip(&self.list) {
            if let NodeKind::Gate { gate } = &own.kind {
                names.entry(gate).or_default().push_back(at);
            }
        }
        let gates = gates::by_name(run, names, gates::GateTies::of_all(run));
        for own in &self.list {
            note_rounds(own, ledger);
        }
        for (at, gate) in &gates.of_inst {
            let gate = run.gates.get(*gate).map(gates::status);
            if let (Some(own), Some(status)) = (self.get_mut(StoryAt(*at)), gate) {
                own.status = status;
            }
        }
        self.nodes(run, program, &gates, ledger)
    }

    /// Returns the nodes in preorder, followed by gates without another record; and the node of each happening.
    pub(in crate::trace) fn nodes(
        mut self,
        run: &Run,
        program: Option<&Listing>,
        gates: &gates::GateTies,
        ledger: &mut Ledger,
    ) -> (Nodes, Vec<Option<NodeId>>) {
        self.announce(ledger);
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        if !self.early.is_empty() {
            order.sort_by_key(|at| match self.early.get(&StoryAt(*at)) {
                Some(later) => (later.0, false),
                None => (*at, true),
            });
        }
        let mut place = vec![NONE; order.len()];
        for (new, at) in (0..).zip(&order) {
            if let Some(place) = place.get_mut(*at as usize) {
                *place = new;
            }
        }
        let place_of = |at: StoryAt| place.get(at.0 as usize).copied().unwrap_or(NONE);
        let mut parents = Vec::with_capacity(order.len());
        for at in &order {
            let parent = self.get(StoryAt(*at)).and_then(|own| own.parent);
            parents.push(parent.map_or(NONE, place_of));
        }
        let mut node_of: Vec<Option<NodeId>> = vec![None; order.len()];
        let mut nodes = Nodes::with_capacity(order.len());
        let mut above: Vec<Above> = Vec::with_capacity(order.len());
        for new in preorder::order(&parents) {
            let Some(at) = order.get(new as usize) else {
                continue;
            };
            let Some(own) = self.list.get_mut(*at as usize) else {
                continue;
            };
            let parent = own.parent.and_then(|at| at.node(&node_of));
            let outer = parent.and_then(|parent| above.get(usize::from(parent)));
            let (mut node, inner) = node(own, program, outer.copied().unwrap_or_default(), ledger);
            node.parent = parent;
            above.push(inner);
            let id = nodes.push_and_get_key(node);
            if let Some(slot) = node_of.get_mut(*at as usize) {
                *slot = Some(id);
            }
        }
        for gate in gates.alone.iter().filter_map(|at| run.gates.get(*at)) {
            nodes.push(gates::alone(gate));
        }
        preorder::measure(&mut nodes);
        (nodes, node_of)
    }

    /// Adds branches that a parallel block announced but that have no record.
    fn announce(&mut self, ledger: &mut Ledger) {
        if self.list.iter().all(|own| own.announced.is_empty()) {
            return;
        }
        let mut seen: BTreeSet<(StoryAt, Text)> = BTreeSet::new();
        for own in &self.list {
            if let (NodeKind::Branch { branch }, Some(parent)) = (&own.kind, own.parent) {
                seen.insert((parent, branch.clone()));
            }
        }
        let mut left = self.list.len() + MOST_ANNOUNCED;
        for at in 0..self.list.len() {
            let Some(own) = self.list.get_mut(at) else {
                break;
            };
            let over = !own.status.is_open();
            let at = StoryAt(at as u32);
            for branch in std::mem::take(&mut own.announced) {
                if !seen.insert((at, branch.clone())) {
                    continue;
                }
                if left == 0 {
                    let id = self.get(at).and_then(|own| own.id);
                    ledger.note(Severity::Note, "branches-not-listed", || match id {
                        Some(id) => rows::at(
                            id,
                            format!("execution {id} announces more branches than are listed"),
                            "The additional branches have no rows.",
                        ),
                        None => Issue::noted(
                            "",
                            "a parallel block announces more branches than are listed",
                        )
                        .hint("The additional branches have no lines."),
                    });
                    return;
                }
                left -= 1;
                let status = if over {
                    NodeStatus::Skipped
                } else {
                    NodeStatus::Pending
                };
                let text = branch.clone();
                let mut new = Happening::new(NodeKind::Branch { branch }, status);
                (new.text, new.derived, new.parent) = (text, true, Some(at));
                self.list.push(new);
            }
        }
    }
}

/// Reports a loop that counts more rounds than its maximum.
fn note_rounds(own: &Happening, ledger: &mut Ledger) {
    if let Some(max) = own.max.filter(|max| own.rounds > *max) {
        let rounds = own.rounds;
        ledger.note(Severity::Warning, "round-number", || {
            let message = format!("a loop counts {rounds} rounds, but its maximum is {max}");
            let hint = "Both numbers are shown as recorded, but one of the two is wrong.";
            Issue::noted("", message).hint(hint)
        });
    }
}

/// Properties that a node passes to its children.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// The number of frames from the root down to the node, including the node.
    frames: u32,
    /// Whether the node is in a branch that its parallel block did not wait for, or in a node that was ended by force.
    dropped: bool,
    /// Whether the node is a finished parallel block that need not wait for all branches.
    drops: bool,
}

/// Returns the node of a happening, and the properties that the node passes to its children.
fn node(
    own: &mut Happening,
    program: Option<&Listing>,
    above: Above,
    ledger: &mut Ledger,
) -> (Node, Above) {
    let statement = own.tie.zip(program);
    let statement = statement.and_then(|(tie, program)| program.get(tie.statement));
    let guessed = own.tie.is_some_and(|tie| tie.guessed);
    let words = std::mem::take(&mut own.text);
    // A happening without rows gets its statement's text if the tie is certain, otherwise its own text or its label.
    let text = match statement {
        _ if own.rows.ends.is_some() => words,
        Some(statement) if !guessed || words.trim().is_empty() => statement.text.as_str().into(),
        None if words.trim().is_empty() => own.label.take().unwrap_or_default(),
        _ => words,
    };
    let by = own.tie.map(|tie| tie.by).filter(|_| !own.by_place);
    let tried = own.failed || own.attempts > 1;
    let is_branch = matches!(own.kind, NodeKind::Branch { .. });
    let is_frame = matches!(own.kind, NodeKind::Frame { .. }) || own.rows.calls;
    let frames = above.frames.saturating_add(u32::from(is_frame));
    if let NodeKind::Frame { depth, .. } = &mut own.kind {
        *depth = frames;
        note_depth(own.id, own.rows.depth, frames, own.parent, ledger);
    }
    let open = own.status.is_open();
    let dropped = open && (above.dropped || above.drops && is_branch);
    let drops = || own.rows.drops.unwrap_or_else(|| leaves_branches(&text));
    // A round passes its loop's properties on to its children, because the round ends with the loop.
    let is_round = matches!(own.kind, NodeKind::Round { .. });
    let below = Above {
        frames,
        dropped: dropped || own.rows.cuts || is_round && above.dropped,
        drops: own.kind == NodeKind::Parallel && !open && drops(),
    };
    let status = if dropped {
        NodeStatus::Abandoned
    } else {
        std::mem::replace(&mut own.status, NodeStatus::Unknown)
    };
    let kind = std::mem::replace(&mut own.kind, NodeKind::Statement);
    let node = Node {
        id: own.id,
        is_frame,
        aliases: std::mem::take(&mut own.rows.aliases),
        recovered: status == NodeStatus::Completed && tried,
        line: statement.map(|statement| statement.line),
        line_guessed: statement.is_some() && guessed,
        line_by: by.filter(|_| statement.is_some()),
        attempts: own.attempts.max(1),
        max: own.max,
        inferred: own.inferred,
        state_line: own.line,
        first_row: own.rows.ends.map(|(first, _)| first),
        last_row: own.rows.ends.map(|(_, last)| last),
        derived: own.derived || dropped,
        ..Node::without_row(kind, text, status)
    };
    (node, below)
}

/// Reports a wrong depth in a row; the recorded depth has no other use (errata T6).
fn note_depth(
    id: Option<i64>,
    said: Option<i64>,
    counted: u32,
    parent: StoryParent,
    ledger: &mut Ledger,
) {
    let (Some(id), Some(depth)) = (id, said.filter(|said| *said != i64::from(counted))) else {
        return;
    };
    let hint = match parent {
        None => "The row does not name a parent, so the execution is shown at the root.",
        Some(_) => {
            "The depth that is counted along the parents is used. Look for a wrong `parent_id`."
        }
    };
    ledger.note(Severity::Warning, "depth-mismatch", || {
        let message =
            format!("execution {id} records depth {depth}, but its counted depth is {counted}");
        rows::at(id, message, hint)
    });
}
