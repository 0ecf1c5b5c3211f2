use super::Text;
use super::words::words;
use crate::model::time::Stamp;

words! {
    /// The status of a gate (sqlite.md, "Gate Lifecycle").
    pub enum GateStatus {
        /// The gate is not decided yet.
        Pending = "pending",
        /// A principal approved the gate.
        Approved = "approved",
        /// A principal rejected the gate.
        Rejected = "rejected",
        /// The deadline passed, and a writer recorded that.
        Timeout = "timeout",
    }
}

impl GateStatus {
    /// Parses a gate's status word.
    pub fn parse(word: &str) -> GateStatus {
        match word.trim().to_ascii_lowercase().as_str() {
            "pending" => GateStatus::Pending,
            "approved" => GateStatus::Approved,
            "rejected" => GateStatus::Rejected,
            "timeout" => GateStatus::Timeout,
            _ => GateStatus::Other(word.trim().into()),
        }
    }

    /// Returns whether the gate counts as decided in sqlite.md: approved, rejected or timed out.
    pub fn is_decided(&self) -> bool {
        matches!(
            self,
            GateStatus::Approved | GateStatus::Rejected | GateStatus::Timeout
        )
    }
}

/// Where a gate is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum GateRecord {
    /// In a row, or in a file with the gate's id as its name.
    #[default]
    Own,
    /// In a file that has the name of another gate, with this id. Such a gate cannot be decided.
    FileOf(Text),
    /// Only in a state file or a log, which records no gate that a command could decide.
    Told,
}

/// An approval gate (sqlite.md, "Approval Gates"; errata G1–G12).
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The column `gates.id`. If a program reaches the same gate again, `#2`, `#3` and so on is appended: `deploy#2`
    /// (errata G1).
    pub id: Text,
    /// Where the gate is recorded, which decides whether a command can decide it.
    pub recorded: GateRecord,
    /// The run's id in the gate's row. The table `run` may lack that run (errata G11).
    pub run_id: Option<Text>,
    /// The id of the execution row that waits at the gate.
    pub execution_id: Option<i64>,
    /// The waiting execution's id in the store from which the run was copied (errata P8). Audit rows that were sealed
    /// in that store refer to this id. `None` if both stores use the same id.
    pub source_execution_id: Option<i64>,
    /// The gate's question to the approver.
    pub prompt: Option<Text>,
    /// The principals who may decide, as recorded JSON (errata G4); [`crate::read::gate::allow`] parses it.
    pub allow: Option<Text>,
    /// The timeout as written in the program, for display: `24h`.
    pub timeout: Option<Text>,
    /// The deadline: the time after which the gate counts as overdue.
    pub timeout_at: Option<Stamp>,
    /// The program's action after a rejection.
    pub on_reject: Option<Text>,
    /// The status of the gate.
    pub status: GateStatus,
    /// When the gate was created.
    pub created: Option<Stamp>,
    /// When the gate was decided; `None` if it is pending or if the time is not recorded.
    pub resolved: Option<Stamp>,
    /// The principal who decided, as claimed and not verified (errata G4).
    pub resolved_by: Option<Text>,
    /// The approver's comment.
    pub comment: Option<Text>,
    /// The column `metadata` as recorded.
    pub metadata: Option<Text>,
}

words! { parse
    /// The event of an audit row (sqlite.md, "Event Types").
    pub enum AuditKind {
        /// The gate was created.
        Created = "created",
        /// The gate was viewed.
        Viewed = "viewed",
        /// The gate was approved.
        Approved = "approved",
        /// The gate was rejected.
        Rejected = "rejected",
        /// The gate's deadline passed.
        Timeout = "timeout",
        /// A suspended run resumed at the gate.
        Resumed = "resumed",
        /// The gate was created differently than the program demands, or decided without a sealed row that records
        /// its creation. A Prosescope event, not in OpenProse.
        Overridden = "overridden",
        /// The run continued, or ended, although the gate was pending. A Prosescope event, not in OpenProse.
        Forced = "forced",
    }
}

impl AuditKind {
    /// Returns whether the event ends the waiting at the gate: an approval, a rejection or a timeout.
    pub fn resolves(&self) -> bool {
        matches!(
            self,
            AuditKind::Approved | AuditKind::Rejected | AuditKind::Timeout
        )
    }
}

/// One row of `gate_audit_log`, or one line of a folder's `gates/audit.jsonl`. Events are in order of id (errata G8).
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// The row's id, or the line number in the file.
    pub id: i64,
    /// The id of the gate that the event concerns.
    pub gate_id: Text,
    /// The id of the run that the event happened in.
    pub run_id: Text,
    /// The kind of event.
    pub kind: AuditKind,
    /// The principal who acted, as claimed and not verified.
    pub principal: Option<Text>,
    /// The comment on the event, such as its reason.
    pub comment: Option<Text>,
    /// The time as recorded; events are never ordered by it.
    pub timestamp: Option<Stamp>,
    /// The column `metadata` as recorded; its key `chain` carries the hash chain (errata G7).
    pub metadata: Option<Text>,
    /// Every column of the row as JSON, in the table's own types: the input of the chain's hash.
    pub row_json: Option<Text>,
}

/// Splits a gate's id into the id in the program and the number of the visit: `deploy#2` is the second visit to the
/// gate `deploy` (errata G1).
///
/// ```
/// use prosescope_core::model::visit;
/// assert_eq!(visit("deploy#2"), ("deploy", 2));
/// assert_eq!(visit("deploy"), ("deploy", 1));
/// for none in ["issue#x", "issue#", "#2"] {
///     assert_eq!(visit(none), (none, 1));
/// }
/// ```
pub fn visit(id: &str) -> (&str, u32) {
    let split = id.rsplit_once('#').and_then(|(base, visit)| {
        let digits = visit.bytes().all(|b| b.is_ascii_digit());
        let visit = visit.parse().ok().filter(|visit| digits && *visit > 1)?;
        (!base.is_empty()).then_some((base, visit))
    });
    split.unwrap_or((id, 1))
}
