//! Defines the commands that add or change a workflow's data: events, preferences, important steps.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::lifecycle::Action;
use super::rules::{may, no_run, told, workflow};
use super::tables::{
    LockTarget, RowChange, SqlValue, TableCommand, WorkflowFacts, WorkflowPlan, WorkflowTable,
};
use super::{Json, Kind, WorkflowStatus, context};
use prosescope_core::model::time::Stamp;
use prosescope_core::record::WriteError;

/// An event to append.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct NewEvent {
    /// The id of the run that the event belongs to; `None` if it belongs to no run.
    #[serde(default, alias = "run_id")]
    pub run: Option<String>,
    /// The kind of the event; `progress` by default.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// The text of the event, for people.
    pub text: String,
    /// The data of the event, for programs: an object.
    #[serde(default)]
    pub payload: Option<Json>,
}

/// The command that appends events to a workflow: all of them, or none.
#[derive(Debug, Clone, Default)]
pub struct Append {
    /// The id of the workflow that gets the events.
    pub workflow: String,
    /// The events to append, in order.
    pub notes: Vec<NewEvent>,
}

/// The result of appending events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AppendResult {
    /// The id of the workflow that got the events.
    pub workflow_id: String,
    /// The ids of the new events, in order.
    #[cfg_attr(feature = "typescript", ts(type = "number[]"))]
    pub ids: Vec<i64>,
    /// Whether the workflow was already cancelled; the events are then marked as late.
    pub late: bool,
}

impl TableCommand for Append {
    type Done = AppendResult;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Workflow(&self.workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<AppendResult>, WriteError> {
        let workflow = workflow(facts, &self.workflow, Action::Append)?;
        let late = workflow.known_status() == Some(WorkflowStatus::Cancelled);
        let mut changes = Vec::with_capacity(self.notes.len());
        let mut known: Option<(String, String)> = None;
        for note in &self.notes {
            let mut run = None;
            if let Some(id) = &note.run {
                if known.as_ref().is_none_or(|(named, _)| named != id) {
                    let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
                    may(Action::Append, &turn, false)?;
                    known = Some((id.clone(), turn.id));
                }
                run = known.as_ref().map(|(_, id)| id.clone());
            }
            let mut payload = match &note.payload {
                None => None,
                Some(json) => Some(json.members().ok_or_else(no_payload)?),
            };
            if late {
                let members = payload.get_or_insert_default();
                members.insert("late".to_owned(), context::raw(&true));
            }
            let kind = note.kind.unwrap_or(Kind::Progress);
            changes.push(RowChange::insert(
                WorkflowTable::Events,
                vec![
                    ("workflow_id", workflow.id.as_str().into()),
                    ("run_id", run.into()),
                    ("kind", SqlValue::Word(kind.word())),
                    ("text", note.text.as_str().into()),
                    (
                        "payload",
                        payload
                            .map_or(SqlValue::Null, |members| SqlValue::Json(Json::of(&members))),
                    ),
                    ("created_at", SqlValue::Time(now)),
                ],
            ));
        }
        let done = AppendResult {
            workflow_id: workflow.id.clone(),
            ids: Vec::new(),
            late,
        };
        Ok(WorkflowPlan { changes, done })
    }

    fn appended(done: &mut AppendResult, ids: Vec<i64>) {
        done.ids = ids;
    }
}

/// The command that sets or removes members of a workflow's preferences; other members stay.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Prefer {
    /// The id of the workflow whose preferences change.
    #[serde(default)]
    pub workflow: String,
    /// The names of the members to set, with their values.
    #[serde(default)]
    pub set: Vec<(String, Json)>,
    /// The names of the members to remove.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// The new value of a workflow's preferences or important steps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DataSet {
    /// The id of the workflow that the preferences or steps belong to.
    pub workflow_id: String,
    /// The new value of the preferences or important steps.
    pub value: Json,
    /// Whether the value was already the same, so that nothing was changed.
    pub already: bool,
}

impl TableCommand for Prefer {
    type Done = DataSet;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Workflow(&self.workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<DataSet>, WriteError> {
        let workflow = workflow(facts, &self.workflow, Action::Prefer)?;
        let mut members = context::object(&workflow.preferences, "preferences")?;
        for (name, value) in &self.set {
            members.insert(name.clone(), value.raw());
        }
        for name in &self.remove {
            members.remove(name);
        }
        let value = Json::of(&members);
        Ok(changed(
            "preferences",
            &workflow.id,
            &workflow.preferences,
            value,
            now,
        ))
    }
}

/// The command that records an important step of a workflow.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ImportantStep {
    /// The id of the workflow that gets the step.
    #[serde(default)]
    pub workflow: String,
    /// The id of the run that the step belongs to; `None` if it belongs to no run.
    #[serde(default)]
    pub run: Option<String>,
    /// The text of the step, for people.
    pub text: String,
    /// The data of the step, for programs: an object.
    #[serde(default)]
    pub payload: Option<Json>,
}

impl TableCommand for ImportantStep {
    type Done = DataSet;

    fn target(&self) -> LockTarget<'_> {
        LockTarget::Workflow(&self.workflow)
    }

    fn plan(
        &self,
        facts: &dyn WorkflowFacts,
        now: i64,
    ) -> Result<WorkflowPlan<DataSet>, WriteError> {
        let workflow = workflow(facts, &self.workflow, Action::Step)?;
        let mut step = match &self.payload {
            None => super::json::Members::new(),
            Some(json) => json.members().ok_or_else(no_payload)?,
        };
        step.insert("text".to_owned(), context::raw(&self.text));
        step.insert("at".to_owned(), context::raw(&Stamp::At(now)));
        if let Some(id) = &self.run {
            let turn = facts.turn(id)?.ok_or_else(|| no_run(id))?;
            step.insert("run_id".to_owned(), context::raw(&turn.id));
        }
        let before = &workflow.important_steps;
        // OpenProse's models store important steps as an object, `{"steps": […]}`. A list that another program wrote
        // stays a list.
        let value = if before.as_str().starts_with('[') {
            let list: Result<Vec<Box<RawValue>>, _> = serde_json::from_str(before.as_str());
            let mut list = list.unwrap_or_default();
            list.push(context::raw(&step));
            Json::of(&list)
        } else {
            let mut members = context::object(before, "important_steps")?;
            let list = members.get("steps").map_or("[]", |steps| steps.get());
            let list: Result<Vec<Box<RawValue>>, _> = serde_json::from_str(list);
            let mut list = list.map_err(|_| {
                WriteError::refused(
                    "not-an-object",
                    "`important_steps.steps` of the workflow is not a list, so nothing can be added to it",
                    "correct the value with the program that wrote the workflow",
                )
            })?;
            list.push(context::raw(&step));
            members.insert("steps".to_owned(), context::raw(&list));
            Json::of(&members)
        };
        Ok(changed("important_steps", &workflow.id, before, value, now))
    }
}

fn changed(
    column: &'static str,
    id: &str,
    before: &Json,
    value: Json,
    now: i64,
) -> WorkflowPlan<DataSet> {
    let already = before.is_same(&value);
    let done = DataSet {
        workflow_id: id.to_owned(),
        value: value.clone(),
        already,
    };
    if already {
        return told(done);
    }
    let values = vec![
        (column, SqlValue::Json(value)),
        ("updated_at", SqlValue::Time(now)),
    ];
    WorkflowPlan {
        changes: vec![RowChange::update(WorkflowTable::Workflows, id, values)],
        done,
    }
}

fn no_payload() -> WriteError {
    WriteError::wrong(
        "the payload is not a JSON object",
        "write the payload as {\"key\": …}",
    )
}
