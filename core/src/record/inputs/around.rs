//! Defines the queries that find the values which a statement receives. Each query looks rows up by key, so that a
//! writer needs only a few rows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::model::{Execution, Status};
use crate::record::instance::begins;
use crate::record::{Facts, Fault, StatementPlace};
use crate::trace::frame_block;

/// The queries on a run that find the values of a statement.
pub(crate) trait InputLookup {
    /// Returns the execution row with this id.
    fn row(&self, id: i64) -> Result<Option<Execution>, Fault>;

    /// Returns the nearest scope with a binding of this name, from the execution `from` outward; `Some(None)` is the
    /// root.
    fn scope_of(&self, name: &str, from: Option<i64>) -> Result<Option<Option<i64>>, Fault>;

    /// Passes the rows at `place` to `each`, the newest first, until `each` breaks.
    fn back(
        &self,
        place: &StatementPlace<'_>,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// Passes the rows before the statement to `each`, the newest first, until `each` breaks.
    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault>;

    /// Returns whether the run has an import with this handle.
    fn imported(&self, alias: &str) -> Result<bool, Fault>;
}

impl InputLookup for Facts<'_> {
    fn row(&self, id: i64) -> Result<Option<Execution>, Fault> {
        Ok(self.execution(id).cloned())
    }

    fn scope_of(&self, name: &str, from: Option<i64>) -> Result<Option<Option<i64>>, Fault> {
        let (mut at, mut seen) = (from, BTreeSet::new());
        while let Some(id) = at.filter(|id| seen.insert(*id)) {
            if self.binding(name, Some(id))?.is_some() {
                return Ok(Some(Some(id)));
            }
            at = self.execution(id).and_then(|row| row.parent);
        }
        Ok(self.binding(name, None)?.map(|_| None))
    }

    fn back(
        &self,
        place: &StatementPlace<'_>,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let _ = self.back(place, 0).cloned().try_for_each(each);
        Ok(())
    }

    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault> {
        let _ = self.rows().iter().rev().cloned().try_for_each(each);
        Ok(())
    }

    fn imported(&self, alias: &str) -> Result<bool, Fault> {
        Ok(self.import(alias).is_some())
    }
}

/// Returns the execution `from` and the executions around it, innermost first.
pub(super) fn chain(run: &dyn InputLookup, from: Option<i64>) -> Result<Vec<Execution>, Fault> {
    let (mut at, mut seen, mut chain) = (from, BTreeSet::new(), Vec::new());
    while let Some(id) = at.filter(|id| seen.insert(*id)) {
        let Some(row) = run.row(id)? else { break };
        at = row.parent;
        chain.push(row);
    }
    Ok(chain)
}

/// Returns the newest execution at `place`: its id and its last row.
pub(super) fn last_of(
    run: &dyn InputLookup,
    place: &StatementPlace<'_>,
) -> Result<Option<(i64, Execution)>, Fault> {
    let mut found: Option<(i64, Execution)> = None;
    run.back(place, &mut |row| {
        let first = begins(&row);
        match &mut found {
            Some((id, _)) => *id = row.id,
            None => found = Some((row.id, row)),
        }
        if first {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(found)
}

/// How many of the newest rows are searched for the error that a `catch` caught. Only few rows follow the failure
/// before the `catch` begins.
const RECENT: usize = 200;

/// Returns the newest failed row at these lines, or inside a row at these lines, in the call `frame` of a block.
pub(super) fn error_in(
    run: &dyn InputLookup,
    lines: std::ops::RangeInclusive<i64>,
    frame: Option<i64>,
) -> Result<Option<Execution>, Fault> {
    let mut failed = Vec::new();
    let mut looked = 0;
    run.newest(&mut |row| {
        looked += 1;
        if row.status == Status::Failed && row.error.is_some() {
            failed.push(row);
        }
        if looked < RECENT {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    for row in failed {
        let around = chain(run, row.parent)?;
        let own = |row: &Execution| row.index.is_some_and(|line| lines.contains(&line));
        let here = std::iter::once(&row).chain(&around);
        // Another call of the block may have run the same lines, so the frame must match, too.
        let outer = here.skip_while(|row| !own(row)).skip(1);
        let mut frames = outer.filter(|row| frame_block(row).is_some());
        let inside = own(&row) || around.iter().any(own);
        if inside && frames.next().map(|row| row.id) == frame {
            return Ok(Some(row));
        }
    }
    Ok(None)
}
