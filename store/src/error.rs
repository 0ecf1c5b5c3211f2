use std::io;
use std::path::PathBuf;

/// The reason why a place on disk could not be used; [`StoreError::next`] contains the advice.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or folder does not exist.
    #[error("there is no {}", .0.display())]
    NotFound(PathBuf),
    /// The path is neither a file nor a folder: a device, a pipe, a socket.
    #[error("{} is neither a file nor a folder", .0.display())]
    Special(PathBuf),
    /// A zip or a shared page that cannot be opened.
    #[error("{} cannot be opened: {cause}", path.display())]
    Packed {
        /// The path of the zip or page.
        path: PathBuf,
        /// The reason why it cannot be opened.
        cause: String,
        /// Advice on what to do next.
        next: &'static str,
        /// Whether the file itself is damaged, not the reading of it.
        damaged: bool,
    },
    /// The system reported an error for a file or a folder.
    #[error("{} cannot be read: {cause}", path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

impl StoreError {
    /// Returns advice on what to do next; the advice may be empty.
    pub fn next(&self) -> &'static str {
        match self {
            StoreError::NotFound(_) => "check the path",
            StoreError::Special(_) => "give a run folder, a database or a .prose folder",
            StoreError::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                "check that you have permission to read the file or folder"
            }
            StoreError::Packed { next, .. } => next,
            StoreError::Io { .. } => "",
        }
    }

    /// Returns whether the path did not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, StoreError::NotFound(_))
    }

    /// Returns whether the file was read, and is damaged or in no known format.
    pub fn is_damaged(&self) -> bool {
        matches!(self, StoreError::Packed { damaged: true, .. })
    }

    pub(crate) fn io(path: impl Into<PathBuf>, cause: io::Error) -> StoreError {
        let path = path.into();
        if cause.kind() == io::ErrorKind::NotFound {
            StoreError::NotFound(path)
        } else {
            StoreError::Io { path, cause }
        }
    }
}
