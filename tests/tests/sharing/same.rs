//! A redacted run is told as before: the same ids, statuses, times, ties, rounds and positions, and texts of as many lines.

use serde_json::Value;

use crate::project::Project;
use crate::runs::{ours, theirs, told};
use crate::whole;

/// Where a run lies, and what is said of that.
const PLACE: [&str; 8] = [
    "label",
    "next",
    "next_command",
    "command",
    "folder",
    "path",
    "where",
    "issues",
];
/// Measures of a text, which a replacement changes, and what follows from its length.
const LENGTHS: [&str; 6] = [
    "len",
    "bytes",
    "bindings_bytes",
    "preview",
    "attachment_len",
    "files",
];
/// What a link is computed from.
const SEALS: [&str; 6] = ["hash", "head", "prev", "prompt_hash", "chain", "seal"];

#[test]
fn a_redacted_run_is_told_as_before() {
    let Some(project) = Project::new() else {
        return;
    };
    let mut runs = ours();
    if whole() {
        runs.extend(theirs());
    }
    let (mut read, mut wrong) = (0, Vec::new());
    for (number, run) in runs.iter().enumerate() {
        let name = run.to_string_lossy();
        let Some(before) = told(&project, &name) else {
            continue;
        };
        read += 1;
        let zip = format!("{number}.zip");
        project.done(&["share", &name, "-o", &zip]);
        let after = told(&project, &zip).expect("it is a run");
        for ((view, before), (_, after)) in before.iter().zip(&after) {
            compare(&format!("{name}: {view}"), before, after, &mut wrong);
        }
    }
    assert!(read * 10 >= runs.len() * 9, "{read} of {}", runs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn compare(at: &str, before: &Value, after: &Value, wrong: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, before) in before {
                let known = [&PLACE[..], &LENGTHS, &SEALS].concat();
                if known.contains(&key.as_str()) {
                    continue;
                }
                let at = format!("{at}.{key}");
                match after.get(key) {
                    Some(after) => compare(&at, before, after, wrong),
                    None => wrong.push(format!("{at} is missing")),
                }
            }
            let more = after.keys().filter(|key| !before.contains_key(*key));
            wrong.extend(more.map(|key| format!("{at}.{key} was added")));
        }
        (Value::Array(before), Value::Array(after)) => {
            if before.len() != after.len() {
                wrong.push(format!("{at}: {} became {}", before.len(), after.len()));
            }
            for (n, (before, after)) in before.iter().zip(after).enumerate() {
                compare(&format!("{at}[{n}]"), before, after, wrong);
            }
        }
        (Value::String(before), Value::String(after)) => {
            let is_replaced = after.contains(" #") || after.contains("left out when");
            let lines = |text: &str| text.lines().count();
            if before != after && !(is_replaced && lines(before) == lines(after)) {
                wrong.push(format!("{at}: {before:?} became {after:?}"));
            }
        }
        _ if before == after => {}
        _ => wrong.push(format!("{at}: {before} became {after}")),
    }
}
