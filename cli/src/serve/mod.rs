//! The local server of `prosescope view`: the viewer's page, the answers to its questions, and notifications of
//! changes.
//!
//! The server listens on 127.0.0.1 only. Every path begins with a random token. Requests with another `Host`, or from a
//! page of another origin, are rejected, so that a foreign page cannot read a run through DNS rebinding. Like the
//! commands, the server leaves no files or locks beside the files that it reads.
//!
//! | request | answer |
//! |---|---|
//! | `GET /{token}/` | the page |
//! | `POST /{token}/desk/{name}` | the answer to a question of [`prosescope_desk::protocol`]: JSON, or the bytes of a value. An error is `application/problem+json` with status 200, because browsers log every 4xx as an error. Each page uses its own desk name |
//! | `POST /{token}/decide` | with `--allow-decisions` only: a decision on a gate, recorded in the run (`decide.rs`) |
//! | `GET /{token}/changes` | server-sent events: a name for the state of all files, and a new name after each change |

mod decide;
mod desks;
mod files;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response, Sse, sse};
use axum::routing::{get, post};
use futures_util::stream;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use prosescope_core::model::host::{HTTP, all_are_pages_of, is_loopback, named_host, port_of};
use prosescope_desk::protocol::Trouble;
use subtle::ConstantTimeEq;

use crate::error::CliError;
use crate::exit::Exit;

pub(crate) use decide::Decider;
use desks::{DeskAnswer, Desks};
pub(crate) use files::Served;

/// The viewer's HTML page in this binary. Empty in a build without the viewer (see build.rs).
const VIEWER: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.html"));

/// Time after which a connection with an incomplete request is closed.
const IDLE: Duration = Duration::from_secs(30);

/// Interval between two listings of the files. A file system watcher would miss changes in network and container
/// folders.
const PAUSE: Duration = Duration::from_millis(500);

/// Length of the pause after a slow listing: this multiple of the listing's duration, but at most [`LONGEST`].
const REST: u32 = 4;
const LONGEST: Duration = Duration::from_secs(30);

/// Maximum bytes of a question.
const QUESTION: u64 = 2 << 20;

/// The content security policy of all responses except the page: nothing in them may run or be shown.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

/// Returns the viewer as one page.
///
/// # Errors
/// An error if this build does not contain the viewer.
pub(crate) fn viewer() -> Result<&'static str, CliError> {
    if !VIEWER.is_empty() {
        Ok(VIEWER)
    } else {
        Err(CliError::new(
        Exit::NotFound,
        "this build of prosescope does not include the viewer",
    )
    .hint("install a release, or use `cargo install prosescope`; in a checkout, `cargo xtask install` builds the viewer"))
    }
}

struct ViewSite {
    token: String,
    /// The port that requests must name.
    port: u16,
    served: Arc<Served>,
    desks: Desks,
    /// The decider, if the page may decide gates.
    decider: Option<Arc<Decider>>,
    page: String,
    /// The content security policy of the page, sent as a header. The header also applies if the `<meta>` element in
    /// the page is damaged or comes late.
    policy: header::HeaderValue,
}

impl ViewSite {
    fn new(token: String, served: Served, viewer: &str) -> ViewSite {
        let page = served_page(viewer);
        let served = Arc::new(served);
        ViewSite {
            policy: policy(&page),
            port: HTTP,
            token,
            desks: Desks::new(Arc::clone(&served)),
            served,
            decider: None,
            page,
        }
    }

    /// Allows the page to decide gates.
    fn deciding(self, decider: Decider) -> ViewSite {
        ViewSite {
            page: self.page.replacen(YES, &[YES, &decider.meta()].concat(), 1),
            decider: Some(Arc::new(decider)),
            ..self
        }
    }
}

/// A server that listens, but does not serve yet.
pub(crate) struct ViewServer {
    listener: std::net::TcpListener,
    site: Arc<ViewSite>,
    /// The page's address, with its token.
    pub(crate) address: String,
}

