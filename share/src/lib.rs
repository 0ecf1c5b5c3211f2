//! Shares runs in one file, and opens such files.
//!
//! ```text
//! run ──► redacted copy ──► zip of its files ──► page: viewer, summary, zip as text      (share)
//! page or zip ──► archive, every entry checked ──► files, as in a folder                 (open)
//! ```
//!
//! Like the core, this crate has no I/O: a shell reads and writes the bytes.

pub mod archive;
pub mod copy;
pub mod dense;
pub mod file;
pub mod manifest;
pub mod model;
pub mod pack;
pub mod page;
pub mod sharing;
pub mod summary;
pub mod text;
pub mod what;
pub mod wishes;

pub use prosescope_redact as redact;
pub use rawzip::{FileReader, ReaderAt};
