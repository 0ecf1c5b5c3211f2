//! Defines the commands that change the status of a workflow (pause, resume, error, cancel), and the command that ends
//! a run with an error.

use serde::{Deserialize, Serialize};

use super::announce::{Told, message};
use super::claim::{RELEASED, is_yours};
use super::json::Members;
use super::lifecycle::Action;
use super::rules::{allowed, may, no_run, no_workflow, told, turn};
use super::tables::{
    LockTarget, RowChange, SqlValue, TableCommand, WorkflowFacts, WorkflowPlan, WorkflowTable,
};
use super::turns::TurnResult;
use super::{Json, TurnStatus, WorkflowStatus, context};
use prosescope_core::record::WriteError;

/// The command that changes a workflow's status. Each variant contains the id of the workflow.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Pauses: the workflow accepts no new runs.
    Pause(String),
    /// Resumes: the workflow accepts runs again; its error is kept as an event.
    Resume(String),
    /// Records that the workflow itself failed, with this error.
    Error(String, Json),
}

/// The result of a command on a workflow's status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusChange {
    /// The id of the workflow that the command was given for.
    pub workflow_id: String,
    /// The workflow's status after the command.
    pub status: String,
    /// The ids of the runs that the command cancelled.
    pub cancelled_runs: Vec<String>,
    /// Whether the status was already the same, so that nothing was changed.
    pub already: bool,
}

impl TableCommand for Move {
    type Done = StatusChange;

    fn target(&self) -> LockTarget<'_> {
        let (Move::Pause(id) | Move::Resume(id) | Move::Error(id, _)) = self;
        LockTarget::Workflow(id)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<StatusChange>, WriteError> {
        let (id, action, status) = match self {
            Move::Pause(id) => (id, Action::Pause, WorkflowStatus::Paused),
            Move::Resume(id) => (id, Action::Resume, WorkflowStatus::Active),
            Move::Error(id, _) => (id, Action::Error, WorkflowStatus::Error),
        };
        let workflow = facts.workflow().ok_or_else(|| no_workflow(id))?;
        let mut done = moved(&workflow.id, status);
        let same = matches!(self, Move::Error(_, payload)
            if workflow.known_status() == Some(status)
                && workflow.error.as_ref().is_some_and(|before| before.is_same(payload)));
        if allowed(action, workflow)? || same {
            done.already = true;
            return Ok(told(done));
        }
        let mut values = vec![
            ("status", SqlValue::Word(status.word())),
            ("updated_at", SqlValue::Time(now)),
        ];
        let (mut changes, mut more) = (Vec::new(), Members::new());
        match (self, &workflow.error) {
            (Move::Error(_, payload), _) => values.push(("error", SqlValue::Json(payload.clone()))),
            (Move::Resume(_), Some(error)) => {
                values.push(("error", SqlValue::Null));
                more.insert("error".to_owned(), error.raw());
            }
            _ => {}
        }
        let text = match self {
            Move::Pause(_) => "paused".to_owned(),
            Move::Resume(_) if more.is_empty() => "resumed".to_owned(),
            Move::Resume(_) => "resumed; the error was cleared".to_owned(),
            Move::Error(_, error) => message(error),
        };
        let told = Told {
            action,
            workflow: &workflow.id,
            run: None,
            text: &text,
        };
        changes.extend(told.event(facts, more, now));
        changes.push(RowChange::update(
            WorkflowTable::Workflows,
            &workflow.id,
            values,
        ));
        Ok(WorkflowPlan { changes, done })
    }
}

/// The command that cancels a workflow with its open runs, or one run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Cancel {
    /// The id of the workflow to cancel, or of the run's workflow.
    #[serde(default)]
    pub workflow: String,
    /// The id of the run, if only this run is cancelled.
    #[serde(default)]
    pub run: Option<String>,
}

