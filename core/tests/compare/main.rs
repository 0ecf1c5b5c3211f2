//! Two runs compared: what differs is named, and nothing is invented.
#![allow(clippy::disallowed_methods)] // a test makes the databases that it reads

mod generated;
mod make;
mod pairs;
#[path = "../shared/session.rs"]
mod session;
