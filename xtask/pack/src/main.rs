//! `xtask-pack`: makes the viewer's page, the JavaScript package, the installed program and releases of compiled
//! modules. `cargo xtask` calls it; see the library `xtask` for why it is a program of its own.

mod bundle;
#[path = "../../../share/src/dense.rs"]
#[allow(dead_code, unreachable_pub)] // the crate `share` uses the rest of this file
mod dense;
mod dist;
mod install;
mod order;
mod pkg;
mod wasm;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::cargo::{QUICK_WASM, WASM_PROFILE};

/// Make files of compiled modules
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct PackArgs {
    #[command(subcommand)]
    command: PackCommand,
}

#[derive(Subcommand)]
enum PackCommand {
    /// Build the viewer: one HTML file
    Viewer(Profile),
    /// Build the JavaScript package, with the viewer, into pkg/dist
    Pkg(Profile),
    /// Install `prosescope`, with the viewer inside, where cargo installs programs
    Install,
    /// Build the files of a release in target/dist: static programs for Linux, the viewer, the npm package,
    /// installers, licenses, checksums
    Dist(dist::DistArgs),
}

#[derive(clap::Args)]
struct Profile {
    /// Compile faster, into larger files
    #[arg(long)]
    quick: bool,
}

impl Profile {
    fn name(&self) -> &'static str {
        if self.quick { QUICK_WASM } else { WASM_PROFILE }
    }
}

fn main() -> ExitCode {
    xtask::step::ended(run(&PackArgs::parse().command))
}

fn run(command: &PackCommand) -> Result<()> {
    let root = xtask::root();
    match command {
        PackCommand::Viewer(profile) => bundle::viewer(&root, profile.name()).map(drop),
        PackCommand::Pkg(profile) => {
            let viewer = bundle::viewer(&root, profile.name())?;
            pkg::build(&root, profile.name(), &viewer).map(drop)
        }
        PackCommand::Install => install::run_install(&root),
        PackCommand::Dist(args) => dist::run_dist(&root, args),
    }
}
