//! Defines the commands on a run of a workflow: ask, input, finish, heartbeat.

use serde::{Deserialize, Serialize};

use super::announce::Told;
use super::claim::{RELEASED, is_yours, until};
use super::context;
use super::json::Members;
use super::lifecycle::Action;
use super::rules::{allowed, may, no_run, told, turn, workflow};
use super::tables::{
    LockTarget, RowChange, SqlValue, TableCommand, WorkflowFacts, WorkflowPlan, WorkflowTable,
};
use super::{Json, Turn, TurnStatus, Workflow};
use prosescope_core::model::time::Stamp;
use prosescope_core::record::WriteError;

/// The result of a command on a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TurnResult {
    /// The id of the workflow that the run belongs to.
    pub workflow_id: String,
    /// The id of the run that the command was about.
    pub run_id: String,
    /// The run's status after the command.
    pub status: String,
    /// The workflow's status. An engine stops at `paused`, `error` and `cancelled`, and records its checkpoint.
    #[serde(default)]
    pub workflow_status: String,
    /// The number of the message that was appended to the context; `None` if no message was appended.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub seq: Option<i64>,
    /// The number of messages that were dropped from the context although no summary covers them.
    pub dropped: u32,
    /// Whether the run was already in this state, so that nothing was changed.
    pub already: bool,
}

impl TurnResult {
    pub(super) fn of(workflow: &Workflow, turn: &Turn, status: TurnStatus) -> TurnResult {
        TurnResult {
            workflow_id: turn.workflow_id.clone(),
            run_id: turn.id.clone(),
            status: status.word().to_owned(),
            workflow_status: workflow.status.clone(),
            ..TurnResult::default()
        }
    }

    pub(super) fn already(self) -> WorkflowPlan<TurnResult> {
        told(TurnResult {
            already: true,
            ..self
        })
    }
}

/// The command that asks the person a question; the run then waits.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Ask {
    /// The id of the run that asks.
    pub run: String,
    /// The question to the person.
    pub question: String,
    /// The data of the question, for programs: an object.
    #[serde(default)]
    pub payload: Option<Json>,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub owner: Option<String>,
}

impl TableCommand for Ask {
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
        allowed(Action::Ask, workflow)?;
        is_yours(&turn, self.owner.as_deref(), now)?;
        let done = TurnResult::of(workflow, &turn, TurnStatus::WaitingForInput);
        if may(
            Action::Ask,
            &turn,
            turn.question().as_deref() == Some(&self.question),
        )? {
            return Ok(done.already());
        }
        if turn.ask_clarifications == Some(false) {
            return Err(WriteError::refused(
                "no-clarifications",
                format!(
                    "run {} may not ask questions: it was started with questions turned off",
                    turn.id
                ),
                "continue the run without asking, or fail the run",
            ));
        }
        let mut pending = match &self.payload {
            None => Members::new(),
            Some(payload) => payload.members().ok_or_else(|| {
                WriteError::wrong(
                    "the payload is not a JSON object",
                    "write the payload as {\"key\": …}",
                )
            })?,
        };
        pending.insert("question".to_owned(), context::raw(&self.question));
        pending.insert("asked_at".to_owned(), context::raw(&Stamp::At(now)));
        let mut state = context::object(&turn.state, "state")?;
        state.insert("pending_input".to_owned(), context::raw(&pending));
        let mut changes = vec![RowChange::update(
            WorkflowTable::Runs,
            &turn.id,
            vec![
                ("status", SqlValue::Word(TurnStatus::WaitingForInput.word())),
                ("state", SqlValue::Json(Json::of(&state))),
                RELEASED,
                ("updated_at", SqlValue::Time(now)),
            ],
        )];
        let told = Told {
            action: Action::Ask,
            workflow: &workflow.id,
            run: Some(&turn),
            text: &self.question,
        };
        changes.extend(told.event(facts, Members::new(), now));
        Ok(WorkflowPlan { changes, done })
    }
}

/// The command that answers the question of a waiting run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Input {
    /// The id of the workflow in which a run waits for the answer.
    #[serde(default)]
    pub workflow: String,
    /// The id of the run to answer. `None` means the newest run if it waits, else the only waiting run (errata M5).
    #[serde(default)]
    pub run: Option<String>,
    /// The person's answer.
    pub text: String,
    /// The most messages that stay in the context after the answer is added; 0 means 100.
    #[serde(default)]
    pub tail: u32,
}

