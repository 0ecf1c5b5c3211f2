//! `cargo xtask bench`: builds what is measured as people use it, then measures it (`tests/src/bench`).
//!
//! It is no part of the tests or of CI. What this machine lacks is not fatal: the parts that need it say so and are
//! left out.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::cargo::cargo;
use crate::setup;
use crate::step::{run, step};
use crate::test::PROSE;
use crate::view::{self, VIEWER_HTML, target};

/// Parts that need neither the viewer nor npm's packages.
const NATIVE_ONLY: [&str; 8] = [
    "get", "fold", "scope", "runs", "record", "postgres", "server", "moving",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these parts.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "get,fold,scope,runs,record,postgres,server,moving,share,open,browse,scroll,size"
    )]
    only: Vec<String>,
    /// Small sizes and few repetitions: whether it works.
    #[arg(long)]
    quick: bool,
    /// Megabytes of the run that `moving` moves [default: 100].
    #[arg(long, value_name = "MB")]
    size: Option<u32>,
}

/// Builds and measures.
///
/// # Errors
/// When something does not build, or the measuring fails.
pub(crate) fn run_bench(root: &Path, args: &Args) -> Result<()> {
    let native = !args.only.is_empty()
        && args
            .only
            .iter()
            .all(|part| NATIVE_ONLY.contains(&part.as_str()));
    let viewer = if native {
        None
    } else {
        // A machine without a browser still measures the rest.
        setup::tests(root).unwrap_or_else(|e| eprintln!("{e:#}"));
        view::bundle(root).map_err(|e| eprintln!("{e:#}")).ok()
    };
    step(
        "Building prosescope and the measuring program, optimised",
        || {
            let mut build = cargo(root);
            build.args([
                "build",
                "--release",
                "-p",
                "prosescope-cli",
                "-p",
                "prosescope-tests",
                "--bins",
            ]);
            if let Some(viewer) = &viewer {
                build.env(VIEWER_HTML, viewer);
            }
            run(&mut build)
        },
    )?;
    let program = |name: &str| {
        target(root)
            .join("release")
            .join(name)
            .with_extension(std::env::consts::EXE_EXTENSION)
    };
    let mut bench = Command::new(program("bench"));
    bench.env(PROSE, program("prosescope")).args(&args.only);
    if let Some(viewer) = &viewer {
        bench.env(VIEWER_HTML, viewer);
    }
    if let Some(size) = args.size {
        bench.env("PROSE_BENCH_MB", size.to_string());
    }
    if args.quick {
        bench.arg("--quick");
    }
    run(&mut bench)
}
