//! Defines the commands that change the status of a workflow (pause, resume, error, cancel), and the command that ends
//! a run with an error.

use serde::{Deserialize, Serialize};

use super::lifecycle::Action;
use super::rules::{allowed, may, no_run, no_workflow, told, turn};
use super::tables::{Change, Command, Facts, Plan, Table, Target, Value};
use super::turns::Turned;
use super::{Json, Kind, TurnStatus, WorkflowStatus, context};
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
pub struct Moved {
    /// The id of the workflow.
    pub workflow_id: String,
    /// The workflow's status after the command.
    pub status: String,
    /// The ids of the runs that the command cancelled.
    pub cancelled_runs: Vec<String>,
    /// Whether the status was already the same, so that nothing was changed.
    pub already: bool,
}

impl Command for Move {
    type Done = Moved;

    fn target(&self) -> Target<'_> {
        let (Move::Pause(id) | Move::Resume(id) | Move::Error(id, _)) = self;
        Target::Workflow(id)
    }

    fn plan(&self, facts: &dyn Facts, now: i64) -> Result<Plan<Moved>, WriteError> {
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
            ("status", Value::Word(status.word())),
            ("updated_at", Value::Time(now)),
        ];
        let mut changes = Vec::new();
        match (self, &workflow.error) {
            (Move::Error(_, payload), _) => values.push(("error", Value::Json(payload.clone()))),
            (Move::Resume(_), Some(error)) => {
                values.push(("error", Value::Null));
                let mut payload = super::json::Members::new();
                payload.insert("error".to_owned(), error.raw());
                changes.push(Change::insert(
                    Table::Events,
                    vec![
                        ("workflow_id", workflow.id.as_str().into()),
                        ("kind", Value::Word(Kind::Status.word())),
                        ("text", "resumed; the error was cleared".into()),
                        ("payload", Value::Json(Json::of(&payload))),
                        ("created_at", Value::Time(now)),
                    ],
                ));
            }
            _ => {}
        }
        changes.push(Change::update(Table::Workflows, &workflow.id, values));
        Ok(Plan { changes, done })
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

impl Command for Cancel {
    type Done = Moved;

    fn target(&self) -> Target<'_> {
        Target::Workflow(&self.workflow)
    }

    fn plan(&self, facts: &dyn Facts, now: i64) -> Result<Plan<Moved>, WriteError> {
        let workflow = facts
            .workflow()
            .ok_or_else(|| no_workflow(&self.workflow))?;
        let ended = |id: &str| {
            let status = ("status", Value::Word(TurnStatus::Cancelled.word()));
            Change::update(
                Table::Runs,
                id,
                vec![status, ("updated_at", Value::Time(now))],
            )
        };
        if let Some(id) = &self.run {
            allowed(Action::CancelRun, workflow)?;
            let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
            let mut done = Moved {
                workflow_id: workflow.id.clone(),
                status: workflow.status.clone(),
                ..Moved::default()
            };
            if may(Action::CancelRun, &turn, false)? {
                done.already = true;
                return Ok(told(done));
            }
            let changes = vec![ended(&turn.id)];
            done.cancelled_runs.push(turn.id);
            return Ok(Plan { changes, done });
        }
        let mut done = moved(&workflow.id, WorkflowStatus::Cancelled);
        if allowed(Action::Cancel, workflow)? {
            done.already = true;
            return Ok(told(done));
        }
        let open = facts.open_turns()?;
        let mut changes: Vec<Change> = open.iter().map(|turn| ended(&turn.id)).collect();
        changes.push(Change::update(
            Table::Workflows,
            &workflow.id,
            vec![
                ("status", Value::Word(WorkflowStatus::Cancelled.word())),
                ("updated_at", Value::Time(now)),
            ],
        ));
        done.cancelled_runs = open.into_iter().map(|turn| turn.id).collect();
        Ok(Plan { changes, done })
    }
}

/// The command that ends a run with an error.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Fail {
    /// The id of the run that failed.
    pub run: String,
    /// The error with which the run ends.
    pub error: Json,
}

impl Command for Fail {
    type Done = Turned;

    fn target(&self) -> Target<'_> {
        Target::Run(&self.run)
    }

    fn plan(&self, facts: &dyn Facts, now: i64) -> Result<Plan<Turned>, WriteError> {
        let (workflow, turn) = turn(facts, &self.run)?;
        allowed(Action::Fail, workflow)?;
        let done = Turned::of(&turn, TurnStatus::Failed);
        let before = turn.error.clone().unwrap_or_default();
        if may(Action::Fail, &turn, before.is_same(&self.error))? {
            return Ok(done.already());
        }
        let changes = vec![Change::update(
            Table::Runs,
            &turn.id,
            vec![
                ("status", Value::Word(TurnStatus::Failed.word())),
                ("error", Value::Json(self.error.clone())),
                ("updated_at", Value::Time(now)),
            ],
        )];
        Ok(Plan { changes, done })
    }
}

fn moved(id: &str, status: WorkflowStatus) -> Moved {
    Moved {
        workflow_id: id.to_owned(),
        status: status.word().to_owned(),
        ..Moved::default()
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
                let mut message = super::json::Members::new();
                message.insert("message".to_owned(), context::raw(&text));
                Json::of(&message)
            })
    }
}
