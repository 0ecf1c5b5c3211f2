use super::words::{self, words};

words! {
    /// The status of one execution row, as written.
    ///
    /// OpenProse's words are listed in errata T0 and F7. Any other word is kept in [`Status::Other`].
    pub enum Status {
        /// The statement is announced but not started.
        Pending = "pending",
        /// The statement is running.
        Executing = "executing",
        /// A parallel block or a loop was entered.
        Started = "started",
        /// The statement waits for another event (a gate, a called frame).
        Waiting = "waiting",
        /// A loop's round ended.
        Iteration = "iteration",
        /// Another attempt begins.
        Retry = "retry",
        /// The statement is done (`completed`, `complete`).
        Completed = "completed",
        /// The statement ended with an error.
        Failed = "failed",
        /// The statement was not executed.
        Skipped = "skipped",
        /// Nothing that the node reads had changed, so nothing ran, and its values stand (contract 2).
        Unchanged = "unchanged",
        /// The branches of a parallel block joined.
        Joined = "joined",
        /// A loop was left.
        Exited = "exited",
    }
}

impl Status {
    /// Parses a status word or a synonym such as `done`, ignoring case and surrounding blanks.
    pub fn parse(word: &str) -> Status {
        words::status(word).unwrap_or_else(|| Status::Other(word.trim().into()))
    }

    /// Returns whether a row with this status opens an instance: one run of a statement (errata T1).
    pub fn opens(&self) -> bool {
        matches!(
            self,
            Status::Pending | Status::Executing | Status::Started | Status::Waiting
        )
    }

    /// Returns whether this status ends an instance, that is, one run of a statement: completed, failed, skipped,
    /// joined, exited (errata T0).
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Status::Completed
                | Status::Failed
                | Status::Skipped
                | Status::Unchanged
                | Status::Joined
                | Status::Exited
        )
    }
}

words! {
    /// The status of a whole run, as recorded.
    pub enum RunStatus {
        /// The run is running, or was cut off without a final status.
        Running = "running",
        /// The run finished without an error.
        Completed = "completed",
        /// The run finished with an error.
        Failed = "failed",
        /// The run was stopped on purpose, to be continued later.
        Interrupted = "interrupted",
        /// The run waits at a gate. Prosescope derives this status; some writers record it too.
        Waiting = "waiting",
    }
}

impl RunStatus {
    /// Parses a status word or a synonym, ignoring case: `complete` and `COMPLETED` are `completed`.
    pub fn parse(word: &str) -> RunStatus {
        words::run_status(word).unwrap_or_else(|| RunStatus::Other(word.trim().into()))
    }

    /// Returns whether the status is completed or failed: nothing more runs.
    pub fn is_finished(&self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed)
    }
}
