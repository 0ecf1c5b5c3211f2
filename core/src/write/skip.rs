use super::steps::Steps;
use super::{At, Begin, Close, ExecutionEnded, Facts, How, Plan, Record, WriteError};

/// The command `exec skip --line N`, which skips a statement that has not begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skip {
    /// The statement to skip. The rules for beginning a statement also apply to skipping it, so a run cannot skip a
    /// statement out of turn.
    pub begin: Begin,
    /// The reason for skipping, if the caller gave one.
    pub reason: Option<String>,
}

impl Record for Skip {
    type Done = ExecutionEnded;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<Plan<ExecutionEnded>, WriteError> {
        let mut all = Steps::new(facts);
        let begun = all.plan(&self.begin, at)?;
        let how = How::Skipped {
            reason: self.reason.clone(),
        };
        let skip = Close {
            insist: self.begin.insist,
            ..Close::new(begun.id, how)
        };
        let ended = all.plan(&skip, at)?;
        Ok(all.done(ended))
    }
}
