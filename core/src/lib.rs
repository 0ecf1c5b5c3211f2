//! The execution state of OpenProse programs, without I/O.
//!
//! A run becomes what people see in these steps:
//!
//! 1. **Source**: a shell offers files and databases through [`source::Source`].
//! 2. **Decode** ([`decode`]): their content decides the format; rows, headers and lengths become a
//!    [`model::Run`], and whatever was odd an [`issue::Issue`].
//! 3. **Scan** ([`program`]): the program's lines get a kind and a block.
//! 4. **Fold** ([`trace`]): rows become instances, rounds, frames, positions, and the first cause of a failure.
//! 5. **Resolve** ([`scope`]): what a name means in a frame, and why.
//! 6. **View** ([`view`]): plain structs, the same for the command line, the browser and JavaScript.
//! 7. **Render** ([`render`]): state.md and text.
//!
//! The core touches no file, socket, environment, clock or thread: `now`, bytes and connections are passed in.
//! Its wasm has no imports at all; CI shows it. No input makes it panic.

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

pub mod change;
pub mod check;
pub mod database;
pub mod decode;
pub mod gate;
pub mod host;
pub mod issue;
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
