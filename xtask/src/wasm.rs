//! Compiles a package to WebAssembly, for the viewer and the JavaScript package.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cargo::{WASM, cargo_wasm, target};
use crate::step::run;

/// The environment variable that selects another cargo profile. For example, `dev` builds faster, but makes larger
/// files.
const PROFILE: &str = "PROSESCOPE_WASM_PROFILE";

/// A package with the file name of its module.
pub type Module = (&'static str, &'static str);

/// The viewer.
pub const VIEWER: Module = ("prosescope-web", "prosescope-web.wasm");

/// The JavaScript package.
pub const PACKAGE: Module = ("prosescope-pkg", "prosescope_pkg.wasm");

/// Returns the profile that the user selected, else `default`.
#[must_use]
pub fn profile(default: &str) -> String {
    std::env::var(PROFILE).unwrap_or_else(|_| default.to_owned())
}

/// Compiles a package; returns the path of its module.
///
/// # Errors
/// If cargo fails.
pub fn compile(root: &Path, (package, file): Module, profile: &str) -> Result<PathBuf> {
    run(cargo_wasm(root)?
        .args(["build", "--package", package])
        .args(["--target", WASM, "--profile", profile]))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(target(root).join(WASM).join(folder).join(file))
}
