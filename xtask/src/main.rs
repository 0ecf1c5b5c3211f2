//! The commands for contributors: `cargo xtask view`, `cargo xtask test` and others.
//!
//! Each command first installs the tools that it needs and this machine lacks ([`setup`]), then runs cargo. All
//! commands call cargo with the same selection of packages and profiles, so that SQLite is not compiled twice
//! ([`cargo`]). The commands work from any folder of the checkout, and offline once the packages are fetched.

mod bench;
mod fuzz;
mod lines;
mod lint;
mod site;
mod test;
mod view;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::cargo::WASM_PROFILE;
use xtask::{pack, root};

/// Build, test and show Prosescope, and install what that requires
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Build everything and open a run in the local viewer; Ctrl-C ends it
    View(view::ViewerArgs),
    /// Run the quick half of the tests; with --all, all tests; with arguments for `cargo test`, those that they select
    Test(test::TestArgs),
    /// Check formatting, clippy (native and wasm32), documentation, dependencies
    Lint,
    /// Check the dependencies against databases of known vulnerabilities, which must be reachable
    Audit,
    /// Run the checks of CI: lint, the count of lines, the site, all tests, and each fuzz target for a few seconds
    Ci,
    /// Build the viewer: one HTML file
    Bundle,
    /// Build the docs as a site with search in target/site/html, with the example runs as one shared page
    Site,
    /// Build the JavaScript package into pkg/dist
    Pkg,
    /// Install `prosescope`, with the viewer inside, where cargo installs programs, and its second name `prose`
    /// unless another program has that name
    Install,
    /// Build the files of a release in target/dist: static programs for Linux, the viewer, the npm package,
    /// installers, licenses, checksums
    #[command(disable_help_flag = true)]
    Dist(ForwardedArgs),
    /// Measure ratios side by side, and growth with size; not part of the tests
    Bench(bench::BenchArgs),
    /// Test recording with many writers, kills and races: minutes to an hour
    Soak,
    /// Record every program with two naive interpreters and compare the results: half an hour
    Sweep,
    /// Fuzz each target for a minute, or for the given time, starting from the seeds in fuzz/
    Fuzz(fuzz::FuzzArgs),
    /// Count the lines of code, per crate and module, and print what changed since docs/contribute/size.md
    Lines(lines::LinesArgs),
    /// Rewrite the generated pages of docs/reference and pkg/js/views.d.ts
    Docs,
    /// Take the README's screenshot and those of every page (target/screenshots)
    Screenshots,
}

/// The arguments of a command that `xtask-pack` parses.
#[derive(clap::Args)]
struct ForwardedArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn main() -> ExitCode {
    xtask::step::ended(run(&Args::parse().command))
}

fn run(command: &XtaskCommand) -> Result<()> {
    let root = root();
    match command {
        XtaskCommand::View(args) => view::run_view(&root, args),
        XtaskCommand::Test(args) => test::run_tests(&root, args),
        XtaskCommand::Lint => lint::run_lint(&root),
        XtaskCommand::Audit => lint::audit(&root),
        XtaskCommand::Ci => {
            lint::run_lint(&root)?;
            lines::print(&root, &lines::LinesArgs::default())?;
            // Before the tests: a dead link is found in minutes, and the tests use the viewer that is built here.
            site::build(&root)?;
            test::run_tests(&root, &test::TestArgs::all())?;
            fuzz::run_fuzz(&root, &fuzz::FuzzArgs::brief())
        }
        XtaskCommand::Bundle => {
            println!("{}", view::bundle(&root)?.display());
            Ok(())
        }
        XtaskCommand::Site => {
            println!("{}", site::build(&root)?.display());
            Ok(())
        }
        XtaskCommand::Pkg => {
            pack::build(&root)?;
            println!("{}", pack::package(&root, WASM_PROFILE)?.display());
            Ok(())
        }
        XtaskCommand::Install => packed(&root, "install", &[]),
        XtaskCommand::Dist(args) => packed(&root, "dist", &args.args),
        XtaskCommand::Bench(args) => bench::run_bench(&root, args),
        XtaskCommand::Soak => test::soak(&root),
        XtaskCommand::Sweep => test::sweep(&root),
        XtaskCommand::Fuzz(args) => fuzz::run_fuzz(&root, args),
        XtaskCommand::Lines(args) => lines::print(&root, args),
        XtaskCommand::Docs => test::write_docs(&root),
        XtaskCommand::Screenshots => test::screenshots(&root),
    }
}

/// Builds `xtask-pack`, and calls a command of it.
fn packed(root: &Path, command: &str, args: &[OsString]) -> Result<()> {
    pack::build(root)?;
    pack::call(root, command, args)
}
