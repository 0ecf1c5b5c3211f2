//! Marks a text wherever the page shows it (CSS Custom Highlight API), until something else is looked for.

use js_sys::{Function, Reflect};
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::ui::state::{App, Marked};

/// Marks a text in what is shown from now on, and brings its first place into sight; in a long text, that in this line.
pub(super) fn mark(app: App, text: &str, line: u64) {
    call(&JsValue::from_str(text));
    app.marked.set(Some(Marked {
        text: text.to_owned(),
        line,
    }));
}

/// Takes the marks away.
pub(crate) fn unmark(app: App) {
    if app.marked.read_untracked().is_some() {
        app.marked.set(None);
    }
    call(&JsValue::NULL);
}

/// `prosescopeMark` is the page's own (`web/page/boot.js`): walking texts costs less there.
fn call(text: &JsValue) {
    let mark = Reflect::get(&js_sys::global(), &"prosescopeMark".into());
    if let Some(mark) = mark.ok().and_then(|mark| mark.dyn_into::<Function>().ok()) {
        // A browser without highlights shows the place unmarked.
        let _ = mark.call1(&JsValue::NULL, text);
    }
}
