//! The viewer's page asks questions ([`protocol::Request`]); a [`Desk`] answers them from an opened source.
//!
//! ```text
//! page ──► Request (JSON) ──► Desk ──► core's Session and pages ──► view structs (JSON)
//!                              └──► DeskSource: files dropped into a browser, folders on a disk
//! ```
//!
//! This crate depends on neither a browser nor a system: the viewer's worker runs a desk for dropped files, and
//! `prosescope view` runs one for each page that it serves. What is folded, selected or scrolled belongs to the page, which
//! sends it with the questions that need it.

mod answers;
mod decide;
mod desk;
mod follow;
pub mod protocol;
mod search;
mod share;
mod source;
pub mod text;
mod value;
mod workflows;

pub use desk::Desk;
pub use share::Watch;
pub use source::DeskSource;
