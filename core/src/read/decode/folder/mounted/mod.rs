//! Reads the forms of OpenProse since June 2026, whose truth is a ledger of receipts: a mounted run (contract 2) and the
//! state directory of a reactor (docs/reference/formats.md).
//!
//! ```text
//! receipts/{node}.jsonl | receipts.json ──► one row of `execution` for each receipt, in order of cause or of the list
//! world-model/ | world-models/           ──► one binding for each published file
//! compiled-intent.json | compile/        ──► which node reads which
//! vm.log.md                              ──► remarks; its end counts only if no receipt contradicts it
//! ```

mod delegates;
mod graph;
mod receipt;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::tree::RunTree;
use serde_json::{Map, Value};

use crate::model::issue::Issue;
use crate::model::text::{count, counted, short};
use crate::model::{
    Dialect, Execution, FolderForm, Form, LogEvent, LogLine, Meta, RecordedStatus, ReportedCost,
    Run, RunStatus, Status, Text,
};
use crate::read::decode::compact_log::marked_name;
use graph::Graph;
use receipt::Receipt;

/// The topology of a mounted run.
pub(super) const INTENT: &str = "compiled-intent.json";
/// The receipts of a reactor.
pub(super) const REACTOR: &str = "receipts.json";
/// Maximum bytes read of one JSON file.
const MOST: usize = 32 << 20;
/// The name under which receipts record how the run ended.
const RECEIPTS: &str = "receipts";
/// Approximate bytes of memory that a row takes.
const BYTES_A_ROW: usize = 400;
/// Maximum number of names that one line lists.
const NAMED: usize = 8;
/// Maximum number of characters of one of these names.
const NAME: usize = 40;

/// Returns the form of a folder with receipts; `None` for a folder of another form.
pub(super) fn form(tree: &RunTree<'_>) -> Option<FolderForm> {
    let has = |dir: &str| !tree.under(dir).is_empty();
    if tree.get(REACTOR).is_some()
        && (has("compile/") || has("world-models/") || tree.get("registry.json").is_some())
    {
        return Some(FolderForm::Reactor);
    }
    let mounted = tree.get(INTENT).is_some() || has("world-model/") || has("receipts/");
    let mounted = mounted || receipt::ledgers(tree).next().is_some();
    mounted.then_some(FolderForm::Mounted)
}

/// Reads the receipts, the published values and the graph into the run.
pub(super) fn read(tree: &mut RunTree<'_>, run: &mut Run, form: FolderForm) {
    let graph = graph::read(tree, form);
    let (receipts, is_sound) = receipt::of_folder(tree, form);
    let last: BTreeMap<&str, &Receipt> = receipts.iter().map(|of| (&*of.node, of)).collect();
    values::read(tree, run, form, &last);
    delegates::read(tree, run);
    if form == FolderForm::Mounted {
        let verdict = verdict(run, &graph, &last);
        let agrees = agrees(tree, run, &last);
        log_as_remarks(run, &last);
        claim(run, verdict, [graph.is_whole, is_sound, agrees]);
    }
    let ahead = graph.nodes().filter(|node| !last.contains_key(node));
    run.nodes_ahead = ahead.map(Text::from).collect();
    let most = tree.room("receipts", BYTES_A_ROW, receipts.len());
    rows(run, &graph, receipts.iter().take(most));
}

/// Adds the rows of a table of receipts to a run from a database, and reads from them how the run ended. Returns the
/// issues. The table is in the order of writing, and has no graph.
pub(in crate::read::decode) fn of_table(
    receipts: impl Iterator<Item = Map<String, Value>>,
    run: &mut Run,
) -> Vec<Issue> {
    let (receipts, issues) = receipt::of_rows(receipts);
    let last: BTreeMap<&str, &Receipt> = receipts.iter().map(|of| (&*of.node, of)).collect();
    let graph = Graph::default();
    let verdict = verdict(run, &graph, &last);
    claim(run, verdict, [graph.is_whole, issues.is_empty(), true]);
    rows(run, &graph, receipts.iter());
    issues
}

