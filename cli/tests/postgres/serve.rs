//! Tests of `prosescope workflow serve` on PostgreSQL. The server is killed under load, or its database stops. Clients
//! continue with their cursors, and no acknowledged event is lost. SQLAlchemy models write into the same tables.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::needs;
use serde_json::{Value, json};

use crate::PROGRAM;
use crate::kills::{moment, times};
use crate::project::{Project, cluster, text};
use crate::stopping;

/// A running `prosescope workflow serve`, and its address.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Serving {
    /// Starts a server at this address. Returns the server after it printed `serving`, or `None` if the server ended.
    pub(crate) fn start(project: &Project, address: SocketAddr) -> Option<Serving> {
        let listen = address.to_string();
        let args = [
            "workflow",
            "serve",
            "--state",
            "postgres",
            "--no-token",
            "--rate",
            "0",
            "--listen",
            &listen,
        ];
        let mut child = project
            .command(&args)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        lines.read_line(&mut said).unwrap();
        // The later output of the server is read and discarded. Otherwise a full pipe would block the server.
        thread::spawn(move || lines.read_to_string(&mut String::new()));
        let serves = said.starts_with("serving");
        if !serves {
            // The server ended, because the database did not answer.
            let _ = child.wait();
        }
        serves.then_some(Serving { child, address })
    }

    pub(crate) fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

/// Sends a request. Returns the status and the body, or `None` without an answer.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &Value,
) -> Option<(u16, Value)> {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, serde_json::from_str(body).unwrap_or_default()))
}

/// Follows events over server-sent events until `over` is set. Connects again with its cursor whenever the stream ends.
fn follow(address: SocketAddr, of: &str, over: &AtomicBool) -> Vec<i64> {
    let mut ids: Vec<i64> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let Ok(mut stream) = TcpStream::connect(address) else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let after = ids.last().copied().unwrap_or(0);
        let _ = write!(
            stream,
            "GET /workflows/{of}/events/stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: {after}\r\n\r\n"
        );
        // An event counts only if its line is complete, because a killed server may send half a line.
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let event = line
                .strip_prefix("data: ")
                .and_then(|data| serde_json::from_str::<Value>(data).ok());
            ids.extend(event.and_then(|event| event["id"].as_i64()));
        }
    }
    ids
}

/// Creates a project with tables of workflows in a database of its own, and a workflow. Returns the project, the
/// address of the database, and the workflow's id.
fn begun(cluster: &Cluster) -> (Project, String, String) {
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let state = ["--state", "postgres"];
    project.prose(
        0,
        &[&["workflow", "setup", "--apply"], &state[..]].concat(),
        "",
    );
    let begun = project.json(&[&["workflow", "start", "--input", "x"], &state[..]].concat());
    let of = begun["workflow_id"].as_str().unwrap().to_owned();
    (project, url, of)
}

/// Serves under load while `trouble` happens. Then checks that every acknowledged event is stored, and that a follower
/// received every event once and in order.
fn under_load(cluster: &Cluster, trouble: impl Fn(&Project, Serving) -> Serving, times: usize) {
    let (project, _, of) = begun(cluster);
    let of = of.as_str();
    let address = free();
    let mut serving = Serving::start(&project, address).unwrap();
    let over = AtomicBool::new(false);
    let (serving, acknowledged, read) = thread::scope(|scope| {
        let over = &over;
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    let mut n = 0;
                    while !over.load(Ordering::Relaxed) {
                        n += 1;
                        let body = json!({"text": format!("{writer}:{n}")});
                        match ask(address, "POST", &format!("/workflow/events/{of}"), &body) {
                            Some((200, done)) => acknowledged.extend(done["ids"][0].as_i64()),
                            _ => thread::sleep(Duration::from_millis(5)),
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        let follower = scope.spawn(move || follow(address, of, over));
        for _ in 0..times {
            moment(400);
            serving = trouble(&project, serving);
        }
        thread::sleep(Duration::from_secs(1));
        over.store(true, Ordering::Relaxed);
        let acknowledged: Vec<i64> = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect();
        (serving, acknowledged, follower.join().unwrap())
    });
    serving.kill();
    let tail = project.line(&[
        "workflow", "events", "tail", of, "--state", "postgres", "--json",
    ]);
    let all: Vec<i64> = tail
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_i64()
                .unwrap()
        })
        .collect();
    println!(
        "{} acknowledged, {} recorded, {} read by the follower",
        acknowledged.len(),
        all.len(),
        read.len()
    );
    assert!(acknowledged.len() > 10);
    let lost: Vec<&i64> = acknowledged
        .iter()
        .filter(|id| all.binary_search(id).is_err())
        .collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    assert!(read.len() > 10);
    assert_eq!(read, all[..read.len()], "none missed, none twice, in order");
    // The engine of the run gave no sign of life, so the run is listed as stuck.
    let mut stuck = project.command(&["workflow", "list", "--stuck", "1s", "--state", "postgres"]);
    let stuck = stuck
        .env("PROSE_NOW", "2099-01-01T00:00:00Z")
        .output()
        .unwrap();
    let stuck = text(&stuck.stdout);
    assert!(stuck.contains("owner unknown"), "{stuck}");
}

