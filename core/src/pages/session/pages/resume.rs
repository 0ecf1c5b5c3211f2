//! Builds the page about continuing a run: positions, remaining statements, needed values, gates and cautions.

use super::bindings::binding_row;
use super::index::{frame_path, short};
use super::next_action;
use super::overview::overview_of;
use super::trace::{execution, node_ref, remarks_after, tree_row};
use crate::model::shell;
use crate::model::text::count as number;
use crate::model::{Form, Gate, GateStatus};
use crate::pages::resume::{self, Need, Outlook, Position, ResumeFacts, StatementAhead};
use crate::pages::session::values::ValueTable;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{
    AheadView, CautionView, DoneView, GateOutcomeView, GateView, MemoryNeedView, NeedState,
    NeedView, PositionView, ResumeView, Stop,
};
use crate::program::{Listing, scan};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, source_of_trace};

/// The largest number of entries of a list: `POSITIONS` for positions and cautions, `LISTED` for the other lists.
const POSITIONS: usize = 50;
const LISTED: usize = 200;
/// The largest number of remarks, and of characters of each.
const REMARKS: usize = 40;
const REMARK: usize = 300;

/// Builds the page: the run's positions, the remaining statements with the values that they need, and the statements
/// that must not be repeated unchecked. Reads previews of the needed values, not whole values.
pub fn resume(session: &Session, now: Option<i64>) -> ResumeView {
    page(session, now, false)
}

/// Builds the page like [`resume()`], directly after `resume --begin`. Its own record is not a sign that another model
/// carries out the run.
pub fn resume_begun(session: &Session, now: Option<i64>) -> ResumeView {
    page(session, now, true)
}

fn page(session: &Session, now: Option<i64>, begun: bool) -> ResumeView {
    let trace_program = trace_as_program(session);
    let facts = facts(session, trace_program.as_ref());
    let listing = facts.listing;
    let plan = resume::plan(facts);
    let outlook = Outlook::new(facts, &plan);
    let overview = overview_of(session, now, facts, &plan);
    let positions = plan.positions.iter().take(POSITIONS);
    let (needs, memories) = (plan.needs.iter().take(LISTED), plan.memories.iter());
    let ahead = plan.ahead.iter().take(LISTED);
    let cautions = plan.cautions.iter().take(POSITIONS);
    let cautions = cautions.map(|caution| CautionView {
        risk: caution.risk,
        node: node_ref(session, caution.node),
        text: caution.text.clone(),
    });
    let mut view = ResumeView {
        run: overview.run,
        program: overview.program,
        status: overview.status,
        status_reason: overview.status_reason,
        resumable: !plan.positions.is_empty(),
        done: DoneView {
            statements_done: overview.statements_done,
            statements: overview.statements,
            statements_in_program: overview.statements_in_program,
            bindings: overview.bindings,
            story: overview.story,
            last: ended_last(session),
            remarks: remarks(session),
            last_sign: overview.last_sign,
        },
        positions: positions
            .map(|position| position_view(session, position, &outlook))
            .collect(),
        position_count: plan.positions.len() as u32,
        needs: needs.map(|need| need_view(session, need)).collect(),
        need_count: plan.needs.len() as u32,
        questions: overview.questions,
        memories: memories.map(|m| memory_view(session, m)).collect(),
        cautions: cautions.collect(),
        ahead: ahead.filter_map(|a| ahead_view(a, listing)).collect(),
        ahead_count: plan.ahead.len() as u32,
        notes: plan.notes.clone(),
        ..ResumeView::default()
    };
    let waiting = overview.pending_gates.len();
    view.gates = gate_outcomes(session, &outlook, overview.pending_gates);
    if waiting > view.gates.len() {
        view.notes.push(format!(
            "{waiting} gates wait for a decision, and the first {LISTED} are listed: `{}` lists all",
            shell::command("gates", &[&session.name()], "")
        ));
    }
    if view.status == "running" && !overview.stale && !begun {
        let note = match overview.last_sign_ago {
            Some(ago) => format!(
                "the last sign of life was {ago}: make sure that no model is still carrying out the run"
            ),
            None => {
                "the run records no time: make sure that no model is still carrying out the run"
                    .to_owned()
            }
        };
        view.notes.insert(0, note);
    }
    let unread = session.unread();
    let sealed = unread.iter().filter(|unread| unread.sealed);
    view.notes.extend(sealed.map(|unread| {
        format!(
            "{} is not readable: {}, so the executed statements are unknown",
            unread.what, unread.why
        )
    }));
    let decided = plan.decided.iter();
    view.notes
        .extend(decided.filter_map(|gate| decided_words(session, *gate)));
    if session.listing.is_none() && listing.is_some() && view.resumable {
        view.notes.push(format!(
            "{}: line numbers are those of the trace in the state file, which may be shortened",
            session.run.program.missing()
        ));
    }
    view.notes.extend(next_action::missing_outputs(session));
    let known = listing.is_some() && !plan.cut;
    view.headline = headline(&view, known, session.is_inferred());
    if let Some(did) = session.against() {
        view.headline.push_str(&format!("; the run {did}"));
    }
    view.steps = resume::steps(&view);
    if session.run.is_copy && view.resumable {
        let to = shell::command("convert", &[&session.name()], "--to sqlite");
        view.notes.push(format!("this is a copy, in which nothing is recorded: continue run {} where it is recorded, or make a run of the copy: `{to}`", session.run.id));
        view.positions.iter_mut().for_each(|of| of.commands.clear());
        let commands = view.steps.iter_mut().map(|step| &mut step.commands);
        commands.for_each(|all| all.retain(|line| line.starts_with("prosescope get ")));
    }
    view
}

