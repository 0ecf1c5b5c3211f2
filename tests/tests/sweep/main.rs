//! The proof that every program can be recorded: two naive interpreters carry out programs with the real binary, and what is
//! recorded is compared with what they did.
//!
//! The first knows what `help vm` says and the indentation of lines; the second knows only `next`. Plain `cargo test` takes a small
//! part; `cargo xtask sweep` sets `PROSE_SWEEP` and takes the corpus of the shared folder too (`PROSE_SWEEP=once`: each
//! program twice instead of in every way). `PROSE_SEED` chooses other cases.

mod by_next;
mod chance;
mod compare;
mod driver;
mod generate;
mod lines;
mod log;
mod naive;
mod naive_control;
mod plan;
mod programs;
mod report;
mod sweep;
