use serde::{Deserialize, Serialize};

use super::AuditView;
use crate::gate::audit::Head;
use crate::time::Stamp;

/// The audit log of one of several runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunAudit {
    /// What commands call the run.
    pub run: String,
    /// Where that run lies (see [`super::RunSummary::place`]).
    pub place: String,
    /// Its log and what the verification says.
    pub audit: AuditView,
}

/// A verification of an audit log. It says "consistent" at best: the hash needs no secret.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditCheck {
    /// The run.
    pub run: String,
    /// How many rows the log has.
    pub rows: u32,
    /// The head that was expected, and whether the chain has it.
    pub expected: Option<ExpectedHead>,
    /// As [`AuditView::chain`].
    #[cfg_attr(feature = "typescript", ts(as = "super::known::ChainState"))]
    pub chain: String,
    /// As [`AuditView::chain_reason`].
    pub chain_reason: String,
    /// As [`AuditView::head`].
    pub head: Option<Head>,
    /// What the verification found.
    pub issues: Vec<crate::issue::Issue>,
}

/// A head that somebody noted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExpectedHead {
    /// How many rows the chain had.
    pub count: u64,
    /// The hash of the last.
    pub hash: String,
    /// Whether the chain has that row at that place.
    pub found: bool,
}

/// A recorded time-out (sqlite.md, "Gates that timed out").
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditTimeout {
    /// The run.
    pub run: String,
    /// The gate.
    pub gate: String,
    /// When the time-out was recorded.
    pub timestamp: Option<Stamp>,
    /// The deadline, as the row says.
    pub deadline: Option<Stamp>,
    /// What the program did then, as the row says.
    pub on_reject: Option<String>,
}

/// How often something happened (sqlite.md, "Aggregate stats").
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditStat {
    /// What happened.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AuditEventKind"))]
    pub event: String,
    /// How many rows say so.
    pub count: u32,
    /// How many principals they name.
    pub principals: u32,
}

/// How long a gate waited for its decision (sqlite.md, "Gate resolution time analysis"). One a gate (errata G10).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateWait {
    /// The run.
    pub run: String,
    /// The gate.
    pub gate: String,
    /// How it was decided: `approved`, `rejected` or `timeout`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::GateStatus"))]
    pub status: String,
    /// Who decided: a claim.
    pub resolved_by: Option<String>,
    /// When it was created.
    pub created: Option<Stamp>,
    /// When it was decided.
    pub resolved: Option<Stamp>,
    /// How long it waited, in milliseconds; `None` where one of the times is not known.
    pub waited_ms: Option<i64>,
    /// The same in words.
    pub waited: Option<String>,
}
