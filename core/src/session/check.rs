use super::Session;
use crate::gate::audit::{self, Finding};
use crate::issue::Issue;

impl Session {
    /// Everything that is odd in the run: the issues of reading it, and what is only looked for when somebody asks.
    pub fn check(&self, _now: Option<i64>) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self.issues().cloned().collect();
        issues.extend(
            audit::verify(&self.run.audit, None)
                .findings
                .iter()
                .filter(|f| !f.is_error())
                .map(Finding::issue),
        );
        issues
    }
}
