//! Answers the requests of the viewer's page ([`protocol::Request`]) from an opened source. A [`Desk`] is the state of
//! one page.
//!
//! ```text
//! page ──► Request (JSON) ──► Desk ──► core's Session and pages ──► view structs (JSON)
//!                              └──► DeskSource: files dropped into a browser, folders on a disk
//! ```
//!
//! This crate depends on neither a browser nor an operating system: the viewer's worker runs a desk for dropped
//! files, and `prosescope view` runs one for each page that it serves. The page itself keeps what is folded, selected
//! or scrolled, and sends it with the requests that need it.

mod answers;
mod desk;
pub mod first;
mod follow;
pub mod protocol;
mod search;
mod share;
mod source;
pub mod text;
mod value;
mod workflows;

pub use desk::Desk;
pub use share::ScanProgress;
pub use source::DeskSource;
