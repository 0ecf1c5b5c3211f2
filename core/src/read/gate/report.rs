//! Defines the result of verifying an audit log: the log's state, heads and findings.

use serde::{Deserialize, Serialize};

use crate::model::Text;
use crate::model::issue::{Issue, Severity};
use crate::model::text::counted;

/// The state of an audit log after its verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainState {
    /// The log has no rows.
    Empty,
    /// The log has no rows, but the run refers to a place in the log's chain.
    Gone,
    /// Every row is sealed and agrees with the chain.
    Consistent,
    /// The sealed rows agree with the chain; other rows are not sealed.
    Partly,
    /// No row is sealed, because the program that wrote the rows does not use a chain.
    Unsealed,
    /// The log agrees with its chain, but gates differ from its sealed rows.
    Contradicted,
    /// Rows were changed, are missing, or are at a wrong place in the chain.
    Broken,
}

impl ChainState {
    /// All states.
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

    /// Returns the state's word for people.
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
pub struct AuditHead {
    /// The run whose audit log contains the row.
    pub run: Text,
    /// How many rows the run's chain has: the `seq` of the last row.
    pub count: u64,
    /// The hash of the last row.
    pub hash: String,
}

/// A finding of the verification, about one row or about the whole log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The row's id; `None` if the finding is about the whole log.
    pub row: Option<i64>,
    /// The name of the rule that the log breaks, such as `audit-row-edited`.
    pub rule: &'static str,
    /// The finding in one sentence.
    pub message: String,
}

impl Finding {
    pub(super) fn of_rule(row: Option<i64>, rule: &'static str, message: String) -> Finding {
        Finding { row, rule, message }
    }

    /// Returns whether the finding means that the log was changed.
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

    /// Converts the finding to an issue.
    pub fn issue(&self) -> Issue {
        let issue = Issue::new(self.severity(), self.rule, &*self.message).hint(match self.rule {
            "audit-row-unsealed" => {
                "Another tool wrote the row. The row may be correct, but a change of the row would not be noticed."
            }
            "audit-row-unchecked" => "The row was too long to be read completely, so its hash was not checked.",
            "audit-more-findings" => "",
            "audit-tail-cut" => {
                "Do not rely on the log: rows at its end were deleted after the head was noted."
            }
            "audit-head-differs" => "Do not rely on the log: it was rewritten after the head was noted.",
            "audit-log-gone" => {
                "Restore the log from a copy: without it, nothing can be recorded in this run. If there is no copy, run the program again."
            }
            _ => "The log was changed after it was written; do not rely on it.",
        });
        match self.row {
            Some(row) => issue.at_row("gate_audit_log", row),
            None => issue.at_table("gate_audit_log"),
        }
    }
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainReport {
    /// The state of the whole log.
    pub state: ChainState,
    /// How many rows are sealed.
    pub sealed: usize,
    /// How many rows are not sealed.
    pub unsealed: usize,
    /// How many sealed rows were not read completely, so that only their links were checked.
    pub unchecked: usize,
    /// The last sealed row of each run, in order of the runs' ids.
    pub heads: Vec<AuditHead>,
    /// The findings, in the order of the log.
    pub findings: Vec<Finding>,
    /// Differences between gates and the sealed rows.
    pub gates: Vec<Issue>,
    /// Warnings about gates whose creation is not sealed, so that the log cannot confirm their columns.
    pub notes: Vec<Issue>,
}

impl ChainReport {
    /// Adds findings that the log was deleted.
    pub(crate) fn lost(&mut self, gone: Vec<Finding>) {
        if !gone.is_empty() {
            self.state = match self.state {
                ChainState::Empty => ChainState::Gone,
                _ => ChainState::Broken,
            };
        }
        self.findings.extend(gone);
    }

    /// Adds differences between gates and the log. Does nothing for a log without sealed rows, because gates cannot be
    /// compared with it.
    pub(crate) fn add<'a>(&mut self, gates: impl Iterator<Item = &'a Issue>) {
        if self.sealed == 0 {
            return;
        }
        // A warning for a person who continues the run is an error for a person who verifies the audit log.
        self.gates.extend(gates.cloned().map(|issue| Issue {
            severity: Severity::Error,
            ..issue
        }));
        if !self.gates.is_empty() && self.state != ChainState::Broken {
            self.state = ChainState::Contradicted;
        }
    }

    /// Returns the errors: first those of the log, then those of the gates.
    pub fn errors(&self) -> Vec<Issue> {
        let of_log = self.findings.iter().filter(|finding| finding.is_error());
        of_log
            .map(Finding::issue)
            .chain(self.gates.iter().cloned())
            .collect()
    }

    /// Returns the last sealed row, if the log has sealed rows of one run only.
    pub fn head(&self) -> Option<&AuditHead> {
        match self.heads.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the state in one sentence. The sentence never says "proof", because anyone can compute the hashes.
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
                "The log is not sealed ({}): nobody could tell if it was changed.",
                rows(self.unsealed)
            ),
            ChainState::Partly => {
                let mut parts = vec![format!(
                    "{} of {} agree with the chain of hashes",
                    self.sealed - self.unchecked,
                    rows(self.sealed + self.unsealed)
                )];
                if self.unsealed > 0 {
                    let are = if self.unsealed == 1 { "is" } else { "are" };
                    parts.push(format!("{} {are} not sealed", self.unsealed));
                }
                if self.unchecked > 0 {
                    let were = if self.unchecked == 1 { "was" } else { "were" };
                    parts.push(format!("{} {were} too long to check", self.unchecked));
                }
                format!("{}.", parts.join("; "))
            }
            ChainState::Contradicted => match self.gates.as_slice() {
                [only] => format!("The log agrees with its chain, but {}.", only.message),
                all => format!(
                    "The log agrees with its chain, but gates differ from the log: {} differences.",
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
