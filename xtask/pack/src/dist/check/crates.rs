//! Checks the packed crates: installs the program from them, as `cargo install prosescope` would from a registry, and
//! compiles their tests.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use super::root::TemporaryRoot;
use super::{RUN, SHOWN, contains, said, serves_the_viewer};
use crate::dist::{archive, crates, files};
use xtask::cargo::cargo;
use xtask::step::run;

/// The configuration of cargo that replaces the registry by a folder.
const SOURCE: &str =
    "[source.crates-io]\nreplace-with = \"packed\"\n\n[source.packed]\ndirectory = \"/registry\"\n";

/// The target folder of both builds: of the program and of the tests.
const TARGET: &str = "/work/target";

/// Installs and uses the program in an empty root.
pub(super) fn install(root: &Path, dist: &Path, alone: &TemporaryRoot) -> Result<()> {
    let registry = alone.path("registry");
    // `cargo vendor` prints a configuration. It is not used, because this function writes [`SOURCE`] instead.
    run(cargo(root)
        .args(["vendor", "--locked", "--quiet"])
        .arg(&registry)
        .stdout(Stdio::null()))?;
    for package in crates::published(root)? {
        let packed = dist.join(crates::file_name(&package));
        archive::unpack_crate(&packed, &registry)?;
        // Cargo accepts a folder as a registry if each crate in the folder has its checksum.
        let sum = Sha256::digest(fs::read(&packed)?);
        let sums = format!("{{\"files\":{{}},\"package\":\"{sum:x}\"}}");
        let unpacked = registry.join(format!("{}-{}", package.name, package.version));
        fs::write(unpacked.join(".cargo-checksum.json"), sums)?;
    }
    fs::create_dir(alone.path("home/.cargo"))?;
    fs::write(alone.path("home/.cargo/config.toml"), SOURCE)?;

    // The build is not optimised: optimising takes three times as long, and the program runs only briefly.
    let mut install = alone.command("/work", &["cargo", "install", "prosescope"]);
    run(install
        .args(["--offline", "--locked", "--debug", "--root", "/home/.local"])
        .args(["--target-dir", TARGET]))?;

    archive::copy_all(&root.join("examples"), &alone.path("work/examples"))?;
    let program = |args: &[&str]| {
        let all = [&["/home/.local/bin/prosescope"], args].concat();
        alone.command("/work/examples", &all)
    };
    contains(&said(&mut program(&["--version"]))?, files::VERSION)?;
    contains(&said(&mut program(&["show", RUN]))?, SHOWN)?;
    contains(&said(&mut program(&["help", "licenses"]))?, "- leptos ")?;
    serves_the_viewer(&mut program(&["view", RUN]))
}

/// Compiles the tests of each crate outside of the workspace. [`install`] must run before, because it fills the
/// registry from which the tests are compiled.
pub(super) fn tests(root: &Path, dist: &Path, alone: &TemporaryRoot) -> Result<()> {
    let folder = alone.path("work/crates");
    fs::create_dir(&folder)?;
    let mut manifest =
        String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n");
    for package in crates::published(root)? {
        archive::unpack_crate(&dist.join(crates::file_name(&package)), &folder)?;
        let (name, version) = (&package.name, &package.version);
        let _ = writeln!(manifest, "{name} = {{ path = \"{name}-{version}\" }}");
    }
    fs::write(folder.join("Cargo.toml"), manifest).context("writing the workspace of crates")?;
    run(alone
        .command("/work/crates", &["cargo", "test", "--no-run", "--offline"])
        .args(["--quiet", "--target-dir", TARGET]))
}
