//! What the README's commands call: `cargo xtask view`, `cargo xtask test` and their parts.
//!
//! Each command first sets up what it needs and this machine lacks ([`setup`]), then runs cargo with the one
//! selection of packages and profiles that keeps SQLite from being compiled twice ([`cargo`]). Works from any
//! folder of the checkout, and offline once the packages are fetched.

mod bench;
mod bundle;
mod cargo;
#[path = "../../share/src/dense.rs"]
#[allow(dead_code, unreachable_pub)] // who reads it is elsewhere
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

/// Builds, tests and shows Prosescope, and installs what that takes.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Builds everything and opens a run in the local viewer; Ctrl-C ends it.
    View(view::Args),
    /// Runs all tests: the core, the command line, the viewer in a browser.
    Test(test::Args),
    /// Checks formatting, clippy (native and wasm32), documentation, dependencies.
    Lint,
    /// Checks the dependencies against the databases of known vulnerabilities, which must be reachable.
    Audit,
    /// Runs what CI runs: lint, test, and each fuzz target for a few seconds.
    Ci,
    /// Builds the viewer: one HTML file.
    Bundle,
    /// Builds the JavaScript package into pkg/dist.
    Pkg,
    /// Installs `prosescope`, with the viewer inside, where cargo installs programs, and its second name `prose` unless
    /// another program has that name.
    Install,
    /// Makes what a release consists of, in target/dist: static programs for Linux, the viewer, the npm package, installers,
    /// licenses, sums.
    Dist(dist::Args),
    /// Measures: ratios side by side, growth with size. No part of the tests.
    Bench(bench::Args),
    /// Runs the tests of recording with many writers, kills and races: minutes to an hour.
    Soak,
    /// Carries out every program by two naive interpreters and compares what is recorded: half an hour.
    Sweep,
    /// Tries what comes of the seeds in fuzz/: each target for a minute, or as long as it is told to.
    Fuzz(fuzz::Args),
    /// Counts the lines of code, per crate and module.
    Lines,
    /// Writes the generated pages of docs/reference and pkg/js/views.d.ts anew.
    Docs,
    /// Takes the README's screenshot and those of every page (target/screenshots).
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

/// The checkout's top folder, wherever the command was given.
fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}
