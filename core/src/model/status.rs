use serde::{Deserialize, Serialize};

use super::Text;
use super::words::{self, words};

/// The status of one execution row, as written.
///
/// Words: errata, "Words in use for `execution.status`". A word that no document lists is kept in
/// [`Status::Other`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Announced, not begun.
    Pending,
    /// Under way.
    Executing,
    /// A parallel or a loop that was entered.
    Started,
    /// Stands until something else happens (a gate, a called frame).
    Waiting,
    /// A loop's round ended.
    Iteration,
    /// Another attempt begins.
    Retry,
    /// Done (`completed`, `complete`).
    Completed,
    /// Ended with an error.
    Failed,
    /// Passed over.
    Skipped,
    /// A parallel whose branches came together.
    Joined,
    /// A loop that was left.
    Exited,
    /// A word that no document lists, or none at all (empty).
    Other(Text),
}

words!(Status {
    Pending = "pending",
    Executing = "executing",
    Started = "started",
    Waiting = "waiting",
    Iteration = "iteration",
    Retry = "retry",
    Completed = "completed",
    Failed = "failed",
    Skipped = "skipped",
    Joined = "joined",
    Exited = "exited",
});

impl Status {
    /// Reads a status word of any form; case and surrounding blanks do not matter.
    pub fn parse(word: &str) -> Status {
        words::status(word).unwrap_or_else(|| Status::Other(word.trim().into()))
    }

    /// Whether nothing follows it: completed, failed, skipped, joined, exited (trace.md, "Words").
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Status::Completed | Status::Failed | Status::Skipped | Status::Joined | Status::Exited
        )
    }
}

/// The status of a whole run, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Under way, or cut off without a word.
    Running,
    /// Finished.
    Completed,
    /// Finished with an error.
    Failed,
    /// Stopped on purpose, to go on later.
    Interrupted,
    /// Stands at a gate. Derived; some writers record it too.
    Waiting,
    /// Another word.
    Other(Text),
}

words!(RunStatus {
    Running = "running",
    Completed = "completed",
    Failed = "failed",
    Interrupted = "interrupted",
    Waiting = "waiting",
});

impl RunStatus {
    /// Reads a status word of any form; case does not matter, `complete` and `COMPLETED` are `completed`.
    pub fn parse(word: &str) -> RunStatus {
        words::run_status(word).unwrap_or_else(|| RunStatus::Other(word.trim().into()))
    }

    /// Completed or failed: nothing follows.
    pub fn is_finished(&self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed)
    }
}
