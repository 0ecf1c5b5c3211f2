//! Converts parent pointers into a tree in preorder. Recursion is avoided and the time is linear, because hostile rows
//! may nest deeply or form cycles.

use super::NodeSlice;
use super::rows::NONE;

/// Cuts every cycle at its smallest index, which becomes a root (errata T11). Returns the cycles, each upward from
/// its smallest index.
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

/// Returns the nodes in preorder: parents before children, children by index. The pointers must be free of cycles; a
/// node without a parent is a root.
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

/// Sets the level and the number of descendants of nodes in preorder, from their parents.
pub(super) fn measure(nodes: &mut NodeSlice) {
    for at in nodes.keys() {
        let parent = nodes[at].parent.filter(|parent| *parent < at);
        nodes[at].level = parent.map_or(0, |parent| nodes[parent].level + 1);
        nodes[at].descendants = 0;
    }
    for at in nodes.keys().rev() {
        if let Some(parent) = nodes[at].parent.filter(|parent| *parent < at) {
            nodes[parent].descendants += nodes[at].descendants + 1;
        }
    }
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
}
