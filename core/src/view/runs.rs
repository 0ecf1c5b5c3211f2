use crate::schema::POSTGRES_PREFIX;
use serde::{Deserialize, Serialize};

use super::Counts;
use crate::issue::Issue;
use crate::time::Stamp;

/// The runs of a source, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunList {
    /// What was looked through, in words.
    pub label: String,
    /// How many runs there are, those that were not asked for included.
    pub total: u32,
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// What was odd while looking (too many files, a database that cannot be opened …).
    pub issues: Vec<Issue>,
}

/// The rule of the issue that a list may have left out runs that could not be read.
pub(crate) const LEFT_OUT: &str = "reading-failed";

impl RunList {
    /// Whether all runs that were asked for could be read, as far as the list shows.
    pub fn is_read(&self) -> bool {
        self.runs.iter().all(|run| run.error.is_none())
            && self.issues.iter().all(|issue| issue.rule != LEFT_OUT)
    }
}

/// One run in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSummary {
    /// Its id, else its folder's name.
    pub id: String,
    /// The name of its folder or file, which commands take. A copy of a run has the same id in a folder of another name.
    #[serde(default)]
    pub name: String,
    /// Its place inside the source: the run folder, or the database file. What a shell passes back to open it.
    pub place: String,
    /// The program's name.
    pub program: Option<String>,
    /// What is believed of its status.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// Running, but a day without a sign of life.
    #[serde(default)]
    pub stale: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// Of a failed run the error of what failed first, its first line; `None` where none is recorded or it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub failure: Option<String>,
    /// Of a completed run its first output at the root, with its size, and how many more there are: `verdict, 477 B`; `None`
    /// where there is none or it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub wrote: Option<String>,
    /// `SQLite, append-only`, `folder, state.md` …
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunForm"))]
    pub form: String,
    /// When it started.
    pub started: Option<Stamp>,
    /// What that was read from where nothing records a start: `the run's id, which names no time zone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_from: Option<String>,
    /// How long ago it started, in the largest unit, when `now` is given: `322d`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// The last sign of life: the latest time that the run records.
    pub last_sign: Option<Stamp>,
    /// When a file of the run was last changed, where the run records no time at all. No sign of life: copies and
    /// checkouts reset it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changed: Option<Stamp>,
    /// From the start to the last sign of life, where both are recorded; milliseconds.
    pub duration_ms: Option<i64>,
    /// The same in words.
    pub duration: Option<String>,
    /// Gates that wait for a decision.
    pub pending_gates: u32,
    /// Issues by severity.
    pub issues: Counts,
    /// A large database, of which only the head was read: what was left out, in words. Its issues are then not all
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_only: Option<String>,
    /// Not all of it could be read: what stands here may be less than there is, its status too.
    #[serde(default)]
    pub unread: bool,
    /// Why it could not be opened, with what to do next; everything else is then empty.
    pub error: Option<String>,
}

impl RunSummary {
    /// Returns the run's name, with its id where the name does not say it: `copy (20260115-143052-a7b3c9)`, but
    /// `postgres:20260115-143052-a7b3c9`.
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
