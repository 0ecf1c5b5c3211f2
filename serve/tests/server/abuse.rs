//! What is refused, and that others are answered meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

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
    // A token in the address is for streams alone.
    site.ask("GET", &format!("/workflows?access_token={TOKEN}"), &[], "")
        .problem(401);
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
    // More than there may be, all silent, or in the middle of a head.
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
    // A body that never ends is given up.
    let mut slow = site.connect();
    write!(
        slow,
        "POST /workflow/events/{of} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        bearer()
    )
    .unwrap();
    let said = super::Reply::read(slow);
    assert_eq!(said.status, 408, "{said:?}");
    let metrics = site.get("/metrics").body;
    let count = |name: &str| -> u64 {
        let line = metrics
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{metrics}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(count("prose_connections ") <= 301, "{metrics}");
    assert!(
        count("prose_connections_crowded_out_total") >= 500,
        "{metrics}"
    );
    // The rest is closed when no head comes.
    let mut last = idle.pop().unwrap();
    let mut byte = [0];
    assert!(matches!(last.read(&mut byte), Ok(0) | Err(_)));
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
