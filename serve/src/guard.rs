//! Access control: checks the host, the origin of the page, the token and the rate of each request.
//!
//! Requests without the token are counted apart from those with the token, so that a page without the token cannot use
//! up the rate of the engine, which has the token.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use prosescope_core::model::host::{all_are_pages_of, is_loopback, named_host, without_port};
use subtle::ConstantTimeEq;

use crate::problem::{Problem, SMALLER};

/// The access rules of a server.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The token that requests must send as `Authorization: Bearer`; `None` gives access to anyone who can connect.
    pub token: Option<String>,
    /// The host names, without ports, that requests may be addressed to. Names of loopback are always allowed.
    pub hosts: Vec<String>,
    /// The origins whose pages have access, such as `https://app.example`.
    pub origins: Vec<String>,
    /// The most requests per second of each peer, with bursts of twice as many; 0 for no limit. Requests without the
    /// token are counted separately, with the same limit.
    pub rate: u32,
}

/// The limit on requests, for each peer and caller.
type Rate = RateLimiter<CallerCounts, DefaultKeyedStateStore<CallerCounts>, DefaultClock>;
type CallerCounts = (IpAddr, Caller);

/// The check that every request must pass.
pub(crate) struct Guard {
    access: Access,
    rate: Option<Rate>,
}

/// The sender of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Caller {
    /// A sender with the token; on a server without a token, anyone except pages of other sites.
    Known,
    /// Any other sender, also one that is refused. The server still answers `/health` and preflight requests.
    Stranger,
}

impl Guard {
    pub(crate) fn new(access: Access) -> Guard {
        let rate = NonZeroU32::new(access.rate).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        Guard { access, rate }
    }

    /// Removes peers without recent requests from the counters.
    pub(crate) fn tidy(&self) {
        if let Some(rate) = &self.rate {
            rate.retain_recent();
        }
    }

    fn check(&self, request: &Request, peer: IpAddr) -> Result<(), Problem> {
        let caller = self.caller(request);
        let counted = *caller.as_ref().unwrap_or(&Caller::Stranger);
        if let Some(rate) = &self.rate
            && rate.check_key(&(peer, counted)).is_err()
        {
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(Problem::new(status, "too many requests").hint("wait a second"));
        }
        caller.map(|_| ())
    }

    /// Returns who sent the request, or a problem if the sender has no access.
    fn caller(&self, request: &Request) -> Result<Caller, Problem> {
        let headers = request.headers();
        let hosts = headers.get_all(header::HOST).iter();
        let authority = request.uri().authority().map(Authority::as_str);
        let Some(host) = named_host(hosts.map(|host| host.to_str().ok()), authority) else {
            return Err(Problem::bad("the request must name exactly one host")
                .hint("send one `Host` header"));
        };
        let name = without_port(host);
        let mut known = self.access.hosts.iter();
        if !is_loopback(host) && !known.any(|known| known.eq_ignore_ascii_case(name)) {
            let status = StatusCode::MISDIRECTED_REQUEST;
            return Err(
                Problem::new(status, "this server does not accept requests for that host")
                    .hint("start the server with `--host HOST` to allow the host"),
            );
        }
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        let is_from_elsewhere = origins.peek().is_none() && is_cross_site(headers);
        let is_navigation = header_text(headers, &SEC_FETCH_MODE) == Some("navigate");
        if !origins.all(|origin| self.is_allowed(origin, host))
            || is_from_elsewhere && !is_navigation
        {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "web pages of this origin may not use the server",
            )
            .hint("start the server with `--origin ORIGIN` to allow the origin"));
        }
        let open = request.method() == Method::OPTIONS || request.uri().path() == "/health";
        match &self.access.token {
            None if is_from_elsewhere => Ok(Caller::Stranger),
            None => Ok(Caller::Known),
            Some(token) if has_token(request, token) => Ok(Caller::Known),
            Some(_) if open => Ok(Caller::Stranger),
            Some(_) => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong",
            )
            .hint(
                "send `Authorization: Bearer TOKEN`; the server prints the token when it starts",
            )),
        }
    }

    /// Returns whether a page of this origin has access: an allowed origin, or the server's own origin.
    fn is_allowed(&self, origin: &HeaderValue, host: &str) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        let mut known = self.access.origins.iter();
        known.any(|known| known.eq_ignore_ascii_case(origin))
            || all_are_pages_of(host, [Some(origin)])
    }

    /// Adds the CORS headers that let a page of another origin read the answer.
    fn cors(&self, origin: Option<HeaderValue>, response: &mut Response) {
        let Some(origin) = origin.filter(|origin| {
            let origin = origin.to_str().unwrap_or_default();
            self.access
                .origins
                .iter()
                .any(|known| known.eq_ignore_ascii_case(origin))
        }) else {
            return;
        };
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        let exposed = HeaderValue::from_static("ETag, Retry-After");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
}

