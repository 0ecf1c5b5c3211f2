//! Turns items that the user drops, picks or pastes into files with paths.
//!
//! A dropped folder is read through `webkitGetAsEntry`. This function cannot list folders on a page opened from disk
//! (`file://`), where `getAsFileSystemHandle` is used instead. Both functions must be called during the drop event,
//! before any `await`.

use prosescope_core::model::source::is_listed;
use wasm_bindgen::{JsCast as _, JsValue};

use crate::script;

mod drop;
mod paste;
mod pick;

pub(crate) use drop::{on_drop, open_handles};
pub(crate) use paste::on_paste;
pub(crate) use pick::{Picker, pick_beside, pick_files, pick_folder};

/// Returns the run contained in this page, as a file. Only the first call returns the run.
pub(crate) fn own_run() -> Option<web_sys::File> {
    script::call("prosescopeRun", &JsValue::NULL)?
        .dyn_into()
        .ok()
}

/// The maximum number of files that are listed. If there are more, the user probably dropped a whole disk.
const MOST: usize = 200_000;

/// Returns whether to list the folder at `path`, which begins with the name of the dropped folder. The dropped folder
/// itself is always listed.
fn is_walked(path: &str) -> bool {
    path.split_once('/')
        .is_none_or(|(_, below)| is_listed(below))
}

/// Returns the outermost skipped folder above a file; `None` if no folder above the file is skipped.
fn left_out(path: &str) -> Option<&str> {
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    folders.into_iter().find(|folder| !is_walked(folder))
}

/// Returns a label for opened files: the name of their common folder or of the only file, or `a.db and 2 more`.
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
