//! Streams the events of a workflow after a cursor: as server-sent events, and over a WebSocket.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::sse;
use axum::response::{IntoResponse, Response, Sse};
use futures_util::{SinkExt, Stream, StreamExt, stream};
use prosescope_core::record::WriteError;
use prosescope_workflow::{
    Horizon, Waiting, WorkflowEvent, WorkflowRows, events_until, find_workflow,
};
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, channel};

use crate::api::Site;
use crate::body::{EventsAsked, Id, QueryString};
use crate::hub::Feed;
use crate::problem::{Problem, RefusedRequest};

/// The interval between signs of life on a stream.
const BEAT: Duration = Duration::from_secs(15);

/// The most events per read.
const PAGE: u32 = 500;

/// A message about the stream itself.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamNotice<'a> {
    /// Later events wait for these transactions.
    Waiting {
        #[serde(rename = "for")]
        whom: &'a [Waiting],
    },
    /// The stream ends, because the client was too slow, the server stops, or event ids started again. The client can
    /// continue after `cursor`.
    Closed { why: &'a str, cursor: i64 },
}

/// A message to a client.
enum ClientMessage {
    Event(Arc<WorkflowEvent>),
    Waiting(Arc<Vec<Waiting>>),
    Closed { why: &'static str, cursor: i64 },
}

/// Sends the events after a cursor, in order and each once.
async fn follow(
    site: Arc<Site>,
    workflow: String,
    mut cursor: i64,
    out: tokio::sync::mpsc::Sender<ClientMessage>,
) {
    // Reads past events before joining the feed. After joining, new events wait in the queue while the remaining past
    // events are read, so these should be few.
    let why = loop {
        match past(&site, &workflow, &mut cursor, None, &out).await {
            Ok(()) => {
                let mut feed = site.hub.join(&workflow);
                break Some(joined(&site, &workflow, &mut cursor, &mut feed, &out).await);
            }
            Err(Gone::Client) => break None,
            Err(Gone::Store) if site.hub.is_stopping() => break Some("stopping"),
            Err(Gone::Store) => tokio::time::sleep(Duration::from_millis(250)).await,
        }
    };
    if let Some(why) = why {
        let _ = tokio::time::timeout(
            Duration::from_secs(2),
            out.send(ClientMessage::Closed { why, cursor }),
        )
        .await;
    }
}

enum Gone {
    Client,
    Store,
}

/// Sends events from the feed until the stream ends. Returns the reason, such as `slow`.
async fn joined(
    site: &Arc<Site>,
    workflow: &str,
    cursor: &mut i64,
    feed: &mut Receiver<Feed>,
    out: &tokio::sync::mpsc::Sender<ClientMessage>,
) -> &'static str {
    loop {
        let next = tokio::select! {
            next = feed.recv() => next,
            () = out.closed() => return "gone",
        };
        match next {
            None if site.hub.is_stopping() => return "stopping",
            None => return "slow",
            Some(Feed::Joined(until)) => {
                // The table of events may have been emptied since the past events were read.
                if until < *cursor && !is_cursor_valid(site, *cursor).await {
                    return "restarted";
                }
                while let Err(gone) = past(site, workflow, cursor, Some(until), out).await {
                    match gone {
                        Gone::Client => return "gone",
                        Gone::Store if site.hub.is_stopping() => return "stopping",
                        Gone::Store => tokio::time::sleep(Duration::from_millis(250)).await,
                    }
                }
            }
            Some(Feed::Event(event)) => {
                if event.id <= *cursor {
                    continue;
                }
                let id = event.id;
                if out.send(ClientMessage::Event(event)).await.is_err() {
                    return "gone";
                }
                *cursor = id;
            }
            Some(Feed::Restarted) => return "restarted",
            Some(Feed::Waiting(waits)) => {
                if out.send(ClientMessage::Waiting(waits)).await.is_err() {
                    return "gone";
                }
            }
        }
    }
}

/// Sends past events by pages, up to an id or to the last settled event.
async fn past(
    site: &Arc<Site>,
    workflow: &str,
    cursor: &mut i64,
    until: Option<i64>,
    out: &tokio::sync::mpsc::Sender<ClientMessage>,
) -> Result<(), Gone> {
    loop {
        let (of, after) = (workflow.to_owned(), *cursor);
        let horizon = Arc::clone(&site.horizon);
        let page = site.pool.run(move |store| {
            let until = match until {
                Some(until) => until,
                None => horizon
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .advance(store)?,
            };
            Ok(events_until(store, Some(&of), after, until, PAGE)?)
        });
        let page = page.await.map_err(|_| Gone::Store)?;
        for event in page.events {
            let id = event.id;
            out.send(ClientMessage::Event(Arc::new(event)))
                .await
                .map_err(|_| Gone::Client)?;
            *cursor = id;
        }
        if !page.more {
            return Ok(());
        }
    }
}

/// Refuses a cursor beyond all events.
fn check_cursor(
    horizon: &Mutex<Horizon>,
    rows: &dyn WorkflowRows,
    cursor: i64,
) -> Result<(), WriteError> {
    let mut horizon = horizon.lock().unwrap_or_else(PoisonError::into_inner);
    horizon.advance(rows)?;
    horizon.knows(rows, cursor)
}

