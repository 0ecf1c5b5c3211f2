//! Reads imported programs: nested runs inside the run's folder, and `x_imports.jsonl` with one row of `imports` per
//! line.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings;
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::{Binding, BindingKind, Import, Run, Text};
use crate::read::decode::room::bytes_a_row;
use crate::read::decode::{fields, jsonl};

/// Maximum bytes read of `x_imports.jsonl`.
const LOG_MOST: usize = 16 << 20;

/// Adds the imports in `x_imports.jsonl`. If a handle has several lines, the last line is used.
pub(super) fn rows(tree: &mut RunTree<'_>, run: &mut Run) {
    let Some(log) = tree
        .get("x_imports.jsonl")
        .and_then(|file| tree.text(file, LOG_MOST))
    else {
        return;
    };
    let log = tree.first_rows("x_imports.jsonl", bytes_a_row(schema::IMPORTS), &log);
    let (imports, issues) = imports(log);
    run.imports.extend(imports);
    tree.issues_of("x_imports.jsonl", issues);
}

/// Returns the import of a handle from the text of an `x_imports.jsonl`. The handle's last line is used.
pub fn import_row(log: &str, alias: &str) -> Option<Import> {
    let mut all = imports(log).0.into_iter();
    all.find(|import| *import.alias == *alias)
}

/// Returns the imports of a log, each at the position of its handle's first line.
fn imports(log: &str) -> (Vec<Import>, Vec<Issue>) {
    let mut imports: Vec<Import> = Vec::new();
    let mut places: BTreeMap<Text, usize> = BTreeMap::new();
    let issues = jsonl::lines(log, |_, mut object| {
        let import = fields::import(&mut object);
        let place = places
            .entry(Text::clone(&import.alias))
            .or_insert(imports.len());
        match imports.get_mut(*place) {
            Some(known) => *known = import,
            None => imports.push(import),
        }
        Ok(())
    });
    (imports, issues)
}

/// Adds the nested runs of `imports/{handle}--{slug}/` and their outputs. Other contents of a nested run are read only
/// when that nested run is opened as a run of its own.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run) {
    let mut dirs: BTreeSet<&str> = BTreeSet::new();
    for place in tree.under("imports/") {
        let Some(file) = tree.at(place) else { continue };
        if let Some((dir, _)) = tree
            .relative(file)
            .strip_prefix("imports/")
            .and_then(|rest| rest.split_once('/'))
        {
            dirs.insert(dir);
        }
    }
    // Imports in `x_imports.jsonl` keep the log's order. The first nested run of a handle is attached to the import of
    // the same handle in that log.
    let named = run.imports.iter().enumerate().rev();
    let mut named: BTreeMap<Text, usize> = named
        .map(|(at, import)| (Text::clone(&import.alias), at))
        .collect();
    let at_root = run.bindings.iter().filter(|b| b.execution_id.is_none());
    let mut known_names: BTreeSet<Text> = at_root.map(|b| Text::clone(&b.name)).collect();
    for dir in dirs {
        let (handle, slug) = dir.split_once("--").unwrap_or((dir, ""));
        if slug.is_empty() {
            let message = format!("the folder imports/{dir} is not named `{{handle}}--{{slug}}`");
            tree.issue(
                Issue::noted("import-name", message)
                    .at_file(format!("imports/{dir}"))
                    .hint("The whole name of the folder is used as the handle of the import."),
            );
        }
        let nested = Some(format!("imports/{dir}").into());
        let known = named.remove(handle);
        match known.and_then(|at| run.imports.get_mut(at)) {
            Some(known) => known.nested = nested,
            None => run.imports.push(Import {
                alias: handle.into(),
                nested,
                ..Import::default()
            }),
        }
        let found = outputs(tree, dir, handle);
        for binding in found {
            if known_names.insert(Text::clone(&binding.name)) {
                run.bindings.push(binding);
            }
        }
    }
}

/// Returns the outputs of an import under their dotted names: `research.findings` is the output `findings` of the
/// nested run (errata B12).
fn outputs(tree: &mut RunTree<'_>, dir: &str, handle: &str) -> Vec<Binding> {
    let folder = format!("imports/{dir}/bindings/");
    let mut found = Vec::new();
    for place in tree.under(&folder) {
        let Some(file) = tree.at(place) else { continue };
        let name = tree.relative(file).get(folder.len()..).unwrap_or_default();
        if name.contains('/') {
            continue;
        }
        let (mut binding, _) = bindings::read_one(tree, file, name);
        if binding.kind == BindingKind::Output && binding.execution_id.is_none() {
            binding.name = format!("{handle}.{}", binding.name).into();
            found.push(binding);
        }
    }
    found
}
