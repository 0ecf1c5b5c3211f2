//! Helpers for the tests of all crates: test servers and proxies, checks for required programs, measurements of work.

#[path = "../../../core/chance.rs"]
pub mod chance;
pub mod clock;
pub mod cluster;
pub mod example;
pub mod faulty;
pub mod files;
pub mod kills;
pub mod needs;
pub mod pages;
pub mod pooler;
pub mod programs;
pub mod random;
pub mod reference;
pub mod run;
pub mod wire;
pub mod work;
pub mod zip;
