//! Builds rows of the trace, and the details of one row.

use super::index::short;
use super::program::statement_of;
use super::work::work;
use super::writes::wrote;
use crate::model::issue::{Issue, Location};
use crate::model::text::counted;
use crate::model::time::{Stamp, human_duration};
use crate::model::{Execution, LogEvent, LogLine, Run, Status};
use crate::pages::session::{Opened, Session};
use crate::pages::view::{
    NodeDetail, NodeRef, RECOVERED, RowView, ShownCell, TreeRow, WAS_EXECUTING, WAS_WAITING,
};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus, Trace, is_branch_text};

/// The largest number of characters of a statement or an error in a row.
const ROW_TEXT: usize = 400;
/// The largest number of characters of a remark beside a row.
const NOTE: usize = 80;

/// The largest number of links in the path of a node. Users do not follow more.
const PATH: usize = 100;

/// Returns the note that pages show before the rows, if a part is encrypted or the order of the rows is not recorded.
pub(super) fn note(session: &Session) -> Option<String> {
    let sealed = session.unread().into_iter().find(|unread| unread.sealed);
    let sealed = sealed.map(|unread| format!("{} is not readable: {}", unread.what, unread.why));
    let unordered = "Only bindings show what ran: the order of the statements, and statements without a value, are not recorded.";
    sealed.or_else(|| session.trace.unordered.then(|| unordered.to_owned()))
}

/// Returns the next or previous cause of a failure, seen from `node`: a node that failed, was not recovered, and
/// contains no other such node. Blocks around a cause failed as a consequence.
pub fn next_failure(opened: &Opened, node: Option<NodeId>, forward: bool) -> Option<NodeId> {
    let (first, end) = (NodeId::new(0), opened.trace.nodes.next_key());
    let failed = |at: &NodeId| opened.node(*at).is_some_and(|n| is_cause(opened, *at, n));
    if forward {
        node.map_or(first, NodeId::next).to(end).find(failed)
    } else {
        first.to(node.unwrap_or(end).min(end)).rev().find(failed)
    }
}

/// Returns whether a node failed by itself, not because of a node inside of it.
pub(super) fn is_cause(opened: &Opened, at: NodeId, node: &Node) -> bool {
    node.has_failed() && opened.index.fails_below.get(at) != Some(&true)
}

/// Builds one row of the trace.
pub fn tree_row(session: &Session, node: NodeId, folded: bool) -> Option<TreeRow> {
    let at = session.node(node)?;
    let (started, ended) = at.times(&session.run);
    let duration_ms = span(started, ended);
    let (branch, round, gate) = match &at.kind {
        NodeKind::Branch { branch } => (Some(branch.to_string()), None, None),
        NodeKind::Round { n } => (None, Some(*n), None),
        NodeKind::Gate { gate } => (None, None, Some(gate.to_string())),
        _ => (None, None, None),
    };
    Some(TreeRow {
        node: node.get(),
        id: at.id,
        aliases: at.aliases.clone(),
        level: at.level,
        descendants: at.descendants,
        children: session.index.children_of(node),
        place: session.index.place.get(node).copied().unwrap_or((1, 1)),
        folded,
        kind: at.kind.word().to_owned(),
        text: short(&at.text, ROW_TEXT),
        detail: detail_words(session, node, at),
        remarks: remarks_after(session, Some(node)),
        status: status_word(session, at).to_owned(),
        attempts: at.attempts,
        max: at.max,
        branch,
        round,
        depth: depth_of(session, node, at),
        gate,
        argument: None,
        around_cause: 0,
        duration: duration_ms.map(human_duration),
        duration_ms,
        started: started.cloned(),
        ended: ended.cloned(),
        error: error_of(session, node, at).map(|e| short(e, ROW_TEXT)),
        bindings: wrote(session, node),
        line: at.line,
        line_guessed: at.line_guessed,
        recovered: at.recovered,
        inferred: at.inferred,
        derived: at.derived,
        position: session.trace.positions.binary_search(&node).is_ok(),
        first_cause: session.index.cause == Some(node),
        because_of: session.trace.because_of.contains(&node),
    })
}

