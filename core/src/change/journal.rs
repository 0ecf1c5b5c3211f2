use serde::{Deserialize, Serialize};

use crate::text::is_plain_path;

/// The journal of a run folder: a JSON array of the [`FileChange`]s of one command, which exists while they are being
/// made. The journal is written before the first change. After a crash, the next writer completes the changes, and
/// readers treat them as done ([`crate::decode::folder::as_written`]).
pub const JOURNAL: &str = "x_journal.json";

/// A change to one file; its path is inside the run's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileChange {
    /// Appends lines to a log that is `at` bytes long.
    Append {
        /// The log.
        path: String,
        /// The log's length in bytes before the change.
        at: u64,
        /// The lines.
        text: String,
    },
    /// Writes a whole file.
    Write {
        /// The file.
        path: String,
        /// The complete text of the written file.
        text: String,
        /// The path to which a file already at this place is moved, so that it is not lost.
        keep: Option<String>,
    },
}

impl FileChange {
    /// Returns the path of the changed file.
    pub fn path(&self) -> &str {
        let (FileChange::Append { path, .. } | FileChange::Write { path, .. }) = self;
        path
    }

    /// Returns whether the path is one that this writer uses, inside the run. A run may come from an untrusted place,
    /// so its journal is checked before it is applied.
    pub fn is_ours(&self) -> bool {
        let ours = |path: &str| {
            is_plain_path(path)
                && !path.contains('\\')
                && (matches!(path, "x_events.jsonl" | "x_imports.jsonl" | "state.md")
                    || ["gates/", "bindings/", "agents/", "x_history/"]
                        .iter()
                        .any(|dir| path.starts_with(dir)))
        };
        let keeps = match self {
            FileChange::Append { .. } => None,
            FileChange::Write { keep, .. } => keep.as_deref(),
        };
        ours(self.path()) && keeps.is_none_or(|keep| ours(keep) && keep.starts_with("x_history/"))
    }
}
