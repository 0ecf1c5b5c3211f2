use std::collections::{BTreeMap, BTreeSet};

use crate::model::{FolderForm, Form, Run, RunStatus, ValueAt};
use crate::session::{Session, pages};
use crate::trace::{NodeId, Trace};

/// What is known of a damaged database before its rows are read again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repair {
    /// The run's id, also where its row is missing.
    pub(super) run: String,
    /// The status that its row should have, where that differs.
    pub(super) status: Option<String>,
    /// Parents that have to change: an execution, and where it belongs.
    pub(super) parents: BTreeMap<i64, (Option<i64>, &'static str)>,
    /// Rows of `bindings` that a later one took the place of.
    pub(super) superseded: BTreeSet<i64>,
    /// When, as rows write it.
    pub(super) at: String,
    /// What the run's row says where there is none: program path, source, status.
    pub(super) missing_run: (Option<String>, Option<String>, String),
}

/// Looks at a decoded run and its trace; `at` is now, as the rows write times.
pub fn plan(run: &Run, trace: &Trace, at: &str) -> Repair {
    let believed = &trace.verdict.status;
    let recorded = run.status.as_ref().map(RunStatus::word);
    // Waiting is a way of running, and what is only silent is not over.
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

/// What a state file is rendered anew for: the rows, or the files on disk, say something else.
const STALE: [&str; 7] = [
    "binding-not-indexed",
    "index-disagrees",
    "marker-contradicts-disk",
    "round-behind-disk",
    "state-file-behind",
    "state-file-contradicts-rows",
    "status-disagrees",
];

/// A state file that is no longer true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleState {
    /// Its path below the run.
    pub path: String,
    /// What it should say.
    pub text: String,
    /// The rules by which it is not true, in order of name.
    pub rules: Vec<String>,
}

/// The state file that its rows, or the files on disk, contradict. Only files of the documents' own form are written:
/// a log is no table of contents, and where there is no state file none is made up.
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

/// Files of bindings that another file took the place of, by their path below the run.
pub fn superseded_files(run: &Run) -> Vec<String> {
    let files = run.bindings.iter().filter(|binding| binding.superseded);
    let files = files.filter_map(|binding| match &binding.value {
        ValueAt::File { path, .. } => path.strip_prefix(&*run.root).map(str::to_owned),
        _ => None,
    });
    files.collect()
}

/// Parents that no row has, that lead in a circle, or that the trace overruled: each with where the trace shows the row.
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

/// The row of the innermost node around a node that has one; a later row of the node itself would be its own parent.
fn around(trace: &Trace, at: NodeId, id: i64) -> Option<i64> {
    let mut around = trace.upward(Some(at)).skip(1);
    around.find_map(|at| trace.node(at)?.id.filter(|row| *row != id))
}

/// Whether a node lies in another one: parents need not be the nearest, as a branch may be written beside its parallel.
fn lies_in(trace: &Trace, inner: Option<NodeId>, outer: Option<NodeId>) -> bool {
    trace.upward(inner).skip(1).any(|up| Some(up) == outer)
}
