//! From a form that has no rows to records that the fold takes as it takes rows.
//!
//! Lowering parses and names: which record speaks of which site, and what it says of it. It decides nothing; what a
//! record means is the fold's to find.

pub(super) mod disk;
pub(super) mod facts;
pub(super) mod log;
mod site;
pub(crate) mod state;

use std::sync::Arc;

use super::NodeStatus;
use crate::model::{Execution, Meta, Status, Text};
use crate::program::Tie;

/// What a lowered record says beside the columns of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside {
    /// The position of the first record of the same thing; its own for the first.
    pub(super) of: u32,
    /// The statement that it is tied to.
    pub(super) tie: Option<Tie>,
    /// Its status, where rows have no word for it: the decision of a gate.
    pub(super) status: Option<NodeStatus>,
    /// Which line of the file says it.
    pub(super) line: Option<u32>,
    /// The id by which bindings name it.
    pub(super) id: Option<i64>,
    /// The round of a loop that begins here.
    pub(super) round: Option<Round>,
    /// No line says it: it follows from another record.
    pub(super) derived: bool,
    /// Its place was inferred, not recorded.
    pub(super) inferred: bool,
    /// It is tied by where it stands: nothing names its statement.
    pub(super) by_place: bool,
    /// What it is called where it has no text.
    pub(super) label: Text,
}

/// A round of a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Its number, from 1.
    pub(super) n: u32,
    /// Nothing but its number is known.
    pub(super) derived: bool,
}

/// A record under construction.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// What lies around it.
    pub(super) parent: Option<At>,
    /// The first record of the same thing; `None` for the first.
    pub(super) of: Option<At>,
    pub(super) text: Text,
    pub(super) status: Status,
    pub(super) meta: Option<Arc<Meta>>,
    pub(super) beside: Beside,
}

/// A record's place in its story.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At(u32);

/// Records in the order in which they happened.
#[derive(Debug, Default)]
pub(super) struct Story {
    records: Vec<Record>,
    /// Records that belong before another one, by that one.
    early: Vec<(At, At)>,
}

impl Story {
    /// Adds the next record.
    pub(super) fn add(&mut self, record: Record) -> At {
        let at = At(self.records.len() as u32);
        self.records.push(record);
        at
    }

    /// Adds a record that happened before one that is there already.
    pub(super) fn add_before(&mut self, later: At, record: Record) -> At {
        let at = self.add(record);
        self.early.push((at, later));
        at
    }

    pub(super) fn get(&self, at: At) -> Option<&Record> {
        self.records.get(at.0 as usize)
    }

    pub(super) fn get_mut(&mut self, at: At) -> Option<&mut Record> {
        self.records.get_mut(at.0 as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The records as rows, and what each says beside; and the position of each.
    pub(super) fn finish(self) -> (Vec<Execution>, Vec<Beside>, Positions) {
        let count = self.records.len();
        let mut order: Vec<(u32, bool, u32)> = (0..count as u32).map(|at| (at, true, at)).collect();
        for (at, later) in self.early {
            if let Some(slot) = order.get_mut(at.0 as usize) {
                *slot = (later.0, false, at.0);
            }
        }
        order.sort_unstable();
        let mut id_of = vec![0_i64; count];
        for (id, (_, _, at)) in (1..).zip(&order) {
            if let Some(slot) = id_of.get_mut(*at as usize) {
                *slot = id;
            }
        }
        let mut records: Vec<Option<Record>> = self.records.into_iter().map(Some).collect();
        let mut rows = Vec::with_capacity(count);
        let mut besides = Vec::with_capacity(count);
        for (id, (_, _, at)) in (1..).zip(order) {
            let Some(mut record) = records.get_mut(at as usize).and_then(Option::take) else {
                continue;
            };
            let first = record.of.map_or(at, |first| first.0);
            let first = id_of.get(first as usize).copied().unwrap_or(id);
            record.beside.of = u32::try_from(first - 1).unwrap_or(u32::MAX);
            let parent = record
                .parent
                .and_then(|at| id_of.get(at.0 as usize).copied());
            rows.push(Execution {
                id,
                index: None,
                text: record.text,
                status: record.status,
                parent,
                started: None,
                completed: None,
                error: None,
                meta: record.meta,
            });
            besides.push(record.beside);
        }
        (rows, besides, Positions(id_of))
    }
}

/// Where the records of a story lie among its rows.
pub(super) struct Positions(Vec<i64>);

impl Positions {
    pub(super) fn get(&self, at: At) -> Option<u32> {
        let id = self.0.get(at.0 as usize)?;
        u32::try_from(id - 1).ok()
    }
}
