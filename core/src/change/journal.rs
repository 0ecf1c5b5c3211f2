use serde::{Deserialize, Serialize};

use crate::text::is_plain_path;

/// The journal of a run folder: a JSON array of the [`FileChange`]s that one command makes, as long as they are made.
/// It is on disk before the first of them; whoever writes next does what is left of it, and whoever reads takes it as
/// done ([`crate::decode::folder::as_written`]).
pub const JOURNAL: &str = "x_journal.json";

/// One thing that is done to a file; its path is inside the run's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileChange {
    /// Lines at the end of a log that is `at` bytes long.
    Append {
        /// The log.
        path: String,
        /// Its length.
        at: u64,
        /// The lines.
        text: String,
    },
    /// A whole file.
    Write {
        /// The file.
        path: String,
        /// Its text.
        text: String,
        /// Where the file that was there is kept.
        keep: Option<String>,
    },
}

impl FileChange {
    /// The file.
    pub fn path(&self) -> &str {
        let (FileChange::Append { path, .. } | FileChange::Write { path, .. }) = self;
        path
    }

    /// Whether it stays inside the run, and in files that this writer writes: a run may come from anywhere.
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
