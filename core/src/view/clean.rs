//! What `prosescope clean` removes, or would.

use serde::{Deserialize, Serialize};

use crate::time::Stamp;

/// What would go, or goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CleanPlan {
    /// Runs to remove, in order of name; with `--yes` those that were removed.
    pub remove: Vec<CleanRun>,
    /// Runs that were asked for and stay, each with the reason: also those that could not be removed.
    pub keep: Vec<CleanRun>,
    /// What an earlier clean-up began to remove and did not finish.
    pub leftovers: Vec<Leftover>,
    /// Bytes of all that goes.
    pub bytes: u64,
}

/// A run of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CleanRun {
    /// Its folder in `.prose/runs`.
    pub run: String,
    /// What is believed of its status; `unreadable` when it cannot be opened.
    pub status: String,
    /// Its last sign of life.
    pub last_sign: Option<Stamp>,
    /// How long ago that was, in words.
    pub age: Option<String>,
    /// Bytes of its files.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
    /// Why it goes, or why it stays.
    pub why: String,
    /// Whether it was asked for by name.
    pub named: bool,
}

impl CleanPlan {
    /// A run stays, because it could not be removed.
    pub fn stays(&mut self, name: &str, why: &str) {
        if let Some(at) = self.remove.iter().position(|run| run.run == name) {
            let mut run = self.remove.remove(at);
            self.bytes = self.bytes.saturating_sub(run.bytes);
            why.clone_into(&mut run.why);
            self.keep.push(run);
        }
    }

    /// What an interrupted clean-up left stays, because it could not be removed.
    pub fn leftover_stays(&mut self, name: &str) {
        if let Some(at) = self.leftovers.iter().position(|left| left.name == name) {
            let left = self.leftovers.remove(at);
            self.bytes = self.bytes.saturating_sub(left.bytes);
        }
    }
}

/// A folder that an interrupted clean-up left.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Leftover {
    /// Its name in `.prose/runs`.
    pub name: String,
    /// Bytes of its files.
    pub bytes: u64,
}
