//! Defines the interface of a workflow store: a store returns rows and applies changes. The rules for changes are in
//! the commands, not in the store.

use super::shape::WorkflowShape;
use super::{Json, Turn, TurnStatus, Workflow};
use prosescope_core::record::{Fault, FaultKind, WriteError};

/// A table of workflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkflowTable {
    /// The table `workflows`: conversations.
    Workflows,
    /// The table `workflow_runs`: the turns of conversations.
    Runs,
    /// The table `workflow_events`: reports of progress.
    Events,
}

impl WorkflowTable {
    /// Returns OpenProse's name of the table.
    pub fn name(self) -> &'static str {
        match self {
            WorkflowTable::Workflows => "workflows",
            WorkflowTable::Runs => "workflow_runs",
            WorkflowTable::Events => "workflow_events",
        }
    }
}

/// A value that is written to a column, or with which a column is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// The SQL value NULL.
    Null,
    /// A text; in a column of ids, the text of an id.
    Text(String),
    /// A word of an enum, such as `active`; a table may store the word in another case.
    Word(&'static str),
    /// A JSON value.
    Json(Json),
    /// A truth value.
    Bool(bool),
    /// A whole number, such as the id of an event.
    Int(i64),
    /// A time, in milliseconds since 1970 UTC.
    Time(i64),
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }
}

impl From<Option<String>> for SqlValue {
    fn from(text: Option<String>) -> SqlValue {
        text.map_or(SqlValue::Null, SqlValue::Text)
    }
}

/// A comparison of a column with values.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// The column equals the value.
    Is(SqlValue),
    /// The column equals one of these values.
    In(Vec<SqlValue>),
    /// The column is larger than the value.
    Above(SqlValue),
    /// The column is at most the value.
    UpTo(SqlValue),
    /// The column begins with the text.
    Begins(String),
    /// The column is NULL.
    Missing,
}

/// A condition that the selected rows must meet.
#[derive(Debug, Clone, PartialEq)]
pub struct RowCondition {
    /// The name of the column.
    pub column: &'static str,
    /// The comparison that must hold for the column.
    pub op: Op,
}

/// A selection of rows of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Select<'a> {
    /// The table to read.
    pub table: WorkflowTable,
    /// The columns to read; `None` for all, including unknown ones.
    pub columns: Option<&'a [&'static str]>,
    /// The conditions, which must all hold.
    pub filters: Vec<RowCondition>,
    /// The columns to order by; true means descending.
    pub order: &'a [(&'static str, bool)],
    /// The most rows to return; `None` for no limit.
    pub limit: Option<u32>,
}

impl<'a> Select<'a> {
    /// Selects all rows and columns of a table.
    pub fn of(table: WorkflowTable) -> Select<'a> {
        Select {
            table,
            columns: None,
            filters: Vec::new(),
            order: &[],
            limit: None,
        }
    }

    /// Adds the condition that a column equals a value.
    #[must_use]
    pub fn is(self, column: &'static str, value: impl Into<SqlValue>) -> Select<'a> {
        let value = value.into();
        self.filter(column, Op::Is(value))
    }

    /// Adds a condition on a column.
    #[must_use]
    pub fn filter(mut self, column: &'static str, op: Op) -> Select<'a> {
        self.filters.push(RowCondition { column, op });
        self
    }

    /// Sets the columns to order by; true means descending.
    #[must_use]
    pub fn order(mut self, order: &'a [(&'static str, bool)]) -> Select<'a> {
        self.order = order;
        self
    }

    /// Sets the columns to read.
    #[must_use]
    pub fn columns(mut self, columns: &'a [&'static str]) -> Select<'a> {
        self.columns = Some(columns);
        self
    }

    /// Sets the most rows to return.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Select<'a> {
        self.limit = Some(limit);
        self
    }
}

/// A row: column names with their values as text, in the table's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkflowRow(pub Vec<(String, Option<String>)>);

impl WorkflowRow {
    /// Returns the value of a column; `None` for NULL and for a missing column.
    pub fn get(&self, column: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == column);
        found.and_then(|(_, value)| value.as_deref())
    }
}

/// A change of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowChange {
    /// The table that contains the row.
    pub table: WorkflowTable,
    /// The id of the row to update; `None` inserts a row.
    pub row: Option<String>,
    /// The columns and their new values. Columns that the table lacks are skipped. A command that needs a column checks
    /// first with [`WorkflowShape::has`] that the column exists.
    pub values: Vec<(&'static str, SqlValue)>,
}

