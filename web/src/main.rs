//! The browser viewer: a page that draws, and a worker that reads.
//!
//! One wasm has both roles, and `main` checks in which it runs. The page (`ui`) contains no file format and no rule
//! about runs; it requests the core's view structs from a desk (`prosescope-desk`) and draws them. The desk for
//! dropped files runs in the worker (`worker`, over `bytes`), that of a served page in `prosescope view`.

// A view moves its values into closures, which the lint does not see: most of its findings are wrong here.
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