/// Builds the details of a node. Reads the node's rows from the store.
pub fn node_detail(session: &Session, node: NodeId) -> Option<NodeDetail> {
    let _snapshot = session.snapshot();
    let row = tree_row(session, node, false)?;
    let at = session.node(node)?;
    let ids = at.id.into_iter().chain(at.aliases.iter().copied());
    let ids: Vec<i64> = ids.take(200).collect();
    let mut rows = session.values.execution_rows(&ids);
    let lines = log_lines(&session.run, &session.trace, node);
    rows.extend(lines.take(200).map(log_row));
    let is_own = |issue: &&Issue| {
        let at = &issue.location;
        let of_row = at.table.as_deref() == Some("execution")
            && at.row.is_some_and(|row| ids.contains(&row));
        of_row || node_of_line(session, at) == Some(node)
    };
    let above = ancestors(session, node, PATH).into_iter();
    let guessed = at.line_by.filter(|_| at.line_guessed);
    Some(NodeDetail {
        path: above.filter_map(|at| node_ref(session, at)).collect(),
        text: at.text.to_string(),
        error: error_of(session, node, at).map(str::to_owned),
        frame: frame_of(session, node).and_then(|frame| frame.id),
        line_why: guessed.map(|by| by.why_guessed().to_owned()),
        properties: statement_of(session, at).map_or_else(Vec::new, super::program::properties),
        inferred_why: inferred_words(session, at),
        work: work(session, node).unwrap_or_default(),
        issues: session.issues().filter(is_own).cloned().collect(),
        rows,
        row,
    })
}

/// Returns the node itself if the node is a frame, or else the frame around the node.
pub(super) fn frame_of(opened: &Opened, node: NodeId) -> Option<&Node> {
    opened.node(opened.trace.frame(Some(node))?)
}

/// Describes which part of a node's position was inferred; `None` if the position is recorded.
fn inferred_words(opened: &Opened, node: &Node) -> Option<String> {
    let above = |node: &Node| opened.node(node.parent?);
    let recorded = execution(opened, node.first_row).and_then(|row| row.parent);
    node.inferred.then(|| match (recorded, above(node).map(|n| &n.kind)) {
        (Some(id), Some(NodeKind::Round { .. })) => format!(
            "The round is inferred: the row names execution {id} as its parent, and the order of the rows shows which round."
        ),
        (Some(id), _) => format!(
            "The position is inferred: the row names execution {id} as its parent, and the order of the rows shows where inside."
        ),
        (None, _) => "The position is not recorded; it is inferred from the order of the rows.".to_owned(),
    })
}

/// Returns the lines of a compact log that record a node.
fn log_lines<'r>(
    run: &'r Run,
    trace: &'r Trace,
    node: NodeId,
) -> impl Iterator<Item = &'r LogLine> {
    let told = &trace.told;
    let from = told.partition_point(|(at, _)| *at < node);
    let own = told.get(from..).unwrap_or_default();
    let lines = run.log.as_ref().map_or(&[][..], |log| &log.lines);
    own.iter()
        .take_while(move |(at, _)| *at == node)
        .filter_map(|(_, line)| lines.get(*line as usize))
}

/// Returns the node that a line of the run's log records.
pub(super) fn node_of_line(opened: &Opened, at: &Location) -> Option<NodeId> {
    let log = opened.run.log.as_ref()?;
    let number = at.line.filter(|_| at.file.as_deref() == Some(&*log.file))?;
    let line = log.lines.binary_search_by_key(&number, |l| l.line).ok()?;
    let told = &opened.index.told;
    let behind = told.partition_point(|(of, _)| *of as usize <= line);
    let (of, node) = told.get(behind.checked_sub(1)?)?;
    (*of as usize == line).then_some(*node)
}

/// Builds a link to a node.
pub fn node_ref(opened: &Opened, node: NodeId) -> Option<NodeRef> {
    let at = opened.node(node)?;
    let above = ancestors(opened, node, 7);
    let cut = above.len().saturating_sub(6);
    let mut path: Vec<String> = above
        .iter()
        .skip(cut)
        .filter_map(|&n| opened.node(n))
        .map(|n| short(&n.text, 40))
        .collect();
    if cut > 0 {
        path.insert(0, "…".to_owned());
    }
    Some(NodeRef {
        node: node.get(),
        id: at.id,
        kind: at.kind.word().to_owned(),
        text: short(&at.text, ROW_TEXT),
        status: status_word(opened, at).to_owned(),
        path: path.join(" › "),
        line: at.line,
        line_guessed: at.line.is_some() && at.line_guessed,
        error: error_of(opened, node, at).map(|e| short(e, ROW_TEXT)),
    })
}

