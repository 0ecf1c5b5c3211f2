//! Defines the JSON of the list of runs.

use crate::model::schema::POSTGRES_PREFIX;
use serde::{Deserialize, Serialize};

use super::{Counts, TokenCount, WaitingGate};
use crate::model::issue::Issue;
use crate::model::time::Stamp;

/// The runs of a source, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunList {
    /// The places that were searched for runs, in words.
    pub label: String,
    /// How many runs the source has, including those that the filter excludes.
    pub total: u32,
    /// The runs that match the filter.
    pub runs: Vec<RunSummary>,
    /// Issues of the search itself: too many files, a database that cannot be opened …
    pub issues: Vec<Issue>,
}

/// The rule for an issue about a place that could not be read. Runs may then be missing from the list.
pub(crate) const LEFT_OUT: &str = "reading-failed";

impl RunList {
    /// Returns whether all requested runs could be read, as far as the list shows.
    pub fn is_read(&self) -> bool {
        self.runs.iter().all(|run| run.error.is_none())
            && self.issues.iter().all(|issue| issue.rule != LEFT_OUT)
    }
}

/// One run in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSummary {
    /// The run's id, or the name of its folder if the run has no id.
    // All other views call a run's id `run`, because `id` is the id of a row or a gate.
    #[serde(rename = "run")]
    pub id: String,
    /// The name of the run's folder or file, which commands take. A copied run has the same id but another folder name.
    #[serde(default)]
    pub name: String,
    /// The run's place inside the source: its folder, or its database file. Callers open the run by this place.
    pub place: String,
    /// The program's name; `None` if not recorded.
    pub program: Option<String>,
    /// The run's most likely status: `unknown` if none is recorded, `agents` for a store of agents.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// Whether the run is recorded as running but has had no sign of life for a day.
    #[serde(default)]
    pub stale: bool,
    /// The reason for the status, in one sentence.
    pub reason: String,
    /// The first line of a failed run's first error. `None` if no error is recorded, or if the list did not look for
    /// errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub failure: Option<String>,
    /// A completed run's first output at the root, with its size and the number of other outputs: `verdict, 477 B`.
    /// `None` if there is no output, or if the list did not look for outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub wrote: Option<String>,
    /// What the run first did against its program, in words: `went on past the rejected gate deploy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub against: Option<String>,
    /// The form of the run in words: `SQLite, append-only`, `folder, state.md` …
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunForm"))]
    pub form: String,
    /// When the run started; `None` if no time is known.
    pub started: Option<Stamp>,
    /// The source of `started` if the start itself is not recorded: `the run's id, which names no time zone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_from: Option<String>,
    /// Time since the start in its largest unit, if `now` is given: `322d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// The last sign of life, which is the latest time that the run records; `None` without a time.
    pub last_sign: Option<Stamp>,
    /// When a file of the run was last changed, if the run records no times. This time is weaker evidence than a sign
    /// of life, because copies and checkouts change it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changed: Option<Stamp>,
    /// Time from the start to the last sign of life, in milliseconds; `None` unless both are recorded.
    pub duration_ms: Option<i64>,
    /// The time in `duration_ms` in words: `5m 3s`; `None` without that time.
    pub duration: Option<String>,
    /// How many gates wait for a decision.
    pub pending_gates: u32,
    /// The first of them; `None` if none waits, or if the list did not read the gates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub waits: Option<WaitingGate>,
    /// The tokens that the run's receipts report; `None` if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub tokens: Option<TokenCount>,
    /// The issues that were found when the run was read, counted by severity.
    pub issues: Counts,
    /// The parts that were left out, in words, if only the beginning of a large database was read. `issues` is then
    /// incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_only: Option<String>,
    /// Whether parts of the run could not be read. All other fields, even the status, may then be incomplete.
    #[serde(default)]
    pub unread: bool,
    /// Why the run could not be opened, with what to do next; `None` if the run was opened. After an error, `run`,
    /// `name` and `place` are the only other fields that are set.
    pub error: Option<String>,
}

impl RunSummary {
    /// Returns the run's name, with the run's id in parentheses if the name does not contain the id:
    /// `copy (20260115-143052-a7b3c9)`, but `postgres:20260115-143052-a7b3c9`.
    pub fn title(&self) -> String {
        match self
            .name
            .strip_prefix(POSTGRES_PREFIX)
            .unwrap_or(&self.name)
        {
            "" => self.id.clone(),
            id if id == self.id => self.name.clone(),
            _ => format!("{} ({})", self.name, self.id),
        }
    }
}
