//! A connection to a browser by DevTools (Chromium) or WebDriver BiDi (Firefox): commands with answers, and the
//! events between them. Messages have the same form in both protocols.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

use crate::work::PATIENCE;

/// The longest time that one read of the socket blocks. It is short, so that deadlines are met.
const TICK: Duration = Duration::from_millis(20);

/// Events of the browser during the test, from the page and its workers.
#[derive(Default)]
pub(super) struct Log {
    /// The requested URLs, in order.
    pub(super) requests: Vec<String>,
    /// Errors on the console, uncaught exceptions, refused resources.
    pub(super) errors: Vec<String>,
    /// The texts of dialogs; each dialog is dismissed at once.
    pub(super) dialogs: Vec<String>,
    /// Windows and frames that the page opened, by address if it is known.
    pub(super) opened: Vec<String>,
    /// The sessions of the page's workers, the oldest first.
    pub(super) workers: Vec<String>,
    /// The file input whose dialog was intercepted and that waits for files.
    pub(super) chooser: Option<Value>,
    /// The downloads of the page, the oldest first.
    pub(super) downloads: Vec<Download>,
    /// The events of the trace that is being recorded.
    pub(super) trace: Vec<Value>,
    /// Whether the recording has ended.
    pub(super) is_traced: bool,
}

/// A file that the page offered for download.
#[derive(Debug)]
pub(super) struct Download {
    /// The browser's id of the download.
    id: String,
    name: String,
    is_complete: bool,
}

impl Log {
    /// Returns whether a file of this name was downloaded whole.
    pub(super) fn has_downloaded(&self, name: &str) -> bool {
        let mut downloads = self.downloads.iter();
        downloads.any(|download| download.name == name && download.is_complete)
    }
}

/// A connection to one browser.
pub(super) struct DevTools {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    pub(super) log: Log,
}

impl DevTools {
    /// Connects to the browser's endpoint at this port: `/devtools/browser/…` (Chromium) or `/session` (Firefox).
    pub(super) fn connect(port: u16, path: &str) -> DevTools {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the browser listens");
        stream.set_read_timeout(Some(TICK)).expect("a read timeout");
        stream.set_nodelay(true).expect("no delay");
        // A read timeout interrupts the handshake, so the loop resumes the handshake until the deadline.
        let url = format!("ws://127.0.0.1:{port}{path}");
        let deadline = Instant::now() + PATIENCE;
        // The browser repeats a large script that it was given, such as one with a whole WebAssembly module.
        let no_limit = WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let mut handshake = tungstenite::client::client_with_config(url, stream, Some(no_limit));
        let (socket, _) = loop {
            match handshake {
                Ok(done) => break done,
                Err(tungstenite::HandshakeError::Interrupted(half))
                    if Instant::now() < deadline =>
                {
                    handshake = half.handshake();
                }
                Err(e) => panic!("the browser refused the connection: {e}"),
            }
        };
        DevTools {
            socket,
            last_id: 0,
            log: Log::default(),
        }
    }

    /// Calls a method in a session and returns its result.
    ///
    /// # Errors
    /// The protocol's error message, or a message that the connection to the browser is closed.
    pub(super) fn try_call(
        &mut self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, String> {
        let id = self.send(session, method, &params)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(message) = self.read(deadline)? else {
                return Err(format!(
                    "{method}: no answer within {} s",
                    PATIENCE.as_secs()
                ));
            };
            if message["id"] == id {
                return match &message["error"] {
                    Value::Null => Ok(message["result"].clone()),
                    // BiDi has the error's name in `error`, and the error's message in a field beside it.
                    error => {
                        let said = error["message"].as_str().or(message["message"].as_str());
                        Err(format!("{method}: {}", said.unwrap_or("error")))
                    }
                };
            }
        }
    }

    /// Reads incoming messages for at most `time`, so that the log is up to date.
    pub(super) fn settle(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while matches!(self.read(deadline), Ok(Some(_))) {}
    }

