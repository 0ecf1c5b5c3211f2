//! Reports contradictory records: a statement that ran although its condition did not hold, and two alternatives of one
//! decision that both ran (errata E3).

use std::collections::{BTreeMap, BTreeSet};

use super::rows::Ledger;
use super::{Node, NodeId, NodeSlice, NodeStatus};
use crate::model::issue::{Issue, Severity};
use crate::program::{Listing, StatementKind as Kind};

/// Maximum number of enclosing statements examined. Real programs do not nest deeper, and hostile programs stay cheap.
const DEEP: usize = 64;

/// Reports contradictions among nodes in the same frame and round.
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
    // The alternatives whose condition did not hold, each with the parent of its node.
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
        // A failed alternative does not count as taken, because another alternative may have been tried after it.
        let idle = matches!(
            node.status,
            NodeStatus::Skipped | NodeStatus::Pending | NodeStatus::Failed
        );
        let Some(at) = tied(node).filter(|_| !idle) else {
            continue;
        };
        // After a retry of an enclosing node, another alternative may run without a contradiction. Rows do not record
        // to which attempt they belong.
        let again = || {
            std::iter::successors(node.parent, |at| nodes.get(*at)?.parent)
                .take(DEEP)
                .any(|at| nodes.get(at).is_some_and(|around| around.attempts > 1))
        };
        // The search for enclosing alternatives ends at a loop or a parallel block, because nodes inside it have the
        // construct's node as their parent.
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
            let text_of = |at: u32| program.get(at).map_or("", |s| &s.text);
            if way != at && refused.contains(&(node.parent, way)) {
                note(node, ledger, || {
                    let condition = text_of(way);
                    format!("`{}` is recorded, but `{condition}` was skipped", node.text)
                });
            } else if other != way && !again() {
                note(node, ledger, || {
                    let (one, other) = (text_of(way), text_of(other));
                    format!(
                        "`{}` is recorded in `{one}`, but `{other}` ran as well",
                        node.text
                    )
                });
            }
        }
    }
}

fn note(node: &Node, ledger: &mut Ledger, message: impl FnOnce() -> String) {
    ledger.note(Severity::Warning, "condition-contradicted", || {
        let issue = Issue::noted("", message())
            .hint("Both rows are shown as recorded, but one of the two is wrong.");
        issue.at_execution(node.id.filter(|_| node.first_row.is_some()))
    });
}
