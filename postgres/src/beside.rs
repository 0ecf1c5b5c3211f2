//! Reads attachments that subagents wrote into the run's folder on this machine (postgres.md, "Large Outputs"); the
//! database contains only their paths.

use std::rc::Rc;

use prosescope_core::model::source::{FileEntry, Source, SourceError};

/// The folder with attachments, inside a run's folder.
const ATTACHMENTS: &str = "attachments/";

/// The attachments of a run that are in a folder on this machine.
pub(crate) struct LocalAttachments {
    /// The files of the run's folder.
    source: Rc<dyn Source>,
    /// The run's path among all runs, ending in `/`: `runs/ID/`.
    root: String,
}

impl LocalAttachments {
    pub(crate) fn new(source: Rc<dyn Source>, place: &str) -> LocalAttachments {
        LocalAttachments {
            source,
            root: format!("{place}/"),
        }
    }

    /// Returns the attachments, with paths such as `runs/ID/attachments/report.md`.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileEntry> {
        let attachments = self.source.below(ATTACHMENTS).iter();
        attachments.map(|file| FileEntry {
            path: format!("{}{}", self.root, file.path),
            ..file.clone()
        })
    }

    /// Reads a part of an attachment, given by its path from [`LocalAttachments::files`].
    pub(crate) fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let inside = path.strip_prefix(self.root.as_str());
        let inside = inside.ok_or_else(|| SourceError::NotFound(path.to_owned()))?;
        self.source.read(inside, offset, len)
    }
}
