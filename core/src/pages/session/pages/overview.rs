//! Builds the overview of a run: its status, counts and first failure, and the remaining work.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::gates::gate_views;
use super::index::short;
use super::program::runnable_statements;
use super::questions::questions;
use super::resume::{facts, trace_as_program};
use super::trace::{count, error_of, execution, is_cause, node_ref, status_word};
use super::work::sentence_start;
use super::writes::wrote;
use super::{cost, exit_codes, next_action, story};
use crate::model::time::{Stamp, ago, step_of_ago};
use crate::model::{
    Binding, Execution, FolderForm, Form, Gate, GateStatus, Run, RunStatus, Status, ValueAt,
};
use crate::pages::resume;
use crate::pages::session::summary::{last_part, line_of};
use crate::pages::session::{Opened, Session};
use crate::pages::view::{BindingRef, Failure, Overview, StatusCount, Stop};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// The largest number of links in a list of the overview.
pub(super) const LINKS: usize = 20;
/// The largest number of facts of a record that are shown, and of characters of each fact.
const FACTS: usize = 50;
const FACT: usize = 200;

/// Builds the overview: what happened, where the run stopped, and why.
pub fn overview(session: &Session, now: Option<i64>) -> Overview {
    let trace_program = trace_as_program(session);
    let facts = facts(session, trace_program.as_ref());
    overview_of(session, now, facts, &resume::ahead(facts))
}

/// Builds the overview with a plan that the caller computed already.
pub(super) fn overview_of(
    session: &Session,
    now: Option<i64>,
    facts: resume::ResumeFacts<'_>,
    plan: &resume::ResumePlan,
) -> Overview {
    let (run, trace) = (&session.run, &session.trace);
    let verdict = &trace.verdict;
    let line = line_of(run, trace, &session.place);
    let is_there = |b: &&Binding| b.value != ValueAt::Missing;
    let has_attachment = |b: &&Binding| b.attachment.is_some();
    let is_timed = |e: &Execution| e.started.is_some() || e.completed.is_some();
    let mut view = Overview {
        run: match run.form {
            // A store of agents has no run id, so the overview shows its file name instead.
            Form::Agents => last_part(&session.label, &session.place).to_owned(),
            _ => run.id.to_string(),
        },
        program: line.program,
        form: line.form,
        label: session.label.clone(),
        status: session.status().to_owned(),
        status_source: verdict.source.clone(),
        status_reason: verdict.reason.clone(),
        claims: verdict.claims.clone(),
        started: line.started,
        started_from: line.started_from,
        last_sign: line.last_sign,
        last_sign_from: verdict.last_sign_from.clone(),
        file_changed: line.file_changed,
        stale: line.stale,
        duration_ms: line.duration_ms,
        duration: line.duration,
        bindings: run.bindings.iter().filter(is_there).count() as u32,
        bindings_bytes: run.bindings.iter().filter_map(|b| b.value.len()).sum(),
        attachments: run.bindings.iter().filter(has_attachment).count() as u32,
        agents: run.agents.len() as u32,
        gates: run.gates.len() as u32,
        imports: run.imports.len() as u32,
        trace_nodes: trace.nodes.len() as u32,
        tables: run.tables.len() as u32,
        files: run.files.len() as u32,
        issues: session.issue_counts(),
        unread: session.unread(),
        facts: recorded_facts(run),
        cost: cost::cost(run),
        other_runs: session.other_runs.clone(),
        statements_in_program: runnable_statements(session),
        times_recorded: run.executions.iter().any(is_timed),
        position_count: trace.positions.len() as u32,
        missing: missing_words(session),
        ..Overview::default()
    };
    let last_sign = view.last_sign.as_ref().and_then(Stamp::millis);
    let passed = now.zip(last_sign).filter(|(now, at)| now >= at);
    let silent = passed.map(|(now, at)| now - at);
    view.last_sign_ago = silent.map(ago);
    view.is_alive = view.status == RunStatus::Running.word()
        && silent.is_some_and(|silent| silent < next_action::ACTIVE);
    count_nodes(session, &mut view);
    let links = |nodes: &[NodeId]| {
        let near = nodes.iter().take(LINKS);
        near.filter_map(|&n| node_ref(session, n)).collect()
    };
    view.positions = links(&trace.positions);
    view.failure = session.index.cause.and_then(|cause| {
        Some(Failure {
            cause: node_ref(session, cause)?,
            error: error_of(session, cause, session.node(cause)?).map(str::to_owned),
            because_of: links(&trace.because_of),
            because_of_count: trace.because_of.len() as u32,
            because_words: because_words(session, facts, cause),
            percent: percent(session, cause, view.duration_ms),
        })
    });
    let pending = |gate: &&Gate| gate.status == GateStatus::Pending;
    view.pending_gates = gate_views(session, now, run.gates.iter().filter(pending));
    view.true_for_ms = true_for(&view, silent, now);
    view.questions = questions(session);
    view.headline = headline(session, &view, plan);
    view.against = session.against();
    if let Some(did) = &view.against {
        view.headline.push_str(&format!(", but {did}"));
    }
    view.story = story::sentences(&view, &run.form, trace.remarks.len() as u32);
    view.story.extend(if_rejected(session, &view, facts, plan));
    view.story.extend(if_approved(session, facts, plan));
    view.story.extend(exit_codes::judged(session));
    let doubt = run.issues.iter().find(|issue| issue.doubts_copy());
    let doubt = doubt.map(|issue| issue.message.clone());
    view.story.splice(0..0, doubt);
    next_action::add(&mut view, session, facts, plan);
    if view.outputs.is_empty() && view.status == RunStatus::Completed.word() {
        view.last_value = last_value(session);
    }
    view
}

