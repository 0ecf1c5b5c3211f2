//! What is open over the page.

/// The sheet that is open over the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sheet {
    /// How to continue the run: the plan and the next step.
    GoOn,
    /// The records that the status comes from, and recorded facts that no page shows.
    About,
    /// The decision on a gate, by its id.
    Gate(String, Decision),
    /// The run as text for a language model, or one row of its trace by the node's number.
    Model(Option<u32>),
}

/// A decision that can be recorded for a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The gate is approved.
    Approve,
    /// The gate is rejected.
    Reject,
    /// The deadline has passed without a decision.
    TimeOut,
}
