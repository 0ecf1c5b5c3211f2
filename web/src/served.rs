//! Communicates with the local server of `prosescope view`: sends requests to the server's desk, listens for changes of
//! the served files, and records decisions.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, EventSource, MessageEvent, RequestInit, Response};

use prosescope_core::pages::view::{CommandFailed, GateView};

use crate::protocol::{GateDecision, Request, Trouble};

/// The server's desk for this page.
#[derive(Clone)]
pub(crate) struct ServedDesk {
    /// The desk's number. Each page has its own desk, because another page may show an earlier state.
    desk: Rc<Cell<u32>>,
}

impl Default for ServedDesk {
    fn default() -> ServedDesk {
        ServedDesk {
            desk: Rc::new(Cell::new(name())),
        }
    }
}

impl ServedDesk {
    /// Sends a request whose answer is JSON.
    pub(crate) async fn ask(&self, request: &Request) -> Result<String, Trouble> {
        let response = self.answer(request).await?;
        let text = JsFuture::from(response.text().map_err(no_answer)?).await;
        text.map_err(no_answer)?
            .as_string()
            .ok_or_else(|| no_answer(JsValue::NULL))
    }

    /// Sends a request whose answer is bytes.
    pub(crate) async fn blob(&self, request: &Request) -> Result<Blob, Trouble> {
        let response = self.answer(request).await?;
        let blob = JsFuture::from(response.blob().map_err(no_answer)?).await;
        blob.and_then(JsCast::dyn_into).map_err(|_| {
            Trouble::new(
                "The value was not read completely.",
                "Try again: the value may have changed while it was read.",
            )
        })
    }

    /// Abandons the desk: the next request goes to a new desk of the server.
    pub(crate) fn stop(&self) {
        self.desk.set(name());
    }

    async fn answer(&self, request: &Request) -> Result<Response, Trouble> {
        let body = serde_json::to_string(request)
            .map_err(|_| Trouble::defect("the request to the server could not be written"))?;
        let desk = self.desk.get();
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_body(&body.into());
        let url = format!("desk/{desk:08x}");
        let response =
            JsFuture::from(leptos::prelude::window().fetch_with_str_and_init(&url, &init));
        let response: Response = response
            .await
            .and_then(JsCast::dyn_into)
            .map_err(no_answer)?;
        if self.desk.get() != desk {
            return Err(Trouble::new(
                "Reading was stopped.",
                "Open the file or folder again to continue.",
            ));
        }
        let kind = response.headers().get("content-type").map_err(no_answer)?;
        if response.ok() && kind.is_none_or(|kind| !kind.contains("problem")) {
            return Ok(response);
        }
        let text = JsFuture::from(response.text().map_err(no_answer)?).await;
        let text = text
            .ok()
            .and_then(|text| text.as_string())
            .unwrap_or_default();
        Err(serde_json::from_str(&text).unwrap_or_else(|_| no_answer(JsValue::NULL)))
    }
}

/// A connection that reports changes of the served files. It is closed when the value is dropped.
pub(crate) struct Changes {
    source: EventSource,
    told: Rc<RefCell<Told>>,
    _heard: EventListener,
    _lost: EventListener,
}

#[derive(Default)]
struct Told {
    version: Option<String>,
    lost: bool,
}

impl Changes {
    /// Opens the connection, and calls `heard` for each message from the server.
    pub(crate) fn listen(heard: impl Fn() + 'static) -> Result<Changes, Trouble> {
        let source = EventSource::new("changes").map_err(no_answer)?;
        let told = Rc::new(RefCell::new(Told::default()));
        let hold = Rc::clone(&told);
        let on_message = EventListener::new(&source, "message", move |event| {
            let data = event.dyn_ref().map(MessageEvent::data);
            hold.replace(Told {
                version: data.and_then(|data| data.as_string()),
                lost: false,
            });
            heard();
        });
        let hold = Rc::clone(&told);
        // The browser reconnects by itself. The server then sends the current version of its files.
        let on_error = EventListener::new(&source, "error", move |_| hold.borrow_mut().lost = true);
        Ok(Changes {
            source,
            told,
            _heard: on_message,
            _lost: on_error,
        })
    }

    /// Returns the text by which the server identifies the present state of its files; `None` before the first message.
    ///
    /// # Errors
    /// As long as the connection is lost.
    pub(crate) fn version(&self) -> Result<Option<String>, Trouble> {
        let told = self.told.borrow();
        match told.lost {
            true => Err(no_answer(JsValue::NULL)),
            false => Ok(told.version.clone()),
        }
    }

    /// Returns whether the browser has stopped reconnecting.
    pub(crate) fn is_over(&self) -> bool {
        self.source.ready_state() == EventSource::CLOSED
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.source.close();
    }
}

fn no_answer(_: JsValue) -> Trouble {
    Trouble::new(
        "The local server does not answer.",
        "Start `prosescope view` again; the page shows the last state that was read.",
    )
}

fn name() -> u32 {
    (js_sys::Math::random() * f64::from(u32::MAX)) as u32
}

/// The server's permission to record decisions on gates.
#[derive(Clone)]
pub(crate) struct Decides {
    token: String,
    /// The principal under which decisions are recorded. It is fixed when the server starts.
    pub(crate) by: String,
}

impl Decides {
    /// Reads the permission from a `meta` element of the page; `None` if the server does not record decisions.
    pub(crate) fn offered() -> Option<Decides> {
        let meta = leptos::prelude::document()
            .query_selector("meta[name=prosescope-decide]")
            .ok()??;
        Some(Decides {
            token: meta.get_attribute("content")?,
            by: meta.get_attribute("data-as").unwrap_or_default(),
        })
    }
}

/// Makes the server record a decision, and returns a sentence with the result. The request contains the state of the
/// gate that the user saw, so that the server can refuse if the gate has changed.
pub(crate) async fn decide(
    how: &Decides,
    gate: &GateView,
    decision: GateDecision,
    comment: Option<String>,
) -> Result<String, Trouble> {
    let body = serde_json::json!({
        "run": gate.run, "gate": gate.id, "decision": decision, "comment": comment, "seen": gate.seen,
    });
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&body.to_string().into());
    let headers = web_sys::Headers::new().map_err(no_answer)?;
    headers
        .set("content-type", "application/json")
        .map_err(no_answer)?;
    headers
        .set("x-prosescope-token", &how.token)
        .map_err(no_answer)?;
    init.set_headers(&headers);
    let sent = leptos::prelude::window().fetch_with_str_and_init("decide", &init);
    let response = JsFuture::from(sent).await.and_then(JsCast::dyn_into);
    let response: Response = response.map_err(no_answer)?;
    let text = JsFuture::from(response.text().map_err(no_answer)?).await;
    let text = text
        .ok()
        .and_then(|text| text.as_string())
        .unwrap_or_default();
    if response.ok() {
        let word = match decision {
            GateDecision::Approved => "Approved",
            GateDecision::Rejected => "Rejected",
        };
        return Ok(format!("{word} and recorded as decided by {}.", how.by));
    }
    Err(match serde_json::from_str::<CommandFailed>(&text) {
        Ok(CommandFailed { error }) => Trouble::new(
            format!("Nothing was recorded: {}.", error.message),
            error.hints.join(" "),
        ),
        Err(_) => Trouble::new(
            "Nothing was recorded.",
            "Load the page again: the gate or its deadline may have changed.",
        ),
    })
}