#[test]
fn a_server_that_is_killed_under_load_loses_nothing_acknowledged() {
    let Some(cluster) = cluster() else {
        return;
    };
    let again = |project: &Project, serving: Serving| {
        let address = serving.address;
        serving.kill();
        loop {
            if let Some(serving) = Serving::start(project, address) {
                return serving;
            }
        }
    };
    under_load(cluster, again, times(5, 100));
}

#[test]
fn a_database_that_stops_under_the_server_is_waited_for() {
    let Some(cluster) = Cluster::start(&["fsync=on"]) else {
        return;
    };
    let crash = |_: &Project, serving: Serving| {
        cluster.crash();
        let health = || ask(serving.address, "GET", "/health", &Value::Null);
        assert!(health().is_some(), "the server itself answers");
        // The server answers again by itself after the database has come back.
        for _ in 0..600 {
            if health().is_some_and(|(status, _)| status == 200) {
                return serving;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not find the database again");
    };
    under_load(&cluster, crash, times(2, 20));
}

/// When the server loses its connection for notifications, it listens again on another connection. Otherwise the server
/// would read the events twenty times per second until a restart.
#[test]
fn a_server_listens_again_when_that_connection_is_lost() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (project, url, of) = begun(cluster);
    let (of, state) = (of.as_str(), ["--state", "postgres"]);
    let serving = Serving::start(&project, free()).unwrap();
    let over = AtomicBool::new(false);
    let listener =
        "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    let listens = || {
        for _ in 0..600 {
            let found = cluster
                .psql(&url, &format!("SELECT pid {listener}"))
                .unwrap();
            if !found.trim().is_empty() {
                return found;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not listen");
    };
    let read = thread::scope(|scope| {
        let follower = scope.spawn(|| follow(serving.address, of, &over));
        let first = listens();
        let end = format!("SELECT pg_terminate_backend(pid) {listener}");
        cluster.psql(&url, &end).unwrap();
        assert_ne!(listens(), first);
        project.prose(
            0,
            &[
                "workflow", "events", "append", of, "--text", "x", state[0], state[1],
            ],
            "",
        );
        thread::sleep(Duration::from_millis(600));
        over.store(true, Ordering::Relaxed);
        follower.join().unwrap()
    });
    assert_eq!(read.len(), 1);
    serving.kill();
}

#[test]
fn a_server_that_is_told_to_stop_ends_with_0() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (project, _, of) = begun(cluster);
    let state = ["--state", "postgres"];
    let serve = || {
        let listen = ["workflow", "serve", "--no-token", "--listen", "127.0.0.1:0"];
        project.command(&[&listen[..], &state].concat())
    };
    stopping::serve_ends_well(serve, &of);
    stopping::serve_can_be_stopped_at_once(serve);
}

/// The HTTP answer reports only that the store does not answer. The server's own output contains the store's name.
#[test]
fn an_error_names_no_user_host_and_name_of_the_database() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (project, url, of) = begun(cluster);
    let serving = Serving::start(&project, free()).unwrap();
    let tell = |path: &str, body: Value| {
        let method = if body.is_null() { "GET" } else { "POST" };
        let (status, said) = ask(serving.address, method, path, &body).unwrap();
        let database = url.rsplit('/').next().unwrap();
        for secret in [database, "127.0.0.1", "postgres@", "5432"] {
            assert!(!said.to_string().contains(secret), "{path}: {said}");
        }
        (status, said["rule"].as_str().map(str::to_owned))
    };
    let events = format!("/workflow/events/{of}");
    let refused = (400, Some("not-storable".to_owned()));
    assert_eq!(tell(&events, json!({"text": "a\u{0}b"})), refused);
    let payload = json!({"text": "x", "payload": {"a": "\u{0}"}});
    assert_eq!(tell(&events, payload), refused);
    cluster
        .psql(&url, "ALTER TABLE workflow_events RENAME TO gone")
        .unwrap();
    let (status, _) = tell(&events, json!({"text": "x"}));
    assert!(status >= 500, "{status}");
    let database = url.rsplit('/').next().unwrap();
    let end = format!(
        "ALTER DATABASE {database} ALLOW_CONNECTIONS false; \
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    );
    cluster.psql(&cluster.url("postgres"), &end).unwrap();
    for path in ["/workflows", "/health", &format!("/workflows/{of}/events")] {
        assert_eq!(tell(path, Value::Null), (503, None), "{path}");
    }
    assert_eq!(tell(&events, json!({"text": "x"})), (503, None));
    serving.kill();
}

/// A cursor after the last event of an emptied table is an error. Otherwise a reader with this cursor would wait for
/// ever.
#[test]
fn who_follows_a_table_that_was_emptied_is_told() {
    let Some(cluster) = cluster() else {
        return;
    };
    let (project, url, of) = begun(cluster);
    let of = of.as_str();
    let prose = |code: i32, args: &[&str]| {
        let args = [args, &["--state", "postgres"]].concat();
        project.prose(code, &args, "")
    };
    for text in ["a", "b", "c"] {
        prose(0, &["workflow", "events", "append", of, "--text", text]);
    }
    let serving = Serving::start(&project, free()).unwrap();
    let mut stream = TcpStream::connect(serving.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    write!(
        stream,
        "GET /workflows/{of}/events/stream?after=2 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.starts_with("data:") && line.contains("\"c\"")));
    let empty = "TRUNCATE workflow_events RESTART IDENTITY";
    cluster.psql(&url, empty).unwrap();
    prose(0, &["workflow", "events", "append", of, "--text", "new"]);
    let closed = lines.find(|line| line.contains("closed") && line.contains("cursor"));
    assert!(closed.unwrap().contains("restarted"));
    let path = format!("/workflows/{of}/events/stream?after=3");
    let (status, said) = ask(serving.address, "GET", &path, &Value::Null).unwrap();
    assert_eq!(
        (status, said["rule"].as_str()),
        (409, Some("cursor-ahead")),
        "{said}"
    );
    // PostgreSQL cannot store NUL in a text, so such a request is an error of the client (400).
    let note = |text: &str| {
        ask(
            serving.address,
            "POST",
            &format!("/workflow/events/{of}"),
            &json!([{"text": text}]),
        )
        .unwrap()
    };
    let (status, said) = note("a\0b");
    assert_eq!(
        (status, said["rule"].as_str()),
        (400, Some("not-storable")),
        "{said}"
    );
    // The HTTP error contains neither the address of the database nor the name of its user.
    cluster
        .psql(&url, "ALTER TABLE workflow_events RENAME TO elsewhere")
        .unwrap();
    let (status, said) = note("lost");
    let whole = said.to_string();
    assert!(status >= 500 || status == 403, "{status} {whole}");
    for word in [
        "127.0.0.1",
        "postgres@",
        "postgresql:",
        url.rsplit('/').next().unwrap(),
    ] {
        assert!(!whole.contains(word), "{word}: {whole}");
    }
    cluster
        .psql(&url, "ALTER TABLE elsewhere RENAME TO workflow_events")
        .unwrap();
    let said = prose(
        4,
        &["workflow", "events", "tail", of, "--after", "3", "--follow"],
    );
    assert!(said.contains("--after 0"), "{said}");
    let anew = prose(0, &["workflow", "events", "tail", of, "--after", "0"]);
    assert!(anew.contains("new"), "{anew}");
    serving.kill();
}

