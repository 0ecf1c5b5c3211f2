//! Lists the routes of the server, and defines the handlers of the routes for commands.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use prosescope_core::record::WriteError;
use prosescope_workflow::{
    Append, AppendResult, Ask, Cancel, ClaimNext, ClaimedRun, DataSet, Fail, Finish, Heartbeat,
    Horizon, ImportantStep, Input, Json, Move, NewEvent, Prefer, SetState, Start, StartResult,
    StatusChange, TableCommand, Tables, TurnResult, find_run, find_workflow, record,
};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use crate::body::{
    AskBody, ClaimBody, ErrorBody, EventBody, EventsBody, FailBody, FinishBody, HeartbeatBody, Id,
    InputBody, JsonBody, NoBody, PreferBody, RunBody, StartBody, StateBody, StepBody,
};
use crate::hub::Hub;
use crate::pool::Pool;
use crate::problem::{Problem, RefusedRequest};
use crate::{read, stream};

/// State shared by all routes.
pub(crate) struct Site {
    pub(crate) pool: Arc<Pool>,
    pub(crate) hub: Arc<Hub>,
    /// The event id up to which events are settled. Clients that read events by pages, and new streams, use this id.
    pub(crate) horizon: Arc<Mutex<Horizon>>,
}

type SharedSite = State<Arc<Site>>;
type ApiResult<T> = Result<Answer<T>, Problem>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Prosescope workflows",
        description = "Workflows are conversations, runs are their turns, events are their progress. All requests except \
                       `/health` need `Authorization: Bearer TOKEN`. Errors are RFC 9457 problems. \
                       `If-Match: \"VERSION\"` refuses a command (412) when the workflow changed after it was read."
    ),
    // The bodies of these commands may be left out, so their routes refer to them without requiring them.
    components(schemas(HeartbeatBody, PreferBody, RunBody)),
    tags(
        (name = "commands", description = "Change a workflow"),
        (name = "pages", description = "Read what is recorded"),
        (name = "events", description = "Follow progress: each event once and in order"),
        (name = "server", description = "State of the server")
    )
)]
struct Document;

/// Returns all routes with their OpenAPI description.
pub(crate) fn routes() -> OpenApiRouter<Arc<Site>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(start))
        .routes(routes!(input))
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(cancel))
        .routes(routes!(error))
        .routes(routes!(ask))
        .routes(routes!(finish))
        .routes(routes!(fail))
        .routes(routes!(heartbeat))
        .routes(routes!(claim))
        .routes(routes!(state))
        .routes(routes!(prefer))
        .routes(routes!(step))
        .routes(routes!(append))
        .routes(routes!(read::list))
        .routes(routes!(read::stuck))
        .routes(routes!(read::workflow))
        .routes(routes!(read::run))
        .routes(routes!(read::events))
        .routes(routes!(stream::sse))
        .routes(routes!(stream::ws))
        .routes(routes!(read::health))
        .routes(routes!(read::document))
}

/// Returns the current time in milliseconds since 1970 UTC.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the version that the client sent as `If-Match`; `None` without this header or for `*`.
fn version(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    match text.trim_start_matches("W/").trim_matches('"').parse() {
        Ok(version) => Ok(Some(version)),
        Err(_) if text == "*" => Ok(None),
        Err(_) => Err(
            Problem::bad("the header `If-Match` is not a version of the workflow")
                .hint("send the `ETag` that `GET /workflows/{id}` returned"),
        ),
    }
}

/// Builds a command with `make`, which may read the store, and records the command.
async fn recorded<C>(
    site: &Arc<Site>,
    headers: &HeaderMap,
    make: impl FnOnce(&mut dyn Tables) -> Result<C, WriteError> + Send + 'static,
) -> ApiResult<C::Done>
where
    C: TableCommand,
    C::Done: Send + 'static,
{
    let version = version(headers)?;
    let done = site.pool.run(move |store| {
        let command = make(store)?;
        record(store, &command, version, now())
    });
    let done = done.await?;
    site.hub.wake();
    Ok(Answer(done))
}

fn run_of(store: &dyn Tables, run: Option<String>) -> Result<Option<String>, WriteError> {
    run.map(|run| find_run(store, &run)).transpose()
}

fn uuid(id: &str) -> Result<String, Problem> {
    let id = Uuid::parse_str(id)
        .map_err(|cause| Problem::bad(format!("`run_id` is not a UUID: {cause}")))?;
    Ok(id.to_string())
}

/// Converts a client's error into the form in which errors are recorded: a text becomes an object with `message`.
fn error_of(error: Json) -> Json {
    match error.value() {
        serde_json::Value::String(text) => Json::of_message(&text),
        _ => error,
    }
}

