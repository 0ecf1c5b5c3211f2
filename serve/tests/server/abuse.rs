//! Tests that abusive requests are refused while others are answered.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use prosescope_serve::{Access, Limits};
use serde_json::json;

use super::{Site, TOKEN, access, bearer};

#[test]
fn who_has_no_token_or_comes_from_elsewhere_is_refused() {
    let site = Site::new();
    let bearer = bearer();
    for wrong in [
        "",
        "Bearer",
        "Bearer x",
        "Basic abc",
        &format!("Bearer {TOKEN}x"),
        &format!("Bearer {}", &TOKEN[1..]),
    ] {
        site.ask("GET", "/workflows", &[("Authorization", wrong)], "")
            .problem(401);
    }
    // Only the routes of streams accept a token in the address or as a protocol.
    let protocol = format!("prose, bearer.{TOKEN}");
    for path in [
        "/workflows",
        "/openapi.json",
        "/workflows/latest/events",
        "/none/events/stream",
        "/none/events/ws",
    ] {
        site.ask("GET", &format!("{path}?access_token={TOKEN}"), &[], "")
            .problem(401);
        let protocol = ("Sec-WebSocket-Protocol", protocol.as_str());
        site.ask("GET", path, &[protocol], "").problem(401);
    }
    let with = |name: &str, value: &str| {
        site.ask(
            "GET",
            "/workflows",
            &[("Authorization", &bearer), (name, value)],
            "",
        )
    };
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "",
        "[::2]",
    ] {
        with("Host", host).problem(421);
    }
    for host in [
        "localhost",
        "LOCALHOST:99",
        "127.0.0.1",
        "[::1]:80",
        "prose.example",
        "prose.example:443",
    ] {
        assert_eq!(with("Host", host).status, 200, "{host}");
    }
    for origin in [
        "https://evil.example",
        "null",
        "http://app.example",
        "https://app.example.evil.example",
    ] {
        let refused = with("Origin", origin);
        refused.problem(403);
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
    let allowed = with("Origin", "https://app.example");
    assert_eq!(allowed.status, 200);
    assert_eq!(
        allowed.header("access-control-allow-origin").as_deref(),
        Some("https://app.example")
    );
    let preflight = site.ask(
        "OPTIONS",
        "/workflow/start",
        &[
            ("Origin", "https://app.example"),
            ("Access-Control-Request-Method", "POST"),
        ],
        "",
    );
    assert_eq!(preflight.status, 204);
    assert_eq!(
        site.ask("GET", "/health", &[], "").status,
        200,
        "health needs no token"
    );
}

/// Checks that a request with two host names is refused. Programs disagree about which of the two names counts, so the
/// server could check one name while a proxy used the other name.
#[test]
fn a_request_that_names_two_hosts_is_refused() {
    let site = Site::new();
    for (target, headers, status) in [
        ("/health", "Host: localhost\r\n", 200),
        ("http://localhost/health", "Host: localhost\r\n", 200),
        ("http://evil/health", "Host: localhost\r\n", 400),
        ("http://localhost/health", "Host: evil\r\n", 400),
        ("http://evil@localhost/health", "Host: localhost\r\n", 400),
        ("/health", "Host: localhost\r\nHost: evil\r\n", 400),
        ("/health", "Host: evil\r\nHost: localhost\r\n", 400),
        ("/health", "", 400),
        (
            "/health",
            "Host: localhost\r\nOrigin: https://app.example\r\nOrigin: https://evil\r\n",
            403,
        ),
    ] {
        let mut stream = site.connect();
        write!(
            stream,
            "GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        let said = super::Reply::read(stream);
        assert_eq!(said.status, status, "{target} {headers}: {said:?}");
    }
}

/// Checks requests without `Origin`: a browser that loads an image reports that a page of another site caused the
/// request, but sends no `Origin`.
#[test]
fn a_page_of_another_site_is_refused_without_an_origin_too() {
    let site = Site::new();
    let asked = |of: &str, mode: &str| {
        let headers = [("Sec-Fetch-Site", of), ("Sec-Fetch-Mode", mode)];
        site.ask("GET", "/health", &headers, "").status
    };
    assert_eq!(asked("cross-site", "no-cors"), 403);
    assert_eq!(asked("same-site", "no-cors"), 403);
    assert_eq!(asked("same-origin", "cors"), 200);
    assert_eq!(asked("none", "navigate"), 200);
    assert_eq!(asked("cross-site", "navigate"), 200);
}

/// Checks that the server refuses a request by its declared length, without waiting for its body.
#[test]
fn a_body_that_is_too_long_is_refused_by_its_head() {
    let limits = Limits {
        request: Duration::from_secs(600),
        ..Limits::default()
    };
    let site = Site::with(access(), limits);
    for (method, path) in [("POST", "/workflow/start"), ("GET", "/workflows")] {
        let mut stream = site.connect();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n",
            bearer()
        )
        .unwrap();
        super::Reply::read(stream).problem(413);
    }
}