impl TableCommand for Cancel {
    type Done = StatusChange;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Workflow(&self.workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<StatusChange>, WriteError> {
        let workflow = facts
            .workflow()
            .ok_or_else(|| no_workflow(&self.workflow))?;
        let ended = |id: &str| {
            let status = ("status", SqlValue::Word(TurnStatus::Cancelled.word()));
            RowChange::update(
                WorkflowTable::Runs,
                id,
                vec![status, ("updated_at", SqlValue::Time(now))],
            )
        };
        if let Some(id) = &self.run {
            allowed(Action::CancelRun, workflow)?;
            let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
            let mut done = StatusChange {
                workflow_id: workflow.id.clone(),
                status: workflow.status.clone(),
                ..StatusChange::default()
            };
            if may(Action::CancelRun, &turn, false)? {
                done.already = true;
                return Ok(told(done));
            }
            let mut changes = vec![ended(&turn.id)];
            let told = Told {
                action: Action::CancelRun,
                workflow: &workflow.id,
                run: Some(&turn),
                text: "cancelled",
            };
            changes.extend(told.event(facts, Members::new(), now));
            done.cancelled_runs.push(turn.id);
            return Ok(WorkflowPlan { changes, done });
        }
        let mut done = moved(&workflow.id, WorkflowStatus::Cancelled);
        if allowed(Action::Cancel, workflow)? {
            done.already = true;
            return Ok(told(done));
        }
        let open = facts.open_turns()?;
        let mut changes: Vec<RowChange> = open.iter().map(|turn| ended(&turn.id)).collect();
        changes.push(RowChange::update(
            WorkflowTable::Workflows,
            &workflow.id,
            vec![
                ("status", SqlValue::Word(WorkflowStatus::Cancelled.word())),
                ("updated_at", SqlValue::Time(now)),
            ],
        ));
        done.cancelled_runs = open.into_iter().map(|turn| turn.id).collect();
        let told = Told {
            action: Action::Cancel,
            workflow: &workflow.id,
            run: None,
            text: "cancelled",
        };
        let mut more = Members::new();
        more.insert("runs".to_owned(), context::raw(&done.cancelled_runs));
        changes.extend(told.event(facts, more, now));
        Ok(WorkflowPlan { changes, done })
    }
}

/// The command that ends a run with an error.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Fail {
    /// The id of the run that failed.
    pub run: String,
    /// The error with which the run ends.
    pub error: Json,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub owner: Option<String>,
}

impl TableCommand for Fail {
    type Done = TurnResult;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Run(&self.run)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<TurnResult>, WriteError> {
        let (workflow, turn) = turn(facts, &self.run)?;
        allowed(Action::Fail, workflow)?;
        is_yours(&turn, self.owner.as_deref(), now)?;
        let done = TurnResult::of(workflow, &turn, TurnStatus::Failed);
        let before = turn.error.clone().unwrap_or_default();
        if may(Action::Fail, &turn, before.is_same(&self.error))? {
            return Ok(done.already());
        }
        let mut changes = vec![RowChange::update(
            WorkflowTable::Runs,
            &turn.id,
            vec![
                ("status", SqlValue::Word(TurnStatus::Failed.word())),
                ("error", SqlValue::Json(self.error.clone())),
                RELEASED,
                ("updated_at", SqlValue::Time(now)),
            ],
        )];
        let told = Told {
            action: Action::Fail,
            workflow: &workflow.id,
            run: Some(&turn),
            text: &message(&self.error),
        };
        changes.extend(told.event(facts, Members::new(), now));
        Ok(WorkflowPlan { changes, done })
    }
}

fn moved(id: &str, status: WorkflowStatus) -> StatusChange {
    StatusChange {
        workflow_id: id.to_owned(),
        status: status.word().to_owned(),
        ..StatusChange::default()
    }
}

/// Conversion of a text to the JSON of an error.
impl Json {
    /// Returns the text as it is if it is a JSON object, else `{"message": TEXT}`.
    pub fn of_message(text: &str) -> Json {
        Json::parse(text)
            .ok()
            .filter(Json::is_object)
            .unwrap_or_else(|| {
                let mut message = Members::new();
                message.insert("message".to_owned(), context::raw(&text));
                Json::of(&message)
            })
    }
}
