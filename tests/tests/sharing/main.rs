//! Proofs of `prosescope share`: no planted secret leaves, whatever it is and wherever it stands; the copy tells the same run; a raw
//! copy is the run; a file that somebody made to do harm does none.
//!
//! Without `PROSE_SWEEP` each kind of secret and each place comes several times; with it each kind stands in each place.

mod back;
mod hostile;
mod leaks;
mod made;
#[path = "../../../redact/tests/secrets/planted/mod.rs"]
mod planted;
mod project;
mod runs;
mod same;
mod secrets;
mod sown;
mod sown_files;
mod sown_rows;
