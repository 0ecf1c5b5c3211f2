//! `cargo xtask fuzz`: builds and runs the fuzz targets with the stable toolchain.
//!
//! `cargo fuzz` needs a nightly toolchain only for sanitizers. libFuzzer is guided by coverage, which stable Rust can
//! compile in through an LLVM pass. So the targets are built without sanitizers, and clang adds the same coverage to
//! SQLite's C. (With cargo-fuzz installed: `cargo fuzz run -s none TARGET`.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use xtask::cargo::{cargo, host, target};
use xtask::setup;
use xtask::step::{run, step};

/// The fuzz targets. Each has a file in fuzz/targets and a folder in fuzz/seeds.
const TARGETS: [&str; 9] = [
    "state_md",
    "compact_log",
    "binding",
    "program",
    "timeout",
    "sqlite",
    "record",
    "share",
    "receipts",
];

/// Flags that count edges of Rust code, as in cargo-fuzz.
const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // With several codegen units, the linker would drop the counters of each unit that it drops.
    "-Ccodegen-units=1",
];

/// The compiler flags that count edges of C code.
const C_COVERAGE: &str = "-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp";

/// The longest input in bytes: a database of a few pages.
const LONGEST: &str = "16384";

/// The names of the core's property tests, whose properties hold for any input.
const PROPERTIES: [&str; 1] = ["what_was_kept_tells_the_same"];

/// Seconds after which an input counts as hanging. Opening a file may take two seconds of processor time. libFuzzer
/// measures wall-clock time, which is longer on a busy machine and with counters.
const SLOWEST: &str = "60";

/// The maximum memory of a fuzzing process, in megabytes. Opening a file may take 256 of these.
const LARGEST: &str = "1024";

#[derive(clap::Args)]
pub(crate) struct FuzzArgs {
    /// Run only this target: state_md, compact_log, binding, program, timeout, sqlite, record, share, receipts
    #[arg(value_parser = TARGETS)]
    target: Option<String>,

    /// Seconds for each target; findings are kept in target/fuzz and tried first the next time
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,

    /// Seed of the random inputs: the same seed tries the same inputs, as far as the time allows
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
}

impl FuzzArgs {
    /// Returns the arguments for CI: all targets, 10 seconds each, with a fixed seed.
    pub(crate) fn brief() -> FuzzArgs {
        FuzzArgs {
            target: None,
            seconds: 10,
            seed: Some(1),
        }
    }
}

/// Builds the targets, and runs each on its seeds and on mutations of them.
///
/// # Errors
/// If something cannot be installed or built, or an input breaks a target. The output then contains the name of the
/// target and the input's file.
pub(crate) fn run_fuzz(root: &Path, args: &FuzzArgs) -> Result<()> {
    let folder = target(root).join("fuzz");
    step(
        "Building the fuzz targets (3 minutes the first time)",
        || build(root, &folder),
    )?;
    let targets = TARGETS.iter().copied();
    for name in targets.filter(|name| args.target.as_deref().is_none_or(|only| only == *name)) {
        step(&format!("Fuzzing {name} for {} s", args.seconds), || {
            fuzz(root, &folder, name, args)
        })?;
    }
    match args.target {
        None => step("Trying the properties of runs", || properties(root, args)),
        Some(_) => Ok(()),
    }
}

/// Tests the core's properties with random cases, 10,000 of each in the default minute.
fn properties(root: &Path, args: &FuzzArgs) -> Result<()> {
    let cases = args.seconds.saturating_mul(167).to_string();
    let seed = args.seed.map(|seed| ("PROSE_SEED", seed.to_string()));
    run(cargo(root)
        .args(["test", "--package", "prosescope-core", "--lib", "--"])
        .args(PROPERTIES)
        .env("PROSE_CASES", cases)
        .envs(seed))
}

fn build(root: &Path, folder: &Path) -> Result<()> {
    let clang = setup::clang()?;
    // The host is given as `--target`, because cargo then compiles build scripts and macros without counters.
    let host = host()?;
    run(cargo(root)
        .args(["build", "--release", "--manifest-path"])
        .arg(root.join("fuzz/Cargo.toml"))
        .args(["--target", &host, "--target-dir"])
        .arg(folder)
        .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"))
        .env(format!("CC_{}", host.replace('-', "_")), clang)
        .env(format!("CFLAGS_{}", host.replace('-', "_")), C_COVERAGE))
}

fn fuzz(root: &Path, folder: &Path, name: &str, args: &FuzzArgs) -> Result<()> {
    let program = folder.join(host()?).join("release").join(name);
    let (corpus, found) = (made(folder, "corpus", name)?, made(folder, "found", name)?);
    let seeds = root.join("fuzz/seeds").join(name);
    ensure!(seeds.is_dir(), "{} is missing", seeds.display());
    run(Command::new(program)
        // libFuzzer adds new inputs to the first folder and leaves the seeds unchanged.
        .arg(corpus)
        .arg(seeds)
        .args(args.seed.map(|seed| format!("-seed={seed}")))
        .arg(format!("-max_total_time={}", args.seconds))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-timeout={SLOWEST}"))
        .arg(format!("-rss_limit_mb={LARGEST}"))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args(["-print_final_stats=1", "-verbosity=0"]))
    .with_context(|| {
        format!(
            "the input that broke the target is in {}; once the bug is fixed, keep the input in fuzz/seeds/{name}",
            found.display()
        )
    })
}

fn made(folder: &Path, what: &str, name: &str) -> Result<PathBuf> {
    let path = folder.join(what).join(name);
    fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_target_is_named_and_has_seeds() {
        let root = crate::root();
        let listed: BTreeSet<String> = TARGETS.iter().map(|name| (*name).to_owned()).collect();
        let seeds: BTreeSet<String> = fs::read_dir(root.join("fuzz/seeds"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(seeds, listed);
        let manifest = fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let bins = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("name = "));
        let bins: BTreeSet<String> = bins
            .skip(1)
            .map(|name| name.trim_matches('"').to_owned())
            .collect();
        assert_eq!(bins, listed);
    }
}
