//! A run in one file, for somebody else.
//!
//! ```text
//! run ──► copy, redacted ──► zip of its files ──► page: viewer, summary, zip as text     (share)
//! page or zip ──► archive, doubted ──► files, as of a folder                             (open)
//! ```
//!
//! Without I/O, as the core: a shell gives the bytes, and takes them.

pub mod archive;
pub mod copy;
pub mod dense;
pub mod file;
pub mod manifest;
pub mod model;
pub mod pack;
pub mod page;
pub mod sharing;
pub mod signed;
pub mod summary;
pub mod text;
pub mod what;
pub mod wishes;

pub use prosescope_redact as redact;
pub use rawzip::{FileReader, ReaderAt};
