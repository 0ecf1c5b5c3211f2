//! Runs at hand: the examples, the fixtures and, where it lies beside the checkout, the corpus.

use std::path::{Path, PathBuf};

use prosescope_tests::needs;
use serde_json::Value;

use crate::project::Project;

/// Runs of this checkout.
pub(crate) fn ours() -> Vec<PathBuf> {
    let mut runs = Vec::new();
    below(&needs::root().join("examples/.prose/runs"), &mut runs);
    below(&needs::fixtures("runs"), &mut runs);
    assert!(runs.len() >= 14, "{runs:?}");
    runs
}

/// Runs of others; none where the corpus is not there.
pub(crate) fn theirs() -> Vec<PathBuf> {
    let mut runs = Vec::new();
    if let Some(corpus) = needs::shared("corpus/runs") {
        below(&corpus, &mut runs);
    }
    runs
}

/// Folders that hold a run's state.
fn below(folder: &Path, runs: &mut Vec<PathBuf>) {
    let states = ["state.md", "state.db", "run.json", "program.prose"];
    if states.iter().any(|state| folder.join(state).is_file()) {
        return runs.push(folder.to_owned());
    }
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    entries.sort();
    entries.iter().for_each(|entry| below(entry, runs));
}

/// What the commands tell of a run; `None` where they do not read it.
pub(crate) fn told(project: &Project, run: &str) -> Option<Vec<(&'static str, Value)>> {
    let reads = project.command(&["show", run]).output().expect("it runs");
    if !matches!(reads.status.code(), Some(0 | 1)) {
        return None;
    }
    let views = ["show", "trace", "bindings", "gates", "audit"];
    Some(views.map(|view| (view, project.json(&[view, run]))).into())
}
