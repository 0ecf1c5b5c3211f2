//! What the commands for contributors share: calls of cargo, set-up of tools, and the output of steps.
//!
//! The commands are in two programs. `xtask`, this crate, is small, so that it compiles in seconds: it sets up, calls
//! cargo, tests and lints. `xtask-pack` ([`pack`]) contains what needs large libraries: it makes the viewer's page, the
//! JavaScript package and releases of compiled modules. `xtask` builds it while cargo compiles other things.

pub mod cargo;
pub mod pack;
pub mod setup;
pub mod step;
pub mod wasm;

use std::path::{Path, PathBuf};

/// Returns the checkout's top folder, from any folder in which a command runs.
#[must_use]
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
