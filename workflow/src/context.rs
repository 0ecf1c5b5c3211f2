//! Reads and extends the messages in a workflow's `context` column (errata M6), with the members `summary`, `tail` and
//! `meta.next_seq`. Unknown members are kept.

use serde::Serialize;
use serde_json::value::RawValue;

use super::Json;
use super::json::Members;
use prosescope_core::model::time::Stamp;
use prosescope_core::record::WriteError;

/// The number of messages that the tail keeps, unless the caller chooses another number.
const TAIL: u32 = 100;

/// A message as the context's `tail` stores it.
#[derive(Serialize)]
struct TailMessage<'a> {
    seq: i64,
    #[serde(flatten)]
    said: Said<'a>,
    at: String,
}

/// A message to append, and the run that it belongs to. The message also records the question that it answers, because
/// an answered question is removed from the run's state.
#[derive(Serialize)]
pub(super) struct Said<'a> {
    pub(super) role: &'a str,
    pub(super) content: &'a str,
    pub(super) run_id: &'a str,
    /// The question that the message answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<String>,
}

/// The result of appending a message: the longer context.
pub(super) struct Longer {
    pub(super) context: Json,
    /// The number of the new message.
    pub(super) seq: i64,
    /// The number of messages that were dropped from the tail although no summary covers them.
    pub(super) dropped: u32,
}

/// Appends a message, and drops the oldest messages if the tail is longer than `most`; 0 means [`TAIL`].
pub(super) fn append(
    context: &Json,
    said: Said<'_>,
    now: i64,
    most: u32,
) -> Result<Longer, WriteError> {
    let mut members = members(context)?;
    let mut meta = inner::<Members>(&members, "meta")?;
    let mut tail = inner::<Vec<Box<RawValue>>>(&members, "tail")?;
    let last = tail.iter().filter_map(|message| seq(message)).max();
    let next = number(&meta, "next_seq").unwrap_or_else(|| last.map_or(1, |last| last + 1));
    tail.push(raw(&TailMessage {
        seq: next,
        said,
        at: Stamp::At(now).to_string(),
    }));
    let most = if most == 0 { TAIL } else { most };
    let over = tail
        .len()
        .saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
    let summarised = number(&meta, "summarised_to").unwrap_or(i64::MIN);
    let gone = tail.drain(..over);
    let unsaid = gone
        .filter(|message| seq(message).is_none_or(|seq| seq > summarised))
        .count();
    meta.insert("next_seq".to_owned(), raw(&next.saturating_add(1)));
    members.insert("meta".to_owned(), raw(&meta));
    members.insert("tail".to_owned(), raw(&tail));
    Ok(Longer {
        context: Json::of(&members),
        seq: next,
        dropped: u32::try_from(unsaid).unwrap_or(u32::MAX),
    })
}

/// Sets the summary of all messages so far. Messages covered by a summary are later dropped without a warning.
pub(super) fn summarise(context: &Json, summary: &str) -> Result<Json, WriteError> {
    let mut members = members(context)?;
    let mut meta = inner::<Members>(&members, "meta")?;
    if let Some(next) = number(&meta, "next_seq") {
        meta.insert("summarised_to".to_owned(), raw(&next.saturating_sub(1)));
        members.insert("meta".to_owned(), raw(&meta));
    }
    members.insert("summary".to_owned(), raw(&summary));
    Ok(Json::of(&members))
}

/// Returns the members of a column that contains an object; no members if the column contains null.
pub(super) fn object(json: &Json, column: &str) -> Result<Members, WriteError> {
    if json.as_str() == "null" {
        return Ok(Members::new());
    }
    json.members().ok_or_else(|| no_object(column, "an object"))
}

fn members(context: &Json) -> Result<Members, WriteError> {
    object(context, "context")
}

fn inner<T: Default + for<'a> serde::Deserialize<'a>>(
    members: &Members,
    name: &str,
) -> Result<T, WriteError> {
    match members.get(name).map(|raw| raw.get()) {
        None | Some("null") => Ok(T::default()),
        Some(text) => {
            let wanted = if name == "tail" {
                "a list"
            } else {
                "an object"
            };
            serde_json::from_str(text).map_err(|_| no_object(&format!("context.{name}"), wanted))
        }
    }
}

fn no_object(what: &str, wanted: &str) -> WriteError {
    WriteError::refused(
        "not-an-object",
        format!("`{what}` of the workflow is not {wanted}, so nothing can be added to it"),
        "correct the value with the program that wrote the workflow",
    )
}

fn seq(message: &RawValue) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct NumberedMessage {
        seq: i64,
    }
    let numbered: Option<NumberedMessage> = serde_json::from_str(message.get()).ok();
    numbered.map(|numbered| numbered.seq)
}

fn number(members: &Members, name: &str) -> Option<i64> {
    members.get(name)?.get().parse().ok()
}

pub(super) fn raw<T: Serialize>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