/// Returns the nodes around a node, outermost first, but only the nearest `most` of them.
fn ancestors(opened: &Opened, node: NodeId, most: usize) -> Vec<NodeId> {
    let upward = opened.trace.upward(Some(node)).skip(1);
    let mut above: Vec<NodeId> = upward.take(most).collect();
    above.reverse();
    above
}

pub(super) fn execution(opened: &Opened, row: Option<u32>) -> Option<&Execution> {
    opened.run.executions.get(row? as usize)
}

/// Returns the status of a node in words.
pub(super) fn status_word<'o>(opened: &Opened, node: &'o Node) -> &'o str {
    // A gate can still be decided after the run was interrupted, so its status stays.
    let rests = !node.kind.is_gate() && opened.is_at_rest();
    match &node.status {
        NodeStatus::Failed if node.recovered => RECOVERED,
        NodeStatus::Executing | NodeStatus::Started | NodeStatus::Iteration | NodeStatus::Retry
            if rests =>
        {
            WAS_EXECUTING
        }
        NodeStatus::Waiting if rests => WAS_WAITING,
        status => status.word(),
    }
}

/// Returns the error of a node: the error of the node's last row with an error, or the note of the node's failed line
/// in the log.
pub(crate) fn error_of<'o>(opened: &'o Opened, at: NodeId, node: &'o Node) -> Option<&'o str> {
    error_in(&opened.run, &opened.trace, at, node)
}

/// Returns the error of a node like [`error_of`], but needs only the decoded run and its trace.
pub(in crate::pages::session) fn error_in<'r>(
    run: &'r Run,
    trace: &'r Trace,
    at: NodeId,
    node: &'r Node,
) -> Option<&'r str> {
    let of = |row: Option<u32>| run.executions.get(row? as usize)?.error.as_deref();
    let of_row = |id: &i64| {
        let at = run.executions.binary_search_by_key(id, |e| e.id).ok()?;
        run.executions.get(at)?.error.as_deref()
    };
    of(node.last_row)
        .or_else(|| node.aliases.iter().rev().find_map(of_row))
        .or_else(|| of(node.first_row))
        .or_else(|| {
            let mut earlier = run.events_of(node.id?).iter().rev();
            earlier.find_map(|event| event.row.error.as_deref())
        })
        .or_else(|| node.error(run).map(|error| &**error))
        .or_else(|| failed_line(run, trace, at))
        .filter(|e| !e.trim().is_empty())
}

/// Returns the note of the last line of a log that records the node's failure.
fn failed_line<'r>(run: &'r Run, trace: &'r Trace, at: NodeId) -> Option<&'r str> {
    let failed = Some(Status::Failed);
    let failed = log_lines(run, trace, at).filter(
        |line| matches!(&line.event, LogEvent::Statement { status, .. } if *status == failed),
    );
    failed.last()?.note.as_deref()
}

/// Returns the depth of a call of a block, from 1; `None` for other nodes.
fn depth_of(opened: &Opened, index: NodeId, node: &Node) -> Option<u32> {
    if let NodeKind::Frame { depth, .. } = node.kind {
        return Some(depth);
    }
    node.block(&opened.run)?;
    let above = opened.trace.upward(Some(index));
    let is_call = |node: &Node| node.block(&opened.run).is_some();
    let calls = above.filter(|at| opened.node(*at).is_some_and(is_call));
    u32::try_from(calls.count()).ok()
}

