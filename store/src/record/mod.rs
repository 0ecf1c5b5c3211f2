//! Recording: stores that apply the core's changes, one transaction a command.
//!
//! What is written is computed by [`prosescope_core::write`]; here it is only moved, durably: in SQLite one immediate
//! transaction, in a folder by atomic replacement. Between `prosescope` processes a lock file decides who is next, so that
//! nobody waits out SQLite's busy handler against a crowd (errata R1).

pub(crate) mod fault;
mod files;
mod folder;
mod fresh;
mod held;
mod lock;
mod sqlite;

pub(crate) use files::{put, unsure};
pub use folder::{FolderStore, init_folder};
pub(crate) use folder::{begin_events, write_first};
pub(crate) use fresh::{Failure, new_folder, place};
pub(crate) use lock::{LOCK, lock};
pub(crate) use sqlite::{
    Clock, TIME, add_frames, connect_agents, connect_workflows, create, write_database,
};
pub use sqlite::{SqliteStore, init_sqlite};
