//! The shared corpus, read in place.

use std::path::{Path, PathBuf};

fn shared() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = std::env::var_os("PROSESCOPE_SHARED").map(PathBuf::from);
    named
        .into_iter()
        .chain([root.join("../shared"), root.join("../../shared")])
        .find(|at| at.join("corpus").is_dir())
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "prose") {
            found.push(path);
        }
    }
}

/// The programs of the corpus, but for encrypted envelopes.
pub(crate) fn corpus() -> Option<Vec<(PathBuf, String)>> {
    let Some(shared) = shared() else {
        println!("skipped: no shared corpus beside the checkout");
        return None;
    };
    let mut files = Vec::new();
    collect(&shared.join("corpus"), &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        (!text.starts_with('{')).then_some((file, text))
    };
    Some(files.into_iter().filter_map(read).collect())
}
