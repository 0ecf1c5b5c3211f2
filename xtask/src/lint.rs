//! `cargo xtask lint`: formatting, clippy, documentation, dependencies. Warnings are errors.

use std::path::Path;

use anyhow::Result;

use crate::cargo::{NATIVE, WASM, cargo, cargo_wasm};
use crate::setup;
use crate::step::{run, step};
use crate::view::WASM_PROFILE;

/// Runs all checks but the tests.
///
/// # Errors
/// When a check finds something, or a tool cannot be installed.
pub(crate) fn run_lint(root: &Path) -> Result<()> {
    step("Formatting", || {
        run(cargo(root).args(["fmt", "--all", "--check"]))
    })?;
    step("Clippy, native", || {
        run(cargo(root).arg("clippy").args(NATIVE).args([
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]))
    })?;
    for (name, package) in [
        ("the core alone", "prosescope-purity"),
        ("the viewer", "prosescope-web"),
        ("the JavaScript package", "prosescope-pkg"),
    ] {
        step(&format!("Clippy, wasm32: {name}"), || {
            run(cargo_wasm(root)?
                .args(["clippy", "--target", WASM, "--profile", WASM_PROFILE])
                .args(["--package", package, "--", "--deny", "warnings"]))
        })?;
    }
    step("Documentation", || {
        run(cargo(root)
            .arg("doc")
            .args(NATIVE)
            .arg("--no-deps")
            .env("RUSTDOCFLAGS", "--deny warnings"))
    })?;
    setup::cargo_deny(root)?;
    step("Dependencies: bans, licences, sources", || {
        run(cargo(root).args(["deny", "check", "bans", "licenses", "sources"]))
    })
}
