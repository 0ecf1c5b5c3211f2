//! Pairs the rows of two runs that correspond to each other.
//!
//! Rows are paired from the top down: two rows can only correspond if the rows around them correspond. So a statement
//! in a call of a block is compared with the statement in the corresponding call, and a round with the round of the
//! same number. Among the children of a pair, rows with equal keys are paired in order: first by statement and text,
//! then by statement, then by text. Each step sorts and looks up keys, so the time grows hardly faster than the number
//! of rows, even for 50,000 siblings.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use super::programs::{Pair, Pairs, certain};
use crate::pages::session::Opened;
use crate::trace::{Node, NodeId, NodeKind};

/// An aligned row: a pair of rows of both runs, or a row of only one run.
#[derive(Debug, Clone, Copy)]
pub(super) struct AlignedRow {
    pub(super) a: Option<NodeId>,
    pub(super) b: Option<NodeId>,
    /// The index of the entry around this entry; `None` at the top.
    pub(super) above: Option<u32>,
    pub(super) level: u32,
    /// Whether the pair is a guess: the two rows may not correspond.
    pub(super) guessed: bool,
}

impl AlignedRow {
    /// Returns whether both runs record the row.
    pub(super) fn is_pair(&self) -> bool {
        self.a.is_some() && self.b.is_some()
    }
}

/// All rows of two runs, in preorder.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    pub(super) entries: Vec<AlignedRow>,
    of_a: TiVec<NodeId, Option<u32>>,
    of_b: TiVec<NodeId, Option<u32>>,
}

impl Alignment {
    /// Returns the index of the entry that contains this row of A.
    pub(super) fn of_a(&self, node: NodeId) -> Option<u32> {
        self.of_a.get(node).copied().flatten()
    }

    /// Returns the index of the entry that contains this row of B.
    pub(super) fn of_b(&self, node: NodeId) -> Option<u32> {
        self.of_b.get(node).copied().flatten()
    }

    /// Returns an entry by its index.
    pub(super) fn get(&self, at: u32) -> Option<&AlignedRow> {
        self.entries.get(at as usize)
    }
}

/// Pairs the rows of two runs. `pairs` are the corresponding statements of their programs.
pub(super) fn align(a: &Opened, b: &Opened, pairs: Option<&Pairs>) -> Alignment {
    let sides = Sides { a, b, pairs };
    let mut aligned = Alignment {
        entries: Vec::with_capacity(a.trace().nodes.len().max(b.trace().nodes.len())),
        of_a: vec![None; a.trace().nodes.len()].into(),
        of_b: vec![None; b.trace().nodes.len()].into(),
    };
    let roots = |opened: &Opened| opened.trace().children(None).collect::<Vec<_>>();
    let mut open = sides.merged(&roots(a), &roots(b), None, 0);
    open.reverse();
    while let Some(entry) = open.pop() {
        let at = aligned.entries.len() as u32;
        aligned.entries.push(entry);
        if let Some(slot) = entry.a.and_then(|node| aligned.of_a.get_mut(node)) {
            *slot = Some(at);
        }
        if let Some(slot) = entry.b.and_then(|node| aligned.of_b.get_mut(node)) {
            *slot = Some(at);
        }
        let below = |opened: &Opened, node: Option<NodeId>| {
            let node = node.into_iter();
            node.flat_map(|node| opened.trace().children(Some(node)))
                .collect::<Vec<_>>()
        };
        let (of_a, of_b) = (below(a, entry.a), below(b, entry.b));
        let below = sides.merged(&of_a, &of_b, Some(at), entry.level.saturating_add(1));
        open.extend(below.into_iter().rev());
    }
    aligned
}

/// The key by which a row is found among its siblings.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SiblingKey<'o> {
    Round(u32),
    Gate(&'o str),
    Branch(&'o str),
    Statement(&'static str, u32, &'o str),
    Text(&'static str, &'o str),
    Block(&'o str),
}

/// A row with the facts that decide its pairing.
struct PairingRow<'o> {
    node: &'o Node,
    statement: Option<Pair>,
    /// Whether the row records its line, so that its statement is certain.
    sure: bool,
    borrows: bool,
}

struct Sides<'o> {
    a: &'o Opened,
    b: &'o Opened,
    pairs: Option<&'o Pairs>,
}

