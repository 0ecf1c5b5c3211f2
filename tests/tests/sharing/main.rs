//! Tests `prosescope share`: no planted secret is shared, whatever its kind and place; the redacted copy describes
//! the same run; a raw copy equals the run; malicious files do no harm.
//!
//! Without `PROSE_SWEEP`, each kind of secret and each place occurs several times; with it, each kind occurs in each
//! place.

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