/// Reads the files beside a database of contract 2: the graph, which shows which nodes have no receipt and whether all
/// have one, the reasons of failures, and the requests to other nodes.
pub(super) fn beside_table(tree: &mut RunTree<'_>, run: &mut Run) {
    let graph = graph::read(tree, FolderForm::Mounted);
    if run.executions.is_empty() && graph.is_whole {
        let dialect = Dialect::Receipts;
        run.form = Form::Sqlite { dialect };
        // Without any receipt, no node is known to have come to its end.
        run.status.take_if(|status| *status == RunStatus::Completed);
    }
    if !run.form.has_nodes() {
        return;
    }
    let mut reasons = receipt::reasons(tree);
    let failed = run.executions.iter_mut().rev();
    for row in failed.filter(|row| row.status == Status::Failed) {
        let written = reasons.remove(&row.text);
        row.error = row.error.take().or(written);
    }
    delegates::read(tree, run);
    let seen: BTreeSet<&str> = run.executions.iter().map(|row| &*row.text).collect();
    let ahead = graph.nodes().filter(|node| !seen.contains(node));
    let ahead: Vec<Text> = ahead.map(Text::from).collect();
    if graph.is_whole {
        let [unknown, ..] = RecordedStatus::DOUBTFUL;
        run.recorded
            .retain(|claim| *claim.file != *unknown || ahead.is_empty());
        for claim in &mut run.recorded {
            if *claim.file == *unknown {
                claim.file = RECEIPTS.into();
            }
        }
    }
    run.nodes_ahead = ahead;
}

/// Adds what the receipts say of the run's end. `is_proved` is whether the graph is known, the receipts are sound, and
/// the log agrees; a completion without one of these is in doubt.
fn claim(run: &mut Run, verdict: Option<RunStatus>, is_proved: [bool; 3]) {
    let Some(status) = verdict else { return };
    let mut doubts = is_proved.iter().zip(RecordedStatus::DOUBTFUL);
    let doubt = doubts.find(|(is_proved, _)| !**is_proved);
    let doubt = doubt.filter(|_| status == RunStatus::Completed);
    let file = doubt.map_or(RECEIPTS, |(_, doubt)| doubt).into();
    let at = None;
    run.recorded.push(RecordedStatus { file, status, at });
}

/// Returns the status that the receipts prove: failed if a node's last receipt is a failure, completed if the
/// last receipts of all nodes went well and the log records the end. `None` if neither is proved.
fn verdict(run: &mut Run, graph: &Graph, last: &BTreeMap<&str, &Receipt>) -> Option<RunStatus> {
    let told = run.status.take();
    if last
        .values()
        .any(|receipt| receipt.status == Status::Failed)
    {
        return Some(RunStatus::Failed);
    }
    let went_well =
        |receipt: &Receipt| matches!(receipt.status, Status::Completed | Status::Unchanged);
    let all = !last.is_empty()
        && last.values().copied().all(went_well)
        && graph.nodes().all(|node| last.contains_key(node));
    told.filter(|status| *status != RunStatus::Completed || all)
}

/// Reports where the log says another thing than the receipts; returns whether it never says that a node failed whose
/// last receipt went well.
fn agrees(tree: &mut RunTree<'_>, run: &Run, last: &BTreeMap<&str, &Receipt>) -> bool {
    let Some(log) = &run.log else { return true };
    let mut agrees = true;
    let mut told: BTreeMap<&str, (Status, u32)> = BTreeMap::new();
    for line in &log.lines {
        if let Some((node, status)) = of_node(line) {
            told.insert(node, (status, line.line));
        }
    }
    // A wake that the log leaves open, as at a delegation, has no receipt yet.
    let is_end = |status: &Status| {
        matches!(
            status,
            Status::Completed | Status::Unchanged | Status::Failed
        )
    };
    for (node, receipt) in last {
        let Some((status, line)) = told
            .get(node)
            .filter(|(status, _)| is_end(status) && *status != receipt.status)
        else {
            continue;
        };
        agrees &= *status != Status::Failed;
        let message = format!(
            "the log says that {node} is {}, but its last receipt says {}",
            status.word(),
            receipt.status.word()
        );
        tree.issue(
            Issue::warning("log-against-receipt", message)
                .at_file(log.file.to_string())
                .at_line(*line)
                .hint(
                    "The receipt counts: it is what was committed, and the log only tells of it.",
                ),
        );
    }
    agrees
}

