//! Who is let in: this machine by its own name, pages of allowed origins, whoever has the token, and not too often.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use subtle::ConstantTimeEq;

use crate::metrics::{Metrics, Route};
use crate::problem::Problem;

/// Who may ask.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// What must be sent as `Authorization: Bearer`; without one everybody who can connect may ask.
    pub token: Option<String>,
    /// Names of hosts beside those of loopback, without their ports.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask, as `https://app.example`.
    pub origins: Vec<String>,
    /// Requests a second of one peer, and as many again at once; 0 for any number.
    pub rate: u32,
}

type Rate = RateLimiter<IpAddr, DefaultKeyedStateStore<IpAddr>, DefaultClock>;

/// What every request passes.
pub(crate) struct Guard {
    access: Access,
    rate: Option<Rate>,
    metrics: Arc<Metrics>,
}

impl Guard {
    pub(crate) fn new(access: Access, metrics: Arc<Metrics>) -> Guard {
        let rate = NonZeroU32::new(access.rate).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        Guard {
            access,
            rate,
            metrics,
        }
    }

    /// Forgets peers that have not asked for a while.
    pub(crate) fn tidy(&self) {
        if let Some(rate) = &self.rate {
            rate.retain_recent();
        }
    }

    fn check(&self, request: &Request, peer: IpAddr) -> Result<(), Problem> {
        if let Some(rate) = &self.rate
            && rate.check_key(&peer).is_err()
        {
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(Problem::new(status, "too many requests").hint("wait a second"));
        }
        let headers = request.headers();
        let host = host(headers, request.uri());
        if !is_loopback(&host)
            && !self
                .access
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(&host))
        {
            let status = StatusCode::MISDIRECTED_REQUEST;
            return Err(Problem::new(status, "this server does not serve that host")
                .hint("name the host with --host when the server starts"));
        }
        if let Some(origin) = headers.get(header::ORIGIN)
            && !self.is_allowed(origin, headers)
        {
            return Err(
                Problem::new(StatusCode::FORBIDDEN, "pages of that origin may not ask")
                    .hint("name the origin with --origin when the server starts"),
            );
        }
        let open = request.method() == Method::OPTIONS || request.uri().path() == "/health";
        match &self.access.token {
            Some(token) if !open && !has_token(request, token) => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong",
            )
            .hint(
                "send `Authorization: Bearer TOKEN`; the server prints the token when it starts",
            )),
            _ => Ok(()),
        }
    }

    /// Whether a page of this origin may ask: an allowed one, or one that this server gave itself.
    fn is_allowed(&self, origin: &HeaderValue, headers: &HeaderMap) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        if self
            .access
            .origins
            .iter()
            .any(|known| known.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let own = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        own.is_some_and(|own| {
            origin
                .split_once("://")
                .is_some_and(|(_, host)| host.eq_ignore_ascii_case(own))
        })
    }

    /// What a browser is told when it asks from a page of another origin.
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

/// The name of the host that a request is for, without its port.
fn host(headers: &HeaderMap, uri: &Uri) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host
        .or_else(|| uri.authority().map(|authority| authority.as_str()))
        .unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    name.trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned()
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a request has the token: as a header; where a browser cannot send one, as a protocol of the WebSocket or as
/// `access_token` of a stream.
fn has_token(request: &Request, token: &str) -> bool {
    let headers = request.headers();
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let bearer = bearer
        .and_then(|value| value.strip_prefix("Bearer "))
        .map(str::trim);
    let protocols = headers
        .get(header::SEC_WEBSOCKET_PROTOCOL)
        .and_then(|value| value.to_str().ok());
    let protocol = protocols.into_iter().flat_map(|all| all.split(','));
    let protocol = protocol.filter_map(|one| one.trim().strip_prefix("bearer."));
    let path = request.uri().path();
    let is_stream = path.ends_with("/events/stream") || path.ends_with("/events/ws");
    let query = request
        .uri()
        .query()
        .filter(|_| is_stream)
        .unwrap_or_default();
    let query = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("access_token="));
    let mut sent = bearer.into_iter().chain(protocol).chain(query);
    sent.any(|sent| bool::from(sent.as_bytes().ct_eq(token.as_bytes())))
}

/// Lets requests through, counts them, and says what browsers may do with the answers.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let began = std::time::Instant::now();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::from([0, 0, 0, 0]), |ConnectInfo(peer)| peer.ip());
    let origin = request.headers().get(header::ORIGIN).cloned();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none".to_owned(), |path| path.as_str().to_owned());
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match guard.check(&request, peer) {
        Err(problem) => {
            guard.metrics.refused.inc();
            problem.into_response()
        }
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
        // The library's own refusals: a route, a method, a size.
        let status = response.status();
        let said = match status {
            StatusCode::NOT_FOUND => "there is nothing at this path",
            StatusCode::METHOD_NOT_ALLOWED => "this path does not take that method",
            StatusCode::PAYLOAD_TOO_LARGE => "the body is too large",
            StatusCode::REQUEST_TIMEOUT => "the request took too long",
            _ => "the request was refused",
        };
        let allow = response.headers().get(header::ALLOW).cloned();
        response = Problem::new(status, said)
            .hint("/openapi.json lists the paths")
            .into_response();
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
    let status = response.status().as_u16();
    guard
        .metrics
        .requests
        .get_or_create(&Route { route, status })
        .inc();
    guard.metrics.seconds.observe(began.elapsed().as_secs_f64());
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