/// Returns whether a cursor is still valid; true if the store does not answer, so that no stream ends by mistake.
async fn is_cursor_valid(site: &Site, cursor: i64) -> bool {
    let horizon = Arc::clone(&site.horizon);
    let asked = site
        .pool
        .run(move |store| Ok(check_cursor(&horizon, store, cursor)));
    !asked.await.is_ok_and(|known| known.is_err())
}

/// Returns the workflow and the cursor that a client requests.
async fn requested(
    site: &Arc<Site>,
    id: String,
    asked: &EventsAsked,
    headers: &HeaderMap,
) -> Result<(String, i64), Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let last = last.and_then(|id| id.trim().parse().ok());
    // On reconnecting, a browser sends `Last-Event-ID`, which is newer than the cursor in the address.
    let after = last.or(asked.after).unwrap_or(0);
    let horizon = Arc::clone(&site.horizon);
    let found = site.pool.run(move |store| {
        check_cursor(&horizon, store, after)?;
        find_workflow(store, &id)
    });
    Ok((found.await?, after))
}

fn line<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Streams events as server-sent events, each with its id, so that a browser that reconnects continues after the last
/// event.
#[utoipa::path(get, path = "/workflows/{id}/events/stream", tag = "events", params(("id" = String, Path), EventsAsked),
    responses((status = 200, description = "Events: `id:` the cursor, `data:` an Event as JSON; `event: waiting` and `event: closed` give the reason when no events come", content_type = "text/event-stream", body = String), (status = 409, description = "The cursor is greater than the id of the newest event", body = Problem, content_type = "application/problem+json"), RefusedRequest))]
pub(crate) async fn sse(
    State(site): State<Arc<Site>>,
    Id(id): Id,
    QueryString(query): QueryString<EventsAsked>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (workflow, after) = requested(&site, id, &query, &headers).await?;
    let (sender, receiver) = channel(64);
    tokio::spawn(follow(site, workflow, after, sender));
    let events = stream::unfold(receiver, |mut receiver| async move {
        let out = receiver.recv().await?;
        Some((Ok::<_, Infallible>(as_sse(&out)), receiver))
    });
    Ok(sse_of(events))
}

fn sse_of(events: impl Stream<Item = Result<sse::Event, Infallible>> + Send + 'static) -> Response {
    Sse::new(events)
        .keep_alive(sse::KeepAlive::new().interval(BEAT).text("alive"))
        .into_response()
}

fn as_sse(out: &ClientMessage) -> sse::Event {
    match out {
        ClientMessage::Event(event) => sse::Event::default()
            .id(event.id.to_string())
            .data(line(&**event)),
        ClientMessage::Waiting(waits) => {
            sse::Event::default().event("waiting").data(line(&**waits))
        }
        ClientMessage::Closed { why, cursor } => {
            let told = StreamNotice::Closed {
                why,
                cursor: *cursor,
            };
            sse::Event::default().event("closed").data(line(&told))
        }
    }
}

/// Streams events over a WebSocket: one event as JSON in each message.
#[utoipa::path(get, path = "/workflows/{id}/events/ws", tag = "events", params(("id" = String, Path), EventsAsked),
    responses((status = 101, description = "A WebSocket: each message is an Event as JSON, or an object with `type`: `waiting`, `closed`"), (status = 409, description = "The cursor is greater than the id of the newest event", body = Problem, content_type = "application/problem+json"), RefusedRequest))]
pub(crate) async fn ws(
    State(site): State<Arc<Site>>,
    Id(id): Id,
    QueryString(query): QueryString<EventsAsked>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade =
        upgrade.map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))?;
    let (workflow, after) = requested(&site, id, &query, &headers).await?;
    // A client of this WebSocket sends nothing but pongs, so small messages are enough.
    let upgrade = upgrade.max_message_size(4096).max_frame_size(4096);
    // The answer selects `prose`, so that a token sent as a protocol is not echoed.
    let upgrade = upgrade.protocols(["prose"]);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let (sender, receiver) = channel(64);
        tokio::spawn(follow(Arc::clone(&site), workflow, after, sender));
        talk(socket, receiver).await;
        // The server's shutdown waits for every user of the site, so that the client receives its cursor.
        drop(site);
    }))
}

async fn talk(socket: WebSocket, mut receiver: Receiver<ClientMessage>) {
    let (mut send, mut receive) = socket.split();
    let mut beat = tokio::time::interval(BEAT);
    beat.reset();
    loop {
        tokio::select! {
            out = receiver.recv() => {
                let message = match out {
                    None => break,
                    Some(ClientMessage::Event(event)) => Message::text(line(&*event)),
                    Some(ClientMessage::Waiting(waits)) => Message::text(line(&StreamNotice::Waiting { whom: &waits })),
                    Some(ClientMessage::Closed { why, cursor }) => {
                        let told = line(&StreamNotice::Closed { why, cursor });
                        let _ = send.send(Message::text(told)).await;
                        let code = if why == "stopping" { 1001 } else { 1013 };
                        let reason = format!("{why}: go on with after={cursor}").into();
                        let _ = send.send(Message::Close(Some(CloseFrame { code, reason }))).await;
                        return;
                    }
                };
                if send.send(message).await.is_err() {
                    return;
                }
            }
            _ = beat.tick() => {
                if send.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return;
                }
            }
            got = receive.next() => match got {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(_)) => {}
            },
        }
    }
}
