//! Tests recording with the `prosescope` binary: whole programs, OpenProse's own SQL beside it, concurrent writers,
//! killed writers, full disks.
//!
//! Small enough for CI; `cargo xtask soak` sets `PROSE_SOAK` and runs the same tests with large numbers.

mod convert;
mod convert_odd;
mod convert_stopped;
mod documents;
mod faults;
mod fewer;
mod full;
mod functions;
mod growth;
mod inject;
mod kill;
mod killed_copies;
mod killed_decisions;
#[cfg(unix)]
mod places;
mod project;
mod schemas;
mod strangers;
mod whole;
mod writers;
mod wrong;
