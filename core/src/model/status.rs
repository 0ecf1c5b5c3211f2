use super::words::{self, words};

words! {
    /// The status of one execution row, as written.
    ///
    /// Words: errata T0, F7. A word unknown to OpenProse is kept in
    /// [`Status::Other`].
    pub enum Status {
        /// Announced, not begun.
        Pending = "pending",
        /// Under way.
        Executing = "executing",
        /// A parallel or a loop that was entered.
        Started = "started",
        /// Stands until something else happens (a gate, a called frame).
        Waiting = "waiting",
        /// A loop's round ended.
        Iteration = "iteration",
        /// Another attempt begins.
        Retry = "retry",
        /// Done (`completed`, `complete`).
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Passed over.
        Skipped = "skipped",
        /// A parallel whose branches came together.
        Joined = "joined",
        /// A loop that was left.
        Exited = "exited",
    }
}

impl Status {
    /// Reads a status word of any form; case and surrounding blanks do not matter.
    pub fn parse(word: &str) -> Status {
        words::status(word).unwrap_or_else(|| Status::Other(word.trim().into()))
    }

    /// Whether it is a word that opens an instance.
    pub fn opens(&self) -> bool {
        matches!(
            self,
            Status::Pending | Status::Executing | Status::Started | Status::Waiting
        )
    }

    /// Whether nothing follows it: completed, failed, skipped, joined, exited (errata T0).
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
        /// Under way, or cut off without a word.
        Running = "running",
        /// Finished.
        Completed = "completed",
        /// Finished with an error.
        Failed = "failed",
        /// Stopped on purpose, to go on later.
        Interrupted = "interrupted",
        /// Stands at a gate. Derived; some writers record it too.
        Waiting = "waiting",
    }
}

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
