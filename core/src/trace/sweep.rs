//! From rows to instances: one pass in order of id (trace.md 1–4).
//!
//! ```text
//! row ──► subject (whose key, under which parent) ──► an instance that is open, or failed and goes on ──► extend
//!                                                └──► none ──► a new instance, placed in an open loop if it fits
//! ```
//!
//! Every look-up is a map's, so the pass stays n log n whatever the rows say.

use std::collections::BTreeMap;

use super::gates::{self, ByRow};
use super::rows::{NONE, Rows};
use super::ties::Ties;
use super::words::{self, Lead, Words};
use crate::model::{Execution, Meta, Status};

/// What an instance is, with the names that it was read with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Statement,
    Parallel,
    Branch(&'a str),
    Loop,
    Frame(&'a str),
    Gate(&'a str),
}

/// Rows that speak of the same thing.
#[derive(Debug, Clone)]
pub(super) struct Inst<'a> {
    /// Position of its first row.
    pub(super) first: u32,
    /// Position of its last row.
    pub(super) last: u32,
    /// The instance it lies in, [`NONE`] at the root.
    pub(super) parent: u32,
    /// Its row's parent, where no earlier row has that id: a later row, or none at all.
    pub(super) wanted: Option<i64>,
    pub(super) kind: Kind<'a>,
    /// Its `loop_id` or `parallel_id`, empty without one.
    id: &'a str,
    /// Its statement in the program, [`NONE`] where it is not tied.
    pub(super) stmt: u32,
    pub(super) guessed: bool,
    /// Its last row does not close it.
    pub(super) open: bool,
    /// Its last row says failed.
    failing: bool,
    /// Some row of it says failed.
    pub(super) failed: bool,
    pub(super) inferred: bool,
    /// One row stands for all rounds (in place).
    pub(super) in_place: bool,
    pub(super) attempts: u32,
    /// The most attempts or rounds, [`NONE`] where not recorded.
    pub(super) max: u32,
}

impl Inst<'_> {
    /// A parallel that is known by its end alone: its branches come before it.
    fn ends_only(&self, rows: &Rows<'_>) -> bool {
        self.kind == Kind::Parallel
            && rows
                .get(self.first)
                .is_some_and(|row| row.status == Status::Joined)
    }
}

/// All instances, and which row belongs to which.
pub(super) struct Instances<'a> {
    pub(super) list: Vec<Inst<'a>>,
    /// By position of the row.
    pub(super) of_row: Vec<u32>,
    /// Rows whose parent_id was not followed, because their metadata says where they belong: to be judged when
    /// all rows are known. Instance and position.
    pub(super) overruled: Vec<(u32, u32)>,
}

