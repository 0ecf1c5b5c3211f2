//! Installs the program from the packed crates, as `cargo install prosescope` would from a registry, and compiles their tests.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use super::root::Root;
use super::{RUN, SHOWN, contains, said, serves_the_viewer};
use crate::cargo::cargo;
use crate::dist::{archive, crates, files};
use crate::step::run;

/// Makes cargo take every crate from a folder instead of a registry.
const SOURCE: &str =
    "[source.crates-io]\nreplace-with = \"packed\"\n\n[source.packed]\ndirectory = \"/registry\"\n";

/// Where both builds below put what they compile.
const TARGET: &str = "/work/target";

/// Installs and uses the program in an empty root.
pub(super) fn install(root: &Path, dist: &Path, alone: &Root) -> Result<()> {
    let registry = alone.path("registry");
    // What it prints is a configuration that is written below.
    run(cargo(root)
        .args(["vendor", "--locked", "--quiet"])
        .arg(&registry)
        .stdout(Stdio::null()))?;
    for package in crates::published(root)? {
        let packed = dist.join(crates::file_name(&package));
        archive::unpack_crate(&packed, &registry)?;
        // A folder stands for a registry if each crate in it has its sum.
        let sum = Sha256::digest(fs::read(&packed)?);
        let sums = format!("{{\"files\":{{}},\"package\":\"{sum:x}\"}}");
        let unpacked = registry.join(format!("{}-{}", package.name, package.version));
        fs::write(unpacked.join(".cargo-checksum.json"), sums)?;
    }
    fs::create_dir(alone.path("home/.cargo"))?;
    fs::write(alone.path("home/.cargo/config.toml"), SOURCE)?;

    // Optimising what is tried for a moment would take three times as long.
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
    contains(&said(&mut program(&["licenses"]))?, "- leptos ")?;
    serves_the_viewer(&mut program(&["view", RUN]))
}

/// Compiles the tests of each crate outside of the workspace, after [`install`] there.
pub(super) fn tests(root: &Path, dist: &Path, alone: &Root) -> Result<()> {
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
