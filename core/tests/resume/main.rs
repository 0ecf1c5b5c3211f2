//! Tests of the plan for continuing a run: positions, needed values, and effects that must not be repeated.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod cases;
mod examples;
mod make;
mod many;
mod prompt;
#[path = "../shared/session.rs"]
mod session;
