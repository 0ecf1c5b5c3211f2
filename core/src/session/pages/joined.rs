//! The rows of a trace as a screen shows them: a round of a loop that holds one call, and nothing else to see, is one row with it.

use std::collections::BTreeSet;

use super::chosen::{TraceChoice, chosen};
use super::trace::{note, remarks_after, status_word, tree_row};
use crate::session::{Opened, Session};
use crate::trace::NodeId;
use crate::view::{TracePage, TreeRow};

/// Whether a round is one row with the call in it: that call is all it holds, and the round has nothing of its own to say.
pub(super) fn is_joined(opened: &Opened, at: NodeId) -> bool {
    let (Some(round), Some(call)) = (opened.node(at), opened.node(at.next())) else {
        return false;
    };
    let says = |at: NodeId| !remarks_after(opened, Some(at)).is_empty();
    round.kind.is_round()
        && opened.index.children_of(at) == 1
        && call.kind.is_frame()
        && status_word(opened, round) == status_word(opened, call)
        && round.attempts <= 1
        && !says(at)
}

/// What is drawn for a node: a round that is one row with its call has that row.
pub fn drawn(opened: &Opened, node: NodeId) -> NodeId {
    match is_joined(opened, node) {
        true => node.next(),
        false => node,
    }
}

/// What a node lies in, as it is drawn.
pub fn drawn_parent(opened: &Opened, node: NodeId) -> Option<NodeId> {
    let above = opened.trace.upward(Some(node)).skip(1);
    above.into_iter().find(|at| !is_joined(opened, *at))
}

/// A visible row: its node, whether what lies in it is hidden, and how many rounds around it have no row of their own.
struct Row {
    node: NodeId,
    folded: bool,
    lifted: u32,
}

/// The visible rows in order. What is folded of a round that has no row of its own does not count.
fn rows(opened: &Opened, folded: &BTreeSet<NodeId>) -> impl Iterator<Item = Row> {
    let (mut at, mut ends) = (NodeId::new(0), Vec::new());
    std::iter::from_fn(move || {
        loop {
            let node = opened.node(at)?;
            while ends.last().is_some_and(|end| *end <= at) {
                ends.pop();
            }
            if is_joined(opened, at) {
                ends.push(opened.trace.end(at));
                at = at.next();
                continue;
            }
            let row = Row {
                node: at,
                folded: node.descendants > 0 && folded.contains(&at),
                lifted: ends.len() as u32,
            };
            at = match row.folded {
                true => opened.trace.end(at),
                false => at.next(),
            };
            return Some(row);
        }
    })
}

/// A window of the trace as a screen shows it: `folded` holds the nodes whose children are hidden.
pub fn trace_screen(
    session: &Session,
    folded: &BTreeSet<NodeId>,
    from: u32,
    len: u32,
) -> TracePage {
    let _snapshot = session.snapshot();
    let window = from..from.saturating_add(len);
    let (mut shown, mut total) = (Vec::new(), 0);
    for row in rows(session, folded) {
        if window.contains(&total) {
            shown.extend(drawn_row(session, &row));
        }
        total += 1;
    }
    TracePage {
        total,
        from,
        rows: shown,
        note: note(session),
        remarks: remarks_after(session, None),
        remarks_behind: remarks_after(session, Some(session.trace.nodes.next_key())),
    }
}

/// The rows of a choice as a screen shows them.
pub fn chosen_screen(session: &Session, choice: &TraceChoice) -> Vec<NodeId> {
    let mut rows = chosen(session, choice);
    rows.retain(|at| !is_joined(session, *at));
    rows
}

fn drawn_row(session: &Session, of: &Row) -> Option<TreeRow> {
    let mut row = tree_row(session, of.node, of.folded)?;
    row.level = row.level.saturating_sub(of.lifted);
    if let Some(cause) = session.index.cause.filter(|cause| *cause >= of.node) {
        let around = session.trace.upward(Some(of.node)).skip(1);
        let holds = |at: &NodeId| cause < session.trace.end(*at) && !is_joined(session, *at);
        row.around_cause = around.filter(holds).count() as u32;
    }
    let above = session.node(of.node)?.parent;
    if let Some(round) = above.filter(|at| is_joined(session, *at)) {
        let n = tree_row(session, round, false)?;
        (row.round, row.place) = (n.round, n.place);
    }
    Some(row)
}

/// The place of a node among the rows that a screen shows, or of the fold that hides it.
pub fn trace_place(opened: &Opened, folded: &BTreeSet<NodeId>, node: NodeId) -> u32 {
    let node = drawn(opened, node);
    let before = rows(opened, folded).take_while(|row| row.node <= node);
    (before.count() as u32).saturating_sub(1)
}

#[cfg(test)]
mod tests;
