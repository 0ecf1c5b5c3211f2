//! `cargo xtask lint`: checks formatting, clippy, documentation and dependencies; warnings are errors. Also `cargo
//! xtask audit`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use xtask::cargo::{NATIVE, SMALL, WASM, WASM_PROFILE, cargo, cargo_wasm};
use xtask::setup;
use xtask::step::{run, step};

/// Runs all checks except the tests.
///
/// # Errors
/// If a check finds something, or a tool cannot be installed.
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
    step("Clippy, the program that `cargo xtask view` builds", || {
        run(cargo(root)
            .arg("clippy")
            .args(SMALL)
            .args(["--", "--deny", "warnings"]))
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
    step("Dependencies: bans, licenses, sources", || {
        run(cargo(root).args(["deny", "check", "bans", "licenses", "sources"]))
    })
}

/// Checks the packages in `Cargo.lock` and in the tests' `package-lock.json` against databases of known
/// vulnerabilities. `lint` does not include this check, because the databases must be reachable, and their content
/// changes independently of this repository.
///
/// # Errors
/// If a package is known to be vulnerable or unmaintained, or a database cannot be reached.
pub(crate) fn audit(root: &Path) -> Result<()> {
    setup::cargo_deny(root)?;
    step("Advisories: crates", || {
        run(cargo(root).args(["deny", "check", "advisories"]))
    })?;
    let npm = setup::on_path(&[OsStr::new("npm")])
        .context("npm is not on PATH; install Node.js, which brings npm")?;
    step("Advisories: npm packages", || {
        run(Command::new(npm)
            .arg("audit")
            .current_dir(root.join("tests/js")))
    })
}
