//! Calls cargo with one selection of packages for native builds, and one profile for wasm.
//!
//! Cargo unifies features over the selected packages, so two calls with different selections compile the same
//! dependency twice. All native calls therefore select the same packages, and all wasm calls use the profile `wasm`,
//! including clippy. `cargo xtask view` differs: it builds as little as possible, with settings for a fast build.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::setup;

/// The cargo profile for everything compiled to WebAssembly.
pub const WASM_PROFILE: &str = "wasm";

/// The cargo profile of the viewer that `cargo xtask view` builds, and with which the quick tests run. This profile
/// compiles faster, but makes a larger page.
pub const QUICK_WASM: &str = "wasm-quick";

/// The environment variable with the path of the page that the binary's build script embeds; see cli/build.rs.
pub const VIEWER_HTML: &str = "PROSE_VIEWER_HTML";

/// The wasm target.
pub const WASM: &str = "wasm32-unknown-unknown";

/// The arguments that select all packages except the cdylib of the purity check, which only builds for wasm. The native
/// build of the viewer contains only its unit-tested parts.
pub const NATIVE: &[&str] = &["--workspace", "--exclude", "prosescope-purity"];

/// The arguments that select the program without PostgreSQL and `serve`. This program suffices to view runs in files,
/// and makes the first `cargo xtask view` faster.
pub const SMALL: &[&str] = &["--package", "prosescope", "--no-default-features"];

/// Returns a cargo command at the root of the checkout.
pub fn cargo(root: &Path) -> Command {
    let mut command = calling_cargo(root, &program());
    // The core is optimised even in debug builds: reading a hostile file may take the core two seconds, and would take
    // five times as long without optimisation.
    command.args([
        "--config",
        "profile.dev.package.prosescope-core.opt-level=1",
    ]);
    command
}

/// Returns the path of the cargo that started xtask.
pub fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns a command that calls cargo, at the root of the checkout.
pub fn calling_cargo(root: &Path, program: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root);
    // Removes the variables that the `cargo run` of xtask has set, because nested builds would use them.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// Returns a cargo command for wasm32. Installs the target if it is missing, and sets an available C compiler.
/// Messages of panics contain no path of this machine, because the built pages and packages are distributed.
pub fn cargo_wasm(root: &Path) -> Result<Command> {
    let clang = setup::wasm()?;
    let mut command = cargo(root);
    command.env("CC_wasm32_unknown_unknown", clang);
    let flags = without_paths(root);
    // These flags are added to those in .cargo/config.toml. Rust's syntax for strings is also valid in TOML.
    command.args(["--config", &format!("target.{WASM}.rustflags={flags:?}")]);
    Ok(command)
}

/// Returns flags for rustc that keep the folders of this machine out of the output.
pub fn without_paths(root: &Path) -> Vec<String> {
    let remap =
        |(path, name): (PathBuf, &str)| format!("--remap-path-prefix={}={name}", path.display());
    renamed(root).into_iter().map(remap).collect()
}

/// Returns folders of this machine, each with the name that replaces it in distributed files.
pub fn renamed(root: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut paths = vec![(root.to_path_buf(), "prosescope")];
    if !target(root).starts_with(root) {
        paths.push((target(root), "target"));
    }
    paths.extend(registries().into_iter().map(|path| (path, "crates")));
    paths.extend(library(root).map(|path| (path, "rust")));
    paths
}

/// Returns the folder with the sources of Rust's library. If rustup installed them, as for rust-analyzer, panics name it.
fn library(root: &Path) -> Option<PathBuf> {
    let said = Command::new("rustc")
        .args(["--print", "sysroot"])
        .current_dir(root)
        .output()
        .ok()?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
    let sources = sysroot.join("lib/rustlib/src/rust");
    sources.is_dir().then_some(sources)
}

/// Returns the target triple of this machine.
///
/// # Errors
/// If rustc cannot be started, or fails.
pub fn host() -> Result<String> {
    let said = Command::new("rustc")
        .args(["--print", "host-tuple"])
        .output()?;
    ensure!(said.status.success(), "`rustc --print host-tuple` failed");
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// Returns cargo's home folder: `CARGO_HOME`, else `~/.cargo`.
pub fn home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// Returns the folders in which cargo keeps the sources of downloaded packages.
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

/// Returns the path of the viewer, which may not be built yet.
#[must_use]
pub fn viewer_file(root: &Path) -> PathBuf {
    target(root).join("viewer").join("viewer.html")
}

/// Returns cargo's target folder.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}
