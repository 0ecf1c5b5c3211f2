use super::begin::Begin;
use super::end::{Close, EndingKind};
use super::insist::Insist;
use super::instance::meta;
use super::meta::MetaKeys;
use super::open_executions::{OpenExecutions, listed};
use super::source::{ProgramSource, RecordingCommand, StatementRef};
use super::steps::Steps;
use super::{At, CommandPlan, ExecutionEnded, Facts, Record, WriteError};
use crate::model::Execution;
use crate::trace::{frame_block, is_branch_text};

/// The command `skip`, which records that a statement was skipped: one that has not begun, or one that is open. A
/// skipped input was not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skip {
    /// The statement. The rules for beginning a statement also apply to skipping it, so a run cannot skip a statement
    /// out of turn.
    pub statement: StatementRef,
    /// The row id of the execution that would contain the statement; by default found among the open executions.
    pub parent: Option<i64>,
    /// The name of the item or branch that would contain the statement.
    pub item: Option<String>,
    /// Why the statement was skipped, if the caller said so.
    pub because: Option<String>,
    /// Whether the statement may be skipped out of turn (`--force`).
    pub insist: Insist,
}

impl Record for Skip {
    type Done = ExecutionEnded;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<ExecutionEnded>, WriteError> {
        let source = ProgramSource::of(facts);
        let found = source.find(&self.statement)?;
        let own = source.statement(&found);
        if let Some(own) = own
            .filter(|own| RecordingCommand::of(own) == RecordingCommand::Gate && own.name.is_some())
        {
            return Err(WriteError::refused(
                "gate-decides",
                format!("line {} is a gate, and a gate cannot be skipped", own.line),
                format!(
                    "ask at the gate: `prosescope begin {}`; a person decides",
                    own.line
                ),
            ));
        }
        let open_executions = OpenExecutions::of(facts);
        let is_in_item = |row: &Execution| {
            let mut rows = std::iter::once(row).chain(open_executions.above(row));
            self.item.is_none()
                || rows.any(|row| meta(row).branch.as_deref() == self.item.as_deref())
        };
        if let Some(own) = own.filter(|own| RecordingCommand::of(own) == RecordingCommand::Input)
            && let Some(name) = own.name.as_deref()
            && facts.binding(name, None)?.is_some()
        {
            return Err(WriteError::refused(
                "input-given",
                format!("input {name} has a value, so it was given"),
                "`prosescope next` names what comes next",
            ));
        }
        let is_it = |row: &Execution| {
            let by_name = meta(row)
                .branch
                .is_some_and(|branch| is_branch_text(&row.text, &branch));
            if by_name {
                row.index == found.index() && !source.has_items_of(row)
            } else {
                source.of_row(row) == found.statement
            }
        };
        // In a recursion, the statement may stand in the very call that is open.
        let holds = |row: &Execution| {
            let block = frame_block(row).zip(source.listing);
            let at = block.and_then(|(block, listing)| listing.block_named(block));
            at.zip(found.statement)
                .zip(source.listing)
                .is_some_and(|((at, inner), listing)| listing.contains(at, inner))
        };
        let open: Vec<&Execution> = open_executions
            .rows()
            .filter(|row| found.statement.is_some() && is_it(row) && !holds(row))
            .filter(|row| self.parent.is_none_or(|parent| row.parent == Some(parent)))
            .filter(|row| is_in_item(row))
            .collect();
        let mut all = Steps::new(facts);
        let id = match (open_executions.innermost(&open), open.as_slice()) {
            (Some(open), _) => open.id,
            (None, [_, ..]) => {
                return Err(WriteError::refused(
                    "item-ambiguous",
                    format!(
                        "more than one execution of this line is open: {}",
                        listed(&open)
                    ),
                    "name the branch or item with `--item NAME`",
                ));
            }
            (None, []) => {
                let begin = Begin {
                    statement: self.statement.clone(),
                    parent: self.parent,
                    item: self.item.clone(),
                    insist: self.insist,
                    ..Begin::default()
                };
                all.then(|facts| begin.execution(facts, at, true))?.id
            }
        };
        let skip = Close::new(id, EndingKind::Skipped, self.insist);
        let why = MetaKeys::default().text("reason", self.because.as_deref());
        let ended = all.then(|facts| skip.close(facts, at, why))?;
        Ok(all.done(ended))
    }
}
