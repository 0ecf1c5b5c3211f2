//! The tools of the end-to-end tests: a browser driver, builders of databases and folders, and checks for required
//! programs. The tests themselves are in `tests/e2e`.

pub mod browser;
pub mod build;
pub mod hostile;
pub mod rule_scan;
pub mod sql_scan;

pub use prosescope_test_support::{needs, work};
