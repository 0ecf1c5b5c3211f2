//! The local server of `prose view`: the viewer's page, a list of files, and ranges of them.
//!
//! It listens on 127.0.0.1 only. Every path begins with a token that nobody can guess, and requests that name
//! another host are refused, so that no page from elsewhere can read a run through a rebound name. It reads files in
//! ranges, keeps none of them, and never opens a database: SQLite runs in the page's worker.
//!
//! | request | answer |
//! |---|---|
//! | `GET /{token}/` | the page |
//! | `GET /{token}/files.json` | what is served now: label and files with their versions |
//! | `GET /{token}/version` | a short text that names the state of all of them: another one, and something changed |
//! | `GET /{token}/file/{path}?v={version}` | a range (206) or all of it, or 409 when the file is no longer that version |

mod files;
mod range;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;

use crate::error::CliError;
use crate::exit::Exit;

use files::Bytes;
pub(crate) use files::Served;

/// The viewer that the binary carries; empty in a build without one (see build.rs).
const VIEWER: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.html"));

/// How long a connection may be silent before a request is whole.
const IDLE: Duration = Duration::from_secs(30);

/// What is not the page is nothing that runs, or shows anything.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

struct Site {
    token: String,
    served: Served,
    page: String,
    /// The page's own policy: a page in which it is cut off, or comes too late, is held to it all the same.
    policy: header::HeaderValue,
}

impl Site {
    fn new(token: String, served: Served, viewer: &str) -> Site {
        let page = served_page(viewer);
        Site {
            policy: policy(&page),
            token,
            served,
            page,
        }
    }
}

/// A server that listens, and is not yet serving.
pub(crate) struct Server {
    listener: std::net::TcpListener,
    site: Arc<Site>,
    /// The page's address, token included.
    pub(crate) address: String,
}

impl Server {
    /// Listens on `port` of 127.0.0.1 (any free one for 0).
    pub(crate) fn listen(served: Served, port: u16) -> Result<Server, CliError> {
        if VIEWER.is_empty() {
            return Err(CliError::new(
                Exit::NotFound,
                "this build of prose does not include the viewer",
            )
            .hint("`cargo xtask view` builds the viewer and a prose that includes it"));
        }
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|e| {
            CliError::new(
                Exit::Io,
                format!(
                    "cannot make the address secret: the system returned no random numbers: {e}"
                ),
            )
        })?;
        let token: String = random.iter().map(|b| format!("{b:02x}")).collect();
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
            CliError::new(Exit::Io, format!("cannot listen on 127.0.0.1:{port}: {e}"))
                .hint("choose another --port, or none")
        })?;
        let at: SocketAddr = listener.local_addr()?;
        let address = format!("http://{at}/{token}/");
        let site = Arc::new(Site::new(token, served, VIEWER));
        Ok(Server {
            listener,
            site,
            address,
        })
    }

    /// Serves until the process ends.
    pub(crate) fn run(self) -> Result<(), CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            serve(listener, app(self.site), IDLE).await;
            Ok(())
        })
    }
}

fn app(site: Arc<Site>) -> Router {
    Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/files.json", get(list))
        .route("/{token}/version", get(version))
        .route("/{token}/file/{*path}", get(file))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

/// Answers each connection, and closes it when no request comes for so long.
async fn serve(listener: tokio::net::TcpListener, app: Router, idle: Duration) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many are open: they are closed as they end, or are idle.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let service = TowerToHyperService::new(app.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .serve_connection(TokioIo::new(stream), service);
        // A connection that breaks off concerns its other side alone.
        tokio::spawn(async move { drop(connection.await) });
    }
}

/// The policy that the page has in itself, as a header; without one nothing is allowed.
fn policy(page: &str) -> header::HeaderValue {
    const BEFORE: &str = r#"http-equiv="Content-Security-Policy" content=""#;
    let own = page.split_once(BEFORE);
    let own = own.and_then(|(_, rest)| rest.split_once('"'));
    let policy = own.map(|(own, _)| format!("{own}; frame-ancestors 'none'"));
    policy
        .and_then(|policy| header::HeaderValue::from_str(&policy).ok())
        .unwrap_or(header::HeaderValue::from_static(NO_PAGE))
}

/// What the served page says differently, each once (xtask's bundle promises both): it may fetch from this server, and
/// it knows that there is something to fetch.
const SERVED: [(&str, &str); 2] = [
    ("connect-src 'none'", "connect-src 'self'"),
    (
        r#"<meta name="prosescope-served" content="no">"#,
        r#"<meta name="prosescope-served" content="yes">"#,
    ),
];

