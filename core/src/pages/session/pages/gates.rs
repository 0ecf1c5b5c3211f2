//! Builds the page of gates, with their state at a given time and the audit log.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::audit::{audit, audit_row, gone};
use crate::model::issue::Issue;
use crate::model::time::human_duration;
use crate::model::visit;
use crate::model::{Gate, GateRecord, GateStatus, Run, Text};
use crate::pages::session::Opened;
use crate::pages::view::{GateView, GatesView, WaitingGate, acting};
use crate::program::Listing;
use crate::read::gate::allow::{Allow, AllowError};
use crate::read::gate::audit::{self, Finding};
use crate::read::gate::lifecycle::{History, Lifecycle};
use crate::read::gate::seen::{Heads, SeenGate};
use crate::read::gate::{contradictions, decide_commands, expire_command, uncreated};
use crate::trace::{NodeId, NodeKind, NodeStatus, Trace};

/// Builds the page: the gates at `now`, and the verified audit log.
pub fn gates(opened: &Opened, now: Option<i64>) -> GatesView {
    GatesView {
        gates: gate_views(opened, now, opened.run.gates.iter()),
        audit: audit(opened, None),
    }
}

/// Builds the view of one gate at `now`, by its exact id.
pub fn gate(opened: &Opened, id: &str, now: Option<i64>) -> Option<GateView> {
    let of_id = opened.run.gates.iter().filter(|gate| *gate.id == *id);
    gate_views(opened, now, of_id.take(1)).pop()
}

/// Builds the views of some gates of the run, without verifying the audit log.
pub(super) fn gate_views<'o>(
    opened: &'o Opened,
    now: Option<i64>,
    gates: impl Iterator<Item = &'o Gate>,
) -> Vec<GateView> {
    let history = History::new(&opened.run.audit);
    let nodes = gate_nodes(opened);
    let uncreated = uncreated(&opened.run.gates, &opened.run.audit);
    let unsealed: BTreeMap<_, _> = uncreated
        .iter()
        .map(|of| ((&of.gate.run_id, &of.gate.id), of.words()))
        .collect();
    let contradictions = contradictions(&opened.run.gates, &opened.run.audit);
    let contradicted = |gate: &Gate| {
        let of_gate = format!("gate {} ", gate.id);
        let mut messages = contradictions.iter().map(|issue| &*issue.message);
        messages
            .find(|message| message.starts_with(&of_gate))
            .map(str::to_owned)
    };
    let heads = OnceCell::new();
    let seen = |gate: &Gate| {
        let heads = heads.get_or_init(|| Heads::of(&opened.run.audit));
        SeenGate::of(gate, heads).ok()
    };
    gates
        .map(|gate| GateView {
            contradicted: contradicted(gate),
            unsealed: unsealed.get(&(&gate.run_id, &gate.id)).cloned(),
            seen: (gate.status == GateStatus::Pending)
                .then(|| seen(gate))
                .flatten(),
            ..gate_view(opened, gate, &history, &nodes, now)
        })
        .collect()
}

/// Maps the id of each gate to its last node.
fn gate_nodes(opened: &Opened) -> BTreeMap<&str, NodeId> {
    let nodes = opened.trace.nodes.iter_enumerated();
    nodes
        .filter_map(|(i, node)| match &node.kind {
            NodeKind::Gate { gate } => Some((gate.as_ref(), i)),
            _ => None,
        })
        .collect()
}

fn gate_view(
    opened: &Opened,
    gate: &Gate,
    history: &History<'_>,
    nodes: &BTreeMap<&str, NodeId>,
    now: Option<i64>,
) -> GateView {
    let at = Lifecycle::of(gate, now);
    let allow = Allow::parse(gate.allow.as_deref());
    let run = gate.run_id.as_deref().unwrap_or(&opened.run.id);
    // A database may contain gates of several runs. A copy has the name of a file, in which nothing is decided.
    let is_copy = opened.run.is_copy;
    let name = if *run == *opened.run.id && !is_copy {
        opened.name()
    } else {
        run.to_owned()
    };
    let own_row = gate.execution_id.and_then(|id| opened.node_of_row(id));
    let resolution = at.resolution;
    let text = |t: &Option<Text>| t.as_deref().map(str::to_owned);
    let resolved_by = resolution
        .as_ref()
        .and_then(|r| Some(acting(r.by.as_deref()?, r.on_behalf_of.as_deref())));
    let node = nodes.get(&*gate.id).copied().or(own_row);
    let expire = at.overdue.then(|| expire_command(&name));
    let [approve, reject] = decide_commands(&name, &gate.id);
    GateView {
        run: opened.named(Some(run)),
        place: None,
        id: gate.id.to_string(),
        status: gate.status.word().to_owned(),
        overdue: at.overdue,
        standing: at.words,
        prompt: text(&gate.prompt).unwrap_or_default(),
        allow_words: who_decides(&allow),
        allow: allow.map_or_else(|_| Vec::new(), |allow| allow.entries().to_vec()),
        timeout: text(&gate.timeout),
        deadline: gate.timeout_at.clone(),
        remaining: at.remaining,
        on_reject: text(&gate.on_reject),
        created: gate.created.clone(),
        resolved: resolution.as_ref().and_then(|r| r.at.clone()),
        resolved_by,
        comment: resolution.as_ref().and_then(|r| text(&r.comment)),
        waited: at.waited_ms.map(human_duration),
        waited_ms: at.waited_ms,
        execution_id: gate.execution_id,
        node: node.map(NodeId::get),
        unsealed: None,
        contradicted: None,
        is_copy,
        seen: None,
        history: history.of(gate).map(|row| audit_row(opened, row)).collect(),
        metadata: text(&gate.metadata),
        expire_command: expire,
        approve_command: approve,
        reject_command: reject,
    }
}

