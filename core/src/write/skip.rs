use super::begin::Begin;
use super::close::{Close, How};
use super::insist::Insist;
use super::instance::meta;
use super::open_executions::OpenExecutions;
use super::source::{Command, Source, StatementRef};
use super::steps::Steps;
use super::{At, ExecutionEnded, Facts, Plan, Record, WriteError};
use crate::model::Execution;

/// The command `skip`, which records that a statement was skipped: one that has not begun, or one that is open. A skipped
/// input was not given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skip {
    /// The statement. The rules for beginning a statement also apply to skipping it, so a run cannot skip a statement out of
    /// turn.
    pub statement: StatementRef,
    /// The row id of the execution that would contain the statement; by default found among the open executions.
    pub parent: Option<i64>,
    /// The name of the item or branch that would contain the statement.
    pub item: Option<String>,
    /// Why the statement was skipped, if the caller said so.
    pub because: Option<String>,
    /// The overrides that the caller gave (`--force`).
    pub insist: Insist,
}

impl Record for Skip {
    type Done = ExecutionEnded;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<ExecutionEnded>, WriteError> {
        let source = Source::of(facts);
        let found = source.find(&self.statement)?;
        let own = source.statement(&found);
        if let Some(own) = own.filter(|own| Command::of(own) == Command::Gate && own.name.is_some())
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
        let open: Vec<&Execution> = open_executions
            .rows()
            .filter(|row| found.statement.is_some() && source.of_row(row) == found.statement)
            .filter(|row| self.parent.is_none_or(|parent| row.parent == Some(parent)))
            .filter(|row| is_in_item(row))
            .collect();
        let mut all = Steps::new(facts);
        let id = match open_executions.innermost(&open) {
            Some(open) => open.id,
            None => {
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
        let reason = self.because.clone();
        let skip = Close {
            insist: self.insist,
            ..Close::new(id, How::Skipped { reason })
        };
        let ended = all.plan(&skip, at)?;
        Ok(all.done(ended))
    }
}