/// Returns how many percent of a run's duration a node took; `None` if times are missing.
fn percent(session: &Session, node: NodeId, duration: Option<i64>) -> Option<u32> {
    let (from, until) = session.node(node)?.worked(&session.run);
    let took = until?.checked_sub(from?)?;
    let duration = duration.filter(|duration| (1..).contains(duration) && took <= *duration)?;
    let half = i128::from(duration) / 2;
    u32::try_from((i128::from(took) * 100 + half) / i128::from(duration)).ok()
}

/// Returns the value that the last statement of a run wrote; `None` if that statement is in a parallel block, because
/// then other values are as much the result.
fn last_value(session: &Session) -> Option<BindingRef> {
    let nodes = session.trace.nodes.iter_enumerated().rev();
    let statements = nodes.filter(|(_, node)| node.kind == NodeKind::Statement);
    let (last, found) = statements.take(LINKS).find_map(|(at, _)| {
        let mut values = wrote(session, at).into_iter().rev();
        Some((at, values.find(|value| !value.overwritten)?))
    })?;
    let mut around = session.trace.upward(Some(last)).skip(1);
    let branches = around.any(|at| {
        let node = session.node(at);
        node.is_some_and(|node| node.kind == NodeKind::Parallel)
    });
    (!branches).then_some(found)
}

/// Returns for how long an overview stays true, but for the time that its gates have left. `silent` is the time since the
/// last sign of life.
fn true_for(view: &Overview, silent: Option<i64>, now: Option<i64>) -> Option<i64> {
    let aged = silent.filter(|_| view.is_alive).map(|silent| {
        let step = step_of_ago(silent);
        step - silent % step
    });
    let deadlines = view.pending_gates.iter().filter_map(|gate| {
        let left = gate.deadline.as_ref()?.millis()?.checked_sub(now?)?;
        (left >= 0).then(|| left.saturating_add(1))
    });
    deadlines.chain(aged).min()
}

