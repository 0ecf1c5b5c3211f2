//! What a store of workflows does: rows out, changes in. It knows no rule.

use super::shape::Shape;
use super::{Json, Turn, TurnStatus, Workflow};
use prosescope_core::write::{Fault, FaultKind, WriteError};

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// `workflows`.
    Workflows,
    /// `workflow_runs`.
    Runs,
    /// `workflow_events`.
    Events,
    /// `x_workflow_followers`: ours, what named followers have read.
    Followers,
}

impl Table {
    /// As the document names it.
    pub fn name(self) -> &'static str {
        match self {
            Table::Workflows => "workflows",
            Table::Runs => "workflow_runs",
            Table::Events => "workflow_events",
            Table::Followers => "x_workflow_followers",
        }
    }
}

/// What goes into a column, or what a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// A text; for a column of ids, an id.
    Text(String),
    /// A word of an enum, which a table may write in another case.
    Word(&'static str),
    /// JSON.
    Json(Json),
    /// A truth.
    Bool(bool),
    /// A number.
    Int(i64),
    /// Milliseconds since 1970 UTC.
    Time(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Value {
        text.map_or(Value::Null, Value::Text)
    }
}

/// How a column is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// It is this.
    Is(Value),
    /// It is one of these.
    In(Vec<Value>),
    /// It is larger.
    Above(Value),
    /// It is at most this.
    UpTo(Value),
    /// It begins with this text.
    Begins(String),
    /// It is NULL.
    Missing,
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The column.
    pub column: &'static str,
    /// How it is compared.
    pub op: Op,
}

/// Rows that are wanted of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Select<'a> {
    /// The table.
    pub table: Table,
    /// The columns; `None` for all, also those that we do not know.
    pub columns: Option<&'a [&'static str]>,
    /// Conditions, all of which hold.
    pub filters: Vec<Filter>,
    /// Columns to order by, each with whether downward.
    pub order: &'a [(&'static str, bool)],
    /// The most rows.
    pub limit: Option<u32>,
}

impl<'a> Select<'a> {
    /// All rows and columns of a table.
    pub fn of(table: Table) -> Select<'a> {
        Select {
            table,
            columns: None,
            filters: Vec::new(),
            order: &[],
            limit: None,
        }
    }

    /// Those of which a column is this.
    #[must_use]
    pub fn is(self, column: &'static str, value: impl Into<Value>) -> Select<'a> {
        let value = value.into();
        self.filter(column, Op::Is(value))
    }

    /// Those for which a condition holds.
    #[must_use]
    pub fn filter(mut self, column: &'static str, op: Op) -> Select<'a> {
        self.filters.push(Filter { column, op });
        self
    }

    /// In this order.
    #[must_use]
    pub fn order(mut self, order: &'a [(&'static str, bool)]) -> Select<'a> {
        self.order = order;
        self
    }

    /// With these columns alone.
    #[must_use]
    pub fn columns(mut self, columns: &'a [&'static str]) -> Select<'a> {
        self.columns = Some(columns);
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Select<'a> {
        self.limit = Some(limit);
        self
    }
}

/// A row: names of columns and what they hold as text, in the table's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(pub Vec<(String, Option<String>)>);

impl Row {
    /// What a column holds; `None` for NULL and for a column that is not there.
    pub fn get(&self, column: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == column);
        found.and_then(|(_, value)| value.as_deref())
    }
}

/// A change of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The table.
    pub table: Table,
    /// The row to update; `None` inserts one.
    pub row: Option<String>,
    /// Columns and their new values. Columns that the table lacks are left out, but for those that the command checked with
    /// [`Shape::has`].
    pub values: Vec<(&'static str, Value)>,
}

