//! Reads earlier values from Prosescope's history files: `x_history/bindings/{stem}/{n}.md` and
//! `x_history/agents/{name}/{n}.md` (errata B6, A1, "Folder form").

use std::collections::BTreeMap;

use super::bindings::{head_of, scoped};
use crate::model::source::{FileEntry, Source};
use crate::model::{BindingKind, Text, ValueAt};
use crate::read::decode::rows::Version;

const BINDINGS: &str = "x_history/bindings/";
const AGENTS: &str = "x_history/agents/";

/// Returns the number of earlier values per binding, by name and frame. Bindings without earlier values are omitted.
pub fn version_counts(source: &dyn Source, root: &str) -> BTreeMap<(Text, Option<i64>), u32> {
    let mut counts = BTreeMap::new();
    let dir = format!("{root}{BINDINGS}");
    for file in source.below(&dir) {
        let inside = file.path.get(dir.len()..).unwrap_or_default();
        let Some((stem, _)) = inside.rsplit_once('/').filter(|_| number(file).is_some()) else {
            continue;
        };
        let key = scoped(stem).map_or((stem, None), |(name, frame)| (name, Some(frame)));
        *counts.entry((key.0.into(), key.1)).or_insert(0) += 1;
    }
    counts
}

/// Returns the earlier values of a binding, oldest first.
pub fn binding_versions(
    source: &dyn Source,
    root: &str,
    name: &str,
    execution_id: Option<i64>,
) -> Vec<Version> {
    let stem = match execution_id {
        Some(id) => format!("{name}__{id}"),
        None => name.to_owned(),
    };
    let mut versions: Vec<Version> = numbered(source, &format!("{root}{BINDINGS}{stem}/"))
        .into_iter()
        .map(|file| {
            let head = head_of(&stem, file.len, |most| {
                source.read(&file.path, 0, most).ok()
            });
            let head = head.unwrap_or_default();
            Version {
                kind: BindingKind::parse(head.kind.as_deref().unwrap_or_default()),
                source: head.source,
                created: head.created.or_else(|| head.updated.clone()),
                updated: head.updated,
                attachment: head.attachment,
                value: ValueAt::File {
                    path: file.path.as_str().into(),
                    start: head.start,
                    len: file.len.saturating_sub(head.start),
                },
                ..Version::default()
            }
        })
        .collect();
    // An earlier value was replaced at the time when the next value was written.
    for at in 1..versions.len() {
        let next = versions.get(at).and_then(|next| next.updated.clone());
        if let Some(version) = versions.get_mut(at - 1) {
            version.replaced = next;
        }
    }
    versions
}

/// Returns the earlier memories of an agent, oldest first.
pub fn memory_versions(source: &dyn Source, root: &str, agent: &str) -> Vec<Version> {
    numbered(source, &format!("{root}{AGENTS}{agent}/"))
        .into_iter()
        .map(|file| Version {
            updated: file.modified.clone(),
            value: ValueAt::file(&file.path, file.len),
            ..Version::default()
        })
        .collect()
}

/// Returns the files of a folder whose names are numbers, in numeric order.
fn numbered<'a>(source: &'a dyn Source, dir: &str) -> Vec<&'a FileEntry> {
    let mut files: Vec<(u64, &FileEntry)> = source
        .below(dir)
        .iter()
        .filter(|file| !file.path.get(dir.len()..).unwrap_or_default().contains('/'))
        .filter_map(|file| Some((number(file)?, file)))
        .collect();
    files.sort_by_key(|(number, _)| *number);
    files.into_iter().map(|(_, file)| file).collect()
}

fn number(file: &FileEntry) -> Option<u64> {
    let name = file.path.rsplit('/').next()?;
    name.strip_suffix(".md")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::sqlite::MemorySource;

    #[test]
    fn earlier_values_are_found_the_oldest_first() {
        let old = "# a\n\nkind: let\nupdated: 2026-01-15T14:30:52Z\n\n---\n\none";
        let newer = "# a\n\nkind: let\nupdated: 2026-01-15T14:31:00Z\n\n---\n\ntwo";
        let files = [
            ("runs/r/x_history/bindings/a/2.md", newer),
            ("runs/r/x_history/bindings/a/10.md", "ten"),
            ("runs/r/x_history/bindings/a/1.md", old),
            ("runs/r/x_history/bindings/a/notes.txt", "no"),
            ("runs/r/x_history/bindings/b__43/1.md", old),
            ("runs/r/x_history/agents/captain/1.md", "memory"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let source = MemorySource::new("x", files);
        let counts = version_counts(&source, "runs/r/");
        let counts: Vec<_> = counts.iter().map(|((n, f), c)| (&**n, *f, *c)).collect();
        assert_eq!(counts, [("a", None, 3), ("b", Some(43), 1)]);
        let versions = binding_versions(&source, "runs/r/", "a", None);
        let value = |v: &Version| match &v.value {
            ValueAt::File { path, start, .. } => {
                String::from_utf8(source.read(path, *start, 100).unwrap()).unwrap()
            }
            other => panic!("{other:?}"),
        };
        let values: Vec<String> = versions.iter().map(value).collect();
        assert_eq!(values, ["one", "two", "ten"]);
        assert_eq!(versions[0].replaced, versions[1].updated);
        let memories = memory_versions(&source, "runs/r/", "captain");
        assert_eq!(value(&memories[0]), "memory");
    }
}