fn served_page(viewer: &str) -> String {
    SERVED.iter().fold(viewer.to_owned(), |page, (from, to)| {
        page.replacen(from, to, 1)
    })
}

/// Lets a request through only with the token, to this machine by its own name, and never from another page.
async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|h| h.to_str().ok())
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let token = request
        .uri()
        .path()
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    if !matches!(name, "127.0.0.1" | "localhost") || !same(token, &site.token) {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(header::HeaderValue::from_static(NO_PAGE));
    headers.insert(
        "cross-origin-resource-policy",
        header::HeaderValue::from_static("same-origin"),
    );
    response
}

/// Compares in constant time: how much of a guess was right is nobody's business.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .fold(0, |diff, (x, y)| diff | (x ^ y))
            == 0
}

async fn page(State(site): State<Arc<Site>>) -> Response {
    let html = header::HeaderValue::from_static("text/html; charset=utf-8");
    (
        [
            (header::CONTENT_TYPE, html),
            (header::CONTENT_SECURITY_POLICY, site.policy.clone()),
        ],
        site.page.clone(),
    )
        .into_response()
}

async fn list(State(site): State<Arc<Site>>) -> Response {
    // Looking through thousands of files takes its time; others are answered meanwhile.
    let listed = tokio::task::spawn_blocking(move || serde_json::to_vec(&site.served.listing()));
    match listed.await {
        Ok(Ok(json)) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        Ok(Err(e)) => (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()).into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()).into_response(),
    }
}

async fn version(State(site): State<Arc<Site>>) -> Response {
    match tokio::task::spawn_blocking(move || site.served.version()).await {
        Ok(version) => version.into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, e.to_string()).into_response(),
    }
}

#[derive(serde::Deserialize)]
struct Version {
    #[serde(default)]
    v: String,
}

async fn file(
    State(site): State<Arc<Site>>,
    Path((_, path)): Path<(String, String)>,
    Query(version): Query<Version>,
    headers: HeaderMap,
) -> Response {
    let wanted = headers
        .get(header::RANGE)
        .and_then(|h| h.to_str().ok())
        .map(str::to_owned);
    let read =
        tokio::task::spawn_blocking(move || site.served.read(&path, &version.v, wanted.as_deref()))
            .await;
    match read {
        Ok(Ok(part)) => {
            let status = if part.whole {
                StatusCode::OK
            } else {
                StatusCode::PARTIAL_CONTENT
            };
            let mut response = (
                status,
                [(header::CONTENT_TYPE, "application/octet-stream")],
                body(part.bytes),
            )
                .into_response();
            response
                .headers_mut()
                .insert(header::CONTENT_LENGTH, part.len.into());
            if let Ok(value) = header::HeaderValue::from_str(&part.content_range) {
                response.headers_mut().insert(header::CONTENT_RANGE, value);
            }
            response
        }
        Ok(Err(refused)) => (refused.status(), format!("{refused}\n")).into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{e}\n")).into_response(),
    }
}

