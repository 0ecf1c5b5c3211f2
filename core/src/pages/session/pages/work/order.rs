//! Decides whether a value existed when a statement began.

use crate::model::{Binding, BindingKind};
use crate::pages::session::Session;
use crate::pages::session::pages::writes::{ValueWriter, second};
use crate::pages::view::Received;
use crate::trace::{NodeId, NodeKind, NodeStatus};

/// Returns whether the time `a` is in an earlier second than the time `b`. Many programs record whole seconds, so times
/// within the same second have no order.
pub(super) fn before(a: i64, b: i64) -> bool {
    second(a).1 < second(b).0
}

/// Returns whether a node received the present value of a binding, and whether that was inferred from the order of
/// nodes.
pub(super) fn seen(
    session: &Session,
    node: NodeId,
    (from, to): (Option<i64>, Option<i64>),
    binding: &Binding,
    by: &ValueWriter,
) -> (Received, bool) {
    let at = session.node(node);
    if at.is_some_and(|at| at.status == NodeStatus::Pending) {
        return (Received::Unknown, false);
    }
    // Each attempt receives the values that exist when the attempt begins, but only the begin of the first attempt is
    // recorded.
    let retried = at.is_some_and(|at| at.attempts > 1);
    if let (Some(written), Some(from)) = (by.at, from) {
        if before(written, from) {
            return (Received::Same, false);
        }
        let over = to.is_some_and(|to| before(to, written));
        if over || (before(from, written) && !retried) {
            return (Received::Replaced, false);
        }
        if before(from, written) && by.by != Some(node) {
            return (Received::Unknown, false);
        }
    }
    let Some(writer) = by.by else {
        // The caller's inputs existed before any statement ran.
        let given = binding.kind == BindingKind::Input && binding.execution_id.is_none();
        return if given && by.at.is_none() {
            (Received::Same, true)
        } else {
            (Received::Unknown, false)
        };
    };
    // A block writes its result at its end, after the nodes inside of it ran.
    if writer == node
        || session
            .trace
            .upward(Some(node))
            .any(|above| above == writer)
    {
        return (Received::Replaced, by.inferred);
    }
    if session.trace.unordered || side_by_side(session, node, writer) {
        return (Received::Unknown, false);
    }
    if writer < node {
        (Received::Same, true)
    } else {
        (Received::Replaced, true)
    }
}

/// Returns whether two nodes are in different branches of one parallel, so that their order is unknown.
fn side_by_side(session: &Session, a: NodeId, b: NodeId) -> bool {
    let around = |at| session.trace.upward(Some(at));
    let common = around(a).find(|at| *at <= b && b < session.trace.end(*at));
    let kind = common.and_then(|at| session.node(at)).map(|at| &at.kind);
    matches!(kind, Some(NodeKind::Parallel))
}
