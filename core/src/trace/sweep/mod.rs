//! Combines rows into instances (executions), in one pass over the rows in order of id (errata T1 to T4).
//!
//! ```text
//! row ──► subject (key and parent) ──► an instance that is open, or failed and continues ──► extend it
//!                                                └──► none ──► a new instance, placed in an open loop if it fits
//! ```
//!
//! Every look-up uses a map, so the pass takes n log n time whatever the rows are.

mod subject;

pub(super) use subject::plain_kind;

use std::collections::BTreeMap;

use super::rows::{ByRow, NONE, OrderedRows};
use super::shape::is_branch_text;
use super::ties::RowTies;
use super::words::{self, Lead, Words};
use crate::model::{Execution, Status};
use crate::program::TiedBy;

/// The kind of an instance, with the names read from its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InstanceKind<'a> {
    Statement,
    Parallel,
    Branch(&'a str),
    Loop,
    Frame(&'a str),
    Gate(&'a str),
}

/// An instance: one execution of a statement, with the rows that record it.
#[derive(Debug, Clone)]
pub(super) struct Inst<'a> {
    /// Position of the instance's first row.
    pub(super) first: u32,
    /// Position of the instance's last row.
    pub(super) last: u32,
    /// The index of the parent instance; [`NONE`] at the root.
    pub(super) parent: u32,
    /// The parent id in the instance's row, if no earlier row has that id. A later row may still have the id.
    pub(super) wanted: Option<i64>,
    pub(super) kind: InstanceKind<'a>,
    /// The instance's `loop_id` or `parallel_id`; empty without one.
    id: &'a str,
    /// The instance's statement in the program; [`NONE`] without a tie.
    pub(super) stmt: u32,
    pub(super) guessed: bool,
    /// The evidence for the tie between the instance and its statement.
    pub(super) by: Option<TiedBy>,
    /// Whether the instance is open after its last row.
    pub(super) open: bool,
    /// Whether the status of the instance's last row is failed.
    failing: bool,
    /// Whether the status of any row of the instance is failed.
    pub(super) failed: bool,
    pub(super) inferred: bool,
    /// Whether a single row records all rounds of the loop (in-place dialect).
    pub(super) in_place: bool,
    pub(super) attempts: u32,
    /// The maximum number of attempts or rounds; [`NONE`] if not recorded.
    pub(super) max: u32,
}

impl Inst<'_> {
    /// Whether the first row of a parallel block records the block's end. The rows of the branches then precede that
    /// row.
    fn ends_only(&self, rows: &OrderedRows<'_>) -> bool {
        self.kind == InstanceKind::Parallel
            && rows
                .get(self.first)
                .is_some_and(|row| row.status == Status::Joined)
    }
}

/// All instances, and the instance of each row.
pub(super) struct Instances<'a> {
    pub(super) list: Vec<Inst<'a>>,
    /// The instance of each row, by the row's position.
    pub(super) of_row: Vec<u32>,
    /// The rows whose parent_id was ignored in favour of their metadata, as pairs of instance and row position. Such
    /// rows are checked once all rows are known.
    pub(super) overruled: Vec<(u32, u32)>,
}

