//! What going on with a run takes: where it stands, what lies ahead, which values that needs, what must not be
//! repeated.
//!
//! ```text
//! positions ──► statements ahead ──► names and agents they use ──► resolved from their frame
//!     │
//!     ├──► what may have happened already (cautions)
//!     └──► gates and what each outcome means ──► what to do next, in order (steps)
//! ```
//!
//! Nothing here writes, and nothing is guessed silently: what is not known is a note. A finished run has no position;
//! a failed one can begin again at its first cause.
//!
//! | question | module |
//! |---|---|
//! | Which statements are ahead of a position? | `ahead`, `walk` |
//! | Which names and memories do they need, and are they there? | `needs`, `memories` |
//! | What may have happened already? | `caution` |
//! | What does a gate's outcome mean? | `outcome` |
//! | What to do, in order? | [`steps()`] |
//! | How is it said? | [`sections()`] |
//! | The same for a model | [`prompt()`] |

mod ahead;
mod caution;
mod memories;
mod needs;
mod outcome;
mod prompt;
mod sections;
mod steps;
mod walk;

use crate::model::{Run, RunStatus};
use crate::program::Listing;
use crate::trace::{Node, NodeId, NodeKind, Trace};

pub use ahead::{Ahead, Stand};
pub use caution::Caution;
pub use memories::Memory;
pub use needs::Need;
pub use outcome::Outlook;
pub use prompt::prompt;
pub(crate) use prompt::{fence, lines};
pub use sections::sections;
pub use steps::steps;

/// What a plan is made of.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The run.
    pub run: &'a Run,
    /// What happened in it.
    pub trace: &'a Trace,
    /// Its program; of a run that has none the trace of its state file, scanned as one.
    pub listing: Option<&'a Listing>,
}

/// What going on with a run takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Where it stands: every current position, or where a failed run can begin again.
    pub stands: Vec<Stand>,
    /// The statements ahead, position by position, each once a frame.
    pub ahead: Vec<Ahead>,
    /// Whether more lies ahead, or may, than is known: a note says why.
    pub cut: bool,
    /// The names that these statements use.
    pub needs: Vec<Need>,
    /// The agents whose memory they read.
    pub memories: Vec<Memory>,
    /// Gates that were decided right before a position: they are not asked again.
    pub decided: Vec<NodeId>,
    /// What may have happened already.
    pub cautions: Vec<Caution>,
    /// What is not known.
    pub notes: Vec<String>,
}

/// Plans how to go on with a run. Linear in the trace; at most some thousand statements are looked ahead.
pub fn plan(facts: Facts<'_>) -> Plan {
    let mut plan = ahead(facts);
    needs::look(facts, &mut plan);
    memories::look(facts, &mut plan);
    caution::look(facts, &mut plan);
    plan
}

/// The same, without what the statements ahead need and what may have happened already.
pub fn ahead(facts: Facts<'_>) -> Plan {
    let mut plan = Plan::default();
    if facts.trace.verdict.status != RunStatus::Completed.word() {
        ahead::look(facts, &mut plan);
    }
    plan
}

impl<'a> Facts<'a> {
    fn node(&self, at: NodeId) -> Option<&'a Node> {
        self.trace.node(at)
    }

    /// The nodes directly below one, or the outermost.
    fn inner(&self, of: Option<NodeId>) -> impl Iterator<Item = (NodeId, &'a Node)> + use<'a> {
        let trace = self.trace;
        let inner = trace.children(of);
        inner.filter_map(move |at| Some((at, trace.node(at)?)))
    }

    /// The statement that a node is tied to.
    pub(crate) fn statement(&self, node: NodeId) -> Option<u32> {
        self.listing?.begun_at(self.node(node)?.line?)
    }

    /// Of a node and what it lies in, the innermost that is tied to a statement; with that.
    fn tied(&self, node: Option<NodeId>) -> Option<(&'a Node, u32)> {
        let mut upward = self.trace.upward(node);
        upward.find_map(|at| Some((self.node(at)?, self.statement(at)?)))
    }
}

/// The executions that names are resolved from.
struct Scopes<'a> {
    trace: &'a Trace,
    /// The executions that bindings belong to, sorted: each of many positions may ask for one.
    owners: Vec<i64>,
}

impl<'a> Scopes<'a> {
    fn of(facts: Facts<'a>) -> Scopes<'a> {
        let bindings = facts.run.bindings.iter();
        let mut owners: Vec<i64> = bindings.filter_map(|b| b.execution_id).collect();
        owners.sort_unstable();
        owners.dedup();
        Scopes {
            trace: facts.trace,
            owners,
        }
    }

    /// Returns the execution that names are resolved from at a node: the nearest that is a frame, or a branch that bindings
    /// belong to.
    fn at(&self, node: Option<NodeId>) -> Option<i64> {
        self.trace.upward(node).find_map(|at| {
            let node = self.trace.node(at)?;
            let id = node.id?;
            let owns = || self.owners.binary_search(&id).is_ok();
            let branch = matches!(node.kind, NodeKind::Branch { .. });
            (node.kind.is_frame() || (branch && owns())).then_some(id)
        })
    }
}
