//! Calling cargo: one selection of packages for everything native, one profile for everything wasm.
//!
//! Cargo unifies features over the packages that a call selects, so two calls with different selections compile
//! the same dependency twice. All native calls therefore select the same packages (but `view`, which builds the least),
//! and all wasm calls use the profile `wasm`, clippy included.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::setup;
use crate::view::target;

/// The wasm target.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Every package that builds natively: all but the purity check's cdylib. Of the viewer that is what its unit tests
/// test; the rest of it exists in a browser only.
pub(crate) const NATIVE: &[&str] = &["--workspace", "--exclude", "prosescope-purity"];

/// The program alone, without PostgreSQL and `serve`: what the viewer of files needs. The first `cargo xtask view` waits for it.
pub(crate) const SMALL: &[&str] = &["--package", "prosescope-cli", "--no-default-features"];

/// Cargo at the root of the checkout.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = calling_cargo(
        root,
        &std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
    );
    // What reads hostile files is held to two seconds a file, and unoptimised it takes five times as long.
    command.args([
        "--config",
        "profile.dev.package.prosescope-core.opt-level=1",
    ]);
    command
}

/// A program that calls cargo, at the root of the checkout.
pub(crate) fn calling_cargo(root: &Path, program: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root);
    // Left over from the `cargo run` that started us: nested builds would take it for theirs.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Cargo for wasm32: the target is installed, and the C compiler is one that this machine has. What panics say holds
/// no path of this machine: pages and packages made of it are handed on.
pub(crate) fn cargo_wasm(root: &Path) -> Result<Command> {
    let clang = setup::wasm()?;
    let mut command = cargo(root);
    command.env("CC_wasm32_unknown_unknown", clang);
    let flags = without_paths(root);
    // Added to those of .cargo/config.toml. Rust's quotes are TOML's.
    command.args(["--config", &format!("target.{WASM}.rustflags={flags:?}")]);
    Ok(command)
}

/// What tells rustc to name no folder of this machine in what it compiles.
pub(crate) fn without_paths(root: &Path) -> Vec<String> {
    let remap =
        |(path, name): (PathBuf, &str)| format!("--remap-path-prefix={}={name}", path.display());
    renamed(root).into_iter().map(remap).collect()
}

/// Folders of this machine, and what they are called in what is handed on.
pub(crate) fn renamed(root: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut paths = vec![(root.to_path_buf(), "prosescope")];
    if !target(root).starts_with(root) {
        paths.push((target(root), "target"));
    }
    paths.extend(registries().into_iter().map(|path| (path, "crates")));
    paths
}

/// The triple of this machine.
///
/// # Errors
/// When rustc cannot be started or names none.
pub(crate) fn host() -> Result<String> {
    let said = Command::new("rustc")
        .args(["--print", "host-tuple"])
        .output()?;
    ensure!(said.status.success(), "rustc names no host");
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// Cargo's own folder.
pub(crate) fn home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// Where cargo keeps the sources of packages: those of xtask's own are there already.
fn registries() -> Vec<PathBuf> {
    let folders = home().and_then(|home| home.join("registry/src").read_dir().ok());
    let mut folders: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.sort();
    folders
}
