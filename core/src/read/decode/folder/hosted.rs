//! Reads the download of a hosted run: its files, and last the marker that lists them with their hashes
//! (docs/reference/formats.md).

use serde_json::{Map, Value};

use super::state;
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::{Binding, BindingKind, Run, ValueAt};
use crate::read::decode::jsonl::text;

/// The marker of a complete download.
pub(super) const MARKER: &str = ".prose-run-manifest.json";
/// Maximum bytes read of the marker.
const MOST: usize = 16 << 20;

/// Keys of the marker's record of the run that tell a reader nothing: its files are listed as files.
const NO_FACTS: [&str; 3] = ["program_ref", "files", "session_files"];

/// Reads the marker into the run; returns `false` if the folder has none.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) -> bool {
    let Some(file) = tree.get(MARKER) else {
        return false;
    };
    let marker = tree.text(file, MOST);
    let marker = marker.and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok());
    let Some(marker) = marker else {
        let message = format!("{MARKER} is not readable");
        let issue = Issue::error("malformed-json", message).at_file(MARKER);
        tree.issue(issue.hint("Download the run again. Its files are shown as files."));
        return true;
    };
    if let Some(Value::Object(record)) = marker.get("run") {
        let program = record.get("program_ref").and_then(text);
        run.program.path = program.or(run.program.path.take());
        state::take_record(run, MARKER, record, &NO_FACTS);
    }
    let listed = marker.get("download").and_then(|of| of.get("files"));
    for entry in listed.and_then(Value::as_array).into_iter().flatten() {
        let Some(path) = entry.get("path").and_then(Value::as_str) else {
            continue;
        };
        let len = entry.get("bytes").and_then(Value::as_u64);
        let found = tree.get(path);
        if let Some(name) = path.strip_prefix("outputs/") {
            let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
            run.bindings.push(Binding {
                name: name.into(),
                kind: BindingKind::Output,
                value: found.map_or(ValueAt::Missing, |file| ValueAt::file(&file.path, file.len)),
                tail_known: true,
                ..Binding::default()
            });
        }
        let wrong = match found {
            None => "is missing".to_owned(),
            Some(file) if len.is_some_and(|len| len != file.len) => {
                format!(
                    "has {} bytes instead of {}",
                    file.len,
                    len.unwrap_or_default()
                )
            }
            Some(_) => continue,
        };
        let issue = Issue::error("download-incomplete", format!("{path} {wrong}"));
        tree.issue(issue.at_file(path).hint("Download the run again."));
    }
    true
}
