//! Tests of comparing two runs: every real difference is reported, and nothing else.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod generated;
mod make;
mod pairs;
mod records;
#[path = "../shared/session.rs"]
mod session;
