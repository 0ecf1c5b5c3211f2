//! Finds the runs to share: the examples, the fixtures and, if it is beside the checkout, the corpus of real runs.

use std::fs;
use std::path::{Path, PathBuf};

use prosescope_test_support::files::copy;
use prosescope_tests::needs;
use serde_json::Value;

use crate::project::Project;

/// Returns the runs of this checkout.
pub(crate) fn ours() -> Vec<PathBuf> {
    let mut runs = Vec::new();
    below(&needs::root().join("examples/.prose/runs"), &mut runs);
    below(&needs::fixtures("runs"), &mut runs);
    assert!(runs.len() >= 14, "{runs:?}");
    runs
}

/// Returns the runs of the corpus of real runs; none if the corpus is missing.
pub(crate) fn theirs() -> Vec<PathBuf> {
    let mut runs = Vec::new();
    if let Some(corpus) = needs::shared("corpus/runs") {
        below(&corpus, &mut runs);
    }
    runs
}

/// Adds the folders that contain a run's state.
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

/// Copies a run out of its project, because a shared file contains neither the `.env` nor the agents of the project.
/// Returns the run's name.
pub(crate) fn alone(project: &Project, run: &Path) -> String {
    let name = run.file_name().expect("a name").to_string_lossy();
    let to = project.at(&*name);
    let _ = fs::remove_dir_all(&to);
    copy(run, &to);
    name.into_owned()
}

/// Returns the output of the reading commands about a run, without the parts that depend on the run's place. Returns
/// `None` if the commands cannot read the run.
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

/// Removes the parts of a view that describe the copy and not the run: its place, the next steps, its age.
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