    fn send(&mut self, session: &str, method: &str, params: &Value) -> Result<u64, String> {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        self.socket
            .send(Message::text(message.to_string()))
            .map_err(|e| format!("{method}: {e}"))?;
        Ok(self.last_id)
    }

    /// Returns the next message, and logs the events that arrive before it. Returns `None` at the deadline.
    fn read(&mut self, deadline: Instant) -> Result<Option<Value>, String> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let message: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
                    if message["id"].is_null() {
                        self.event(&message);
                    }
                    return Ok(Some(message));
                }
                Ok(_) => {}
                Err(Error::Io(e))
                    if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if Instant::now() >= deadline {
                        return Ok(None);
                    }
                }
                Err(e) => return Err(format!("the browser has gone: {e}")),
            }
        }
    }

    fn event(&mut self, message: &Value) {
        let params = &message["params"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match message["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => self.log.requests.push(text(&params["request"]["url"])),
            "Network.webSocketCreated" | "Network.webTransportCreated" => {
                self.log.requests.push(text(&params["url"]));
            }
            "Page.windowOpen" => self.log.opened.push(text(&params["url"])),
            "Page.frameAttached" => self.log.opened.push("a frame".to_owned()),
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let said = &details["exception"]["description"];
                self.log.errors.push(text(if said.is_null() {
                    &details["text"]
                } else {
                    said
                }));
            }
            "Runtime.consoleAPICalled"
                if matches!(params["type"].as_str(), Some("error" | "assert")) =>
            {
                let parts = params["args"].as_array().into_iter().flatten();
                let words = parts.map(|arg| match &arg["value"] {
                    Value::String(s) => s.clone(),
                    Value::Null => text(&arg["description"]),
                    other => other.to_string(),
                });
                self.log.errors.push(words.collect::<Vec<_>>().join(" "));
            }
            // Only this event reports resources that the CSP or the browser refused, such as files.
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                self.log
                    .errors
                    .push(format!("{} {}", text(&entry["text"]), text(&entry["url"])));
            }
            "log.entryAdded" if params["level"] == "error" => {
                self.log.errors.push(text(&params["text"]));
            }
            "Page.javascriptDialogOpening" => {
                self.log.dialogs.push(text(&params["message"]));
                let session = text(&message["sessionId"]);
                let _ = self.send(
                    &session,
                    "Page.handleJavaScriptDialog",
                    &json!({"accept": false}),
                );
            }
            "Page.fileChooserOpened" => self.log.chooser = Some(params["backendNodeId"].clone()),
            "Browser.downloadWillBegin" => {
                self.log.downloads.push(Download {
                    id: text(&params["guid"]),
                    name: text(&params["suggestedFilename"]),
                    is_complete: false,
                });
            }
            "Browser.downloadProgress" if params["state"] == "completed" => {
                let id = text(&params["guid"]);
                let same = self.log.downloads.iter_mut().filter(|d| d.id == id);
                same.for_each(|download| download.is_complete = true);
            }
            "Tracing.dataCollected" => {
                let events = params["value"].as_array().into_iter().flatten();
                self.log.trace.extend(events.cloned());
            }
            "Tracing.tracingComplete" => self.log.is_traced = true,
            "Target.attachedToTarget" if params["targetInfo"]["type"] == "worker" => {
                let session = text(&params["sessionId"]);
                for domain in ["Runtime.enable", "Network.enable", "Log.enable"] {
                    let _ = self.send(&session, domain, &json!({}));
                }
                let _ = self.send(&session, "Runtime.runIfWaitingForDebugger", &json!({}));
                self.log.workers.push(session);
            }
            "Target.detachedFromTarget" => {
                let ended = text(&params["sessionId"]);
                self.log.workers.retain(|session| *session != ended);
            }
            _ => {}
        }
    }
}
