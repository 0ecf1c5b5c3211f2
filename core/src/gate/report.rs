//! What the verification of an audit log says.

use serde::{Deserialize, Serialize};

use crate::issue::{Issue, Severity};
use crate::model::Text;
use crate::text::counted;

/// What a verification says of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainState {
    /// There is no row.
    Empty,
    /// There is no row, and the run names the place of one in the log's chain.
    Gone,
    /// Every row is sealed, and the chain agrees with them.
    Consistent,
    /// Rows are sealed and agree; others are not sealed.
    Partly,
    /// No row is sealed: whoever wrote them keeps no chain.
    Unsealed,
    /// The chain agrees with the rows, and gates are not what its sealed rows record.
    Contradicted,
    /// Something was changed, is missing, or stands elsewhere.
    Broken,
}

impl ChainState {
    /// Each of them.
    #[cfg(feature = "typescript")]
    pub(crate) const ALL: [ChainState; 7] = [
        ChainState::Empty,
        ChainState::Gone,
        ChainState::Consistent,
        ChainState::Partly,
        ChainState::Unsealed,
        ChainState::Contradicted,
        ChainState::Broken,
    ];

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            ChainState::Empty => "empty",
            ChainState::Gone => "gone",
            ChainState::Consistent => "consistent",
            ChainState::Partly => "partly sealed",
            ChainState::Unsealed => "unsealed",
            ChainState::Contradicted => "contradicted",
            ChainState::Broken => "broken",
        }
    }
}

/// The last sealed row of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Head {
    /// The run.
    pub run: Text,
    /// How many rows its chain has: the `seq` of the last.
    pub count: u64,
    /// The hash of the last.
    pub hash: String,
}

/// What a verification found at a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The row's id; `None` when it speaks of the log.
    pub row: Option<i64>,
    /// The rule's name, as issues have it.
    pub rule: &'static str,
    /// What was found, in one sentence.
    pub message: String,
}

impl Finding {
    pub(super) fn of_rule(row: Option<i64>, rule: &'static str, message: String) -> Finding {
        Finding { row, rule, message }
    }

    /// Whether it means that the log was changed.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }

    fn severity(&self) -> Severity {
        match self.rule {
            "audit-row-unsealed" | "audit-more-findings" => Severity::Note,
            "audit-row-unchecked" => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// The same as an issue.
    pub fn issue(&self) -> Issue {
        let issue = Issue::new(self.severity(), self.rule, &*self.message).hint(match self.rule {
            "audit-row-unsealed" => {
                "Another tool wrote it; it may be right, but nothing would show a change."
            }
            "audit-row-unchecked" => "It was too long to be read whole.",
            "audit-more-findings" => "",
            "audit-tail-cut" => {
                "Rows at the end of the log were deleted since that head was noted."
            }
            "audit-head-differs" => "The log was written anew since that head was noted.",
            "audit-log-gone" => {
                "Put back the log as it was, from a copy: nothing is recorded in this run without it. Where there is none, run the program anew."
            }
            _ => "The log was changed after it was written; do not rely on it.",
        });
        match self.row {
            Some(row) => issue.at_row("gate_audit_log", row),
            None => issue.at_table("gate_audit_log"),
        }
    }
}

/// What a verification says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    /// The sum of it.
    pub state: ChainState,
    /// How many rows are sealed.
    pub sealed: usize,
    /// How many are not.
    pub unsealed: usize,
    /// How many of the sealed ones were not read whole, so that only their links were checked.
    pub unchecked: usize,
    /// The last sealed row of every run, by run.
    pub heads: Vec<Head>,
    /// What was found, in order of the log.
    pub findings: Vec<Finding>,
    /// Where gates are not what the sealed rows record.
    pub gates: Vec<Issue>,
    /// Gates whose creation no sealed row records: warnings, as nothing contradicts them.
    pub notes: Vec<Issue>,
}

impl ChainReport {
    /// Adds that a log is gone, where the run names places in it.
    pub(crate) fn lost(&mut self, gone: Vec<Finding>) {
        if !gone.is_empty() {
            self.state = match self.state {
                ChainState::Empty => ChainState::Gone,
                _ => ChainState::Broken,
            };
        }
        self.findings.extend(gone);
    }

    /// Adds what gates contradict. A log without a sealed row is no measure for them.
    pub(crate) fn add<'a>(&mut self, gates: impl Iterator<Item = &'a Issue>) {
        if self.sealed == 0 {
            return;
        }
        // What is a warning to whoever goes on with the run is an error to whoever verifies its trail.
        self.gates.extend(gates.cloned().map(|issue| Issue {
            severity: Severity::Error,
            ..issue
        }));
        if !self.gates.is_empty() && self.state != ChainState::Broken {
            self.state = ChainState::Contradicted;
        }
    }

    /// The errors: those of the log, then those of the gates.
    pub fn errors(&self) -> Vec<Issue> {
        let of_log = self.findings.iter().filter(|finding| finding.is_error());
        of_log
            .map(Finding::issue)
            .chain(self.gates.iter().cloned())
            .collect()
    }

    /// The last sealed row, when the log is of one run.
    pub fn head(&self) -> Option<&Head> {
        match self.heads.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The sum of it in one sentence. Never "proof": the hash needs no secret.
    pub fn sentence(&self) -> String {
        let rows = |n: usize| counted(n as u64, "row", "rows");
        match self.state {
            ChainState::Empty => "There is no audit row.".to_owned(),
            ChainState::Consistent => {
                let of = match self.notes.len() {
                    0 => String::new(),
                    1 => ", but no sealed row records the creation of one gate".to_owned(),
                    n => format!(", but no sealed row records the creation of {n} gates"),
                };
                format!("The log agrees with its chain ({}){of}.", rows(self.sealed))
            }
            ChainState::Unsealed => format!(
                "No row is sealed ({}): a change would not be noticed.",
                rows(self.unsealed)
            ),
            ChainState::Partly => {
                let mut parts = vec![format!(
                    "{} of {} agree with the chain",
                    self.sealed - self.unchecked,
                    rows(self.sealed + self.unsealed)
                )];
                if self.unsealed > 0 {
                    parts.push(format!(
                        "{} without one, as other tools write them",
                        self.unsealed
                    ));
                }
                if self.unchecked > 0 {
                    parts.push(format!("{} too long to be checked", self.unchecked));
                }
                format!("{}.", parts.join("; "))
            }
            ChainState::Contradicted => match self.gates.as_slice() {
                [only] => format!("The log agrees with its chain, but {}.", only.message),
                all => format!(
                    "The log agrees with its chain, but gates are not what it records: {} differences.",
                    all.len()
                ),
            },
            ChainState::Gone | ChainState::Broken => {
                let first = self.findings.iter().find(|finding| finding.is_error());
                first.map_or_else(String::new, |finding| finding.message.clone())
            }
        }
    }
}
