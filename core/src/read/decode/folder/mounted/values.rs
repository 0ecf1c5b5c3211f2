//! Reads the published values as bindings: the files of `world-model/`, or those in the versions of a reactor.

use std::collections::BTreeMap;

use super::receipt::Receipt;
use crate::model::issue::Issue;
use crate::model::source::FileEntry;
use crate::model::text::unhex;
use crate::model::{Binding, BindingKind, FolderForm, Run, Status, Text, ValueAt};
use crate::read::decode::folder::bindings::head_of;
use crate::read::decode::folder::tree::RunTree;

/// The folder of the values that the caller gave.
const CALLER: &str = "caller";
/// Maximum number of values that are read.
const MOST_VALUES: usize = 100_000;
/// The beginning of a file with all values of one version.
const MAGIC: &[u8] = b"OPWM1";
/// Maximum bytes read of one such file.
const MOST_BIN: usize = 32 << 20;

/// Adds a binding for each published file. `last` is the last receipt of each node.
pub(super) fn read(
    tree: &mut RunTree<'_>,
    run: &mut Run,
    form: FolderForm,
    last: &BTreeMap<&str, &Receipt>,
) {
    let dir = match form {
        FolderForm::Reactor => "world-models/",
        _ => "world-model/",
    };
    let mut versions: BTreeMap<Text, Text> = BTreeMap::new();
    let mut found = Vec::new();
    for place in tree.under(dir) {
        let Some(file) = tree.at(place) else { continue };
        let path = tree.relative(file);
        let Some((node, below)) = path.get(dir.len()..).and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        if form == FolderForm::Reactor {
            if below == "published.json"
                && let Some(version) = version(tree, file)
            {
                let (node, start) = (node_of(node), path.len() - below.len());
                let bin = format!(
                    "{}versions/{}.bin",
                    &path[..start],
                    version.replace(':', "_")
                );
                versions.insert(node.clone(), version);
                found.extend(of_bin(tree, &bin, &node));
            }
        } else if below == ".version" {
            if let Some(text) = tree.text(file, 200) {
                versions.insert(node.into(), text.trim().into());
            }
        } else if node == CALLER {
            found.push((CALLER.into(), given(tree, file, below)));
        } else {
            let name = below.strip_prefix("published/").unwrap_or(below);
            let name = name.strip_suffix(".md").unwrap_or(name);
            let value = ValueAt::file(&file.path, file.len);
            found.push((node.into(), published(format!("{node}/{name}"), value)));
        }
    }
    for (node, mut binding) in found.into_iter().take(MOST_VALUES) {
        let mut fields = Vec::new();
        if let Some(version) = versions.get(&node) {
            fields.push(("version".into(), version.clone()));
        }
        // A failure does not change what is published.
        if last
            .get(&*node)
            .is_some_and(|receipt| receipt.status == Status::Failed)
        {
            fields.push((
                "from".into(),
                "an earlier receipt: the last one is a failure".into(),
            ));
        }
        if !fields.is_empty() {
            binding.fields = fields.into();
        }
        run.bindings.push(binding);
    }
}

fn published(name: String, value: ValueAt) -> Binding {
    Binding {
        name: name.into(),
        kind: BindingKind::Output,
        value,
        tail_known: true,
        ..Binding::default()
    }
}

/// Reads a value that the caller gave.
fn given(tree: &mut RunTree<'_>, file: &FileEntry, name: &str) -> Binding {
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let head = head_of(stem, file.len, |most| tree.head(file, most)).unwrap_or_default();
    Binding {
        kind: BindingKind::Input,
        value: ValueAt::File {
            path: file.path.as_str().into(),
            start: head.start,
            len: file.len.saturating_sub(head.start),
        },
        ..published(stem.to_owned(), ValueAt::Missing)
    }
}

/// Returns the version that a reactor publishes.
fn version(tree: &mut RunTree<'_>, file: &FileEntry) -> Option<Text> {
    let json: serde_json::Value = serde_json::from_str(&tree.text(file, 1 << 20)?).ok()?;
    json.get("version")?.as_str().map(Into::into)
}

/// Returns the node whose id a folder's name encodes in hexadecimal digits.
fn node_of(hex: &str) -> Text {
    let bytes = unhex(hex);
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map_or_else(|| hex.into(), Into::into)
}

/// Returns the values in a file of one version, each with its node. The file has the sign `OPWM1`, the number of its
/// parts, and for each part the lengths and bytes of its path and its content.
fn of_bin(tree: &mut RunTree<'_>, path: &str, node: &Text) -> Vec<(Text, Binding)> {
    let Some(file) = tree.get(path) else {
        let message = format!("{path} is missing, which has the published values of {node}");
        let issue = Issue::warning("binding-missing", message).at_file(path);
        tree.issue(issue.hint("Check whether the whole folder was copied."));
        return Vec::new();
    };
    let Some(bytes) = tree.head(file, MOST_BIN) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    let read = parts_of(&bytes, |name, start, len| {
        let name = name.strip_suffix(".md").unwrap_or(name);
        let (path, start, len) = (file.path.as_str().into(), start as u64, len as u64);
        let value = ValueAt::File { path, start, len };
        parts.push((node.clone(), published(format!("{node}/{name}"), value)));
    });
    if read.is_none() {
        let message = format!("{path} is not a whole file of published values");
        let issue = Issue::warning("world-model-cut", message).at_file(path);
        tree.issue(issue.hint("The values before the damage are shown. Copy the file again."));
    }
    parts
}

/// Passes each part's path, and the start and length of its content; `None` if the bytes end too early.
fn parts_of(bytes: &[u8], mut each: impl FnMut(&str, usize, usize)) -> Option<()> {
    let mut at = bytes.starts_with(MAGIC).then_some(MAGIC.len())?;
    let number = |at: usize| {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(four)).ok()
    };
    let count = number(at)?;
    at += 4;
    for _ in 0..count.min(MOST_VALUES) {
        let len = number(at)?;
        let name = bytes.get(at + 4..(at + 4).checked_add(len)?)?;
        at += 4 + len;
        let len = number(at)?;
        bytes.get(at + 4..(at + 4).checked_add(len)?)?;
        each(&String::from_utf8_lossy(name), at + 4, len);
        at += 4 + len;
    }
    Some(())
}
