//! `cargo xtask view`, `bundle`: builds the viewer, and the `prosescope` binary that contains it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use xtask::cargo::{
    NATIVE, QUICK_WASM, SMALL, VIEWER_HTML, WASM_PROFILE, calling_cargo, cargo, program, target,
    viewer_file,
};
use xtask::step::{beside, run, step};
use xtask::wasm::{self, VIEWER};
use xtask::{pack, setup};

/// The folder of the runs that `view` opens by default.
const EXAMPLES: &str = "examples";

#[derive(clap::Args)]
pub(crate) struct ViewerArgs {
    /// Runs to open instead of the examples, and options, as for `prosescope view`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PATH"
    )]
    view: Vec<OsString>,
}

/// Builds the viewer and the program in parallel, then replaces this process by `prosescope view`. That command
/// prints its address, and ends on Ctrl-C. If the viewer cannot be built, lists the runs in the terminal.
///
/// # Errors
/// If something cannot be installed, built or started. Without a viewer, the error contains the missing tools, after
/// the list of runs.
pub(crate) fn run_view(root: &Path, args: &ViewerArgs) -> Result<()> {
    let selection = selection(&args.view);
    let opened = if args.view.is_empty() {
        vec![root.join(EXAMPLES).into_os_string()]
    } else {
        args.view.clone()
    };
    if let Err(missing) = setup::wasm() {
        let mut list = Command::new(build(root, selection, None, &[])?);
        let is_folder = opened.first().is_some_and(|path| Path::new(path).is_dir());
        list.arg(if is_folder { "runs" } else { "show" });
        run(list.args(opened.first()))?;
        return Err(missing
            .context("the viewer was not built; the terminal shows what the viewer would open"));
    }
    step(
        "Building the viewer (WebAssembly) and prosescope, side by side (minutes the first time)",
        || {
            // While the new viewer is built, the program is built with the previous viewer. If both viewers are the
            // same, the step after the next one compiles nothing.
            let before = viewer_file(root);
            let before = before.is_file().then_some(&*before);
            let packed = ["--quiet", "--package", pack::NAME, "--bin", pack::NAME];
            let programs = || build(root, selection, before, &packed).map(drop);
            let profile = wasm::profile(QUICK_WASM);
            beside(programs, || wasm::compile(root, VIEWER, &profile))
        },
    )?;
    let viewer = pack::viewer(root, QUICK_WASM)?;
    let prose = step("Putting the viewer into prosescope", || {
        build(root, selection, Some(&viewer), &[])
    })?;
    let mut view = Command::new(prose);
    view.arg("view").args(opened);
    become_it(view)
}

/// Returns the packages and features to build for the arguments of `view`. Runs in PostgreSQL need all features.
fn selection(view: &[OsString]) -> &'static [&'static str] {
    let on_server = |arg: &OsString| arg.to_string_lossy().starts_with("postgres:");
    if view.iter().any(on_server) {
        NATIVE
    } else {
        SMALL
    }
}

/// Builds the viewer: one HTML file.
///
/// # Errors
/// If a tool is missing and cannot be installed, or the build fails.
pub(crate) fn bundle(root: &Path) -> Result<PathBuf> {
    pack::beside_modules(root, &[VIEWER], WASM_PROFILE)?;
    pack::viewer(root, WASM_PROFILE)
}

/// Builds `prosescope` with this viewer inside for the tests, and with the same packages and profile as the tests.
///
/// # Errors
/// If the build fails.
pub(crate) fn prose(root: &Path, viewer: &Path) -> Result<PathBuf> {
    step(
        "Building prosescope (1 to 2 minutes the first time)",
        || build(root, NATIVE, Some(viewer), &[]),
    )
}

fn build(
    root: &Path,
    selection: &[&str],
    viewer: Option<&Path>,
    flags: &[&str],
) -> Result<PathBuf> {
    let mut command = if selection == SMALL {
        first(root)
    } else {
        cargo(root)
    };
    command
        .arg("build")
        .args(["--bin", "prosescope"])
        .args(selection)
        .args(flags);
    match viewer {
        Some(viewer) => command.env(VIEWER_HTML, viewer),
        None => command.env_remove(VIEWER_HTML),
    };
    run(&mut command)?;
    let prose = target(root)
        .join("debug")
        .join("prosescope")
        .with_extension(std::env::consts::EXE_EXTENSION);
    ensure!(prose.is_file(), "cargo built no {}", prose.display());
    Ok(prose)
}

/// Returns a cargo command whose first build is quick. The browser reads the files, so the small program needs neither
/// an optimised core nor an optimised SQLite.
fn first(root: &Path) -> Command {
    let mut command = calling_cargo(root, &program());
    for setting in ["package.libsqlite3-sys.opt-level=0", "debug=false"] {
        command.args(["--config", &format!("profile.dev.{setting}")]);
    }
    command
}

/// Replaces this process by the command, so that Ctrl-C and signals reach the started program.
#[cfg(unix)]
fn become_it(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec()).with_context(|| format!("cannot start {}", command.get_program().display()))
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<()> {
    run(&mut command)
}
