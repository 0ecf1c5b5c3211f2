//! Defines the command that begins a run of a workflow.

use serde::{Deserialize, Serialize};

use super::context;
use super::lifecycle::Action;
use super::rules::{allowed, is_id, no_workflow, told};
use super::tables::{
    LockTarget, RowChange, Select, SqlValue, TableCommand, WorkflowFacts, WorkflowPlan,
    WorkflowTable,
};
use super::{Json, Turn, TurnStatus, WorkflowStatus};
use prosescope_core::record::WriteError;

/// The command that begins a run. Creates a workflow for the run, if `workflow` is `None`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Start {
    /// The id of the workflow to continue; `None` creates a workflow.
    pub workflow: Option<String>,
    /// The id of the workflow to create, if `workflow` is `None`.
    #[serde(skip)]
    pub new_workflow: String,
    /// The id of the new run. Repeating the command with the same id and input changes nothing.
    pub run: String,
    /// The person's message that begins the run.
    pub input: String,
    /// Whether the engine must not ask questions (errata M9).
    pub no_clarifications: bool,
    /// Whether the run may begin although another run of the workflow is open.
    pub parallel: bool,
    /// The name of the engine that will work on the run; not verified.
    pub owner: Option<String>,
    /// The most messages that stay in the context after the run's first message is added; 0 means 100.
    pub tail: u32,
}

/// The result of beginning a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StartResult {
    /// The id of the workflow in which the run was begun.
    pub workflow_id: String,
    /// The id of the run that was begun.
    pub run_id: String,
    /// Whether the command created the workflow.
    pub created: bool,
    /// The number of the person's message in the context.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub seq: i64,
    /// The number of messages that were dropped from the context although no summary covers them.
    pub dropped: u32,
    /// Whether the run had already begun, so that nothing was changed.
    pub already: bool,
}

impl TableCommand for Start {
    type Done = StartResult;

    fn target(&self) -> LockTarget<'_> {
        self.workflow
            .as_deref()
            .map_or(LockTarget::New, LockTarget::Workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<StartResult>, WriteError> {
        let mut done = StartResult {
            workflow_id: self
                .workflow
                .clone()
                .unwrap_or_else(|| self.new_workflow.clone()),
            run_id: self.run.clone(),
            created: self.workflow.is_none(),
            ..StartResult::default()
        };
        let before = Select::of(WorkflowTable::Runs).is("id", self.run.as_str());
        if let Some(row) = facts.select(&before)?.first() {
            let before = Turn::of_row(row);
            let is_same = before.user_input.as_deref() == Some(&self.input)
                && self
                    .workflow
                    .as_ref()
                    .is_none_or(|id| is_id(id, &before.workflow_id));
            if !is_same {
                return Err(WriteError::refused(
                    "run-exists",
                    format!(
                        "run {} exists already, with another input or in another workflow",
                        self.run
                    ),
                    "leave out the id: the new run then gets its own id",
                ));
            }
            done.workflow_id = before.workflow_id;
            done.created = false;
            done.already = true;
            return Ok(told(done));
        }
        let workflow = match &self.workflow {
            None => None,
            Some(id) => Some(facts.workflow().ok_or_else(|| no_workflow(id))?),
        };
        let mut changes = Vec::new();
        let none = Json::default();
        let context = workflow.map_or(&none, |workflow| &workflow.context);
        if let Some(workflow) = workflow {
            done.workflow_id.clone_from(&workflow.id);
            allowed(Action::Start, workflow)?;
            let open = facts.open_turns()?;
            if let (Some(turn), false) = (open.first(), self.parallel) {
                return Err(WriteError::refused(
                    "run-open",
                    format!(
                        "run {} of workflow {} is still {}, so no second run is started",
                        turn.id, workflow.id, turn.status
                    ),
                    "finish, answer or cancel the open run first, or begin a second run beside it with `--parallel`",
                ));
            }
        }
        let said = context::Said {
            role: "user",
            content: &self.input,
            run_id: &self.run,
            question: None,
        };
        let longer = context::append(context, said, now, self.tail)?;
        done.seq = longer.seq;
        done.dropped = longer.dropped;
        if workflow.is_none() {
            changes.push(RowChange::insert(
                WorkflowTable::Workflows,
                vec![
                    ("id", self.new_workflow.as_str().into()),
                    ("status", SqlValue::Word(WorkflowStatus::Active.word())),
                    ("context", SqlValue::Json(longer.context.clone())),
                    ("preferences", SqlValue::Json(Json::empty())),
                    ("important_steps", SqlValue::Json(Json::empty())),
                    ("created_at", SqlValue::Time(now)),
                    ("updated_at", SqlValue::Time(now)),
                ],
            ));
        }
        changes.push(self.new_run(&done.workflow_id, now));
        changes.push(RowChange::update(
            WorkflowTable::Workflows,
            &done.workflow_id,
            vec![
                ("context", SqlValue::Json(longer.context)),
                ("most_recent_run_id", self.run.as_str().into()),
                ("updated_at", SqlValue::Time(now)),
            ],
        ));
        Ok(WorkflowPlan { changes, done })
    }
}

impl Start {
    /// Returns the change that inserts the row of the run.
    fn new_run(&self, workflow: &str, now: i64) -> RowChange {
        let mut run = vec![
            ("id", self.run.as_str().into()),
            ("workflow_id", workflow.into()),
            ("status", SqlValue::Word(TurnStatus::Running.word())),
            ("user_input", self.input.as_str().into()),
            (
                "ask_clarifications",
                SqlValue::Bool(!self.no_clarifications),
            ),
            ("state", SqlValue::Json(Json::empty())),
            ("created_at", SqlValue::Time(now)),
            ("updated_at", SqlValue::Time(now)),
        ];
        if self.owner.is_some() {
            run.push(("x_owner", self.owner.clone().into()));
            run.push(("x_heartbeat", SqlValue::Time(now)));
        }
        RowChange::insert(WorkflowTable::Runs, run)
    }
}