/// Begins a run; without `workflow_id`, in a new workflow.
#[utoipa::path(post, path = "/workflow/start", tag = "commands", request_body = StartBody,
    responses((status = 200, body = StartResult), RefusedRequest))]
async fn start(
    State(site): SharedSite,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StartBody>,
) -> ApiResult<StartResult> {
    let run = match &body.run_id {
        Some(id) => uuid(id)?,
        None => Uuid::now_v7().to_string(),
    };
    recorded(&site, &headers, move |store| {
        Ok(Start {
            workflow: body
                .workflow_id
                .map(|id| find_workflow(store, &id))
                .transpose()?,
            new_workflow: Uuid::now_v7().to_string(),
            run,
            input: body.input,
            no_clarifications: body.ask_clarifications == Some(false),
            parallel: body.parallel,
            owner: body.owner,
            tail: body.tail,
        })
    })
    .await
}

/// Answers the question of the waiting run.
#[utoipa::path(post, path = "/workflow/input/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    request_body = InputBody, responses((status = 200, body = TurnResult), RefusedRequest))]
async fn input(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<InputBody>,
) -> ApiResult<TurnResult> {
    recorded(&site, &headers, move |store| {
        Ok(Input {
            workflow: find_workflow(store, &id)?,
            run: run_of(store, body.run_id)?,
            text: body.text,
            tail: body.tail,
        })
    })
    .await
}

/// Pauses a workflow, so that it accepts no new run.
#[utoipa::path(post, path = "/workflow/pause/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    responses((status = 200, body = StatusChange), RefusedRequest))]
async fn pause(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(_): JsonBody<NoBody>,
) -> ApiResult<StatusChange> {
    recorded(&site, &headers, move |store| {
        Ok(Move::Pause(find_workflow(store, &id)?))
    })
    .await
}

/// Resumes a workflow that is paused or has an error.
#[utoipa::path(post, path = "/workflow/resume/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    responses((status = 200, body = StatusChange), RefusedRequest))]
async fn resume(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(_): JsonBody<NoBody>,
) -> ApiResult<StatusChange> {
    recorded(&site, &headers, move |store| {
        Ok(Move::Resume(find_workflow(store, &id)?))
    })
    .await
}

/// Cancels a workflow with its open runs; with `run_id`, only that run.
#[utoipa::path(post, path = "/workflow/cancel/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    request_body(content = ref("#/components/schemas/RunBody"), content_type = "application/json"), responses((status = 200, body = StatusChange), RefusedRequest))]
async fn cancel(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RunBody>,
) -> ApiResult<StatusChange> {
    recorded(&site, &headers, move |store| {
        Ok(Cancel {
            workflow: find_workflow(store, &id)?,
            run: run_of(store, body.run_id)?,
        })
    })
    .await
}

/// Records an error of the workflow itself.
#[utoipa::path(post, path = "/workflow/error/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    request_body = ErrorBody, responses((status = 200, body = StatusChange), RefusedRequest))]
async fn error(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ErrorBody>,
) -> ApiResult<StatusChange> {
    recorded(&site, &headers, move |store| {
        Ok(Move::Error(
            find_workflow(store, &id)?,
            error_of(body.error),
        ))
    })
    .await
}

/// Asks the person a question; the run then waits for input.
#[utoipa::path(post, path = "/workflow/ask/{id}", tag = "commands", params(("id" = String, Path, description = "The run")),
    request_body = AskBody, responses((status = 200, body = TurnResult), RefusedRequest))]
async fn ask(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AskBody>,
) -> ApiResult<TurnResult> {
    recorded(&site, &headers, move |store| {
        Ok(Ask {
            run: find_run(store, &id)?,
            question: body.question,
            payload: body.payload,
            owner: body.owner,
        })
    })
    .await
}

/// Ends a run with its output.
#[utoipa::path(post, path = "/workflow/finish/{id}", tag = "commands", params(("id" = String, Path, description = "The run")),
    request_body = FinishBody, responses((status = 200, body = TurnResult), RefusedRequest))]
async fn finish(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<FinishBody>,
) -> ApiResult<TurnResult> {
    if body.output.is_null() {
        return Err(
            Problem::bad("`output` is null, but a finished run needs an output")
                .hint("send the run's output, or end the run with `/workflow/fail/{id}`"),
        );
    }
    recorded(&site, &headers, move |store| {
        Ok(Finish {
            run: find_run(store, &id)?,
            output: body.output,
            message: body.message,
            summary: body.summary,
            tail: body.tail,
            owner: body.owner,
        })
    })
    .await
}

/// Ends a run with an error.
#[utoipa::path(post, path = "/workflow/fail/{id}", tag = "commands", params(("id" = String, Path, description = "The run")),
    request_body = FailBody, responses((status = 200, body = TurnResult), RefusedRequest))]
