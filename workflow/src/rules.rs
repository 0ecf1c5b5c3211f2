//! Checks that every command makes before planning: does the workflow or run exist, and does the lifecycle allow the
//! action?

use super::lifecycle::{Action, ActionEffect, allowed_by_run, allowed_by_workflow};
use super::tables::{WorkflowFacts, WorkflowPlan};
use super::{Turn, TurnStatus, Workflow, WorkflowStatus};
use prosescope_core::record::WriteError;

/// Returns a plan that changes nothing and returns `done` to the caller.
pub(super) fn told<D>(done: D) -> WorkflowPlan<D> {
    WorkflowPlan {
        changes: Vec::new(),
        done,
    }
}

/// Returns the locked workflow, if its status allows an action.
pub(super) fn workflow<'a>(
    facts: &'a dyn WorkflowFacts,
    id: &str,
    action: Action,
) -> Result<&'a Workflow, WriteError> {
    let workflow = facts.workflow().ok_or_else(|| no_workflow(id))?;
    allowed(action, workflow)?;
    Ok(workflow)
}

/// Returns a run with its workflow.
pub(super) fn turn<'a>(
    facts: &'a dyn WorkflowFacts,
    id: &str,
) -> Result<(&'a Workflow, Turn), WriteError> {
    let workflow = facts.workflow().ok_or_else(|| no_run(id))?;
    let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
    Ok((workflow, turn))
}

/// Refuses an action that the workflow's status does not allow; returns whether the status is already the wanted one.
pub(super) fn allowed(action: Action, workflow: &Workflow) -> Result<bool, WriteError> {
    let Some(status) = workflow.known_status() else {
        return Err(WriteError::refused(
            "workflow-status",
            format!(
                "workflow {} has the unknown status {:?}",
                workflow.id, workflow.status
            ),
            "correct the status with the program that wrote it; until then, Prosescope only reads",
        ));
    };
    match allowed_by_workflow(action, status) {
        ActionEffect::Yes | ActionEffect::Same => Ok(false),
        ActionEffect::Already => Ok(true),
        ActionEffect::No => Err(WriteError::refused(
            "workflow-status",
            format!(
                "workflow {} is {}: {} is refused",
                workflow.id,
                status.word(),
                action.word()
            ),
            match (action, status) {
                (_, WorkflowStatus::Cancelled) => "begin a new workflow: cancelling is final",
                (Action::Pause, _) | (_, WorkflowStatus::Paused | WorkflowStatus::Error) => {
                    "make the workflow active again: `prosescope workflow resume WORKFLOW`"
                }
                _ => "look at the workflow's status: `prosescope workflow show WORKFLOW`",
            },
        )),
    }
}

/// Refuses an action that the run's status does not allow; returns whether the status is already the wanted one. `same`
/// is whether the new content equals the recorded content.
pub(super) fn may(action: Action, turn: &Turn, same: bool) -> Result<bool, WriteError> {
    let Some(status) = turn.known_status() else {
        return Err(WriteError::refused(
            "run-status",
            format!("run {} has the unknown status {:?}", turn.id, turn.status),
            "correct the status with the program that wrote it; until then, Prosescope only reads",
        ));
    };
    match allowed_by_run(action, status) {
        ActionEffect::Yes => Ok(false),
        ActionEffect::Already => Ok(true),
        ActionEffect::Same if same => Ok(true),
        ActionEffect::Same | ActionEffect::No => Err(WriteError::refused(
            "run-status",
            format!(
                "run {} is {}: {} is refused",
                turn.id,
                status.word(),
                action.word()
            ),
            match (action, status) {
                (Action::Heartbeat | Action::Claim, _) => "stop working on the run",
                (Action::Finish | Action::Fail | Action::Ask, TurnStatus::WaitingForInput) => {
                    "answer the run's question with `prosescope workflow input`, or cancel the run"
                }
                (_, TurnStatus::Running) => {
                    "wait until the run asks a question: only then can you answer"
                }
                _ => "begin a new run with `prosescope workflow start`: this run has ended",
            },
        )),
    }
}

pub(super) fn no_workflow(id: &str) -> WriteError {
    WriteError::not_found(
        format!("there is no workflow {id}"),
        "list the workflows: `prosescope workflow list`",
    )
}

pub(super) fn no_run(id: &str) -> WriteError {
    WriteError::not_found(
        format!("no workflow has a run {id}"),
        "list the runs of a workflow: `prosescope workflow show WORKFLOW`",
    )
}

/// Returns whether two ids are equal apart from dashes and case: some databases store UUIDs without dashes.
pub(super) fn is_id(a: &str, b: &str) -> bool {
    let plain = |id: &str| id.replace('-', "").to_ascii_lowercase();
    plain(a) == plain(b)
}