impl TableCommand for Input {
    type Done = TurnResult;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Workflow(&self.workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<TurnResult>, WriteError> {
        let workflow = workflow(facts, &self.workflow, Action::Input)?;
        let turn = self.waiting(facts, workflow)?;
        let mut done = TurnResult::of(workflow, &turn, TurnStatus::Running);
        let said = context::Said {
            role: "user",
            content: &self.text,
            run_id: &turn.id,
            question: turn.question(),
        };
        let longer = context::append(&workflow.context, said, now, self.tail)?;
        done.seq = Some(longer.seq);
        done.dropped = longer.dropped;
        let mut state = context::object(&turn.state, "state")?;
        state.remove("pending_input");
        let mut changes = vec![
            RowChange::update(
                WorkflowTable::Runs,
                &turn.id,
                vec![
                    ("status", SqlValue::Word(TurnStatus::Running.word())),
                    ("state", SqlValue::Json(Json::of(&state))),
                    ("updated_at", SqlValue::Time(now)),
                ],
            ),
            RowChange::update(
                WorkflowTable::Workflows,
                &workflow.id,
                vec![
                    ("context", SqlValue::Json(longer.context)),
                    ("updated_at", SqlValue::Time(now)),
                ],
            ),
        ];
        let told = Told {
            action: Action::Input,
            workflow: &workflow.id,
            run: Some(&turn),
            text: "answered",
        };
        let mut more = Members::new();
        more.insert("seq".to_owned(), context::raw(&longer.seq));
        changes.extend(told.event(facts, more, now));
        Ok(WorkflowPlan { changes, done })
    }
}

impl Input {
    /// Returns the run to answer (errata M5): the named run, else the newest run if it waits, else the only waiting
    /// run.
    fn waiting(&self, facts: &dyn WorkflowFacts, workflow: &Workflow) -> Result<Turn, WriteError> {
        if let Some(id) = &self.run {
            let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
            may(Action::Input, &turn, false)?;
            return Ok(turn);
        }
        let mut waiting = facts.open_turns()?;
        waiting.retain(|turn| turn.known_status() == Some(TurnStatus::WaitingForInput));
        let newest = workflow.most_recent_run_id.as_ref();
        let newest = waiting.iter().position(|turn| Some(&turn.id) == newest);
        match (newest, waiting.len()) {
            (Some(at), _) => Ok(waiting.swap_remove(at)),
            (None, 1) => Ok(waiting.swap_remove(0)),
            (None, 0) => Err(WriteError::refused(
                "nothing-waits",
                format!("no run of workflow {} waits for input", workflow.id),
                "begin a new run: `prosescope workflow start --workflow ID --input TEXT`",
            )),
            (None, _) => {
                let ids: Vec<&str> = waiting.iter().map(|turn| turn.id.as_str()).collect();
                Err(WriteError::refused(
                    "several-wait",
                    format!(
                        "several runs of workflow {} wait for input: {}",
                        workflow.id,
                        ids.join(", ")
                    ),
                    "choose a run with `--run`",
                ))
            }
        }
    }
}

/// The command that ends a run with its output.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Finish {
    /// The id of the run that ends.
    pub run: String,
    /// The output with which the run ends.
    pub output: Json,
    /// The assistant's message for the context.
    #[serde(default)]
    pub message: Option<String>,
    /// A summary of the conversation so far.
    #[serde(default)]
    pub summary: Option<String>,
    /// The most messages that stay in the context after the assistant's message is added; 0 means 100.
    #[serde(default)]
    pub tail: u32,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub owner: Option<String>,
}

impl TableCommand for Finish {
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
        allowed(Action::Finish, workflow)?;
        is_yours(&turn, self.owner.as_deref(), now)?;
        let mut done = TurnResult::of(workflow, &turn, TurnStatus::Completed);
        // Reading drops a recorded JSON null, so a missing output is compared as null.
        let before = turn.final_output.clone().unwrap_or_default();
        if may(Action::Finish, &turn, before.is_same(&self.output))? {
            return Ok(done.already());
        }
        let mut changes = vec![RowChange::update(
            WorkflowTable::Runs,
            &turn.id,
            vec![
                ("status", SqlValue::Word(TurnStatus::Completed.word())),
                ("final_output", SqlValue::Json(self.output.clone())),
                RELEASED,
                ("updated_at", SqlValue::Time(now)),
            ],
        )];
        let mut context = None;
        if let Some(message) = &self.message {
            let said = context::Said {
                role: "assistant",
                content: message,
                run_id: &turn.id,
                question: None,
            };
            let longer = context::append(&workflow.context, said, now, self.tail)?;
            done.seq = Some(longer.seq);
            done.dropped = longer.dropped;
            context = Some(longer.context);
        }
        if let Some(summary) = &self.summary {
            let longer = context.as_ref().unwrap_or(&workflow.context);
            context = Some(context::summarise(longer, summary)?);
        }
        if let Some(context) = context {
            changes.push(RowChange::update(
                WorkflowTable::Workflows,
                &workflow.id,
                vec![
                    ("context", SqlValue::Json(context)),
                    ("updated_at", SqlValue::Time(now)),
                ],
            ));
        }
        let told = Told {
            action: Action::Finish,
            workflow: &workflow.id,
            run: Some(&turn),
            text: self.message.as_deref().unwrap_or("completed"),
        };
        changes.extend(told.event(facts, Members::new(), now));
        Ok(WorkflowPlan { changes, done })
    }
}

/// The command that records that an engine still works on a run.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Heartbeat {
    /// The id of the run that is still worked on.
    pub run: String,
    /// The name of the engine that works on the run, which replaces the recorded name; not verified. `None` keeps the
    /// recorded name.
    #[serde(default)]
    pub owner: Option<String>,
    /// For how many milliseconds from now the engine keeps the run that it claimed; 0 means [`super::LEASE`].
    #[serde(default)]
    pub lease: i64,
}

impl TableCommand for Heartbeat {
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
        allowed(Action::Heartbeat, workflow)?;
        may(Action::Heartbeat, &turn, false)?;
        is_yours(&turn, self.owner.as_deref(), now)?;
        if !facts.shape().has(WorkflowTable::Runs, "x_heartbeat") {
            return Err(WriteError::refused(
                "no-heartbeat-column",
                "the table `workflow_runs` has no column `x_heartbeat`",
                "add the column with `prosescope workflow setup --apply`",
            ));
        }
        let mut values = vec![("x_heartbeat", SqlValue::Time(now))];
        if self.owner.is_some() {
            values.push(("x_owner", self.owner.clone().into()));
        }
        if turn.lease.is_some() {
            values.push(("x_lease", SqlValue::Time(until(now, self.lease))));
        }
        let changes = vec![RowChange::update(WorkflowTable::Runs, &turn.id, values)];
        let done = TurnResult::of(workflow, &turn, TurnStatus::Running);
        Ok(WorkflowPlan { changes, done })
    }
}
