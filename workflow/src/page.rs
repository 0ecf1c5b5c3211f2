//! Builds the page of a workflow from its rows: questions that wait for an answer, messages, runs, and other data. JSON
//! stays the recorded text, so that a page shows every number unchanged.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::json::Members;
use super::lifecycle::{Action, ActionEffect, allowed_by_workflow};
use super::thread::{ThreadItem, thread, title};
use super::{Json, Turn, TurnStatus, Workflow, WorkflowEvent, WorkflowStatus, WorkflowView};
use prosescope_core::model::shell;
use prosescope_core::model::time::Stamp;

/// Limit for one text of a page, in bytes; a longer text is cut.
const MOST: usize = 256 << 10;

/// The columns that another program added, with their values as text.
pub type Extra = Vec<(String, Option<String>)>;

/// A text, or JSON as it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedText {
    /// The text, or its beginning.
    pub text: String,
    /// Whether the text is JSON; false for the content of a JSON string and for text that is not JSON.
    pub json: bool,
    /// The size of the whole text in bytes, if the page contains only its beginning.
    pub cut_from: Option<u64>,
}

/// A member of a JSON object in a column. The name is empty if the column contains another JSON value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The name of the member.
    pub name: String,
    /// The value of the member.
    pub value: RecordedText,
}

/// A message of the conversation, or an important step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The number of the message, as recorded.
    pub seq: Option<String>,
    /// The author of the message, as recorded.
    pub role: Option<String>,
    /// The run that the message or step belongs to, if recorded.
    pub run: Option<String>,
    /// The question that the message answers, if recorded.
    pub question: Option<RecordedText>,
    /// The content of the message or step, if recorded.
    pub content: Option<RecordedText>,
    /// The time at which the message or step was written, if recorded.
    pub at: Option<Stamp>,
    /// The other members of the message or step.
    pub more: Vec<Member>,
}

/// A run that waits for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asking {
    /// The id of the run that waits for the person.
    pub run: String,
    /// The question that the run asks; `None` if none is recorded.
    pub question: Option<String>,
    /// The time at which the question was asked.
    pub at: Option<Stamp>,
    /// The command that answers the question; `None` if the workflow's status does not allow an answer.
    pub command: Option<String>,
}

/// A run of the workflow: one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnShown {
    /// The id of the run, which is one turn of the conversation.
    pub id: String,
    /// The run's status: OpenProse's word if OpenProse defines the status.
    pub status: String,
    /// The person's message that began the run.
    pub input: Option<RecordedText>,
    /// The recorded question that is not answered yet; `None` if there is none.
    pub question: Option<String>,
    /// The answer of the run.
    pub output: Option<RecordedText>,
    /// The error with which the run failed, if it did.
    pub error: Option<RecordedText>,
    /// Whether the engine may ask the person questions.
    pub may_ask: Option<bool>,
    /// The data with which the engine continues the run.
    pub state: Option<RecordedText>,
    /// The name that the engine of the run gave; not verified.
    pub owner: Option<String>,
    /// The time of the engine's last heartbeat.
    pub heartbeat: Option<Stamp>,
    /// The time at which the run was created, if recorded.
    pub created_at: Option<Stamp>,
    /// The time of the run's last change, if recorded.
    pub updated_at: Option<Stamp>,
    /// Milliseconds from the run's beginning to its last change, if the run has ended.
    pub took_ms: Option<i64>,
    /// The version of the run, which increases with every change.
    pub version: Option<i64>,
    /// The columns that another program added to the run.
    pub extra: Extra,
}

/// A workflow as a page shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkflowPage {
    /// The id of the workflow that the page shows.
    pub id: String,
    /// The first message of the workflow, as one short line.
    pub title: Option<String>,
    /// Messages, runs and questions, in order of time.
    pub thread: Vec<ThreadItem>,
    /// The workflow's status: OpenProse's word if OpenProse defines the status.
    pub status: String,
    /// The error of the workflow itself, not of a run.
    pub error: Option<RecordedText>,
    /// The time at which the workflow was created, if recorded.
    pub created_at: Option<Stamp>,
    /// The time of the workflow's last change, if recorded.
    pub updated_at: Option<Stamp>,
    /// The version of the workflow, which increases with every change.
    pub version: Option<i64>,
    /// The runs that wait for an answer of the person.
    pub asks: Vec<Asking>,
    /// The summary of the messages that are no longer in the context.
    pub summary: Option<RecordedText>,
    /// The newest messages, the oldest of them first.
    pub messages: Vec<Message>,
    /// The members of the context other than the summary and the messages.
    pub context: Vec<Member>,
    /// The settings of the conversation.
    pub preferences: Vec<Member>,
    /// Steps worth keeping across runs.
    pub steps: Vec<Message>,
    /// The members of `important_steps` other than `steps`.
    pub more_steps: Vec<Member>,
    /// The runs of the workflow, the oldest first.
    pub runs: Vec<TurnShown>,
    /// The id of the newest run, as the workflow records it.
    pub newest_run: Option<String>,
    /// The columns that another program added to the workflow.
    pub extra: Extra,
}

