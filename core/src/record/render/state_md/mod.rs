//! Writes state.md of form A for any run (docs/reference/formats.md).
//!
//! The file is a view: [`crate::read::decode::state_md`] reads its head, annotated lines, open constructs, index and
//! call stack, and nothing else of the run is in it.

mod build;
mod marks;
mod print;
#[cfg(test)]
mod tests;

pub use build::{RenderOptions, from_run, state_file_of};
pub use print::{from_state_file, with_head};
