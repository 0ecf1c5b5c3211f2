//! Marks all occurrences of a found text on the page (CSS Custom Highlight API).

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::script;
use crate::ui::state::{App, Marked};

/// Marks a text on the page and scrolls to its first occurrence. In a long value, scrolls to the occurrence in `line`.
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

/// Calls the page's own script, which searches the text nodes faster than wasm could. A browser without highlights only
/// scrolls to the text.
fn call(text: &JsValue) {
    script::call("prosescopeMark", text);
}
