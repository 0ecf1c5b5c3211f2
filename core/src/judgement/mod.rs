//! What the program allows at this moment of a run, and what was recorded against it. A pure function of the run, its
//! trace and its program; the recorder, `next`, `check` and the pages draw from it.
//!
//! What follows a gate does not begin until the gate is approved: not while it is pending, not after a rejection or a
//! time-out, and not if it was never asked. What follows is in the gate's own body or in one around it; branches of one
//! parallel do not follow each other. A rejection does not bar if `on_reject` continues the program, or if a `catch`
//! around the gate takes it.

mod gates;

use crate::model::{Run, Text};
use crate::program::Listing;
use crate::trace::{NodeId, Trace};

pub use gates::Gates;
pub(crate) use gates::WAITS;

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
}

/// A gate that what follows it must not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The gate's id, or for a gate that was never asked its name in the program.
    pub gate: Text,
    /// Why what follows may not begin.
    pub why: Why,
    /// The gate's line in the program.
    pub line: Option<u32>,
}

impl Bar {
    /// Returns the gate with its state, such as `the rejected gate deploy`.
    pub fn words(&self) -> String {
        let gate = &self.gate;
        match self.why {
            Why::Pending => format!("the pending gate {gate}"),
            Why::Rejected => format!("the rejected gate {gate}"),
            Why::TimedOut => format!("gate {gate}, which timed out"),
            Why::NeverAsked => format!("gate {gate}, which was never asked"),
        }
    }
}

/// Something that was recorded although a gate barred it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The gate.
    pub bar: Bar,
    /// The first execution that passed the gate; `None` if only the run's end did.
    pub at: Option<NodeId>,
}

/// Returns the gates that a run went past, each with the first execution that did, in order of the trace.
pub fn went_against(run: &Run, trace: &Trace, program: Option<&Listing>) -> Vec<Passed> {
    Gates::of(run, trace, program).passed()
}

#[cfg(test)]
mod tests;
