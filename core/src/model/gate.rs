use super::Text;
use super::words::words;
use crate::time::Stamp;

words! {
    /// Where a gate stands (sqlite.md, "Gate Lifecycle").
    pub enum GateStatus {
        /// Nobody decided yet.
        Pending = "pending",
        /// Approved.
        Approved = "approved",
        /// Rejected.
        Rejected = "rejected",
        /// Its deadline passed, and that was recorded.
        Timeout = "timeout",
    }
}

impl GateStatus {
    /// Reads a gate's status word.
    pub fn parse(word: &str) -> GateStatus {
        match word.trim().to_ascii_lowercase().as_str() {
            "pending" => GateStatus::Pending,
            "approved" => GateStatus::Approved,
            "rejected" => GateStatus::Rejected,
            "timeout" => GateStatus::Timeout,
            _ => GateStatus::Other(word.trim().into()),
        }
    }

    /// Whether the document counts it as decided: approved, rejected or timed out.
    pub fn is_decided(&self) -> bool {
        matches!(
            self,
            GateStatus::Approved | GateStatus::Rejected | GateStatus::Timeout
        )
    }
}

/// An approval gate (sqlite.md, "Approval Gates"; errata G1–G12).
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// `gates.id`; a gate that is met again reads `id#2` (errata G1).
    pub id: Text,
    /// The run that the row names; there may be no such run row (errata G11).
    pub run_id: Option<Text>,
    /// The execution row that waits at it.
    pub execution_id: Option<i64>,
    /// The id that this execution had in the store that the run came from, where it has another here (errata P8): rows of the
    /// log that were sealed there name it so.
    pub source_execution_id: Option<i64>,
    /// What the approver is asked.
    pub prompt: Option<Text>,
    /// Who may decide, as recorded: JSON (errata G4). See [`crate::gate::allow`].
    pub allow: Option<Text>,
    /// The duration as the program wrote it, for display.
    pub timeout: Option<Text>,
    /// The deadline.
    pub timeout_at: Option<Stamp>,
    /// What the program does on a rejection.
    pub on_reject: Option<Text>,
    /// Where it stands.
    pub status: GateStatus,
    /// When it was created.
    pub created: Option<Stamp>,
    /// When it was decided.
    pub resolved: Option<Stamp>,
    /// Who decided: a claim (errata G4).
    pub resolved_by: Option<Text>,
    /// The approver's comment.
    pub comment: Option<Text>,
    /// `metadata` as recorded.
    pub metadata: Option<Text>,
}

words! { parse
    /// What an audit row speaks of (sqlite.md, "Event Types").
    pub enum AuditKind {
        /// The gate was created.
        Created = "created",
        /// Somebody looked at it.
        Viewed = "viewed",
        /// Somebody approved it.
        Approved = "approved",
        /// Somebody rejected it.
        Rejected = "rejected",
        /// Its deadline passed.
        Timeout = "timeout",
        /// A suspended run went on at it.
        Resumed = "resumed",
        /// It was created otherwise than the program says, or decided although no sealed row records its creation. Ours: no
        /// document lists it.
        Overridden = "overridden",
        /// The run went on, or ended, although it was pending. Ours: no document lists it.
        Forced = "forced",
    }
}

impl AuditKind {
    /// Whether it ends a gate's waiting: an approval, a rejection, a time-out.
    pub fn resolves(&self) -> bool {
        matches!(
            self,
            AuditKind::Approved | AuditKind::Rejected | AuditKind::Timeout
        )
    }
}

/// One row of `gate_audit_log`, or one line of a folder's `gates/audit.jsonl`; in order of id (errata G8).
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// The row's id, or the line's number.
    pub id: i64,
    /// The gate it speaks of.
    pub gate_id: Text,
    /// The run it speaks of.
    pub run_id: Text,
    /// What happened.
    pub kind: AuditKind,
    /// Who, as claimed.
    pub principal: Option<Text>,
    /// Context or reason.
    pub comment: Option<Text>,
    /// When, as recorded. Never used to order.
    pub timestamp: Option<Stamp>,
    /// `metadata` as recorded; `metadata.chain` carries the hash chain (errata G7).
    pub metadata: Option<Text>,
    /// Every column of the row as JSON, in the table's own types: what the chain's hash is taken over.
    pub row_json: Option<Text>,
}
