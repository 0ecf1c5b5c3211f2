//! The worker's role: it owns what was opened and answers one question after the other.

use std::cell::RefCell;

use js_sys::{Array, Object, Reflect};
use prosescope_core::source::Source as _;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::bytes::{self, WebSource};
use crate::protocol::{Request, Stats, Trouble};

/// Answers from now on; called once, when the wasm finds itself in a worker.
pub(crate) fn run(scope: DedicatedWorkerGlobalScope) {
    let desk = RefCell::new(Desk::default());
    let reply = scope.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let data = event.data();
        let get = |key: &str| Reflect::get(&data, &key.into()).unwrap_or_default();
        let body = get("body").as_string().unwrap_or_default();
        let answer = match serde_json::from_str(&body) {
            Ok(request) => desk
                .borrow_mut()
                .answer(request, || files_of(&get("files"))),
            Err(error) => Err(Trouble::new(
                format!("The question could not be read: {error}."),
                "",
            )),
        };
        let (key, body) = match answer {
            Ok(body) => ("ok", body),
            Err(trouble) => ("error", serde_json::to_string(&trouble).unwrap_or_default()),
        };
        post(&reply, &[("id", get("id")), (key, body.into())]);
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post(&scope, &[("ready", JsValue::TRUE)]);
}

/// What is open.
#[derive(Default)]
struct Desk {
    source: Option<WebSource>,
}

impl Desk {
    fn answer(
        &mut self,
        request: Request,
        files: impl FnOnce() -> Vec<(String, web_sys::File)>,
    ) -> Result<String, Trouble> {
        match request {
            Request::OpenFiles { label } => {
                self.source = Some(WebSource::of_files(label, files()));
                json(&())
            }
            Request::OpenServed { base } => {
                let listing = bytes::list_served(&base)?;
                self.source = Some(WebSource::of_server(&base, listing));
                json(&())
            }
            Request::Tables => json(&self.tables()?),
            Request::Stats => json(&self.stats()),
        }
    }

    fn tables(&self) -> Result<Vec<String>, Trouble> {
        let nothing = || Trouble::new("Nothing is open.", "Open a file.");
        let source = self.source.as_ref().ok_or_else(nothing)?;
        let is_db = |path: &str| {
            source
                .read(path, 0, 16)
                .is_ok_and(|b| b == b"SQLite format 3\0")
        };
        let file = source
            .files()
            .iter()
            .find(|f| is_db(&f.path))
            .ok_or_else(nothing)?;
        let connection = source.database(&file.path)?;
        let odd = |e: rusqlite::Error| match source.take_fault() {
            Some(fault) => Trouble::from(fault),
            None => Trouble::new(e.to_string(), ""),
        };
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema ORDER BY name")
            .map_err(odd)?;
        let names = statement.query_map([], |row| row.get(0)).map_err(odd)?;
        names.collect::<Result<_, _>>().map_err(odd)
    }

    fn stats(&self) -> Stats {
        let memory: Option<js_sys::WebAssembly::Memory> = wasm_bindgen::memory().dyn_into().ok();
        let buffer: Option<js_sys::ArrayBuffer> = memory.and_then(|m| m.buffer().dyn_into().ok());
        Stats {
            counters: self
                .source
                .as_ref()
                .map(WebSource::counters)
                .unwrap_or_default(),
            memory: buffer.map_or(0, |b| u64::from(b.byte_length())),
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, Trouble> {
    serde_json::to_string(value)
        .map_err(|e| Trouble::new(format!("The answer could not be written: {e}."), ""))
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
        // Setting a key of a fresh object, and posting plain strings, cannot fail.
        let _ = Reflect::set(&message, &(*key).into(), value);
    }
    let _ = scope.post_message(&message);
}
