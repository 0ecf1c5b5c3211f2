//! Rows of the trace that are looked for, in an order of one's own: a list without levels.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::node_ref;
use super::trace::{
    RECOVERED, WAS_EXECUTING, WAS_WAITING, error_of, is_cause, note, span, status_word, tree_row,
};
use crate::session::search::Needle;
use crate::session::{Opened, Session};
use crate::trace::{Node, NodeId, NodeStatus};
use crate::view::TracePage;

/// Which rows of the trace are shown, and in which order. What is empty chooses all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceChoice {
    /// Words of the statement or of its error, in any case.
    pub text: String,
    /// A status, in the words of the rows.
    pub status: String,
    /// `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`.
    pub kind: String,
    /// Rows that took at least so many milliseconds. Rows whose times are not recorded are left out.
    pub at_least_ms: Option<i64>,
    /// The order.
    pub order: TraceOrder,
}

/// An order of rows of the trace. Rows that are equal in it keep the order in which they ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceOrder {
    /// As they ran.
    #[default]
    Ran,
    /// The longest first, behind them what holds rows with times; those without times last.
    Longest,
    /// What failed by itself first, then what failed with it, then what is open.
    Problems,
}

impl TraceChoice {
    /// Whether the trace is shown as it is: the whole tree.
    pub fn is_all(&self) -> bool {
        *self == TraceChoice::default()
    }

    /// Refuses a status that no row of this run has, and none of any run could have: a misspelt word would choose nothing.
    ///
    /// # Errors
    /// The words that could be meant.
    pub fn known_status(&self, opened: &Opened) -> Result<(), Vec<String>> {
        let known = NodeStatus::KNOWN;
        let derived = [RECOVERED, WAS_EXECUTING, WAS_WAITING];
        let known = known.iter().map(NodeStatus::word).chain(derived);
        let is_meant = |word: &str| word.eq_ignore_ascii_case(&self.status);
        let nodes = opened.trace.nodes.iter();
        let mut own = nodes.map(|node| status_word(opened, node));
        match self.status.is_empty() || known.clone().any(is_meant) || own.any(is_meant) {
            true => Ok(()),
            false => Err(known.map(str::to_owned).collect()),
        }
    }
}

/// The rows that a choice means, in its order.
pub fn chosen(opened: &Opened, choice: &TraceChoice) -> Vec<NodeId> {
    let needle = Needle::new(choice.text.trim()).ok();
    let has_text = |at: NodeId, node: &Node| {
        let Some(needle) = &needle else { return true };
        let error = error_of(opened, at, node);
        needle.is_in(&node.text) || error.is_some_and(|error| needle.is_in(error))
    };
    // What was under way in a run that is over is found by its recorded word, too.
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

/// What holds rows with times, at any depth.
fn around_timed(opened: &Opened) -> BTreeSet<NodeId> {
    let mut around = BTreeSet::new();
    let nodes = opened.trace.nodes.iter();
    for node in nodes.filter(|node| took(opened, node).is_some()) {
        let mut above = node.parent;
        // What is in there has all that is around it there, too.
        while let Some(at) = above.filter(|at| around.insert(*at)) {
            above = opened.trace.nodes.get(at).and_then(|node| node.parent);
        }
    }
    around
}

/// A window of rows that were chosen. Each says in its `detail` where it lies.
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

/// How long a node took by its own rows, in milliseconds.
pub(super) fn took(opened: &Opened, node: &Node) -> Option<i64> {
    let (from, to) = node.times(&opened.run);
    span(from, to)
}

#[cfg(test)]
mod tests;
