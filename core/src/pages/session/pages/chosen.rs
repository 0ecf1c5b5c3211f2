//! Builds the trace as a filtered and sorted list, without the levels of the tree.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::node_ref;
use super::trace::{error_of, is_cause, note, span, status_word, tree_row};
use crate::pages::session::search::Needle;
use crate::pages::session::{Opened, Session};
use crate::pages::view::{DERIVED, TracePage};
use crate::trace::{Node, NodeId, NodeStatus};

/// A selection of the trace's rows, with their order. Empty fields select all rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceChoice {
    /// The text that the statement or its error contains. Case is ignored unless this text has a capital letter.
    pub text: String,
    /// The row's status, in the words that rows show, such as `completed`. Case is ignored.
    pub status: String,
    /// The row's kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`.
    pub kind: String,
    /// The shortest duration, in milliseconds; `None` for all rows. With a duration, rows without recorded times are
    /// left out.
    pub at_least_ms: Option<i64>,
    /// The order of the rows.
    pub order: TraceOrder,
}

/// An order of the trace's rows. Rows that are equal in this order keep the order in which they ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceOrder {
    /// In the order in which they ran.
    #[default]
    Ran,
    /// The longest duration first. Then come rows that contain other rows with times, and last the rows without times.
    Longest,
    /// First causes of failures first, then other failures, then open rows.
    Problems,
}

impl TraceChoice {
    /// Returns whether the selection is empty, so that the whole tree is shown.
    pub fn is_all(&self) -> bool {
        *self == TraceChoice::default()
    }

    /// Checks that the selected status is a known status or occurs in this run. Otherwise, a spelling error would
    /// select no rows.
    ///
    /// # Errors
    /// The words of all known statuses.
    pub fn known_status(&self, opened: &Opened) -> Result<(), Vec<String>> {
        let known = NodeStatus::KNOWN;
        let known = known.iter().map(NodeStatus::word).chain(DERIVED);
        let is_meant = |word: &str| word.eq_ignore_ascii_case(&self.status);
        let nodes = opened.trace.nodes.iter();
        let mut own = nodes.map(|node| status_word(opened, node));
        if self.status.is_empty() || known.clone().any(is_meant) || own.any(is_meant) {
            Ok(())
        } else {
            Err(known.map(str::to_owned).collect())
        }
    }
}

/// Returns the selected rows, in the order of the selection.
pub fn chosen(opened: &Opened, choice: &TraceChoice) -> Vec<NodeId> {
    let needle = Needle::new(choice.text.trim()).ok();
    let has_text = |at: NodeId, node: &Node| {
        let Some(needle) = &needle else { return true };
        let error = error_of(opened, at, node);
        needle.is_in(&node.text) || error.is_some_and(|error| needle.is_in(error))
    };
    // A row that was open when the run ended is also found by its recorded status.
    let has_status = |node: &Node| {
        let is_meant = |word: &str| word.eq_ignore_ascii_case(&choice.status);
        is_meant(status_word(opened, node))
            || (node.status.is_open() && is_meant(node.status.word()))
    };
    let is_one = |at: NodeId, node: &Node| {
        (choice.status.is_empty() || has_status(node))
            && (choice.kind.is_empty() || node.kind.word() == choice.kind)
            && (choice.at_least_ms).is_none_or(|least| took(opened, node) >= Some(least))
            && has_text(at, node)
    };
    let nodes = opened.trace.nodes.iter_enumerated();
    let mut rows: Vec<(NodeId, &Node)> = nodes.filter(|(at, node)| is_one(*at, node)).collect();
    match choice.order {
        TraceOrder::Ran => {}
        TraceOrder::Longest => {
            let holds = around_timed(opened);
            rows.sort_by_cached_key(|(at, node)| {
                let took = took(opened, node);
                (took.is_none(), holds.contains(at), Reverse(took))
            });
        }
        TraceOrder::Problems => rows.sort_by_key(|(at, node)| match node {
            node if is_cause(opened, *at, node) => 0,
            node if node.has_failed() => 1,
            node if node.status.is_open() => 2,
            _ => 3,
        }),
    }
    rows.into_iter().map(|(at, _)| at).collect()
}

/// Returns the nodes that contain rows with times, at any depth.
fn around_timed(opened: &Opened) -> BTreeSet<NodeId> {
    let mut around = BTreeSet::new();
    let nodes = opened.trace.nodes.iter();
    for node in nodes.filter(|node| took(opened, node).is_some()) {
        let mut above = node.parent;
        // If a node is in the set already, the nodes around that node are in the set, too.
        while let Some(at) = above.filter(|at| around.insert(*at)) {
            above = opened.trace.nodes.get(at).and_then(|node| node.parent);
        }
    }
    around
}

/// Builds a part of the list of selected rows. The `detail` of each includes its path in the tree.
pub fn chosen_page(session: &Session, rows: &[NodeId], from: u32, len: u32) -> TracePage {
    let _snapshot = session.snapshot();
    let window = rows.iter().skip(from as usize).take(len as usize);
    let total = rows.len() as u32;
    let row = |(place, at): (usize, &NodeId)| {
        let mut row = tree_row(session, *at, false)?;
        let path = node_ref(session, *at).map(|node| node.path);
        let said = [std::mem::take(&mut row.detail), path.unwrap_or_default()];
        let said = said.into_iter().filter(|part| !part.is_empty());
        row.detail = said.collect::<Vec<_>>().join(" · ");
        row.level = 0;
        row.children = 0;
        row.place = (from + place as u32 + 1, total);
        Some(row)
    };
    TracePage {
        total,
        from,
        rows: window.enumerate().filter_map(row).collect(),
        note: note(session),
        remarks: Vec::new(),
        remarks_behind: Vec::new(),
    }
}

/// Returns the duration that a node's own rows record, in milliseconds; `None` unless begin and end are recorded.
pub(super) fn took(opened: &Opened, node: &Node) -> Option<i64> {
    let (from, to) = node.times(&opened.run);
    span(from, to)
}

#[cfg(test)]
mod tests;
