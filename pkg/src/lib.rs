//! The JavaScript package: the core's `Session` for Node and browsers.
//!
//! ```text
//! pkg/js  input of any shape ──► paths and bytes ──► openRun ──► Source over those bytes ──► Session
//!                                   views as objects ◄── JSON ◄── one method a page ◄──────────┘
//! ```
//!
//! This crate converts and calls. What a run is, the core says; what JavaScript may pass, `pkg/js/index.js` says. A
//! view crosses as the JSON that `prosescope … --json` prints, so both are the same by construction; its TypeScript types are
//! generated from the core's structs (`pkg/js/views.d.ts`), those of the functions here by wasm-bindgen.
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