impl Change {
    /// A new row.
    pub fn insert(table: Table, values: Vec<(&'static str, Value)>) -> Change {
        Change {
            table,
            row: None,
            values,
        }
    }

    /// A row with this id gets other values.
    pub fn update(table: Table, id: &str, values: Vec<(&'static str, Value)>) -> Change {
        Change {
            table,
            row: Some(id.to_owned()),
            values,
        }
    }
}

/// Whose row is locked while a command is planned and applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A workflow that the command makes.
    New,
    /// The workflow with this id.
    Workflow(&'a str),
    /// The workflow of the run with this id.
    Run(&'a str),
}

/// What a command may know. Nothing of it changes before the command is applied.
pub trait Facts {
    /// Rows, in the command's transaction.
    ///
    /// # Errors
    /// The fault of the store.
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<Row>, Fault>;

    /// The tables as they were found.
    fn shape(&self) -> &Shape;

    /// The workflow that is locked; `None` when there is none.
    fn workflow(&self) -> Option<&Workflow>;
}

impl dyn Facts + '_ {
    /// A run of the locked workflow.
    ///
    /// # Errors
    /// The fault of the store.
    pub fn turn(&self, id: &str) -> Result<Option<Turn>, Fault> {
        let Some(workflow) = self.workflow() else {
            return Ok(None);
        };
        let wanted = Select::of(Table::Runs)
            .is("id", id)
            .is("workflow_id", workflow.id.as_str());
        Ok(self.select(&wanted)?.iter().map(Turn::of_row).next())
    }

    /// The runs of the locked workflow that are running or waiting, the oldest first.
    ///
    /// # Errors
    /// The fault of the store.
    pub fn open_turns(&self) -> Result<Vec<Turn>, Fault> {
        let Some(workflow) = self.workflow() else {
            return Ok(Vec::new());
        };
        let open = TurnStatus::ALL.iter().filter(|status| status.is_open());
        let open = open.map(|status| Value::Word(status.word())).collect();
        let wanted = Select::of(Table::Runs)
            .is("workflow_id", workflow.id.as_str())
            .filter("status", Op::In(open))
            .order(&[("created_at", false), ("id", false)]);
        Ok(self.select(&wanted)?.iter().map(Turn::of_row).collect())
    }
}

/// What computes changes from facts.
pub type Work<'a> = &'a mut dyn FnMut(&dyn Facts) -> Result<Vec<Change>, WriteError>;

/// The tables of workflows: read.
pub trait Rows {
    /// The tables as they were found.
    fn shape(&self) -> &Shape;

    /// Rows of one table, of one moment.
    ///
    /// # Errors
    /// The fault of the store.
    fn select(&self, wanted: &Select<'_>) -> Result<Vec<Row>, Fault>;

    /// The newest id of an event that was handed out, and who may still bring an older one.
    ///
    /// # Errors
    /// The fault of the store.
    fn barrier(&self) -> Result<super::follow::Barrier, Fault>;

    /// Those that still may.
    ///
    /// # Errors
    /// The fault of the store.
    fn still_open(
        &self,
        waits: &[super::follow::Waiting],
    ) -> Result<Vec<super::follow::Waiting>, Fault>;
}

/// The tables of workflows: written.
pub trait Tables: Rows {
    /// Locks the target's workflow, asks `work` what to change, and applies it: all or nothing, durably, and one writer of a
    /// workflow at a time. `work` may be asked again when the store had to start over. Returns the ids of the events that
    /// were appended.
    ///
    /// # Errors
    /// What `work` said, or the [`Fault`] of the store.
    fn transact(&mut self, target: Target<'_>, work: Work<'_>) -> Result<Vec<i64>, WriteError>;

    /// Removes the events for which all of these conditions hold. Returns how many.
    ///
    /// # Errors
    /// The fault of the store.
    fn remove_events(&mut self, filters: &[Filter]) -> Result<u64, Fault>;

    /// Notes how far a named follower has read.
    ///
    /// # Errors
    /// The fault of the store.
    fn note_cursor(
        &mut self,
        workflow: &str,
        follower: &str,
        cursor: i64,
        now: i64,
    ) -> Result<(), Fault>;
}

/// A command.
pub trait Command {
    /// What the caller is told.
    type Done;

    /// Whose row is locked.
    fn target(&self) -> Target<'_>;

    /// What to change. `now` is in milliseconds since 1970 UTC.
    ///
    /// # Errors
    /// A refusal; [`WriteError::NotFound`] for what is not there; the store's fault.
    fn plan(&self, facts: &dyn Facts, now: i64) -> Result<Plan<Self::Done>, WriteError>;

    /// Takes the ids of the events that were appended.
    fn appended(_done: &mut Self::Done, _ids: Vec<i64>) {}
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<D> {
    /// What to change, in this order.
    pub changes: Vec<Change>,
    /// What to tell the caller.
    pub done: D,
}

/// Records a command. `version` is the one that the caller read (errata M3): another one is refused.
///
/// # Errors
/// See [`Command::plan`] and [`Tables::transact`].
pub fn record<C: Command>(
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
                    "workflow {} has version {found}, not {wanted}: it changed after it was read",
                    workflow.id
                ),
                "read it again, and decide anew",
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
    done.ok_or_else(|| Fault::new(FaultKind::Damaged, "the store asked for no plan").into())
}
