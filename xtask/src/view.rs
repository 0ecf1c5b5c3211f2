//! `cargo xtask view`, `bundle`: the viewer, and the `prosescope` binary that carries it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bundle;
use crate::cargo::{NATIVE, cargo};
use crate::setup;
use crate::step::{run, step};

/// The profile of everything that becomes WebAssembly.
pub(crate) const WASM_PROFILE: &str = "wasm";

/// Tells the binary's build script which page to carry; see cli/build.rs.
pub(crate) const VIEWER_HTML: &str = "PROSE_VIEWER_HTML";

/// The runs that are opened when none is named.
const EXAMPLES: &str = "examples";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to open instead of the examples, and options, as `prosescope view` takes them.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PATH"
    )]
    view: Vec<OsString>,
}

/// Builds everything, then becomes `prosescope view`, which prints its address and ends on Ctrl-C.
///
/// # Errors
/// When something cannot be installed, built or started.
pub(crate) fn run_view(root: &Path, args: &Args) -> Result<()> {
    let prose = prose(root, &bundle(root)?)?;
    let mut view = Command::new(prose);
    view.arg("view");
    if args.view.is_empty() {
        view.arg(root.join(EXAMPLES));
    }
    view.args(&args.view);
    become_it(view)
}

/// Builds the viewer: one HTML file.
///
/// # Errors
/// When a tool is missing and cannot be installed, or the build fails.
pub(crate) fn bundle(root: &Path) -> Result<PathBuf> {
    setup::wasm()?;
    step(
        "Building the viewer (WebAssembly; 2 to 3 minutes the first time)",
        || bundle::build(root, WASM_PROFILE),
    )
}

/// Builds `prosescope` with this viewer inside, for trying and testing: the profile that the tests use.
///
/// # Errors
/// When the build fails.
pub(crate) fn prose(root: &Path, viewer: &Path) -> Result<PathBuf> {
    step(
        "Building prosescope (1 to 2 minutes the first time)",
        || {
            run(cargo(root)
                .arg("build")
                .args(NATIVE)
                .args(["--bin", "prosescope"])
                .env(VIEWER_HTML, viewer))
        },
    )?;
    let prose = target(root)
        .join("debug")
        .join("prosescope")
        .with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(prose.is_file(), "cargo built no {}", prose.display());
    Ok(prose)
}

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Replaces this process, so that Ctrl-C and signals reach the program that runs.
#[cfg(unix)]
fn become_it(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec()).with_context(|| format!("cannot start {}", command.get_program().display()))
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<()> {
    run(&mut command)
}
