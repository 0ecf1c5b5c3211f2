//! Determines the instance (one execution of a statement) to which a row belongs, and the instance's parent (errata
//! T1, T4).

use std::sync::LazyLock;

use super::{Inst, InstanceKey, InstanceKind, InstanceScope, ParentRef, Subject, Sweep};
use crate::model::{Execution, Meta, Status};
use crate::trace::words::{Lead, Words};

impl<'a> Sweep<'a, '_> {
    pub(super) fn recorded_parent(&self, pos: u32, row: &Execution) -> ParentRef {
        match row.parent {
            None => ParentRef::Root,
            Some(id) if id == row.id => ParentRef::Itself,
            Some(id) => self
                .rows
                .find(id)
                .filter(|at| *at < pos)
                .and_then(|at| self.out.of_row.get(at as usize))
                .map_or(ParentRef::Unseen(id), |at| ParentRef::Inst(*at)),
        }
    }

    /// Returns the scope of a parent. All rows of an instance have the same scope: the id of the instance's first row
    /// (errata T3).
    pub(super) fn scope(&self, parent: ParentRef) -> InstanceScope {
        match parent {
            ParentRef::Root | ParentRef::Itself => None,
            ParentRef::Inst(at) => self.inst(at).map(|i| self.rows.id(i.first)),
            ParentRef::Unseen(id) => Some(id),
        }
    }

    pub(super) fn subject(
        &mut self,
        row: &'a Execution,
        words: Words<'a>,
        recorded: ParentRef,
    ) -> Subject<'a> {
        static EMPTY: LazyLock<Meta> = LazyLock::new(Meta::default);
        let meta = row.meta.as_deref().unwrap_or(&EMPTY);
        let free = !matches!(recorded, ParentRef::Inst(_));
        let mut parent = recorded;
        let mut by_meta = false;

        let gate = match words.lead {
            Lead::Gate(name) => Some(meta.gate_id.as_deref().unwrap_or(name)),
            _ => meta.gate_id.as_deref(),
        };
        let own_loop = meta
            .loop_id
            .as_deref()
            .filter(|id| self.is_of_loop(id, row, words, recorded));
        if gate.is_some() || own_loop.is_some() {
            // A gate or a loop inside a branch may record that branch only in its metadata.
            if free && let Some(inside) = self.branch_around(meta, row, recorded) {
                (parent, by_meta) = (ParentRef::Inst(inside), true);
            }
            let (key, kind, id) = match (gate, own_loop) {
                (Some(gate), _) => {
                    let base = crate::model::visit(gate).0;
                    let gate = self.gates.get(&(row.id, base)).copied().unwrap_or(gate);
                    (InstanceKey::Gate(base), InstanceKind::Gate(gate), gate)
                }
                (None, id) => {
                    let id = id.unwrap_or("");
                    (InstanceKey::Loop(id), InstanceKind::Loop, id)
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
            && let Some(around) = self.loop_around(id, recorded)
        {
            (parent, by_meta) = (ParentRef::Inst(around), true);
        }

        let pid = meta.parallel_id.as_deref();
        let branch = match (meta.branch.as_deref(), words.lead) {
            (Some(name), _) | (None, Lead::Branch(name)) => Some(name),
            (None, Lead::Parallel | Lead::Loop) => None,
            _ => pid.and(words.name),
        };
        if let Some(name) = branch
            && let Some(subject) = self.branch(row, words, recorded, pid, name)
        {
            return subject;
        }
        if let Some(id) = pid
            && branch.is_none()
        {
            let own = row.status == Status::Joined
                || words.lead == Lead::Parallel
                || (words.lead == Lead::Unknown
                    && !self.is_inside(
                        InstanceKey::Parallel(id),
                        InstanceKind::Parallel,
                        id,
                        row,
                        recorded,
                    ));
            if own {
                return Subject {
                    parent,
                    key: InstanceKey::Parallel(id),
                    kind: InstanceKind::Parallel,
                    id,
                    by_meta,
                };
            }
            if free && let Some(around) = self.parallel(recorded, pid, row) {
                (parent, by_meta) = (ParentRef::Inst(around), true);
            }
        }
        Subject {
            parent,
            key: row
                .index
                .map_or(InstanceKey::Text(&row.text), InstanceKey::Index),
            kind: plain_kind(row, meta, words),
            id: "",
            by_meta,
        }
    }

    /// Whether a row with a `loop_id` belongs to the loop itself; otherwise the row's statement only runs in that loop.
    fn is_of_loop(
        &self,
        id: &'a str,
        row: &Execution,
        words: Words<'a>,
        recorded: ParentRef,
    ) -> bool {
        match (words.lead, &row.status) {
            (_, Status::Iteration | Status::Exited) | (Lead::Loop, _) => true,
            (Lead::Unknown, Status::Started) => true,
            (Lead::Unknown, _) => {
                !self.is_inside(InstanceKey::Loop(id), InstanceKind::Loop, id, row, recorded)
            }
            _ => false,
        }
    }

    /// Whether a row with an unknown first word is inside the construct whose id the row's metadata contains. The
    /// construct must be the row's parent, or be open and have another statement. Rows of the construct itself have the
    /// same statement.
    fn is_inside(
        &self,
        key: InstanceKey<'a>,
        kind: InstanceKind<'a>,
        id: &str,
        row: &Execution,
        recorded: ParentRef,
    ) -> bool {
        let index_of = |i: &Inst<'a>| self.rows.get(i.first).and_then(|first| first.index);
        if let ParentRef::Inst(at) = recorded
            && self.inst(at).is_some_and(|i| i.kind == kind && i.id == id)
        {
            return true;
        }
        self.latest
            .get(&(self.scope(recorded), key))
            .and_then(|at| self.inst(*at))
            .filter(|i| i.open)
            .is_some_and(|i| match (index_of(i), row.index) {
                (Some(own), Some(index)) => own != index,
                _ => false,
            })
    }

    /// Returns the subject of a row that contains the name of a branch (errata T4).
    fn branch(
        &mut self,
        row: &'a Execution,
        words: Words<'a>,
        recorded: ParentRef,
        pid: Option<&'a str>,
        name: &'a str,
    ) -> Option<Subject<'a>> {
        // A statement inside a branch may repeat the branch's metadata, without being a branch of its own. Its parent
        // is then the branch, and no parallel block with that id is open inside the branch.
        let beside = pid.and_then(|pid| {
            self.latest
                .get(&(self.scope(recorded), InstanceKey::Parallel(pid)))
        });
        if let ParentRef::Inst(at) = recorded
            && let Some(around) = self.inst(at)
            && around.kind == InstanceKind::Branch(name)
            && !matches!(words.lead, Lead::Branch(_))
            && !beside.is_some_and(|at| self.is_open(*at))
            && self.rows.get(around.first).is_some_and(|first| {
                first.index != row.index || (first.index.is_none() && first.text != row.text)
            })
        {
            return None;
        }
        if let Some(parallel) = self.parallel(recorded, pid, row) {
            return Some(Subject {
                parent: ParentRef::Inst(parallel),
                key: InstanceKey::Branch(name),
                kind: InstanceKind::Branch(name),
                id: "",
                by_meta: true,
            });
        }
        // The key `branch` has another meaning if there is no parallel block.
        let pid = match (pid, words.lead) {
            (Some(pid), _) => pid,
            (None, Lead::Branch(_)) => "",
            (None, _) => return None,
        };
        Some(Subject {
            parent: recorded,
            key: InstanceKey::Early(pid, name),
            kind: InstanceKind::Branch(name),
            id: pid,
            by_meta: false,
        })
    }

    /// Returns the parallel block of a branch row: the open block with the id `pid`, otherwise the block that was open
    /// last. A parent_id only decides between several such blocks (errata X2).
    fn parallel(
        &mut self,
        recorded: ParentRef,
        pid: Option<&'a str>,
        row: &Execution,
    ) -> Option<u32> {
        let scope = self.scope(recorded);
        let at_index = row
            .index
            .and_then(|index| self.built_at.get(&(scope, index)).copied())
            .filter(|at| {
                self.inst(*at)
                    .is_some_and(|i| i.kind == InstanceKind::Parallel)
            });
        let Some(pid) = pid else {
            let parent = match recorded {
                ParentRef::Inst(at) => self
                    .inst(at)
                    .is_some_and(|i| i.kind == InstanceKind::Parallel)
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
        let open = self.latest_open(InstanceKey::Parallel(pid));
        if let ParentRef::Inst(at) = recorded
            && let Some(parent) = self.inst(at)
            && parent.kind == InstanceKind::Parallel
            && parent.id == pid
            // A block that a separate row closed does not get this branch while another block with the id is open. A
            // block that was updated in place may get the branch, because the time of its end is unknown.
            && (parent.open || parent.first == parent.last || open.is_none())
        {
            return Some(at);
        }
        let beside = self
            .latest
            .get(&(scope, InstanceKey::Parallel(pid)))
            .copied();
        if let Some(at) = beside.filter(|at| self.is_open(*at)).or(open) {
            return Some(at);
        }
        // The block's row lacks the `parallel_id`, but the branch's row has the id. Both rows have the same statement
        // index.
        if let Some(at) = at_index
            && let Some(parallel) = self.out.list.get_mut(at as usize)
            && parallel.id.is_empty()
        {
            parallel.id = pid;
            self.latest.insert((scope, InstanceKey::Parallel(pid)), at);
            self.open_by_id
                .entry(InstanceKey::Parallel(pid))
                .or_default()
                .push(at);
            return Some(at);
        }
        beside
            .filter(|at| self.inst(*at).is_some_and(|i| !i.ends_only(self.rows)))
            .or_else(|| self.closed_parallel.get(pid).copied())
    }

    /// Returns the branch that a row's metadata identifies, otherwise the parallel block.
    fn branch_around(
        &mut self,
        meta: &'a Meta,
        row: &Execution,
        recorded: ParentRef,
    ) -> Option<u32> {
        let pid = meta.parallel_id.as_deref()?;
        let parallel = self.parallel(recorded, Some(pid), row)?;
        let scope = self.scope(ParentRef::Inst(parallel));
        meta.branch
            .as_deref()
            .and_then(|name| {
                self.latest
                    .get(&(scope, InstanceKey::Branch(name)))
                    .copied()
            })
            .or(Some(parallel))
    }

    /// Returns the open loop whose id a row's metadata contains.
    fn loop_around(&mut self, id: &'a str, recorded: ParentRef) -> Option<u32> {
        let scope = self.scope(recorded);
        self.latest
            .get(&(scope, InstanceKey::Loop(id)))
            .copied()
            .filter(|at| self.is_open(*at))
            .or_else(|| self.latest_open(InstanceKey::Loop(id)))
    }

    pub(super) fn latest_open(&mut self, key: InstanceKey<'a>) -> Option<u32> {
        let stack = self.open_by_id.get_mut(&key)?;
        while let Some(at) = stack.last().copied() {
            if self.out.list.get(at as usize).is_some_and(|i| i.open) {
                return Some(at);
            }
            stack.pop();
        }
        None
    }
}

/// Returns the kind of a row without an id of its own.
pub(in crate::trace) fn plain_kind<'a>(
    row: &Execution,
    meta: &'a Meta,
    words: Words<'a>,
) -> InstanceKind<'a> {
    match (words.lead, &row.status) {
        (Lead::Parallel, _) | (Lead::Unknown, Status::Joined) => InstanceKind::Parallel,
        (Lead::Loop, _) | (Lead::Unknown, Status::Iteration | Status::Exited) => InstanceKind::Loop,
        (Lead::Do(block), _) => InstanceKind::Frame(meta.block.as_deref().unwrap_or(block)),
        // In the metadata of a session, `block` only records the block in which the session runs.
        (Lead::Unknown, _) => meta
            .block
            .as_deref()
            .map_or(InstanceKind::Statement, InstanceKind::Frame),
        _ => InstanceKind::Statement,
    }
}
