//! Defines and parses the inputs of the routes: bodies, queries and ids. Invalid input is refused with a [`Problem`].

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use prosescope_workflow::{Json, Kind, WorkflowStatus};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{Object, SchemaType, Type};
use utoipa::{IntoParams, ToSchema};

use crate::problem::{Problem, SMALLER};

/// The JSON body of a request; an empty body counts as an empty object.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<JsonBody<T>, Problem> {
        // Only JSON is accepted. A form on a page of another site can send text without the browser's preflight
        // request, but cannot send JSON.
        let of = request.headers().get(header::CONTENT_TYPE);
        let of = of
            .and_then(|of| of.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        let is_json = of.split(';').next().unwrap_or_default().trim() == "application/json";
        let bytes = Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|rejection| {
            let detail = rejection.body_text();
            match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => {
                    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail).hint(SMALLER)
                }
                status => Problem::new(status, detail),
            }
        })?;
        if bytes.is_empty() {
            let empty = serde_json::from_slice(b"{}");
            return empty.map(JsonBody).map_err(|cause| wrong(&cause));
        }
        if !is_json {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(
                Problem::new(status, "the body is not of type application/json")
                    .hint("send `Content-Type: application/json`"),
            );
        }
        serde_json::from_slice(&bytes)
            .map(JsonBody)
            .map_err(|cause| wrong(&cause))
    }
}

fn wrong(cause: &serde_json::Error) -> Problem {
    Problem::bad(format!("the body cannot be read: {cause}"))
        .hint("see `/openapi.json` for the body of this path")
}

/// The query in the address of a request.
pub(crate) struct QueryString<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryString<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<QueryString<T>, Problem> {
        let asked = Query::<T>::from_request_parts(parts, state).await;
        asked
            .map(|Query(asked)| QueryString(asked))
            .map_err(|rejection| Problem::bad(rejection.body_text()))
    }
}

/// The id in the path of a request.
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Problem> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, state).await;
        let axum::extract::Path(id) =
            path.map_err(|rejection| Problem::bad(rejection.body_text()))?;
        let is_id = id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if is_id {
            Ok(Id(id))
        } else {
            Err(Problem::new(
                StatusCode::NOT_FOUND,
                "the path contains no valid id",
            ))
        }
    }
}

/// Deserializes a whole number, including `2.0`: JSON does not distinguish `2` from `2.0`.
fn whole_number<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = f64::deserialize(from)?;
    let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    // A float represents every whole number of 32 bits exactly.
    is_whole.then_some(number as u32).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{number} is not a whole number from 0 to 4294967295"
        ))
    })
}

/// The body of `/workflow/start`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartBody {
    /// The person's message that begins the run.
    pub(crate) input: String,
    /// The id of the workflow to continue; without it, a new workflow is created.
    #[serde(default)]
    pub(crate) workflow_id: Option<String>,
    /// A UUID chosen by the caller: a repeated request with the same id and input changes nothing.
    #[serde(default)]
    #[schema(format = "uuid")]
    pub(crate) run_id: Option<String>,
    /// Whether the engine may ask questions; true by default.
    #[serde(default)]
    pub(crate) ask_clarifications: Option<bool>,
    /// Whether to begin the run even if another run of the workflow is open.
    #[serde(default)]
    pub(crate) parallel: bool,
    /// The name of the engine that will work on the run; not verified.
    #[serde(default)]
    pub(crate) owner: Option<String>,
    /// The most messages that stay in the context after the run's first message is added; 0 means 100.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) tail: u32,
}

/// The body of `/workflow/input`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputBody {
    /// The person's answer.
    pub(crate) text: String,
    /// The id of the run to answer. Without it, the newest run is answered if it waits, else the only waiting run.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
    /// The most messages that stay in the context after the answer is added; 0 means 100.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) tail: u32,
}

/// The body of `/workflow/cancel`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunBody {
    /// The id of the run to cancel; without it, the whole workflow is cancelled.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
}

/// The body of a command without parameters: an empty object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoBody {}

/// The body of `/workflow/ask`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskBody {
    /// The question to the person.
    pub(crate) question: String,
    /// Further data of the question, for programs: an object.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) payload: Option<Json>,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub(crate) owner: Option<String>,
}

/// Returns the schema of any JSON value except null.
fn but_null() -> Object {
    let all = [
        Type::Object,
        Type::Array,
        Type::String,
        Type::Number,
        Type::Boolean,
    ];
    Object::with_type(SchemaType::Array(all.to_vec()))
}

