//! The local server of `prosescope view`: its desk reads what it serves, and it says when something changed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_events::EventListener;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, EventSource, MessageEvent, RequestInit, Response};

use crate::protocol::{Request, Trouble};

/// The desk that the server keeps for this page.
#[derive(Clone)]
pub(crate) struct Server {
    /// The desk's name: another page's desk stays at what that page has read.
    desk: Rc<Cell<u32>>,
}

impl Default for Server {
    fn default() -> Server {
        Server {
            desk: Rc::new(Cell::new(name())),
        }
    }
}

impl Server {
    /// Asks for JSON.
    pub(crate) async fn ask(&self, request: &Request) -> Result<String, Trouble> {
        let response = self.answer(request).await?;
        let text = JsFuture::from(response.text().map_err(gone)?).await;
        text.map_err(gone)?
            .as_string()
            .ok_or_else(|| gone(JsValue::NULL))
    }

    /// Asks for bytes.
    pub(crate) async fn blob(&self, request: &Request) -> Result<Blob, Trouble> {
        let response = self.answer(request).await?;
        let blob = JsFuture::from(response.blob().map_err(gone)?).await;
        blob.and_then(JsCast::dyn_into).map_err(|_| {
            Trouble::new(
                "The value was not read to its end.",
                "It may have changed meanwhile: try again.",
            )
        })
    }

    /// Leaves the desk to itself: the next question goes to another one.
    pub(crate) fn stop(&self) {
        self.desk.set(name());
    }

    async fn answer(&self, request: &Request) -> Result<Response, Trouble> {
        let body = serde_json::to_string(request)
            .map_err(|_| Trouble::defect("the question could not be written"))?;
        let desk = self.desk.get();
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_body(&body.into());
        let url = format!("desk/{desk:08x}");
        let response =
            JsFuture::from(leptos::prelude::window().fetch_with_str_and_init(&url, &init));
        let response: Response = response.await.and_then(JsCast::dyn_into).map_err(gone)?;
        if self.desk.get() != desk {
            return Err(Trouble::new(
                "It was stopped.",
                "Open it again when you like.",
            ));
        }
        let kind = response.headers().get("content-type").map_err(gone)?;
        if response.ok() && kind.is_none_or(|kind| !kind.contains("problem")) {
            return Ok(response);
        }
        let text = JsFuture::from(response.text().map_err(gone)?).await;
        let text = text
            .ok()
            .and_then(|text| text.as_string())
            .unwrap_or_default();
        Err(serde_json::from_str(&text).unwrap_or_else(|_| gone(JsValue::NULL)))
    }
}

/// What the server says of its files, as long as this is kept.
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
    /// Listens; `heard` is called when the server says something.
    pub(crate) fn listen(heard: impl Fn() + 'static) -> Result<Changes, Trouble> {
        let source = EventSource::new("changes").map_err(gone)?;
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
        // The browser connects again by itself; the server then says its version.
        let on_error = EventListener::new(&source, "error", move |_| hold.borrow_mut().lost = true);
        Ok(Changes {
            source,
            told,
            _heard: on_message,
            _lost: on_error,
        })
    }

    /// What the server calls the state of its files; `None` until it said so.
    ///
    /// # Errors
    /// While the server does not answer.
    pub(crate) fn version(&self) -> Result<Option<String>, Trouble> {
        let told = self.told.borrow();
        match told.lost {
            true => Err(gone(JsValue::NULL)),
            false => Ok(told.version.clone()),
        }
    }

    /// Whether the browser gave up.
    pub(crate) fn is_over(&self) -> bool {
        self.source.ready_state() == EventSource::CLOSED
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.source.close();
    }
}

fn gone(_: JsValue) -> Trouble {
    Trouble::new(
        "The local server does not answer.",
        "Start `prosescope view` again; what is shown is as it was read last.",
    )
}

fn name() -> u32 {
    (js_sys::Math::random() * f64::from(u32::MAX)) as u32
}
