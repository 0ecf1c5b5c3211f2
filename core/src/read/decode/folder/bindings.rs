//! Reads the bindings of a run folder, from file names, headers and the index in the state file.

use std::collections::BTreeMap;

use super::compare::relative;
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::source::FileEntry;
use crate::model::text::short;
use crate::model::{Binding, BindingKind, IndexedBinding, Run, Text, ValueAt};
use crate::read::decode::binding_md::{self, BindingHeader, FIRST_PART, LONGEST_HEADER};

/// Maximum number of files read as bindings. Further files appear only in the list of files.
const MOST_BINDINGS: usize = 100_000;

/// Reads all bindings, in the order of the state file's index if there is one, otherwise by path.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) {
    let places = tree.under("bindings/");
    if places.len() > MOST_BINDINGS {
        let message = format!(
            "there are {} binding files; only the first {MOST_BINDINGS} are read as bindings",
            places.len()
        );
        tree.issue(
            Issue::warning("bindings-cut", message)
                .hint("Open the other binding files in the list of files."),
        );
    }
    let mut unknown: BTreeMap<String, Vec<Text>> = BTreeMap::new();
    let mut found: Vec<(String, Binding)> = Vec::new();
    for place in places.take(MOST_BINDINGS) {
        let Some(file) = tree.at(place) else { continue };
        let path = tree.relative(file);
        let name = path.strip_prefix("bindings/").unwrap_or(path);
        let (binding, heading) = read_one(tree, file, name);
        if let Some(heading) = heading {
            headed(tree, run, path, &heading);
        }
        if let BindingKind::Other(kind) = &binding.kind
            && !kind.is_empty()
        {
            unknown
                .entry(kind.to_string())
                .or_default()
                .push(binding.name.clone());
        }
        found.push((path.to_owned(), binding));
    }
    for (kind, names) in unknown {
        // A writer may record any text as a kind (errata B10).
        let message = format!(
            "the kind \u{201c}{}\u{201d} of {} is not `input`, `output`, `let` or `const`",
            kind,
            few(&names)
        );
        tree.issue(Issue::noted("unknown-kind", message).hint("The kind is shown as written."));
    }
    if let Some(file) = &run.state_file {
        in_order_of_index(&mut found, &file.bindings, &run.id);
    }
    clashes(tree, &mut found);
    run.bindings
        .extend(found.into_iter().map(|(_, binding)| binding));
}

/// Adds an issue for a heading that differs from the file's name (docs/reference/formats.md). There is no issue if only
/// case or punctuation differs, or if the state file's index lists the file under that heading.
fn headed(tree: &mut RunTree<'_>, run: &Run, path: &str, heading: &str) {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let stem = path.strip_prefix("bindings/").unwrap_or(path);
    let stem = stem.strip_suffix(".md").unwrap_or(stem);
    let last = stem.rsplit('/').next().unwrap_or(stem);
    let base = scoped(last).map_or(last, |(base, _)| base);
    let said = plain(heading);
    if said.is_empty() || [stem, last, base].iter().any(|name| plain(name) == said) {
        return;
    }
    let index = run.state_file.iter().flat_map(|file| &file.bindings);
    let mut index = index.filter(|row| *row.name == *heading);
    if index.any(|row| relative(&row.path, &run.id) == path) {
        return;
    }
    let message = format!(
        "the heading of {path} is not the name of the binding: \u{201c}{}\u{201d}",
        short(heading, 60)
    );
    tree.issue(Issue::noted("binding-heading", message).at_file(path).hint(
        "The binding is named after its file. Check whether the file contains the right value.",
    ));
}

/// Reads the head of one binding file. Returns the binding and the file's heading. `name` is the file's path below
/// `bindings/`.
pub(super) fn read_one(
    tree: &mut RunTree<'_>,
    file: &FileEntry,
    name: &str,
) -> (Binding, Option<Text>) {
    let path = tree.inside(file).to_owned();
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let head = head(tree, file, stem).unwrap_or_default();
    tree.issues_of(&path, head.issues.clone());
    if head.encrypted {
        tree.sealed.push(path.clone());
    }
    let heading = head.name.clone();
    let (binding, issue) = of_head(&path, &file.path, stem, head, file.len);
    if let Some(issue) = issue {
        tree.issue(issue);
    }
    (binding, heading)
}

/// Builds a binding from the head of its file, with an issue if the file's name and header contradict each other.
///
/// `path` is the file's path inside the run, `full` its path inside the source, and `stem` its path below `bindings/`
/// without `.md`. `len` is the file's length in bytes.
fn of_head(
    path: &str,
    full: &str,
    stem: &str,
    head: BindingHeader,
    len: u64,
) -> (Binding, Option<Issue>) {
    let (name, execution_id, issue) = scope(path, stem, &head);
    let binding = Binding {
        name,
        execution_id,
        kind: BindingKind::parse(head.kind.as_deref().unwrap_or_default()),
        value: ValueAt::File {
            path: full.into(),
            start: head.start,
            len: len.saturating_sub(head.start),
        },
        source: head.source,
        created: head.created.or_else(|| head.updated.clone()),
        updated: head.updated,
        attachment: head.attachment,
        fields: head.extra.into(),
        tail_known: true,
        parent_execution_id: head.parent_execution_id,
        ..Binding::default()
    };
    (binding, issue)
}