impl ViewServer {
    /// Listens on `port` of 127.0.0.1; 0 means any free port.
    pub(crate) fn listen(
        served: Served,
        port: u16,
        decider: Option<Decider>,
    ) -> Result<ViewServer, CliError> {
        let viewer = viewer()?;
        let token = random()?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| {
            CliError::new(Exit::Io, format!("cannot listen on 127.0.0.1:{port}: {e}"))
                .hint("choose another --port, or leave out --port")
        })?;
        let at: SocketAddr = listener.local_addr()?;
        let address = format!("http://{at}/{token}/");
        let site = ViewSite {
            port: at.port(),
            ..ViewSite::new(token, served, viewer)
        };
        let site = match decider {
            Some(decider) => site.deciding(decider),
            None => site,
        };
        Ok(ViewServer {
            listener,
            site: Arc::new(site),
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

/// Returns a random secret.
fn random() -> Result<String, CliError> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(|e| {
        let message = format!("cannot make a secret: the system returned no random numbers: {e}");
        CliError::new(Exit::Io, message)
    })?;
    Ok(random.iter().map(|b| format!("{b:02x}")).collect())
}

fn app(site: Arc<ViewSite>) -> Router {
    let mut app = Router::new()
        .route("/{token}/", get(page))
        .route("/{token}/desk/{name}", post(ask))
        .route("/{token}/changes", get(changes));
    if site.decider.is_some() {
        app = app.route("/{token}/decide", post(decide::decide));
    }
    app.layer(middleware::from_fn_with_state(Arc::clone(&site), guard))
        .with_state(site)
}

/// Answers each connection, and closes a connection that is idle for the time `idle`.
async fn serve(listener: tokio::net::TcpListener, app: Router, idle: Duration) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Accepting fails while the process has too many open connections. The server waits until some of them have
            // ended.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let service = TowerToHyperService::new(app.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .serve_connection(TokioIo::new(stream), service);
        // The error of a connection is ignored, because it affects only this client.
        tokio::spawn(async move { drop(connection.await) });
    }
}

/// Returns the content security policy of the page as a header. A page without a policy may load and run nothing.
fn policy(page: &str) -> header::HeaderValue {
    const BEFORE: &str = r#"http-equiv="Content-Security-Policy" content=""#;
    let own = page.split_once(BEFORE);
    let own = own.and_then(|(_, rest)| rest.split_once('"'));
    let policy = own.map(|(own, _)| format!("{own}; frame-ancestors 'none'"));
    policy
        .and_then(|policy| header::HeaderValue::from_str(&policy).ok())
        .unwrap_or(header::HeaderValue::from_static(NO_PAGE))
}

