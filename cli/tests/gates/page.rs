//! Tests of `view --allow-decisions`: the served page can decide gates, and no other page or program can. Requests
//! are sent as raw bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::process::{Child, Stdio};

use prosescope_test_support::work::PATIENCE;
use serde_json::{Value, json};

use crate::{Form, Project, in_both_forms};

/// A running `view` server, with the address and the token of its page.
struct Page {
    server: Child,
    /// The server's `Host`: `127.0.0.1:PORT`.
    host: String,
    /// The path of the page: `/TOKEN/`.
    base: String,
    html: String,
    /// The token for decisions; empty if the page may not decide.
    token: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Page {
    fn open(project: &Project, args: &[&str]) -> Page {
        let args = [&["view", &project.run], args].concat();
        let mut command = project.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().expect("prosescope runs");
        let mut line = String::new();
        let out = server.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (host, base) = address.split_once('/').expect("a path");
        let mut page = Page {
            server,
            host: host.to_owned(),
            base: format!("/{base}"),
            html: String::new(),
            token: String::new(),
        };
        let (status, html) = page.send("GET", "", &[], "");
        assert_eq!(status, 200);
        let meta = html.split_once("<meta name=\"prosescope-decide\" content=\"");
        let token = meta.and_then(|(_, rest)| rest.split_once('"'));
        page.token = token.map_or(String::new(), |(token, _)| token.to_owned());
        page.html = html;
        page
    }

    /// Sends a request. Adds `Host` unless the headers contain one. Returns the status and the body.
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let mut head = format!(
            "{method} {}{path} HTTP/1.1\r\nConnection: close\r\n",
            self.base
        );
        if headers.iter().all(|(name, _)| *name != "Host") {
            head += &format!("Host: {}\r\n", self.host);
        }
        if headers.iter().all(|(name, _)| *name != "Content-Length") && method == "POST" {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        // The server may reject the request and close the connection before the body is written.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said).into_owned();
        let status = said.split(' ').nth(1).and_then(|word| word.parse().ok());
        let body = said.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or_default(), body.to_owned())
    }

