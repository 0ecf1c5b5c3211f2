//! Records that contradict each other: what ran though its condition did not hold, and two ways of one choice
//! (errata E3).

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Ledger;
use super::{Node, NodeId, NodeSlice, NodeStatus};
use crate::issue::{Issue, Severity};
use crate::program::{Listing, StatementKind as Kind};

/// Statements around one that are looked at. Programs do not nest deeper; the bound keeps hostile ones cheap.
const DEEP: usize = 64;

/// Notes contradictions among nodes that lie in one frame, and one round.
pub(super) fn compare(nodes: &NodeSlice, program: Option<&Listing>, ledger: &mut Ledger) {
    let any = |program: &&Listing| program.statements.iter().any(|s| s.kind.is_way());
    let Some(program) = program.filter(any) else {
        return;
    };
    let tied = |node: &Node| {
        let line = node.line.filter(|_| !node.line_guessed)?;
        program.statement_at(line)
    };
    let is_way = |at: u32| program.get(at).is_some_and(|s| s.kind.is_way());
    // Conditions that did not hold, by what the node lies in.
    let mut refused: BTreeSet<(Option<NodeId>, u32)> = BTreeSet::new();
    for node in nodes.iter().filter(|n| n.status == NodeStatus::Skipped) {
        refused.extend(
            tied(node)
                .filter(|at| is_way(*at))
                .map(|at| (node.parent, at)),
        );
    }
    let mut taken: BTreeMap<(Option<NodeId>, u32), u32> = BTreeMap::new();
    for node in nodes {
        // What failed may have been tried again in another way.
        let idle = matches!(
            node.status,
            NodeStatus::Skipped | NodeStatus::Pending | NodeStatus::Failed
        );
        let Some(at) = tied(node).filter(|_| !idle) else {
            continue;
        };
        // So may what it lies in, and rows do not say of which attempt they are.
        let again = || {
            std::iter::successors(node.parent, |at| nodes.get(*at)?.parent)
                .take(DEEP)
                .any(|at| nodes.get(at).is_some_and(|around| around.attempts > 1))
        };
        // What lies in a loop or a parallel lies in that one's node.
        let holds = |at: &u32| {
            program
                .get(*at)
                .is_some_and(|s| s.kind.is_loop() || matches!(s.kind, Kind::Parallel | Kind::Block))
        };
        let inside = program.enclosing(at).take(DEEP).take_while(|at| !holds(at));
        for way in std::iter::once(at).chain(inside) {
            let Some(choice) = program.choice(way) else {
                continue;
            };
            let other = *taken.entry((node.parent, choice)).or_insert(way);
            let said = |at: u32| program.get(at).map_or("", |s| &s.text);
            if way != at && refused.contains(&(node.parent, way)) {
                note(node, ledger, || {
                    let condition = said(way);
                    format!(
                        "`{}` is recorded, but `{condition}` was passed over",
                        node.text
                    )
                });
            } else if other != way && !again() {
                note(node, ledger, || {
                    let (one, other) = (said(way), said(other));
                    format!(
                        "`{}` is recorded in `{one}`, but `{other}` ran, too",
                        node.text
                    )
                });
            }
        }
    }
}

fn note(node: &Node, ledger: &mut Ledger, message: impl FnOnce() -> String) {
    ledger.note(Severity::Warning, "condition-contradicted", || {
        let issue =
            Issue::noted("", message()).hint("Both are shown as recorded; one of them is wrong.");
        issue.at_execution(node.id.filter(|_| node.first_row.is_some()))
    });
}
