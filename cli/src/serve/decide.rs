//! `POST /{token}/decide` records a decision of the served page in the run. The route exists only with `--allow-decisions`.
//!
//! | required in a request | status if missing |
//! |---|---|
//! | the address with its token, and a name of this machine as `Host` (the guard of all routes checks both) | 404 |
//! | the `Origin` of this server's page | 403 |
//! | the token of decisions in the header `x-prosescope-token`, once; the page has it in its `<meta name="prosescope-decide">` | 403 |
//! | `Content-Type: application/json`, which no form of another page can send | 415 |
//! | a body of at most 64 KB: [`DecisionRequest`] | 413, 422 |
//!
//! The answer is that of `approve --json`. An error has the form of `--json`: 409 for a refusal by a rule, 404 for an
//! unknown gate, 422 for a wrong request, else 500.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prosescope_core::pages::view::CommandFailed;
use prosescope_core::read::gate::seen::SeenGate;
use prosescope_core::record::{DecideAsSeen, Decision, ResolveGate, ResolveResult};
use prosescope_desk::protocol::GateDecision;
use serde::{Deserialize, Serialize};

use super::{ViewSite, random, same};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::Target;
use crate::record::Recorder;

/// The header that carries the token for decisions. It is not a cookie, because browsers send cookies with requests of
/// other pages, and not part of the address, because browsers store addresses in their history.
const TOKEN: &str = "x-prosescope-token";

/// Maximum bytes of the body of a request.
const MOST: usize = 64 << 10;

/// The run whose gates the page may decide, and the name that decides. Both are fixed when the server starts.
pub(crate) struct Decider {
    target: Target,
    /// The principal that all decisions on the page are recorded under.
    by: String,
    token: String,
}

/// A decision as the page requests it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionRequest {
    /// The run's id, as the page shows it.
    run: String,
    /// The id of the gate that the person decided on the page.
    gate: String,
    /// Whether the gate is approved or rejected.
    decision: GateDecision,
    /// The comment, or the reason of a rejection.
    #[serde(default)]
    comment: Option<String>,
    /// The state of the gate on the page (`GateView::seen`).
    seen: SeenGate,
}

impl Decider {
    /// Creates a decider for the run at `target`, which decides in the name `by`.
    pub(crate) fn new(target: Target, by: &str) -> Result<Decider, CliError> {
        Ok(Decider {
            target,
            by: prosescope_core::record::principal(by)?.to_owned(),
            token: random()?,
        })
    }

    /// Returns the `<meta>` element that allows the page to decide, with the name and the token.
    pub(super) fn meta(&self) -> String {
        let by = self.by.replace('&', "&amp;").replace('"', "&quot;");
        let by = by.replace('<', "&lt;").replace('>', "&gt;");
        format!(
            r#"<meta name="prosescope-decide" content="{}" data-as="{by}">"#,
            self.token
        )
    }

    /// Checks and records a decision. Reads the run again, because it may have changed since the page was loaded.
    fn decide(&self, asked: DecisionRequest) -> Result<ResolveResult, CliError> {
        let command = DecideAsSeen {
            run: asked.run,
            seen: asked.seen,
            resolve: ResolveGate {
                gate: asked.gate,
                decision: match asked.decision {
                    GateDecision::Approved => Decision::Approve {
                        comment: asked.comment,
                    },
                    GateDecision::Rejected => Decision::Reject {
                        reason: asked.comment.unwrap_or_default(),
                    },
                },
                by: self.by.clone(),
                on_behalf_of: None,
                record_timeout: false,
                overrides: false,
            },
        };
        let done = Recorder::of(&self.target)?.client("view").record(&command);
        done.map_err(|error| self.explained(error))
    }

    /// Replaces the hint of a refusal of the name: the page has no field for the name.
    fn explained(&self, mut error: CliError) -> CliError {
        if matches!(error.rule, Some("gate-not-allowed" | "principal-reserved")) {
            let by = &self.by;
            error.hints = vec![format!(
                "this page decides as {by}: to decide under another name, begin `prosescope view` again with `--as NAME`"
            )];
        }
        error
    }
}

/// Answers a request `POST /{token}/decide`.
pub(super) async fn decide(State(site): State<Arc<ViewSite>>, request: Request) -> Response {
    let Some(decider) = site.decider.clone() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (head, body) = request.into_parts();
    if let Err(status) = let_in(&head.headers, &decider.token) {
        return status.into_response();
    }
    let asked = match read(body).await {
        Ok(asked) => asked,
        Err(refusal) => return refusal,
    };
    // A store may wait for other writers, so the decision is recorded on another thread and does not block other
    // requests.
    let done = tokio::task::spawn_blocking(move || decider.decide(asked)).await;
    match done {
        Ok(Ok(ResolveResult::Decided(done))) => json(StatusCode::OK, &done),
        Ok(Ok(ResolveResult::TooLate(timed_out))) => json(StatusCode::CONFLICT, &timed_out),
        Ok(Err(error)) => failed(&error),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Rejects requests that this server's page did not send. The guard of all routes rejects a foreign `Origin`, but
/// accepts requests without `Origin`; this function rejects these, too.
fn let_in(headers: &HeaderMap, token: &str) -> Result<(), StatusCode> {
    let mut given = headers.get_all(TOKEN).iter();
    let (first, second) = (given.next(), given.next());
    let first = first.and_then(|first| first.to_str().ok());
    let is_right = second.is_none() && first.is_some_and(|first| same(first, token));
    if !is_right || !headers.contains_key(header::ORIGIN) {
        return Err(StatusCode::FORBIDDEN);
    }
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(StatusCode::UNSUPPORTED_MEDIA_TYPE)
    }
}

/// Reads a body up to [`MOST`] bytes.
async fn read(body: Body) -> Result<DecisionRequest, Response> {
    let Ok(bytes) = to_bytes(body, MOST).await else {
        let what = format!("the decision is too long: at most {MOST} bytes are allowed\n");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, what).into_response());
    };
    serde_json::from_slice(&bytes).map_err(|error| {
        failed(
            &CliError::usage(format!(
                "the server cannot read the decision that the page sent: {error}"
            ))
            .hint("load the page again: the page may be of another version than the server"),
        )
    })
}

/// Returns the response for an error, in the form of `--json`.
fn failed(error: &CliError) -> Response {
    let status = match error.exit {
        Exit::Refused => StatusCode::CONFLICT,
        Exit::NotFound => StatusCode::NOT_FOUND,
        Exit::Usage => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    json(status, &CommandFailed::from(error))
}

fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => (status, [(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
