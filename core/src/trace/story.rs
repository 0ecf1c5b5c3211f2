//! What happened, told by lines or marks in order: each thing with what it lies in, until all of it is a tree.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::issue::{Issue, Severity};
use crate::model::{Run, Text};
use crate::program::{Listing, Tie};
use crate::trace::emit::derived;
use crate::trace::rows::{self, Ledger, NONE};
use crate::trace::words::leaves_branches;
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Nodes, gates, preorder};

/// Announced branches that are listed though no line speaks of them.
const MOST_ANNOUNCED: usize = 10_000;

/// A thing's place in its story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trace) struct At(u32);

impl At {
    pub(in crate::trace) fn new(place: u32) -> At {
        At(place)
    }

    /// Its node, among those of all.
    pub(in crate::trace) fn node(self, of: &[Option<NodeId>]) -> Option<NodeId> {
        of.get(self.0 as usize).copied().flatten()
    }
}

/// What something lies in; `None` is the root.
pub(in crate::trace) type Place = Option<At>;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(in crate::trace) struct Happening {
    pub(in crate::trace) kind: NodeKind,
    pub(in crate::trace) status: NodeStatus,
    /// The words that tell of it.
    pub(in crate::trace) text: Text,
    /// What it is called where neither it nor its statement has a text.
    pub(in crate::trace) label: Text,
    /// The statement that it is tied to.
    pub(in crate::trace) tie: Option<Tie>,
    /// It is tied by where it stands: nothing names its statement.
    pub(in crate::trace) by_place: bool,
    /// The last line that tells of it.
    pub(in crate::trace) line: Option<u32>,
    /// The id by which bindings name it.
    pub(in crate::trace) id: Option<i64>,
    /// Which attempt it is; 0: not said.
    pub(in crate::trace) attempts: u32,
    /// The most attempts or rounds.
    pub(in crate::trace) max: Option<u32>,
    /// No line says it: it follows from another.
    pub(in crate::trace) derived: bool,
    /// Its place was inferred, not recorded.
    pub(in crate::trace) inferred: bool,
    /// The branches of a parallel.
    pub(in crate::trace) announced: Vec<Text>,
    pub(in crate::trace) failed: bool,
    pub(in crate::trace) parent: Place,
    /// Of a loop, the round that is under way, and the number of the last.
    pub(in crate::trace) round: Place,
    pub(in crate::trace) rounds: u32,
    pub(in crate::trace) rows: Recorded,
}

/// What rows record beside.
#[derive(Debug, Clone, Default)]
pub(in crate::trace) struct Recorded {
    /// The ids of all but its first row.
    pub(in crate::trace) aliases: Vec<i64>,
    /// The places of its first row, and of its last.
    pub(in crate::trace) ends: Option<(u32, u32)>,
    /// Its depth.
    pub(in crate::trace) depth: Option<i64>,
    /// A branch that is the call of a block.
    pub(in crate::trace) calls: bool,
    /// A parallel that may go on without all of its branches, where that is recorded.
    pub(in crate::trace) drops: Option<bool>,
    /// Ended by force, whatever was open in it.
    pub(in crate::trace) cuts: bool,
}

impl Happening {
    pub(in crate::trace) fn new(kind: NodeKind, status: NodeStatus) -> Happening {
        Happening {
            kind,
            status,
            text: "".into(),
            label: "".into(),
            tie: None,
            by_place: false,
            line: None,
            id: None,
            attempts: 0,
            max: None,
            derived: false,
            inferred: false,
            announced: Vec::new(),
            failed: false,
            parent: None,
            round: None,
            rounds: 0,
            rows: Recorded::default(),
        }
    }
}

/// Things in the order in which they happened.
#[derive(Debug, Default)]
pub(in crate::trace) struct Story {
    list: Vec<Happening>,
    /// Things that belong before another one, by that one.
    early: BTreeMap<At, At>,
}

impl Story {
    pub(in crate::trace) fn get(&self, at: At) -> Option<&Happening> {
        self.list.get(at.0 as usize)
    }

    pub(in crate::trace) fn get_mut(&mut self, at: At) -> Option<&mut Happening> {
        self.list.get_mut(at.0 as usize)
    }

    /// Adds the next thing. In a loop it lies in the round that is under way.
    pub(in crate::trace) fn add(&mut self, parent: Place, new: Happening) -> At {
        let parent = parent.map(|parent| self.inside(parent));
        self.push(parent, new)
    }

    /// Adds the next thing, which lies directly in another.
    pub(in crate::trace) fn push(&mut self, parent: Place, mut new: Happening) -> At {
        new.parent = parent;
        new.failed |= new.status == NodeStatus::Failed;
        let again = u32::from(new.status == NodeStatus::Retry);
        new.attempts = new.attempts.max(1 + again);
        self.list.push(new);
        At(self.list.len() as u32 - 1)
    }