/// Bytes as they are read: of a long file the next piece when the other side has taken the last.
fn body(bytes: Bytes) -> Body {
    let chunks = match bytes {
        Bytes::Read(bytes) => return Body::from(bytes),
        Bytes::Chunks(chunks) => chunks,
    };
    Body::from_stream(stream::try_unfold(chunks, |mut chunks| async {
        let read = tokio::task::spawn_blocking(move || (chunks.next(), chunks));
        let (next, chunks) = read.await.map_err(std::io::Error::other)?;
        Ok::<_, std::io::Error>(next.transpose()?.map(|bytes| (bytes, chunks)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_served_page_may_fetch() {
        let page = "<meta content=\"default-src 'none'; connect-src 'none'\"><meta name=\"prosescope-served\" content=\"no\">";
        assert_eq!(
            served_page(page),
            "<meta content=\"default-src 'none'; connect-src 'self'\"><meta name=\"prosescope-served\" content=\"yes\">"
        );
    }

    /// The answer to a request: its status, what part of the file it is, and its text.
    fn answer<R: IntoResponse>(handler: impl Future<Output = R>) -> (u16, String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            let response = handler.await.into_response();
            let part = response.headers().get(header::CONTENT_RANGE);
            let part = part.map_or("", |value| value.to_str().unwrap()).to_owned();
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
            let text = String::from_utf8(body.unwrap().to_vec()).unwrap();
            (status, part, text)
        })
    }

    #[test]
    fn a_part_is_of_the_listed_file_or_it_is_a_conflict() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.md");
        std::fs::write(&path, "0123456789").unwrap();
        let mut served = Served::new("a run");
        served.add(dir.path().to_owned(), "", Box::new(|_| true));
        let site = Arc::new(Site::new("t".to_owned(), served, ""));
        let listed = || -> String {
            let (status, _, list) = answer(list(State(Arc::clone(&site))));
            assert_eq!(status, 200);
            let list: serde_json::Value = serde_json::from_str(&list).unwrap();
            list["files"][0]["version"].as_str().unwrap().to_owned()
        };
        let ask = |name: &str, version: &str, range: &str| {
            let path = Path(("t".to_owned(), name.to_owned()));
            let v = version.to_owned();
            let mut headers = HeaderMap::new();
            if !range.is_empty() {
                headers.insert(header::RANGE, range.parse().unwrap());
            }
            answer(file(
                State(Arc::clone(&site)),
                path,
                Query(Version { v }),
                headers,
            ))
        };
        // What was written just now is named for that moment only.
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        let set_back = std::fs::File::options().write(true).open(&path).unwrap();
        set_back.set_modified(earlier).unwrap();
        let now = listed();
        let part = |text: &str| (206, "bytes 2-4/10".to_owned(), text.to_owned());
        assert_eq!(ask("state.md", &now, "bytes=2-4"), part("234"));
        assert_eq!(ask("state.md", "", "bytes=2-4").0, 400);
        assert_eq!(ask("state.md", &now, "").0, 200);
        assert_eq!(ask("state.md", &now, "bytes=10-12").0, 416);
        assert_eq!(ask("other.md", &now, "").0, 404);
        assert_eq!(ask("state.md", "10-0", "").0, 409);
        let state = || answer(version(State(Arc::clone(&site)))).2;
        let before = state();
        std::fs::write(&path, "another text").unwrap();
        assert_ne!(state(), before, "the page is told that something changed");
        let (status, _, said) = ask("state.md", &now, "bytes=2-4");
        assert_eq!((status, said.contains("changed")), (409, true), "{said}");
    }

    #[test]
    fn tokens_compare_whole() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd"));
        assert!(!same("ab", "abc"));
        assert!(!same("", "abc"));
    }

    /// What the server at an address answers to these bytes, until it closes the connection.
    fn answers(at: SocketAddr, request: &str) -> String {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        stream
            .set_read_timeout(Some(prosescope_test_support::work::PATIENCE))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    /// Serves a site on another thread, for as long as the test lasts.
    fn serving(site: Site, idle: Duration) -> SocketAddr {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let at = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                serve(listener, app(Arc::new(site)), idle).await;
            });
        });
        at
    }

    #[test]
    fn a_connection_that_asks_nothing_is_closed() {
        let site = Site::new("t".to_owned(), Served::new("a run"), "");
        let at = serving(site, Duration::from_millis(50));
        let whole = "GET /t/version HTTP/1.1\r\nHost: localhost\r\n\r\n";
        // Nothing at all; half of a request; one request, and then nothing.
        for (request, status) in [("", ""), (&whole[..30], ""), (whole, "HTTP/1.1 200")] {
            let said = answers(at, request);
            assert!(said.starts_with(status), "{request:?}: {said}");
        }
    }

    #[test]
    fn the_page_is_held_to_its_policy_by_a_header_too() {
        let page = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'\">";
        let site = Site::new("t".to_owned(), Served::new("a run"), page);
        let at = serving(site, Duration::from_millis(50));
        for (path, expected) in [
            (
                "/t/",
                "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
            ),
            ("/t/files.json", NO_PAGE),
            ("/t/file/none", NO_PAGE),
        ] {
            let said = answers(
                at,
                &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            );
            let header = said
                .lines()
                .find_map(|line| line.strip_prefix("content-security-policy: "));
            assert_eq!(header, Some(expected), "{path}");
        }
    }

    #[test]
    fn a_long_file_is_sent_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("big.bin");
        let long = (9 << 20) + 7;
        std::fs::write(&path, "x".repeat(long)).unwrap();
        let earlier = std::time::SystemTime::now() - Duration::from_secs(60);
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(earlier).unwrap();
        let mut served = Served::new("a run");
        served.add(dir.path().to_owned(), "", Box::new(|_| true));
        let list = serde_json::to_value(served.listing()).unwrap();
        let version = list["files"][0]["version"].as_str().unwrap().to_owned();
        let at = serving(
            Site::new("t".to_owned(), served, ""),
            Duration::from_millis(50),
        );
        let said = answers(
            at,
            &format!("GET /t/file/big.bin?v={version} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        );
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {long}")), "{head}");
        assert_eq!(body.len(), long);
    }
}