/// The body of `/workflow/finish`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FinishBody {
    /// The output: any JSON value except null.
    #[schema(schema_with = but_null)]
    pub(crate) output: Json,
    /// The assistant's message in the conversation.
    #[serde(default)]
    pub(crate) message: Option<String>,
    /// A summary of the conversation so far.
    #[serde(default)]
    pub(crate) summary: Option<String>,
    /// The most messages that stay in the context after the assistant's message is added; 0 means 100.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) tail: u32,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub(crate) owner: Option<String>,
}

/// The body of `/workflow/error`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorBody {
    /// The error: a text or an object.
    pub(crate) error: Json,
}

/// The body of `/workflow/fail`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailBody {
    /// The error: a text or an object.
    pub(crate) error: Json,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub(crate) owner: Option<String>,
}

/// The body of `/workflow/claim`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimBody {
    /// The name of the engine; not verified. Two engines need two names.
    pub(crate) owner: String,
    /// The id of the run to claim; without it, the oldest run that needs work is claimed.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
    /// If given, only a run of this workflow is claimed.
    #[serde(default)]
    pub(crate) workflow_id: Option<String>,
    /// For how many milliseconds the engine keeps the run; 0 means 60,000. Heartbeats extend this time.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) lease_ms: u32,
}

/// The body of `/workflow/state`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateBody {
    /// The checkpoint: an object without `pending_input`. The open question stays.
    #[schema(value_type = Object)]
    pub(crate) state: Json,
    /// The name of the engine, as it claimed the run; not verified.
    #[serde(default)]
    pub(crate) owner: Option<String>,
}

/// The body of `/workflow/heartbeat`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeartbeatBody {
    /// The name of the engine that sends the heartbeat; not verified. Without it, the recorded name stays.
    #[serde(default)]
    pub(crate) owner: Option<String>,
    /// For how many milliseconds from now the engine keeps the run that it claimed; 0 means 60,000.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) lease_ms: u32,
}

/// The body of `/workflow/prefer`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreferBody {
    /// The members to set, with their values.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub(crate) set: std::collections::BTreeMap<String, Json>,
    /// The names of the members to remove.
    #[serde(default)]
    pub(crate) remove: Vec<String>,
}

/// The body of `/workflow/step`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepBody {
    /// The text of the step, for people.
    pub(crate) text: String,
    /// The id of the run to which the step belongs.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
    /// Further data of the step, for programs: an object.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) payload: Option<Json>,
}

/// An event to append to a workflow.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventBody {
    /// The text of the event, for people.
    pub(crate) text: String,
    /// The kind of event; `progress` by default.
    #[serde(default)]
    pub(crate) kind: Option<Kind>,
    /// The id of the run to which the event belongs.
    #[serde(default)]
    pub(crate) run_id: Option<String>,
    /// The data of the event, for programs: an object.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(crate) payload: Option<Json>,
}

/// One event, or several that are appended together or not at all.
#[derive(Debug, ToSchema)]
#[serde(untagged)]
pub(crate) enum EventsBody {
    /// Several events.
    Many(Vec<EventBody>),
    /// One event.
    One(EventBody),
}

impl<'de> Deserialize<'de> for EventsBody {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<EventsBody, D::Error> {
        // serde's derived code for untagged enums buffers the value and loses the digits of long numbers.
        let raw = <&RawValue>::deserialize(from)?;
        let read = if raw.get().starts_with('[') {
            serde_json::from_str(raw.get()).map(EventsBody::Many)
        } else {
            serde_json::from_str(raw.get()).map(EventsBody::One)
        };
        read.map_err(serde::de::Error::custom)
    }
}

/// The filter of the list of workflows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListAsked {
    /// If given, only workflows with this status are listed.
    #[serde(default)]
    #[param(value_type = Option<WorkflowStatus>, inline)]
    pub(crate) status: Option<String>,
    /// Whether to list only workflows with a run that waits for input.
    #[serde(default)]
    pub(crate) waiting: bool,
    /// The most workflows to return, up to 1,000.
    #[serde(default)]
    #[param(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) limit: u32,
}

/// The filter of the list of stuck runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct StuckAsked {
    /// The time without a sign of life after which a run is listed, such as `5m`.
    #[serde(default)]
    #[param(pattern = r"^[1-9][0-9]{0,3}[dhms]$")]
    pub(crate) silent: Option<String>,
}

/// The range of events to return: those after a cursor, up to a number.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsAsked {
    /// The cursor: only events with larger ids are returned.
    #[serde(default)]
    pub(crate) after: Option<i64>,
    /// The most events to return, up to 1,000.
    #[serde(default)]
    #[param(format = "int64", maximum = 4_294_967_295_u32)]
    pub(crate) limit: Option<u32>,
}
