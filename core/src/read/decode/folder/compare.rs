//! Compares the index of the state file with the files on disk.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::{few, scoped, words};
use super::tree::RunTree;
use crate::model::issue::Issue;
use crate::model::{
    Agent, AgentScope, Binding, BindingKind, IndexedBinding, Run, RunStatus, Text, ValueAt,
};
use crate::read::decode::text::{is_nothing, is_plain_path};

/// Adds bindings that only the state file's index lists, and reports contradictions between the index and the files.
pub(super) fn bindings(tree: &mut RunTree<'_>, run: &mut Run) {
    let Some(state) = &run.state_file else { return };
    let root = tree.root.clone();
    let on_disk = |b: &Binding| match &b.value {
        ValueAt::File { path, .. } => path.get(root.len()..).map(str::to_owned),
        _ => None,
    };
    let by_path: BTreeMap<String, usize> = run
        .bindings
        .iter()
        .enumerate()
        .filter_map(|(i, b)| Some((on_disk(b)?, i)))
        .collect();
    let by_name: BTreeMap<(Text, Option<i64>), usize> = run
        .bindings
        .iter()
        .enumerate()
        .map(|(i, b)| ((b.name.clone(), b.execution_id), i))
        .collect();
    // Prosescope updates the index only when a statement begins or ends. Until the run is finished, a file that
    // records its time of writing may therefore be newer than the index.
    let status = state.status.as_ref().or(run.status.as_ref());
    let finished = status.is_some_and(RunStatus::is_finished);
    let index_follows = |b: &Binding| !finished && b.updated.is_some();
    let mut indexed = vec![false; run.bindings.len()];
    let mut renamed: Vec<(usize, Text)> = Vec::new();
    let mut missing: Vec<Binding> = Vec::new();
    for row in &state.bindings {
        let path = relative(&row.path, &run.id);
        if path.is_empty() {
            continue;
        }
        let found = by_path
            .get(path)
            .or_else(|| by_path.get(&format!("bindings/{path}")))
            .or_else(|| by_name.get(&(row.name.clone(), row.execution_id)));
        match found.and_then(|&at| Some((at, run.bindings.get(at)?))) {
            Some((at, binding)) => {
                if let Some(indexed) = indexed.get_mut(at) {
                    *indexed = true;
                }
                if let Some(issue) = disagreement(row, binding, index_follows(binding)) {
                    tree.issue(issue.at_file("state.md"));
                }
                // A file name cannot represent every binding name (errata B11), so the name in the state file's index
                // counts.
                if binding.name != row.name
                    && binding.execution_id == row.execution_id
                    && !row.name.is_empty()
                {
                    renamed.push((at, row.name.clone()));
                }
            }
            None => {
                if !is_plain_path(path) {
                    let message = format!(
                        "the path of {} in the index leads out of the run: {path}",
                        row.name
                    );
                    tree.issue(
                        Issue::warning("unsafe-path", message)
                            .at_file("state.md")
                            .hint("The file at this path was not read. Correct the path in the index of `state.md`."),
                    );
                }
                missing.push(named_only(row));
            }
        }
    }
    for (at, name) in renamed {
        if let Some(binding) = run.bindings.get_mut(at) {
            binding.name = name;
        }
    }
    if !missing.is_empty() {
        tree.issue(not_on_disk(&missing));
    }
    let own = run
        .bindings
        .iter()
        .zip(&indexed)
        .filter(|(b, indexed)| !**indexed && !b.superseded && !index_follows(b));
    let unnamed: Vec<String> = own
        .filter_map(|(b, _)| on_disk(b))
        .filter(|path| path.starts_with("bindings/"))
        .collect();
    if !unnamed.is_empty() {
        tree.issue(not_indexed(&unnamed));
    }
    run.bindings.extend(missing);
}

/// Returns a path in the state file's index relative to the run; empty if the index has no path. Some writers record
/// paths from the project's root, such as `.prose/runs/r1/bindings/a.md`.
pub(super) fn relative<'p>(path: &'p str, run: &str) -> &'p str {
    let path = path.trim().trim_start_matches("./");
    if is_nothing(path) || (path.starts_with('(') && path.ends_with(')')) {
        return "";
    }
    match path.split_once(run) {
        Some((_, rest)) if !run.is_empty() && rest.starts_with('/') => rest.trim_start_matches('/'),
        _ => path,
    }
}

