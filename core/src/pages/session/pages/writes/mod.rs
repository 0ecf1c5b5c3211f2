//! Finds the node that wrote each value.
//!
//! When Prosescope completes a node, Prosescope records the binding that the node wrote (`binding` in the metadata).
//! The last node with such a record is the writer, unless the value was written again later. Other programs do not
//! record the writer, so the writer is derived:
//!
//! A node may have written a binding if its statement binds the name in the binding's frame. The writer is the one of
//! these nodes that was running when the value was last written (`started <= updated <= completed`, or not completed).
//! If none of them was running, a later write replaced the value, and the writer of the present value is unknown. If
//! times are missing, the last of these nodes is the writer, provided that it completed or is the only such node. Such
//! a writer is marked as inferred.
//!
//! A session that binds no name writes a binding such as `anon_001`, which records the session's text as its source.
//!
//! | file | contains |
//! |---|---|
//! | `group.rs` | the bindings of one name in one frame, and which of its nodes wrote at a time |
//! | `span.rs` | when nodes were running |
//! | `names.rs` | the names of bindings, and the names that statements bind |

mod group;
mod names;
mod span;
#[cfg(test)]
mod tests;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use self::group::Group;
use self::names::{FramedName, binds, frame_of, names_of, recorded, texts_of};
use self::span::Span;
use crate::model::time::Stamp;
use crate::model::{Binding, Run};
use crate::pages::session::{Opened, Session};
use crate::pages::view::BindingRef;
use crate::program::Listing;
use crate::trace::{NodeId, NodeKind, NodeStatus, Trace};

pub(super) use self::span::second;

/// The largest value, in bytes, for which the time of the write is read from the value's row. The time is stored after
/// the value, so reading the time requires reading the whole value.
const TAIL_MOST: u64 = 1 << 20;

/// The writer of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::pages::session) struct ValueWriter {
    /// The node that wrote the value; `None` if no node was running, or if several may have written the value.
    pub(super) by: Option<NodeId>,
    /// Whether the node was inferred from the name or the order of rows, because times are missing.
    pub(super) inferred: bool,
    /// The time of the write, in milliseconds since 1970 UTC; `None` if not known.
    pub(super) at: Option<i64>,
}

/// The groups of nodes and bindings with the same name and frame.
#[derive(Debug, Default)]
pub(super) struct Writes {
    groups: Vec<Group>,
    /// The group to which each node belongs, as `(node, group)` in ascending order.
    of_node: Vec<(NodeId, u32)>,
    of_binding: BTreeMap<u32, u32>,
}