#[test]
fn what_is_too_large_or_odd_is_refused() {
    let site = Site::new();
    let (of, _) = site.begin();
    let large = json!({"text": "x".repeat(2 << 20)});
    site.post(&format!("/workflow/events/{of}"), &large)
        .problem(413);
    let bearer = bearer();
    let form = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "text/plain"),
    ];
    site.ask("POST", "/workflow/start", &form, "{\"input\": \"x\"}")
        .problem(415);
    let deep = format!(
        "{{\"input\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let json_of = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    site.ask("POST", "/workflow/start", &json_of, &deep)
        .problem(400);
    site.ask(
        "POST",
        "/workflow/start",
        &json_of,
        "{\"input\": \"\u{fffd}",
    )
    .problem(400);
    for path in [
        "/../../etc/passwd",
        "/workflows/..%2f..%2fetc%2fpasswd",
        "/workflows/%2e%2e",
        "/workflows/%00",
        "/workflows/%ff",
        "/workflows/'%20OR%201=1",
        "//evil.example/workflows",
        &format!("/workflows/{}", "a".repeat(10_000)),
    ] {
        let said = site.get(path);
        assert!(matches!(said.status, 400 | 404), "{path}: {said:?}");
    }
    let head = "x".repeat(200_000);
    let said = site.ask("GET", "/health", &[("X-Long", &head)], "");
    assert!(matches!(said.status, 0 | 431), "{}", said.status);
    assert_eq!(
        site.get("/workflows").json()["workflows"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// Returns whether the server has not closed a connection on which it has sent nothing.
fn is_open(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    read.is_err_and(|cause| cause.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn idle_and_slow_connections_leave_others_answered() {
    let limits = Limits {
        connections: 300,
        head: Duration::from_secs(5),
        request: Duration::from_secs(2),
        ..Limits::default()
    };
    let site = Site::with(access(), limits);
    let (of, _) = site.begin();
    // The test opens more connections than are allowed, all silent or in the middle of a head.
    let mut idle = Vec::new();
    for n in 0..900 {
        let mut stream = site.connect();
        if n % 2 == 0 {
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\nHost: loc");
        }
        idle.push(stream);
        if n % 100 == 99 {
            assert_eq!(site.get("/workflows").status, 200, "after {n}");
        }
    }
    // The oldest connections made room for the newer ones.
    let open = || idle.iter().filter(|stream| is_open(stream)).count();
    let patience = Instant::now() + Duration::from_secs(3);
    while open() > 300 && Instant::now() < patience {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(open() <= 300, "{} of 900 are open", open());
    // The server gives up on a body that never ends.
    let mut slow = site.connect();
    write!(
        slow,
        "POST /workflow/events/{of} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        bearer()
    )
    .unwrap();
    let said = super::Reply::read(slow);
    assert_eq!(said.status, 408, "{said:?}");
    // The last of these connections never sends the rest of its head, so the server closes this connection too.
    let mut last = idle.pop().unwrap();
    let mut byte = [0];
    assert!(matches!(last.read(&mut byte), Ok(0) | Err(_)));
}

/// Checks that requests without the token do not use up the rate of those with the token. A page can cause such
/// requests, and they come from the same peer as the engine's: loopback.
#[test]
fn requests_without_the_token_use_up_nothing_of_those_with_it() {
    let access = Access {
        rate: 20,
        ..access()
    };
    let site = Site::with(access, Limits::default());
    let flood = |path: &str, headers: &[(&str, &str)]| {
        let said: Vec<u16> = (0..100)
            .map(|_| site.ask("GET", path, headers, "").status)
            .collect();
        assert!(said.contains(&429), "{path} {headers:?}: {said:?}");
    };
    flood("/workflows", &[("Host", "evil")]);
    flood("/workflows", &[("Origin", "https://evil.example")]);
    flood("/workflows", &[]);
    flood("/health", &[]);
    for _ in 0..20 {
        assert_eq!(site.get("/workflows").status, 200);
    }
}

#[test]
fn a_peer_that_asks_too_often_is_told_to_wait() {
    let site = Site::with(
        Access {
            rate: 20,
            ..access()
        },
        Limits::default(),
    );
    let said: Vec<u16> = (0..200).map(|_| site.get("/workflows").status).collect();
    assert!(said.contains(&200) && said.contains(&429), "{said:?}");
    thread::sleep(Duration::from_millis(1100));
    assert_eq!(site.get("/workflows").status, 200);
    let mut stream = TcpStream::connect(site.address).unwrap();
    stream.write_all(b"not HTTP at all\r\n\r\n").unwrap();
    let mut said = String::new();
    let _ = stream.read_to_string(&mut said);
    assert!(said.starts_with("HTTP/1.1 400"), "{said}");
}
