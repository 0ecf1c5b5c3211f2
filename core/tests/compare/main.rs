//! Tests of comparing two runs: differences are reported, and only real ones.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod generated;
mod make;
mod pairs;
#[path = "../shared/session.rs"]
mod session;
