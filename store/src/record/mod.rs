//! Applies the core's changes to runs on disk, one transaction per command.
//!
//! [`prosescope_core::record`] computes the changes; this module makes them durable, in SQLite by one immediate
//! transaction, in a folder by atomic replacement. A lock file orders the `prosescope` processes, because SQLite's busy
//! handler is unfair to a process that competes with many others (errata R1).

pub(crate) mod fault;
mod files;
mod folder;
mod fresh;
mod held;
mod lock;
mod reading;
mod sqlite;
mod turn;

pub(crate) use files::{put, unsure};
pub use folder::{FolderStore, init_folder};
pub(crate) use folder::{begin_events, write_first};
pub(crate) use fresh::{Failure, new_folder, place};
pub(crate) use lock::{LOCK, lock};
pub use lock::{RunLock, hold};
pub use sqlite::{SqliteStore, init_sqlite};
pub(crate) use sqlite::{
    TIME, TransactionClock, add_frames, connect_agents, connect_workflows, create, write_database,
};
pub(crate) use turn::Turn;
