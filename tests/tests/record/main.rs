//! Tests recording with the `prosescope` binary: whole programs, OpenProse's own SQL in the same runs, concurrent
//! writers, killed writers, full disks.
//!
//! The tests are small enough for CI; `cargo xtask soak` sets `PROSE_SOAK` and runs them with large numbers.

mod convert;
mod convert_odd;
mod convert_stopped;
mod documents;
mod faults;
mod full;
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
