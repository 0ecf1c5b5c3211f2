//! One execution of a statement or construct, as the trace combines its rows (errata T1 to T3).

use super::source::ProgramSource;
use super::{Facts, StatementPlace, WriteError};
use crate::model::text::cut;
use crate::model::{Execution, Meta, RunStatus, Status};

/// One execution of a statement or construct.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instance {
    /// The instance's first row, whose id is the instance's id.
    pub(super) first: Execution,
    /// The instance's last row. In the in-place style, or if the instance has only one row, this is the first row.
    pub(super) last: Execution,
}

impl Instance {
    /// Returns the instance that has a row with this id.
    pub(super) fn of(facts: &Facts<'_>, id: i64) -> Result<Instance, WriteError> {
        facts.instance(id).ok_or_else(|| no_execution(id))
    }

    /// Returns whether the instance is open.
    pub(super) fn is_open(&self) -> bool {
        !self.last.status.is_terminal()
    }

    /// Returns the instance, or an error if it is closed.
    pub(super) fn open(self) -> Result<Instance, WriteError> {
        if self.is_open() {
            return Ok(self);
        }
        Err(WriteError::refused(
            "execution-closed",
            format!(
                "execution {} is {} already: {}",
                self.first.id,
                self.last.status.word(),
                shown(&self.first.text)
            ),
            match self.last.status {
                Status::Failed => "`prosescope retry ID` begins another attempt",
                _ => "it is done: `prosescope next` names what comes next",
            },
        ))
    }

    pub(super) fn meta(&self) -> Meta {
        meta(&self.first)
    }

    /// Returns the instance's line in the program.
    pub(super) fn line(&self) -> Option<u32> {
        self.first.index.and_then(|line| u32::try_from(line).ok())
    }
}

/// Returns the newest row of the statement and branch of `like`, in the same parent, from `since` on.
pub(super) fn newest<'f>(
    facts: &'f Facts<'_>,
    like: &Execution,
    since: i64,
) -> Option<&'f Execution> {
    let branch = meta(like).branch;
    let mut rows = facts.back(&StatementPlace::of(like), since);
    rows.find(|row| meta(row).branch == branch)
}

/// Returns the id of the later instance of the same statement in the same parent, if the statement began again.
pub(super) fn begun_again(facts: &Facts<'_>, instance: &Instance) -> Option<i64> {
    let newest = newest(facts, &instance.first, instance.first.id)?;
    let newest = facts.instance(newest.id)?.first.id;
    (newest != instance.first.id).then_some(newest)
}

/// Returns whether a row opens its instance. In a folder's log, a row with a binding but without a start time opens no
/// instance, because it only records which value was written.
pub(super) fn begins(row: &Execution) -> bool {
    let keeps = row.started.is_none() && meta(row).binding.is_some();
    row.status.opens() && !keeps
}

/// Returns the id of the row after which the current part of an execution began: the execution's first row, the end of
/// its last round, or its last attempt. Returns 0 for `None`, the program's top.
pub(super) fn begun_after(facts: &Facts<'_>, parent: Option<i64>) -> Result<i64, WriteError> {
    match parent {
        Some(id) if facts.execution(id).is_some() => {
            let last = Instance::of(facts, id)?.last;
            // In the in-place style, the end of a round has no row. The key `round_from` has the first id of the
            // present round.
            let round = meta(&last).round_from.map(|from| from.saturating_sub(1));
            Ok(round.unwrap_or(last.id).max(last.id))
        }
        Some(id) => Ok(id),
        None => Ok(0),
    }
}

/// Returns the newest last row of an execution directly in `parent` for which `wanted` returns true, among the rows
/// with an id above `since`.
pub(super) fn newest_in<'f>(
    facts: &'f Facts<'_>,
    parent: Option<i64>,
    since: i64,
    wanted: impl Fn(&Execution) -> bool,
) -> Option<&'f Execution> {
    let last = facts
        .inside(parent)
        .filter_map(|node| facts.row_at(node.last_row));
    let last = last.filter(|row| row.id > since && meta(row).reopened.is_none() && wanted(row));
    last.max_by_key(|row| row.id)
}

pub(super) fn meta(row: &Execution) -> Meta {
    row.meta.as_deref().cloned().unwrap_or_default()
}

