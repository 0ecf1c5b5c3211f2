//! Tests of the workflow server over real sockets.

mod abuse;
#[path = "../../../cli/tests/shared/actions.rs"]
mod actions;
#[path = "../../../core/tests/stores/workflows.rs"]
mod conformance;
mod described;
mod requests;
mod streams;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use prosescope_core::record::Fault;
use prosescope_serve::{Access, Limits, Wake, WorkflowServer, Workplace};
use prosescope_store::WorkflowStore;
use prosescope_workflow::Tables;
use serde_json::Value;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

struct Place(PathBuf, Arc<Mutex<Vec<String>>>);

impl Workplace for Place {
    fn open(&self) -> Result<Box<dyn Tables + Send>, Fault> {
        Ok(Box::new(WorkflowStore::open(&self.0)?))
    }

    fn wake(&self) -> Option<Box<dyn Wake>> {
        None
    }

    fn failed(&self, fault: &Fault) {
        self.1.lock().unwrap().push(fault.to_string());
    }
}

/// A server with its own database.
pub(crate) struct Site {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    /// The faults reported to the operator.
    pub(crate) failures: Arc<Mutex<Vec<String>>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

pub(crate) fn access() -> Access {
    Access {
        token: Some(TOKEN.to_owned()),
        hosts: vec!["prose.example".to_owned()],
        origins: vec!["https://app.example".to_owned()],
        rate: 0,
    }
}

impl Site {
    pub(crate) fn new() -> Site {
        Site::with(access(), Limits::default())
    }

    pub(crate) fn with(access: Access, limits: Limits) -> Site {
        let folder = tempfile::tempdir().unwrap();
        drop(WorkflowStore::set_up(&folder.path().join("workflows.db")).unwrap());
        let mut site = Site {
            folder,
            address: ([127, 0, 0, 1], 0).into(),
            failures: Arc::default(),
            stop: None,
            thread: None,
        };
        site.start(access, limits);
        site
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("workflows.db")
    }

    pub(crate) fn store(&self) -> WorkflowStore {
        WorkflowStore::open(&self.file()).unwrap()
    }

    /// Starts the server; a restart uses the same address as before.
    pub(crate) fn start(&mut self, access: Access, limits: Limits) {
        let place = Arc::new(Place(self.file(), Arc::clone(&self.failures)));
        let server = WorkflowServer::listen(self.address, place, access, limits).unwrap();
        self.address = server.address().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        self.stop = Some(stop);
        self.thread = Some(std::thread::spawn(move || {
            let stopped = async {
                let _ = stopped.await;
            };
            server.run(|| stopped, || ()).unwrap();
        }));
    }

    /// Stops the server in the same way as a signal such as SIGTERM.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream
    }

    /// Sends a request with these headers, and returns the answer.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut stream = self.connect();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        let host = self.address.to_string();
        for (name, value) in [("Host", host.as_str())].iter().chain(headers) {
            let last = headers.iter().rev().find(|(other, _)| other == name);
            if last.is_none_or(|(_, last)| last == value) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        // The write may fail, because the server may refuse the request before it has read everything.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let reply = Reply::read(stream);
        described::check(method, path, &reply);
        reply
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[("Authorization", &bearer())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        let headers = [
            ("Authorization", bearer()),
            ("Content-Type", "application/json".to_owned()),
        ];
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        self.ask("POST", path, &headers, &body.to_string())
    }

    /// Begins a workflow; returns the workflow's id and its run's id.
    pub(crate) fn begin(&self) -> (String, String) {
        let begun = self.post(
            "/workflow/start",
            &serde_json::json!({"input": "Which reef?"}),
        );
        assert_eq!(begun.status, 200, "{}", begun.body);
        let begun = begun.json();
        let id = |key: &str| begun[key].as_str().unwrap().to_owned();
        (id("workflow_id"), id("run_id"))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

pub(crate) fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn read(stream: TcpStream) -> Reply {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) if line == "\r\n" => break,
                Ok(_) => head.push_str(&line),
            }
        }
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")
                .and_then(|n| n.parse::<usize>().ok())
        });
        let mut body = Vec::new();
        match length {
            Some(length) => {
                body.resize(length, 0);
                let _ = reader.read_exact(&mut body);
            }
            None => {
                let _ = reader.read_to_end(&mut body);
            }
        }
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Reply {
            status: status.unwrap_or_default(),
            head,
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|cause| panic!("{cause}: {self:?}"))
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.to_owned())
    }

    /// Checks that the answer is a problem as in RFC 9457, and returns it.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.header("content-type").as_deref(),
            Some("application/problem+json")
        );
        let problem = self.json();
        assert_eq!(problem["status"], status);
        for key in ["type", "title", "detail"] {
            assert!(problem[key].is_string(), "{key}: {problem}");
        }
        problem
    }
}
