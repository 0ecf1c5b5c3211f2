use serde::{Deserialize, Serialize};

use crate::gate::audit::Head;
use crate::gate::decision::Seen;
use crate::issue::Issue;
use crate::time::Stamp;

/// The gates of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GatesView {
    /// The gates, in order of creation.
    pub gates: Vec<GateView>,
    /// The audit log and what its verification says.
    pub audit: AuditView,
}

impl GateView {
    /// That its deadline passed, and when; `None` for a gate that can still be decided.
    pub fn passed(&self) -> Option<String> {
        let deadline = self.deadline.as_ref().filter(|_| self.overdue)?;
        let at = deadline.spoken();
        Some(format!("The deadline of gate {} passed on {at}", self.id))
    }
}

/// A gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateView {
    /// The run it belongs to.
    pub run: String,
    /// Where that run lies (see [`super::RunSummary::place`]); set in lists over all runs.
    pub place: Option<String>,
    /// Its id.
    pub id: String,
    /// Its status as recorded.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::GateStatus"))]
    pub status: String,
    /// Its status at `now`, in words: `pending`, `overdue: its time-out is not recorded yet`.
    pub standing: String,
    /// What the approver is asked.
    pub prompt: String,
    /// Who may decide.
    pub allow: Vec<String>,
    /// Who may decide, in words: `anyone`, `ops-team`, `nobody`, `unreadable: refused`.
    pub allow_words: String,
    /// The duration as the program wrote it.
    pub timeout: Option<String>,
    /// The deadline.
    pub deadline: Option<Stamp>,
    /// `expires in 3h 12m`, `expired 5m ago`; `None` without a deadline, or once it was decided.
    pub remaining: Option<String>,
    /// Past its deadline and nobody recorded it.
    pub overdue: bool,
    /// What the program does on a rejection.
    pub on_reject: Option<String>,
    /// When it was created.
    pub created: Option<Stamp>,
    /// When it was decided.
    pub resolved: Option<Stamp>,
    /// Who decided: a claim.
    pub resolved_by: Option<String>,
    /// The comment of who decided.
    pub comment: Option<String>,
    /// How long it waited, or waits; milliseconds.
    pub waited_ms: Option<i64>,
    /// The same in words.
    pub waited: Option<String>,
    /// The execution row that waits at it.
    pub execution_id: Option<i64>,
    /// Its node in the trace.
    pub node: Option<u32>,
    /// What it means that no sealed row of the log records its creation, where the run's log seals creations.
    #[serde(default)]
    pub unsealed: Option<String>,
    /// Its history, by id.
    pub history: Vec<AuditRow>,
    /// `metadata` as recorded.
    pub metadata: Option<String>,
    /// What a decision that is made elsewhere is compared with; `None` once the gate was decided, or where `allow` cannot be read.
    #[serde(default)]
    pub seen: Option<Seen>,
    /// Past its deadline: the command that records the time-out. A decision is refused then.
    #[serde(default)]
    pub expire_command: Option<String>,
    /// The command that approves it.
    pub approve_command: String,
    /// The command that rejects it.
    pub reject_command: String,
}

/// The audit log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditView {
    /// Its rows, by id.
    pub rows: Vec<AuditRow>,
    /// `consistent`, `unsealed`, `partly sealed`, `contradicted` (gates are not what the sealed rows record), `broken`,
    /// `empty`, `gone` (the run shows that there was a log).
    #[cfg_attr(feature = "typescript", ts(as = "super::known::ChainState"))]
    pub chain: String,
    /// The same in one sentence, with the first bad row: never "proof".
    pub chain_reason: String,
    /// The last sealed row, as a decision prints it; absent where the log is of several runs.
    pub head: Option<Head>,
    /// What the verification found.
    pub issues: Vec<Issue>,
}

/// A row of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditRow {
    /// The row's id.
    pub id: i64,
    /// The gate.
    pub gate: String,
    /// The run.
    pub run: String,
    /// What happened.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AuditEventKind"))]
    pub event: String,
    /// Who, as claimed.
    pub principal: Option<String>,
    /// Context or reason.
    pub comment: Option<String>,
    /// When.
    pub timestamp: Option<Stamp>,
    /// `metadata` as recorded.
    pub metadata: Option<String>,
    /// Whether the row is part of the chain.
    pub sealed: bool,
}
