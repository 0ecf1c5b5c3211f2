//! Defines the JSON of `prosescope clean`: which runs the command removes or keeps, and why.

use serde::{Deserialize, Serialize};

use crate::model::time::Stamp;

/// The runs that a clean-up removes and keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CleanPlan {
    /// Runs to remove, in order of name; with `--yes`, the runs that were removed.
    pub remove: Vec<CleanRun>,
    /// Selected runs that are kept, each with the reason. Runs that could not be removed are included.
    pub keep: Vec<CleanRun>,
    /// Folders that an earlier clean-up began to remove and did not finish.
    pub leftovers: Vec<Leftover>,
    /// Bytes of everything that is removed.
    pub bytes: u64,
}

/// A run that a clean-up removes or keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CleanRun {
    /// The name of the run's folder in `.prose/runs`.
    pub run: String,
    /// The run's most likely status; `unreadable` if the run cannot be opened.
    pub status: String,
    /// The run's last sign of life; `None` if no time is known.
    pub last_sign: Option<Stamp>,
    /// The age of the run's last sign of life, in words: `3d 4h`; `None` if no time is known.
    pub age: Option<String>,
    /// Bytes of the run's files.
    pub bytes: u64,
    /// How many files the run has.
    pub files: u64,
    /// Why the run is removed, or why it is kept.
    pub why: String,
    /// Whether the caller named this run.
    pub named: bool,
}

impl CleanPlan {
    /// Moves a run from `remove` to `keep`, because the run could not be removed.
    pub fn stays(&mut self, name: &str, why: &str) {
        if let Some(at) = self.remove.iter().position(|run| run.run == name) {
            let mut run = self.remove.remove(at);
            self.bytes = self.bytes.saturating_sub(run.bytes);
            why.clone_into(&mut run.why);
            self.keep.push(run);
        }
    }

    /// Takes a leftover folder out of the plan, because the folder could not be removed.
    pub fn leftover_stays(&mut self, name: &str) {
        if let Some(at) = self.leftovers.iter().position(|left| left.name == name) {
            let left = self.leftovers.remove(at);
            self.bytes = self.bytes.saturating_sub(left.bytes);
        }
    }
}

/// A folder that an interrupted clean-up did not finish removing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Leftover {
    /// The folder's name in `.prose/runs`.
    pub name: String,
    /// Bytes of the folder's files.
    pub bytes: u64,
}
