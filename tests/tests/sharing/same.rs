//! Tests that a redacted run differs from the original only in replaced texts. Ids, statuses, times, references,
//! rounds, positions and the number of lines of each text are equal.

use serde_json::Value;

use crate::project::Project;
use crate::runs::{alone, ours, theirs, told};

/// Keys of the JSON that contain lengths, which a replacement changes, or values that depend on lengths.
const LENGTHS: [&str; 5] = [
    "len",
    "bytes",
    "bindings_bytes",
    "preview",
    "attachment_len",
];
/// Keys of the JSON that contain hashes, which depend on the replaced texts.
const SEALS: [&str; 6] = ["hash", "head", "prev", "prompt_hash", "chain", "seal"];

#[test]
fn a_redacted_run_is_told_as_before() {
    let Some(project) = Project::new() else {
        return;
    };
    let mut runs = ours();
    runs.extend(theirs());
    let (mut read, mut replaced, mut wrong) = (0, 0, Vec::new());
    for (number, run) in runs.iter().enumerate() {
        let name = alone(&project, run);
        let Some(before) = told(&project, &name, &name) else {
            continue;
        };
        read += 1;
        let zip = format!("{number}.zip");
        let said = project.done(&["share", &name, "-o", &zip, "--json"]);
        replaced += said.matches("\"rule\"").count();
        let after = told(&project, &zip, &name).expect("it is a run");
        for ((view, before), (_, after)) in before.iter().zip(&after) {
            compare(&format!("{name}: {view}"), before, after, false, &mut wrong);
        }
    }
    assert!(read * 10 >= runs.len() * 9, "{read} of {}", runs.len());
    eprintln!("{read} runs, {replaced} kinds of replacements");
    assert!(replaced > 0, "nothing was put to the proof");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fails where two views differ, except in parts that a replacement changes; a raw copy must not differ at all.
pub(crate) fn compare(
    at: &str,
    before: &Value,
    after: &Value,
    is_raw: bool,
    wrong: &mut Vec<String>,
) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, before) in before {
                let known = [&LENGTHS[..], &SEALS].concat();
                if !is_raw && known.contains(&key.as_str()) {
                    continue;
                }
                let at = format!("{at}.{key}");
                match after.get(key) {
                    Some(after) => compare(&at, before, after, is_raw, wrong),
                    None => wrong.push(format!("{at} is missing")),
                }
            }
            // A gate of a copy says that it is in one.
            let is_said = |key: &str| key == "is_copy" && after.get(key) == Some(&true.into());
            let more = after.keys();
            let more = more.filter(|key| !before.contains_key(*key) && !is_said(key));
            wrong.extend(more.map(|key| format!("{at}.{key} was added")));
        }
        (Value::Array(before), Value::Array(after)) => {
            if before.len() != after.len() {
                wrong.push(format!("{at}: {} became {}", before.len(), after.len()));
            }
            for (n, (before, after)) in before.iter().zip(after).enumerate() {
                compare(&format!("{at}[{n}]"), before, after, is_raw, wrong);
            }
        }
        (Value::String(before), Value::String(after)) => {
            let is_replaced = !is_raw && (after.contains(" #") || after.contains("left out when"));
            let lines = |text: &str| text.lines().count();
            if before != after && !(is_replaced && lines(before) == lines(after)) {
                wrong.push(format!("{at}: {before:?} became {after:?}"));
            }
        }
        _ if before == after => {}
        _ => wrong.push(format!("{at}: {before} became {after}")),
    }
}