    /// Adds a thing that happened before one beside it that is there already.
    pub(in crate::trace) fn add_before(&mut self, later: At, new: Happening) -> At {
        let parent = self.get(later).and_then(|later| later.parent);
        let at = self.push(parent, new);
        self.early.insert(at, later);
        at
    }

    /// Goes on with a thing that is there: `more` is the newer.
    pub(in crate::trace) fn go_on(&mut self, at: At, more: Happening) {
        let ends = match more.status {
            NodeStatus::Completed => Some(NodeStatus::Completed),
            ref status if !status.is_open() => Some(NodeStatus::CutOff),
            _ => None,
        };
        let Some(own) = self.get_mut(at) else { return };
        own.attempts = match more.status {
            NodeStatus::Retry => own.attempts.saturating_add(1).max(more.attempts),
            _ => own.attempts.max(more.attempts),
        };
        own.failed |= more.status == NodeStatus::Failed;
        if own.text.trim().is_empty() {
            own.text = more.text;
        }
        let is_surer = |tie: &Tie| own.tie.is_none_or(|own| own.guessed && !tie.guessed);
        if let Some(tie) = more.tie.filter(is_surer) {
            own.tie = Some(tie);
        }
        own.max = more.max.or(own.max);
        (own.status, own.line) = (more.status, more.line);
        (own.derived, own.inferred) = (more.derived, more.inferred);
        if let Some(status) = ends {
            self.end_round(at, status);
        }
    }

    /// Begins a round of a loop: the one before is over. `derived`: nothing but its number is known.
    pub(in crate::trace) fn round(&mut self, looped: At, n: u32, derived: bool) {
        let Some(own) = self.get(looped) else { return };
        if own.rounds == n && own.round.is_some() {
            return;
        }
        self.end_round(looped, NodeStatus::Completed);
        let mut round = Happening::new(NodeKind::Round { n }, NodeStatus::Started);
        round.text = format!("round {n}").into();
        round.derived = derived;
        let round = self.push(Some(looped), round);
        if let Some(own) = self.get_mut(looped) {
            (own.round, own.rounds) = (Some(round), n);
        }
    }

    /// Ends the round of a loop that is under way.
    pub(in crate::trace) fn end_round(&mut self, looped: At, status: NodeStatus) {
        let round = self.get_mut(looped).and_then(|own| own.round.take());
        if let Some(round) = round.and_then(|round| self.get_mut(round)) {
            round.status = status;
        }
    }

    /// What lies in a thing lies in the round of it that is under way.
    fn inside(&mut self, at: At) -> At {
        let Some(own) = self.get(at) else { return at };
        match own.round {
            Some(round) => round,
            // Something runs after the end of a round.
            None if own.rounds > 0 && own.status.is_open() => {
                let n = own.rounds.saturating_add(1);
                self.round(at, n, false);
                self.get(at).and_then(|own| own.round).unwrap_or(at)
            }
            None => at,
        }
    }