/// Parses the trace of a state file as a program; `None` if the run has a program or rows.
pub(super) fn trace_as_program(opened: &Opened) -> Option<Listing> {
    if opened.listing.is_some() || opened.run.recorded_in_rows() || opened.run.state_file.is_none()
    {
        return None;
    }
    let listing = scan(&source_of_trace(&opened.run));
    Some(listing).filter(|listing| !listing.statements.is_empty())
}

/// Returns the facts from which a plan is made. `trace_program` is the state file's trace, which replaces a missing
/// program.
pub(super) fn facts<'s>(opened: &'s Opened, trace_program: Option<&'s Listing>) -> ResumeFacts<'s> {
    let listing = opened.listing.as_ref();
    // A contract has no statements, so it does not show what remains.
    let listing = listing.filter(|listing| listing.has_statements());
    ResumeFacts {
        run: &opened.run,
        trace: &opened.trace,
        listing: listing.or(trace_program),
    }
}

fn ended_last(opened: &Opened) -> Vec<crate::pages::view::NodeRef> {
    let nodes = opened.trace.nodes.iter_enumerated();
    let ended = nodes.filter(|(_, n)| {
        matches!(n.status, NodeStatus::Completed | NodeStatus::Approved) && !n.kind.is_round()
    });
    // The ids of rows that are updated in place are in order of the beginnings, so the ends are in order of events.
    let last_row = |at: NodeId, row: Option<u32>| {
        let row = execution(opened, row);
        let events = row.map_or(&[][..], |row| opened.run.events_of(row.id));
        let event = events.last().map_or(0, |event| event.order);
        (event, row.map_or(i64::from(at.get()), |row| row.id))
    };
    let mut done: Vec<((i64, i64), NodeId)> = ended
        .map(|(at, n)| (last_row(at, n.last_row), at))
        .collect();
    done.sort_unstable();
    let last = done.iter().rev().take(5);
    last.filter_map(|(_, at)| node_ref(opened, *at)).collect()
}

fn position_view(session: &Session, position: &Position, outlook: &Outlook<'_>) -> PositionView {
    let (listing, plan) = (outlook.facts.listing, outlook.plan);
    let refused = position.node.filter(|_| position.stop == Stop::Refused);
    let node = position.node.and_then(|n| session.node(n));
    let row = position.node.and_then(|n| tree_row(session, n, false));
    let frame = position
        .frame
        .and_then(|n| session.node(n))
        .and_then(|n| n.id);
    let line = node.and_then(|n| n.line);
    let again = position.node.filter(|_| position.stop == Stop::Failed);
    let again = again.map(|node| tried_again(session, node));
    let source = line
        .and_then(|line| listing?.lines.get(line.checked_sub(1)? as usize))
        .map_or("", |l| l.text.trim());
    PositionView {
        how: position.stop,
        node: position.node.and_then(|n| node_ref(session, n)),
        frame,
        frame_path: frame_path(&session.trace, position.frame),
        line,
        source: short(source, LISTED),
        guessed: node.is_some_and(|n| n.line_guessed),
        since: row.as_ref().and_then(|r| r.started.clone()),
        error: row.and_then(|r| r.error),
        attempts: node.map_or(0, |n| n.attempts),
        max: node.and_then(|n| n.max),
        meaning: refused
            .and_then(|node| {
                let gate = gate_of(session, node)?;
                Some(outlook.of(gate, Some(node)).if_rejected)
            })
            .or_else(|| begins_around(session, position.node?, again?)),
        next: position
            .next
            .and_then(|at| plan.ahead.get(at))
            .and_then(|ahead| ahead_view(ahead, listing)),
        commands: match position.stop {
            Stop::Failed => {
                let again = again.and_then(|node| session.node(node));
                let is_used_up = |n: &&Node| n.max.is_some_and(|max| n.attempts >= max);
                // A gate is not tried again: what it judges has to change before it is asked again.
                let onwards = |n: &&Node| is_used_up(n) || n.kind.is_gate();
                match again.filter(onwards) {
                    Some(_) => onward(session),
                    None => attempts(session, again.and_then(|n| n.id)),
                }
            }
            Stop::Gate => Vec::new(),
            _ => onward(session),
        },
    }
}

