//! Defines the JSON of a check: the issues of each run, and the rules behind them.

use serde::{Deserialize, Serialize};

use super::{Counts, IssueView};
use crate::model::issue::Severity;

/// The result of checking runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckReport {
    /// The number of issues of each severity, in all runs.
    pub counts: Counts,
    /// The runs, in the order in which the caller named them.
    pub runs: Vec<CheckedRun>,
    /// The rules of the issues that were found, by name, with their meaning.
    pub rules: Vec<RuleView>,
}

/// The result of checking one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckedRun {
    /// The run's id, or the name of its folder if the run has no id; empty for a program that was checked by its file.
    pub run: String,
    /// The program's name; `None` if not recorded.
    pub program: Option<String>,
    /// The status that the checked run most likely has; empty for a program that was checked by its file.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// The path of the folder to which the issues' file names are relative, in the notation of the program that runs
    /// the check.
    pub folder: String,
    /// The file in that folder to which issues without a file refer: the database, or else the state file.
    pub store: String,
    /// The number of issues of each severity in this run.
    pub counts: Counts,
    /// The issues: errors first, then by rule, then in the order found.
    pub issues: Vec<IssueView>,
    /// Why the run could not be opened, with what to do next; `None` if the run was opened. After an error, all other
    /// fields except `run` and `folder` are empty.
    pub error: Option<String>,
}

impl CheckedRun {
    /// Sorts the issues: errors first, then by the rule's name.
    pub(crate) fn sort(&mut self) {
        self.issues.sort_by(|a, b| {
            let (a, b) = (&a.issue, &b.issue);
            let by_severity = b.severity.cmp(&a.severity);
            by_severity.then_with(|| a.rule.cmp(&b.rule))
        });
    }
}

/// A rule by which checks find issues.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RuleView {
    /// The rule's name.
    pub name: String,
    /// The title of the rule's page in docs/reference/checks.
    pub area: String,
    /// The severities that issues of the rule can have, the usual one first.
    pub severities: Vec<Severity>,
    /// What the rule means, in one sentence.
    pub meaning: String,
    /// Why such an issue matters: which facts may be wrong or missing, and which tools fail.
    pub why: String,
    /// What to do about an issue of this rule.
    pub fix: String,
    /// The document that the rule is from.
    pub source: String,
    /// An input that produces an issue of this rule, in parts.
    pub example: Vec<ExamplePart>,
}

/// A part of a rule's example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExamplePart {
    /// The title of the part: `state.md`, `SQL on an empty database`; empty for prose.
    pub title: String,
    /// The language of the text: `sql`, `markdown`, `json`, `text`; empty for prose.
    pub language: String,
    /// The text of the part.
    pub text: String,
}
