use super::words::{self, words};

words! {
    /// The status of one execution row, as written.
    ///
    /// Words: errata T0, F7. A word unknown to OpenProse is kept in [`Status::Other`].
    pub enum Status {
        /// Announced, not started.
        Pending = "pending",
        /// Under way.
        Executing = "executing",
        /// A parallel block or a loop that was entered.
        Started = "started",
        /// Blocked until another event (a gate, a called frame).
        Waiting = "waiting",
        /// A loop's round ended.
        Iteration = "iteration",
        /// Another attempt begins.
        Retry = "retry",
        /// Done (`completed`, `complete`).
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Not executed.
        Skipped = "skipped",
        /// A parallel block whose branches joined.
        Joined = "joined",
        /// A loop that was left.
        Exited = "exited",
    }
}

impl Status {
    /// Parses a status word of any form, ignoring case and surrounding blanks.
    pub fn parse(word: &str) -> Status {
        words::status(word).unwrap_or_else(|| Status::Other(word.trim().into()))
    }

    /// Whether this status opens an instance.
    pub fn opens(&self) -> bool {
        matches!(
            self,
            Status::Pending | Status::Executing | Status::Started | Status::Waiting
        )
    }

    /// Whether this status ends an instance: completed, failed, skipped, joined, exited (errata T0).
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Status::Completed | Status::Failed | Status::Skipped | Status::Joined | Status::Exited
        )
    }
}

words! {
    /// The status of a whole run, as recorded.
    pub enum RunStatus {
        /// Running, or cut off without a final status.
        Running = "running",
        /// Finished.
        Completed = "completed",
        /// Finished with an error.
        Failed = "failed",
        /// Stopped on purpose, to be continued later.
        Interrupted = "interrupted",
        /// Waiting at a gate. Derived by Prosescope; some writers record it too.
        Waiting = "waiting",
    }
}

impl RunStatus {
    /// Parses a status word of any form, ignoring case; `complete` and `COMPLETED` are `completed`.
    pub fn parse(word: &str) -> RunStatus {
        words::run_status(word).unwrap_or_else(|| RunStatus::Other(word.trim().into()))
    }

    /// Whether the run is completed or failed, so that nothing follows.
    pub fn is_finished(&self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed)
    }
}
