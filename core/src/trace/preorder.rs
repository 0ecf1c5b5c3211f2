//! Parent pointers into a tree in preorder: no recursion, linear, whatever the pointers say.

use super::Node;
use super::rows::NONE;

/// Cuts every cycle at its smallest index, which becomes a root (trace.md 11); returns the cycles, each from
/// its smallest index upward.
pub(super) fn cut_cycles(parents: &mut [u32]) -> Vec<Vec<u32>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; parents.len()];
    let mut cycles = Vec::new();
    let mut path = Vec::new();
    for start in 0..parents.len() {
        let mut at = start;
        while state.get(at) == Some(&NEW) {
            state[at] = OPEN;
            path.push(at as u32);
            at = parents[at] as usize;
        }
        if state.get(at) == Some(&OPEN)
            && let Some(from) = path.iter().position(|p| *p as usize == at)
        {
            let mut cycle: Vec<u32> = path[from..].to_vec();
            let smallest = cycle
                .iter()
                .enumerate()
                .min_by_key(|(_, at)| **at)
                .map_or(0, |(i, _)| i);
            cycle.rotate_left(smallest);
            if let Some(root) = cycle.first().and_then(|at| parents.get_mut(*at as usize)) {
                *root = NONE;
            }
            cycles.push(cycle);
        }
        for at in path.drain(..) {
            state[at as usize] = DONE;
        }
    }
    cycles
}

/// The order in which a tree is read: parents before children, children by index. Pointers must be free of
/// cycles; what points nowhere is a root.
pub(super) fn order(parents: &[u32]) -> Vec<u32> {
    let len = parents.len();
    let mut first_child = vec![NONE; len];
    let mut next = vec![NONE; len];
    let mut root = NONE;
    for (at, parent) in parents.iter().enumerate().rev() {
        let list = first_child.get_mut(*parent as usize).unwrap_or(&mut root);
        next[at] = std::mem::replace(list, at as u32);
    }
    let mut out = Vec::with_capacity(len);
    let mut later = Vec::new();
    let mut at = root;
    loop {
        while let (Some(child), Some(sibling)) =
            (first_child.get(at as usize), next.get(at as usize))
        {
            out.push(at);
            if *sibling != NONE {
                later.push(*sibling);
            }
            at = *child;
        }
        match later.pop() {
            Some(sibling) => at = sibling,
            None => return out,
        }
    }
}

/// Fills in level and descendants of nodes in preorder from their parents.
pub(super) fn measure(nodes: &mut [Node]) {
    for at in 0..nodes.len() {
        let level = match nodes[at].parent.map(|p| p as usize) {
            Some(parent) if parent < at => nodes[parent].level + 1,
            _ => 0,
        };
        nodes[at].level = level;
        nodes[at].descendants = 0;
    }
    for at in (0..nodes.len()).rev() {
        if let Some(parent) = nodes[at].parent.map(|p| p as usize)
            && parent < at
        {
            nodes[parent].descendants += nodes[at].descendants + 1;
        }
    }
}

/// Brings nodes into preorder. `parent` holds indices into `nodes` as given, in any order; children keep their
/// order. Cycles are cut. Sets `parent`, `level` and `descendants`.
pub(crate) fn arrange(nodes: Vec<Node>) -> Vec<Node> {
    let mut parents: Vec<u32> = nodes
        .iter()
        .map(|node| node.parent.unwrap_or(NONE))
        .collect();
    cut_cycles(&mut parents);
    let order = order(&parents);
    let mut place = vec![NONE; nodes.len()];
    for (new, old) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(*old as usize) {
            *slot = new as u32;
        }
    }
    let mut pool: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut out = Vec::with_capacity(pool.len());
    for old in order {
        if let Some(mut node) = pool.get_mut(old as usize).and_then(Option::take) {
            node.parent = parents
                .get(old as usize)
                .and_then(|parent| place.get(*parent as usize))
                .copied();
            out.push(node);
        }
    }
    measure(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_cut_at_its_smallest_index() {
        let mut parents = vec![NONE, 3, 0, 4, 1, 4];
        assert_eq!(cut_cycles(&mut parents), [[1, 3, 4]]);
        assert_eq!(parents, [NONE, NONE, 0, 4, 1, 4]);
        let mut itself = vec![0];
        assert_eq!(cut_cycles(&mut itself), [[0]]);
        assert_eq!(itself, [NONE]);
    }

    #[test]
    fn parents_come_before_children_and_siblings_keep_their_order() {
        assert_eq!(order(&[NONE, NONE, 0, 1, 0, 2]), [0, 2, 5, 4, 1, 3]);
        assert_eq!(order(&[1, 2, NONE]), [2, 1, 0]);
        assert_eq!(order(&[]), [0; 0]);
        assert_eq!(order(&[77]), [0]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep: Vec<u32> = (0..300_000u32)
            .map(|at| at.checked_sub(1).unwrap_or(NONE))
            .collect();
        assert!(
            order(&deep)
                .iter()
                .enumerate()
                .all(|(i, at)| i as u32 == *at)
        );
        let mut ring: Vec<u32> = deep;
        ring[0] = 299_999;
        assert_eq!(cut_cycles(&mut ring).len(), 1);
        assert_eq!(ring[0], NONE);
    }

    #[test]
    fn nodes_given_in_any_order_are_arranged() {
        let node = |name: &str, parent| Node {
            parent,
            ..super::super::emit::derived(
                super::super::NodeKind::Statement,
                name.into(),
                super::super::NodeStatus::Completed,
            )
        };
        let nodes = arrange(vec![
            node("c", Some(2)),
            node("d", Some(9)),
            node("a", None),
            node("b", Some(0)),
            node("e", Some(5)),
            node("f", Some(4)),
        ]);
        let told: Vec<_> = nodes
            .iter()
            .map(|n| (&*n.text, n.parent, n.level, n.descendants))
            .collect();
        assert_eq!(
            told,
            [
                ("d", None, 0, 0),
                ("a", None, 0, 2),
                ("c", Some(1), 1, 1),
                ("b", Some(2), 2, 0),
                ("e", None, 0, 1),
                ("f", Some(4), 1, 0),
            ]
        );
    }
}
