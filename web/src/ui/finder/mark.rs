//! Marks a text everywhere on the page (CSS Custom Highlight API) until another search.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::script;
use crate::ui::state::{App, Marked};

/// Marks a text on the page and scrolls to its first occurrence; in a long value, to the occurrence in `line`.
pub(super) fn mark(app: App, text: &str, line: u64) {
    call(&JsValue::from_str(text));
    app.marked.set(Some(Marked {
        text: text.to_owned(),
        line,
    }));
}

/// Removes the marks.
pub(crate) fn unmark(app: App) {
    if app.marked.read_untracked().is_some() {
        app.marked.set(None);
    }
    call(&JsValue::NULL);
}

/// Searching the page's text nodes is faster in the page's own script. Without support for highlights, the browser
/// scrolls to the place but does not mark it.
fn call(text: &JsValue) {
    script::call("prosescopeMark", text);
}
