//! Builds and calls `xtask-pack`, the program that makes files of compiled modules.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::cargo::{QUICK_WASM, cargo, target, viewer_file};
use crate::step::{beside, run};
use crate::wasm::{self, Module};

/// The package of the program.
pub const NAME: &str = "xtask-pack";

/// Builds the program.
///
/// # Errors
/// If cargo fails.
pub fn build(root: &Path) -> Result<()> {
    run(cargo(root).args(["build", "--quiet", "--package", NAME]))
}

/// Compiles modules while the program is built.
///
/// # Errors
/// If cargo fails.
pub fn beside_modules(root: &Path, modules: &[Module], profile: &str) -> Result<()> {
    beside(
        || build(root),
        || {
            let profile = wasm::profile(profile);
            for module in modules {
                wasm::compile(root, *module, &profile)?;
            }
            Ok(())
        },
    )
}

/// Makes the viewer's page of the module, which is compiled first if it is not yet. Returns the page's path.
///
/// # Errors
/// If something does not build.
pub fn viewer(root: &Path, profile: &str) -> Result<PathBuf> {
    call(root, "viewer", quick(profile))?;
    Ok(viewer_file(root))
}

/// Makes the viewer's page and the JavaScript package, which contains the page. Returns the package's folder.
///
/// # Errors
/// If something does not build.
pub fn package(root: &Path, profile: &str) -> Result<PathBuf> {
    call(root, "pkg", quick(profile))?;
    Ok(root.join("pkg/dist"))
}

fn quick(profile: &str) -> &'static [&'static str] {
    if profile == QUICK_WASM {
        &["--quick"]
    } else {
        &[]
    }
}

/// Calls a command of the program, which must be built.
///
/// # Errors
/// If the program fails; it has printed why.
pub fn call<A: AsRef<OsStr>>(root: &Path, command: &str, args: &[A]) -> Result<()> {
    let program: OsString = target(root)
        .join("debug")
        .join(NAME)
        .with_extension(std::env::consts::EXE_EXTENSION)
        .into();
    run(Command::new(program).arg(command).args(args))
}