    /// Returns the headers that the page itself sends with a decision.
    fn own(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Origin", format!("http://{}", self.host)),
            ("X-Prosescope-Token", self.token.clone()),
            ("Content-Type", "application/json".to_owned()),
        ]
    }

    /// Sends a decision as the page does. `other` replaces some of its headers; an empty value removes the header.
    fn decide(&self, body: &str, other: &[(&'static str, &str)]) -> (u16, String) {
        let own = self.own();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let is_own = |name: &str| other.iter().all(|(other, _)| *other != name);
        let headers: Vec<(&str, &str)> = own
            .filter(|(name, _)| is_own(name))
            .chain(other.iter().copied().filter(|(_, value)| !value.is_empty()))
            .collect();
        self.send("POST", "decide", &headers, body)
    }
}

const AS: [&str; 3] = ["--allow-decisions", "--as", "raymond"];

/// Returns the request that the page would send to decide a gate in its current state.
fn asked(project: &Project, gate: &str, word: &str) -> Value {
    let gates = project.json(0, &["gates", &project.run]);
    let gates = gates.as_array().expect("gates");
    let view = gates.iter().find(|view| view["id"] == gate);
    let view = view.expect("the gate is there");
    json!({
        "run": view["run"],
        "gate": gate,
        "decision": word,
        "comment": "On the page",
        "seen": view["seen"],
    })
}

#[test]
fn the_page_decides_once_in_the_name_that_the_server_was_given() {
    in_both_forms(|project| {
        project.create("deploy", &["--allow", "ops-team,raymond"]);
        project.create("ship", &["--force", "--allow", "raymond"]);
        let page = Page::open(project, &AS);
        assert_eq!(page.token.len(), 32, "{}", page.token);
        assert!(page.html.contains("data-as=\"raymond\""));
        // The token for decisions is neither in the address nor in a cookie.
        assert!(!page.base.contains(&page.token));
        for (gate, word) in [("deploy", "approved"), ("ship", "rejected")] {
            let body = asked(project, gate, word).to_string();
            let (status, done) = page.decide(&body, &[]);
            assert_eq!(status, 200, "{done}");
            let done: Value = serde_json::from_str(&done).expect("JSON");
            assert_eq!(
                (&done["status"], &done["resolved_by"]),
                (&json!(word), &json!("raymond"))
            );
            let audit = project.json(0, &["audit", &project.run, "--gate", gate]);
            let row = &audit["rows"][1];
            assert_eq!(row["comment"], "On the page");
            let metadata = row["metadata"].as_str().expect("a text");
            assert!(metadata.contains(r#""client":"view""#), "{metadata}");

            let before = project.files();
            let (status, again) = page.decide(&body, &[]);
            assert_eq!(status, 409, "{again}");
            let again: Value = serde_json::from_str(&again).expect("JSON");
            assert_eq!(again["error"]["rule"], "decision-recorded-already");
            assert!(project.files() == before);
        }
        let (said, _) = project.expect(0, &["audit", "verify", &project.run]);
        assert!(said.starts_with("consistent"), "{said}");
    });
}

#[test]
fn a_request_of_anybody_else_decides_nothing() {
    let project = Project::new(Form::Sqlite);
    project.create("deploy", &[]);
    let page = Page::open(&project, &AS);
    let body = asked(&project, "deploy", "approved").to_string();
    let before = project.files();
    let host = page.host.clone();
    let port = host.rsplit(':').next().expect("a port");
    let (evil, named) = (format!("evil.example:{port}"), format!("localhost:{port}"));
    let token = page.token.clone();
    let wrong = "0".repeat(token.len());
    let cookie = format!("x-prosescope-token={token}");
    for (other, expected) in [
        (&[("X-Prosescope-Token", "")][..], 403),
        (&[("X-Prosescope-Token", wrong.as_str())], 403),
        (&[("X-Prosescope-Token", &token[..31])], 403),
        // A header that is sent twice is rejected, because it is unclear which value counts.
        (
            &[
                ("X-Prosescope-Token", token.as_str()),
                ("x-prosescope-token", wrong.as_str()),
            ],
            403,
        ),
        (
            &[("X-Prosescope-Token", ""), ("Cookie", cookie.as_str())],
            403,
        ),
        (&[("Origin", "")], 403),
        (&[("Origin", "null")], 404),
        (&[("Origin", "http://evil.example")], 404),
        // `localhost` and `127.0.0.1` mean the same machine, but are different origins.
        (&[("Origin", &format!("http://{named}"))], 404),
        (&[("Host", evil.as_str())], 404),
        // A foreign name may resolve to this machine (DNS rebinding). Its `Host` and `Origin` agree, but are not the
        // server's.
        (
            &[
                ("Host", evil.as_str()),
                ("Origin", &format!("http://{evil}")),
            ],
            404,
        ),
        (&[("Content-Type", "text/plain")], 415),
        (&[("Content-Type", "")], 415),
        (&[("Content-Length", "10000000000")], 413),
    ] {
        let (status, said) = page.decide(&body, other);
        assert_eq!(status, expected, "{other:?}: {said}");
        assert!(project.files() == before, "{other:?}");
    }
    // A token in the address is not accepted, and neither is a method other than POST.
    let own = page.own();
    let own: Vec<(&str, &str)> = own.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let without: Vec<(&str, &str)> = own
        .iter()
        .copied()
        .filter(|(name, _)| *name != "X-Prosescope-Token")
        .collect();
    for path in [
        format!("decide?x-prosescope-token={token}"),
        format!("decide?token={token}"),
    ] {
        assert_eq!(page.send("POST", &path, &without, &body).0, 403, "{path}");
    }
    assert_eq!(page.send("GET", "decide", &own, "").0, 405);
    let long = format!("{}{body}", " ".repeat(64 << 10));
    assert_eq!(page.decide(&long, &[]).0, 413);
    assert!(project.files() == before);
    // The server listens on the loopback address only, so other machines cannot reach it.
    let outside = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    if outside.connect("192.0.2.1:9").is_ok()
        && let Ok(own) = outside.local_addr()
        && !own.ip().is_loopback()
        && !own.ip().is_unspecified()
    {
        let port: u16 = port.parse().expect("a number");
        assert!(TcpStream::connect((own.ip(), port)).is_err());
    }
    assert_eq!(page.decide(&body, &[]).0, 200);
}

#[test]
fn what_the_page_shows_is_compared_with_the_run() {
    let project = Project::new(Form::Folder);
    project.create("deploy", &["--allow", "raymond"]);
    let page = Page::open(&project, &AS);
    let body = asked(&project, "deploy", "approved");
    let before = project.files();
    let refused = |expected: u16, rule: &str, edit: &dyn Fn(&mut Value)| {
        let mut body = body.clone();
        edit(&mut body);
        let (status, said) = page.decide(&body.to_string(), &[]);
        assert_eq!(status, expected, "{said}");
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(said["error"]["rule"].as_str().unwrap_or_default(), rule);
        assert!(
            !said["error"]["hints"][0]
                .as_str()
                .unwrap_or_default()
                .is_empty()
        );
        assert!(project.files() == before, "{rule}");
    };
    refused(409, "decision-of-another-run", &|b| b["run"] = "x".into());
    refused(404, "", &|b| b["gate"] = "other".into());
    refused(409, "decision-prompt-differs", &|b| {
        b["seen"]["prompt_hash"] = "sha256:0".into();
    });
    refused(409, "decision-allow-differs", &|b| {
        b["seen"]["allow"] = json!([]);
    });
    refused(409, "decision-head-differs", &|b| {
        b["seen"]["head"]["count"] = 9.into();
    });
    // The principal is fixed when the server starts, so a request that contains a name is rejected.
    refused(422, "", &|b| b["by"] = "lee".into());
    refused(422, "", &|b| b["decision"] = "timeout".into());
    refused(422, "", &|b| {
        b["decision"] = "rejected".into();
        b["comment"] = "".into();
    });
    assert_eq!(page.decide("{", &[]).0, 422);
    assert!(project.files() == before);
}

#[test]
fn without_the_option_nothing_is_decided() {
    let project = Project::new(Form::Sqlite);
    project.create("deploy", &[]);
    let page = Page::open(&project, &[]);
    assert_eq!(page.token, "", "{}", page.html);
    let body = asked(&project, "deploy", "approved").to_string();
    let before = project.files();
    assert_eq!(page.decide(&body, &[]).0, 404);
    // Without `--allow-decisions`, the route for decisions does not exist.
    assert_eq!(page.send("GET", "decide", &[], "").0, 404);
    assert!(project.files() == before);
}

#[test]
fn a_server_that_could_record_nothing_does_not_start() {
    let project = Project::new(Form::Sqlite);
    project.create("deploy", &["--allow", "raymond"]);
    let run = project.run.clone();
    let shared = project.dir.path().join("run.zip").display().to_string();
    project.expect(0, &["share", &run, "-o", &shared]);
    for (code, args) in [
        (2, &["view", &run, "--allow-decisions"][..]),
        (2, &["view", &run, "--as", "raymond"]),
        (2, &["view", &run, "--allow-decisions", "--as", " "]),
        (4, &["view", &run, "--allow-decisions", "--as", "system"]),
        (
            4,
            &["view", &shared, "--allow-decisions", "--as", "raymond"],
        ),
        (
            2,
            &[
                "view",
                &run,
                &shared,
                "--allow-decisions",
                "--as",
                "raymond",
            ],
        ),
        (
            2,
            &["view", ".prose", "--allow-decisions", "--as", "a\u{202e}b"],
        ),
    ] {
        project.expect(code, args);
    }
    // This name would end the attribute that contains it, unless the page escapes the name.
    let page = Page::open(&project, &["--allow-decisions", "--as", "\"><script>&"]);
    assert!(
        page.html
            .contains("data-as=\"&quot;&gt;&lt;script&gt;&amp;\"")
    );
    let body = asked(&project, "deploy", "approved").to_string();
    let (status, said) = page.decide(&body, &[]);
    assert_eq!(status, 409, "{said}");
    assert!(said.contains("gate-not-allowed"), "{said}");
}

/// A page of a shared copy records nothing. It shows the commands that decide in the run.
#[test]
fn a_page_of_a_shared_copy_names_the_commands_that_decide_in_the_run() {
    in_both_forms(|project| {
        let run = project.run.clone();
        project.create("deploy", &["--allow", "raymond"]);
        let shared = project.dir.path().join("run.zip").display().to_string();
        project.expect(0, &["share", &run, "-o", &shared]);
        let copy = Project {
            dir: tempfile::tempdir().expect("a folder"),
            form: project.form,
            run: shared,
        };
        let page = Page::open(&copy, &[]);
        let ask = |request: &Value| {
            let (status, said) = page.send("POST", "desk/1", &[], &request.to_string());
            assert_eq!(status, 200, "{said}");
            serde_json::from_str::<Value>(&said).expect("JSON")
        };
        let opened = ask(&json!("open_served"));
        let place = &opened["list"]["runs"][0]["place"];
        let view = ask(&json!({"page": {"place": place, "page": "gates"}}));
        let gate = &view["gates"][0];
        assert_eq!(
            gate["reject_command"],
            format!("prosescope reject {run} deploy --reason TEXT --as NAME")
        );
        let command = format!("prosescope approve {run} deploy --as NAME");
        assert_eq!(gate["approve_command"], command);
        let command = command.replace("NAME", "raymond");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        project.expect(0, &words);
    });
}
