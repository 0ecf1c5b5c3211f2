//! Tests that the example runs equal the results of their scripts, so that they are never edited by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use prosescope_tests::{build, needs};

#[test]
fn recording_again_gives_the_same_runs() {
    if needs::sqlite3().is_none() {
        return;
    }
    let examples = needs::root().join("examples");
    let again = tempfile::tempdir().unwrap();
    let out = Command::new("sh")
        .arg(examples.join("record/all.sh"))
        .arg(again.path())
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let (kept, recorded) = (contents(&examples.join(".prose")), contents(again.path()));
    assert_eq!(names(&kept), names(&recorded));
    for (name, text) in &kept {
        assert_eq!(
            Some(text),
            recorded.get(name),
            "{name}: record again with examples/record/all.sh"
        );
    }
}

fn names(files: &BTreeMap<String, String>) -> Vec<&String> {
    files.keys().collect()
}

/// Returns every file's text; for a database its rows, because its bytes depend on the version of `sqlite3`.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap_or_else(|e| panic!("{}: {e}", at.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let database = path.extension().is_some_and(|e| e == "db");
            let text = if database {
                build::sql_with(&path, &["-readonly"], ".dump")
            } else {
                fs::read_to_string(&path).unwrap()
            };
            files.insert(name, text);
        }
    }
    files
}
