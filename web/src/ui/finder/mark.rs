//! Marks a text wherever the page shows it (CSS Custom Highlight API), until something else is looked for.

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;

/// Marks a text in what is shown from now on, and brings its first place into sight.
pub(super) fn mark(text: &str) {
    call(&JsValue::from_str(text.trim()));
}

/// Takes the marks away.
pub(crate) fn unmark() {
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