/// Returns the error for an id without a row.
pub(super) fn no_execution(id: i64) -> WriteError {
    WriteError::not_found(
        format!("there is no execution {id} in this run"),
        "`prosescope trace RUN` lists what ran, with ids",
    )
}

/// Returns the run's name for use in commands. Refuses a run that has ended or is interrupted.
pub(super) fn running(facts: &Facts<'_>) -> Result<String, WriteError> {
    let run = facts.run();
    match run.status {
        RunStatus::Completed | RunStatus::Failed => Err(WriteError::refused(
            "run-finished",
            format!("run {} is {} already", run.name, run.status.word()),
            another(&run.status),
        )),
        RunStatus::Interrupted => Err(WriteError::refused(
            "run-interrupted",
            format!("run {} is interrupted", run.name),
            "`prosescope resume RUN --begin` opens the run again",
        )),
        _ => Ok(run.name),
    }
}

/// Refuses a parent that does not exist or has ended.
pub(super) fn open_parent(facts: &Facts<'_>, parent: Option<i64>) -> Result<(), WriteError> {
    let Some(id) = parent else { return Ok(()) };
    let parent = Instance::of(facts, id)?;
    if parent.is_open() {
        return Ok(());
    }
    Err(WriteError::refused(
        "parent-closed",
        format!(
            "execution {id} is {} already, so no statement can run in it: {}",
            parent.last.status.word(),
            shown(&parent.first.text)
        ),
        "give the execution in which the statement runs now; `prosescope resume RUN` shows the current positions",
    ))
}

/// Returns the nearest frame at or above an execution: the scope of values written in it (errata B4).
pub(super) fn frame_of<'f>(
    facts: &'f Facts<'_>,
    from: Option<i64>,
) -> Result<Option<&'f Execution>, WriteError> {
    nearest(facts, from, |row| crate::trace::frame_block(row).is_some())
}

/// Returns the scope of a value: the nearest frame at or above the writing execution, or a nearer branch that binds the
/// name for itself.
pub(super) fn scope_of<'f>(
    facts: &'f Facts<'_>,
    source: &ProgramSource<'_>,
    from: Option<i64>,
    name: &str,
) -> Result<Option<&'f Execution>, WriteError> {
    nearest(facts, from, |row| {
        let branch_in = row.parent.filter(|_| meta(row).branch.is_some());
        let owns = |parent| source.owns(row, facts.execution(parent), name);
        crate::trace::frame_block(row).is_some() || branch_in.is_some_and(owns)
    })
}

/// Returns the nearest execution, at or above `from`, for which `wanted` returns true.
fn nearest<'f>(
    facts: &'f Facts<'_>,
    from: Option<i64>,
    wanted: impl Fn(&Execution) -> bool,
) -> Result<Option<&'f Execution>, WriteError> {
    let mut at = from;
    // The limit ends the search if the parents form a cycle, or a chain deeper than any real one.
    for _ in 0..MOST_DEEP {
        let Some(id) = at else { return Ok(None) };
        let Some(row) = facts.execution(id) else {
            return if Some(id) == from {
                Err(no_execution(id))
            } else {
                Ok(None)
            };
        };
        if wanted(row) {
            return Ok(Some(row));
        }
        at = row.parent.filter(|parent| *parent != id);
    }
    Ok(None)
}

/// Returns the number of frames above an execution.
pub(super) fn depth(facts: &Facts<'_>, from: Option<i64>) -> Result<i64, WriteError> {
    let (mut at, mut depth) = (from, 0);
    for _ in 0..MOST_DEEP {
        let Some(frame) = frame_of(facts, at)? else {
            break;
        };
        depth += 1;
        at = frame.parent.filter(|parent| *parent != frame.id);
    }
    Ok(depth)
}

/// Limit for the number of parents that a search walks up.
const MOST_DEEP: usize = 100_000;

/// Returns the first line of a text, shortened and escaped for a message.
pub(super) fn shown(text: &str) -> String {
    cut(text.lines().next().unwrap_or_default(), 80)
}

/// Returns the hint for a run that has ended.
pub(super) fn another(status: &RunStatus) -> &'static str {
    match status {
        RunStatus::Failed => {
            "`prosescope resume RUN --begin` resumes the run where it failed; `prosescope init PROGRAM` begins another run"
        }
        _ => {
            "nothing can be added to a completed run; `prosescope init PROGRAM` begins another run"
        }
    }
}
