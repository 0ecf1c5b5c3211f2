//! Defines the JSON of audit logs: the log of one of several runs, its verification, time-outs, statistics, and waiting
//! times.

use serde::{Deserialize, Serialize};

use super::AuditView;
use crate::model::time::Stamp;
use crate::read::gate::audit::AuditHead;

/// The audit log of one of several runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunAudit {
    /// The run's name, as commands take it.
    pub run: String,
    /// The run's place inside the source (see [`super::RunSummary::place`]).
    pub place: String,
    /// The run's audit log, with the result of its verification.
    pub audit: AuditView,
}

/// A verification of an audit log. The best result is "consistent", not "proven": anyone can compute the hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditCheck {
    /// The run whose audit log was verified, by the name that commands take.
    pub run: String,
    /// How many rows the log has.
    pub rows: u32,
    /// The head that the caller expected, and whether the chain contains it; `None` if the caller gave no head.
    pub expected: Option<ExpectedHead>,
    /// The state of the chain of sealed rows, in the words of [`AuditView::chain`].
    #[cfg_attr(feature = "typescript", ts(as = "super::known::ChainState"))]
    pub chain: String,
    /// The reason for the state in `chain`, as in [`AuditView::chain_reason`].
    pub chain_reason: String,
    /// The log's head, as in [`AuditView::head`]; `None` unless the sealed rows are from one run.
    pub head: Option<AuditHead>,
    /// The issues that the verification found.
    pub issues: Vec<crate::model::issue::Issue>,
}

/// A head that was noted earlier, outside of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExpectedHead {
    /// How many sealed rows the chain had.
    pub count: u64,
    /// The hash of the last sealed row.
    pub hash: String,
    /// Whether the chain has a row with this hash at the position `count`.
    pub found: bool,
}

/// A time-out of a gate, as the audit log records it (OpenProse's sqlite.md, "Gates that timed out").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditTimeout {
    /// The run in which the gate timed out.
    pub run: String,
    /// The id of the gate that nobody decided in time.
    pub gate: String,
    /// When the time-out was recorded; `None` if not recorded.
    pub timestamp: Option<Stamp>,
    /// The gate's deadline, as the row records it; `None` if the row has no deadline.
    pub deadline: Option<Stamp>,
    /// The program's reaction to the time-out, as the row records it; `None` if the row has no reaction.
    pub on_reject: Option<String>,
}

/// How often an audit event occurs (OpenProse's sqlite.md, "Aggregate stats").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditStat {
    /// The event's name, such as `approved`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AuditEventKind"))]
    pub event: String,
    /// How many rows record this event.
    pub count: u32,
    /// How many different principals the rows of this event name.
    pub principals: u32,
}

/// How long a gate waited for its decision (OpenProse's sqlite.md, "Gate resolution time analysis").
/// Each gate is listed once (errata G10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateWait {
    /// The run that waited for the decision.
    pub run: String,
    /// The id of the gate at which the run waited.
    pub gate: String,
    /// The outcome: `approved`, `rejected` or `timeout`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::GateStatus"))]
    pub status: String,
    /// The principal that decided: a claim that is not verified; `None` if not recorded.
    pub resolved_by: Option<String>,
    /// When the gate was created; `None` if not recorded.
    pub created: Option<Stamp>,
    /// When the gate was decided; `None` if not recorded.
    pub resolved: Option<Stamp>,
    /// How long the gate waited, in milliseconds; `None` where one of the two times is not known.
    pub waited_ms: Option<i64>,
    /// The waiting time in words: `2h 5m`; `None` if `waited_ms` is `None`.
    pub waited: Option<String>,
}
