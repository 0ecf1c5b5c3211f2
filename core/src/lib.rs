//! Reads, interprets and records the execution state of OpenProse programs, without I/O of its own.
//!
//! The path from a run's files to a page has these steps, one module each:
//!
//! 1. **Source**: a shell (the command line, a browser, a server) offers files and databases through
//!    [`source::Source`].
//! 2. **Decode** ([`decode`]): detects the format from the content. Rows, headers and lengths become a [`model::Run`];
//!    every irregularity becomes an [`issue::Issue`].
//! 3. **Scan** ([`program`]): each line of the program gets a kind and a block.
//! 4. **Fold** ([`trace`]): rows become instances, rounds, frames, positions, and the first cause of a failure.
//! 5. **Resolve** ([`scope`]): finds the binding that a name means in a frame, with the reason.
//! 6. **View** ([`view`]): plain structs, the same for the command line, the browser and JavaScript.
//! 7. **Render** ([`render`]): state.md and other text.
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
pub mod change;
pub mod check;
pub mod database;
pub mod decode;
pub mod gate;
pub mod host;
pub mod issue;
pub mod judgement;
pub mod model;
pub mod program;
pub mod query;
pub mod render;
pub mod repair;
pub mod resume;
pub mod run_id;
pub mod schema;
pub mod scope;
pub mod session;
pub mod shell;
pub mod source;
pub mod sqlite;
pub mod text;
pub mod time;
pub mod timeout;
pub mod trace;
pub mod upkeep;
pub mod view;
pub mod write;
