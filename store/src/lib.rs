//! Native sources: run folders and SQLite files on disk, and finding them.
//!
//! It moves bytes and opens connections; what they mean is the core's. Nothing here writes beside a run: a database
//! is opened as its neighbours on disk demand, so that no byte, time or listing changes.

mod database;
mod disk;
mod error;
mod find;
mod record;

pub use disk::Disk;
pub use error::StoreError;
pub use find::{home_prose, prose_dir};
pub use record::{SqliteStore, init_sqlite};
