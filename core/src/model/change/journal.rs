use serde::{Deserialize, Serialize};

use crate::model::text::is_plain_path;

/// The name of a run folder's journal: a JSON array of the [`FileChange`]s of one command. The file exists only while
/// these changes are being made, and is written before the first of them. After a crash, the next writer completes the
/// changes, and readers treat them as done ([`crate::read::decode::folder::as_written`]).
pub const JOURNAL: &str = "x_journal.json";

/// A change to one file. Paths are relative to the run's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileChange {
    /// Appends lines to a log that is `at` bytes long.
    Append {
        /// The path of the log.
        path: String,
        /// The log's length in bytes before the change.
        at: u64,
        /// The lines to append.
        text: String,
    },
    /// Writes a whole file.
    Write {
        /// The path of the file.
        path: String,
        /// The complete text of the written file.
        text: String,
        /// The path to which an existing file at `path` is moved, so that its text is not lost.
        keep: Option<String>,
    },
}

impl FileChange {
    /// Returns the path of the changed file.
    pub fn path(&self) -> &str {
        let (FileChange::Append { path, .. } | FileChange::Write { path, .. }) = self;
        path
    }

    /// Returns whether Prosescope itself writes files at the paths of this change. The journal of an untrusted run
    /// could otherwise make the next writer overwrite any file.
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
