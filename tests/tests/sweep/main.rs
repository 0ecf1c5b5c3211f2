//! Tests that every program can be recorded: two naive interpreters execute programs with the real binary, and the
//! recorded runs are compared with the interpreters' logs.
//!
//! The first interpreter knows `help vm` and the indentation of lines; the second knows only `next`. Plain `cargo
//! test` runs a small part. `cargo xtask sweep` sets `PROSE_SWEEP` and also runs the corpus of the shared folder. With
//! `PROSE_SWEEP=once`, each program is recorded twice instead of in every way. `PROSE_SEED` chooses other cases.

mod by_next;
mod compare;
mod driver;
mod lines;
mod log;
mod naive;
mod naive_control;
mod plan;
mod programs;
mod report;
mod sweep;