/// Returns the statement with which another attempt begins: the failed statement, or the outermost failed statement
/// around it. A statement cannot run again inside of a statement that is over.
fn tried_again(opened: &Opened, node: NodeId) -> NodeId {
    let failed = opened.trace.upward(Some(node)).filter(|at| {
        let own = opened.node(*at);
        own.is_some_and(|n| n.status == NodeStatus::Failed && !n.derived && n.id.is_some())
    });
    failed.last().unwrap_or(node)
}

/// Describes where another attempt begins, if that is not the failed statement itself.
fn begins_around(opened: &Opened, failed: NodeId, again: NodeId) -> Option<String> {
    let around = opened.node(again).filter(|_| failed != again)?;
    let text = short(&around.text, 60);
    Some(format!(
        "Another attempt begins with `{text}`, which failed together with this statement."
    ))
}

/// Returns the commands that begin another attempt.
fn attempts(opened: &Opened, id: Option<i64>) -> Vec<String> {
    let Some(id) = id.filter(|_| opened.run.recorded_in_rows()) else {
        return Vec::new();
    };
    let id = id.to_string();
    let run = shell::option("--run", &opened.name());
    let retry = shell::command("retry", &[&id], &run);
    begin(opened).into_iter().chain([retry]).collect()
}

/// Returns the commands that continue the run at its position.
fn onward(opened: &Opened) -> Vec<String> {
    // A database takes rows even if it has none yet.
    let in_database = matches!(opened.run.form, Form::Sqlite { .. } | Form::Postgres { .. });
    if !in_database && !opened.run.recorded_in_rows() {
        return Vec::new();
    }
    let next = shell::command("next", &[&opened.name()], "");
    begin(opened).into_iter().chain([next]).collect()
}

/// Returns the command that opens the run again, unless it is open.
fn begin(opened: &Opened) -> Option<String> {
    let open = matches!(opened.trace.verdict.status.as_str(), "running" | "waiting");
    (!open).then(|| shell::command("resume", &[&opened.name()], "--begin"))
}

fn gate_of(opened: &Opened, node: NodeId) -> Option<&Gate> {
    let NodeKind::Gate { gate } = &opened.node(node)?.kind else {
        return None;
    };
    opened.index.gate(&opened.run, gate)
}

/// Describes the decision of a gate right before a position.
fn decided_words(opened: &Opened, node: NodeId) -> Option<String> {
    let gate = gate_of(opened, node)?;
    let by = gate
        .resolved_by
        .as_deref()
        .map_or(String::new(), |by| format!(" by {by}"));
    let what = match gate.status {
        GateStatus::Timeout => "timed out".to_owned(),
        _ => format!("was {}{by}", gate.status.word()),
    };
    Some(format!("gate {} {what}: it is not asked again", gate.id))
}

fn need_view(session: &Session, need: &Need) -> NeedView {
    let mut view = NeedView {
        name: need.name.clone(),
        state: need.from.state,
        reason: need.from.reason.clone(),
        from: need.scope,
        lines: need.lines.clone(),
        sure: need.sure,
        ..NeedView::default()
    };
    let Some(at) = need.from.binding else {
        return view;
    };
    view.binding = session.binding_ref(at);
    if let Some(row) = binding_row(session, at) {
        view.len = row.attachment_len.or(row.len);
        view.preview = short(&row.preview, 80);
        view.scope = row.scope;
        if let (Some(attachment), None) = (row.attachment, row.attachment_len) {
            view.state = NeedState::Empty;
            view.reason = format!("the attachment {attachment} of the value is missing");
        }
    }
    let from = need.scope;
    let from = from.map_or(String::new(), |id| format!(" --from {id}"));
    let run = shell::option("--run", &session.name());
    view.command = shell::command("get", &[&need.name], &format!("{run}{from}"));
    view
}

