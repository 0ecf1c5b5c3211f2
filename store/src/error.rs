use std::io;
use std::path::PathBuf;

/// Why a place on disk could not be used: what, why, and in [`StoreError::next`] what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file or folder.
    #[error("there is no {}", .0.display())]
    NotFound(PathBuf),
    /// Neither a file nor a folder: a device, a pipe, a socket.
    #[error("{} is neither a file nor a folder", .0.display())]
    Special(PathBuf),
    /// A zip or a shared page that is not opened.
    #[error("{} is not opened: {cause}", path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
        /// What to do next.
        next: &'static str,
    },
    /// The system refused.
    #[error("{} cannot be read: {cause}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

impl StoreError {
    /// What to do next; may be empty.
    pub fn next(&self) -> &'static str {
        match self {
            StoreError::NotFound(_) => "check the path",
            StoreError::Special(_) => "give a run folder, a database or a .prose folder",
            StoreError::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
                "check that you may read it"
            }
            StoreError::Packed { next, .. } => next,
            StoreError::Io { .. } => "",
        }
    }

    /// Whether nothing was there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, StoreError::NotFound(_))
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
