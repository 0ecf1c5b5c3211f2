//! Runs the web worker: keeps the dropped files, and passes the page's requests to a desk, one after the other.
//!
//! A request arrives as the message `{ id, body, files, viewer }`. `body` is a [`Request`] as JSON, `files` contains
//! pairs of path and browser file if the request opens files, and `viewer` is the page's HTML for sharing. The answer
//! is `{ id, ok, blob }` or `{ id, error }`. Before the answer, messages `{ id, part }` may report progress.

mod example;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gloo_events::EventListener;
use js_sys::{Array, Object, Reflect, Uint8Array};
use prosescope_core::pages::session::ValueOf;
use prosescope_desk::{Desk, DeskSource, ScanProgress};
use prosescope_share::file::SharedForm;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, Event, MessageEvent};

use crate::bytes::WebSource;
use crate::protocol::{Request, Stats, Trouble};

/// An answer to a request: JSON and, if requested, a blob.
struct WorkerAnswer {
    json: String,
    blob: Option<web_sys::Blob>,
}

/// The desk with the open source.
struct OpenDesk {
    desk: Desk,
    /// The open shared run as a file that the user can save; `None` unless a single shared file is open.
    save: Option<web_sys::Blob>,
    /// The open source; `None` for the example.
    source: Option<Rc<WebSource>>,
}

/// Starts to answer requests. Called once, when the wasm file starts in a worker.
pub(crate) fn run(scope: DedicatedWorkerGlobalScope) {
    let worker = Rc::new(AnsweringWorker {
        scope: scope.clone(),
        open: RefCell::new(OpenDesk {
            desk: Desk::new(now),
            save: None,
            source: None,
        }),
        waiting: RefCell::new(None),
    });
    let on_message = move |event: &Event| {
        let data = event.dyn_ref().map(MessageEvent::data).unwrap_or_default();
        let asked = AskedMessage::of(data);
        if let Some(waiting) = &mut *worker.waiting.borrow_mut() {
            return waiting.push_back(asked);
        }
        match worker.reading(&asked) {
            None => worker.answer(asked),
            Some(reading) => {
                worker.waiting.replace(Some(VecDeque::new()));
                let answering = Rc::clone(&worker).answer_all(asked, reading);
                wasm_bindgen_futures::spawn_local(answering);
            }
        }
    };
    EventListener::new(&scope, "message", on_message).forget();
    post(&scope, &[("ready", JsValue::TRUE)]);
}

/// A message of the page, and the request in it.
struct AskedMessage {
    data: JsValue,
    request: serde_json::Result<Request>,
}

impl AskedMessage {
    fn of(data: JsValue) -> AskedMessage {
        let body = Reflect::get(&data, &"body".into()).unwrap_or_default();
        let request = serde_json::from_str(&body.as_string().unwrap_or_default());
        AskedMessage { data, request }
    }
}

struct AnsweringWorker {
    scope: DedicatedWorkerGlobalScope,
    open: RefCell<OpenDesk>,
    /// The messages that wait while an earlier one waits for a file; `None` if no message waits for a file.
    waiting: RefCell<Option<VecDeque<AskedMessage>>>,
}

impl AnsweringWorker {
    /// Returns what must be read before a message is answered; `None` for nearly all messages.
    fn reading(&self, asked: &AskedMessage) -> Option<impl Future<Output = ()> + use<>> {
        let Ok(Request::First { place }) = &asked.request else {
            return None;
        };
        let open = self.open.borrow();
        open.source.as_ref()?.read_rows(place)
    }

    /// Answers a message when its file is read, then those that came meanwhile.
    async fn answer_all(self: Rc<Self>, asked: AskedMessage, reading: impl Future<Output = ()>) {
        reading.await;
        self.answer(asked);
        loop {
            let next = self
                .waiting
                .borrow_mut()
                .as_mut()
                .and_then(VecDeque::pop_front);
            let Some(asked) = next else { break };
            if let Some(reading) = self.reading(&asked) {
                reading.await;
            }
            self.answer(asked);
        }
        self.waiting.replace(None);
    }

    fn answer(&self, AskedMessage { data, request }: AskedMessage) {
        let get = |key: &str| Reflect::get(&data, &key.into()).unwrap_or_default();
        let given = RequestData {
            files: &|| files_of(&get("files")),
            viewer: &|| get("viewer").as_string(),
            watch: &|| {
                let (scope, id) = (self.scope.clone(), get("id"));
                Box::new(move |seen, of| {
                    let part = seen as f64 / (of as f64).max(1.0);
                    post(&scope, &[("id", id.clone()), ("part", part.into())]);
                })
            },
        };
        let answer = match request {
            Ok(request) => answer(&mut self.open.borrow_mut(), request, &given),
            Err(error) => Err(Trouble::defect(&format!(
                "the worker could not read the request: {error}"
            ))),
        };
        let mut message = vec![("id", get("id"))];
        match answer {
            Ok(answer) => {
                message.push(("ok", answer.json.into()));
                message.extend(answer.blob.map(|blob| ("blob", blob.into())));
            }
            Err(trouble) => {
                let json = serde_json::to_string(&trouble).unwrap_or_default();
                message.push(("error", json.into()));
            }
        }
        post(&self.scope, &message);
    }
}