/// Builds a binding from its path inside the run folder (`bindings/result__43.md`, `imports/r--x/bindings/a.md`) and
/// the head of its file, as [`super::decode`] does. Used by a writer that reads the heads itself.
pub fn binding_of(path: &str, head: BindingHeader, len: u64) -> Binding {
    let below = path
        .split_once("bindings/")
        .map_or(path, |(_, below)| below);
    let stem = below.strip_suffix(".md").unwrap_or(below);
    of_head(path, path, stem, head, len).0
}

fn head(tree: &mut RunTree<'_>, file: &FileEntry, stem: &str) -> Option<BindingHeader> {
    head_of(stem, file.len, |most| tree.head(file, most))
}

/// Parses the head of a binding file that is `len` bytes long. `first` reads the requested number of bytes from the
/// file's start.
pub fn head_of(
    stem: &str,
    len: u64,
    mut first: impl FnMut(usize) -> Option<Vec<u8>>,
) -> Option<BindingHeader> {
    let base = stem.rsplit('/').next().unwrap_or(stem);
    let mut most = FIRST_PART;
    loop {
        let bytes = first(most)?;
        let whole = bytes.len() < most || bytes.len() as u64 >= len || most >= LONGEST_HEADER;
        match binding_md::parse(&bytes, whole, base) {
            None if !whole => most = most.saturating_mul(8).min(LONGEST_HEADER),
            head => return Some(head.unwrap_or_default()),
        }
    }
}

/// Returns a binding's name and frame, and an issue if the file's name and header contradict each other. `result__43`
/// is `result` of frame 43 if the header has the same frame or none (errata F1, B11).
fn scope(path: &str, stem: &str, head: &BindingHeader) -> (Text, Option<i64>, Option<Issue>) {
    let by_name = scoped(stem);
    let Some((base, by_name)) = by_name else {
        let issue = head.execution_id.map(|id| {
            let message = format!(
                "the header of {path} names frame {id}, but the file's name contains no frame"
            );
            Issue::warning("binding-frame", message)
                .at_file(path)
                .hint(format!(
                    "The header is used. OpenProse would name the file `{stem}__{id}.md`."
                ))
        });
        return (stem.into(), head.execution_id, issue);
    };
    let by_header = match head.execution_id {
        Some(id) if id == by_name => return (base.into(), Some(by_name), None),
        Some(id) => Some(id),
        None if head.says_root => None,
        None => return (base.into(), Some(by_name), None),
    };
    let words = by_header.map_or("the root".to_owned(), |id| format!("frame {id}"));
    let issue = Issue::warning(
        "binding-frame",
        format!("the name of {path} contains frame {by_name}, but its header names {words}"),
    )
    .at_file(path)
    .hint(
        "The header is used, because the name of a binding may end in `__` and digits by chance.",
    );
    // The number is removed from the name only if the header has the shorter name.
    let name = if head.name.as_deref() == Some(base) {
        base
    } else {
        stem
    };
    (name.into(), by_header, Some(issue))
}

/// Splits `result__43` into `result` and 43.
pub fn scoped(stem: &str) -> Option<(&str, i64)> {
    let (base, digits) = stem.rsplit_once("__")?;
    let plain =
        !base.is_empty() && !base.ends_with('/') && digits.bytes().all(|b| b.is_ascii_digit());
    Some((base, plain.then(|| digits.parse().ok()).flatten()?))
}

/// Sorts bindings into the order of the state file's index; other bindings follow in their present order. `found`
/// contains each binding with its path inside the run.
pub fn in_order_of_index(found: &mut [(String, Binding)], index: &[IndexedBinding], run: &str) {
    let rows = index.iter().enumerate().rev();
    let place: BTreeMap<&str, usize> = rows.map(|(i, row)| (relative(&row.path, run), i)).collect();
    found.sort_by_key(|(path, _)| place.get(path.as_str()).copied().unwrap_or(usize::MAX));
}

/// Adds an issue for two files of one binding, and marks the binding of the first file as superseded.
fn clashes(tree: &mut RunTree<'_>, found: &mut [(String, Binding)]) {
    let mut seen: BTreeMap<(Text, Option<i64>), usize> = BTreeMap::new();
    let mut superseded: Vec<usize> = Vec::new();
    for (i, (path, binding)) in found.iter().enumerate() {
        let frame = binding.execution_id;
        if let Some(before) = seen.insert((binding.name.clone(), frame), i) {
            superseded.push(before);
            let first = found.get(before).map_or("", |(path, _)| path.as_str());
            let message = format!(
                "{first} and {path} both contain the binding {} of {}",
                binding.name,
                words(frame)
            );
            tree.issue(
                Issue::warning("duplicate-binding", message)
                    .at_file(path.clone())
                    .hint("The second file is used. Remove the file with the wrong value."),
            );
        }
    }
    for i in superseded {
        if let Some((_, binding)) = found.get_mut(i) {
            binding.superseded = true;
        }
    }
}

pub(super) fn words(frame: Option<i64>) -> String {
    frame.map_or("the root".to_owned(), |id| format!("frame {id}"))
}

/// Returns the first five names and the number of further names, for a message.
pub(super) fn few<T: AsRef<str>>(names: &[T]) -> String {
    let mut out: Vec<&str> = names.iter().take(5).map(AsRef::as_ref).collect();
    let more = format!("{} more", names.len().saturating_sub(5));
    if names.len() > 5 {
        out.push(&more);
    }
    out.join(", ")
}
