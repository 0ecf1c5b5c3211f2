//! Converts errors of commands and stores to answers in the form of RFC 9457.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prosescope_core::record::{Fault, FaultKind, WriteError};
use serde::Serialize;

/// The hint of an error about a body that is too large.
pub(crate) const SMALLER: &str = "send a smaller body; store long values elsewhere, not in events";

/// An error that a route returns, for programs and people.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`, which means that the status describes the kind of error (RFC 9457).
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status code in words, such as `Not Found`.
    title: String,
    /// The HTTP status code.
    status: u16,
    /// The sentence that describes the fault and why the request is refused.
    detail: String,
    /// The name of the violated rule, in kebab-case.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    /// The next step for the user.
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

/// The answer to every request that is refused, for the OpenAPI description.
#[derive(utoipa::IntoResponses)]
#[response(
    status = "default",
    description = "The request is refused: `status` and `detail` give the reason",
    content_type = "application/problem+json"
)]
pub(crate) struct RefusedRequest(#[expect(dead_code, reason = "only its type is read")] Problem);

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            rule: None,
            hint: String::new(),
        }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = hint.into();
        self
    }
}

impl From<WriteError> for Problem {
    fn from(error: WriteError) -> Problem {
        let (status, rule) = match &error {
            WriteError::Refused { rule, .. } if *rule == "version-moved" => {
                (StatusCode::PRECONDITION_FAILED, Some(*rule))
            }
            // The store's message contains the store's address, which clients must not learn.
            WriteError::Refused { rule, hint, .. } if *rule == "not-storable" => {
                return Problem {
                    rule: Some(*rule),
                    ..Problem::bad("the store cannot record a value of the request").hint(hint)
                };
            }
            WriteError::Refused { rule, .. } => (StatusCode::CONFLICT, Some(*rule)),
            WriteError::NotFound { .. } => (StatusCode::NOT_FOUND, None),
            WriteError::Wrong { .. } => (StatusCode::BAD_REQUEST, None),
            WriteError::Fault(fault) => return fault.into(),
        };
        Problem {
            rule,
            ..Problem::new(status, error.to_string()).hint(error.hint())
        }
    }
}

/// Reports the kind of a fault. The store's own text, which may contain the store's user, host, name or path, goes only
/// to the operator ([`crate::Workplace::failed`]).
impl From<&Fault> for Problem {
    fn from(fault: &Fault) -> Problem {
        const NEXT: &str = "the request was not recorded; the server's output gives the reason";
        let (status, detail, hint) = match fault.kind {
            FaultKind::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the store is busy",
                "try again",
            ),
            FaultKind::Full => (
                StatusCode::INSUFFICIENT_STORAGE,
                "the store has no room left",
                NEXT,
            ),
            FaultKind::ReadOnly => (StatusCode::FORBIDDEN, "the store is read-only", NEXT),
            // A command may have been recorded before the connection was lost.
            FaultKind::Io => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the store does not answer",
                "check whether the request is recorded before you repeat it; the server's output gives the reason",
            ),
            FaultKind::Damaged => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "the store is damaged or unusable",
                NEXT,
            ),
        };
        Problem::new(status, detail).hint(hint)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        if matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        ) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
