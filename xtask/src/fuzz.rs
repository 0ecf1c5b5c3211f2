//! `cargo xtask fuzz`: the fuzz targets, on the toolchain that everything else uses.
//!
//! `cargo fuzz` wants a nightly for its sanitizers alone. Coverage, which is what guides libFuzzer, is a pass of LLVM that
//! stable takes by name; so the targets are built plainly, and SQLite's C is counted by clang the same way. (Whoever has
//! cargo-fuzz: `cargo fuzz run -s none TARGET`.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{cargo, host};
use crate::setup;
use crate::step::{run, step};
use crate::view::target;

/// All targets; each is a file of fuzz/targets, and has a folder of fuzz/seeds.
const TARGETS: [&str; 8] = [
    "state_md",
    "compact_log",
    "binding",
    "program",
    "timeout",
    "sqlite",
    "record",
    "share",
];

/// Counts edges of Rust code, as cargo-fuzz does.
const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // The counters of several units of a crate would be dropped by the linker with the units.
    "-Ccodegen-units=1",
];

/// The same for C.
const C_COVERAGE: &str = "-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp";

/// The longest input that is tried: a database of some pages.
const LONGEST: &str = "16384";

/// Properties that hold for any case.
const PROPERTIES: [&str; 3] = [
    "any_run_renders_to_a_run_that_renders_the_same",
    "a_run_cut_anywhere_comes_back_from_its_state_file",
    "what_was_kept_tells_the_same",
];

/// Seconds after which an input hangs. An opened file may take two seconds of processor time; libFuzzer counts wall time,
/// of which a busy machine takes more, and counting takes its part.
const SLOWEST: &str = "60";

/// Megabytes that the process may hold; a file may take 256.
const LARGEST: &str = "1024";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this one: state_md, compact_log, binding, program, timeout, sqlite, record, share.
    #[arg(value_parser = TARGETS)]
    target: Option<String>,

    /// How long each target runs. What it finds is kept in target/fuzz and tried first the next time.
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,

    /// Where chance begins: with the same one the same inputs are tried, as far as the time goes.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
}

impl Args {
    /// What CI runs.
    pub(crate) fn brief() -> Args {
        Args {
            target: None,
            seconds: 10,
            seed: Some(1),
        }
    }
}

/// Builds the targets, tries all seeds, then what comes of them.
///
/// # Errors
/// When something cannot be installed or built, or an input breaks a target: the output says which, and where it lies.
pub(crate) fn run_fuzz(root: &Path, args: &Args) -> Result<()> {
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

/// Tries the core's properties with cases that its tests do not have: 10,000 of each in the usual minute.
fn properties(root: &Path, args: &Args) -> Result<()> {
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
    // A target is named so that build scripts and macros are not counted.
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

fn fuzz(root: &Path, folder: &Path, name: &str, args: &Args) -> Result<()> {
    let program = folder.join(host()?).join("release").join(name);
    let (corpus, found) = (made(folder, "corpus", name)?, made(folder, "found", name)?);
    let seeds = root.join("fuzz/seeds").join(name);
    ensure!(seeds.is_dir(), "{} is missing", seeds.display());
    run(Command::new(program)
        // What is new goes into the first, the seeds stay as they are.
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
            "what broke it lies in {}; once it is solved, keep it in fuzz/seeds/{name}",
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