fn who_decides(allow: &Result<Allow, AllowError>) -> String {
    match allow {
        Ok(allow) => allow.words(),
        Err(error) => format!("nobody, because the list of names is not readable: {error}"),
    }
}

/// Returns the first gate of a run that waits for a decision.
pub(in crate::pages::session) fn waiting(run: &Run) -> Option<WaitingGate> {
    let mut gates = run.gates.iter();
    let gate = gates.find(|gate| gate.status == GateStatus::Pending)?;
    Some(WaitingGate {
        gate: gate.id.to_string(),
        allow_words: who_decides(&Allow::parse(gate.allow.as_deref())),
        deadline: gate.timeout_at.clone(),
    })
}

/// Returns the gates that only a folder's state file or log records. These records do not include who decided a gate.
/// The prompt, the `allow` list and the time-out are taken from the program.
pub(in crate::pages::session) fn unrecorded(
    run: &Run,
    trace: &Trace,
    program: Option<&Listing>,
) -> Vec<Gate> {
    let mut known: BTreeSet<&str> = run.gates.iter().map(|gate| visit(&gate.id).0).collect();
    let mut found = Vec::new();
    if run.recorded_in_rows() {
        return found;
    }
    // If a gate was reached several times, only its last visit is listed.
    for node in trace.nodes.iter().rev() {
        let NodeKind::Gate { gate } = &node.kind else {
            continue;
        };
        let status = match &node.status {
            NodeStatus::Approved => GateStatus::Approved,
            NodeStatus::Rejected => GateStatus::Rejected,
            NodeStatus::Timeout => GateStatus::Timeout,
            status if status.is_open() => GateStatus::Pending,
            status => GateStatus::Other(status.word().into()),
        };
        if !known.insert(visit(gate).0) {
            continue;
        }
        let statement = node.statement(program);
        let asked = |key: &str| Some(Text::from(unquoted(statement?.property(key)?)));
        found.push(Gate {
            id: gate.clone(),
            recorded: GateRecord::Told,
            run_id: None,
            execution_id: None,
            source_execution_id: None,
            prompt: asked("prompt"),
            allow: asked("allow").filter(|list| list.starts_with('[')),
            timeout: asked("timeout"),
            timeout_at: None,
            on_reject: asked("on_reject"),
            status,
            created: None,
            resolved: None,
            resolved_by: None,
            comment: node.remark(run).cloned(),
            metadata: None,
        });
    }
    found.reverse();
    found
}

/// Returns contradictions between gates and their log, and errors of the log's chain.
pub(in crate::pages::session) fn issues(run: &Run) -> Vec<Issue> {
    let mut issues = crate::read::gate::issues(&run.gates, &run.audit);
    let gone = gone(run);
    let found = audit::verify(&run.audit, None).findings;
    let errors = found.iter().chain(&gone).filter(|f| f.is_error());
    issues.extend(errors.map(Finding::issue));
    issues.extend(crate::read::gate::out_of_order(run));
    issues
}

/// Removes the quotes around a text. `throw "No."` only ends with a quote and stays unchanged.
fn unquoted(text: &str) -> &str {
    let inside = |quote: &str| text.strip_prefix(quote)?.strip_suffix(quote);
    inside("\"\"\"")
        .or_else(|| inside("\"").filter(|inner| !inner.contains('"')))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn what_a_program_says_is_shown_whole() {
        for (written, shown) in [
            ("\"Deploy?\"", "Deploy?"),
            ("\"\"\"Say \"yes\"\"\"\"", "Say \"yes\""),
            ("throw \"Fix the load.\"", "throw \"Fix the load.\""),
            ("\"a\" + \"b\"", "\"a\" + \"b\""),
            ("[\"ops\"]", "[\"ops\"]"),
            ("\"", "\""),
            ("4h", "4h"),
        ] {
            assert_eq!(unquoted(written), shown);
        }
    }
}
