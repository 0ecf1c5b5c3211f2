//! Opens the browser's dialogs for files and for a folder, and opens what the user picks in them.

use leptos::html::Input;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

use std::collections::BTreeSet;

use super::{label, left_out};
use crate::bytes::apart::{apart, is_loose};
use crate::protocol::{Missing, Trouble};
use crate::ui::state::{App, OpeningSource};

const FILES: &str = "pick-files";
const FOLDER: &str = "pick-folder";
const BESIDE: &str = "pick-beside";

/// Draws hidden inputs, which buttons and keys click to open the browser's dialogs.
#[component]
pub(crate) fn Picker() -> impl IntoView {
    let app = App::get();
    let files = NodeRef::<Input>::new();
    let folder = NodeRef::<Input>::new();
    let beside = NodeRef::<Input>::new();
    // Leptos does not support the attribute `webkitdirectory`, so the attribute is set here.
    Effect::new(move || {
        if let Some(input) = folder.get() {
            let _ = input.set_attribute("webkitdirectory", "");
        }
    });
    view! {
        <input
            type="file" multiple id=FILES hidden tabindex="-1" aria-label="Files to open"
            node_ref=files on:change=move |_| picked(app, files)
        />
        <input
            type="file" multiple id=FOLDER hidden tabindex="-1" aria-label="Folder to open"
            node_ref=folder on:change=move |_| picked(app, folder)
        />
        <input
            type="file" multiple id=BESIDE hidden tabindex="-1" aria-label="Run to compare with"
            node_ref=beside on:change=move |_| picked(app, beside)
        />
    }
}

/// Opens the dialog for files.
pub(crate) fn pick_files() {
    click(FILES);
}

/// Opens the dialog for a folder.
pub(crate) fn pick_folder() {
    click(FOLDER);
}

/// Opens the dialog for the files of a run to compare with the open one.
pub(crate) fn pick_beside() {
    click(BESIDE);
}

fn click(id: &str) {
    let input = document().get_element_by_id(id);
    if let Some(input) = input.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        input.click();
    }
}

fn picked(app: App, input: NodeRef<Input>) {
    let Some(input) = input.get_untracked() else {
        return;
    };
    let Some(list) = input.files() else {
        return;
    };
    let files = (0..list.length()).filter_map(|i| list.get(i)).map(|file| {
        let path = js_sys::Reflect::get(&file, &"webkitRelativePath".into())
            .ok()
            .and_then(|path| path.as_string())
            .filter(|path| !path.is_empty())
            .unwrap_or_else(|| file.name());
        (path, file)
    });
    let mut skipped: BTreeSet<String> = BTreeSet::new();
    let files: Vec<_> = files
        .filter(|(path, _)| match left_out(path) {
            Some(folder) => {
                skipped.insert(folder.to_owned());
                false
            }
            None => true,
        })
        .collect();
    // The input is cleared, because the browser would otherwise not report that the user picks the same file again.
    input.set_value("");
    if files.is_empty() {
        app.fail(Trouble {
            found: "An empty folder.".to_owned(),
            ..Trouble::new(
                "The folder contains no file.",
                "Pick the folder of a run, or a .prose folder.",
            )
        });
        return;
    }
    // The dialog returns either one folder or several files. Each of several files gets its own root number, because
    // files picked from a search result may have equal names.
    let given = files.into_iter().enumerate().map(|(at, (path, file))| {
        let root = if path.contains('/') { 0 } else { at };
        (root, path, file)
    });
    let given: Vec<_> = given.collect();
    let loose = is_loose(&given);
    let (files, not_given) = apart(given);
    let what = OpeningSource::Files {
        label: label(&files),
        files,
        missing: Missing {
            skipped: skipped.into_iter().collect(),
            not_given,
            loose,
            ..Missing::default()
        },
        handles: Vec::new(),
    };
    match input.id() == BESIDE {
        true => app.open_beside(what),
        false => app.open(what),
    }
}
