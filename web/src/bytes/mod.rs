//! Bytes of what was opened, in parts: the worker's [`prosescope_core::source::Source`] over a browser's files,
//! and SQLite on top of it.
//!
//! ```text
//! SQLite ──► prosescope-vfs ──► Cache ──► File (FileReaderSync)
//! ```
//!
//! `apart` gives files that were given together their places; `packed` opens shared files among them.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

mod ahead;
pub(crate) mod apart;
mod cache;
#[cfg(target_family = "wasm")]
mod packed;
#[cfg(target_family = "wasm")]
mod source;

#[cfg(target_family = "wasm")]
pub(crate) use source::WebSource;