/// The data that came with a request beside its JSON, and the means to report progress.
struct RequestData<'a> {
    files: &'a dyn Fn() -> Vec<(String, web_sys::File)>,
    /// Returns the HTML of the viewer's page, from which a shared page is built.
    viewer: &'a dyn Fn() -> Option<String>,
    /// Returns a function that reports progress.
    watch: &'a dyn Fn() -> ScanProgress,
}

/// Answers a request.
fn answer(
    open: &mut OpenDesk,
    request: Request,
    given: &RequestData<'_>,
) -> Result<WorkerAnswer, Trouble> {
    let OpenDesk { desk, save, source } = open;
    let request = match request {
        Request::LookToShare { places, wishes } => {
            let looked = desk.look_to_share(&places, &wishes, (given.watch)())?;
            let json = serde_json::to_string(&looked).unwrap_or_default();
            return Ok(WorkerAnswer { json, blob: None });
        }
        Request::Share {
            places,
            wishes,
            form,
        } => {
            let viewer = match form {
                SharedForm::Html => (given.viewer)(),
                SharedForm::Zip | SharedForm::Db => None,
            };
            let watch = (given.watch)();
            let bytes = desk.share(&places, &wishes, form, viewer.as_deref(), watch)?;
            let parts = Array::of1(&Uint8Array::from(bytes.as_slice()));
            let blob = web_sys::Blob::new_with_u8_array_sequence(&parts).map_err(no_room)?;
            let json = String::from("null");
            return Ok(WorkerAnswer {
                json,
                blob: Some(blob),
            });
        }
        other => other,
    };
    if let Request::Download { place, of } = &request {
        let blob = Some(download(desk, place, of)?);
        let json = String::from("null");
        return Ok(WorkerAnswer { json, blob });
    }
    if request == Request::SaveShared {
        let blob = save.clone();
        let json = String::from("null");
        return Ok(WorkerAnswer { json, blob });
    }
    let is_stats = request == Request::Stats;
    let opens = matches!(request, Request::OpenFiles { .. } | Request::OpenExample);
    let (mut saved, mut opened) = (None, None);
    let json = desk.answer(request, &mut |request| match request {
        Request::OpenFiles { label, missing } => {
            let (source, save) = WebSource::of_files(label.clone(), (given.files)(), missing);
            let source = Rc::new(source);
            (saved, opened) = (save, Some(Rc::clone(&source)));
            Ok(source as Rc<dyn DeskSource>)
        }
        Request::OpenExample => Ok(Rc::new(example::source())),
        _ => Err(Trouble::defect(
            "the worker got a request that only a server can answer",
        )),
    })?;
    if opens {
        (*save, *source) = (saved, opened);
    }
    let json = match is_stats {
        true => with_memory(desk),
        false => json,
    };
    Ok(WorkerAnswer { json, blob: None })
}

/// Returns a whole value as a blob. The value is read in pieces, and the browser keeps the blob outside of the wasm
/// memory.
fn download(desk: &mut Desk, place: &str, of: &ValueOf) -> Result<web_sys::Blob, Trouble> {
    let mut whole = web_sys::Blob::new();
    desk.download(place, of, &mut |bytes| {
        if let Ok(before) = &whole {
            let parts = Array::of2(before, &Uint8Array::from(bytes));
            whole = web_sys::Blob::new_with_u8_array_sequence(&parts);
        }
        whole.is_ok()
    })?;
    whole.map_err(no_room)
}

fn no_room(_: JsValue) -> Trouble {
    Trouble::new(
        "The browser has too little memory for this download.",
        "Close other tabs, or use the command line.",
    )
}

/// Returns [`Stats`] as JSON: the number of reads so far, and the size of this worker's wasm memory.
fn with_memory(desk: &Desk) -> String {
    let memory: Option<js_sys::WebAssembly::Memory> = wasm_bindgen::memory().dyn_into().ok();
    let buffer: Option<js_sys::ArrayBuffer> = memory.and_then(|m| m.buffer().dyn_into().ok());
    let stats = Stats {
        counters: desk.counters(),
        memory: buffer.map_or(0, |b| u64::from(b.byte_length())),
    };
    serde_json::to_string(&stats).unwrap_or_default()
}

fn now() -> i64 {
    js_sys::Date::now() as i64
}

fn files_of(pairs: &JsValue) -> Vec<(String, web_sys::File)> {
    let pairs: &Array = pairs.unchecked_ref();
    let read = |pair: JsValue| {
        let pair: Array = pair.dyn_into().ok()?;
        Some((pair.get(0).as_string()?, pair.get(1).dyn_into().ok()?))
    };
    pairs.iter().filter_map(read).collect()
}

fn post(scope: &DedicatedWorkerGlobalScope, pairs: &[(&str, JsValue)]) {
    let message = Object::new();
    for (key, value) in pairs {
        // Setting a property of a new object, and posting strings and blobs, cannot fail.
        let _ = Reflect::set(&message, &(*key).into(), value);
    }
    let _ = scope.post_message(&message);
}