    /// The nodes, in preorder; and the node of each thing. The gates are tied by their names.
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
        let gates = gates::by_name(run, names, gates::Ties::of_all(run));
        for own in &self.list {
            note_rounds(own, ledger);
        }
        for (at, gate) in &gates.of_inst {
            let gate = run.gates.get(*gate).map(gates::status);
            if let (Some(own), Some(status)) = (self.get_mut(At(*at)), gate) {
                own.status = status;
            }
        }
        self.nodes(run, program, &gates, ledger)
    }

    /// The nodes, in preorder, with the gates that nothing tells of behind them; and the node of each thing.
    pub(in crate::trace) fn nodes(
        mut self,
        run: &Run,
        program: Option<&Listing>,
        gates: &gates::Ties,
        ledger: &mut Ledger,
    ) -> (Nodes, Vec<Option<NodeId>>) {
        self.announce(ledger);
        let mut order: Vec<(u32, bool, u32)> = (0..self.list.len() as u32)
            .map(|at| match self.early.get(&At(at)) {
                Some(later) => (later.0, false, at),
                None => (at, true, at),
            })
            .collect();
        order.sort_unstable();
        let mut place = vec![NONE; order.len()];
        for (new, (_, _, at)) in (0..).zip(&order) {
            if let Some(place) = place.get_mut(*at as usize) {
                *place = new;
            }
        }
        let place_of = |at: At| place.get(at.0 as usize).copied().unwrap_or(NONE);
        let mut parents = Vec::with_capacity(order.len());
        for (_, _, at) in &order {
            let parent = self.get(At(*at)).and_then(|own| own.parent);
            parents.push(parent.map_or(NONE, place_of));
        }
        let mut node_of: Vec<Option<NodeId>> = vec![None; order.len()];
        let mut nodes = Nodes::with_capacity(order.len());
        let mut above: Vec<Above> = Vec::with_capacity(order.len());
        for new in preorder::order(&parents) {
            let Some((_, _, at)) = order.get(new as usize) else {
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

    /// Branches that a parallel announced and no line speaks of.
    fn announce(&mut self, ledger: &mut Ledger) {
        if self.list.iter().all(|own| own.announced.is_empty()) {
            return;
        }
        let mut seen: BTreeSet<(At, Text)> = BTreeSet::new();
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
            let at = At(at as u32);
            for branch in std::mem::take(&mut own.announced) {
                if !seen.insert((at, branch.clone())) {
                    continue;
                }
                if left == 0 {
                    let id = self.get(at).and_then(|own| own.id);
                    ledger.note(Severity::Info, "branches-not-listed", || match id {
                        Some(id) => rows::at(
                            id,
                            format!("execution {id} announces more branches than are listed"),
                            "No row speaks of them.",
                        ),
                        None => {
                            Issue::info("", "a parallel announces more branches than are listed")
                                .hint("No line speaks of them.")
                        }
                    });
                    return;
                }
                left -= 1;
                let status = match over {
                    true => NodeStatus::Skipped,
                    false => NodeStatus::Pending,
                };
                let text = branch.clone();
                let mut new = Happening::new(NodeKind::Branch { branch }, status);
                (new.text, new.derived, new.parent) = (text, true, Some(at));
                self.list.push(new);
            }
        }
    }
}

/// Notes a loop that counts more rounds than it may have.
fn note_rounds(own: &Happening, ledger: &mut Ledger) {
    if let Some(max) = own.max.filter(|max| own.rounds > *max) {
        let rounds = own.rounds;
        ledger.note(Severity::Warning, "round-number", || {
            let message = format!("a loop counts {rounds} rounds, but its maximum is {max}");
            let hint = "Both are shown as recorded; one of them is wrong.";
            Issue::info("", message).hint(hint)
        });
    }
}

/// What something hands down to what lies in it.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// Frames on the way, itself included.
    frames: u32,
    /// In a branch that its parallel went on without, or ended by force.
    dropped: bool,
    /// A parallel that is over and may go on without all of its branches.
    drops: bool,
}

/// The node of a thing.
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
    // Of lines, the statement's where the tie is sure, else the first words.
    let text = match statement {
        _ if own.rows.ends.is_some() => words,
        Some(statement) if !guessed || words.trim().is_empty() => statement.text.as_str().into(),
        None if words.trim().is_empty() => std::mem::take(&mut own.label),
        _ => words,
    };
    let by = own.tie.map(|tie| tie.by).filter(|_| !own.by_place);
    let tried = own.failed || own.attempts > 1;
    let is_branch = matches!(own.kind, NodeKind::Branch { .. });
    let is_frame = own.kind.is_frame() || own.rows.calls;
    let frames = above.frames.saturating_add(u32::from(is_frame));
    if let NodeKind::Frame { depth, .. } = &mut own.kind {
        *depth = frames;
        note_depth(own.id, own.rows.depth, frames, own.parent, ledger);
    }
    let open = own.status.is_open();
    let dropped = open && (above.dropped || above.drops && is_branch);
    let drops = || own.rows.drops.unwrap_or_else(|| leaves_branches(&text));
    let below = Above {
        frames,
        dropped: dropped || own.rows.cuts,
        drops: own.kind == NodeKind::Parallel && !open && drops(),
    };
    let status = match dropped {
        true => NodeStatus::Abandoned,
        false => own.status.clone(),
    };
    let node = Node {
        id: own.id,
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
        ..derived(own.kind.clone(), text, status)
    };
    (node, below)
}

/// The writer's depth is only compared (trace.md 6).
fn note_depth(
    id: Option<i64>,
    said: Option<i64>,
    counted: u32,
    parent: Place,
    ledger: &mut Ledger,
) {
    let (Some(id), Some(depth)) = (id, said.filter(|said| *said != i64::from(counted))) else {
        return;
    };
    let hint = match parent {
        None => "Its row names no parent, so it lies at the root.",
        Some(_) => "Depth is counted along the parents; the recorded number is only compared.",
    };
    ledger.note(Severity::Warning, "depth-mismatch", || {
        let message = format!("execution {id} says depth {depth}, but {counted} is counted");
        rows::at(id, message, hint)
    });
}