/// Returns the node that a line of the log names, and its status. A node may be called `gate` or `loop`, as events are.
fn of_node(line: &LogLine) -> Option<(&str, Status)> {
    match &line.event {
        LogEvent::Statement { text, status } => Some((text, status.clone()?)),
        LogEvent::Gate { .. } | LogEvent::Round { .. } => marked_name(&line.raw),
        _ => None,
    }
}

/// Turns the log of a run with receipts into remarks: the lines that the receipts do not repeat.
fn log_as_remarks(run: &mut Run, last: &BTreeMap<&str, &Receipt>) {
    if last.is_empty() {
        return;
    }
    let Some(log) = run.log.take() else { return };
    let repeats = |line: &LogLine| {
        let told = of_node(line);
        told.is_some_and(|(node, status)| last.get(node).is_some_and(|of| of.status == status))
    };
    let lines = log.lines.into_iter().filter(|line| !repeats(line));
    run.remarks.extend(lines.map(|line| line.raw));
}

/// Adds one row for each receipt. A receipt after a failure of its node is another attempt.
fn rows<'r>(run: &mut Run, graph: &Graph, receipts: impl Iterator<Item = &'r Receipt>) {
    let mut failed: BTreeSet<&str> = BTreeSet::new();
    for receipt in receipts {
        let mut add = |status: Status, error: Option<Text>, meta: Option<Arc<Meta>>| {
            let id = run.executions.last().map_or(0, |last| last.id) + 1;
            run.executions.push(Execution {
                text: graph.label(&receipt.node),
                error,
                meta,
                ..Execution::new(id, status)
            });
            id
        };
        if failed.remove(&*receipt.node) {
            add(Status::Retry, None, None);
        }
        let is_failure = receipt.status == Status::Failed;
        let error = receipt.reason.clone().filter(|_| is_failure);
        let said = said(graph, receipt);
        let meta = Meta {
            said: Some(said.into()),
            ..Meta::default()
        };
        let id = add(receipt.status.clone(), error, Some(meta.into()));
        if is_failure {
            failed.insert(&receipt.node);
        }
        run.costs
            .extend(receipt.cost.as_ref().map(|cost| ReportedCost {
                execution: id,
                ..cost.clone()
            }));
    }
}

/// Describes in one line why a node ran, what it cost, what changed, and what it reads.
fn said(graph: &Graph, receipt: &Receipt) -> String {
    let mut words = Vec::new();
    words.extend(receipt.wake.as_ref().map(|wake| format!("woken by {wake}")));
    if let Some(cost) = &receipt.cost {
        let tokens = counted(cost.fresh, "token", "tokens");
        words.push(match cost.reused {
            0 => format!("{tokens} ({})", cost.model),
            reused => format!("{tokens}, {} reused ({})", count(reused), cost.model),
        });
    }
    let moved: Vec<&str> = receipt.moved.iter().map(|facet| &**facet).collect();
    match moved.as_slice() {
        [] => {}
        ["@atomic"] => words.push("changed its truth".to_owned()),
        facets => {
            let facets: Vec<&str> = facets
                .iter()
                .copied()
                .filter(|of| *of != "@atomic")
                .collect();
            words.push(format!("changed {}", listed(&facets)));
        }
    }
    let reads: Vec<&str> = graph.reads(&receipt.node).collect();
    if !reads.is_empty() {
        words.push(format!("reads {}", listed(&reads)));
    }
    words.join("; ")
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).map(|name| short(name, NAME));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = names.len().checked_sub(NAMED) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
