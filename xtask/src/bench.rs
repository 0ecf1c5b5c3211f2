//! `cargo xtask bench`: builds the programs as released, and measures them (`tests/src/bench`).
//!
//! Benchmarks are not part of the tests or of CI. If an external program is missing, the parts of the benchmark that
//! need this program print a note and are skipped.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::test::PROSE;
use crate::view;
use xtask::cargo::{VIEWER_HTML, cargo, target};
use xtask::setup;
use xtask::step::{run, step};

/// The parts of the benchmark that need neither the viewer nor npm's packages.
const NATIVE_ONLY: [&str; 8] = [
    "get", "fold", "scope", "runs", "record", "postgres", "server", "moving",
];

#[derive(clap::Args)]
pub(crate) struct BenchArgs {
    /// Run only these parts
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "get,fold,scope,runs,record,postgres,server,moving,share,open,browse,scroll,size"
    )]
    only: Vec<String>,
    /// Use small sizes and few repetitions, to check that the measuring works
    #[arg(long)]
    quick: bool,
    /// Size of the run that `moving` moves, in megabytes [default: 100]
    #[arg(long, value_name = "MB")]
    size: Option<u32>,
}

/// Builds the programs, optimised, and runs the benchmark.
///
/// # Errors
/// If something cannot be built, or the measuring program fails.
pub(crate) fn run_bench(root: &Path, args: &BenchArgs) -> Result<()> {
    let native = !args.only.is_empty()
        && args
            .only
            .iter()
            .all(|part| NATIVE_ONLY.contains(&part.as_str()));
    let viewer = if native {
        None
    } else {
        // If the tests' tools, such as a browser, are missing, the other parts are still measured.
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
                "prosescope",
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
