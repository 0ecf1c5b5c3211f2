//! Defines the handlers of the routes that read: lists, a workflow, a run, events, and the server's own state.

use std::sync::{Arc, PoisonError};

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prosescope_core::model::timeout::Timeout;
use prosescope_core::record::WriteError;
use prosescope_workflow::{
    Events, StuckRun, Turn, WorkflowFilter, WorkflowList, WorkflowStatus, WorkflowView,
    events as page_of, find_run, find_workflow, list as listed, run as turn, show,
    stuck as silent_runs,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::{Site, now};
use crate::body::{EventsAsked, Id, ListAsked, QueryString, StuckAsked};
use crate::problem::{Problem, RefusedRequest};

type SharedReader = State<Arc<Site>>;
type ReadResult<T> = Result<Answer<T>, Problem>;

/// The most items that one answer contains.
const MOST: u32 = 1000;

/// The default time without a sign of life, in milliseconds, after which `/workflows/stuck` lists a running run.
const SILENT: i64 = 5 * 60 * 1000;

/// Lists workflows, the newest first.
#[utoipa::path(get, path = "/workflows", tag = "pages", params(ListAsked), responses((status = 200, body = WorkflowList), RefusedRequest))]
pub(crate) async fn list(
    State(site): SharedReader,
    QueryString(asked): QueryString<ListAsked>,
) -> ReadResult<WorkflowList> {
    let status = match &asked.status {
        None => None,
        Some(word) => Some(WorkflowStatus::parse(word).ok_or_else(|| {
            Problem::bad(format!("{word} is not a status of workflows"))
                .hint("write active, paused, cancelled or error")
        })?),
    };
    let wanted = WorkflowFilter {
        status,
        waiting: asked.waiting,
        limit: asked.limit.min(MOST),
    };
    let list = site.pool.run(move |store| Ok(listed(store, &wanted)?));
    Ok(Answer(list.await?))
}

/// Lists running runs without a sign of life, the longest silent first.
#[utoipa::path(get, path = "/workflows/stuck", tag = "pages", params(StuckAsked), responses((status = 200, body = Vec<StuckRun>), RefusedRequest))]
pub(crate) async fn stuck(
    State(site): SharedReader,
    QueryString(asked): QueryString<StuckAsked>,
) -> ReadResult<Vec<StuckRun>> {
    let silent = match &asked.silent {
        None => SILENT,
        Some(text) => {
            let silent = Timeout::parse(text).map_err(|error| {
                Problem::bad(format!("silent={text} is not a duration: {error}"))
            })?;
            i64::try_from(silent.seconds())
                .unwrap_or(i64::MAX)
                .saturating_mul(1000)
        }
    };
    let stuck = site
        .pool
        .run(move |store| Ok(silent_runs(store, silent, now())?));
    Ok(Answer(stuck.await?))
}

/// Returns a workflow with its runs. The ETag is the workflow's version.
#[utoipa::path(get, path = "/workflows/{id}", tag = "pages", params(("id" = String, Path)),
    responses((status = 200, body = WorkflowView, headers(("ETag" = String, description = "The version to send as `If-Match`; missing if the table has no column `x_version`"))), RefusedRequest))]
pub(crate) async fn workflow(State(site): SharedReader, Id(id): Id) -> Result<Response, Problem> {
    let view = site.pool.run(move |store| {
        let id = find_workflow(store, &id)?;
        let view = show(store, &id)?;
        view.ok_or_else(|| WriteError::not_found(format!("there is no workflow {id}"), ""))
    });
    let view = view.await?;
    let tag = view
        .workflow
        .version
        .map(|version| format!("\"{version}\""));
    let mut response = Answer(view).into_response();
    if let Some(Ok(tag)) = tag.map(|tag| HeaderValue::from_str(&tag)) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Returns a run of a workflow.
#[utoipa::path(get, path = "/runs/{id}", tag = "pages", params(("id" = String, Path)), responses((status = 200, body = Turn), RefusedRequest))]
pub(crate) async fn run(State(site): SharedReader, Id(id): Id) -> ReadResult<Turn> {
    let run = site.pool.run(move |store| {
        let id = find_run(store, &id)?;
        let run = turn(store, &id)?;
        run.ok_or_else(|| WriteError::not_found(format!("there is no run {id}"), ""))
    });
    Ok(Answer(run.await?))
}

/// Returns the settled events after a cursor.
#[utoipa::path(get, path = "/workflows/{id}/events", tag = "events", params(("id" = String, Path), EventsAsked), responses((status = 200, body = Events), (status = 409, description = "The cursor is greater than the id of the newest event", body = Problem, content_type = "application/problem+json"), RefusedRequest))]
pub(crate) async fn events(
    State(site): SharedReader,
    Id(id): Id,
    QueryString(asked): QueryString<EventsAsked>,
) -> ReadResult<Events> {
    let limit = asked.limit.unwrap_or(MOST).clamp(1, MOST);
    let horizon = Arc::clone(&site.horizon);
    let events = site.pool.run(move |store| {
        let id = find_workflow(store, &id)?;
        let mut horizon = horizon.lock().unwrap_or_else(PoisonError::into_inner);
        horizon.advance(store)?;
        let horizon = horizon.clone();
        page_of(store, &horizon, &id, asked.after.unwrap_or(0), limit)
    });
    Ok(Answer(events.await?))
}

/// The state of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// The word `ok`, always.
    status: &'static str,
}

/// Returns whether the store answers; needs no token.
#[utoipa::path(get, path = "/health", tag = "server", responses((status = 200, body = Health), RefusedRequest))]
pub(crate) async fn health(State(site): SharedReader) -> Result<Answer<Health>, Problem> {
    let wanted = WorkflowFilter {
        limit: 1,
        ..WorkflowFilter::default()
    };
    let asked = site
        .pool
        .run(move |store| Ok(listed(store, &wanted)?))
        .await;
    // Callers without a token get no details.
    asked
        .map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer"))?;
    Ok(Answer(Health { status: "ok" }))
}

/// Returns this OpenAPI description.
#[utoipa::path(get, path = "/openapi.json", tag = "server", responses((status = 200, content_type = "application/json", body = String), RefusedRequest))]
pub(crate) async fn document() -> Response {
    const TEXT: &str = "application/json";
    (
        [(header::CONTENT_TYPE, HeaderValue::from_static(TEXT))],
        crate::openapi(),
    )
        .into_response()
}
