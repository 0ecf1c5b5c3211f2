//! Checks the packed npm packages: installs and uses `npx prosescope`, and the library where the program is not
//! installed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::root::TemporaryRoot;
use super::{SHOWN, contains, said, serves_the_viewer};
use crate::dist::{archive, files, npm, runs_here};
use xtask::step::run;

/// A script that opens an example with the library.
const LIBRARY: &str = "const run = await (await import('prosescope/node')).openPath(process.argv[1]); console.log(run.overview().headline);";

/// The path of a database in the examples.
const DATABASE: &str = "examples/.prose/runs/20260118-201530-z4t9wa/state.db";

/// Installs the library together with the program for this machine, and shows and serves a run.
pub(super) fn with_program(root: &Path, dist: &Path, alone: &TemporaryRoot) -> Result<()> {
    let here = npm::SYSTEMS.iter().find(|system| runs_here(system.target));
    let here = here.context("there is no package for this machine")?;
    install(
        root,
        dist,
        alone,
        "/work/both",
        &[npm::library(), here.file_name()],
    )?;
    let npx = |args: &[&str]| alone.command("/work/both", &[&["npx", "prosescope"], args].concat());
    contains(&said(&mut npx(&["--version"]))?, files::VERSION)?;
    contains(&said(&mut npx(&["show", DATABASE]))?, SHOWN)?;
    serves_the_viewer(&mut npx(&["view", DATABASE]))
}

/// Installs the library without the program: the library works, and the command tells the user what to install.
pub(super) fn without_program(root: &Path, dist: &Path, alone: &TemporaryRoot) -> Result<()> {
    install(root, dist, alone, "/work/library", &[npm::library()])?;
    let library = ["node", "--input-type=module", "-e", LIBRARY, DATABASE];
    contains(&said(&mut alone.command("/work/library", &library))?, SHOWN)?;
    let missing = alone
        .command("/work/library", &["npx", "prosescope", "runs"])
        .output()?;
    ensure!(missing.status.code() == Some(127), "{}", missing.status);
    contains(
        &String::from_utf8_lossy(&missing.stderr),
        "install it: npm install @prosescope/cli-linux-",
    )
}

/// Installs packed packages into a new folder beside the examples.
fn install(
    root: &Path,
    dist: &Path,
    alone: &TemporaryRoot,
    folder: &str,
    files: &[String],
) -> Result<()> {
    archive::copy_all(&root.join("examples"), &alone.path(folder).join("examples"))?;
    for file in files {
        fs::copy(dist.join(file), alone.path(folder).join(file))
            .with_context(|| format!("copying {file}"))?;
    }
    let mut install = alone.command(
        folder,
        &["npm", "install", "--offline", "--no-audit", "--no-fund"],
    );
    run(install.args(files.iter().map(|file| format!("./{file}"))))
}