impl RowChange {
    /// Returns the change that inserts a row.
    pub fn insert(table: WorkflowTable, values: Vec<(&'static str, SqlValue)>) -> RowChange {
        RowChange {
            table,
            row: None,
            values,
        }
    }

    /// Returns the change that updates the row with this id.
    pub fn update(
        table: WorkflowTable,
        id: &str,
        values: Vec<(&'static str, SqlValue)>,
    ) -> RowChange {
        RowChange {
            table,
            row: Some(id.to_owned()),
            values,
        }
    }
}

/// The workflow whose row is locked while a command is planned and applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockTarget<'a> {
    /// A workflow that the command creates, so that no row is locked.
    New,
    /// The workflow with this id.
    Workflow(&'a str),
    /// The workflow of the run with this id.
    Run(&'a str),
}

/// The data that a command may read. The data stay unchanged until the command is applied.
pub trait WorkflowFacts {
    /// Returns rows, read in the command's transaction.
    ///
    /// # Errors
    /// If the command's transaction cannot read the rows.
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault>;

    /// Returns the workflow tables that the database contains.
    fn shape(&self) -> &WorkflowShape;

    /// Returns the locked workflow; `None` if it does not exist.
    fn workflow(&self) -> Option<&Workflow>;
}

impl dyn WorkflowFacts + '_ {
    /// Returns a run of the locked workflow; `None` if that workflow has no run with this id.
    ///
    /// # Errors
    /// If the row of the run cannot be read.
    pub fn turn(&self, id: &str) -> Result<Option<Turn>, Fault> {
        let Some(workflow) = self.workflow() else {
            return Ok(None);
        };
        let wanted = Select::of(WorkflowTable::Runs)
            .is("id", id)
            .is("workflow_id", workflow.id.as_str());
        Ok(self.select(&wanted)?.iter().map(Turn::of_row).next())
    }

    /// Returns the running and waiting runs of the locked workflow, the oldest first.
    ///
    /// # Errors
    /// If the open runs cannot be read.
    pub fn open_turns(&self) -> Result<Vec<Turn>, Fault> {
        let Some(workflow) = self.workflow() else {
            return Ok(Vec::new());
        };
        let open = TurnStatus::ALL.iter().filter(|status| status.is_open());
        let open = open.map(|status| SqlValue::Word(status.word())).collect();
        let wanted = Select::of(WorkflowTable::Runs)
            .is("workflow_id", workflow.id.as_str())
            .filter("status", Op::In(open))
            .order(&[("created_at", false), ("id", false)]);
        Ok(self.select(&wanted)?.iter().map(Turn::of_row).collect())
    }
}

/// A function that computes changes from facts.
pub type Work<'a> = &'a mut dyn FnMut(&dyn WorkflowFacts) -> Result<Vec<RowChange>, WriteError>;

/// Read access to workflow tables.
pub trait WorkflowRows {
    /// Returns the workflow tables that the database contains.
    fn shape(&self) -> &WorkflowShape;

    /// Returns rows of one table, all from one moment.
    ///
    /// # Errors
    /// If the rows of the table cannot be read.
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<WorkflowRow>, Fault>;

    /// Returns the newest assigned event id, and the transactions that may still add a smaller one.
    ///
    /// # Errors
    /// If the store cannot find out the newest id or the transactions.
    fn barrier(&self) -> Result<super::follow::Barrier, Fault>;

    /// Returns those of the given transactions that are still open.
    ///
    /// # Errors
    /// If the store cannot find out which transactions are open.
    fn still_open(
        &self,
        waits: &[super::follow::Waiting],
    ) -> Result<Vec<super::follow::Waiting>, Fault>;
}

/// Write access to workflow tables.
pub trait Tables: WorkflowRows {
    /// Locks the target's workflow, calls `work` for the changes, and applies all of them durably, or none. A workflow
    /// has one writer at a time. A store that repeats its transaction calls `work` again. Returns the ids of the
    /// appended events.
    ///
    /// # Errors
    /// The error of `work`, or the [`Fault`] of the store.
    fn transact(&mut self, target: LockTarget<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError>;

    /// Removes the events that meet all conditions; returns how many were removed.
    ///
    /// # Errors
    /// If the events cannot be removed. In PostgreSQL, some of them may then be removed already.
    fn remove_events(&mut self, filters: &[RowCondition]) -> Result<u64, Fault>;
}

/// A command that changes workflow tables.
pub trait TableCommand {
    /// The result that a command returns to its caller.
    type Done;

    /// Returns the workflow whose row is locked for the command.
    fn target(&self) -> LockTarget<'_>;

    /// Returns the changes and the result. `now` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// A refusal; [`WriteError::NotFound`] if a named workflow or run does not exist; the store's fault.
    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<Self::Done>, WriteError>;

    /// Adds the ids of the appended events to the result; does nothing by default.
    fn appended(_done: &mut Self::Done, _ids: Vec<i64>) {}
}

/// The changes that a command makes, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowPlan<D> {
    /// The changes to apply, in this order.
    pub changes: Vec<RowChange>,
    /// The result that is returned to the caller.
    pub done: D,
}

/// Records a command. `version` is the version of the workflow that the caller read (errata M3). If the current version
/// differs, the command is refused. `None` skips this check.
///
/// # Errors
/// See [`TableCommand::plan`] and [`Tables::transact`].
pub fn record<C: TableCommand>(
    tables: &mut dyn Tables,
    command: &C,
    version: Option<i64>,
    now: i64,
) -> Result<C::Done, WriteError> {
    let mut done = None;
    let ids = tables.transact(command.target(), &mut |facts| {
        if let (Some(wanted), Some(workflow)) = (version, facts.workflow())
            && workflow.version != Some(wanted)
        {
            let found = workflow
                .version
                .map_or("none".to_owned(), |version| version.to_string());
            return Err(WriteError::refused(
                "version-moved",
                format!(
                    "workflow {} has version {found}, not {wanted}: the workflow changed after it was read",
                    workflow.id
                ),
                "read the workflow again, and decide again",
            ));
        }
        let plan = command.plan(facts, now)?;
        done = Some(plan.done);
        Ok(plan.changes)
    })?;
    let done = done.map(|mut done| {
        C::appended(&mut done, ids);
        done
    });
    done.ok_or_else(|| {
        Fault::new(FaultKind::Damaged, "the store did not execute the command").into()
    })
}
