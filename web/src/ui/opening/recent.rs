//! Stores the names of recently opened files in the browser. Only names are stored, because a browser does not let a
//! page open a file again by itself.

use leptos::prelude::window;

const KEY: &str = "prosescope.recent";
const MOST: usize = 8;

/// Returns the names of recently opened files, the latest first.
pub(crate) fn list() -> Vec<String> {
    let storage = window().local_storage().ok().flatten();
    let json = storage.and_then(|storage| storage.get_item(KEY).ok().flatten());
    json.and_then(|json| serde_json::from_str(&json).ok())
        .unwrap_or_default()
}

/// Adds a name as the latest; at most [`MOST`] names are kept.
pub(crate) fn add(name: &str) {
    let mut names = list();
    names.retain(|other| other != name);
    names.insert(0, name.to_owned());
    names.truncate(MOST);
    put(&names);
}

/// Removes all names.
pub(crate) fn clear() {
    put(&[]);
}

fn put(names: &[String]) {
    let Ok(json) = serde_json::to_string(names) else {
        return;
    };
    if let Ok(Some(storage)) = window().local_storage() {
        // An error is ignored: a private window may refuse to store, and then no names are kept.
        let _ = storage.set_item(KEY, &json);
    }
}
