//! Creates and parses decision files. A decision file contains a decision that a person made on a copy of a run, until
//! `gate import` records the decision in the run (docs/reference/formats.md, "A decision file").
//!
//! The file contains what its author saw of the gate ([`Seen`]), because a copy may be old, redacted or changed. The
//! import does not trust the file: names and times are claims, and the rest is compared with the run
//! ([`crate::write::DecideAsSeen`]).

mod seen;
#[cfg(test)]
mod tests;
mod wrong;

pub use seen::{Heads, Seen, SeenHead};
pub use wrong::{NoDecision, NotADecision};

use serde::{Deserialize, Serialize};

use super::allow::Allow;
use super::audit::ChainState;
use super::canonical;
use super::chain::is_hash;
use super::lifecycle::{History, Lifecycle, on_behalf_of};
use crate::model::{AuditEvent, AuditKind, Gate, GateStatus};
use crate::shell::{command, option};
use crate::time::Stamp;

/// The value of the key `format` in a decision file. A changed format will have another number.
pub const FORMAT: &str = "prosescope-decision-1";

/// The largest size of a decision file, in bytes.
pub const MOST_BYTES: usize = 256 << 10;

/// A sentence for people who open the file in an editor.
const NOTE: &str = "This decision was made on a copy of the run. It is not recorded in the run yet: `prosescope gate import FILE` compares it with the run, and records it once.";

/// The outcome of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The gate was approved.
    Approved,
    /// The gate was rejected.
    Rejected,
}

/// A decision as a file: a JSON object with exactly these keys, `format` first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionFile {
    pub(crate) format: String,
    pub(crate) note: String,
    /// The run's id.
    pub run: String,
    /// The gate's id.
    pub gate: String,
    /// Whether the gate was approved or rejected.
    pub decision: Verdict,
    /// The comment, or the reason of a rejection.
    #[serde(default)]
    pub comment: Option<String>,
    /// The principal that decided. The file only claims this: the import cannot verify it.
    pub by: String,
    /// The principal for which `by` acted, also only a claim.
    #[serde(default)]
    pub on_behalf_of: Option<String>,
    /// When the decision was made, also only a claim. The import checks deadlines by its own clock.
    #[serde(default)]
    pub decided_at: Option<Stamp>,
    /// What the person saw of the gate.
    pub seen: Seen,
}

/// A person's decision, before it becomes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Whether the gate was approved or rejected.
    pub decision: Verdict,
    /// The comment, or the reason of a rejection.
    pub comment: Option<String>,
    /// The name of the principal, as claimed.
    pub by: String,
    /// The principal for which `by` acts, as claimed.
    pub on_behalf_of: Option<String>,
    /// The time of the decision, in milliseconds since 1970 UTC.
    pub at: i64,
}

impl Verdict {
    /// Returns the status that a gate has after this decision.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Approved => "approved",
            Verdict::Rejected => "rejected",
        }
    }
}

impl DecisionFile {
    /// Creates the file of a decision on a pending gate of `run`, based on a copy of the run.
    ///
    /// # Errors
    /// An error if the import would refuse the decision even for a run that equals the copy.
    pub fn new(
        run: &str,
        gate: &Gate,
        log: &[AuditEvent],
        choice: Choice,
    ) -> Result<DecisionFile, NoDecision> {
        let id = gate.id.to_string();
        if gate.status != GateStatus::Pending {
            return Err(NoDecision::NotPending(id, gate.status.word().to_owned()));
        }
        if Lifecycle::of(gate, Some(choice.at)).overdue {
            return Err(NoDecision::PastDeadline(id));
        }
        let comment = choice.comment.filter(|text| !text.trim().is_empty());
        if choice.decision == Verdict::Rejected && comment.is_none() {
            return Err(NoDecision::NoReason);
        }
        let unread = |error| NoDecision::Allow(id.clone(), error);
        let seen = Seen::of(gate, &Heads::of(log)).map_err(unread)?;
        let acting_for = choice.on_behalf_of.as_deref();
        Allow::of(seen.allow.clone())
            .check(&choice.by, acting_for)
            .map_err(|refusal| NoDecision::Refused(id.clone(), refusal))?;
        Ok(DecisionFile {
            format: FORMAT.to_owned(),
            note: NOTE.to_owned(),
            run: run.to_owned(),
            gate: id,
            decision: choice.decision,
            comment,
            by: choice.by.trim().to_owned(),
            on_behalf_of: choice.on_behalf_of,
            decided_at: Some(Stamp::At(choice.at)),
            seen,
        })
    }