/// An event in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// The id of the event, which is also the cursor.
    pub id: i64,
    /// The kind of the event: OpenProse's word if OpenProse defines the kind.
    pub kind: String,
    /// The beginning of the event's text.
    pub text: String,
    /// The id of the run that the event belongs to.
    pub run: Option<String>,
    /// The time at which the event was recorded.
    pub at: Option<Stamp>,
}

/// An event with all recorded data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventShown {
    /// The event as a list shows it.
    pub line: EventLine,
    /// The text of the event.
    pub text: RecordedText,
    /// The data of the event for programs.
    pub payload: Option<RecordedText>,
    /// The columns that another program added to the event.
    pub extra: Extra,
}

/// Returns a workflow as a page shows it.
pub fn page(view: WorkflowView) -> WorkflowPage {
    let WorkflowView { workflow, runs } = view;
    let asks = asks(&workflow, &runs);
    let (summary, messages, context) = conversation(&workflow.context);
    let (steps, more_steps) = steps(&workflow.important_steps);
    WorkflowPage {
        title: title(&messages, &runs),
        thread: thread(&messages, &runs),
        asks,
        summary,
        messages,
        context,
        preferences: members(&workflow.preferences),
        steps,
        more_steps,
        runs: runs.into_iter().map(turn).collect(),
        status: word(&workflow.status, |text| {
            WorkflowStatus::parse(text).map(WorkflowStatus::word)
        }),
        error: workflow.error.as_ref().map(shown),
        id: workflow.id,
        created_at: workflow.created_at,
        updated_at: workflow.updated_at,
        version: workflow.version,
        newest_run: workflow.most_recent_run_id,
        extra: cut_all(workflow.extra),
    }
}

/// Returns an event as a list shows it.
pub fn line(event: &WorkflowEvent) -> EventLine {
    EventLine {
        id: event.id,
        kind: word(&event.kind, |text| {
            super::Kind::parse(text).map(super::Kind::word)
        }),
        text: super::read::short(&event.text),
        run: event.run_id.clone(),
        at: event.created_at.clone(),
    }
}

/// Returns an event with all recorded data.
pub fn event(event: WorkflowEvent) -> EventShown {
    EventShown {
        line: line(&event),
        text: plain(&event.text),
        payload: event.payload.as_ref().map(shown),
        extra: cut_all(event.extra),
    }
}

/// Returns OpenProse's word for a status in any case (`ACTIVE` becomes `active`), else the recorded text.
pub fn status_word(status: &str) -> String {
    word(status, |text| {
        let workflow = WorkflowStatus::parse(text).map(WorkflowStatus::word);
        workflow.or_else(|| TurnStatus::parse(text).map(TurnStatus::word))
    })
}

fn word(recorded: &str, known: impl Fn(&str) -> Option<&'static str>) -> String {
    known(recorded).map_or_else(|| recorded.to_owned(), str::to_owned)
}

/// Returns the waiting runs, each with the command that answers its question. The command has `--run` only if several
/// runs wait (errata M5).
fn asks(workflow: &Workflow, runs: &[Turn]) -> Vec<Asking> {
    let waits = |turn: &&Turn| turn.known_status() == Some(TurnStatus::WaitingForInput);
    let several = runs.iter().filter(waits).count() > 1;
    let allowed = workflow
        .known_status()
        .is_some_and(|status| allowed_by_workflow(Action::Input, status) == ActionEffect::Yes);
    let asking = |turn: &Turn| {
        let run = if several {
            format!("{} ", shell::option("--run", &turn.id))
        } else {
            String::new()
        };
        let options = format!("{run}--text …");
        let command = shell::command("workflow input", &[&workflow.id], &options);
        Asking {
            run: turn.id.clone(),
            question: turn.question(),
            at: turn.asked_at(),
            command: allowed.then_some(command),
        }
    };
    runs.iter().filter(waits).map(asking).collect()
}

fn turn(turn: Turn) -> TurnShown {
    let has_ended = turn.known_status().is_some_and(|status| !status.is_open());
    let millis = |stamp: &Option<Stamp>| stamp.as_ref().and_then(Stamp::millis);
    let times = millis(&turn.created_at).zip(millis(&turn.updated_at));
    let took = times.map(|(from, to)| to.saturating_sub(from));
    TurnShown {
        // A row that was written only once has the same time in both columns, from which no duration follows.
        took_ms: took.filter(|ms| has_ended && *ms > 0),
        question: turn.question(),
        status: word(&turn.status, |text| {
            TurnStatus::parse(text).map(TurnStatus::word)
        }),
        input: turn.user_input.as_deref().map(plain),
        output: turn.final_output.as_ref().map(shown),
        error: turn.error.as_ref().map(shown),
        may_ask: turn.ask_clarifications,
        state: (!matches!(turn.state.as_str(), "{}" | "null")).then(|| shown(&turn.state)),
        owner: turn.owner,
        heartbeat: turn.heartbeat,
        created_at: turn.created_at,
        updated_at: turn.updated_at,
        version: turn.version,
        extra: cut_all(turn.extra),
        id: turn.id,
    }
}

