//! Defines the JSON of a run's gates and of its audit log.

use serde::{Deserialize, Serialize};

use super::NodeRef;
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::read::gate::audit::AuditHead;
use crate::read::gate::seen::SeenGate;

/// The gates of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GatesView {
    /// The gates, in the order in which they were created.
    pub gates: Vec<GateView>,
    /// The audit log, with the result of its verification.
    pub audit: AuditView,
}

/// A question of the program to a person: a mid-program `input` that has no answer yet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QuestionView {
    /// The run that waits for the answer.
    pub run: String,
    /// The name of the input, under which the answer is recorded.
    pub input: String,
    /// The whole question; `None` if the program asks without words.
    pub question: Option<String>,
    /// The row of the question.
    pub node: Option<NodeRef>,
}

impl GateView {
    /// Returns a clause that states when the deadline passed; `None` for a gate that is not overdue.
    pub fn passed(&self) -> Option<String> {
        let deadline = self.deadline.as_ref().filter(|_| self.overdue)?;
        Some(passed(&self.id, deadline))
    }
}

fn passed(gate: &str, deadline: &Stamp) -> String {
    format!(
        "The deadline of gate {gate} passed on {}",
        deadline.spoken()
    )
}

/// A gate that waits for a decision, in a list of runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WaitingGate {
    /// The gate's id.
    pub gate: String,
    /// The principals that may decide, in words, as in [`GateView`].
    pub allow_words: String,
    /// The time until which the gate can be decided; `None` without a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub deadline: Option<Stamp>,
}

impl WaitingGate {
    /// Returns whether the deadline has passed at `now`, in milliseconds since 1970 UTC.
    pub fn is_overdue(&self, now: i64) -> bool {
        let deadline = self.deadline.as_ref().and_then(Stamp::millis);
        deadline.is_some_and(|deadline| deadline < now)
    }

    /// Returns a clause that states for whom and until when the gate waits at `now`, or when its deadline passed.
    pub fn words(&self, now: i64) -> String {
        match &self.deadline {
            Some(deadline) if self.is_overdue(now) => passed(&self.gate, deadline),
            Some(deadline) => {
                let until = deadline.spoken();
                format!(
                    "Gate {} waits for {} until {until}",
                    self.gate, self.allow_words
                )
            }
            None => format!("Gate {} waits for {}", self.gate, self.allow_words),
        }
    }
}