/// Replacements of texts in the served page, so that the page may fetch from this server, and is marked as served.
/// `cargo xtask bundle` checks that each text occurs once.
const SERVED: [(&str, &str); 2] = [
    ("connect-src 'none'", "connect-src 'self'"),
    (r#"<meta name="prosescope-served" content="no">"#, YES),
];

/// The `<meta>` element that marks a served page. The element for decisions is inserted after this element.
const YES: &str = r#"<meta name="prosescope-served" content="yes">"#;

fn served_page(viewer: &str) -> String {
    SERVED.iter().fold(viewer.to_owned(), |page, (from, to)| {
        page.replacen(from, to, 1)
    })
}

/// Rejects requests without the token, with a foreign `Host`, or from another page.
async fn guard(State(site): State<Arc<ViewSite>>, request: Request, next: Next) -> Response {
    let hosts = request.headers().get_all(header::HOST).iter();
    let authority = request.uri().authority().map(Authority::as_str);
    let host = named_host(hosts.map(|host| host.to_str().ok()), authority).unwrap_or_default();
    let token = request
        .uri()
        .path()
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    let origins = request.headers().get_all(header::ORIGIN).iter();
    let is_ours = all_are_pages_of(host, origins.map(|origin| origin.to_str().ok()));
    // Another port belongs to another program: a page that was loaded from there must not ask here.
    let is_here = is_loopback(host) && port_of(host) == site.port;
    if !is_here || !is_ours || !same(token, &site.token) {
        return (StatusCode::NOT_FOUND, "not found\n").into_response();
    }
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    // A request whose header announces a body over the limit is rejected before its body is read.
    if length.is_some_and(|length| length > QUESTION) {
        return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too long\n").into_response();
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

/// Compares two texts in constant time, so that the time does not reveal how much of a guessed secret is right.
fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

async fn page(State(site): State<Arc<ViewSite>>) -> Response {
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

async fn ask(
    State(site): State<Arc<ViewSite>>,
    Path((_, name)): Path<(String, String)>,
    question: String,
) -> Response {
    let answer = match serde_json::from_str(&question) {
        Ok(request) => site.desks.ask(&name, request).await,
        Err(error) => Err(Trouble::defect(&format!(
            "the request of the page could not be read: {error}"
        ))),
    };
    let json = [(header::CONTENT_TYPE, "application/json")];
    match answer {
        Ok(DeskAnswer::Json(answer)) => (json, answer).into_response(),
        Ok(DeskAnswer::Bytes(pieces)) => {
            let pieces = stream::unfold(pieces, |mut pieces| async {
                pieces.recv().await.map(|piece| (piece, pieces))
            });
            let bytes = [(header::CONTENT_TYPE, "application/octet-stream")];
            (bytes, Body::from_stream(pieces)).into_response()
        }
        Err(trouble) => {
            let trouble = serde_json::to_string(&trouble).unwrap_or_default();
            let problem = [(header::CONTENT_TYPE, "application/problem+json")];
            (problem, trouble).into_response()
        }
    }
}

/// Lists the files while a page listens, and sends their state after each change.
async fn changes(State(site): State<Arc<ViewSite>>) -> Response {
    let told: Option<String> = None;
    let begin = (site, told, Duration::ZERO);
    let events = stream::unfold(begin, |(site, told, mut pause)| async move {
        loop {
            tokio::time::sleep(pause).await;
            let began = Instant::now();
            let served = Arc::clone(&site.served);
            // Listing thousands of files takes time, so it runs on another thread and does not block other requests.
            let state = tokio::task::spawn_blocking(move || served.look().state());
            let state = state.await.ok()?;
            pause = (began.elapsed() * REST).clamp(PAUSE, LONGEST);
            if told.as_ref() != Some(&state) {
                let event = sse::Event::default().data(&state);
                return Some((Ok::<_, Infallible>(event), (site, Some(state), pause)));
            }
        }
    });
    let alive = sse::KeepAlive::new();
    Sse::new(events).keep_alive(alive).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a test waits before it fails. It equals the constant in `prosescope_test_support`, which the tests of a
    /// published crate cannot use.
    const PATIENCE: Duration = Duration::from_secs(120);

    #[test]
    fn only_the_served_page_may_fetch() {
        let page = "<meta content=\"default-src 'none'; connect-src 'none'\"><meta name=\"prosescope-served\" content=\"no\">";
        assert_eq!(
            served_page(page),
            "<meta content=\"default-src 'none'; connect-src 'self'\"><meta name=\"prosescope-served\" content=\"yes\">"
        );
    }

    /// Sends a request, and returns all that the server answers until it closes the connection.
    fn answers(at: SocketAddr, request: &str) -> String {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    /// Serves a site on another thread during the test. Requests name the host without a port.
    fn serving(site: ViewSite, idle: Duration) -> SocketAddr {
        serving_on(listening(), site, idle)
    }

    /// Serves a site as [`serving`] does; requests name the port, too.
    fn serving_with_port(site: ViewSite, idle: Duration) -> SocketAddr {
        let listener = listening();
        let port = listener.local_addr().unwrap().port();
        serving_on(listener, ViewSite { port, ..site }, idle)
    }

    fn listening() -> std::net::TcpListener {
        std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
    }

    fn serving_on(listener: std::net::TcpListener, site: ViewSite, idle: Duration) -> SocketAddr {
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
        let site = ViewSite::new("t".to_owned(), Served::new("a run"), "");
        let at = serving(site, Duration::from_millis(50));
        let whole = "GET /t/ HTTP/1.1\r\nHost: localhost\r\n\r\n";
        // The first client sends nothing, the second sends a part of a request, and the third sends one whole request.
        for (request, status) in [("", ""), (&whole[..30], ""), (whole, "HTTP/1.1 200")] {
            let said = answers(at, request);
            assert!(said.starts_with(status), "{request:?}: {said}");
        }
    }

    /// Two `Host` headers are rejected, because programs differ in which of them they use. Otherwise the guard might
    /// check one header while another program uses the other.
    #[test]
    fn a_request_that_names_two_hosts_is_refused() {
        let site = ViewSite::new("t".to_owned(), Served::new("a run"), "");
        let at = serving(site, Duration::from_millis(50));
        for (target, headers, status) in [
            ("/t/", "Host: localhost\r\n", "200"),
            ("http://localhost/t/", "Host: localhost\r\n", "200"),
            ("/t/", "Host: localhost:80\r\n", "200"),
            ("/t/", "Host: localhost:81\r\n", "404"),
            ("/t/", "Host: localhost:80x\r\n", "404"),
            ("http://evil/t/", "Host: localhost\r\n", "404"),
            ("http://localhost/t/", "Host: evil\r\n", "404"),
            ("http://evil@localhost/t/", "Host: localhost\r\n", "404"),
            ("/t/", "Host: localhost\r\nHost: evil\r\n", "404"),
            ("/t/", "Host: localhost\r\nHost: localhost\r\n", "404"),
            ("/t/", "", "404"),
            (
                "/t/",
                "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil\r\n",
                "404",
            ),
        ] {
            let said = answers(at, &format!("GET {target} HTTP/1.1\r\n{headers}\r\n"));
            let expected = format!("HTTP/1.1 {status}");
            assert!(said.starts_with(&expected), "{target} {headers}: {said}");
        }
    }

    #[test]
    fn a_question_that_is_too_long_is_refused_by_its_head() {
        let site = ViewSite::new("t".to_owned(), Served::new("a run"), "");
        let at = serving(site, IDLE);
        let head =
            "POST /t/desk/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000000\r\n\r\n";
        let said = answers(at, head);
        assert!(said.starts_with("HTTP/1.1 413"), "{said}");
    }

    #[test]
    fn the_page_is_held_to_its_policy_by_a_header_too() {
        let page = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'\">";
        let site = ViewSite::new("t".to_owned(), Served::new("a run"), page);
        let at = serving(site, Duration::from_millis(50));
        for (path, expected) in [
            (
                "/t/",
                "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
            ),
            ("/t/changes/none", NO_PAGE),
            ("/t/desk/none", NO_PAGE),
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

    /// Sends a question to the desk of a page, with these headers.
    fn asked(at: SocketAddr, desk: &str, question: &str, headers: &str) -> (String, String) {
        let len = question.len();
        let said = answers(
            at,
            &format!(
                "POST /t/desk/{desk} HTTP/1.1\r\nHost: {at}\r\nContent-Length: {len}\r\n{headers}\r\n{question}"
            ),
        );
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// Writes a file with a time of a minute ago, because a file that was just written changes its state a moment
    /// later.
    fn write(path: &std::path::Path, text: &str) {
        std::fs::write(path, text).unwrap();
        let earlier = std::time::SystemTime::now() - Duration::from_secs(60);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(earlier).unwrap();
    }

    fn run() -> (tempfile::TempDir, Served) {
        let dir = tempfile::tempdir().unwrap();
        let state = "# Execution State\n\nrun: 20260115-143052-a7b3c9\n";
        write(&dir.path().join("state.md"), state);
        let mut served = Served::new("a run");
        served.add(dir.path().to_owned(), "", Box::new(|_| true));
        (dir, served)
    }

    #[test]
    fn a_page_asks_its_own_desk_and_other_pages_ask_nothing() {
        let (dir, served) = run();
        let site = ViewSite::new("t".to_owned(), served, "");
        let at = serving_with_port(site, Duration::from_millis(50));
        let own = format!("Origin: http://{at}\r\n");
        let (head, opened) = asked(at, "1", "\"open_served\"", &own);
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(opened.contains("20260115-143052-a7b3c9"), "{opened}");
        for headers in [
            "Origin: http://example.com\r\n",
            "Origin: null\r\n",
            "Origin: https://localhost\r\n",
        ] {
            let (head, _) = asked(at, "1", "\"open_served\"", headers);
            assert!(head.starts_with("HTTP/1.1 404"), "{headers}: {head}");
        }
        for question in [
            "{",
            "\"open_example\"",
            r#"{"page":{"place":"nowhere","page":"overview"}}"#,
        ] {
            let (head, trouble) = asked(at, "1", question, &own);
            assert!(
                head.contains("application/problem+json"),
                "{question}: {head}"
            );
            let trouble: Trouble = serde_json::from_str(&trouble).unwrap();
            assert!(!trouble.cause.is_empty() && !trouble.next.is_empty());
        }
        // A second desk opens the served run when it gets its first question.
        let overview = r#"{"page":{"place":"","page":"overview"}}"#;
        let (head, shown) = asked(at, "2", overview, "");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(shown.contains("20260115-143052-a7b3c9"), "{shown}");
        // A page sees the same state until it follows. Other pages are independent.
        write(&dir.path().join("new.txt"), "new");
        let follow = r#"{"follow":{"place":"","nodes":[],"bindings":[],"folded":{}}}"#;
        let (_, followed) = asked(at, "1", follow, "");
        assert!(followed.contains("\"reread\":true"), "{followed}");
        assert_eq!(asked(at, "1", follow, "").1, "null");
        let (_, followed) = asked(at, "2", follow, "");
        assert!(followed.contains("\"reread\":true"), "{followed}");
    }

    #[test]
    fn a_query_that_sqlite_cannot_interrupt_leaves_the_page_its_answers() {
        let (_dir, served) = run();
        let site = ViewSite::new("t".to_owned(), served, "");
        let at = serving_with_port(site, Duration::from_millis(50));
        let sql = "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')";
        let question = format!(r#"{{"query":{{"place":"","sql":"{sql}","limit":1}}}}"#);
        let (head, trouble) = asked(at, "1", &question, "");
        assert!(head.contains("application/problem+json"), "{head}");
        assert!(
            trouble.contains("took too long") || trouble.contains("stopped"),
            "{trouble}"
        );
        let overview = r#"{"page":{"place":"","page":"overview"}}"#;
        assert!(
            asked(at, "1", overview, "")
                .1
                .contains("20260115-143052-a7b3c9")
        );
    }

    #[test]
    fn a_long_value_is_sent_whole() {
        let (dir, served) = run();
        let long = (9 << 20) + 7;
        std::fs::write(dir.path().join("big.txt"), "x".repeat(long)).unwrap();
        let site = ViewSite::new("t".to_owned(), served, "");
        let at = serving_with_port(site, Duration::from_millis(50));
        let question = r#"{"download":{"place":"","of":{"file":"big.txt"}}}"#;
        let (head, body) = asked(at, "1", question, "");
        assert!(head.contains("application/octet-stream"), "{head}");
        assert_eq!(body.matches('x').count(), long);
    }

    #[test]
    fn a_change_is_said_to_whoever_listens() {
        use std::io::{BufRead, BufReader, Write};
        let (dir, served) = run();
        let site = ViewSite::new("t".to_owned(), served, "");
        let at = serving(site, IDLE);
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        let patience = Some(PATIENCE);
        stream.set_read_timeout(patience).unwrap();
        let request = "GET /t/changes HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let mut told = lines.filter(|line| line.starts_with("data: "));
        let first = told.next().unwrap();
        std::fs::write(dir.path().join("new.txt"), "new").unwrap();
        assert_ne!(told.next().unwrap(), first);
    }
}
