//! From a drop or a pick to files with paths.
//!
//! A dropped folder is walked by `getAsFileSystemHandle`, which also works on `file://`; where a browser has none,
//! by `webkitGetAsEntry`. Both must be asked for during the drop itself, before anything is awaited.

mod drop;
mod pick;
pub(crate) mod recent;

pub(crate) use drop::on_drop;
pub(crate) use pick::{Picker, pick_files, pick_folder};

/// Folders that hold no runs and very many files.
const SKIPPED: [&str; 3] = [".git", "node_modules", "target"];

/// More files than this are not listed: somebody dropped a whole disk.
const MOST: usize = 200_000;

/// Whether a folder is looked into.
fn is_walked(name: &str) -> bool {
    !SKIPPED.contains(&name)
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
