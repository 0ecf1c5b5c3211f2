//! Maps the nodes and bindings of an earlier reading of a run to those of a later reading.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use super::Session;
use crate::model::Run;
use crate::trace::{NodeId, Trace};

/// A map from the indices of nodes and bindings in one reading of a run to those in a later reading. The index of an
/// item changes if the later reading has a new item before that item. With the map, a row that a user folded stays
/// folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renumbering {
    nodes: LaterIndices,
    bindings: LaterIndices,
}

/// The later index of each earlier item (`None` if the item no longer exists), and the later indices of new items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct LaterIndices {
    to: Vec<Option<u32>>,
    new: Vec<u32>,
}

impl Session {
    /// Maps the nodes and bindings of this reading to those of a later reading.
    ///
    /// A node is identified by its row. A node without a row is identified by the node around it, its kind, its text
    /// and its ordinal among identical siblings. A binding is identified by its name, its frame, and its ordinal among
    /// bindings with the same name and frame.
    pub fn carried_to(&self, later: &Session) -> Renumbering {
        Renumbering {
            nodes: nodes(&self.trace, &later.trace),
            bindings: bindings(&self.run, &later.run),
        }
    }
}

impl Renumbering {
    /// Returns the later index of a node; `None` if the node no longer exists.
    pub fn node(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node.get()).map(NodeId::new)
    }

    /// Returns the later index of a binding; `None` if the binding no longer exists.
    pub fn binding(&self, binding: u32) -> Option<u32> {
        self.bindings.get(binding)
    }

    /// Returns the nodes that are new in the later reading, in ascending order.
    pub fn new_nodes(&self) -> &[u32] {
        &self.nodes.new
    }

    /// Returns the bindings that are new in the later reading, in ascending order.
    pub fn new_bindings(&self) -> &[u32] {
        &self.bindings.new
    }
}

impl LaterIndices {
    fn get(&self, at: u32) -> Option<u32> {
        self.to.get(at as usize).copied().flatten()
    }

    fn of(to: Vec<Option<u32>>, later: usize) -> LaterIndices {
        let mut is_new = vec![true; later];
        for at in to.iter().flatten() {
            if let Some(is_new) = is_new.get_mut(*at as usize) {
                *is_new = false;
            }
        }
        let new = (0..).zip(is_new).filter(|(_, is_new)| *is_new);
        LaterIndices {
            to,
            new: new.map(|(at, _)| at).collect(),
        }
    }
}

/// The identity of a node without a row: the node around it in the later reading, its kind, and its text.
type Like<'t> = (Option<NodeId>, &'static str, &'t str);