/// Returns the headline. What the trace and the plan show counts more than the recorded status.
fn headline(opened: &Opened, view: &Overview, plan: &resume::ResumePlan) -> String {
    if opened.run.form == FolderForm::Reactor.form() {
        return next_action::state_of_reactor(&opened.run, &opened.trace);
    }
    let is_running = view.status == RunStatus::Running.word();
    if opened.trace.unordered && is_running {
        // Only the state file's header records the run as running. The run's bindings may be newer than that header.
        return "Recorded as running, but only bindings show what ran".to_owned();
    }
    let refused = match plan.positions.as_slice() {
        [only] if only.stop == Stop::Refused => only.node.and_then(|node| opened.node(node)),
        _ => None,
    };
    if let Some(node) = refused.or_else(|| approved_last(opened))
        && let NodeKind::Gate { gate } = &node.kind
        && is_running
        && !view.stale
    {
        let how = match node.status {
            NodeStatus::Timeout => "timed out",
            NodeStatus::Approved => "was approved",
            _ => "was rejected",
        };
        let row = opened.index.gate(&opened.run, gate);
        let by = row.and_then(|row| row.resolved_by.as_deref());
        let by = by.filter(|_| node.status != NodeStatus::Timeout);
        let by = by.map_or(String::new(), |by| format!(" by {by}"));
        return format!("Running; gate {gate} {how}{by}");
    }
    let failed = plan
        .positions
        .iter()
        .find(|position| position.stop == Stop::Failed);
    let failed = failed.and_then(|position| node_ref(opened, position.node?));
    if let (Some(failed), "running" | "interrupted") = (failed, &*view.status) {
        // The blocks around the failure are still open, but the run cannot continue in them.
        let word = sentence_start(&view.status);
        return format!("{word}; failed at {}", story::line_of(&failed));
    }
    story::headline(view, opened.is_inferred())
}

/// Returns the gate with whose approval the record ends: the run has not gone on yet.
fn approved_last(opened: &Opened) -> Option<&Node> {
    let last = opened.trace.nodes.last()?;
    let is_approved = last.status == NodeStatus::Approved && opened.trace.positions.is_empty();
    is_approved.then_some(last)
}

/// Returns where the program goes on after the gate with whose approval the record ends.
fn if_approved(
    session: &Session,
    facts: resume::ResumeFacts<'_>,
    plan: &resume::ResumePlan,
) -> Option<String> {
    approved_last(session)?;
    let next = facts.listing?.get(plan.ahead.first()?.statement)?;
    Some(format!("The run {}.", resume::goes_on_at(next)))
}

/// Describes what the program does if the gate at which the run waits is rejected, or, if the gate is overdue, timed
/// out. `None` if the gate records no `on_reject` action.
fn if_rejected(
    session: &Session,
    view: &Overview,
    facts: resume::ResumeFacts<'_>,
    plan: &resume::ResumePlan,
) -> Option<String> {
    let waits = story::judges(view).filter(|gate| gate.on_reject.is_some())?;
    let mut gates = session.run.gates.iter();
    let gate = gates.find(|gate| gate.status == GateStatus::Pending && *gate.id == *waits.id)?;
    let outlook = resume::Outlook::new(facts, plan);
    let then = outlook.of(gate, waits.node.map(NodeId::new));
    Some(if waits.overdue {
        format!("Its time-out {}.", then.if_timed_out)
    } else {
        format!("If rejected, {}.", then.if_rejected)
    })
}

