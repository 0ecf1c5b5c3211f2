//! state.md of form A, written from any run (design: docs/reference/formats.md).
//!
//! [`crate::decode::state_md`] reads it. What is written and read again carries the run's id and status, the
//! source lines with their annotations, open constructs, the index and the call stack; rendering what was read
//! gives the same text.

mod build;
mod keep;
mod marks;
mod print;
#[cfg(test)]
mod tests;

pub use build::{RenderOptions, from_run, state_file_of};
pub use keep::rows_that_tell;
pub use print::from_state_file;