fn nodes(earlier: &Trace, later: &Trace) -> LaterIndices {
    let mut unnamed: BTreeMap<(Like<'_>, u32), NodeId> = BTreeMap::new();
    let mut seen: BTreeMap<Like<'_>, u32> = BTreeMap::new();
    for (at, node) in later.nodes.iter_enumerated() {
        if node.id.is_none() {
            let like = (node.parent, node.kind.word(), &*node.text);
            unnamed.insert((like, next(&mut seen, like)), at);
        }
    }
    seen.clear();
    let mut to: TiVec<NodeId, Option<NodeId>> = TiVec::with_capacity(earlier.nodes.len());
    for node in &earlier.nodes {
        let there = match (node.id, node.parent) {
            (Some(row), _) => later.of_row(row),
            (None, parent) => {
                // Parents come before their children, so a parent's later index is already known.
                let parent = parent.map(|p| to.get(p).copied().flatten());
                match parent {
                    Some(None) => None,
                    _ => {
                        let like = (parent.flatten(), node.kind.word(), &*node.text);
                        unnamed.get(&(like, next(&mut seen, like))).copied()
                    }
                }
            }
        };
        to.push(there);
    }
    let to = to.into_iter().map(|node| node.map(NodeId::get));
    LaterIndices::of(to.collect(), later.nodes.len())
}

fn bindings(earlier: &Run, later: &Run) -> LaterIndices {
    let mut known = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for (at, binding) in (0..).zip(&later.bindings) {
        let like = (&*binding.name, binding.execution_id);
        known.insert((like, next(&mut seen, like)), at);
    }
    seen.clear();
    let to = earlier.bindings.iter().map(|binding| {
        let like = (&*binding.name, binding.execution_id);
        known.get(&(like, next(&mut seen, like))).copied()
    });
    let to = to.collect();
    LaterIndices::of(to, later.bindings.len())
}

/// Returns the ordinal of an item among identical items, from 0, and counts the item in `seen`.
fn next<K: Ord>(seen: &mut BTreeMap<K, u32>, like: K) -> u32 {
    let count = seen.entry(like).or_default();
    *count += 1;
    *count - 1
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::pages::session::Options;
    use crate::read::sqlite::MemorySource;
    use crate::trace::{Node, NodeKind, NodeStatus};

    /// Opens a run folder with this trace and these bindings.
    fn open(trace: &str, bindings: &[&str]) -> Session {
        let state = format!(
            "# Execution State\n\nrun: r\n\n## Execution Trace\n\n```prose\n{trace}\n```\n"
        );
        let mut files = vec![("state.md".to_owned(), state.into_bytes())];
        for name in bindings {
            let text = format!("# {name}\n\nkind: let\n\nsource:\n```prose\n```\n\n---\n\nx\n");
            files.push((format!("bindings/{name}.md"), text.into_bytes()));
        }
        let source = Rc::new(MemorySource::new("r", files));
        Session::open(source, "", &Options::default()).unwrap()
    }

    #[test]
    fn bindings_keep_their_names_when_others_come_between() {
        let (earlier, later) = (open("", &["b", "d"]), open("", &["a", "b", "c", "d"]));
        let carried = earlier.carried_to(&later);
        assert_eq!([carried.binding(0), carried.binding(1)], [Some(1), Some(3)]);
        assert_eq!(carried.new_bindings(), [0, 2]);
        let back = later.carried_to(&earlier);
        assert_eq!([back.binding(0), back.binding(1)], [None, Some(0)]);
        assert!(back.new_bindings().is_empty());
    }

    /// Builds a trace from the id, level and text of each node, in preorder.
    fn trace(rows: &[(Option<i64>, u32, &str)]) -> Trace {
        let mut trace = Trace::default();
        let mut above: Vec<NodeId> = Vec::new();
        for (id, level, text) in rows {
            above.truncate(*level as usize);
            let at = trace.nodes.push_and_get_key(Node {
                id: *id,
                parent: above.last().copied(),
                level: *level,
                ..Node::without_row(NodeKind::Statement, (*text).into(), NodeStatus::Completed)
            });
            above.push(at);
            trace.by_row.extend(id.map(|id| (id, at)));
        }
        trace.by_row.sort_unstable();
        trace
    }

    #[test]
    fn nodes_are_the_same_by_their_row_and_rounds_by_what_they_lie_in() {
        let earlier = trace(&[
            (Some(1), 0, "loop a"),
            (None, 1, "round"),
            (Some(3), 2, "x"),
            (Some(9), 0, "loop b"),
            (None, 1, "round"),
        ]);
        let later = trace(&[
            (Some(1), 0, "loop a"),
            (None, 1, "round"),
            (Some(3), 2, "x"),
            (None, 1, "round"),
            (Some(4), 2, "x"),
            (Some(9), 0, "loop b"),
            (None, 1, "round"),
        ]);
        let moved = nodes(&earlier, &later);
        assert_eq!(moved.to, [Some(0), Some(1), Some(2), Some(5), Some(6)]);
        assert_eq!(moved.new, [3, 4]);
        // A node inside of a missing node is missing, too.
        let less = trace(&[(Some(9), 0, "loop b"), (None, 1, "round")]);
        let moved = nodes(&later, &less);
        assert_eq!(moved.to, [None, None, None, None, None, Some(0), Some(1)]);
    }
}