/// Describes what failed or was stopped because of the first cause. In a completed run: why the run continued after the
/// failure, if that is known.
fn because_words(opened: &Opened, facts: resume::ResumeFacts<'_>, cause: NodeId) -> String {
    if opened.trace.verdict.status == RunStatus::Completed.word() {
        let mut around = opened.trace.upward(Some(cause)).skip(1);
        let allows = around.find_map(|at| facts.allows_failure(at));
        return allows.map_or_else(String::new, |how| {
            format!("the parallel around the failure goes on without that branch ({how})")
        });
    }
    let nodes = &opened.trace.because_of;
    let failed = nodes.iter().filter_map(|node| opened.node(*node));
    let failed = failed.filter(|node| node.has_failed()).count() as u32;
    let stopped = nodes.len() as u32 - failed;
    let blocks = match failed {
        1 => "it ended the block around it".to_owned(),
        n => format!("it ended the {} around it", count(n, "block", "blocks")),
    };
    let others = count(stopped, "other was", "others were");
    let words = [
        (failed, blocks),
        (stopped, format!("{others} skipped or stopped")),
    ];
    let words = words.into_iter().filter(|(many, _)| *many > 0);
    let words: Vec<String> = words.map(|(_, words)| words).collect();
    words.join(", ")
}

fn count_nodes(opened: &Opened, view: &mut Overview) {
    let mut by_status: BTreeMap<&str, u32> = BTreeMap::new();
    for (at, node) in opened.trace.nodes.iter_enumerated() {
        // A block only counts if it has no children or failed by itself; otherwise its children count.
        let is_leaf = opened.index.children_of(at) == 0;
        let given = node.is_given(&opened.run, opened.listing());
        let counts = is_leaf && !given || is_cause(opened, at, node);
        if node.kind.is_round() || !counts {
            continue;
        }
        let word = status_word(opened, node);
        *by_status.entry(word).or_default() += 1;
        // A statement that was only announced when the run ended never began.
        let announced = || {
            let last = execution(opened, node.last_row);
            last.is_some_and(|row| row.status == Status::Pending)
        };
        let begun = match node.status {
            NodeStatus::Pending | NodeStatus::Skipped => false,
            NodeStatus::Abandoned => !announced(),
            _ => true,
        };
        view.statements += u32::from(begun);
        view.statements_done += u32::from(matches!(
            word,
            "completed" | "approved" | "recovered" | "unchanged"
        ));
        view.retried += u32::from(node.attempts > 1);
        view.recovered += u32::from(node.recovered);
    }
    let counts = by_status.into_iter().map(|(status, count)| StatusCount {
        status: status.to_owned(),
        count,
    });
    view.by_status = counts.collect();
    view.by_status.sort_by_key(|of| Reverse(of.count));
}

/// Describes the content of a database that has no row for the run; `None` for other runs.
fn missing_words(session: &Session) -> Option<String> {
    let run = &session.run;
    let is_missing = run.status.is_none()
        && run.recorded.is_empty()
        && matches!(run.form, Form::Sqlite { .. } | Form::Postgres { .. });
    if !is_missing || !session.unread().is_empty() {
        return None;
    }
    if run.executions.is_empty() && run.bindings.is_empty() && run.gates.is_empty() {
        return Some("the database is empty: no run was recorded in it".to_owned());
    }
    let rows = count(
        run.executions.len() as u32,
        "execution row",
        "execution rows",
    );
    let values = count(run.bindings.len() as u32, "value", "values");
    let gates = count(run.gates.len() as u32, "gate", "gates");
    Some(format!(
        "the database has no row for the run, but {rows}, {values}, {gates}"
    ))
}

/// Returns recorded facts that have no field of their own in [`Overview`], as keys and values.
fn recorded_facts(run: &Run) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: &str| facts.push((key.to_owned(), short(value, FACT)));
    if let Some(file) = &run.state_file {
        for (key, value) in file.extra.iter().take(FACTS) {
            add(key, value);
        }
    }
    if let (Some(mode), Form::Folder { .. }) = (&run.state_mode, &run.form) {
        add("state backend", mode);
    }
    for (key, value) in run.facts.iter().take(FACTS) {
        add(key, value);
    }
    if let Some(codes) = exit_codes::of_values(run) {
        add("exit codes", &codes);
    }
    facts
}

#[cfg(test)]
mod tests;
