//! Sends the page's requests to a desk and returns the answers as futures.
//!
//! There are two desks. The desk in the worker reads dropped files and the example. The desk in the local server reads
//! files on the disk ([`crate::served`]). Requests go to the desk that opened the current source.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures_channel::oneshot;
use gloo_events::{EventListener, EventListenerOptions};
use js_sys::{Array, Function, Object, Reflect};
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, Event, MessageEvent, Worker};

use prosescope_desk::first::AnsweredRequest;

use crate::protocol::{LookedThrough, Request, Trouble};
use crate::script;
use crate::served::ServedDesk;

/// The answer to a request: the JSON of a view struct and, if requested, a blob.
type ClientAnswer = Result<(String, Option<web_sys::Blob>), Trouble>;

/// The desks that can answer requests: the worker's and the server's.
#[derive(Clone, Default)]
pub(crate) struct Client {
    worker: InWorker,
    server: ServedDesk,
    /// Whether the current source was opened by the server's desk.
    served: Rc<Cell<bool>>,
    /// The worker of the rehearsal ([`crate::ui::rehearsal`]).
    unseen: InWorker,
    /// Whether the page has sent a request. The rehearsal then stops.
    asked: Rc<Cell<bool>>,
    /// A separate worker for sharing, so that the user can continue to read and can stop the sharing at any time.
    sharer: InWorker,
    /// A separate worker for SQL. A busy worker receives no messages, so the only way to stop a query is to end its
    /// worker.
    asker: InWorker,
    /// Requests whose answers arrived together with an earlier answer. They stay true until the source is opened or read
    /// again.
    known: Rc<RefCell<Vec<AnsweredRequest>>>,
    /// Counts the openings and rereadings of the source.
    edition: Rc<Cell<u32>>,
}

/// A web worker. It is started at the latest by the first request, and again by the first request after it stopped or
/// failed.
#[derive(Clone, Default)]
struct InWorker {
    inner: Rc<RefCell<ClientInner>>,
}

/// A request that waits for its answer.
struct Pending {
    sender: oneshot::Sender<ClientAnswer>,
    /// The callback for the progress; `None` if the page shows no progress.
    watch: Option<ProgressCallback>,
}

/// A callback that receives the progress, from 0 to 1.
pub(crate) type ProgressCallback = Rc<dyn Fn(f64)>;

/// The data that a request to a worker needs beside its JSON.
#[derive(Default)]
struct With<'a> {
    files: &'a [(String, web_sys::File)],
    viewer: Option<String>,
    watch: Option<ProgressCallback>,
}

#[derive(Default)]
struct ClientInner {
    worker: Option<Worker>,
    /// The number of times that the worker was stopped. Answers of a worker with an earlier number are ignored.
    generation: u32,
    ready: bool,
    queue: Vec<JsValue>,
    pending: BTreeMap<u32, Pending>,
    next: u32,
}