async fn fail(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<FailBody>,
) -> ApiResult<TurnResult> {
    recorded(&site, &headers, move |store| {
        Ok(Fail {
            run: find_run(store, &id)?,
            error: error_of(body.error),
            owner: body.owner,
        })
    })
    .await
}

/// Records that an engine works on a run; 409 means that the engine must stop.
#[utoipa::path(post, path = "/workflow/heartbeat/{id}", tag = "commands", params(("id" = String, Path, description = "The run")),
    request_body(content = ref("#/components/schemas/HeartbeatBody"), content_type = "application/json"), responses((status = 200, body = TurnResult), RefusedRequest))]
async fn heartbeat(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<HeartbeatBody>,
) -> ApiResult<TurnResult> {
    recorded(&site, &headers, move |store| {
        Ok(Heartbeat {
            run: find_run(store, &id)?,
            owner: body.owner,
            lease: body.lease_ms.into(),
        })
    })
    .await
}

/// Gives the oldest run that needs work to an engine; 404 means that no run needs work.
#[utoipa::path(post, path = "/workflow/claim", tag = "commands", request_body = ClaimBody,
    responses((status = 200, body = ClaimedRun), RefusedRequest))]
async fn claim(
    State(site): SharedSite,
    JsonBody(body): JsonBody<ClaimBody>,
) -> ApiResult<ClaimedRun> {
    let claimed = site.pool.run(move |store| {
        let mut wanted = ClaimNext {
            run: body.run_id,
            workflow: body.workflow_id,
            owner: body.owner,
            lease: body.lease_ms.into(),
        };
        wanted.named(store)?;
        let claimed = wanted.claim(store, now())?;
        claimed.ok_or_else(|| WriteError::not_found("no run needs work", "try again later"))
    });
    let claimed = claimed.await?;
    site.hub.wake();
    Ok(Answer(claimed))
}

/// Replaces the checkpoint of a run; the open question stays.
#[utoipa::path(post, path = "/workflow/state/{id}", tag = "commands", params(("id" = String, Path, description = "The run")),
    request_body = StateBody, responses((status = 200, body = TurnResult), RefusedRequest))]
async fn state(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StateBody>,
) -> ApiResult<TurnResult> {
    recorded(&site, &headers, move |store| {
        Ok(SetState {
            run: find_run(store, &id)?,
            state: body.state,
            owner: body.owner,
        })
    })
    .await
}

/// Sets or removes preferences; other preferences stay.
#[utoipa::path(post, path = "/workflow/prefer/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    request_body(content = ref("#/components/schemas/PreferBody"), content_type = "application/json"), responses((status = 200, body = DataSet), RefusedRequest))]
async fn prefer(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<PreferBody>,
) -> ApiResult<DataSet> {
    recorded(&site, &headers, move |store| {
        Ok(Prefer {
            workflow: find_workflow(store, &id)?,
            set: body.set.into_iter().collect(),
            remove: body.remove,
        })
    })
    .await
}

/// Records an important step for later runs.
#[utoipa::path(post, path = "/workflow/step/{id}", tag = "commands", params(("id" = String, Path, description = "The workflow")),
    request_body = StepBody, responses((status = 200, body = DataSet), RefusedRequest))]
async fn step(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StepBody>,
) -> ApiResult<DataSet> {
    recorded(&site, &headers, move |store| {
        Ok(ImportantStep {
            workflow: find_workflow(store, &id)?,
            run: run_of(store, body.run_id)?,
            text: body.text,
            payload: body.payload,
        })
    })
    .await
}

/// Appends one event or several; if one is refused, none is appended.
#[utoipa::path(post, path = "/workflow/events/{id}", tag = "events", params(("id" = String, Path, description = "The workflow")),
    request_body = EventsBody, responses((status = 200, body = AppendResult), RefusedRequest))]
async fn append(
    State(site): SharedSite,
    Id(id): Id,
    headers: HeaderMap,
    JsonBody(body): JsonBody<EventsBody>,
) -> ApiResult<AppendResult> {
    let events = match body {
        EventsBody::Many(events) => events,
        EventsBody::One(event) => vec![event],
    };
    recorded(&site, &headers, move |store| {
        let notes = events.into_iter().map(|event: EventBody| {
            Ok(NewEvent {
                run: run_of(store, event.run_id)?,
                kind: event.kind,
                text: event.text,
                payload: event.payload,
            })
        });
        let notes: Result<Vec<NewEvent>, WriteError> = notes.collect();
        Ok(Append {
            workflow: find_workflow(store, &id)?,
            notes: notes?,
        })
    })
    .await
}
