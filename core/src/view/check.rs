use serde::{Deserialize, Serialize};

use super::{Counts, IssueView};
use crate::issue::{Issue, Severity};

/// What a check of runs found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckReport {
    /// How many issues of each severity, in all runs.
    pub counts: Counts,
    /// The runs, in the order they were asked for.
    pub runs: Vec<CheckedRun>,
    /// The rules that were found, by name, with their meaning.
    pub rules: Vec<RuleView>,
}

/// What a check of one run found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CheckedRun {
    /// Its id, else its folder's name.
    pub run: String,
    /// The program's name.
    pub program: Option<String>,
    /// What is believed of its status.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// The folder that its files are named from, as the shell would write it.
    pub folder: String,
    /// The file in it that issues without a file speak of: the database, else the state file.
    pub store: String,
    /// How many issues of each severity.
    pub counts: Counts,
    /// The issues: errors first, then by rule, then in the order found.
    pub issues: Vec<IssueView>,
    /// Why it could not be opened, with what to do next; everything else is then empty.
    pub error: Option<String>,
}

impl CheckedRun {
    /// Adds issues that a shell found, of no place in the run.
    pub fn add(&mut self, issues: Vec<Issue>) {
        self.counts = self.counts.plus(Counts::of(&issues));
        self.issues
            .extend(issues.into_iter().map(|issue| IssueView {
                issue,
                node: None,
                binding: None,
                place: String::new(),
            }));
        self.sort();
    }

    /// Puts errors first, then the rules by name.
    pub(crate) fn sort(&mut self) {
        self.issues.sort_by(|a, b| {
            let (a, b) = (&a.issue, &b.issue);
            let by_severity = b.severity.cmp(&a.severity);
            by_severity.then_with(|| a.rule.cmp(&b.rule))
        });
    }
}

/// A rule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RuleView {
    /// Its name.
    pub name: String,
    /// The title of its page in docs/reference/checks.
    pub area: String,
    /// The severities that its issues may have, the usual one first.
    pub severities: Vec<Severity>,
    /// What it means, in one sentence.
    pub meaning: String,
    /// Why that is bad: what may be wrong or missing in what is shown, and which tools fail.
    pub why: String,
    /// What to do.
    pub fix: String,
    /// Where it is written.
    pub source: String,
    /// An input that yields it, in parts.
    pub example: Vec<ExamplePart>,
}

/// A part of an example.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExamplePart {
    /// What it is: `state.md`, `SQL on an empty database`; empty for words.
    pub title: String,
    /// `sql`, `markdown`, `json`, `text`; empty for words.
    pub language: String,
    /// The text.
    pub text: String,
}
