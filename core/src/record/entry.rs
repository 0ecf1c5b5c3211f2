//! Checks that a statement may begin now, and plans the row that opens it.

use super::insist::{ForcedRules, Insist};
use super::instance::{depth, meta, newest, open_parent, running, shown};
use super::meta::MetaKeys;
use super::next::next_step;
use super::open_executions::OpenExecutions;
use super::order::NextInSequence;
use super::place::{at_line, parent_of};
use super::rounds::rounds_left;
use super::source::{LineLookup, ProgramSource};
use super::task::task_of;
use super::{At, Change, CommandPlan, ExecutionBegun, ExecutionRow, Facts, RunChange, WriteError};
use crate::model::{Execution, Meta, Status};
use crate::trace::frame_block;
use crate::trace::judgement::{Bar, WAITS, Why};

/// A statement that may begin: it was looked up in the program, its parent is known, and no open statement blocks it.
pub(super) struct BeginnableStatement<'s> {
    pub(super) run: String,
    pub(super) source: ProgramSource<'s>,
    pub(super) found: LineLookup,
    pub(super) parent: Option<i64>,
    pub(super) insisted: ForcedRules,
    /// Notes for the caller, such as a warning that the statement is out of order.
    pub(super) notes: Vec<String>,
}

impl<'s> BeginnableStatement<'s> {
    /// Finds the execution in which a statement runs, and checks that the statement may begin now. `asks` is the id of
    /// the gate that the statement asks, if it is one.
    pub(super) fn open(
        facts: &'s Facts<'_>,
        found: LineLookup,
        parent: Option<i64>,
        insist: Insist,
        asks: Option<&str>,
    ) -> Result<BeginnableStatement<'s>, WriteError> {
        let run = running(facts)?;
        open_parent(facts, parent)?;
        let source = ProgramSource::of(facts);
        let open_executions = OpenExecutions::of(facts);
        let mut insisted = ForcedRules::new(insist);
        let fits = parent_of(facts, &source, &open_executions, &found, parent);
        let parent = insisted.sequence(fits)?.unwrap_or(parent);
        insisted.sequence(open_executions.past_gates(parent))?;
        insisted.sequence(open_executions.in_turn(&source, &found, parent))?;
        insisted.sequence(rounds_left(facts, &source, parent))?;
        let turn = NextInSequence {
            facts,
            source,
            found: &found,
            parent,
        };
        insisted.sequence(turn.other_way())?;
        insisted.sequence(not_barred(facts, parent, &found, asks))?;
        let notes = turn.notes()?;
        Ok(BeginnableStatement {
            notes,
            run,
            source,
            found,
            parent,
            insisted,
        })
    }

    /// Returns the row that opens the statement.
    pub(super) fn row(
        &self,
        facts: &Facts<'_>,
        status: Status,
        meta: Meta,
    ) -> Result<Execution, WriteError> {
        Ok(Execution {
            index: self.found.index(),
            text: self.found.text.as_str().into(),
            parent: self.parent,
            meta: Some(meta.into()),
            ..Execution::new(facts.next_execution()?, status)
        })
    }

    /// Returns the plan that writes `row`. The row's metadata gets `keys` and the keys that identify the instance.
    pub(super) fn begin(
        mut self,
        facts: &Facts<'_>,
        at: &At,
        mut row: Execution,
        keys: MetaKeys,
    ) -> Result<CommandPlan<ExecutionBegun>, WriteError> {
        self.insisted
            .sequence(not_too_deep(facts, self.parent, &row))?;
        let (block, depth) = name_frame(facts, &mut row)?.unzip();
        let meta = meta(&row);
        let keys = keys.and(MetaKeys::line(&self.source, &self.found));
        let keys = self.insisted.keys(MetaKeys::naming(&meta).and(keys));
        let task = task_of(facts, &self.source, &self.found, &row)?;
        let name = meta.branch.or(meta.loop_id).or(meta.parallel_id);
        let next = next_step(&self.source, &self.found, row.id);
        Ok(CommandPlan {
            changes: vec![opening(facts, at, &row, keys), touch(facts, at)],
            done: ExecutionBegun {
                run: self.run,
                id: row.id,
                line: self.found.index(),
                statement: self.found.text,
                parent: self.parent,
                name: name.map(|name| name.to_string()),
                block,
                depth,
                task,
                next,
                notes: self.notes,
            },
        })
    }
}

/// Refuses a statement that the program bars: after a gate that was rejected, timed out or never asked, or after its
/// call had returned.
fn not_barred(
    facts: &Facts<'_>,
    parent: Option<i64>,
    found: &LineLookup,
    asks: Option<&str>,
) -> Result<(), WriteError> {
    match facts.bar(parent, found.statement, asks) {
        // Another rule refuses what follows a gate that waits.
        None => Ok(()),
        Some(Bar::Gate(bar)) if bar.why == Why::Pending => Ok(()),
        Some(bar) => Err(barred(&bar, &format!("{} cannot begin", at_line(found)))),
    }
}

