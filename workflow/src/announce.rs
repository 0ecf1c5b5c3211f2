//! Builds the events that tell followers of a change: each change tells itself once, in its own transaction, so that no
//! engine has to write such an event by hand. An engine's own events report the progress in between.

use super::json::Members;
use super::lifecycle::Action;
use super::tables::{RowChange, SqlValue, WorkflowFacts, WorkflowTable};
use super::{Json, Kind, Turn, context};

/// A change to tell: the action, and whom it concerns.
pub(super) struct Told<'a> {
    pub(super) action: Action,
    /// The id of the workflow.
    pub(super) workflow: &'a str,
    /// The run; `None` if the change concerns the whole workflow.
    pub(super) run: Option<&'a Turn>,
    /// The text for people.
    pub(super) text: &'a str,
}

impl Told<'_> {
    /// Returns the change that inserts the event; `None` if the database has no table of events. The payload has the
    /// action's word as `what`, and the members in `more`.
    pub(super) fn event(
        self,
        facts: &dyn WorkflowFacts,
        mut more: Members,
        now: i64,
    ) -> Option<RowChange> {
        facts.shape().table(WorkflowTable::Events)?;
        let (kind, what) = match self.action {
            Action::Finish => (Kind::Final, "finish"),
            Action::Fail => (Kind::Error, "fail"),
            Action::Error => (Kind::Error, "error"),
            Action::CancelRun => (Kind::Status, "cancel"),
            other => (Kind::Status, other.word()),
        };
        more.insert("what".to_owned(), context::raw(&what));
        let run = self.run.map(|run| run.id.clone());
        Some(RowChange::insert(
            WorkflowTable::Events,
            vec![
                ("workflow_id", self.workflow.into()),
                ("run_id", run.into()),
                ("kind", SqlValue::Word(kind.word())),
                ("text", self.text.into()),
                ("payload", SqlValue::Json(Json::of(&more))),
                ("created_at", SqlValue::Time(now)),
            ],
        ))
    }
}

/// Returns the message of an error, or a word for it.
pub(super) fn message(error: &Json) -> String {
    let value = error.value();
    let message = value.get("message").and_then(|message| message.as_str());
    message.unwrap_or("failed").to_owned()
}
