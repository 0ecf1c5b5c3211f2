//! The bindings that a state.md lists: from a listing of the folder, reading only heads of files that are new or replaced.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use prosescope_core::decode::binding_md::Head;
use prosescope_core::decode::folder::{binding_of, head_of, is_workings};
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
    /// The number of its inode, as the folder's listing says it.
    node: Option<u64>,
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

/// How the files of bindings are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Those that the folder's listing shows to be new or replaced: one call for many names.
    Listed,
    /// Each: a file that somebody wrote into, where it lay, is seen too.
    Each,
}

/// All bindings of the run in order of path; what its imports give back stands in their own indexes.
///
/// # Errors
/// When a folder or a file cannot be read: an index that leaves them out would say that there are none.
pub(super) fn list(root: &Dir, known: &[Known], look: Look) -> io::Result<Vec<Known>> {
    let mut listing = Listing {
        known: known.iter().map(|k| (k.path.as_str(), k)).collect(),
        look,
        found: Vec::new(),
    };
    match root.dir("bindings") {
        // A link, or a file: none of the run's bindings lie there.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
        dir => {
            if let Some(dir) = dir? {
                listing.below(&dir, "bindings", DEEP)?;
            }
        }
    }
    let mut found = listing.found;
    found.sort_by(|a, b| a.path.cmp(&b.path));
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
    Ok(names
        .into_iter()
        .filter(|(name, kind)| !is_workings(name) && (kind.is_file() || kind.is_dir()))
        .map(|(name, kind)| (name, kind.is_dir()))
        .collect())
}

struct Listing<'a> {
    known: BTreeMap<&'a str, &'a Known>,
    look: Look,
    found: Vec<Known>,
}

impl Listing<'_> {
    fn below(&mut self, dir: &Dir, folder: &str, deep: usize) -> io::Result<()> {
        for entry in dir.entries()? {
            let Some(name) = entry.name.to_str().filter(|name| !is_workings(name)) else {
                continue;
            };
            let path = format!("{folder}/{name}");
            if entry.kind.is_dir() {
                if deep > 1
                    && let Some(inner) = dir.dir(name)?
                {
                    self.below(&inner, &path, deep - 1)?;
                }
                continue;
            }
            if entry.kind.is_file()
                && let Some(binding) = self.file(dir, name, path, entry.node)?
            {
                self.found.push(binding);
            }
        }
        Ok(())
    }

    /// What is known of a file, or what its head says; `None` when it is gone.
    fn file(
        &self,
        dir: &Dir,
        name: &str,
        path: String,
        node: Option<u64>,
    ) -> io::Result<Option<Known>> {
        let known = self.known.get(path.as_str());
        let listed = known.filter(|k| self.look == Look::Listed && k.node.is_some());
        if let Some(same) = listed.filter(|k| k.node == node) {
            return Ok(Some(Known::clone(same)));
        }
        let Some(meta) = dir.look(name)? else {
            return Ok(None);
        };
        let changed =
            dir::changed(&meta).map_or((0, 0), |since| (since.as_secs(), since.subsec_nanos()));
        if let Some(same) = known.filter(|k| k.len == meta.len() && k.changed == changed) {
            return Ok(Some(Known {
                node,
                ..Known::clone(same)
            }));
        }
        let Some(head) = head(dir, name)? else {
            return Ok(None);
        };
        let binding = binding_of(&path, head, meta.len());
        let anonymous = binding.name.starts_with("anon_");
        let first = |source: &str| source.lines().next().unwrap_or_default().to_owned();
        Ok(Some(Known {
            path,
            node,
            len: meta.len(),
            changed,
            name: binding.name.to_string(),
            frame: binding.execution_id,
            kind: binding.kind.word().to_owned(),
            source: binding.source.as_deref().filter(|_| anonymous).map(first),
        }))
    }
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