fn detail_words(opened: &Opened, index: NodeId, node: &Node) -> String {
    let meta = execution(opened, node.first_row).and_then(|e| e.meta.as_deref());
    let children = opened.index.children_of(index);
    // The program may state facts that no row records.
    let stated = node.sure_statement(opened.listing());
    let stated_text = |name: &str| stated.and_then(|s| s.property(name));
    let stated_max = |name: &str| stated.and_then(|s| s.number(name));
    let mut words: Vec<String> = Vec::new();
    words.extend(node.tag(&opened.run).map(|tag| short(tag, 40)));
    if let NodeKind::Branch { branch } = &node.kind
        && !says_branch(&node.text, branch)
    {
        let holder = stated.and_then(|s| s.parent);
        let is_item = opened
            .listing()
            .zip(holder)
            .is_some_and(|(program, at)| program.has_items(at));
        let what = if is_item { "item" } else { "branch" };
        words.push(format!("{what} {}", short(branch, 40)));
    }
    match &node.kind {
        NodeKind::Parallel => {
            let strategy = meta.and_then(|m| m.strategy.as_deref());
            if let Some(strategy) = strategy.or_else(|| stated_text("strategy")) {
                words.push(short(strategy, 40));
            }
            words.push(count(children, "branch", "branches"));
        }
        NodeKind::Loop => {
            let last_round = opened.trace.last_round(index);
            let stated = stated_max("max").or(stated_max("count"));
            let max = node.max.or(stated);
            match (last_round, max) {
                (Some(n), Some(max)) => words.push(format!("round {n} of {max}")),
                (Some(n), None) => words.push(count(n, "round", "rounds")),
                (None, Some(max)) => {
                    words.push(format!("at most {}", count(max, "round", "rounds")));
                }
                (None, None) => {}
            }
            let last = execution(opened, node.last_row).and_then(|e| e.meta.as_deref());
            let reason = last.and_then(|m| m.reason.as_deref());
            words.extend(reason.map(|reason| reason.replace('_', " ")));
        }
        _ if let Some(depth) = depth_of(opened, index, node) => {
            if let Some(id) = node.id {
                words.push(format!("frame {id}"));
            }
            words.push(format!("depth {depth}"));
        }
        NodeKind::Branch { .. } if node.derived && node.status != NodeStatus::Completed => {
            let first = execution(opened, node.first_row);
            let begun = first.is_some_and(|row| row.status != Status::Pending);
            words.push(if begun {
                "cut off: its parallel was joined without it".to_owned()
            } else {
                "announced, not started".to_owned()
            });
        }
        _ => {}
    }
    if node.attempts > 1 {
        let stated = stated_max("retry").filter(|max| *max >= node.attempts);
        words.push(match node.max.or(stated) {
            Some(max) if !matches!(node.kind, NodeKind::Loop) => {
                format!("attempt {} of {max}", node.attempts)
            }
            _ => format!("attempt {}", node.attempts),
        });
    }
    let remark = node.remark(&opened.run).map(|remark| short(remark, NOTE));
    words.extend(match (node.held(&opened.run), remark) {
        (Some(held), Some(why)) => Some(format!("{held}: {why}")),
        (Some(held), None) => Some(held.to_string()),
        (None, remark) => remark,
    });
    words.join(" · ")
}

/// Returns whether the text of a branch contains its name. All items of a `parallel for` have the same text.
fn says_branch(text: &str, branch: &str) -> bool {
    let bound = text.split_once('=').map(|(name, _)| name);
    let name = bound.and_then(|name| name.split_whitespace().next_back());
    text.trim() == branch || name == Some(branch) || is_branch_text(text, branch)
}

/// Returns whether a log or a state file has a remark after a node.
pub(crate) fn has_remarks(opened: &Opened, node: NodeId) -> bool {
    let all = &opened.trace.remarks;
    all.binary_search_by_key(&Some(node), |(after, _)| *after)
        .is_ok()
}

/// Returns the remarks of a log or a state file after a node; with `None`, those before the first node.
pub(crate) fn remarks_after(opened: &Opened, node: Option<NodeId>) -> Vec<String> {
    let all = &opened.trace.remarks;
    let from = all.partition_point(|(after, _)| *after < node);
    let own = all
        .iter()
        .skip(from)
        .take_while(|(after, _)| *after == node);
    own.map(|(_, line)| short(line, ROW_TEXT)).collect()
}

/// Converts a line of a log to a row.
fn log_row(line: &LogLine) -> RowView {
    let cell = ShownCell {
        stored: "text".to_owned(),
        text: short(&line.raw, 4 * ROW_TEXT),
        len: line.raw.len() as u64,
        cut: line.raw.chars().count() > 4 * ROW_TEXT,
    };
    RowView {
        id: i64::from(line.line),
        columns: vec![("line".to_owned(), cell)],
    }
}

pub(in crate::pages::session) fn span(from: Option<&Stamp>, to: Option<&Stamp>) -> Option<i64> {
    let (from, to) = match (from?, to?) {
        (Stamp::At(from), Stamp::At(to)) | (Stamp::Zoneless(from), Stamp::Zoneless(to)) => {
            (from, to)
        }
        // One of the times has no zone, so its distance from a time in UTC is unknown.
        _ => return None,
    };
    // Equal times are one moment that was recorded twice, not a duration of zero.
    (to > from).then(|| to - from)
}

/// Counts in words: `1 branch`, `3 branches`.
pub(super) fn count(n: u32, one: &str, many: &str) -> String {
    counted(n.into(), one, many)
}