impl<'o> Sides<'o> {
    fn row_of_a(&self, at: NodeId) -> Option<PairingRow<'o>> {
        self.row(self.a, at, |own| Some(certain(own)))
    }

    fn row_of_b(&self, at: NodeId) -> Option<PairingRow<'o>> {
        self.row(self.b, at, |own| self.pairs?.of(own))
    }

    /// Returns a row of a run. `in_a` maps a statement of the run's program to the corresponding statement of A's.
    fn row(
        &self,
        of: &'o Opened,
        at: NodeId,
        in_a: impl Fn(u32) -> Option<Pair>,
    ) -> Option<PairingRow<'o>> {
        let node = of.trace().node(at)?;
        // If one of the programs is missing, lines of the two runs cannot be compared.
        let listing = self.pairs.and(of.listing());
        let own = listing
            .zip(node.line)
            .and_then(|(listing, line)| listing.begun_at(line));
        Some(PairingRow {
            node,
            statement: own.and_then(in_a).map(|pair| Pair {
                guessed: pair.guessed || node.line_guessed,
                ..pair
            }),
            sure: own.is_some() && !node.line_guessed,
            borrows: of.trace().borrows_line(node),
        })
    }

    /// Pairs the children of a pair and merges them in the order of A. A row that only B has comes after its
    /// predecessor in B.
    fn merged(
        &self,
        of_a: &[NodeId],
        of_b: &[NodeId],
        above: Option<u32>,
        level: u32,
    ) -> Vec<AlignedRow> {
        let mut pairing = Pairing {
            a: of_a.iter().map(|at| self.row_of_a(*at)).collect(),
            b: of_b.iter().map(|at| self.row_of_b(*at)).collect(),
            of_a: vec![None; of_a.len()],
            of_b: vec![None; of_b.len()],
        };
        if !of_a.is_empty() && !of_b.is_empty() {
            pairing.all();
        }
        let Pairing {
            of_a: pairs,
            of_b: paired,
            ..
        } = pairing;
        let mut after: BTreeMap<Option<usize>, Vec<NodeId>> = BTreeMap::new();
        let mut last = None;
        for (node, pair) in of_b.iter().zip(&paired) {
            match pair {
                Some(_) => last = *pair,
                None => after.entry(last).or_default().push(*node),
            }
        }
        let only_b = |node: NodeId| AlignedRow {
            a: None,
            b: Some(node),
            above,
            level,
            guessed: false,
        };
        let mut merged: Vec<AlignedRow> = Vec::with_capacity(of_a.len());
        merged.extend(after.remove(&None).into_iter().flatten().map(only_b));
        for (at, (node, pair)) in of_a.iter().zip(&pairs).enumerate() {
            merged.push(AlignedRow {
                a: Some(*node),
                b: pair.and_then(|(b, _)| of_b.get(b).copied()),
                above,
                level,
                guessed: pair.is_some_and(|(_, guessed)| guessed),
            });
            merged.extend(after.remove(&Some(at)).into_iter().flatten().map(only_b));
        }
        merged
    }
}

/// The pairing of siblings, while it is being computed.
struct Pairing<'o> {
    a: Vec<Option<PairingRow<'o>>>,
    b: Vec<Option<PairingRow<'o>>>,
    /// The index in B of each row of A, and whether that pair is a guess.
    of_a: Vec<Option<(usize, bool)>>,
    of_b: Vec<Option<usize>>,
}

impl<'o> Pairing<'o> {
    fn all(&mut self) {
        self.by(
            |row| named(row).or_else(|| statement(row, row.node.text.trim())),
            |row| named(row).or_else(|| statement(row, row.node.text.trim())),
        );
        self.by(|row| statement(row, ""), |row| statement(row, ""));
        // Rows that certainly belong to two different statements do not correspond, even if their texts are equal.
        self.by(text, |row| text(row).filter(|_| !row.sure));
        self.by(|row| text(row).filter(|_| !row.sure), text);
        self.by(block, |row| block(row).filter(|_| !row.sure));
        self.by(|row| block(row).filter(|_| !row.sure), block);
    }

    /// Pairs the remaining rows with equal keys, in order.
    fn by<'k>(
        &mut self,
        of_a: impl Fn(&PairingRow<'o>) -> Option<SiblingKey<'k>>,
        of_b: impl Fn(&PairingRow<'o>) -> Option<SiblingKey<'k>>,
    ) {
        let mut there: BTreeMap<SiblingKey<'k>, Vec<usize>> = BTreeMap::new();
        for (at, (row, paired)) in self.b.iter().zip(&self.of_b).enumerate().rev() {
            if let (Some(row), None) = (row, paired)
                && let Some(key) = of_b(row)
            {
                // The rows are added in reverse order, so that `pop` returns the first one.
                there.entry(key).or_default().push(at);
            }
        }
        if there.is_empty() {
            return;
        }
        for (at, (row, pair)) in self.a.iter().zip(&mut self.of_a).enumerate() {
            if let (Some(row), None) = (row, &pair)
                && let Some(key) = of_a(row)
                && let Some(found) = there.get_mut(&key).and_then(Vec::pop)
            {
                let other = self.b.get(found).and_then(Option::as_ref);
                let guess = |row: &PairingRow<'_>| row.statement.is_some_and(|pair| pair.guessed);
                let own = matches!(key, SiblingKey::Statement(..));
                *pair = Some((found, own && (guess(row) || other.is_some_and(guess))));
                if let Some(slot) = self.of_b.get_mut(found) {
                    *slot = Some(at);
                }
            }
        }
    }
}

/// Returns the key of a row that has a name among its siblings: a round, a gate, or a branch.
fn named<'o>(row: &PairingRow<'o>) -> Option<SiblingKey<'o>> {
    match &row.node.kind {
        NodeKind::Round { n } => Some(SiblingKey::Round(*n)),
        NodeKind::Gate { gate } => Some(SiblingKey::Gate(gate)),
        NodeKind::Branch { branch } if row.borrows || row.statement.is_none() => {
            Some(SiblingKey::Branch(branch))
        }
        _ => None,
    }
}

fn statement<'o>(row: &PairingRow<'o>, text: &'o str) -> Option<SiblingKey<'o>> {
    Some(SiblingKey::Statement(
        row.node.kind.word(),
        row.statement?.a,
        text,
    ))
}

fn text<'o>(row: &PairingRow<'o>) -> Option<SiblingKey<'o>> {
    match row.node.kind {
        NodeKind::Round { .. } | NodeKind::Gate { .. } => None,
        _ => Some(SiblingKey::Text(row.node.kind.word(), row.node.text.trim())),
    }
}

fn block<'o>(row: &PairingRow<'o>) -> Option<SiblingKey<'o>> {
    match &row.node.kind {
        NodeKind::Frame { block, .. } => Some(SiblingKey::Block(block)),
        NodeKind::Branch { branch } => Some(SiblingKey::Branch(branch)),
        _ => None,
    }
}
