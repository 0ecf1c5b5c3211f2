//! Reads, interprets and records the execution state of OpenProse programs, without I/O of its own.
//!
//! It has six rooms. Each uses only those before it, and inside of each room a module uses only those before it
//! (`core/tests/layers.rs`):
//!
//! 1. [`model`]: what a run is, and what all others use: schema, changes, rows, sources, times, issues.
//! 2. [`program`]: each line of the program gets a kind and a block.
//! 3. [`read`]: bytes and rows become a [`model::Run`]; every irregularity becomes an [`model::issue::Issue`].
//! 4. [`trace`]: a run becomes instances, rounds, frames, positions, the first cause of a failure, and what may come
//!    next.
//! 5. [`record`]: a recording command becomes changes; a run becomes the text of its files.
//! 6. [`pages`]: plain structs, the same for the command line, the browser and JavaScript.
//!
//! A shell (the command line, a browser, a server) offers files and databases through [`model::source::Source`].
//!
//! The core touches no file, socket, environment, clock or thread; the caller passes in `now`, bytes and connections.
//! CI checks that its WebAssembly module has no imports. The core does not panic, whatever the input is.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

#[cfg(test)]
#[path = "../chance.rs"]
mod chance;
pub mod model;
pub mod pages;
pub mod program;
pub mod read;
pub mod record;
pub mod trace;
