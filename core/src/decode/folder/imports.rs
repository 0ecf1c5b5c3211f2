//! Imported programs: runs of their own inside the run's folder.

use std::collections::BTreeSet;

use super::bindings;
use super::tree::Tree;
use crate::issue::Issue;
use crate::model::{Binding, BindingKind, Import, Run};

/// Adds the nested runs of `imports/{handle}--{slug}/`. What lies below them is opened as a run of its own.
pub(super) fn read(tree: &mut Tree<'_>, run: &mut Run) {
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
    for dir in dirs {
        let (handle, slug) = dir.split_once("--").unwrap_or((dir, ""));
        if slug.is_empty() {
            let message = format!("imports/{dir} is not named {{handle}}--{{slug}}");
            tree.issue(
                Issue::info("import-name", message)
                    .at_file(format!("imports/{dir}"))
                    .hint("Its whole name is taken for the handle."),
            );
        }
        let nested = Some(format!("imports/{dir}").into());
        match run
            .imports
            .iter_mut()
            .find(|import| *import.alias == *handle && import.nested.is_none())
        {
            Some(known) => known.nested = nested,
            None => run.imports.push(Import {
                alias: handle.into(),
                nested,
                ..Import::default()
            }),
        }
        let found = outputs(tree, dir, handle);
        for binding in found {
            let known = |b: &Binding| b.name == binding.name && b.execution_id.is_none();
            if !run.bindings.iter().any(known) {
                run.bindings.push(binding);
            }
        }
    }
}

/// What an import gives back, under its dotted name: `research.findings` is the output `findings` of the nested run
/// (errata B12).
fn outputs(tree: &mut Tree<'_>, dir: &str, handle: &str) -> Vec<Binding> {
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
