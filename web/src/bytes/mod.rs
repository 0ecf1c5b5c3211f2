//! The bytes of opened files, read in parts: the worker's [`prosescope_core::source::Source`] over a browser's files,
//! with SQLite on top.
//!
//! ```text
//! SQLite ──► prosescope-vfs ──► Cache ──► File (FileReaderSync)
//! ```
//!
//! `apart` separates files that were given together; `packed` opens the shared files among them.

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