fn disagreement(row: &IndexedBinding, binding: &Binding, follows: bool) -> Option<Issue> {
    // A kind that OpenProse does not define may be a more specific word. Such a kind is not compared.
    let known = |kind: &BindingKind| !matches!(kind, BindingKind::Other(_));
    let indexed = BindingKind::parse(&row.kind);
    let mut parts: Vec<String> = Vec::new();
    if row.execution_id != binding.execution_id {
        parts.push(format!(
            "the index has {}, the file {}",
            words(row.execution_id),
            words(binding.execution_id)
        ));
    }
    if known(&indexed) && known(&binding.kind) && indexed != binding.kind && !follows {
        let (told, kind) = (indexed.word(), binding.kind.word());
        parts.push(format!("the index has the kind {told}, the file {kind}"));
    }
    if parts.is_empty() {
        return None;
    }
    let message = format!(
        "the index and the file {} differ: {}",
        row.path,
        parts.join("; ")
    );
    Some(
        Issue::warning("index-disagrees", message)
            .hint("The file is used. Correct the index of `state.md`."),
    )
}

/// Returns the issue of bindings that only the state file's index lists.
fn not_on_disk(bindings: &[Binding]) -> Issue {
    let names: Vec<&str> = bindings.iter().map(|b| &*b.name).collect();
    let names = few(&names);
    let message = format!("the index of state.md names {names}, but there is no such file");
    let issue = Issue::warning("binding-missing", message).at_file("state.md");
    issue.hint(
        "Check whether the file was copied with the run; otherwise the file was never written.",
    )
}

/// Returns the issue of binding files that the state file's index does not list.
fn not_indexed(paths: &[String]) -> Issue {
    let message = match paths {
        [one] => format!("{one} is on disk, but not in the index of state.md"),
        many => format!(
            "{} bindings are on disk, but not in the index of state.md: {}",
            many.len(),
            few(many)
        ),
    };
    let issue = Issue::warning("binding-not-indexed", message).at_file("state.md");
    issue.hint(
        "The files on disk are used. The state file was not updated after these files were written.",
    )
}

/// Returns a binding without a value, for a row of the state file's index whose file is missing.
pub(super) fn named_only(row: &IndexedBinding) -> Binding {
    let stem = row.path.rsplit('/').next().unwrap_or_default();
    let stem = stem.strip_suffix(".md").unwrap_or(stem);
    let name = if row.name.is_empty() {
        scoped(stem).map_or(stem, |(base, _)| base)
    } else {
        &row.name
    };
    Binding {
        name: name.into(),
        execution_id: row.execution_id,
        kind: BindingKind::parse(&row.kind),
        tail_known: true,
        ..Binding::default()
    }
}

/// Sorts agents into the order of the state file's index, and adds the indexed agents whose folder is missing.
pub(super) fn agents(tree: &mut RunTree<'_>, run: &mut Run) {
    let Some(state) = &run.state_file else { return };
    let place: BTreeMap<&str, usize> = state
        .agents
        .iter()
        .enumerate()
        .rev()
        .map(|(i, a)| (&*a.name, i))
        .collect();
    run.agents
        .sort_by_key(|agent| place.get(&*agent.name).copied().unwrap_or(usize::MAX));
    let mut known: BTreeSet<Text> = run.agents.iter().map(|a| Text::clone(&a.name)).collect();
    for row in &state.agents {
        let own = row
            .scope
            .as_ref()
            .is_none_or(|scope| *scope == AgentScope::Execution);
        let path = row
            .path
            .as_deref()
            .map(|path| relative(path, &run.id))
            .unwrap_or_default();
        let placed = path
            .strip_prefix("agents/")
            .is_some_and(|rest| !rest.is_empty());
        if !own || !placed || !known.insert(Text::clone(&row.name)) {
            continue;
        }
        let message = format!(
            "the index lists agent {}, but its folder {path} is missing",
            row.name
        );
        tree.issue(
            Issue::noted("agent-missing", message)
                .at_file("state.md")
                .hint("The agent may not have been called yet; otherwise check whether the folder was copied."),
        );
        run.agents.push(named_agent(&row.name, path));
    }
}

/// Returns an agent without a memory, for a row of the state file's index whose folder is missing.
pub(super) fn named_agent(name: &Text, path: &str) -> Agent {
    Agent {
        name: name.clone(),
        store: path.into(),
        ..Agent::default()
    }
}