impl Client {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The desk's error, or an error that the worker or server has stopped.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<T, Trouble> {
        self.ask_with(request, Vec::new()).await
    }

    /// Sends a request with files that the worker may read.
    pub(crate) async fn ask_with<T: DeserializeOwned>(
        &self,
        request: &Request,
        files: Vec<(String, web_sys::File)>,
    ) -> Result<T, Trouble> {
        if !self.asked.replace(true) {
            self.unseen.stop();
        }
        if let Some(answer) = self.known(request) {
            return Ok(answer);
        }
        let opens = match request {
            Request::OpenServed => Some(true),
            Request::OpenFiles { .. } | Request::OpenExample => Some(false),
            _ => None,
        };
        let served = opens.unwrap_or_else(|| self.served.get());
        let json = match served {
            true => self.server.ask(request).await?,
            false => {
                let with = With {
                    files: &files,
                    ..With::default()
                };
                self.worker.answer(request, with).await?.0
            }
        };
        let answer = read(&json)?;
        // This line is reached only after success. After a failed opening, the previous source stays open, with its SQL
        // worker.
        if opens.is_some() {
            self.asker.stop();
            self.served.set(served);
        }
        if opens.is_some() || matches!(request, Request::Follow { .. }) {
            self.known.take();
            self.edition.set(self.edition.get() + 1);
        }
        Ok(answer)
    }

    /// Returns the answer to a request if it arrived together with an earlier answer.
    pub(crate) fn known<T: DeserializeOwned>(&self, request: &Request) -> Option<T> {
        let known = self.known.borrow();
        let known = known.iter().find(|known| known.request == *request)?;
        read(known.answer.get()).ok()
    }

    /// Stores answers to requests that the page will send.
    pub(crate) fn know(&self, known: Vec<AnsweredRequest>) {
        self.known.replace(known);
    }

    /// Forgets the stored answers, which time made untrue.
    pub(crate) fn forget(&self) {
        self.known.take();
    }

    /// Requests all that the screen of a run shows first, and stores it, unless the source was opened or read again
    /// meanwhile.
    pub(crate) async fn learn(&self, place: String) -> Result<(), Trouble> {
        let edition = self.edition.get();
        let known = self.ask(&Request::First { place }).await?;
        if self.edition.get() == edition {
            self.know(known);
        }
        Ok(())
    }

    /// Sends a request whose answer is a blob.
    pub(crate) async fn blob(&self, request: &Request) -> Result<web_sys::Blob, Trouble> {
        if self.served.get() {
            return self.server.blob(request).await;
        }
        let (_, blob) = self.worker.answer(request, With::default()).await?;
        blob.ok_or_else(no_file)
    }

    /// Scans runs for sharing. If the worker's desk is in use, `open` opens the runs in the sharing worker first.
    pub(crate) async fn look_to_share(
        &self,
        open: Opening,
        request: &Request,
        watch: ProgressCallback,
    ) -> Result<LookedThrough, Trouble> {
        if self.served.get() {
            return read(&self.server.ask(request).await?);
        }
        let (json, _) = self.shared(open, request, watch, None).await?;
        read(&json)
    }

    /// Returns the shared file.
    pub(crate) async fn share(
        &self,
        open: Opening,
        request: &Request,
        watch: ProgressCallback,
    ) -> Result<web_sys::Blob, Trouble> {
        if self.served.get() {
            return self.server.blob(request).await;
        }
        let (_, blob) = self.shared(open, request, watch, viewer()).await?;
        blob.ok_or_else(no_file)
    }

    async fn shared(
        &self,
        (open, files): Opening,
        request: &Request,
        watch: ProgressCallback,
        viewer: Option<String>,
    ) -> ClientAnswer {
        if !self.sharer.is_running() {
            let with = With {
                files: &files,
                ..With::default()
            };
            self.sharer.answer(&open, with).await?;
        }
        let with = With {
            viewer,
            watch: Some(watch),
            ..With::default()
        };
        self.sharer.answer(request, with).await
    }

    /// Runs an SQL query. If the worker's desk is in use, `open` opens the run in the SQL worker first.
    pub(crate) async fn query<T: DeserializeOwned>(
        &self,
        (open, files): Opening,
        request: &Request,
    ) -> Result<T, Trouble> {
        if self.served.get() {
            return read(&self.server.ask(request).await?);
        }
        if !self.asker.is_running() {
            let with = With {
                files: &files,
                ..With::default()
            };
            self.asker.answer(&open, with).await?;
        }
        let (json, _) = self.asker.answer(request, With::default()).await?;
        read(&json)
    }

    /// Stops the SQL query in the worker. A query in the server cannot be stopped; it ends at the server's time limit.
    pub(crate) fn stop_query(&self) {
        self.asker.stop();
    }

    /// Stops sharing.
    pub(crate) fn stop_sharing(&self) {
        self.sharer.stop();
    }

    /// Starts the worker before the first request, so that the first opening need not wait for the start. If the worker
    /// cannot start, the first request reports the error.
    pub(crate) fn start(&self) {
        let _ = self.worker.start();
    }

    /// Returns a client with a worker of its own, which ends with this client's first request.
    pub(crate) fn unseen(&self) -> Client {
        Client {
            worker: self.unseen.clone(),
            asked: Rc::new(Cell::new(true)),
            ..Client::default()
        }
    }

    /// Returns whether the page has sent a request.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.get()
    }

    /// Stops the worker and abandons the server's desk. Every waiting request gets an error.
    pub(crate) fn stop(&self) {
        self.worker.stop();
        self.server.stop();
    }
}

/// The request that opens the current source again in another worker, and the files that it needs.
pub(crate) type Opening = (Request, Vec<(String, web_sys::File)>);

/// Returns the page's own HTML, from which a shared page is built.
fn viewer() -> Option<String> {
    script::call("prosescopeViewer", &JsValue::NULL)?.as_string()
}

