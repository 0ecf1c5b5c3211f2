//! Writes state.md of form A for any run (docs/reference/formats.md).
//!
//! [`crate::decode::state_md`] reads the file back. Its run id, status, annotated source lines, open constructs, index
//! and call stack survive that round trip. Rendering the parsed file again gives the same text.

mod build;
mod keep;
mod marks;
mod print;
#[cfg(test)]
mod tests;

pub use build::{RenderOptions, from_run, state_file_of};
pub use keep::rows_that_tell;
pub use print::from_state_file;