/// Splits a context into summary, messages and other members. A `tail` that is not a list stays among the other
/// members.
fn conversation(context: &Json) -> (Option<RecordedText>, Vec<Message>, Vec<Member>) {
    let Some(mut found) = context.members() else {
        return (None, Vec::new(), members(context));
    };
    let summary = found.remove("summary").filter(|raw| raw.get() != "null");
    let tail: Option<Vec<Box<RawValue>>> = found
        .get("tail")
        .and_then(|tail| serde_json::from_str(tail.get()).ok());
    if tail.is_some() {
        found.remove("tail");
    }
    let messages = tail.unwrap_or_default();
    let messages = messages.iter().map(|raw| message(raw));
    (
        summary.as_deref().map(of_raw),
        messages.collect(),
        of_members(found),
    )
}

fn message(raw: &RawValue) -> Message {
    said(raw, |found| Message {
        run: taken(found, "run_id"),
        question: taken(found, "question").as_deref().map(plain),
        seq: found.remove("seq").map(text),
        role: found.remove("role").map(text),
        content: found.remove("content").as_deref().map(of_raw),
        ..Message::default()
    })
}

/// Parses a message or a step. A JSON value other than an object becomes the content. `known` removes the members that
/// it uses from the set; the remaining members become `more`.
fn said(raw: &RawValue, known: impl FnOnce(&mut Members) -> Message) -> Message {
    let Ok(mut found) = serde_json::from_str::<Members>(raw.get()) else {
        return Message {
            content: Some(of_raw(raw)),
            ..Message::default()
        };
    };
    let known = known(&mut found);
    Message {
        at: found.remove("at").map(text).as_deref().map(Stamp::parse),
        more: of_members(found),
        ..known
    }
}

/// Removes a text member from the set and returns it; a member of another type stays.
fn taken(found: &mut Members, name: &str) -> Option<String> {
    let text = serde_json::from_str(found.get(name)?.get()).ok();
    if text.is_some() {
        found.remove(name);
    }
    text
}

fn text(raw: Box<RawValue>) -> String {
    of_raw(&raw).text
}

/// Parses important steps: a list, or the member `steps` of an object. Any other value is kept as it is.
fn steps(json: &Json) -> (Vec<Message>, Vec<Member>) {
    let list = |text: &str| serde_json::from_str::<Vec<Box<RawValue>>>(text).ok();
    if let Some(found) = list(json.as_str()) {
        return (found.iter().map(|raw| step(raw)).collect(), Vec::new());
    }
    let Some(mut found) = json.members() else {
        return (Vec::new(), members(json));
    };
    let kept = found.get("steps").and_then(|steps| list(steps.get()));
    if kept.is_some() {
        found.remove("steps");
    }
    let kept = kept.unwrap_or_default();
    (
        kept.iter().map(|raw| step(raw)).collect(),
        of_members(found),
    )
}

fn step(raw: &RawValue) -> Message {
    said(raw, |found| Message {
        content: found.remove("text").as_deref().map(of_raw),
        run: found.remove("run_id").map(text),
        ..Message::default()
    })
}

/// Returns the members of a column; one member without a name if the column contains neither an object nor null.
fn members(json: &Json) -> Vec<Member> {
    match json.members() {
        Some(found) => of_members(found),
        None if json.is_null() => Vec::new(),
        None => vec![Member {
            name: String::new(),
            value: shown(json),
        }],
    }
}

fn of_members(found: Members) -> Vec<Member> {
    let member = |(name, raw): (String, Box<RawValue>)| Member {
        name,
        value: of_raw(&raw),
    };
    found.into_iter().map(member).collect()
}

fn shown(json: &Json) -> RecordedText {
    of_text(json.as_str())
}

fn of_raw(raw: &RawValue) -> RecordedText {
    of_text(raw.get())
}

/// Returns the content of a JSON string, else the JSON itself.
fn of_text(json: &str) -> RecordedText {
    match serde_json::from_str::<String>(json) {
        Ok(text) => plain(&text),
        Err(_) => RecordedText {
            json: true,
            ..plain(json)
        },
    }
}

pub(super) fn plain(text: &str) -> RecordedText {
    let end = text.floor_char_boundary(MOST);
    RecordedText {
        text: text.get(..end).unwrap_or_default().to_owned(),
        json: false,
        cut_from: (end < text.len()).then_some(text.len() as u64),
    }
}

fn cut_all(extra: Extra) -> Extra {
    let cut = |text: String| {
        if text.len() > MOST {
            plain(&text).text
        } else {
            text
        }
    };
    let cell = |(name, value): (String, Option<String>)| (name, value.map(cut));
    extra.into_iter().map(cell).collect()
}

#[cfg(test)]
mod tests;