/// Refuses a call of a block that is called more often inside of itself than the program allows.
fn not_too_deep(facts: &Facts<'_>, parent: Option<i64>, row: &Execution) -> Result<(), WriteError> {
    let bar = frame_block(row).and_then(|block| facts.bar_of_call(parent, block));
    match bar {
        Some(bar) => Err(barred(
            &bar,
            &format!("`{}` cannot begin", shown(&row.text)),
        )),
        None => Ok(()),
    }
}

/// Returns the refusal of what is barred; `what` says so, such as `line 5 cannot begin`.
pub(super) fn barred(bar: &Bar, what: &str) -> WriteError {
    let (rule, why, hint) = match bar {
        Bar::Gate(bar) => {
            let line = bar.line;
            let at = line.map_or(String::new(), |line| format!(" (line {line})"));
            let gate = format!("gate {}{at}", bar.gate);
            match bar.why {
                Why::NeverAsked => {
                    let line = line.map_or("LINE".to_owned(), |line| line.to_string());
                    (
                        "gate-not-asked",
                        format!("{gate} comes first, and was never asked"),
                        format!("first ask at the gate: `prosescope begin {line}`"),
                    )
                }
                Why::Pending => (
                    WAITS,
                    format!("{gate} waits for a decision"),
                    format!(
                        "a person decides: `prosescope gate wait {}` waits",
                        bar.gate
                    ),
                ),
                Why::Gone => (
                    "gate-gone",
                    format!("{gate} was asked, but its record is gone"),
                    "find out what became of the gate: `prosescope check` shows what is missing"
                        .to_owned(),
                ),
                Why::Rejected => (
                    "gate-rejected",
                    format!("{gate} was rejected, and nothing takes the rejection"),
                    AFTER.to_owned(),
                ),
                Why::TimedOut => (
                    "gate-timed-out",
                    format!("{gate} timed out, which counts as a rejection, and nothing takes it"),
                    AFTER.to_owned(),
                ),
            }
        }
        Bar::Returned { line } => (
            "call-returned",
            format!("the call around it returned at line {line}"),
            AFTER.to_owned(),
        ),
        Bar::Failed { id, line } => {
            let line = line.map_or("a statement before".to_owned(), |line| {
                format!("line {line}")
            });
            let hint = id.map_or(AFTER.to_owned(), |id| {
                format!("`prosescope retry {id}` begins another attempt; `prosescope next` names what else may come")
            });
            (
                "after-failure",
                format!("{line} failed, and nothing handled the failure"),
                hint,
            )
        }
        Bar::TooDeep { block, max } => (
            "call-too-deep",
            format!("the program allows {max} calls of block {block} inside of each other"),
            AFTER.to_owned(),
        ),
    };
    WriteError::refused(rule, format!("{what}: {why}"), hint)
}

/// What to do when what was tried is barred for good.
const AFTER: &str = "`prosescope next` names what may come now";

/// Adds the name of the called block and the call's depth in frames, from 1, to the metadata of a call's row. Returns
/// both; `None` for a row that is not a call.
fn name_frame(facts: &Facts<'_>, row: &mut Execution) -> Result<Option<(String, i64)>, WriteError> {
    let Some(block) = frame_block(row).map(str::to_owned) else {
        return Ok(None);
    };
    let deep = depth(facts, row.parent)?.saturating_add(1);
    let mut own = meta(row);
    own.block = Some(block.as_str().into());
    own.depth = Some(deep);
    row.meta = Some(own.into());
    Ok(Some((block, deep)))
}

/// Refuses a statement that is already open in the same parent, because the rows of both executions would look alike.
pub(super) fn not_twice(facts: &Facts<'_>, row: &Execution) -> Result<(), WriteError> {
    let newest = newest(facts, row, i64::MIN).and_then(|row| facts.instance(row.id));
    let is_open = |row: &Execution| facts.open().any(|open| open.id == row.id);
    match newest.map(|newest| newest.first).filter(is_open) {
        None => Ok(()),
        Some(open) => Err(WriteError::refused(
            "execution-open",
            format!(
                "execution {} of this statement is still open: {}",
                open.id,
                shown(&row.text)
            ),
            "first end, fail or skip that execution; concurrent statements belong in branches of a parallel",
        )),
    }
}

/// Returns the change that writes the opening row of an instance.
pub(super) fn opening(facts: &Facts<'_>, at: &At, row: &Execution, keys: MetaKeys) -> Change {
    Change::Execution(ExecutionRow {
        id: row.id,
        index: row.index,
        text: row.text.to_string(),
        status: row.status.word().to_owned(),
        started: Some(at.text(facts.style())),
        parent: row.parent,
        metadata: keys.done(),
        ..ExecutionRow::default()
    })
}

/// Returns the change that sets the run's `updated_at` to the present time (errata X15).
pub(super) fn touch(facts: &Facts<'_>, at: &At) -> Change {
    Change::Run(RunChange {
        status: None,
        updated: at.text(facts.style()),
    })
}
