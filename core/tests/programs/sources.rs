//! Collects programs for tests: realistic programs of this repository, and the real programs of the project's corpus,
//! which are read in place.

use std::path::{Path, PathBuf};

use prosescope_test_support::needs;

/// The path and the source of a program; the files of its run may be in the same folder.
pub(crate) type Program = (PathBuf, String);

/// Returns the programs of this repository: examples, seeds of the fuzzer, and fixtures in the style of the real ones.
pub(crate) fn ours() -> Vec<Program> {
    let folders = ["examples", "fuzz/seeds/program", "tests/fixtures"];
    below(&folders.map(|folder| needs::root().join(folder)))
}

/// Returns the real programs; prints a note and returns `None` if the corpus is not present.
pub(crate) fn real() -> Option<Vec<Program>> {
    Some(below(&[needs::shared("corpus")?]))
}

/// Returns the programs below some folders, except those encrypted in envelopes.
fn below(folders: &[PathBuf]) -> Vec<Program> {
    let mut files = Vec::new();
    for folder in folders {
        collect(folder, &mut files);
    }
    files.sort();
    let read = |file: PathBuf| {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        (!text.starts_with('{')).then_some((file, text))
    };
    files.into_iter().filter_map(read).collect()
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
