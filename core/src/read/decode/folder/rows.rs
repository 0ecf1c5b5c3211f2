//! Compares a folder's state file with the rows of its database, which describe the same run.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::few;
use crate::model::issue::Issue;
use crate::model::{Binding, BindingKind, IndexedBinding, Run, StateFile};

/// Returns contradictions between a state.md and its database about the program and the bindings. Different words for
/// the same fact are not a contradiction. A program or an index that only one of the two has is not compared. Statuses
/// are not compared here, because [`crate::trace::Verdict`] compares them.
pub fn compare_with_rows(run: &Run) -> Vec<Issue> {
    let Some(file) = &run.state_file else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    found.extend(program(file, run));
    found.extend(bindings(file, run));
    let issue = |message| {
        Issue::warning("state-file-contradicts-rows", message)
            .at_file("state.md")
            .hint("The database is used. Check which of the two was written later: usually that one is right.")
    };
    found.into_iter().map(issue).collect()
}

fn program(file: &StateFile, run: &Run) -> Option<String> {
    let base = |path: &str| {
        path.rsplit(['/', '\\'])
            .next()
            .unwrap_or(path)
            .trim()
            .to_lowercase()
    };
    let (told, row) = (file.program.as_deref()?, run.program.path.as_deref()?);
    let differ = !told.is_empty() && !row.is_empty() && base(told) != base(row);
    differ.then(|| format!("state.md names the program {told}, but the database names {row}"))
}

fn bindings(file: &StateFile, run: &Run) -> Vec<String> {
    let mut found = Vec::new();
    let indexed: Vec<&IndexedBinding> = file
        .bindings
        .iter()
        .filter(|row| !row.path.is_empty())
        .collect();
    // A state file without an index lists no bindings, so there is nothing to compare.
    if indexed.is_empty() {
        return found;
    }
    let live = run.bindings.iter().filter(|b| !b.superseded);
    let rows: BTreeMap<(&str, Option<i64>), &Binding> =
        live.map(|b| ((&*b.name, b.execution_id), b)).collect();
    let index: BTreeSet<(&str, Option<i64>)> =
        indexed.iter().map(|b| (&*b.name, b.execution_id)).collect();
    let missing: Vec<&str> = index
        .iter()
        .filter(|key| !rows.contains_key(*key))
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        found.push(format!(
            "the index of state.md names {}, but the database has no such binding",
            few(&missing)
        ));
    }
    let unnamed: Vec<&str> = rows
        .keys()
        .filter(|key| !index.contains(*key))
        .map(|(name, _)| *name)
        .collect();
    if !unnamed.is_empty() {
        found.push(format!(
            "the database contains {}, but the index of state.md does not",
            few(&unnamed)
        ));
    }
    for row in indexed {
        let kind = BindingKind::parse(&row.kind);
        let Some(binding) = rows.get(&(&*row.name, row.execution_id)) else {
            continue;
        };
        let known = |kind: &BindingKind| !matches!(kind, BindingKind::Other(_));
        if known(&kind) && known(&binding.kind) && kind != binding.kind && found.len() < 20 {
            let (told, row) = (kind.word(), binding.kind.word());
            found.push(format!(
                "{} has the kind {told} in the index of state.md, but {row} in the database",
                binding.name
            ));
        }
    }
    found
}
