//! Builds the rows of a trace for a screen. A round of a loop that contains only one call is joined, which means that
//! the round and the call share a row.

use std::collections::BTreeSet;

use super::chosen::{TraceChoice, chosen};
use super::trace::{has_remarks, note, remarks_after, status_word, tree_row};
use crate::pages::session::{Opened, Session};
use crate::pages::view::{TracePage, TreeRow};
use crate::trace::{NodeId, NodeKind};

/// Returns whether a node is a joined round: a round that contains only one call and has no facts of its own to show.
pub(super) fn is_joined(opened: &Opened, at: NodeId) -> bool {
    let (Some(round), Some(call)) = (opened.node(at), opened.node(at.next())) else {
        return false;
    };
    round.kind.is_round()
        && opened.index.children_of(at) == 1
        && call.is_frame
        && status_word(opened, round) == status_word(opened, call)
        && round.attempts <= 1
        && !has_remarks(opened, at)
}

/// Returns the node whose row shows the given node: for a joined round, the call in it.
pub fn drawn(opened: &Opened, node: NodeId) -> NodeId {
    if is_joined(opened, node) {
        node.next()
    } else {
        node
    }
}

/// Returns the node around the given node, skipping joined rounds; `None` for an outermost node.
pub fn drawn_parent(opened: &Opened, node: NodeId) -> Option<NodeId> {
    let above = opened.trace.upward(Some(node)).skip(1);
    above.into_iter().find(|at| !is_joined(opened, *at))
}

/// A visible row: its node, whether its children are hidden, and the number of joined rounds around it.
struct VisibleRow {
    node: NodeId,
    folded: bool,
    lifted: u32,
}

/// Iterates over the visible rows in order. With `joins`, joined rounds have no row, and folding them has no effect.
fn rows(
    opened: &Opened,
    folded: &BTreeSet<NodeId>,
    joins: bool,
) -> impl Iterator<Item = VisibleRow> {
    let (mut at, mut ends) = (NodeId::new(0), Vec::new());
    std::iter::from_fn(move || {
        loop {
            ends.retain(|end| at < *end);
            if !joins || !is_joined(opened, at) {
                break;
            }
            ends.push(opened.trace.end(at));
            at = at.next();
        }
        let node = opened.node(at)?;
        let row = VisibleRow {
            node: at,
            folded: node.descendants > 0 && folded.contains(&at),
            lifted: ends.len() as u32,
        };
        at = if row.folded {
            opened.trace.end(at)
        } else {
            at.next()
        };
        Some(row)
    })
}

/// Builds a part of the trace. `folded` contains the nodes whose children are hidden.
pub fn trace_page(session: &Session, folded: &BTreeSet<NodeId>, from: u32, len: u32) -> TracePage {
    let draw = |row: &VisibleRow| tree_row(session, row.node, row.folded);
    window(session, rows(session, folded, false), from, len, draw)
}

/// Builds a part of the trace for a screen, with joined rounds.
pub fn trace_screen(
    session: &Session,
    folded: &BTreeSet<NodeId>,
    from: u32,
    len: u32,
) -> TracePage {
    let draw = |row: &VisibleRow| drawn_row(session, row);
    window(session, rows(session, folded, true), from, len, draw)
}

fn window(
    session: &Session,
    rows: impl Iterator<Item = VisibleRow>,
    from: u32,
    len: u32,
    draw: impl Fn(&VisibleRow) -> Option<TreeRow>,
) -> TracePage {
    let _snapshot = session.snapshot();
    let mut page = TracePage {
        total: 0,
        from,
        rows: Vec::new(),
        note: note(session),
        remarks: remarks_after(session, None),
        remarks_behind: remarks_after(session, Some(session.trace.nodes.next_key())),
    };
    let window = from..from.saturating_add(len);
    for row in rows {
        if window.contains(&page.total) {
            page.rows.extend(draw(&row));
        }
        page.total += 1;
    }
    page
}

/// Returns the selected rows for a screen. Leaves out joined rounds, because the rows of their calls show them.
pub fn chosen_screen(session: &Session, choice: &TraceChoice) -> Vec<NodeId> {
    let mut rows = chosen(session, choice);
    rows.retain(|at| !is_joined(session, *at));
    rows
}

fn drawn_row(session: &Session, of: &VisibleRow) -> Option<TreeRow> {
    let mut row = tree_row(session, of.node, of.folded)?;
    row.level = row.level.saturating_sub(of.lifted);
    if let Some(cause) = session.index.cause.filter(|cause| *cause >= of.node) {
        let around = session.trace.upward(Some(of.node)).skip(1);
        let holds = |at: &NodeId| cause < session.trace.end(*at) && !is_joined(session, *at);
        row.around_cause = around.filter(holds).count() as u32;
    }
    let above = session.node(of.node)?.parent;
    if let Some(round) = above.filter(|at| is_joined(session, *at))
        && let NodeKind::Round { n } = session.node(round)?.kind
    {
        row.round = Some(n);
        row.place = session.index.place.get(round).copied().unwrap_or(row.place);
    }
    Some(row)
}

/// Returns the position of a node among the rows of a screen, or of the folded row that hides it.
pub fn trace_place(opened: &Opened, folded: &BTreeSet<NodeId>, node: NodeId) -> u32 {
    let node = drawn(opened, node);
    let before = rows(opened, folded, true).take_while(|row| row.node <= node);
    (before.count() as u32).saturating_sub(1)
}

#[cfg(test)]
mod tests;
