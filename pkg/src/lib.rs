//! The JavaScript package: the core's `Session` for Node and browsers.
//!
//! ```text
//! pkg/js  input of any shape ──► paths and bytes ──► openRun ──► Source over those bytes ──► Session
//!                                           views as objects ◄── one method a page ◄──────────┘
//! ```
//!
//! This crate only converts and calls. The core decides what a run is; `pkg/js` decides what JavaScript may pass, and
//! is the only caller of this crate's functions. Views are converted by the serde derives that also print `prosescope
//! … --json`, so both are always equal; their TypeScript types are generated from the core's structs
//! (`pkg/js/views.d.ts`). Bytes stay where JavaScript has them and are read in place (see `vfs/`).

#![cfg_attr(
    not(all(target_family = "wasm", target_os = "unknown")),
    allow(dead_code)
)]

mod path;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod error;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub mod functions;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub mod open;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod packed;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub mod run;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub mod share;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod source;
