//! The worker's role: it owns what was opened and answers one question after the other.

mod answers;
mod desk;
mod follow;
mod workflows;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::protocol::Trouble;
use desk::Desk;

/// An answer: JSON, and a blob where one was asked for.
struct Answer {
    json: String,
    blob: Option<web_sys::Blob>,
}

/// Answers from now on; called once, when the wasm finds itself in a worker.
pub(crate) fn run(scope: DedicatedWorkerGlobalScope) {
    let desk = RefCell::new(Desk::default());
    let asked = Rc::new(Cell::new(false));
    warm_up(&scope, Rc::clone(&asked));
    let reply = scope.clone();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        asked.set(true);
        desk::begin();
        let data = event.data();
        let get = |key: &str| Reflect::get(&data, &key.into()).unwrap_or_default();
        let body = get("body").as_string().unwrap_or_default();
        let answer = match serde_json::from_str(&body) {
            Ok(request) => {
                answers::answer(&mut desk.borrow_mut(), request, || files_of(&get("files")))
            }
            Err(error) => Err(Trouble::defect(&format!(
                "the question could not be read: {error}"
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
        post(&reply, &message);
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post(&scope, &[("ready", JsValue::TRUE)]);
}

/// Opens the example once, unseen, where nothing is asked before: the browser compiles a function of the wasm when it runs for
/// the first time, which takes most of the time that a small run takes to open.
fn warm_up(scope: &DedicatedWorkerGlobalScope, asked: Rc<Cell<bool>>) {
    let warm = Closure::once_into_js(move || {
        if !asked.get() {
            desk::begin();
            answers::warm_up();
        }
    });
    // Without it the first run opens later.
    let _ = scope.set_timeout_with_callback(warm.unchecked_ref());
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
        // Setting a key of a fresh object, and posting strings and blobs, cannot fail.
        let _ = Reflect::set(&message, &(*key).into(), value);
    }
    let _ = scope.post_message(&message);
}
