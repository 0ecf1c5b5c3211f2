//! How to go on with a run: where it stands, what the rest needs, what not to repeat.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod cases;
mod examples;
mod make;
mod many;
mod prompt;
#[path = "../shared/session.rs"]
mod session;