/// A gate of a run: a place at which the program waits for a decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateView {
    /// The run that the gate belongs to.
    pub run: String,
    /// The run's place inside the source (see [`super::RunSummary::place`]); `None` except in lists over all runs.
    pub place: Option<String>,
    /// The gate's id, which `approve` and `reject` take.
    pub id: String,
    /// The gate's status as recorded.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::GateStatus"))]
    pub status: String,
    /// The gate's status at `now`, in words: `pending`, `overdue: its time-out is not recorded yet`.
    pub standing: String,
    /// The question that the program asks.
    pub prompt: String,
    /// The names in the gate's `allow` list; empty if the list cannot be read.
    pub allow: Vec<String>,
    /// The principals that may decide, in words: `anyone`, `ops-team`, `nobody`, `nobody, because the list …`.
    pub allow_words: String,
    /// The time-out, as the program writes it (`4h`); `None` without a time-out.
    pub timeout: Option<String>,
    /// The time until which the gate can be decided; `None` without a deadline.
    pub deadline: Option<Stamp>,
    /// Time until the deadline, or since: `expires in 3h 12m`, `expired 5m ago`. `None` without a deadline or after a
    /// decision.
    pub remaining: Option<String>,
    /// Whether the deadline passed and the time-out is not recorded yet.
    pub overdue: bool,
    /// The program's reaction to a rejection; `None` if not recorded.
    pub on_reject: Option<String>,
    /// When the gate was created; `None` if not recorded.
    pub created: Option<Stamp>,
    /// When the gate was decided; `None` for a pending gate, or if not recorded.
    pub resolved: Option<Stamp>,
    /// The principal that decided, as claimed: `ops`, or `ci, for ops`; `None` for a pending gate, or if not recorded.
    pub resolved_by: Option<String>,
    /// The comment that was given with the decision, if any.
    pub comment: Option<String>,
    /// How long the gate waited, or has been waiting, in milliseconds; `None` if a time is missing.
    pub waited_ms: Option<i64>,
    /// The waiting time in words: `2h 5m`; `None` if `waited_ms` is `None`.
    pub waited: Option<String>,
    /// The id of the execution that waits at the gate; `None` if not recorded.
    pub execution_id: Option<i64>,
    /// The index of the gate's node in the trace; `None` if the trace does not contain the gate.
    pub node: Option<u32>,
    /// A warning that no sealed row of the audit log records the gate's creation; only in logs that seal creations.
    #[serde(default)]
    pub unsealed: Option<String>,
    /// How the gate differs from the sealed rows of the audit log; `None` if it agrees, or without such rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub contradicted: Option<String>,
    /// The gate's rows of the audit log, by id.
    pub history: Vec<AuditRow>,
    /// The column `metadata`, as recorded, if any.
    pub metadata: Option<String>,
    /// Whether the gate is in a shared copy: it is decided where the run is recorded, under the run's own name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub is_copy: bool,
    /// The gate's content. `view --allow-decisions` records a decision only if its page shows the present content.
    /// `None` after the decision, or if `allow` cannot be read.
    #[serde(default)]
    pub seen: Option<SeenGate>,
    /// The command that records the time-out; `None` unless the gate is overdue. An overdue gate is not decided.
    #[serde(default)]
    pub expire_command: Option<String>,
    /// The command that approves the gate.
    pub approve_command: String,
    /// The command that rejects the gate.
    pub reject_command: String,
}

/// The audit log, with the result of its verification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditView {
    /// The log's rows, by id.
    pub rows: Vec<AuditRow>,
    /// The state of the chain of sealed rows: `consistent`, `unsealed`, `partly sealed`, `broken`, `empty`,
    /// `contradicted` (a gate differs from its sealed rows), or `gone` (the run shows that there was a log).
    #[cfg_attr(feature = "typescript", ts(as = "super::known::ChainState"))]
    pub chain: String,
    /// The reason for the state in `chain`, in one sentence, with the first bad row. The text never claims a "proof",
    /// because anyone can compute hashes.
    pub chain_reason: String,
    /// The log's head, as commands print it after a decision; absent if the rows are from several runs.
    pub head: Option<AuditHead>,
    /// The issues that the verification found.
    pub issues: Vec<Issue>,
}

/// A row of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AuditRow {
    /// The row's id.
    pub id: i64,
    /// The id of the gate that the row is about.
    pub gate: String,
    /// The run that the row belongs to.
    pub run: String,
    /// The event: `created`, `approved`, `rejected` …
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AuditEventKind"))]
    pub event: String,
    /// The principal that caused the event: a claim that is not verified; `None` if not recorded.
    pub principal: Option<String>,
    /// The principal on whose behalf `principal` acted (`--for`, errata G4), if any.
    #[serde(default)]
    pub on_behalf_of: Option<String>,
    /// The context of the event, or its reason; `None` if not recorded.
    pub comment: Option<String>,
    /// When the event was recorded; `None` if not recorded.
    pub timestamp: Option<Stamp>,
    /// The column `metadata`, as recorded, if any.
    pub metadata: Option<String>,
    /// Whether the row is part of the chain of sealed rows.
    pub sealed: bool,
}

impl AuditRow {
    /// Returns the principal in words: `mira, for ops-team`; `None` if the row has no principal.
    pub fn who(&self) -> Option<String> {
        let by = self.principal.as_deref()?;
        Some(acting(by, self.on_behalf_of.as_deref()))
    }
}

/// Returns the principal `by` in words, with the principal on whose behalf `by` acts (errata G4): `mira, for ops-team`.
pub fn acting(by: &str, on_behalf_of: Option<&str>) -> String {
    on_behalf_of.map_or_else(|| by.to_owned(), |other| format!("{by}, for {other}"))
}
