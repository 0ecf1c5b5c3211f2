//! Finds the open executions of a run, and refuses commands that break the order of executions: no statement begins
//! after a pending gate, and no parent ends while a child is open.

use std::collections::{BTreeMap, BTreeSet};

use super::instance::{meta, shown};
use super::next::end_of;
use super::source::{LineLookup, ProgramSource};
use super::{Change, ExecutionUpdate, Facts, Style, WriteError};
use crate::model::{Execution, Status};
use crate::trace::judgement::WAITS;
use crate::trace::{RowShape, shape};

/// The open executions of a run whose ancestors are all open. An execution inside an ended execution counts as cut off.
#[derive(Debug, Default)]
pub(super) struct OpenExecutions {
    /// The first rows of these executions, by id.
    rows: BTreeMap<i64, Execution>,
}

impl OpenExecutions {
    pub(super) fn of(facts: &Facts<'_>) -> OpenExecutions {
        let rows = facts.open().map(|row| (row.id, row.clone()));
        OpenExecutions {
            rows: rows.collect(),
        }
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &Execution> {
        self.rows.values()
    }

    /// Returns the innermost open executions: those in which nothing else is open.
    pub(super) fn leaves(&self) -> Vec<&Execution> {
        let inner = self.rows().filter(|row| row.parent != Some(row.id));
        let around: BTreeSet<i64> = inner.filter_map(|row| row.parent).collect();
        let leaf = |row: &&Execution| !around.contains(&row.id);
        self.rows().filter(leaf).collect()
    }

    /// Returns the given execution, else the open execution of the shape `wanted`. Of nested executions, the innermost
    /// counts.
    ///
    /// # Errors
    /// [`WriteError::NotFound`] if no such execution is open; a refusal that lists the executions if several are open
    /// side by side.
    pub(super) fn pick(
        &self,
        facts: &Facts<'_>,
        given: Option<i64>,
        wanted: Option<RowShape>,
    ) -> Result<i64, WriteError> {
        if let Some(id) = given {
            let is_line = |row: &&Execution| row.index == Some(id) && facts.execution(id).is_none();
            return match self.rows.values().find(is_line) {
                None => Ok(id),
                Some(row) => Err(WriteError::not_found(
                    format!(
                        "there is no execution {id}: {id} is a line, and execution {} is open there",
                        row.id
                    ),
                    format!(
                        "give the number that `prosescope begin` printed: {}",
                        row.id
                    ),
                )),
            };
        }
        let fit: Vec<&Execution> = self
            .rows
            .values()
            .filter(|row| match wanted {
                // A value or an end is for what has nothing open inside.
                None | Some(RowShape::Statement) => {
                    let fits = match shape(row) {
                        RowShape::Statement | RowShape::Frame => true,
                        RowShape::Gate => false,
                        RowShape::Loop | RowShape::Parallel => wanted.is_none(),
                    };
                    fits && self.inside(row.id).next().is_none()
                }
                Some(wanted) => shape(row) == wanted && meta(row).branch.is_none(),
            })
            .collect();
        let what = match wanted {
            Some(RowShape::Loop) => "loop",
            _ => "statement",
        };
        let gate = self.rows.values().find_map(|row| meta(row).gate_id);
        if let (true, Some(gate)) = (fit.is_empty(), gate) {
            return Err(WriteError::refused(
                WAITS,
                format!("nothing is open but gate {gate}, which waits for a decision"),
                format!("a person decides: `prosescope gate wait {gate}` waits"),
            ));
        }
        if fit.is_empty() {
            return Err(WriteError::not_found(
                format!("no {what} is open in this run"),
                format!("begin a {what} with `prosescope begin LINE`"),
            ));
        }
        if let Some(innermost) = self.innermost(&fit) {
            return Ok(innermost.id);
        }
        let mut free = fit.clone();
        if wanted != Some(RowShape::Loop) {
            let source = ProgramSource::of(facts);
            free.retain(|row| self.handler(&source, row).is_none());
        }
        if let Some(innermost) = self.innermost(&free) {
            return Ok(innermost.id);
        }
        Err(WriteError::refused(
            "execution-ambiguous",
            format!("more than one {what} is open: {}", listed(&fit)),
            "give the id of one of these executions",
        ))
    }

    /// Returns the open executions directly inside an execution.
    pub(super) fn inside(&self, id: i64) -> impl Iterator<Item = &Execution> {
        self.rows
            .values()
            .filter(move |row| row.parent == Some(id) && row.id != id)
    }

    /// Returns the open `catch` or `finally` of the `try` in `row`. The `try` must not end before this handler.
    pub(super) fn handler<'s>(
        &'s self,
        source: &ProgramSource<'_>,
        row: &Execution,
    ) -> Option<&'s Execution> {
        let mut later = self.rows.range(row.id.saturating_add(1)..);
        let (listing, own) = (source.listing?, source.of_row(row)?);
        let belongs = |other: &Execution| {
            let at = source.of_row(other).filter(|at| *at != own);
            other.parent == row.parent && at.is_some_and(|at| listing.leader(at) == own)
        };
        later.find_map(|(_, other)| belongs(other).then_some(other))
    }

    /// Returns the open executions around an execution, innermost first.
    pub(super) fn above<'s>(&'s self, row: &Execution) -> impl Iterator<Item = &'s Execution> {
        let up = |parent: Option<i64>| parent.and_then(|id| self.rows.get(&id));
        std::iter::successors(up(row.parent), move |at| up(at.parent)).take(self.rows.len() + 1)
    }

    /// Returns the execution that is inside all others of `all`, if there is one.
    pub(super) fn innermost<'a>(&self, all: &[&'a Execution]) -> Option<&'a Execution> {
        let last = all.last().copied()?;
        let outer = |row: &&Execution| row.id == last.id || self.lies_in(last, row.id);
        all.iter().all(outer).then_some(last)
    }

    /// Returns whether an execution is inside another, at any depth.
    pub(super) fn lies_in(&self, row: &Execution, id: i64) -> bool {
        let mut at = row;
        for _ in 0..=self.rows.len() {
            match at.parent.and_then(|parent| self.rows.get(&parent)) {
                _ if at.parent == Some(id) => return true,
                Some(above) => at = above,
                None => return false,
            }
        }
        false
    }

    /// Refuses a statement in `parent` after a pending gate of the same sequence: a gate in the parent itself, or in an
    /// open execution inside it. Branches of one parallel block do not wait for each other.
    pub(super) fn past_gates(&self, parent: Option<i64>) -> Result<(), WriteError> {
        for gate in self.rows.values().filter(|row| meta(row).gate_id.is_some()) {
            let mut at = gate;
            for _ in 0..=self.rows.len() {
                let above = at.parent.and_then(|id| self.rows.get(&id));
                let branches = above.is_some_and(|above| {
                    shape(above) == RowShape::Parallel || super::item::is_parallel(above)
                });
                let same = match above {
                    Some(above) => parent == Some(above.id),
                    None => parent == at.parent || parent.is_none(),
                };
                if same && !branches {
                    return Err(gate_waits(gate));
                }
                match above {
                    Some(above) => at = above,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// Returns an open execution that must end before a statement of its sequence begins. Branches and items need not
    /// wait, because they run concurrently. A `catch` runs while its `try` is open.
    pub(super) fn before<'s>(
        &'s self,
        source: &ProgramSource<'_>,
        found: &LineLookup,
        parent: Option<i64>,
    ) -> Option<&'s Execution> {
        let (statement, listing) = (found.statement?, source.listing?);
        let beside = parent.and_then(|id| self.rows.get(&id));
        if beside.is_some_and(super::item::is_parallel) {
            return None;
        }
        self.rows.values().find(|row| {
            let own = source.of_row(row).filter(|_| row.parent == parent);
            // Other rules handle a second beginning of the same statement and a waiting gate.
            let own = own.filter(|_| shape(row) != RowShape::Gate);
            own.is_some_and(|own| {
                own != statement
                    && listing.leader(own) != listing.leader(statement)
                    && !listing.contains(own, statement)
            })
        })
    }

    /// Refuses a statement that would begin before an open execution of its sequence has ended.
    pub(super) fn in_turn(
        &self,
        source: &ProgramSource<'_>,
        found: &LineLookup,
        parent: Option<i64>,
    ) -> Result<(), WriteError> {
        let open = self.before(source, found, parent);
        let Some(open) = open else { return Ok(()) };
        let mut inner = open;
        while let Some(child) = self.inside(inner.id).last() {
            inner = child;
        }
        let line = found.line.map_or_else(
            || "this statement".to_owned(),
            |line| format!("line {line}"),
        );
        Err(WriteError::refused(
            "out-of-turn",
            format!("{line} cannot begin yet: {}", listed(&[open])),
            format!(
                "first `{}`; only branches of a parallel run side by side",
                end_of(source, inner)
            ),
        ))
    }

    /// Refuses to end an execution with an open child, or a `try` with an open handler.
    pub(super) fn no_child(
        &self,
        facts: &Facts<'_>,
        id: i64,
        what: &str,
        verb: &str,
    ) -> Result<(), WriteError> {
        let mut open: Vec<&Execution> = self.inside(id).collect();
        let own = self.rows.get(&id);
        let beside = |row: &&Execution| {
            self.rows
                .values()
                .any(|at| at.id > row.id && at.parent == row.parent)
        };
        if let Some(own) = own.filter(beside) {
            open.extend(self.handler(&ProgramSource::of(facts), own));
        }
        if open.is_empty() {
            return Ok(());
        }
        Err(WriteError::refused(
            "children-open",
            format!("{what} {id} {verb}: {}", listed(&open)),
            "first end, fail or skip the open execution, or wait for its gate",
        ))
    }

    /// Returns the changes that mark the open rows inside the ended execution `id` as no longer running. `None` is the
    /// whole run. In a database, OpenProse counts rows with `status = 'executing'` as running. The log of a folder
    /// needs no change.
    pub(super) fn cut_off(&self, style: Style, id: Option<i64>) -> Vec<Change> {
        let cut = self
            .rows
            .values()
            .filter(|row| id.is_none_or(|id| row.id != id && self.lies_in(row, id)));
        cut.filter_map(|row| no_longer(style, row, None)).collect()
    }
}

/// Returns the open executions in words: `execution 12 is open (let x = session "A")`.
pub(super) fn listed(open: &[&Execution]) -> String {
    let some: Vec<String> = open
        .iter()
        .take(5)
        .map(|row| match &meta(row).gate_id {
            Some(gate) => format!("gate {gate} waits for a decision (execution {})", row.id),
            None => format!("execution {} is open ({})", row.id, shown(&row.text)),
        })
        .collect();
    match open.len() - some.len() {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

/// Returns the change that marks an opening row as no longer running: its status becomes `started`, and it gets the end
/// time. Returns `None` in the in-place style, where the row is updated anyway, and for a folder.
pub(super) fn no_longer(style: Style, row: &Execution, ended: Option<String>) -> Option<Change> {
    (style == Style::AppendOnly && row.status.opens()).then(|| {
        Change::UpdateExecution(ExecutionUpdate {
            id: row.id,
            status: Some(Status::Started.word().to_owned()),
            completed: ended.map(Some),
            ..ExecutionUpdate::default()
        })
    })
}

fn gate_waits(gate: &Execution) -> WriteError {
    let id = meta(gate).gate_id.unwrap_or_else(|| "".into());
    WriteError::refused(
        WAITS,
        format!(
            "gate {id} waits for a decision (execution {}): nothing can begin before the decision",
            gate.id
        ),
        format!("a person decides: tell whoever may decide, and wait: `prosescope gate wait {id}`"),
    )
}
