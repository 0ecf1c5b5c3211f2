//! Computes the remaining work and the next action, the two lines below the overview's headline. Both are derived from
//! the plan that `resume` shows, so that the two pages agree.

use std::collections::{BTreeMap, BTreeSet};

use super::overview::LINKS;
use super::program::{may_run, statements};
use super::trace::count;
use crate::model::shell;
use crate::model::{Binding, BindingKind, FolderForm, GateRecord, Run, RunStatus, Status, ValueAt};
use crate::pages::check::issues;
use crate::pages::resume::{Position, ResumeFacts, ResumePlan, StatementAhead};
use crate::pages::session::Opened;
use crate::pages::view::{BindingRef, How, Overview, RunPart, Stop};
use crate::program::{Listing, StatementKind};
use crate::trace::{NodeKind, Trace};

/// Milliseconds after a sign of life for which a run counts as under way: a session of a model seldom takes longer.
pub(super) const ACTIVE: i64 = 10 * 60 * 1000;

/// Sets the remaining work, the next action and its command in an overview.
pub(super) fn add(view: &mut Overview, opened: &Opened, facts: ResumeFacts<'_>, plan: &ResumePlan) {
    if view.is_of_agents() {
        return;
    }
    if view.status == "completed" {
        view.outputs = outputs(facts.run).take(LINKS).collect();
    }
    let name = &opened.name();
    let command = |words: &str| Some(shell::command(words, &[name], ""));
    let unread = view.is_unread(RunPart::Statements);
    let (left, (next, command)) = if view.status == "completed" {
        let missing = missing_outputs(opened);
        let left = missing.unwrap_or_else(|| "nothing".to_owned());
        (left, results(view, facts.run, name))
    } else if let Some(file) = view.sealed() {
        let next = format!("decrypt {file} and read the run again");
        let left = format!("not readable: {file} is encrypted");
        (left, (next, None))
    } else if let Some(position) = plan.positions.first() {
        (
            left(facts, plan, position),
            next(view, facts, plan, position, name),
        )
    } else {
        let (left, next, words) = match view.status.as_str() {
            _ if unread => (
                "the executed statements could not be read",
                "see what could not be read",
                "check",
            ),
            "failed" => (
                "no record shows where the run failed",
                "look for the failure",
                "trace",
            ),
            _ if !facts.trace.remarks.is_empty() => (
                "no record shows what ran",
                "read the remarks in the run's files",
                "trace",
            ),
            _ => (
                "no record shows what ran",
                "look at the run's files",
                "view",
            ),
        };
        // Without a receipt, the graph still names the nodes that have none.
        let left = match facts.run.nodes_ahead.as_slice() {
            [] => format!("not known: {left}"),
            _ => nodes_left(facts),
        };
        (left, (next.to_owned(), command(words)))
    };
    view.left = left;
    view.next = next;
    view.next_command = command.filter(|command| !command.is_empty());
}

/// Returns which nodes of a run of contract 2 did not come to an end.
fn nodes_left(facts: ResumeFacts<'_>) -> String {
    let without = if facts.run.form.has_nodes() {
        "without a receipt"
    } else {
        "without a record"
    };
    let ahead: Vec<&str> = facts.run.nodes_ahead.iter().map(|node| &**node).collect();
    let parts = [(failed_nodes(facts.trace), "failed"), (ahead, without)];
    let parts = parts.iter().filter(|(nodes, _)| !nodes.is_empty());
    let words: Vec<String> = parts
        .map(|(nodes, what)| {
            let many = count(nodes.len() as u32, "node", "nodes");
            let named: Vec<&str> = nodes.iter().take(LINKS).copied().collect();
            format!("{many} {what}: {}", named.join(", "))
        })
        .collect();
    match words.as_slice() {
        [] if facts.run.form == FolderForm::Reactor.form() => {
            "nothing: a reactor goes on with the next event".to_owned()
        }
        [] => "not known: no record shows the run's end".to_owned(),
        words => words.join("; "),
    }
}

/// Returns the state of a reactor, which has no end, in one line.
pub(super) fn state_of_reactor(run: &Run, trace: &Trace) -> String {
    let rows = run.executions.iter();
    let receipts = rows.filter(|row| row.status != Status::Retry).count();
    let receipts = count(receipts as u32, "receipt", "receipts");
    match failed_nodes(trace).as_slice() {
        [] if run.nodes_ahead.is_empty() => {
            format!("Reactor: {receipts}, and no node's last receipt is a failure")
        }
        [] => format!("Reactor: {receipts}, and nodes without any"),
        [node] => format!("Reactor: {receipts}; the last one of {node} is a failure"),
        nodes => format!(
            "Reactor: {receipts}; the last ones of {} nodes are failures",
            nodes.len()
        ),
    }
}

