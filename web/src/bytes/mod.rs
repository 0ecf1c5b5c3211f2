//! Reads parts of the files that a user opened in the browser. `WebSource` is the worker's
//! [`prosescope_core::model::source::Source`]; SQLite reads databases through it.
//!
//! ```text
//! SQLite ──► prosescope-vfs ──► Cache ──► File (FileReaderSync)
//! ```
//!
//! `apart` separates runs that were dropped together. `packed` unpacks shared files among the dropped files.

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
