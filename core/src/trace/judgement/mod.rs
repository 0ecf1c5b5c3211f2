//! What the program allows at this moment of a run, and what was recorded against it. A pure function of the run, its
//! trace and its program; the recorder, `next`, `check` and the pages draw from it.
//!
//! What follows a gate does not begin until the gate is approved: not while it is pending, not after a rejection or a
//! time-out, and not if it was never asked. What follows is in the gate's own body or in one around it; branches of one
//! parallel do not follow each other. A rejection does not bar if `on_reject` continues the program, or if a `catch`
//! around the gate takes it.

mod bodies;
mod calls;
mod failures;
mod gates;
mod order;

use crate::model::{Run, Text};
use crate::program::{Listing, StatementKind as Kind};
use crate::trace::{Node, NodeId, NodeStatus, Trace};

pub use bodies::{Bodies, Lack};
pub use calls::Calls;
pub use failures::Failures;
pub use gates::Gates;
pub(crate) use gates::WAITS;
pub use order::Order;

/// Why what follows a gate may not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The gate waits for a decision.
    Pending,
    /// The gate was rejected.
    Rejected,
    /// The gate timed out.
    TimedOut,
    /// The program asks at the gate, but nobody asked.
    NeverAsked,
    /// An execution asked at the gate, but the gate's record is no longer there.
    Gone,
}

/// A gate that what follows it must not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateBar {
    /// The gate's id, or for a gate that was never asked its name in the program.
    pub gate: Text,
    /// Why what follows may not begin.
    pub why: Why,
    /// The gate's line in the program.
    pub line: Option<u32>,
}

/// Something because of which a statement must not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bar {
    /// A gate comes first.
    Gate(GateBar),
    /// The call that the statement runs in has returned, with the `return` or `output` at this line.
    Returned {
        /// The line of the `return` or `output`.
        line: u32,
    },
    /// A statement in the same body failed, and nothing handled the failure.
    Failed {
        /// The id of the failed execution.
        id: Option<i64>,
        /// Its line in the program.
        line: Option<u32>,
    },
    /// The statement calls a block inside of as many calls of that block as the program allows (`max_depth`).
    TooDeep {
        /// The block's name.
        block: Text,
        /// The most calls of the block inside of each other.
        max: u32,
    },
}

impl Bar {
    /// Returns in words what a run did that this bars: `went on past the rejected gate deploy`.
    pub fn passed(&self) -> String {
        match self {
            Bar::Gate(bar) => {
                let gate = &bar.gate;
                let gate = match bar.why {
                    Why::Pending => format!("the pending gate {gate}"),
                    Why::Rejected => format!("the rejected gate {gate}"),
                    Why::TimedOut => format!("gate {gate}, which timed out"),
                    Why::NeverAsked => format!("gate {gate}, which was never asked"),
                    Why::Gone => format!("gate {gate}, whose record is gone"),
                };
                format!("went on past {gate}")
            }
            Bar::Returned { line } => format!("went on after the call had returned at line {line}"),
            Bar::Failed {
                line: Some(line), ..
            } => {
                format!("went on after line {line} had failed")
            }
            Bar::Failed { .. } => "went on after a failure".to_owned(),
            Bar::TooDeep { block, max } => {
                format!("called block {block} deeper than its max_depth of {max}")
            }
        }
    }
}

/// Something that was recorded although the program bars it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedBar {
    /// What bars it.
    pub bar: Bar,
    /// The first execution that went past the bar; `None` if only the run's end did.
    pub at: Option<NodeId>,
}

/// Returns what a run recorded against its program: gates in order of the trace, then failures, then calls.
pub fn went_against(run: &Run, trace: &Trace, program: Option<&Listing>) -> Vec<PassedBar> {
    let gates = Gates::of(run, trace, program).passed().into_iter();
    let gates = gates.map(|(bar, at)| PassedBar {
        bar: Bar::Gate(bar),
        at,
    });
    // A state file or a log may be an excerpt, so only rows show that a statement followed another. Nodes of a graph do
    // not follow each other as statements do: one may run after the failure of another.
    let rows = run.recorded_in_rows() && !run.form.has_nodes();
    let calls = program.filter(|_| rows);
    let calls = calls.map(|program| Calls::of(run, trace, program).passed());
    let failures = rows.then(|| Failures::of(run, trace, program).passed());
    let all = gates.chain(failures.into_iter().flatten());
    all.chain(calls.into_iter().flatten()).collect()
}

/// Returns what a run first did against its program, in words: `went on past the rejected gate deploy`.
pub fn first_against(run: &Run, trace: &Trace, program: Option<&Listing>) -> Option<String> {
    let passed = went_against(run, trace, program);
    passed.first().map(|passed| passed.bar.passed())
}

/// Returns the gates whose records are no longer there although an execution asked at them, each with the execution.
pub fn gone(run: &Run, trace: &Trace, program: Option<&Listing>) -> Vec<(NodeId, GateBar)> {
    Gates::of(run, trace, program).gone().collect()
}

/// Returns in words that statements are something: `line 3 is`, `lines 3, 5 and 2 more are`.
pub fn lines_are(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(u32::to_string).collect();
    let named = named.join(", ");
    match lines.len() {
        1 => format!("line {named} is"),
        0..=NAMED => format!("lines {named} are"),
        many => format!("lines {named} and {} more are", many - NAMED),
    }
}

/// The most lines that a message names.
const NAMED: usize = 6;

/// Returns whether a gate of the program may lead back to a label.
fn has_labels(program: &Listing) -> bool {
    program.statements.iter().any(|s| s.kind == Kind::Label)
}

/// Returns whether a statement is in a clause, of a kind for which `is` returns true, of the `try` that is `own` or
/// contains it.
fn in_clause(program: &Listing, statement: u32, own: u32, is: impl Fn(Kind) -> bool) -> bool {
    let tried = |at: u32| at == own || program.contains(at, own);
    let mut outward = std::iter::once(statement).chain(program.enclosing(statement));
    outward.any(|at| {
        let kind = program.get(at).map(|own| own.kind);
        kind.is_some_and(&is) && tried(program.leader(at))
    })
}

/// Returns whether a node is a `try` with a `catch`: it may end although something in it failed, before its `catch`
/// begins.
fn has_catch(trace: &Trace, program: Option<&Listing>, at: NodeId) -> bool {
    let own = trace.node(at).and_then(|node| node.sure_index(program));
    own.is_some_and(|own| program.is_some_and(|program| program.catch_of(own).is_some()))
}

/// Returns whether a node is an execution that began, rather than one that is only announced or was skipped.
fn begun(node: &Node) -> bool {
    let announced =
        matches!(node.status, NodeStatus::Pending | NodeStatus::Skipped) && !node.kind.is_gate();
    // That a row was never ended is derived, but the row shows that it began.
    let derived = node.derived && node.status != NodeStatus::Abandoned;
    !announced && !derived && !node.kind.is_round()
}

#[cfg(test)]
mod tests;