    /// Extracts the decision of a gate that was decided in a copy of the run, such as a copied `state.db`. `seen` gets
    /// the head that the copy's log had before the row of the decision.
    ///
    /// # Errors
    /// An error if the gate was not decided in the copy, or if the copy's audit log does not agree with itself or with
    /// the gates.
    pub fn decided_in(
        run: &str,
        gate: &Gate,
        gates: &[Gate],
        log: &[AuditEvent],
    ) -> Result<DecisionFile, NoDecision> {
        let id = gate.id.to_string();
        let decision = match gate.status {
            GateStatus::Approved => Verdict::Approved,
            GateStatus::Rejected => Verdict::Rejected,
            _ => return Err(NoDecision::NotDecided(id, gate.status.word().to_owned())),
        };
        let report = super::verify(gates, log, None);
        if matches!(report.state, ChainState::Broken | ChainState::Contradicted) {
            return Err(NoDecision::Contradicted(report.sentence()));
        }
        let history = History::new(log);
        let decides =
            |row: &&AuditEvent| matches!(row.kind, AuditKind::Approved | AuditKind::Rejected);
        let before = history.of(gate).find(decides).map(|row| row.id);
        let rows = log.iter().filter(|row| before.is_none_or(|id| row.id < id));
        let unread = |error| NoDecision::Allow(id.clone(), error);
        let at = gate.resolved.clone().filter(|at| at.millis().is_some());
        Ok(DecisionFile {
            format: FORMAT.to_owned(),
            note: NOTE.to_owned(),
            run: run.to_owned(),
            decision,
            comment: gate.comment.as_deref().map(str::to_owned),
            by: (gate.resolved_by.as_deref()).unwrap_or_default().to_owned(),
            on_behalf_of: on_behalf_of(gate.metadata.as_deref()),
            decided_at: at,
            seen: Seen::of(gate, &Heads::of(rows)).map_err(unread)?,
            gate: id,
        })
    }

    /// Parses a decision file.
    ///
    /// # Errors
    /// An error that describes the first problem found.
    pub fn parse(text: &str) -> Result<DecisionFile, NotADecision> {
        if text.len() > MOST_BYTES {
            return Err(NotADecision::TooLong);
        }
        let value =
            canonical::parse(text).map_err(|error| NotADecision::NotJson(error.to_string()))?;
        match value.get("format").and_then(serde_json::Value::as_str) {
            None => return Err(NotADecision::NoFormat),
            Some(FORMAT) => {}
            Some(other) => return Err(NotADecision::Format(cut(other))),
        }
        let file: DecisionFile =
            serde_json::from_value(value).map_err(|error| NotADecision::Key(error.to_string()))?;
        let hash = file.seen.prompt_hash.as_str();
        if !hash.strip_prefix("sha256:").is_some_and(is_hash) {
            return Err(NotADecision::Value {
                key: "prompt_hash",
                found: cut(hash),
                expected: "`sha256:` and 64 hex digits in lower case",
            });
        }
        if let Some(head) = &file.seen.head
            && (head.count == 0 || !is_hash(&head.hash))
        {
            return Err(NotADecision::Value {
                key: "head",
                found: cut(&format!("{}:{}", head.count, head.hash)),
                expected: "a count above 0, and 64 hex digits in lower case",
            });
        }
        if let Some(Stamp::Odd(at)) = &file.decided_at {
            return Err(NotADecision::Value {
                key: "decided_at",
                found: cut(at),
                expected: "a time as in RFC 3339",
            });
        }
        Ok(file)
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        // The default is never used: a struct of plain fields always converts to JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the command that makes the same decision in the run with the name `run`.
    pub fn command(&self, run: &str) -> String {
        let (verb, text) = match self.decision {
            Verdict::Approved => ("approve", "--comment"),
            Verdict::Rejected => ("reject", "--reason"),
        };
        let options = [
            self.comment.as_deref().map(|comment| option(text, comment)),
            Some(option("--as", &self.by)),
            (self.on_behalf_of.as_deref()).map(|other| option("--for", other)),
        ];
        let options: Vec<String> = options.into_iter().flatten().collect();
        command(verb, &[run, &self.gate], &options.join(" "))
    }

    /// Returns the command that imports the file into the run with the name `run`.
    pub fn import_command(&self, run: &str) -> String {
        command("gate import", &[&self.name(), run], "")
    }

    /// Returns the file name: the gate's id, in which all characters but letters, digits, `-`, `_` and `.` become `_`.
    pub fn name(&self) -> String {
        let plain = |c: char| match c {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
            _ => '_',
        };
        let gate: String = self.gate.chars().take(80).map(plain).collect();
        format!("{}.decision.json", gate.trim_start_matches('.'))
    }
}

/// Shortens a value for a message.
fn cut(text: &str) -> String {
    crate::text::cut(text, 80)
}
