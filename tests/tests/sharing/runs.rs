//! Runs at hand: the examples, the fixtures and, where it lies beside the checkout, the corpus.

use std::fs;
use std::path::{Path, PathBuf};

use prosescope_test_support::files::copy;
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

/// Copies a run to where nothing is around it, as in a shared file, which has no `.env` and no agents of a project; returns its name.
pub(crate) fn alone(project: &Project, run: &Path) -> String {
    let name = run.file_name().expect("a name").to_string_lossy();
    let to = project.at(&*name);
    let _ = fs::remove_dir_all(&to);
    copy(run, &to);
    name.into_owned()
}

/// What the commands tell of a run, wherever it lies; `None` where they do not read it.
pub(crate) fn told(project: &Project, run: &str, name: &str) -> Option<Vec<(&'static str, Value)>> {
    let reads = project.command(&["show", run]).output().expect("it runs");
    if !matches!(reads.status.code(), Some(0 | 1)) {
        return None;
    }
    let views = ["show", "trace", "bindings", "gates", "audit"];
    let views = views.map(|view| {
        let mut told = project.json(&[view, run]);
        forget(&mut told, run, name);
        (view, told)
    });
    Some(views.into())
}

/// Leaves out of a view what is said of the copy and not of the run: where it lies, what to do next, how long ago it was.
fn forget(value: &mut Value, run: &str, name: &str) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| {
                let of_now = key.ends_with("_ago") || key.starts_with("waited");
                !of_now && !PLACE.contains(&key.as_str())
            });
            for (_, value) in object.iter_mut() {
                forget(value, run, name);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| forget(value, run, name)),
        Value::String(text) => {
            let here = text.replace(run, name);
            *text = here.replace(&format!("{name}/"), "");
        }
        _ => {}
    }
}

const PLACE: [&str; 7] = [
    "file_changed",
    "label",
    "next",
    "next_command",
    "command",
    "issues",
    "files",
];
