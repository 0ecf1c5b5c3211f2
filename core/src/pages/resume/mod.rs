//! Plans how to continue a run: the current positions, the statements ahead, the values they need, and the effects that
//! must not be repeated.
//!
//! ```text
//! positions ──► statements ahead ──► names and agents they use ──► resolved from their frame
//!     │
//!     ├──► what may have happened already (cautions)
//!     └──► gates and what each outcome means ──► what to do next, in order (steps)
//! ```
//!
//! This module never writes, and every unknown fact becomes a note. A completed run has no position; a failed run can
//! begin again at its first cause.
//!
//! | question | module |
//! |---|---|
//! | Which statements are ahead of a position? | `ahead`, `walk` |
//! | Which names and memories do they need, and do these exist? | `needs`, `memories` |
//! | What may have happened already? | `caution` |
//! | What does a gate's outcome mean? | `outcome` |
//! | Which steps come next, in order? | [`steps()`] |
//! | Which commands come next? | [`next()`], from what the recorder allows |
//! | Which sections do user interfaces show? | [`sections()`] |
//! | Which prompt hands the run to a model? | [`prompt()`] |

mod ahead;
mod caution;
mod memories;
mod needs;
mod next;
mod outcome;
mod prompt;
mod sections;
mod steps;
mod walk;

use crate::model::{Run, RunStatus};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, Trace};

pub use ahead::{Position, StatementAhead};
pub use caution::Caution;
pub use memories::Memory;
pub use needs::Need;
pub use next::next;
pub use outcome::Outlook;
pub(crate) use outcome::goes_on_at;
pub use prompt::prompt;
pub(crate) use prompt::{fence, lines};
pub use sections::sections;
pub use steps::steps;

/// The facts from which a plan is made.
#[derive(Debug, Clone, Copy)]
pub struct ResumeFacts<'a> {
    /// The run to continue.
    pub run: &'a Run,
    /// The trace of the run's executions.
    pub trace: &'a Trace,
    /// The scanned program; for a run without a program, the trace in the state file, scanned like a program.
    pub listing: Option<&'a Listing>,
}

/// The plan for continuing a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResumePlan {
    /// Every current position, or the place where a failed run can begin again.
    pub positions: Vec<Position>,
    /// The statements that may run next, position by position; each statement occurs at most once in a frame.
    pub ahead: Vec<StatementAhead>,
    /// Whether statements ahead are missing from the list; a note explains why.
    pub cut: bool,
    /// The names that the statements ahead use.
    pub needs: Vec<Need>,
    /// The agents whose memory the statements ahead read.
    pub memories: Vec<Memory>,
    /// The gates that were decided directly before a position. The plan does not ask for their decisions again.
    pub decided: Vec<NodeId>,
    /// The effects that may have happened already, so repeating them is a risk.
    pub cautions: Vec<Caution>,
    /// Unknown facts, in words.
    pub notes: Vec<String>,
}

/// Plans how to continue a run. The time grows linearly with the trace; at most 4000 statements ahead are listed.
pub fn plan(facts: ResumeFacts<'_>) -> ResumePlan {
    let mut plan = ahead(facts);
    needs::add_needs(facts, &mut plan);
    memories::add_memories(facts, &mut plan);
    caution::add_cautions(facts, &mut plan);
    plan
}

/// Plans like [`plan`], but leaves out needs, memories and cautions.
pub fn ahead(facts: ResumeFacts<'_>) -> ResumePlan {
    let mut plan = ResumePlan::default();
    if facts.trace.verdict.status != RunStatus::Completed.word() {
        ahead::add_positions(facts, &mut plan);
    }
    plan
}

impl<'a> ResumeFacts<'a> {
    fn node(&self, at: NodeId) -> Option<&'a Node> {
        self.trace.node(at)
    }

    /// Returns the nodes directly inside a node; for `None`, the outermost nodes.
    fn inner(&self, of: Option<NodeId>) -> impl Iterator<Item = (NodeId, &'a Node)> + use<'a> {
        let trace = self.trace;
        let inner = trace.children(of);
        inner.filter_map(move |at| Some((at, trace.node(at)?)))
    }

    /// Returns the index of the program's statement that begins at a node's line, if there is one.
    pub(crate) fn statement(&self, node: NodeId) -> Option<u32> {
        self.listing?.begun_at(self.node(node)?.line?)
    }

    /// Returns what [`Node::allows_failure`] does.
    pub(crate) fn allows_failure(&self, at: NodeId) -> Option<String> {
        self.node(at)?.allows_failure(self.run, self.listing)
    }

    /// Returns the innermost node with a program statement, among a node and the nodes around it, and that statement.
    fn tied(&self, node: Option<NodeId>) -> Option<(&'a Node, u32)> {
        let mut upward = self.trace.upward(node);
        upward.find_map(|at| Some((self.node(at)?, self.statement(at)?)))
    }
}

/// Looks up the executions from which names are resolved.
struct Scopes<'a> {
    trace: &'a Trace,
    /// The executions that own bindings, sorted for a fast search by many positions.
    owners: Vec<i64>,
}

impl<'a> Scopes<'a> {
    fn of(facts: ResumeFacts<'a>) -> Scopes<'a> {
        let bindings = facts.run.bindings.iter();
        let mut owners: Vec<i64> = bindings.filter_map(|b| b.execution_id).collect();
        owners.sort_unstable();
        owners.dedup();
        Scopes {
            trace: facts.trace,
            owners,
        }
    }

    /// Returns the execution from which names are resolved at a node: the nearest frame, or a nearer branch that owns
    /// bindings.
    fn at(&self, node: Option<NodeId>) -> Option<i64> {
        self.trace.upward(node).find_map(|at| {
            let node = self.trace.node(at)?;
            let id = node.id?;
            let owns = || self.owners.binary_search(&id).is_ok();
            let branch = matches!(node.kind, NodeKind::Branch { .. });
            (node.is_frame || (branch && owns())).then_some(id)
        })
    }
}