impl Writes {
    pub(super) fn of<'r>(run: &'r Run, trace: &'r Trace, listing: Option<&'r Listing>) -> Writes {
        let frames = trace.frames();
        let place = |binding: &'r Binding| Some((&*binding.name, frame_of(trace, binding)?));
        let all = || run.bindings.iter().filter_map(place);
        let there = LazyCell::new(|| all().collect::<BTreeSet<FramedName<'_>>>());
        let mut named: BTreeMap<FramedName<'_>, Vec<NodeId>> = BTreeMap::new();
        let mut unnamed: BTreeMap<FramedName<'_>, Vec<NodeId>> = BTreeMap::new();
        for (at, node) in trace.nodes.iter_enumerated() {
            // A skipped statement wrote nothing.
            if node.status == NodeStatus::Skipped {
                continue;
            }
            let recorded = recorded(run, trace, node).map(|(_, key)| key);
            if let Some(key) = recorded.filter(|key| there.contains(key)) {
                named.entry(key).or_default().push(at);
                continue;
            }
            let frame = frames.get(at).copied().flatten();
            // If a branch's statement binds no name, the branch's name is its number. So the name of a branch only
            // counts if a binding has that name.
            let is_branch = matches!(node.kind, NodeKind::Branch { .. });
            let name = binds(trace, listing, node)
                .filter(|name| !is_branch || there.contains(&(*name, frame)));
            let (of, key) = match name {
                Some(name) => (&mut named, name),
                None => (&mut unnamed, node.text.trim()),
            };
            of.entry((key, frame)).or_default().push(at);
        }
        let mut writes = Writes::default();
        let mut groups: BTreeMap<(bool, FramedName<'_>), u32> = BTreeMap::new();
        for (b, binding) in (0_u32..).zip(&run.bindings) {
            let Some(frame) = frame_of(trace, binding) else {
                continue;
            };
            let find = |nodes: &BTreeMap<_, Vec<NodeId>>, keys: [Option<&'r str>; 2]| {
                let mut keys = keys.into_iter().flatten().map(|key| (key, frame));
                keys.find(|key| nodes.contains_key(key))
            };
            let of_name = find(&named, names_of(binding));
            let anonymous = of_name.is_none();
            let of = if anonymous { &unnamed } else { &named };
            let found = of_name.or_else(|| find(&unnamed, texts_of(binding)));
            let Some((key, nodes)) = found.and_then(|key| Some((key, of.get(&key)?))) else {
                continue;
            };
            let at = *groups.entry((anonymous, key)).or_insert_with(|| {
                let at = writes.groups.len() as u32;
                let span = |at: &NodeId| {
                    let node = trace.node(*at)?;
                    let recorded = recorded(run, trace, node).filter(|(_, own)| *own == key);
                    Some(Span {
                        recorded: recorded.map(|(row, _)| row),
                        ..Span::of(run, *at, node)
                    })
                };
                writes.of_node.extend(nodes.iter().map(|node| (*node, at)));
                let spans = nodes.iter().filter_map(span).collect();
                writes.groups.push(Group::new(spans, anonymous));
                at
            });
            writes.of_binding.insert(b, at);
            if let Some(group) = writes.groups.get_mut(at as usize) {
                group.bindings.push(b);
            }
        }
        writes.of_node.sort_unstable();
        for group in &mut writes.groups {
            group.settle(trace);
        }
        writes
    }

    fn group_of_node(&self, node: NodeId) -> Option<&Group> {
        let at = self.of_node.binary_search_by_key(&node, |(n, _)| *n).ok()?;
        self.groups.get(self.of_node.get(at)?.1 as usize)
    }
}

/// Finds the writer of a binding's value. `full` is the binding with its times, if the times were read already.
pub(super) fn written(session: &Session, binding: u32, full: Option<&Binding>) -> ValueWriter {
    let writes = &session.index.writes;
    let group = writes.of_binding.get(&binding);
    let Some((group, own)) = group
        .and_then(|at| writes.groups.get(*at as usize))
        .zip(session.run.bindings.get(binding as usize))
    else {
        return ValueWriter::default();
    };
    if let Some(known) = session.values.written.borrow().get(&binding) {
        return *known;
    }
    let near = own.tail_known || own.value.len().is_none_or(|len| len <= TAIL_MOST);
    let read =
        (near && full.is_none() && !own.tail_known).then(|| session.values.binding_tail(own));
    let at = full.or(read.as_ref()).unwrap_or(own);
    let at = at.updated.as_ref().or(at.created.as_ref());
    let mut written = group.written(at.filter(|_| near).and_then(Stamp::millis));
    if group.anonymous && (written.by.is_none() || written.inferred) {
        // If the group has as many sessions as values, each session wrote one value, in the order of the run.
        let nth = group.bindings.binary_search(&binding).ok();
        let spans = &group.spans;
        let by = nth.filter(|_| spans.len() == group.bindings.len());
        written.by = by.and_then(|at| Some(spans.get(at)?.node));
        written.inferred = written.by.is_some();
    }
    session.values.written.borrow_mut().insert(binding, written);
    written
}

/// Returns the bindings that a node wrote, including those whose value was replaced later.
pub(super) fn wrote(session: &Session, node: NodeId) -> Vec<BindingRef> {
    let Some(group) = session.index.writes.group_of_node(node) else {
        return Vec::new();
    };
    let own = group.spans.binary_search_by_key(&node, |span| span.node);
    let Some(own) = own.ok().and_then(|at| group.spans.get(at)) else {
        return Vec::new();
    };
    // In an anonymous group, each node wrote its own bindings.
    let bindings = if !(group.anonymous && own.recorded.is_none()) {
        &group.bindings
    } else {
        match group.of_nodes(session).get(&node) {
            Some(bindings) => bindings,
            None => return Vec::new(),
        }
    };
    let refs = bindings.iter().filter_map(|&binding| {
        let written = written(session, binding, None);
        let overwritten = written.by != Some(node);
        let inferred = if overwritten {
            replaced(session, own, binding, written)?
        } else {
            written.inferred
        };
        Some(BindingRef {
            overwritten,
            inferred,
            ..session.binding_ref(binding)?
        })
    });
    refs.collect()
}

/// Returns `Some` if a node wrote the binding before the present value was written. `Some(true)` means that this was
/// inferred from the order of nodes alone.
fn replaced(opened: &Opened, own: &Span, binding: u32, written: ValueWriter) -> Option<bool> {
    // If several rows have the same name and frame, each has its own writer.
    let group = opened.index.writes.group_of_node(own.node)?;
    if own.recorded.is_some() && !opened.index.claims.contains_key(&binding) {
        return Some(false);
    }
    if !own.completed || group.anonymous || opened.index.claims.contains_key(&binding) {
        return None;
    }
    if let (Some(at), Some(to)) = (written.at, own.to) {
        return (to < second(at).0).then_some(false);
    }
    (opened.trace.end(own.node) <= written.by?).then_some(true)
}
