//! The trace of a run that has no rows: from the annotations of its state file, from what that says of open
//! constructs and frames, and from the bindings on disk (trace.md 10: the newest evidence of progress is believed).
//!
//! ```text
//! annotated lines ──► tied to statements ─┐
//! bindings on disk ───────────────────────┼─► what ran, and how it stands ──► nested by the program's blocks
//! Active Constructs, Call Stack ──────────┘
//! ```
//!
//! A state file is often stale: `<-- EXECUTING` with its binding on disk. Then the disk is believed, all sources are
//! named in the verdict, and an issue says so. What no source speaks of is not in the tree.

pub(super) mod beside;
pub(crate) mod build;
pub(super) mod claims;
pub(crate) mod disk;
mod elsewhere;
pub(super) mod facts;
mod finished;
mod frames;
pub(super) mod next;
mod opened;
mod places;
mod rounds;
pub(super) mod stack;
pub(crate) mod statements;
#[cfg(test)]
pub(super) mod tests;
mod unplaced;
mod waiting;

use super::finish::finish;
use super::preorder::arrange;
use super::rows::Ledger;
use super::{NodeKind, Trace};
use crate::model::Run;
use crate::program::{Listing, scan};
use facts::Facts;
use stack::Stack;

/// Folds a state file, or the bindings of a folder that has none.
///
/// `program` is the run's scanned program. Without it the lines of the trace are read as one; then
/// [`super::Node::line`] counts them.
pub fn from_state_file(run: &Run, program: Option<&Listing>, now: Option<i64>) -> Trace {
    let told = scan(&source_of_trace(run));
    let listing = program.unwrap_or(&told);
    let mut ledger = Ledger::default();
    let mut facts = Facts::of(run, listing, &told, program.is_none(), &mut ledger);
    let sections = opened::find(run, &facts);
    let mut stack = Stack::of(run, &facts, &sections.active(run, &facts));
    elsewhere::part(run, &mut facts, &stack);
    opened::read(run, &mut facts, &sections, &mut stack);
    let markers = disk::compare(run, &mut facts, &stack, &mut ledger);
    let mut nodes = arrange(build::nodes(run, &mut facts, &stack));
    count_depths(&mut nodes);
    let claims = claims::of(run, &facts, &nodes, &markers);
    let mut trace = finish(run, Some(listing), nodes, claims, now, ledger);
    claims::explain(run, &markers, &mut trace);
    trace
}

/// The lines of the state file's trace as one text: what is read where there is no program.
pub(crate) fn source_of_trace(run: &Run) -> String {
    let mut text = String::new();
    for line in run.state_file.iter().flat_map(|file| &file.trace) {
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

/// Depth is counted: frames above, plus one (trace.md 6).
pub(super) fn count_depths(nodes: &mut [super::Node]) {
    let mut depths: Vec<u32> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let above = node
            .parent
            .and_then(|p| depths.get(p as usize))
            .copied()
            .unwrap_or(0);
        depths.push(match &mut node.kind {
            NodeKind::Frame { depth, .. } => {
                *depth = above + 1;
                above + 1
            }
            _ => above,
        });
    }
}
