//! Lists the bindings for state.md from the folder's listing; reads only the headers of new and replaced files.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use prosescope_core::decode::binding_md::Head;
use prosescope_core::decode::folder::{binding_of, head_of, is_workings};
use prosescope_core::model::{Binding, BindingKind, ValueAt};
use serde::{Deserialize, Serialize};

use crate::dir::{self, Dir, part_of};

/// Limit for the levels below `bindings/`.
const DEEP: usize = 8;

/// The header of a binding file, valid while the file is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// The file's path inside the run.
    pub(super) path: String,
    /// The inode number, as the folder's listing reports it.
    node: Option<u64>,
    len: u64,
    /// The time of the file's last change: seconds and nanoseconds.
    changed: (u64, u32),
    name: String,
    frame: Option<i64>,
    kind: String,
    /// The first line of the binding's source; only for an anonymous binding such as `anon_001`.
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

/// The selection of binding files that are checked for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Only files that the folder's listing shows as new or replaced. This is quick, because the other files are not
    /// opened.
    Listed,
    /// Every file; also detects files that another tool edited in place.
    Each,
}

/// Returns all bindings of the run in order of path, without those of imported runs, which have their own state.md.
///
/// # Errors
/// If a folder or a file cannot be read: state.md would otherwise omit its bindings.
pub(super) fn list(root: &Dir, known: &[Known], look: Look) -> io::Result<Vec<Known>> {
    let mut listing = Listing {
        known: known.iter().map(|k| (k.path.as_str(), k)).collect(),
        look,
        found: Vec::new(),
    };
    match root.dir("bindings") {
        // A link or a file of this name contains no bindings of the run.
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

/// Returns the handles of imports with the folders of their runs below `imports/`, in order.
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

/// Returns the folders in a folder of the run.
pub(super) fn folders(root: &Dir, below: &str) -> io::Result<Vec<String>> {
    let names = names(root, below)?.into_iter();
    Ok(names
        .filter(|(_, is_dir)| *is_dir)
        .map(|(name, _)| name)
        .collect())
}

/// Returns the entries of a folder of the run, each with a flag that is true for a folder; links and devices are left
/// out. If the folder itself is missing, a file or a link, it has no entries.
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

    /// Returns the known facts about a file, or reads its header; `None` if the file was removed.
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

/// Reads the header of a binding file; `None` if the file does not exist.
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
