//! Tests `prosescope workflow serve` with independent clients across restarts: the WebSocket of npm's `ws`, and a page in
//! Chromium with a WebSocket and an `EventSource`. Also tests thousands of idle connections from another process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use prosescope_tests::browser::Page;
use prosescope_tests::needs;
use serde_json::Value;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A project with a workflow, and its server. The tests restart the server several times.
struct Served {
    folder: tempfile::TempDir,
    prose: PathBuf,
    address: SocketAddr,
    origin: String,
    workflow: String,
    child: Option<Child>,
}

impl Served {
    fn new(prose: PathBuf, origin: &str) -> Served {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".prose")).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
        let mut served = Served {
            folder,
            prose,
            address: free.unwrap(),
            origin: origin.to_owned(),
            workflow: String::new(),
            child: None,
        };
        let begun = served.say(&["workflow", "start", "--input", "x", "--json"]);
        let begun: Value = serde_json::from_str(&begun).unwrap();
        served.workflow = begun["workflow_id"].as_str().unwrap().to_owned();
        served.start();
        served
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("PROSE_SERVE_TOKEN", TOKEN)
            .env_remove("PROSE_WORKFLOWS");
        command
    }

    fn say(&self, args: &[&str]) -> String {
        let out = self.command(args).output().unwrap();
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap()
    }

    fn start(&mut self) {
        let listen = self.address.to_string();
        let mut command = self.command(&[
            "workflow",
            "serve",
            "--listen",
            &listen,
            "--rate",
            "0",
            "--origin",
            &self.origin,
        ]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        lines.read_line(&mut said).unwrap();
        assert!(said.starts_with("serving"), "{said}");
        thread::spawn(move || lines.read_to_string(&mut String::new()));
        self.child = Some(child);
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn append(&self, from: u32, to: u32) {
        for n in from..to {
            self.say(&[
                "workflow",
                "events",
                "append",
                &self.workflow,
                "--text",
                &n.to_string(),
            ]);
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_websocket_client_of_npm_follows_across_restarts() {
    let (Some(prose), Some(node)) = (needs::prose(), needs::node()) else {
        return;
    };
    let mut served = Served::new(prose, "http://nowhere.example");
    let script = needs::root().join("tests/js/follow.mjs");
    let client = Command::new(node)
        .arg(script)
        .args([&served.address.to_string(), &served.workflow, TOKEN, "60"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for part in 0..3 {
        served.append(20 * part, 20 * part + 10);
        served.kill();
        served.append(20 * part + 10, 20 * part + 20);
        served.start();
    }
    let out = client.wait_with_output().unwrap();
    let ids: Vec<u32> = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(ids, (1..=60).collect::<Vec<u32>>());
}

#[test]
fn a_page_follows_across_restarts() {
    let (Some(prose), Some(chromium)) = (needs::prose(), needs::chromium()) else {
        return;
    };
    let site = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", site.local_addr().unwrap());
    let mut served = Served::new(prose, &origin);
    let page = include_str!("serve.html")
        .replace("ADDRESS", &served.address.to_string())
        .replace("WORKFLOW", &served.workflow)
        .replace("TOKEN", TOKEN);
    thread::spawn(move || {
        for mut stream in site.incoming().map_while(Result::ok) {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
        }
    });
    let mut page = Page::open(&chromium, &origin);
    for part in 0..2 {
        served.append(20 * part, 20 * part + 10);
        served.kill();
        served.append(20 * part + 10, 20 * part + 20);
        served.start();
    }
    let all: Vec<u32> = (1..=40).collect();
    for way in ["socket", "source"] {
        page.wait(&format!("{way}.length >= 40"));
        assert_eq!(page.eval(way), serde_json::json!(all), "{way}");
    }
    // The server refuses a wrong token, although the page's origin is allowed.
    let refused = page.eval(&format!("fetch('http://{}/workflows', {{headers: {{Authorization: 'Bearer x'}}}}).then(r => r.status)", served.address));
    assert_eq!(refused, 401);
}

/// Checks that five thousand idle connections do not block other clients. A Python process opens the connections,
/// because one process may not open enough files for both ends.
#[cfg(target_os = "linux")]
#[test]
fn five_thousand_idle_connections_leave_others_answered() {
    let (Some(prose), Some(python)) = (needs::prose(), needs::python()) else {
        return;
    };
    let served = Served::new(prose, "http://nowhere.example");
    let child = served.child.as_ref().unwrap();
    let out = Command::new(python)
        .arg(needs::root().join("tests/python/idle.py"))
        .args([&served.address.to_string(), TOKEN, &child.id().to_string()])
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let said: Value = serde_json::from_slice(&out.stdout).unwrap();
    println!("{said}");
    assert_eq!(said["connections"], 5000);
    let megabytes = said["megabytes"].as_u64().unwrap();
    assert!(megabytes < 200, "{said}");
}
