//! Bytes of what was opened, in parts: the worker's [`prosescope_core::source::Source`] over a browser's files or
//! a local server's, and SQLite on top of it.
//!
//! ```text
//! SQLite ──► prosescope-vfs ──► BlockCache ──► File (FileReaderSync) or HTTP range (synchronous XMLHttpRequest)
//! ```

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

mod cache;
#[cfg(target_family = "wasm")]
mod remote;
#[cfg(target_family = "wasm")]
mod source;

pub(crate) use cache::Counters;
#[cfg(target_family = "wasm")]
pub(crate) use remote::list_served;
#[cfg(target_family = "wasm")]
pub(crate) use source::WebSource;
