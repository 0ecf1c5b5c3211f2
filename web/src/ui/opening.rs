//! From a drop or a pick to files with paths.
//!
//! A dropped folder is walked by `webkitGetAsEntry`; where that may not be listed (`file://`), by
//! `getAsFileSystemHandle`. Both must be asked for during the drop itself, before anything is awaited.

use prosescope_core::source::is_listed;
use wasm_bindgen::{JsCast as _, JsValue};

use crate::script;

mod drop;
mod paste;
mod pick;
pub(crate) mod recent;

pub(crate) use drop::{on_drop, open_handles};
pub(crate) use paste::on_paste;
pub(crate) use pick::{Picker, pick_files, pick_folder};

/// The run in this page, as a file: once.
pub(crate) fn own_run() -> Option<web_sys::File> {
    script::call("prosescopeRun", &JsValue::NULL)?
        .dyn_into()
        .ok()
}

/// More files than this are not listed: somebody dropped a whole disk.
const MOST: usize = 200_000;

/// Whether a folder is looked into: by its path, the folder that was given first. That one always is.
fn is_walked(path: &str) -> bool {
    path.split_once('/')
        .is_none_or(|(_, below)| is_listed(below))
}

/// The folder above a file that is not looked into.
fn left_out(path: &str) -> Option<&str> {
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    folders.into_iter().find(|folder| !is_walked(folder))
}

/// What to call some files: their common folder, or the one file, or its name and how many more.
fn label(files: &[(String, web_sys::File)]) -> String {
    let first = files.first().map_or("", |(path, _)| path.as_str());
    match first.split_once('/') {
        Some((folder, _)) if files.iter().all(|(path, _)| top(path) == folder) => folder.to_owned(),
        _ => {
            let main: Vec<&str> = files
                .iter()
                .map(|(path, _)| path.as_str())
                .filter(|path| {
                    !["-wal", "-shm", "-journal"]
                        .iter()
                        .any(|end| path.ends_with(end))
                })
                .collect();
            match main.as_slice() {
                [] => first.to_owned(),
                [one] => (*one).to_owned(),
                [one, rest @ ..] => format!("{one} and {} more", rest.len()),
            }
        }
    }
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}
