//! Runs the browser viewer: a page that draws runs, and a worker that reads their files.
//!
//! The same wasm file is used for both; `main` checks whether it runs in the page or in the worker. The page (`ui`)
//! contains no code for file formats and no rules about runs. It requests the core's view structs from a desk
//! (`prosescope-desk`) and draws them. The desk for dropped files runs in the worker (`worker`, `bytes`). The desk for
//! a page that `prosescope view` serves runs in that command.

// The `view!` macro moves values into closures. The lint does not see that, so most of its findings are wrong in this
// crate.
#![allow(clippy::redundant_clone)]

mod bytes;
mod route;
mod text;

#[cfg(target_family = "wasm")]
use prosescope_desk::protocol;

#[cfg(target_family = "wasm")]
mod client;
#[cfg(target_family = "wasm")]
mod script;
#[cfg(target_family = "wasm")]
mod served;
#[cfg(target_family = "wasm")]
mod ui;
#[cfg(target_family = "wasm")]
mod worker;

#[cfg(target_family = "wasm")]
fn main() {
    use wasm_bindgen::JsCast as _;

    match js_sys::global().dyn_into::<web_sys::DedicatedWorkerGlobalScope>() {
        Ok(scope) => worker::run(scope),
        Err(_) => ui::start(),
    }
}

#[cfg(not(target_family = "wasm"))]
fn main() {
    eprintln!("The viewer runs in a browser: build it with `cargo xtask view`.");
}
