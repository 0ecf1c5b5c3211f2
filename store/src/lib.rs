//! Finds, reads and writes runs on disk: run folders and SQLite files.
//!
//! This crate moves bytes and opens connections; the core interprets them. Reading leaves no trace: a database is
//! opened according to the files beside it, so that no byte, time or listing changes. Only `record/` writes to runs,
//! and only `upkeep/` removes runs and agents.

#[cfg(unix)]
mod aside;
mod database;
mod dir;
mod disk;
mod error;
mod find;
mod lent;
mod packed;
mod record;
mod share;
mod sparse;
mod upkeep;
mod vfs;
mod workflows;

#[cfg(unix)]
pub use aside::{Aside, sweep_asides};
pub use disk::{Disk, SourceRoot};
pub use error::StoreError;
pub use find::{home_prose, project_dir, prose_dir};
pub use lent::{Lent, Releaser};
pub use prosescope_share::manifest::ManifestCheck;
pub use record::{FolderStore, RunLock, SqliteStore, hold, init_folder, init_sqlite};
pub use share::{DiskDatabases, unpacked as unpacked_copy};
/// A temporary folder. Outside of Unix, the system's folder for temporary files belongs to one user.
#[cfg(not(unix))]
pub use tempfile::TempDir as Aside;
pub use upkeep::agents::{KeptAgent, delete_agent, kept_agent};
pub use upkeep::clean::{remove_leftover, remove_run, run_entries};
pub use upkeep::convert::{Conversion, OriginalRun, convert};
pub use upkeep::look::{database_facts, git_facts, sqlite_library, tool};
pub use upkeep::repair::{DamagedRun, unpack, write_repaired};
pub use workflows::{WorkflowReader, WorkflowStore};

/// Does nothing: outside of Unix, no lock shows whether a command lives.
#[cfg(not(unix))]
pub fn sweep_asides() {}