/// Returns the nodes whose last receipt is a failure.
fn failed_nodes(trace: &Trace) -> Vec<&str> {
    let mut last: BTreeMap<&str, bool> = BTreeMap::new();
    for node in &trace.nodes {
        last.insert(&node.text, node.has_failed());
    }
    let failed = last.into_iter().filter(|(_, failed)| *failed);
    failed.map(|(node, _)| node).collect()
}

fn left(facts: ResumeFacts<'_>, plan: &ResumePlan, position: &Position) -> String {
    if facts.run.form.has_nodes() || !facts.run.nodes_ahead.is_empty() {
        return nodes_left(facts);
    }
    let Some(listing) = facts.listing else {
        return format!("not known: {}", facts.run.program.missing());
    };
    // A block around other statements does not count, as in the count of finished statements.
    let is_step = |at: &u32| {
        listing.get(*at).is_some_and(|s| {
            let is_alone = listing.children(*at).next().is_none();
            may_run(s.kind) && (s.kind == StatementKind::Gate || is_alone)
        })
    };
    let ahead = plan.ahead.iter().map(|ahead| ahead.statement);
    let ahead: BTreeSet<u32> = ahead.filter(is_step).collect();
    let from = match (plan.positions.len(), line(plan, listing, position)) {
        (1, Some(line)) if ahead.len() == 1 => format!(", at line {line}"),
        (1, Some(line)) => format!(", from line {line} on"),
        (1, None) => String::new(),
        (many, _) => format!(", from {many} places on"),
    };
    let is_sure = |ahead: &StatementAhead| matches!(ahead.how, How::Here | How::Next);
    let words = statements(ahead.len() as u32);
    match ahead.len() {
        0 if listing.cut_at().is_some() => {
            "not known: the program's text is only its beginning".to_owned()
        }
        0 if facts.run.program.source.is_none() => {
            "not known: the run has no program, only the lines of its record".to_owned()
        }
        0 if plan.cut => "not known: the run's place in the program is not recorded".to_owned(),
        0 if position.stop == Stop::Refused => {
            "the program's reaction to a gate that was rejected or timed out".to_owned()
        }
        0 => "nothing: no statement remains".to_owned(),
        _ if plan.cut => format!("at least {words}{from}"),
        _ if plan.ahead.iter().all(is_sure) => format!("{words}{from}"),
        _ => format!("up to {words}{from}"),
    }
}

/// Returns a message with the program's outputs that a completed run lacks; `None` if no output is missing. Without the
/// program, the result is `None`, because a state file's trace may lack statements that write outputs.
pub(super) fn missing_outputs(opened: &Opened) -> Option<String> {
    let completed = opened.trace.verdict.status == RunStatus::Completed.word();
    let listing = opened.listing.as_ref().filter(|_| completed)?;
    let missing = issues::missing_outputs(&opened.run, listing);
    // An index may name an output whose file is gone.
    let bindings = opened.run.bindings.iter();
    let gone = bindings.filter(|b| is_output(b) && b.value == ValueAt::Missing);
    let names = missing.map(|(_, name)| name);
    let missing: BTreeSet<&str> = names.chain(gone.map(|b| &*b.name)).collect();
    let missing: Vec<&str> = missing.into_iter().collect();
    match missing.as_slice() {
        [] => None,
        [name] => Some(format!("the run's output {name} is missing")),
        names => Some(format!(
            "the run's outputs {} are missing",
            names.join(", ")
        )),
    }
}

/// Returns the line at which the run continues.
fn line(plan: &ResumePlan, listing: &Listing, position: &Position) -> Option<u32> {
    let next = position.next.and_then(|at| plan.ahead.get(at))?;
    Some(listing.get(next.statement)?.line)
}