/// The key that distinguishes an instance from other instances with the same parent (errata T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InstanceKey<'a> {
    Gate(&'a str),
    Loop(&'a str),
    Branch(&'a str),
    /// A branch whose parallel block has no row yet: the block's `parallel_id` and the branch's name.
    Early(&'a str, &'a str),
    Parallel(&'a str),
    Index(i64),
    Text(&'a str),
}

/// The parent within which keys are unique, as the id of the parent's first row; `None` for the root.
type InstanceScope = Option<i64>;

/// The target of a row's parent_id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParentRef {
    Root,
    /// An instance of an earlier row.
    Inst(u32),
    /// The row itself.
    Itself,
    /// An id that no earlier row has.
    Unseen(i64),
}

/// The parent, key and kind that determine a row's instance.
struct Subject<'a> {
    parent: ParentRef,
    key: InstanceKey<'a>,
    kind: InstanceKind<'a>,
    id: &'a str,
    /// Whether the parent is known from the row's metadata.
    by_meta: bool,
}

struct Sweep<'a, 't> {
    rows: &'t OrderedRows<'a>,
    ties: &'t mut RowTies<'a>,
    gates: ByRow<'a>,
    out: Instances<'a>,
    /// The latest instance with each key.
    latest: BTreeMap<(InstanceScope, InstanceKey<'a>), u32>,
    /// The latest failed instance with each key.
    failed: BTreeMap<(InstanceScope, InstanceKey<'a>), u32>,
    /// The latest loop or parallel block with each statement index.
    built_at: BTreeMap<(InstanceScope, i64), u32>,
    /// The loops, parallel blocks and gates by their own id, in order of opening. Closed instances are removed from the
    /// end.
    open_by_id: BTreeMap<InstanceKey<'a>, Vec<u32>>,
    /// For each id, the parallel block with that id that closed last.
    closed_parallel: BTreeMap<&'a str, u32>,
    /// For each scope, the parallel block that opened last.
    last_parallel: BTreeMap<InstanceScope, u32>,
    /// Branches whose parallel block has no row yet, by parallel_id.
    early: BTreeMap<&'a str, Vec<u32>>,
    /// Loops of each scope in order of opening. Closed loops are removed from the end.
    loops: BTreeMap<InstanceScope, Vec<u32>>,
}

/// Combines rows into instances. Parents are as recorded or inferred. Parents without a row, and cycles, remain.
pub(super) fn sweep<'a>(
    rows: &OrderedRows<'a>,
    ties: &mut RowTies<'a>,
    gates: ByRow<'a>,
) -> Instances<'a> {
    let mut sweep = Sweep {
        rows,
        ties,
        gates,
        out: Instances {
            // The list has room for one instance per row, which is the usual case. A list that grows by doubling would
            // need more memory.
            list: Vec::with_capacity(rows.len() as usize),
            of_row: Vec::with_capacity(rows.len() as usize),
            overruled: Vec::new(),
        },
        latest: BTreeMap::new(),
        failed: BTreeMap::new(),
        built_at: BTreeMap::new(),
        open_by_id: BTreeMap::new(),
        closed_parallel: BTreeMap::new(),
        last_parallel: BTreeMap::new(),
        early: BTreeMap::new(),
        loops: BTreeMap::new(),
    };
    for pos in 0..rows.len() {
        if let Some(row) = rows.get(pos) {
            sweep.take(pos, row);
        }
    }
    sweep.finish()
}

impl<'a> Sweep<'a, '_> {
    fn take(&mut self, pos: u32, row: &'a Execution) {
        let words = words::read(&row.text);
        let recorded = self.recorded_parent(pos, row);
        let subject = self.subject(row, words, recorded);
        let scope = self.scope(subject.parent);
        let slot = (scope, subject.key);
        let known = self.continued(slot, row, &subject).or_else(|| {
            let found = self.find_by_other_data(&subject, scope, row, words)?;
            self.latest.entry(slot).or_insert(found);
            Some(found)
        });
        let at = match known {
            Some(at) => {
                self.extend(at, pos, row, &subject);
                at
            }
            None => self.open(pos, row, &subject, scope),
        };
        self.out.of_row.push(at);
        self.settle(at, row, slot);
        let followed = !subject.by_meta || subject.parent == recorded;
        if !followed && row.parent.is_some() && self.inst(at).is_some_and(|i| i.first == pos) {
            self.out.overruled.push((at, pos));
        }
    }

    fn inst(&self, at: u32) -> Option<&Inst<'a>> {
        self.out.list.get(at as usize)
    }

    fn is_open(&self, at: u32) -> bool {
        self.inst(at).is_some_and(|i| i.open)
    }

    /// Returns the instance that a row continues: an instance with the same key that is open, or that failed and is
    /// tried again (errata T2).
    fn continued(
        &self,
        slot: (InstanceScope, InstanceKey<'a>),
        row: &Execution,
        subject: &Subject<'a>,
    ) -> Option<u32> {
        let retry = row.status == Status::Retry;
        let latest = self.latest.get(&slot).copied().filter(|at| {
            self.inst(*at).is_some_and(|i| {
                // Some writers omit the `retry` row; the number of the next attempt in the metadata replaces that row.
                let next = attempt_of(row) == i.attempts.checked_add(1);
                self.same_visit(i.kind, subject.kind, row)
                    && (i.open || (i.failing && (retry || next)))
            })
        });
        latest.or_else(|| {
            let failed = *self.failed.get(&slot).filter(|_| retry)?;
            self.inst(failed)
                .is_some_and(|i| i.failing)
                .then_some(failed)
        })
    }

    /// Whether a row belongs to the same visit of a gate. Another visit is another instance, even if the first visit
    /// was never closed (errata G1).
    fn same_visit(&self, seen: InstanceKind<'a>, now: InstanceKind<'a>, row: &Execution) -> bool {
        match (seen, now) {
            (InstanceKind::Gate(seen), InstanceKind::Gate(gate)) => {
                let said =
                    gate != crate::model::visit(gate).0 || self.gates.contains_key(&(row.id, gate));
                seen == gate || !said
            }
            _ => true,
        }
    }

    /// Returns the instance of a row that lacks its parent or some of its metadata.
    fn find_by_other_data(
        &mut self,
        subject: &Subject<'a>,
        scope: InstanceScope,
        row: &Execution,
        words: Words<'a>,
    ) -> Option<u32> {
        let goes_on =
            row.status.is_terminal() || matches!(row.status, Status::Iteration | Status::Retry);
        if goes_on
            && let ParentRef::Inst(at) = subject.parent
            && self.is_own_row(at, subject, row)
        {
            if let Some(own) = self.out.list.get_mut(at as usize)
                && own.id.is_empty()
            {
                own.id = subject.id;
            }
            return Some(at);
        }
        match subject.key {
            InstanceKey::Gate(_) | InstanceKey::Loop(_) | InstanceKey::Parallel(_) => {
                // The row has no known parent. An open gate, loop or parallel block with the row's id is taken as its
                // instance.
                if goes_on
                    && !matches!(subject.parent, ParentRef::Inst(_))
                    && let Some(at) = self.latest_open(subject.key)
                    && self
                        .inst(at)
                        .is_some_and(|i| self.same_visit(i.kind, subject.kind, row))
                {
                    return Some(at);
                }
                // The row that opened the instance lacks metadata, but has the same statement index.
                let at = *self.built_at.get(&(scope, row.index?))?;
                let built = self.inst(at)?;
                let same = built.open && built.id.is_empty() && built.kind == subject.kind;
                if same && let Some(built) = self.out.list.get_mut(at as usize) {
                    built.id = subject.id;
                }
                same.then_some(at)
            }
            InstanceKey::Index(index) => {
                // This row lacks its metadata, but only loops and parallel blocks use the words `exited` and
                // `joined`.
                let built = self.built_at.get(&(scope, index)).copied();
                if let Some(at) = built.filter(|at| self.is_open(*at))
                    && let Some(kind) = self.inst(at).map(|i| i.kind)
                {
                    let fits = match kind {
                        InstanceKind::Loop => {
                            matches!(row.status, Status::Iteration | Status::Exited)
                                || words.lead == Lead::Loop
                        }
                        InstanceKind::Parallel => {
                            row.status == Status::Joined || words.lead == Lead::Parallel
                        }
                        _ => false,
                    };
                    if fits {
                        return Some(at);
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Whether a row's parent_id is the id of a row of the same instance. Such a row continues the instance, because an
    /// instance cannot contain itself. Gates and sessions contain nothing. A loop directly inside another loop, or a
    /// parallel block inside another block, has an id of its own or another statement.
    fn is_own_row(&self, parent: u32, subject: &Subject<'a>, row: &Execution) -> bool {
        let Some(parent) = self.inst(parent) else {
            return false;
        };
        let Some(first) = self.rows.get(parent.first) else {
            return false;
        };
        if !(parent.open || (parent.failing && row.status == Status::Retry)) {
            return false;
        }
        let one_text = first.text == row.text;
        match (parent.kind, subject.kind) {
            (InstanceKind::Loop, InstanceKind::Loop)
            | (InstanceKind::Parallel, InstanceKind::Parallel) => match (parent.id, subject.id) {
                ("", _) | (_, "") => match (first.index, row.index) {
                    (Some(own), Some(index)) => own == index,
                    _ => one_text,
                },
                (own, id) => own == id,
            },
            (InstanceKind::Gate(own), InstanceKind::Gate(gate)) => {
                crate::model::visit(own).0 == crate::model::visit(gate).0
                    && self.same_visit(parent.kind, subject.kind, row)
            }
            (
                InstanceKind::Statement,
                InstanceKind::Statement | InstanceKind::Loop | InstanceKind::Parallel,
            ) => one_text && first.index == row.index,
            _ => false,
        }
    }

    fn extend(&mut self, at: u32, pos: u32, row: &Execution, subject: &Subject<'a>) {
        let Some(inst) = self.out.list.get_mut(at as usize) else {
            return;
        };
        inst.last = pos;
        if inst.kind == InstanceKind::Statement && subject.kind != InstanceKind::Statement {
            inst.kind = subject.kind;
            inst.id = subject.id;
        }
        let attempt = attempt_of(row).unwrap_or(1);
        inst.attempts = match row.status {
            Status::Retry => inst.attempts.saturating_add(1).max(attempt),
            _ => inst.attempts.max(attempt),
        };
    }

    fn open(
        &mut self,
        pos: u32,
        row: &'a Execution,
        subject: &Subject<'a>,
        scope: InstanceScope,
    ) -> u32 {
        let at = self.out.list.len() as u32;
        let (parent, wanted) = match subject.parent {
            ParentRef::Root | ParentRef::Itself => (NONE, None),
            ParentRef::Inst(parent) => (parent, None),
            ParentRef::Unseen(id) => (NONE, Some(id)),
        };
        let tie = match subject.kind {
            InstanceKind::Branch(name) => {
                let parallel = self
                    .inst(parent)
                    .map_or((NONE, true), |p| (p.stmt, p.guessed));
                self.ties.branch(parallel, name, row)
            }
            _ => {
                let within = self.inst(parent).and_then(|outer| {
                    let block = match outer.kind {
                        InstanceKind::Frame(name) => Some(name),
                        _ => None,
                    };
                    let scope = match outer.kind {
                        InstanceKind::Branch(name) => self
                            .rows
                            .get(outer.first)
                            .is_some_and(|row| is_branch_text(&row.text, name)),
                        _ => false,
                    };
                    self.ties.within(outer.stmt, block, outer.guessed, scope)
                });
                self.ties.row(row, within)
            }
        };
        let attempt = attempt_of(row).unwrap_or(1);
        let mut inst = Inst {
            first: pos,
            last: pos,
            parent,
            wanted,
            kind: subject.kind,
            id: subject.id,
            stmt: tie.map_or(NONE, |t| t.statement),
            guessed: tie.is_some_and(|t| t.guessed),
            by: tie.map(|t| t.by),
            open: true,
            failing: false,
            failed: false,
            inferred: false,
            in_place: false,
            attempts: match row.status {
                Status::Retry => attempt.max(2),
                _ => attempt.max(1),
            },
            max: NONE,
        };
        if !subject.by_meta
            && wanted.is_none()
            && !matches!(subject.kind, InstanceKind::Branch(_))
            && let Some(around) = self.open_loop(scope, &inst, row)
        {
            inst.parent = around;
            inst.inferred = true;
        }
        self.out.list.push(inst);
        self.latest.insert((scope, subject.key), at);
        if matches!(subject.kind, InstanceKind::Loop | InstanceKind::Parallel)
            && let Some(index) = row.index
        {
            self.built_at.insert((scope, index), at);
        }
        if matches!(
            subject.key,
            InstanceKey::Gate(_) | InstanceKey::Loop(_) | InstanceKey::Parallel(_)
        ) {
            self.open_by_id.entry(subject.key).or_default().push(at);
        }
        match subject.kind {
            InstanceKind::Loop => self.loops.entry(scope).or_default().push(at),
            InstanceKind::Parallel => {
                self.last_parallel.insert(scope, at);
                self.adopt(at, subject.id);
            }
            InstanceKind::Branch(_) => {
                if let InstanceKey::Early(pid, _) = subject.key {
                    self.early.entry(pid).or_default().push(at);
                }
            }
            _ => {}
        }
        at
    }

    /// Moves the branches whose rows precede the row of their parallel block into that block.
    fn adopt(&mut self, parallel: u32, pid: &'a str) {
        let scope = self.scope(ParentRef::Inst(parallel));
        for at in self.early.remove(pid).unwrap_or_default() {
            let Some(branch) = self.out.list.get_mut(at as usize) else {
                continue;
            };
            branch.parent = parallel;
            branch.wanted = None;
            let (first, kind) = (branch.first, branch.kind);
            if let InstanceKind::Branch(name) = kind {
                self.latest.insert((scope, InstanceKey::Branch(name)), at);
            }
            if self.rows.get(first).is_some_and(|row| row.parent.is_some()) {
                self.out.overruled.push((at, first));
            }
        }
    }

    /// Returns the innermost open loop that has the same parent and whose body contains the statement (errata T5).
    fn open_loop(&mut self, scope: InstanceScope, inst: &Inst<'a>, row: &Execution) -> Option<u32> {
        // Maximum number of nested loops that are examined. Real programs do not nest deeper, and hostile rows stay
        // cheap.
        const DEEPEST: usize = 16;
        let loops = self.loops.get_mut(&scope)?;
        while let Some(at) = loops.last().copied() {
            if self.out.list.get(at as usize).is_some_and(|i| i.open) {
                break;
            }
            loops.pop();
        }
        for at in loops.iter().rev().take(DEEPEST).copied() {
            let Some(around) = self.out.list.get(at as usize).filter(|i| i.open) else {
                continue;
            };
            let index = self.rows.get(around.first).and_then(|first| first.index);
            let body = self.ties.in_body(
                (around.stmt, around.guessed, index),
                (inst.stmt, inst.guessed, row.index),
            );
            if body {
                return Some(at);
            }
        }
        None
    }

    /// Updates the look-up maps after a row was assigned to an instance.
    fn settle(&mut self, at: u32, row: &'a Execution, slot: (InstanceScope, InstanceKey<'a>)) {
        let terminal = row.is_over();
        let Some(inst) = self.out.list.get_mut(at as usize) else {
            return;
        };
        let reopened = !inst.open && !terminal;
        inst.open = !terminal;
        inst.failing = row.status == Status::Failed;
        inst.failed |= inst.failing;
        if let Some(meta) = row.meta.as_deref() {
            inst.in_place |= meta.in_place;
            if let Some(max) = meta.max.and_then(|max| u32::try_from(max).ok()) {
                inst.max = max;
            }
        }
        if inst.failing {
            self.failed.insert(slot, at);
        }
        let (kind, id) = (inst.kind, inst.id);
        let ends_only = inst.ends_only(self.rows);
        if reopened
            && matches!(
                slot.1,
                InstanceKey::Gate(_) | InstanceKey::Loop(_) | InstanceKey::Parallel(_)
            )
        {
            self.open_by_id.entry(slot.1).or_default().push(at);
        }
        if reopened && kind == InstanceKind::Loop {
            self.loops.entry(slot.0).or_default().push(at);
        }
        if terminal && kind == InstanceKind::Parallel && !ends_only {
            self.closed_parallel.insert(id, at);
        }
    }

    /// Moves each branch that still has no parallel block into the last block with the branch's `parallel_id`.
    fn finish(mut self) -> Instances<'a> {
        let early = std::mem::take(&mut self.early);
        let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
        if !early.is_empty() {
            for (at, inst) in self.out.list.iter().enumerate() {
                if inst.kind == InstanceKind::Parallel && !inst.id.is_empty() {
                    ended.insert(inst.id, at as u32);
                }
            }
        }
        for (pid, branches) in early {
            let Some(parallel) = ended.get(pid) else {
                continue;
            };
            for at in branches {
                if let Some(branch) = self.out.list.get_mut(at as usize) {
                    branch.parent = *parallel;
                    branch.wanted = None;
                }
            }
        }
        self.out
    }
}

fn attempt_of(row: &Execution) -> Option<u32> {
    let attempt = row.meta.as_deref()?.attempt?;
    u32::try_from(attempt).ok()
}
