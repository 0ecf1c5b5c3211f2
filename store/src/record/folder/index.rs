//! The bindings that a state.md lists: from a listing, reading only heads of files that are new or changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use prosescope_core::decode::binding_md::Head;
use prosescope_core::decode::folder::{binding_of, head_of};
use prosescope_core::model::{Binding, BindingKind, ValueAt};
use serde::{Deserialize, Serialize};

use crate::record::files::read_part;

/// Levels below `bindings/` at most.
const DEEP: usize = 8;

/// What the head of a binding file said, as long as the file is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Its path inside the run.
    pub(super) path: String,
    len: u64,
    /// Seconds and nanoseconds.
    changed: (u64, u32),
    name: String,
    frame: Option<i64>,
    kind: String,
    /// The first line of its source, where nothing else ties it to a statement.
    source: Option<String>,
}

impl Known {
    pub(super) fn binding(&self) -> Binding {
        Binding {
            name: self.name.as_str().into(),
            execution_id: self.frame,
            kind: BindingKind::parse(&self.kind),
            value: ValueAt::File {
                path: self.path.as_str().into(),
                start: 0,
                len: self.len,
            },
            source: self.source.as_deref().map(Into::into),
            created: None,
            updated: None,
            attachment: None,
            fields: Box::default(),
            tail_known: true,
            parent_execution_id: None,
            superseded: false,
        }
    }
}

/// All bindings of the run in order of path; what its imports give back stands in their own indexes. What cannot be
/// read is left out: the reader will say so.
pub(super) fn list(root: &Path, known: &[Known]) -> Vec<Known> {
    let known: BTreeMap<&str, &Known> = known.iter().map(|k| (k.path.as_str(), k)).collect();
    let mut found = Vec::new();
    below(root, "bindings", DEEP, &known, &mut found);
    found.sort_by(|a: &Known, b| a.path.cmp(&b.path));
    found
}

/// Handles of imports, and the folders of their runs below `imports/`, in order.
pub(super) fn imports(root: &Path) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = names(&root.join("imports"))
        .into_iter()
        .filter(|(_, is_dir)| *is_dir)
        .map(|(dir, _)| {
            let handle = dir
                .split_once("--")
                .map_or(dir.as_str(), |(handle, _)| handle);
            (handle.to_owned(), dir.clone())
        })
        .collect();
    found.sort();
    found
}

/// What lies in a folder, and whether it is a folder; links and devices do not.
pub(super) fn names(dir: &Path) -> Vec<(String, bool)> {
    // A folder that is a link is none of the run's.
    let own = fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir());
    let Some(entries) = own.then(|| fs::read_dir(dir).ok()).flatten() else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let name = entry.file_name().into_string().ok()?;
            let workings =
                name == ".lock" || name.starts_with(".tmp-") || name.starts_with(".new-");
            (!workings && (kind.is_file() || kind.is_dir())).then(|| (name, kind.is_dir()))
        })
        .collect()
}

fn below(
    root: &Path,
    dir: &str,
    deep: usize,
    known: &BTreeMap<&str, &Known>,
    found: &mut Vec<Known>,
) {
    for (name, is_dir) in names(&root.join(dir)) {
        let path = format!("{dir}/{name}");
        if is_dir {
            if deep > 1 {
                below(root, &path, deep - 1, known, found);
            }
            continue;
        }
        let Ok(meta) = fs::symlink_metadata(root.join(&path)) else {
            continue;
        };
        let changed = meta
            .modified()
            .ok()
            .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
            .map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos()));
        if let Some(same) = known
            .get(path.as_str())
            .filter(|k| k.len == meta.len() && k.changed == changed)
        {
            found.push(Known::clone(same));
            continue;
        }
        let Some(head) = head(&root.join(&path)) else {
            continue;
        };
        let binding = binding_of(&path, head, meta.len());
        let anonymous = binding.name.starts_with("anon_");
        let first = |source: &str| source.lines().next().unwrap_or_default().to_owned();
        found.push(Known {
            path,
            len: meta.len(),
            changed,
            name: binding.name.to_string(),
            frame: binding.execution_id,
            kind: binding.kind.word().to_owned(),
            source: binding.source.as_deref().filter(|_| anonymous).map(first),
        });
    }
}

/// The head of a binding file; `None` when there is no such file.
pub(super) fn head(path: &Path) -> Option<Head> {
    let meta = fs::symlink_metadata(path)
        .ok()
        .filter(fs::Metadata::is_file)?;
    let stem = path.file_stem()?.to_str()?;
    head_of(stem, meta.len(), |most| {
        read_part(path, 0, most as u64).ok()
    })
}
