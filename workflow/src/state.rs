//! Defines the command that records an engine's checkpoint of a run.

use serde::Deserialize;

use super::claim::is_yours;
use super::lifecycle::Action;
use super::rules::{allowed, may, turn};
use super::tables::{
    LockTarget, RowChange, SqlValue, TableCommand, WorkflowFacts, WorkflowPlan, WorkflowTable,
};
use super::turns::TurnResult;
use super::{Json, TurnStatus, context};
use prosescope_core::record::WriteError;

/// The member of `state` that contains the open question. Only `ask` and `input` change it.
const QUESTION: &str = "pending_input";

/// The command that replaces the checkpoint of a run (memoria.md, `state`). The open question stays.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SetState {
    /// The id of the run that the engine works on.
    pub run: String,
    /// The checkpoint: an object without `pending_input`.
    pub state: Json,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub owner: Option<String>,
}

impl TableCommand for SetState {
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
        allowed(Action::State, workflow)?;
        may(Action::State, &turn, false)?;
        is_yours(&turn, self.owner.as_deref(), now)?;
        let mut state = self.state.members().ok_or_else(|| {
            WriteError::wrong(
                "the checkpoint is not a JSON object",
                "write the checkpoint as {\"phase\": …}",
            )
        })?;
        if state.contains_key(QUESTION) {
            return Err(WriteError::wrong(
                "the checkpoint has a member `pending_input`, which is the question to the person",
                "ask with `prosescope workflow ask`, and leave `pending_input` out of the checkpoint",
            ));
        }
        let before = context::object(&turn.state, "state")?;
        state.extend(
            before
                .get(QUESTION)
                .map(|asked| (QUESTION.to_owned(), asked.clone())),
        );
        let state = Json::of(&state);
        let status = turn.known_status().unwrap_or(TurnStatus::Running);
        let done = TurnResult::of(workflow, &turn, status);
        if turn.state.is_same(&state) {
            return Ok(done.already());
        }
        let values = vec![
            ("state", SqlValue::Json(state)),
            ("updated_at", SqlValue::Time(now)),
        ];
        Ok(WorkflowPlan {
            changes: vec![RowChange::update(WorkflowTable::Runs, &turn.id, values)],
            done,
        })
    }
}
