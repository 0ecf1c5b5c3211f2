use serde::{Deserialize, Serialize};

use super::{Text, words};

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

impl Status {
    /// Reads a status word of any form; case and surrounding blanks do not matter.
    pub fn parse(word: &str) -> Status {
        words::status(word).unwrap_or_else(|| Status::Other(word.trim().into()))
    }

    /// The word for this status, as the documents write it.
    pub fn word(&self) -> &str {
        match self {
            Status::Pending => "pending",
            Status::Executing => "executing",
            Status::Started => "started",
            Status::Waiting => "waiting",
            Status::Iteration => "iteration",
            Status::Retry => "retry",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Joined => "joined",
            Status::Exited => "exited",
            Status::Other(word) => word,
        }
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

impl RunStatus {
    /// Reads a status word of any form; case does not matter, `complete` and `COMPLETED` are `completed`.
    pub fn parse(word: &str) -> RunStatus {
        words::run_status(word).unwrap_or_else(|| RunStatus::Other(word.trim().into()))
    }

    /// The word for this status.
    pub fn word(&self) -> &str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Waiting => "waiting",
            RunStatus::Other(word) => word,
        }
    }

    /// Completed or failed: nothing follows.
    pub fn is_finished(&self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed)
    }
}
