//! Marks a text wherever the page shows it (CSS Custom Highlight API), until something else is looked for.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::script;
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

/// Walking texts costs less in the page's own script. A browser without highlights shows the place unmarked.
fn call(text: &JsValue) {
    script::call("prosescopeMark", text);
}