/// The header in which a browser reports the site of the page that caused a request. A plain `GET` for an image or a
/// script has this header but no `Origin`.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether the browser reports that a page of another site caused the request.
fn is_cross_site(headers: &HeaderMap) -> bool {
    matches!(
        header_text(headers, &SEC_FETCH_SITE),
        Some("cross-site" | "same-site")
    )
}

/// The routes of event streams, which also accept the token in the address: a browser cannot add headers to these
/// requests.
const STREAM: &str = "/workflows/{id}/events/stream";
const WEBSOCKET: &str = "/workflows/{id}/events/ws";

/// Returns whether a request has the token: in a header or, for event streams, also as a WebSocket protocol or as
/// `access_token` in the address.
fn has_token(request: &Request, token: &str) -> bool {
    let headers = request.headers();
    let bearer = header_text(headers, &header::AUTHORIZATION)
        .and_then(|value| value.strip_prefix("Bearer "))
        .map(str::trim);
    let route = request.extensions().get::<MatchedPath>();
    let is_stream = route.is_some_and(|route| matches!(route.as_str(), STREAM | WEBSOCKET));
    let protocols = header_text(headers, &header::SEC_WEBSOCKET_PROTOCOL).filter(|_| is_stream);
    let protocol = protocols.into_iter().flat_map(|all| all.split(','));
    let protocol = protocol.filter_map(|one| one.trim().strip_prefix("bearer."));
    let query = request.uri().query().filter(|_| is_stream);
    let query = query.into_iter().flat_map(|all| all.split('&'));
    let query = query.filter_map(|pair| pair.strip_prefix("access_token="));
    let mut sent = bearer.into_iter().chain(protocol).chain(query);
    sent.any(|sent| bool::from(sent.as_bytes().ct_eq(token.as_bytes())))
}

/// Checks each request, and sets the headers that restrict what browsers may do with the answer.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |ConnectInfo(peer)| peer.ip());
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match guard.check(&request, peer) {
        Err(problem) => problem.into_response(),
        Ok(()) if is_preflight => preflight(),
        Ok(()) => next.run(request).await,
    };
    let bare = response.status().is_client_error() || response.status().is_server_error();
    if bare && !response.headers().contains_key(header::CONTENT_TYPE)
        || response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|of| bare && of.as_bytes().starts_with(b"text/"))
    {
        // axum itself refuses an unknown route, method or size, with a body that must be replaced by a problem of RFC
        // 9457.
        let status = response.status();
        let path = "choose a path from `/openapi.json`";
        let (said, hint) = match status {
            StatusCode::NOT_FOUND => ("there is nothing at this path", path),
            StatusCode::METHOD_NOT_ALLOWED => ("this path does not accept that method", path),
            StatusCode::PAYLOAD_TOO_LARGE => ("the body is too large", SMALLER),
            StatusCode::REQUEST_TIMEOUT => ("the request took too long", path),
            _ => ("the request was refused", path),
        };
        let allow = response.headers().get(header::ALLOW).cloned();
        response = Problem::new(status, said).hint(hint).into_response();
        if let Some(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
    }
    guard.cors(origin, &mut response);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-site",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, If-Match, Last-Event-ID",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}
