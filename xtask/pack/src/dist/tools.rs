//! Finds or installs the tools that only `cargo xtask dist` needs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use xtask::cargo::target as target_folder;
use xtask::setup::{self, NODE, NPM, PYTHON, Tool, ensure, on_path, python_packages};

/// The program that compresses archives.
const XZ: Tool = Tool {
    name: "xz (packs the archives of a release)",
    programs: &["xz"],
    fits: |_| true,
    packages: &["xz-utils"],
};

/// The program that fetches pages from a server, to check a release.
const CURL: Tool = Tool {
    name: "curl (fetches pages in the check of a release)",
    programs: &["curl"],
    fits: |_| true,
    packages: &["curl"],
};

/// The emulator that runs a program for another processor.
const QEMU: Tool = Tool {
    name: "qemu-aarch64 (runs the aarch64 program once, to test it)",
    programs: &["qemu-aarch64-static", "qemu-aarch64"],
    fits: |_| true,
    packages: &["qemu-user-static", "qemu-user"],
};

/// Makes sure that archives can be packed. On systems other than Linux, `tar` needs no `xz`.
pub(crate) fn archives() -> Result<()> {
    if cfg!(target_os = "linux") {
        ensure(&[&XZ])
    } else {
        Ok(())
    }
}

/// Makes sure that the JavaScript package can be packed, and returns npm.
pub(crate) fn npm() -> Result<PathBuf> {
    ensure(&[&NODE, &NPM])?;
    on_path(&[OsStr::new("npm")]).context("npm is not on PATH")
}

/// Makes sure that a release can be checked; returns the emulator of aarch64.
pub(crate) fn check() -> Result<&'static str> {
    ensure(&[&PYTHON, &CURL, &QEMU])?;
    QEMU.find()
        .context("qemu-aarch64 was installed, but is not on PATH")
}

/// Makes sure that programs can be compiled for Linux with musl. Returns the folder of the tools: cargo-zigbuild, and
/// a C compiler that contains musl for each processor.
pub(crate) fn zigbuild(root: &Path, target: &str) -> Result<PathBuf> {
    setup::rust_target(target)?;
    ensure(&[&PYTHON])?;
    let environment = target_folder(root).join("zigbuild");
    python_packages(&root.join("packaging"), &environment)?;
    Ok(environment.join("bin"))
}
