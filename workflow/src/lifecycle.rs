//! Two tables of the actions that each status of a workflow and of a run allows (errata M8).

use super::{TurnStatus, WorkflowStatus};

/// An action on a workflow or a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Begin a run.
    Start,
    /// Ask the person a question.
    Ask,
    /// Answer the run's question.
    Input,
    /// End a run with its output.
    Finish,
    /// End a run with its error.
    Fail,
    /// Append an event.
    Append,
    /// Pause the workflow.
    Pause,
    /// Resume the workflow.
    Resume,
    /// Record that the workflow itself failed.
    Error,
    /// Cancel the workflow with its open runs.
    Cancel,
    /// Cancel one run.
    CancelRun,
    /// Change preferences.
    Prefer,
    /// Record an important step.
    Step,
    /// Record that an engine still works on a run.
    Heartbeat,
    /// Record an engine's checkpoint.
    State,
    /// Give a run to an engine.
    Claim,
}

/// The effect of a status on an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionEffect {
    /// The action is allowed.
    Yes,
    /// The status is already the wanted one, so nothing changes; the result reports that.
    Already,
    /// The action changes nothing if the new content equals the recorded content; otherwise it is refused.
    Same,
    /// The action is refused.
    No,
}

impl Action {
    /// Returns the word that commands use for the action.
    pub fn word(self) -> &'static str {
        match self {
            Action::Start => "start",
            Action::Ask => "ask",
            Action::Input => "input",
            Action::Finish => "finish",
            Action::Fail => "fail",
            Action::Append => "append",
            Action::Pause => "pause",
            Action::Resume => "resume",
            Action::Error => "error",
            Action::Cancel => "cancel",
            Action::CancelRun => "cancel --run",
            Action::Prefer => "prefer",
            Action::Step => "step",
            Action::Heartbeat => "heartbeat",
            Action::State => "state",
            Action::Claim => "claim",
        }
    }

    /// Returns all actions.
    pub fn all() -> impl Iterator<Item = Action> {
        BY_WORKFLOW.iter().map(|(action, _)| *action)
    }
}

/// Whether each status of a workflow (active, paused, error, cancelled) allows an action.
const BY_WORKFLOW: &[(Action, &str)] = &[
    (Action::Start, "yes no no no"),
    (Action::Ask, "yes yes no no"),
    (Action::Input, "yes yes no no"),
    (Action::Finish, "yes yes yes no"),
    (Action::Fail, "yes yes yes no"),
    (Action::Append, "yes yes yes yes"),
    (Action::Pause, "yes already no no"),
    (Action::Resume, "already yes yes no"),
    (Action::Error, "yes yes yes no"),
    (Action::Cancel, "yes yes yes already"),
    (Action::CancelRun, "yes yes yes no"),
    (Action::Prefer, "yes yes yes no"),
    (Action::Step, "yes yes yes no"),
    (Action::Heartbeat, "yes yes yes no"),
    (Action::State, "yes yes yes no"),
    (Action::Claim, "yes no no no"),
];

/// Whether each status of a run (running, waiting_for_input, completed, failed, cancelled) allows an action. Actions
/// that do not concern a run are not listed.
const BY_RUN: &[(Action, &str)] = &[
    (Action::Ask, "yes same no no no"),
    (Action::Input, "no yes no no no"),
    (Action::Finish, "yes no same no no"),
    (Action::Fail, "yes no no same no"),
    (Action::Append, "yes yes yes yes yes"),
    (Action::CancelRun, "yes yes no no already"),
    (Action::Heartbeat, "yes no no no no"),
    (Action::State, "yes yes no no no"),
    (Action::Claim, "yes no no no no"),
];

/// Returns whether the workflow's status allows an action.
pub fn allowed_by_workflow(action: Action, status: WorkflowStatus) -> ActionEffect {
    let at = match status {
        WorkflowStatus::Active => 0,
        WorkflowStatus::Paused => 1,
        WorkflowStatus::Error => 2,
        WorkflowStatus::Cancelled => 3,
    };
    cell(BY_WORKFLOW, action, at)
}

/// Returns whether the run's status allows an action; `Yes` if the action does not concern a run.
pub fn allowed_by_run(action: Action, status: TurnStatus) -> ActionEffect {
    let at = match status {
        TurnStatus::Running => 0,
        TurnStatus::WaitingForInput => 1,
        TurnStatus::Completed => 2,
        TurnStatus::Failed => 3,
        TurnStatus::Cancelled => 4,
    };
    if BY_RUN.iter().any(|(known, _)| *known == action) {
        cell(BY_RUN, action, at)
    } else {
        ActionEffect::Yes
    }
}

fn cell(table: &[(Action, &str)], action: Action, at: usize) -> ActionEffect {
    let row = table.iter().find(|(known, _)| *known == action);
    match row.and_then(|(_, row)| row.split(' ').nth(at)) {
        Some("yes") => ActionEffect::Yes,
        Some("already") => ActionEffect::Already,
        Some("same") => ActionEffect::Same,
        _ => ActionEffect::No,
    }
}