#[test]
fn models_of_the_document_write_beside_the_server() {
    let (Some(cluster), Some(python)) = (cluster(), needs::python()) else {
        return;
    };
    let url = cluster.database();
    let project = Project::new(PROGRAM, &url);
    let script = needs::root().join("tests/python/workflows.py");
    let model = |step: &str, args: &[&str]| {
        let out = Command::new(&python)
            .arg(&script)
            .args([&url, step])
            .args(args)
            .env("PYTHONUTF8", "1")
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        serde_json::from_slice::<Value>(&out.stdout).unwrap()
    };
    // Another program creates its tables first. `workflow setup` then adds the tables and columns of prosescope.
    let made = model("make", &[]);
    let of = made["workflow"].as_str().unwrap();
    project.prose(
        0,
        &["workflow", "setup", "--apply", "--state", "postgres"],
        "",
    );
    let serving = Serving::start(&project, free()).unwrap();
    let address = serving.address;
    let ask = |path: &str, body: Value| ask(address, "POST", path, &body).unwrap();
    let (status, begun) = ask(
        "/workflow/start",
        json!({"input": "from HTTP", "workflow_id": of}),
    );
    assert_eq!(status, 200, "{begun}");
    let run = begun["run_id"].as_str().unwrap();
    assert_eq!(
        ask(
            &format!("/workflow/ask/{run}"),
            json!({"question": "Which?"})
        )
        .0,
        200
    );
    // The other program adds an event and changes a preference. Then `prosescope workflow serve` records an answer.
    let theirs = model("turn", &[of, run]);
    assert_eq!(theirs["status"], "waiting_for_input");
    assert_eq!(theirs["tail"], json!(["from HTTP"]));
    let (status, answered) = ask(&format!("/workflow/input/{of}"), json!({"text": "This"}));
    assert_eq!(status, 200, "{answered}");
    let shown = project.json(&["workflow", "show", of, "--state", "postgres"]);
    assert_eq!(shown["preferences"]["theirs"], 1);
    assert_eq!(shown["context"]["tail"][1]["content"], "This");
    let tail = project.line(&[
        "workflow", "events", "tail", of, "--state", "postgres", "--json",
    ]);
    assert!(tail.contains("from SQLAlchemy"), "{tail}");
    // The other program computed its change before the server's change was recorded. So its change is refused.
    // Repeating the refused change keeps both changes.
    let raced = model("race", &[of, &format!("http://{address}")]);
    assert_eq!(raced["refused"], true, "{raced}");
    assert_eq!(raced["preferences"]["ours"], "between");
    assert_eq!(raced["preferences"]["in_place"], 1);
    serving.kill();
}