fn next(
    view: &Overview,
    facts: ResumeFacts<'_>,
    plan: &ResumePlan,
    position: &Position,
    name: &str,
) -> (String, Option<String>) {
    let command = |words: &str| Some(shell::command(words, &[name], ""));
    let line = facts
        .listing
        .and_then(|listing| line(plan, listing, position));
    let at = line.map_or(String::new(), |line| format!(" at line {line}"));
    if let Some(asked) = view.questions.first() {
        let question = asked.question.as_deref().unwrap_or(&asked.input);
        return (
            format!("have a person answer: {question}"),
            command("resume"),
        );
    }
    if let (Stop::Gate, Some(gate)) = (position.stop, view.pending_gates.first()) {
        let mut gates = facts.run.gates.iter();
        let next = format!("have gate {} decided by {}", gate.id, gate.allow_words);
        if gate.is_copy {
            let next = format!("this is a copy: {next} where the run is recorded");
            return (next, command("gates"));
        }
        // A decision is recorded only where the gate is.
        if gates.any(|own| *own.id == *gate.id && own.recorded == GateRecord::Told) {
            let next = format!("{next}, and tell it to whoever carries out the run");
            return (next, command("gates"));
        }
        return match &gate.expire_command {
            Some(expire) => (
                format!("record that gate {} timed out", gate.id),
                Some(expire.clone()),
            ),
            None => (next, Some(gate.approve_command.clone())),
        };
    }
    if plan.ahead.is_empty() && position.stop == Stop::Between {
        return ("look at what ran last".to_owned(), command("trace"));
    }
    let next = match (position.stop, view.status.as_str()) {
        (Stop::Failed, _) => after_failure(facts, position, line),
        (Stop::Refused, _) => "carry out the program's reaction to the gate".to_owned(),
        (_, "running") if view.is_alive => {
            let ago = view.last_sign_ago.as_deref().unwrap_or_default();
            let words = format!("still running, last sign of life {ago}: see what the run does");
            return (words, command("trace"));
        }
        (_, "running") => {
            format!("make sure that no model is still carrying out the run, then go on{at}")
        }
        (_, "interrupted" | "waiting") => format!("go on{at}"),
        _ => format!("check what ran, then go on{at}"),
    };
    (next, command("resume"))
}

/// Returns what to change after a failure, and the line to continue from, depending on the statement and its attempts.
fn after_failure(facts: ResumeFacts<'_>, position: &Position, from: Option<u32>) -> String {
    let node = position.node.and_then(|at| facts.trace.nodes.get(at));
    let node = node.filter(|node| node.kind == NodeKind::Statement && !node.line_guessed);
    let tried = node.filter(|node| node.attempts > 1).and_then(|node| {
        let (line, times) = (node.line?, node.attempts);
        let of = node.max.filter(|max| *max == times);
        let of = of.map_or(String::new(), |max| format!(" of {max}"));
        Some(format!("line {line} failed {times}{of} times: "))
    });
    let statement = node.and(position.node).and_then(|at| facts.statement(at));
    let statement = statement.and_then(|at| facts.listing?.get(at));
    let asks = |kind| matches!(kind, StatementKind::Session | StatementKind::Resume);
    let change = match statement {
        Some(statement) if tried.is_some() && asks(statement.kind) => {
            "change the prompt or the limits"
        }
        _ => "remove the cause of the failure",
    };
    let from = from.map_or(String::new(), |line| format!(" from line {line}"));
    format!("{}{change}, then go on{from}", tried.unwrap_or_default())
}

/// Returns the outputs of a run at the root.
fn outputs(run: &Run) -> impl Iterator<Item = BindingRef> {
    let bindings = run.bindings.iter().enumerate();
    let outputs = bindings.filter(|(_, b)| is_output(b) && b.value != ValueAt::Missing);
    outputs.map(|(at, binding)| BindingRef {
        binding: at as u32,
        name: binding.name.to_string(),
        ..BindingRef::default()
    })
}

fn is_output(binding: &Binding) -> bool {
    binding.kind == BindingKind::Output && binding.execution_id.is_none()
}

/// Returns the next action after a run completed: to read its results, or to look at errors in its records.
fn results(view: &Overview, run: &Run, name: &str) -> (String, Option<String>) {
    let check = |what: String| (what, Some(shell::command("check", &[name], "")));
    if view.issues.error > 0 {
        let errors = count(view.issues.error, "error", "errors");
        return check(format!("look at {errors} found in the run's records"));
    }
    let mut outputs = outputs(run);
    match (outputs.next(), outputs.next()) {
        (Some(one), None) => (
            "read its output".to_owned(),
            Some(shell::command(
                "get",
                &[&one.name],
                &shell::option("--run", name),
            )),
        ),
        _ if view.bindings > 0 => (
            "read its values".to_owned(),
            Some(shell::command("bindings", &[name], "")),
        ),
        _ if view.is_unread(RunPart::Bindings) => check("see what could not be read".to_owned()),
        _ if view.issues.warning > 0 => {
            let warnings = count(view.issues.warning, "warning", "warnings");
            check(format!("look at {warnings} found in the run's records"))
        }
        _ => ("nothing".to_owned(), None),
    }
}
