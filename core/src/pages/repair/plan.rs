use std::collections::{BTreeMap, BTreeSet};

use crate::model::{FolderForm, Form, Run, RunStatus, ValueAt};
use crate::pages::session::{Session, pages};
use crate::trace::{NodeId, Trace};

/// The facts about a damaged database that are gathered before its rows are copied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repair {
    /// The run's id, even if the run's row is missing.
    pub(super) run: String,
    /// The corrected status of the run's row; `None` if the recorded status is right.
    pub(super) status: Option<String>,
    /// The executions with a wrong parent, by id. Each has the correct parent (`None` is the root) and the rule that
    /// reports the wrong parent.
    pub(super) parents: BTreeMap<i64, (Option<i64>, &'static str)>,
    /// The ids of rows of `bindings` that a later row replaced.
    pub(super) superseded: BTreeSet<i64>,
    /// The current time, in the format of the rows.
    pub(super) at: String,
    /// Program path, source and status for the run's row, if that row is missing.
    pub(super) missing_run: (Option<String>, Option<String>, String),
}

/// Plans the repair of a decoded run and its trace; `at` is the current time in the format of the rows.
pub fn plan(run: &Run, trace: &Trace, at: &str) -> Repair {
    let believed = &trace.verdict.status;
    let recorded = run.status.as_ref().map(RunStatus::word);
    // Only a run with one of these statuses has ended. A waiting or silent run may continue, so its recorded status is
    // kept.
    let ends = matches!(believed.as_str(), "completed" | "failed" | "interrupted");
    let stale = recorded.is_some_and(|word| word != believed) && ends;
    let superseded = run.bindings.iter().filter(|b| b.superseded);
    Repair {
        run: run.id.to_string(),
        status: stale.then(|| believed.clone()),
        parents: parents(run, trace),
        superseded: superseded
            .filter_map(|binding| match binding.value {
                ValueAt::Row { rowid, .. } => Some(rowid),
                _ => None,
            })
            .collect(),
        at: at.to_owned(),
        missing_run: (
            run.program.path.as_deref().map(str::to_owned),
            run.program.source.as_deref().map(str::to_owned),
            if ends {
                believed.clone()
            } else {
                "running".to_owned()
            },
        ),
    }
}

/// The rules that report a state file which contradicts the rows or the files. Such a state file is rendered again.
const STALE: [&str; 7] = [
    "binding-not-indexed",
    "index-disagrees",
    "marker-contradicts-disk",
    "round-behind-disk",
    "state-file-behind",
    "state-file-contradicts-rows",
    "status-disagrees",
];

/// A state file that is out of date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleState {
    /// The path of the state file, relative to the run's folder.
    pub path: String,
    /// The corrected text of the state file.
    pub text: String,
    /// The rules that the stale state file breaks, sorted by name.
    pub rules: Vec<String>,
}

/// Returns the state file if it contradicts the rows or the files on disk. Only a `state.md` in OpenProse's own form is
/// rewritten. A log is not rewritten, because a log is not a summary. A missing state file is not created.
pub fn stale_state_file(session: &Session) -> Option<StaleState> {
    let run = session.run();
    let file = run
        .files
        .iter()
        .find(|file| file.role.as_deref() == Some("state file"))?;
    let ours = match &run.form {
        Form::Sqlite { .. } => run.state_file.is_some(),
        Form::Folder { form } => *form == FolderForm::StateMd,
        _ => false,
    };
    let rules: BTreeSet<&str> = session
        .issues()
        .map(|issue| issue.rule.as_str())
        .filter(|rule| STALE.contains(rule))
        .collect();
    (ours && !rules.is_empty()).then(|| StaleState {
        path: file.path.clone(),
        text: pages::state_md(session, false),
        rules: rules.into_iter().map(str::to_owned).collect(),
    })
}

/// Returns the binding files that another file replaced, as paths relative to the run's folder.
pub fn superseded_files(run: &Run) -> Vec<String> {
    let files = run.bindings.iter().filter(|binding| binding.superseded);
    let files = files.filter_map(|binding| match &binding.value {
        ValueAt::File { path, .. } => path.strip_prefix(&*run.root).map(str::to_owned),
        _ => None,
    });
    files.collect()
}

/// Returns the executions whose parent does not exist, is in a cycle, or was overruled by the trace, each with its
/// parent in the trace.
fn parents(run: &Run, trace: &Trace) -> BTreeMap<i64, (Option<i64>, &'static str)> {
    let named: BTreeMap<i64, Option<i64>> = run
        .executions
        .iter()
        .map(|row| (row.id, row.parent))
        .collect();
    let mut wrong = BTreeMap::new();
    for (id, at) in &trace.by_row {
        let Some(Some(parent)) = named.get(id).copied() else {
            continue;
        };
        let rule = if parent == *id {
            "self-parent"
        } else if !named.contains_key(&parent) {
            "orphan-parent"
        } else if lies_in(trace, Some(*at), trace.of_row(parent)) {
            continue;
        } else if lies_in(trace, trace.of_row(parent), Some(*at)) {
            "parent-cycle"
        } else {
            "contradicting-parent"
        };
        wrong.insert(*id, (around(trace, *at, *id), rule));
    }
    wrong
}

/// Returns the row id of the nearest enclosing node that has a row. Skips the id of the row itself, because a row
/// cannot be its own parent.
fn around(trace: &Trace, at: NodeId, id: i64) -> Option<i64> {
    let mut around = trace.upward(Some(at)).skip(1);
    around.find_map(|at| trace.node(at)?.id.filter(|row| *row != id))
}

/// Returns whether a node is inside another node, at any depth. A recorded parent need not be the nearest enclosing
/// node, because a branch may be written beside its parallel block.
fn lies_in(trace: &Trace, inner: Option<NodeId>, outer: Option<NodeId>) -> bool {
    trace.upward(inner).skip(1).any(|up| Some(up) == outer)
}