fn memory_view(session: &Session, memory: &resume::Memory) -> MemoryNeedView {
    let mut view = MemoryNeedView {
        agent: memory.agent.clone(),
        scope: memory.scope.word().to_owned(),
        state: memory.state,
        lines: memory.lines.clone(),
        ..MemoryNeedView::default()
    };
    if let Some(agent) = memory.found.and_then(|at| session.run.agents.get(at)) {
        view.store = agent.store.to_string();
        view.len = agent.memory.len();
        view.segments = agent.segments.len() as u32;
        let table = ValueTable::Agents(agent.store.clone());
        view.preview = short(&session.values.preview(table, &agent.memory), 80);
    }
    view
}

/// Returns the possible outcomes of the first pending gates. `pending` has the views of all pending gates.
fn gate_outcomes(
    opened: &Opened,
    outlook: &Outlook<'_>,
    pending: Vec<GateView>,
) -> Vec<GateOutcomeView> {
    let gates = opened.run.gates.iter();
    let views = pending.into_iter().take(LISTED);
    views
        .zip(gates.filter(|gate| gate.status == GateStatus::Pending))
        .map(|(view, gate)| GateOutcomeView {
            outcomes: outlook.of(gate, view.node.map(NodeId::new)),
            gate: view,
        })
        .collect()
}

fn ahead_view(ahead: &StatementAhead, listing: Option<&Listing>) -> Option<AheadView> {
    let listing = listing?;
    let statement = listing.get(ahead.statement)?;
    Some(AheadView {
        line: statement.line,
        indent: listing.indent(statement.line),
        text: short(&statement.text, LISTED),
        how: ahead.how,
        frame: ahead.scope,
    })
}

/// Returns the last remarks of the record, in the order of the trace.
fn remarks(session: &Session) -> Vec<String> {
    let nodes = &session.trace().nodes;
    let behind = remarks_after(session, Some(nodes.next_key()));
    let before = remarks_after(session, None);
    let of_node = |(at, node): (NodeId, &Node)| {
        let said = node.remark(session.run());
        let said = said.map(|said| format!("{}: {}", short(&node.text, 40), short(said, REMARK)));
        said.into_iter()
            .chain(remarks_after(session, Some(at)))
            .rev()
            .collect::<Vec<_>>()
    };
    // From the end, so that only the last ones are written out.
    let backwards = behind.into_iter().rev();
    let backwards = backwards.chain(nodes.iter_enumerated().rev().flat_map(of_node));
    let backwards = backwards.chain(before.into_iter().rev());
    let mut last: Vec<String> = backwards.take(REMARKS).collect();
    last.reverse();
    last
}

/// Returns the headline. `known`: the program and the run's position in it are known. `inferred`: the position is not
/// recorded.
fn headline(view: &ResumeView, known: bool, inferred: bool) -> String {
    let one = match (view.status.as_str(), view.positions.as_slice()) {
        ("completed", _) => return "Completed: nothing to resume".to_owned(),
        ("failed", []) => {
            return "Failed, but no record shows where; how to go on is unknown".to_owned();
        }
        (_, []) => return "No record shows where this run stands".to_owned(),
        (_, [one]) => one,
        _ => return format!("Stands in {} places", number(view.position_count.into())),
    };
    let text = || one.node.as_ref().map(|node| short(&node.text, 40));
    let line = one.line.map(|line| format!("line {line}"));
    let at = line.or_else(text).unwrap_or_else(|| "its end".to_owned());
    match (one.how, view.gates.first(), &one.next) {
        (Stop::Failed, ..) => format!("Failed; the run can begin again at {at}"),
        (Stop::Gate, None, _) => "Waits at a gate".to_owned(),
        (Stop::Gate, Some(of), _) => {
            let waits = || format!("Waits for a decision on gate {}", of.gate.id);
            of.gate.passed().unwrap_or_else(waits)
        }
        (Stop::Refused, ..) => {
            format!(
                "A gate was turned down at {at}; the program's reaction is still to be carried out"
            )
        }
        (Stop::Between, _, Some(next)) => {
            format!("Nothing is open; line {} comes next", next.line)
        }
        (Stop::Between, _, None) if known => "Nothing is open, and no statement remains".to_owned(),
        (Stop::Between, ..) => "Nothing is open; the next statement is unknown".to_owned(),
        (Stop::Open, ..) if inferred => format!("Probably stands at {at}"),
        (Stop::Open, ..) => format!("Stands at {at}"),
    }
}
