//! The bindings that a state.md lists: from a listing, reading only heads of files that are new or changed.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use prosescope_core::decode::binding_md::Head;
use prosescope_core::decode::folder::{binding_of, head_of};
use prosescope_core::model::{Binding, BindingKind, ValueAt};
use serde::{Deserialize, Serialize};

use crate::dir::{self, Dir, part_of};

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

/// All bindings of the run in order of path; what its imports give back stands in their own indexes.
///
/// # Errors
/// When a folder or a file cannot be read: an index that leaves them out would say that there are none.
pub(super) fn list(root: &Dir, known: &[Known]) -> io::Result<Vec<Known>> {
    let known: BTreeMap<&str, &Known> = known.iter().map(|k| (k.path.as_str(), k)).collect();
    let mut found = Vec::new();
    below(root, "bindings", DEEP, &known, &mut found)?;
    found.sort_by(|a: &Known, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Handles of imports, and the folders of their runs below `imports/`, in order.
pub(super) fn imports(root: &Dir) -> io::Result<Vec<(String, String)>> {
    let mut found: Vec<(String, String)> = folders(root, "imports")?
        .into_iter()
        .map(|dir| {
            let handle = dir
                .split_once("--")
                .map_or(dir.as_str(), |(handle, _)| handle);
            (handle.to_owned(), dir.clone())
        })
        .collect();
    found.sort();
    Ok(found)
}

/// The folders in a folder of the run.
pub(super) fn folders(root: &Dir, below: &str) -> io::Result<Vec<String>> {
    let names = names(root, below)?.into_iter();
    Ok(names
        .filter(|(_, is_dir)| *is_dir)
        .map(|(name, _)| name)
        .collect())
}

/// What lies in a folder of the run, and whether it is a folder; links and devices do not. A folder that is a link is
/// none of the run's.
pub(super) fn names(root: &Dir, below: &str) -> io::Result<Vec<(String, bool)>> {
    let names = match root.names(below) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Vec::new(),
        names => names?,
    };
    let workings =
        |name: &str| name == ".lock" || name.starts_with(".tmp-") || name.starts_with(".new-");
    Ok(names
        .into_iter()
        .filter(|(name, kind)| !workings(name) && (kind.is_file() || kind.is_dir()))
        .map(|(name, kind)| (name, kind.is_dir()))
        .collect())
}

fn below(
    root: &Dir,
    folder: &str,
    deep: usize,
    known: &BTreeMap<&str, &Known>,
    found: &mut Vec<Known>,
) -> io::Result<()> {
    let names = names(root, folder)?;
    // Opened once for all that lies in it.
    let Some(own) = (match names.is_empty() {
        true => None,
        false => root.dir(folder)?,
    }) else {
        return Ok(());
    };
    for (name, is_dir) in names {
        let path = format!("{folder}/{name}");
        if is_dir {
            if deep > 1 {
                below(root, &path, deep - 1, known, found)?;
            }
            continue;
        }
        let Some(meta) = own.look(&name)? else {
            continue;
        };
        let changed =
            dir::changed(&meta).map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos()));
        if let Some(same) = known
            .get(path.as_str())
            .filter(|k| k.len == meta.len() && k.changed == changed)
        {
            found.push(Known::clone(same));
            continue;
        }
        let Some(head) = head(&own, &name)? else {
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
    Ok(())
}

/// The head of a binding file; `None` when there is no such file.
pub(super) fn head(root: &Dir, path: &str) -> io::Result<Option<Head>> {
    let Some(file) = root.file(path)? else {
        return Ok(None);
    };
    let Some(stem) = Path::new(path).file_stem().and_then(|stem| stem.to_str()) else {
        return Ok(None);
    };
    let mut wrong = None;
    let head = head_of(stem, file.metadata()?.len(), |most| {
        let file = file
            .try_clone()
            .and_then(|file| part_of(file, 0, most as u64));
        file.map_err(|error| wrong = Some(error)).ok()
    });
    match wrong {
        Some(error) => Err(error),
        None => Ok(head),
    }
}