/// What decides which rows speak of the same thing within one parent (trace.md 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Gate(&'a str),
    Loop(&'a str),
    Branch(&'a str),
    /// A branch whose parallel was not seen yet.
    Early(&'a str, &'a str),
    Parallel(&'a str),
    Index(i64),
    Text(&'a str),
}

/// The parent that keys are counted within: the id of its first row, `None` for the root.
type Scope = Option<i64>;

/// What a row's parent_id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Root,
    /// An instance seen before.
    Inst(u32),
    /// The row itself.
    Itself,
    /// No row so far.
    Unseen(i64),
}

/// Whose row it is.
struct Subject<'a> {
    parent: Named,
    key: Key<'a>,
    kind: Kind<'a>,
    id: &'a str,
    /// The parent comes from the metadata.
    by_meta: bool,
}

struct Sweep<'a, 't> {
    rows: &'t Rows<'a>,
    ties: &'t mut Ties<'a>,
    gates: ByRow<'a>,
    out: Instances<'a>,
    /// The latest instance under a key.
    latest: BTreeMap<(Scope, Key<'a>), u32>,
    /// The latest instance under a key that failed.
    failed: BTreeMap<(Scope, Key<'a>), u32>,
    /// The latest loop or parallel of a statement index.
    built_at: BTreeMap<(Scope, i64), u32>,
    /// Loops, parallels and gates by their own id, in order of opening; closed ones are dropped from the end.
    open_by_id: BTreeMap<Key<'a>, Vec<u32>>,
    /// The parallel of an id that closed last.
    closed_parallel: BTreeMap<&'a str, u32>,
    /// The parallel that opened last in a scope.
    last_parallel: BTreeMap<Scope, u32>,
    /// Branches whose parallel was not seen yet, by parallel_id.
    early: BTreeMap<&'a str, Vec<u32>>,
    /// Loops of a scope in order of opening; closed ones are dropped from the end.
    loops: BTreeMap<Scope, Vec<u32>>,
}

/// Folds rows into instances. Parents are as recorded or inferred: orphans and cycles are still in it.
pub(super) fn sweep<'a>(rows: &Rows<'a>, ties: &mut Ties<'a>, gates: ByRow<'a>) -> Instances<'a> {
    let mut sweep = Sweep {
        rows,
        ties,
        gates,
        out: Instances {
            list: Vec::new(),
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
        let named = self.named(pos, row);
        let subject = self.subject(row, words, named);
        let scope = self.scope(subject.parent);
        let slot = (scope, subject.key);
        let known = self.continued(slot, row, &subject).or_else(|| {
            let found = self.elsewhere(&subject, scope, row, words)?;
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
        let followed = !subject.by_meta || subject.parent == named;
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

    fn named(&self, pos: u32, row: &Execution) -> Named {
        match row.parent {
            None => Named::Root,
            Some(id) if id == row.id => Named::Itself,
            Some(id) => self
                .rows
                .find(id)
                .filter(|at| *at < pos)
                .and_then(|at| self.out.of_row.get(at as usize))
                .map_or(Named::Unseen(id), |at| Named::Inst(*at)),
        }
    }

    /// Names are those of instances: an alias as a parent is its instance (trace.md 3).
    fn scope(&self, parent: Named) -> Scope {
        match parent {
            Named::Root | Named::Itself => None,
            Named::Inst(at) => self.inst(at).map(|i| self.rows.id(i.first)),
            Named::Unseen(id) => Some(id),
        }
    }

    fn subject(&mut self, row: &'a Execution, words: Words<'a>, named: Named) -> Subject<'a> {
        static EMPTY: Meta = Meta {
            parallel_id: None,
            branch: None,
            branches: Vec::new(),
            strategy: None,
            loop_id: None,
            iteration: None,
            max: None,
            condition: None,
            attempt: None,
            gate_id: None,
            block: None,
            depth: None,
            reason: None,
            in_place: false,
        };
        let meta = row.meta.as_deref().unwrap_or(&EMPTY);
        let free = !matches!(named, Named::Inst(_));
        let mut parent = named;
        let mut by_meta = false;

        let gate = match words.lead {
            Lead::Gate(name) => Some(meta.gate_id.as_deref().unwrap_or(name)),
            _ => meta.gate_id.as_deref(),
        };
        let own_loop = meta
            .loop_id
            .as_deref()
            .filter(|id| self.speaks_of_loop(id, row, words, named));
        if gate.is_some() || own_loop.is_some() {
            // A gate or a loop inside of a branch says so in its metadata, when its parent does not.
            if free && let Some(inside) = self.branch_around(meta, row, named) {
                (parent, by_meta) = (Named::Inst(inside), true);
            }
            let (key, kind, id) = match (gate, own_loop) {
                (Some(gate), _) => {
                    let base = gates::base(gate);
                    let gate = self.gates.get(&(row.id, base)).copied().unwrap_or(gate);
                    (Key::Gate(base), Kind::Gate(gate), gate)
                }
                (None, id) => {
                    let id = id.unwrap_or("");
                    (Key::Loop(id), Kind::Loop, id)
                }
            };
            return Subject {
                parent,
                key,
                kind,
                id,
                by_meta,
            };
        }

        if free
            && let Some(id) = meta.loop_id.as_deref()
            && let Some(around) = self.loop_around(id, named)
        {
            (parent, by_meta) = (Named::Inst(around), true);
        }

        let pid = meta.parallel_id.as_deref();
        let branch = match (meta.branch.as_deref(), words.lead) {
            (Some(name), _) | (None, Lead::Branch(name)) => Some(name),
            (None, Lead::Parallel | Lead::Loop) => None,
            _ => pid.and(words.name),
        };
        if let Some(name) = branch
            && let Some(subject) = self.branch(row, words, named, pid, name)
        {
            return subject;
        }
        if let Some(id) = pid
            && branch.is_none()
        {
            let own = row.status == Status::Joined
                || words.lead == Lead::Parallel
                || (words.lead == Lead::Unknown
                    && !self.is_inside(Key::Parallel(id), Kind::Parallel, id, row, named));
            if own {
                return Subject {
                    parent,
                    key: Key::Parallel(id),
                    kind: Kind::Parallel,
                    id,
                    by_meta,
                };
            }
            if free && let Some(around) = self.parallel(named, pid, row) {
                (parent, by_meta) = (Named::Inst(around), true);
            }
        }
        Subject {
            parent,
            key: row.index.map_or(Key::Text(&row.text), Key::Index),
            kind: plain_kind(row, meta, words),
            id: "",
            by_meta,
        }
    }

    /// Whether a row with a `loop_id` is the loop's own, or only says which loop it runs in.
    fn speaks_of_loop(&self, id: &'a str, row: &Execution, words: Words<'a>, named: Named) -> bool {
        match (words.lead, &row.status) {
            (_, Status::Iteration | Status::Exited) | (Lead::Loop, _) => true,
            (Lead::Unknown, Status::Started) => true,
            (Lead::Unknown, _) => !self.is_inside(Key::Loop(id), Kind::Loop, id, row, named),
            _ => false,
        }
    }

    /// Whether a row of unknown words lies in the construct that it names: that is its parent, or it is open and
    /// of another statement, as the rows of a loop or a parallel share theirs.
    fn is_inside(
        &self,
        key: Key<'a>,
        kind: Kind<'a>,
        id: &str,
        row: &Execution,
        named: Named,
    ) -> bool {
        let index_of = |i: &Inst<'a>| self.rows.get(i.first).and_then(|first| first.index);
        if let Named::Inst(at) = named
            && self.inst(at).is_some_and(|i| i.kind == kind && i.id == id)
        {
            return true;
        }
        self.latest
            .get(&(self.scope(named), key))
            .and_then(|at| self.inst(*at))
            .filter(|i| i.open)
            .is_some_and(|i| match (index_of(i), row.index) {
                (Some(own), Some(index)) => own != index,
                _ => false,
            })
    }

    /// A row that names a branch (trace.md 4).
    fn branch(
        &mut self,
        row: &'a Execution,
        words: Words<'a>,
        named: Named,
        pid: Option<&'a str>,
        name: &'a str,
    ) -> Option<Subject<'a>> {
        // A statement inside of the branch may carry the branch's names: its parent is that very branch.
        if let Named::Inst(at) = named
            && let Some(around) = self.inst(at)
            && around.kind == Kind::Branch(name)
            && self.rows.get(around.first).is_some_and(|first| {
                first.index != row.index || (first.index.is_none() && first.text != row.text)
            })
        {
            return None;
        }
        if let Some(parallel) = self.parallel(named, pid, row) {
            return Some(Subject {
                parent: Named::Inst(parallel),
                key: Key::Branch(name),
                kind: Kind::Branch(name),
                id: "",
                by_meta: true,
            });
        }
        // `branch` alone, and no parallel anywhere: some other branch is meant.
        let pid = match (pid, words.lead) {
            (Some(pid), _) => pid,
            (None, Lead::Branch(_)) => "",
            (None, _) => return None,
        };
        Some(Subject {
            parent: named,
            key: Key::Early(pid, name),
            kind: Kind::Branch(name),
            id: pid,
            by_meta: false,
        })
    }

    /// The parallel that a branch row belongs to: the open one of that id, else the one that was open last. A
    /// parent_id decides only between those (errata X2).
    fn parallel(&mut self, named: Named, pid: Option<&'a str>, row: &Execution) -> Option<u32> {
        let scope = self.scope(named);
        let at_index = row
            .index
            .and_then(|index| self.built_at.get(&(scope, index)).copied())
            .filter(|at| self.inst(*at).is_some_and(|i| i.kind == Kind::Parallel));
        let Some(pid) = pid else {
            let parent = match named {
                Named::Inst(at) => self
                    .inst(at)
                    .is_some_and(|i| i.kind == Kind::Parallel)
                    .then_some(at),
                _ => None,
            };
            let last = self.last_parallel.get(&scope).copied();
            return parent
                .or_else(|| last.filter(|at| self.is_open(*at)))
                .or(at_index)
                .or(last)
                .filter(|at| self.inst(*at).is_some_and(|i| !i.ends_only(self.rows)));
        };
        let open = self.latest_open(Key::Parallel(pid));
        if let Named::Inst(at) = named
            && let Some(parent) = self.inst(at)
            && parent.kind == Kind::Parallel
            && parent.id == pid
            // One that was closed by a row of its own before this row cannot take it while another is open; of
            // one that was updated in place nobody knows when.
            && (parent.open || parent.first == parent.last || open.is_none())
            && !parent.ends_only(self.rows)
        {
            return Some(at);
        }
        let beside = self.latest.get(&(scope, Key::Parallel(pid))).copied();
        if let Some(at) = beside.filter(|at| self.is_open(*at)).or(open) {
            return Some(at);
        }
        // The parallel's own row lost its metadata, the branch's has it: they share the statement index.
        if let Some(at) = at_index
            && let Some(parallel) = self.out.list.get_mut(at as usize)
            && parallel.id.is_empty()
        {
            parallel.id = pid;
            self.latest.insert((scope, Key::Parallel(pid)), at);
            self.open_by_id
                .entry(Key::Parallel(pid))
                .or_default()
                .push(at);
            return Some(at);
        }
        beside
            .filter(|at| self.inst(*at).is_some_and(|i| !i.ends_only(self.rows)))
            .or_else(|| self.closed_parallel.get(pid).copied())
    }

    /// The branch, else the parallel, that a row's metadata puts it in.
    fn branch_around(&mut self, meta: &'a Meta, row: &Execution, named: Named) -> Option<u32> {
        let pid = meta.parallel_id.as_deref()?;
        let parallel = self.parallel(named, Some(pid), row)?;
        let scope = self.scope(Named::Inst(parallel));
        meta.branch
            .as_deref()
            .and_then(|name| self.latest.get(&(scope, Key::Branch(name))).copied())
            .or(Some(parallel))
    }

    /// The open loop that a row's metadata puts it in.
    fn loop_around(&mut self, id: &'a str, named: Named) -> Option<u32> {
        let scope = self.scope(named);
        self.latest
            .get(&(scope, Key::Loop(id)))
            .copied()
            .filter(|at| self.is_open(*at))
            .or_else(|| self.latest_open(Key::Loop(id)))
    }

    fn latest_open(&mut self, key: Key<'a>) -> Option<u32> {
        let stack = self.open_by_id.get_mut(&key)?;
        while let Some(at) = stack.last().copied() {
            if self.out.list.get(at as usize).is_some_and(|i| i.open) {
                return Some(at);
            }
            stack.pop();
        }
        None
    }

    /// The instance under the same key that is open, or that failed and goes on (trace.md 2).
    fn continued(
        &self,
        slot: (Scope, Key<'a>),
        row: &Execution,
        subject: &Subject<'a>,
    ) -> Option<u32> {
        let retry = row.status == Status::Retry;
        let latest = self.latest.get(&slot).copied().filter(|at| {
            self.inst(*at).is_some_and(|i| {
                // Some writers leave out the `retry` row: the attempt's number says the same.
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

    /// Another visit of a gate is another instance, also while the first was never closed (errata G1).
    fn same_visit(&self, seen: Kind<'a>, now: Kind<'a>, row: &Execution) -> bool {
        match (seen, now) {
            (Kind::Gate(seen), Kind::Gate(gate)) => {
                let said = gate != gates::base(gate) || self.gates.contains_key(&(row.id, gate));
                seen == gate || !said
            }
            _ => true,
        }
    }

    /// The instance of a row that lost a part of what names it.
    fn elsewhere(
        &mut self,
        subject: &Subject<'a>,
        scope: Scope,
        row: &Execution,
        words: Words<'a>,
    ) -> Option<u32> {
        let goes_on =
            row.status.is_terminal() || matches!(row.status, Status::Iteration | Status::Retry);
        match subject.key {
            Key::Gate(_) | Key::Loop(_) | Key::Parallel(_) => {
                // The parent is missing, and something of that very id is open.
                if goes_on
                    && !matches!(subject.parent, Named::Inst(_))
                    && let Some(at) = self.latest_open(subject.key)
                    && self
                        .inst(at)
                        .is_some_and(|i| self.same_visit(i.kind, subject.kind, row))
                {
                    return Some(at);
                }
                // The opening row lost its metadata: the statement index is the same.
                let at = *self.built_at.get(&(scope, row.index?))?;
                let built = self.inst(at)?;
                let same = built.open && built.id.is_empty() && built.kind == subject.kind;
                if same && let Some(built) = self.out.list.get_mut(at as usize) {
                    built.id = subject.id;
                }
                same.then_some(at)
            }
            Key::Index(index) => {
                // This row lost its metadata: `exited` and `joined` are words of loops and parallels alone.
                let built = self.built_at.get(&(scope, index)).copied();
                if let Some(at) = built.filter(|at| self.is_open(*at))
                    && let Some(kind) = self.inst(at).map(|i| i.kind)
                {
                    let fits = match kind {
                        Kind::Loop => {
                            matches!(row.status, Status::Iteration | Status::Exited)
                                || words.lead == Lead::Loop
                        }
                        Kind::Parallel => {
                            row.status == Status::Joined || words.lead == Lead::Parallel
                        }
                        _ => false,
                    };
                    if fits {
                        return Some(at);
                    }
                }
                // A closing row that names its own opening row as its parent: a session has nothing inside.
                let Named::Inst(at) = subject.parent else {
                    return None;
                };
                let parent = self.inst(at)?;
                let first = self.rows.get(parent.first)?;
                (goes_on
                    && parent.open
                    && parent.kind == Kind::Statement
                    && first.index == row.index
                    && first.text == row.text)
                    .then_some(at)
            }
            _ => None,
        }
    }

    fn extend(&mut self, at: u32, pos: u32, row: &Execution, subject: &Subject<'a>) {
        let Some(inst) = self.out.list.get_mut(at as usize) else {
            return;
        };
        inst.last = pos;
        if inst.kind == Kind::Statement && subject.kind != Kind::Statement {
            inst.kind = subject.kind;
            inst.id = subject.id;
        }
        let attempt = attempt_of(row).unwrap_or(1);
        inst.attempts = match row.status {
            Status::Retry => inst.attempts.saturating_add(1).max(attempt),
            _ => inst.attempts.max(attempt),
        };
    }

    fn open(&mut self, pos: u32, row: &'a Execution, subject: &Subject<'a>, scope: Scope) -> u32 {
        let at = self.out.list.len() as u32;
        let (parent, wanted) = match subject.parent {
            Named::Root | Named::Itself => (NONE, None),
            Named::Inst(parent) => (parent, None),
            Named::Unseen(id) => (NONE, Some(id)),
        };
        let tie = match subject.kind {
            Kind::Branch(name) => {
                let parallel = self.inst(parent).map_or(NONE, |p| p.stmt);
                self.ties.branch(parallel, name, row)
            }
            _ => self.ties.row(row),
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
            && !matches!(subject.kind, Kind::Branch(_))
            && let Some(around) = self.open_loop(scope, &inst, row)
        {
            inst.parent = around;
            inst.inferred = true;
        }
        self.out.list.push(inst);
        self.latest.insert((scope, subject.key), at);
        if matches!(subject.kind, Kind::Loop | Kind::Parallel)
            && let Some(index) = row.index
        {
            self.built_at.insert((scope, index), at);
        }
        if matches!(subject.key, Key::Gate(_) | Key::Loop(_) | Key::Parallel(_)) {
            self.open_by_id.entry(subject.key).or_default().push(at);
        }
        match subject.kind {
            Kind::Loop => self.loops.entry(scope).or_default().push(at),
            Kind::Parallel => {
                self.last_parallel.insert(scope, at);
                self.adopt(at, subject.id);
            }
            Kind::Branch(_) => {
                if let Key::Early(pid, _) = subject.key {
                    self.early.entry(pid).or_default().push(at);
                }
            }
            _ => {}
        }
        at
    }

    /// Branches that were written before their parallel's row belong to it.
    fn adopt(&mut self, parallel: u32, pid: &'a str) {
        let scope = self.scope(Named::Inst(parallel));
        for at in self.early.remove(pid).unwrap_or_default() {
            let Some(branch) = self.out.list.get_mut(at as usize) else {
                continue;
            };
            branch.parent = parallel;
            branch.wanted = None;
            let (first, kind) = (branch.first, branch.kind);
            if let Kind::Branch(name) = kind {
                self.latest.insert((scope, Key::Branch(name)), at);
            }
            if self.rows.get(first).is_some_and(|row| row.parent.is_some()) {
                self.out.overruled.push((at, first));
            }
        }
    }

    /// The innermost open loop of the same parent whose body the statement lies in (trace.md 5).
    fn open_loop(&mut self, scope: Scope, inst: &Inst<'a>, row: &Execution) -> Option<u32> {
        // Deeper nests without a single parent_id are no programs; the bound keeps hostile rows cheap.
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

    /// Takes over where the row leaves its instance.
    fn settle(&mut self, at: u32, row: &'a Execution, slot: (Scope, Key<'a>)) {
        let terminal = row.status.is_terminal();
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
        if reopened && matches!(slot.1, Key::Gate(_) | Key::Loop(_) | Key::Parallel(_)) {
            self.open_by_id.entry(slot.1).or_default().push(at);
        }
        if reopened && kind == Kind::Loop {
            self.loops.entry(slot.0).or_default().push(at);
        }
        if terminal && kind == Kind::Parallel && !ends_only {
            self.closed_parallel.insert(id, at);
        }
    }

    /// Branches whose parallel never came belong to one that ended before, when there is one.
    fn finish(mut self) -> Instances<'a> {
        let early = std::mem::take(&mut self.early);
        let mut ended: BTreeMap<&str, u32> = BTreeMap::new();
        if !early.is_empty() {
            for (at, inst) in self.out.list.iter().enumerate() {
                if inst.kind == Kind::Parallel && !inst.id.is_empty() {
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

/// What a row without an id of its own is.
fn plain_kind<'a>(row: &Execution, meta: &'a Meta, words: Words<'a>) -> Kind<'a> {
    match (words.lead, &row.status) {
        (Lead::Parallel, _) | (Lead::Unknown, Status::Joined) => Kind::Parallel,
        (Lead::Loop, _) | (Lead::Unknown, Status::Iteration | Status::Exited) => Kind::Loop,
        (Lead::Do(block), _) => Kind::Frame(meta.block.as_deref().unwrap_or(block)),
        // `block` on a session only says where it runs.
        (Lead::Unknown, _) => meta.block.as_deref().map_or(Kind::Statement, Kind::Frame),
        _ => Kind::Statement,
    }
}

fn attempt_of(row: &Execution) -> Option<u32> {
    let attempt = row.meta.as_deref()?.attempt?;
    u32::try_from(attempt).ok()
}