fn no_file() -> Trouble {
    Trouble::defect("the worker's answer contains no file")
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, Trouble> {
    serde_json::from_str(json)
        .map_err(|e| Trouble::defect(&format!("the worker's answer could not be read: {e}")))
}

impl InWorker {
    fn is_running(&self) -> bool {
        self.inner.borrow().worker.is_some()
    }

    async fn answer(&self, request: &Request, with: With<'_>) -> ClientAnswer {
        self.send(request, with)?.await.unwrap_or_else(|_| {
            Err(Trouble::new(
                "Reading was stopped.",
                "Open the file or folder again to continue.",
            ))
        })
    }

    /// Stops the worker at once; every waiting request gets an error.
    fn stop(&self) {
        let mut inner = self.inner.borrow_mut();
        if let Some(worker) = inner.worker.take() {
            worker.terminate();
        }
        inner.ready = false;
        inner.generation += 1;
        inner.queue.clear();
        inner.pending.clear();
    }

    fn send(
        &self,
        request: &Request,
        with: With<'_>,
    ) -> Result<oneshot::Receiver<ClientAnswer>, Trouble> {
        let failed = |what: &str| {
            Trouble::new(
                format!("The viewer's background worker could not be {what}."),
                "Reload the page; if that does not help, try another browser.",
            )
        };
        let body = serde_json::to_string(request).map_err(|_| failed("used"))?;
        self.start().map_err(|_| failed("started"))?;

        let mut inner = self.inner.borrow_mut();
        let id = inner.next;
        inner.next += 1;
        let message = Object::new();
        let pairs: Array = with
            .files
            .iter()
            .map(|(path, file)| Array::of2(&path.into(), file))
            .collect();
        for (key, value) in [
            ("id", JsValue::from(id)),
            ("body", body.into()),
            ("files", pairs.into()),
            ("viewer", with.viewer.map_or(JsValue::UNDEFINED, Into::into)),
        ] {
            Reflect::set(&message, &key.into(), &value).map_err(|_| failed("used"))?;
        }
        let (sender, receiver) = oneshot::channel();
        let watch = with.watch;
        inner.pending.insert(id, Pending { sender, watch });
        match (&inner.worker, inner.ready) {
            (Some(worker), true) => worker.post_message(&message).map_err(|_| failed("used"))?,
            _ => inner.queue.push(message.into()),
        }
        Ok(receiver)
    }

    fn start(&self) -> Result<(), JsValue> {
        if self.inner.borrow().worker.is_some() {
            return Ok(());
        }
        let spawn: Function =
            Reflect::get(&js_sys::global(), &"prosescopeWorker".into())?.dyn_into()?;
        let worker: Worker = spawn
            .call1(&JsValue::NULL, &wasm_bindgen::module())?
            .dyn_into()?;
        let generation = self.inner.borrow().generation;

        let client = self.clone();
        let hear = move |event: &Event| {
            if let Some(event) = event.dyn_ref::<MessageEvent>() {
                client.hear(generation, &event.data());
            }
        };
        EventListener::new(&worker, "message", hear).forget();

        let client = self.clone();
        let broke = move |event: &Event| {
            event.prevent_default();
            let said = event.dyn_ref().map(ErrorEvent::message);
            client.broke(generation, &said.unwrap_or_default());
        };
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&worker, "error", options, broke).forget();

        self.inner.borrow_mut().worker = Some(worker);
        Ok(())
    }

    fn hear(&self, generation: u32, data: &JsValue) {
        let get = |key: &str| Reflect::get(data, &key.into()).ok();
        let mut inner = self.inner.borrow_mut();
        if inner.generation != generation {
            return;
        }
        if get("ready").is_some_and(|v| v.is_truthy()) {
            inner.ready = true;
            let queue = std::mem::take(&mut inner.queue);
            if let Some(worker) = &inner.worker {
                for message in queue {
                    // `post_message` fails only for a message that cannot be cloned. These messages can be cloned, so
                    // there is no error.
                    let _ = worker.post_message(&message);
                }
            }
            return;
        }
        let Some(id) = get("id").and_then(|v| v.as_f64()) else {
            return;
        };
        let id = id as u32;
        if let Some(part) = get("part").and_then(|v| v.as_f64()) {
            let watch = inner.pending.get(&id).and_then(|of| of.watch.clone());
            drop(inner);
            if let Some(watch) = watch {
                watch(part);
            }
            return;
        }
        let Some(Pending { sender, .. }) = inner.pending.remove(&id) else {
            return;
        };
        drop(inner);
        let answer = match get("ok").and_then(|v| v.as_string()) {
            Some(ok) => Ok((ok, get("blob").and_then(|blob| blob.dyn_into().ok()))),
            None => {
                let body = get("error").and_then(|v| v.as_string()).unwrap_or_default();
                Err(serde_json::from_str(&body)
                    .unwrap_or_else(|_| Trouble::new(body, String::new())))
            }
        };
        // The error is ignored: it means that the page no longer waits for this answer.
        let _ = sender.send(answer);
    }

    fn broke(&self, generation: u32, message: &str) {
        if self.inner.borrow().generation != generation {
            return;
        }
        let pending = std::mem::take(&mut self.inner.borrow_mut().pending);
        self.stop();
        for pending in pending.into_values() {
            let _ = pending.sender.send(Err(Trouble::new(
                format!("The viewer's background worker stopped: {message}."),
                "Open the run again. If the worker stops again, please report that, with the kind of file you opened.",
            )));
        }
    }
}
