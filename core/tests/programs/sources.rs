//! Programs as people write them: our own, and the real ones of the project's corpus, read in place.

use std::path::{Path, PathBuf};

use prosescope_test_support::needs;

/// A program and where it lies: beside it may be what a run of it left.
pub(crate) type Program = (PathBuf, String);

/// The programs of this checkout: examples, seeds of the fuzzer, and fixtures written in the habits of the real ones.
pub(crate) fn ours() -> Vec<Program> {
    let folders = ["examples", "fuzz/seeds/program", "tests/fixtures"];
    below(&folders.map(|folder| needs::root().join(folder)))
}

/// The real ones; `None`, which was said, where the corpus is not.
pub(crate) fn real() -> Option<Vec<Program>> {
    Some(below(&[needs::shared("corpus")?]))
}

/// The programs below some folders, but for encrypted envelopes.
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
