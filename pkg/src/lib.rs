//! The JavaScript package: the core's `Session` for Node and browsers.
//!
//! ```text
//! pkg/js  input of any shape ──► paths and bytes ──► openRun ──► Source over those bytes ──► Session
//!                                           views as objects ◄── one method a page ◄──────────┘
//! ```
//!
//! This crate converts and calls. What a run is, the core says; what JavaScript may pass, `pkg/js` says, which is all that
//! others see: this crate's own functions are called from there alone. A view crosses by the same serde derives that print
//! `prosescope … --json`, so both are the same by construction; its TypeScript types are generated from the core's structs
//! (`pkg/js/views.d.ts`).
//! Bytes stay where JavaScript holds them and are read in place (see `vfs/`).

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
