//! Finds, reads and writes runs on disk: run folders and SQLite files.
//!
//! This crate moves bytes and opens connections; the core interprets them. Reading leaves no trace: a database is
//! opened according to the files beside it, so that no byte, time or listing changes. Only `record/` writes to runs,
//! and only `upkeep/` removes runs and agents.

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

pub use disk::{Disk, SourceRoot};
pub use error::StoreError;
pub use find::{home_prose, project_dir, prose_dir};
pub use lent::{Lent, Releaser};
pub use prosescope_share::manifest::ManifestCheck;
pub use record::{FolderStore, RunLock, SqliteStore, hold, init_folder, init_sqlite};
pub use share::{DiskDatabases, unpacked as unpacked_copy};
pub use upkeep::agents::{KeptAgent, delete_agent, kept_agent};
pub use upkeep::clean::{remove_leftover, remove_run, run_entries};
pub use upkeep::convert::{Conversion, OriginalRun, convert};
pub use upkeep::look::{database_facts, git_facts, sqlite_library, tool};
pub use upkeep::repair::{DamagedRun, unpack, write_repaired};
pub use workflows::{WorkflowReader, WorkflowStore};
