//! Errors as RFC 9457.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prosescope_core::write::{Fault, FaultKind, WriteError};
use serde::Serialize;

/// What went wrong, for programs and people.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct Problem {
    /// `about:blank`: the status says what kind it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: String,
    /// The status.
    status: u16,
    /// What was found, and why that is refused.
    detail: String,
    /// The rule that refuses it, in kebab-case.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    /// What to do next.
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

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
            // A value that no store of this kind takes, whatever it holds: a NUL in a text.
            WriteError::Refused { rule, .. } if *rule == "not-storable" => {
                (StatusCode::BAD_REQUEST, Some(*rule))
            }
            WriteError::Refused { rule, .. } => (StatusCode::CONFLICT, Some(*rule)),
            WriteError::NotFound { .. } => (StatusCode::NOT_FOUND, None),
            WriteError::Wrong { .. } => (StatusCode::BAD_REQUEST, None),
            WriteError::Fault(fault) => return fault.clone().into(),
        };
        Problem {
            rule,
            ..Problem::new(status, error.to_string()).hint(error.hint())
        }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Problem {
        let status = match fault.kind {
            FaultKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            FaultKind::Full => StatusCode::INSUFFICIENT_STORAGE,
            FaultKind::ReadOnly => StatusCode::FORBIDDEN,
            FaultKind::Io => StatusCode::SERVICE_UNAVAILABLE,
            FaultKind::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem::new(status, fault.message).hint(fault.hint)
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
