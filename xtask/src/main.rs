//! The commands for contributors: `cargo xtask view`, `cargo xtask test` and others.
//!
//! Each command first installs the tools that it needs and this machine lacks ([`setup`]), then runs cargo. All
//! commands call cargo with the same selection of packages and profiles, so that SQLite is not compiled twice
//! ([`cargo`]). The commands work from any folder of the checkout, and offline once the packages are fetched.

mod bench;
mod bundle;
mod cargo;
#[path = "../../share/src/dense.rs"]
#[allow(dead_code, unreachable_pub)] // the crate `share` uses the rest of this file
mod dense;
mod dist;
mod fuzz;
mod install;
mod lines;
mod lint;
mod pkg;
#[path = "../../store/src/upkeep/second_name.rs"]
mod second_name;
mod setup;
mod step;
mod test;
mod view;
mod wasm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Build, test and show Prosescope, and install what that requires
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build everything and open a run in the local viewer; Ctrl-C ends it
    View(view::Args),
    /// Run all tests: the core, the command line, the viewer in a browser
    Test(test::Args),
    /// Check formatting, clippy (native and wasm32), documentation, dependencies
    Lint,
    /// Check the dependencies against databases of known vulnerabilities, which must be reachable
    Audit,
    /// Run the checks of CI: lint, test, and each fuzz target for a few seconds
    Ci,
    /// Build the viewer: one HTML file
    Bundle,
    /// Build the JavaScript package into pkg/dist
    Pkg,
    /// Install `prosescope`, with the viewer inside, where cargo installs programs, and its second name `prose`
    /// unless another program has that name
    Install,
    /// Build the files of a release in target/dist: static programs for Linux, the viewer, the npm package,
    /// installers, licenses, checksums
    Dist(dist::Args),
    /// Measure ratios side by side, and growth with size; not part of the tests
    Bench(bench::Args),
    /// Test recording with many writers, kills and races: minutes to an hour
    Soak,
    /// Record every program with two naive interpreters and compare the results: half an hour
    Sweep,
    /// Fuzz each target for a minute, or for the given time, starting from the seeds in fuzz/
    Fuzz(fuzz::Args),
    /// Count the lines of code, per crate and module
    Lines,
    /// Rewrite the generated pages of docs/reference and pkg/js/views.d.ts
    Docs,
    /// Take the README's screenshot and those of every page (target/screenshots)
    Screenshots,
}

fn main() -> ExitCode {
    match run(&Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &Command) -> Result<()> {
    let root = root();
    match command {
        Command::View(args) => view::run_view(&root, args),
        Command::Test(args) => test::run_tests(&root, args),
        Command::Lint => lint::run_lint(&root),
        Command::Audit => lint::audit(&root),
        Command::Ci => {
            lint::run_lint(&root)?;
            test::run_tests(&root, &test::Args::default())?;
            fuzz::run_fuzz(&root, &fuzz::Args::brief())
        }
        Command::Bundle => {
            let html = view::bundle(&root)?;
            println!("{}", html.display());
            Ok(())
        }
        Command::Pkg => {
            let dist = pkg::build(&root)?;
            println!("{}", dist.display());
            Ok(())
        }
        Command::Install => install::run_install(&root),
        Command::Dist(args) => dist::run_dist(&root, args),
        Command::Bench(args) => bench::run_bench(&root, args),
        Command::Soak => test::soak(&root),
        Command::Sweep => test::sweep(&root),
        Command::Fuzz(args) => fuzz::run_fuzz(&root, args),
        Command::Lines => lines::print(&root),
        Command::Docs => test::write_docs(&root),
        Command::Screenshots => test::screenshots(&root),
    }
}

/// Returns the checkout's top folder, from any folder in which the command runs.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
