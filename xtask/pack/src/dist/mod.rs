//! `cargo xtask dist`: builds the files of a release, in target/dist.
//!
//! ```text
//! viewer.html ─┬─► prosescope (each Linux target) ─► prosescope-TARGET.tar.xz ─┐
//! licenses ────┘         └─► manual pages, completions                         ├─► formula ─► SHA256SUMS
//! pkg/dist ─► prosescope-VERSION.tgz     packaging/* ─► installers, Containerfile, SBOM ─┘
//! prosescope-TARGET.tar.xz ─► prosescope-cli-SYSTEM-VERSION.tgz   viewer.html, licenses, crates ─► NAME-VERSION.crate
//! ```
//!
//! Programs for macOS and Windows are built on those systems (`--only`), and this command adds them to the release
//! (`--with`).

mod archive;
mod check;
mod crates;
mod files;
pub(crate) mod libraries;
pub(crate) mod licenses;
mod npm;
pub(crate) mod program;
mod sbom;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::bundle::emptied;
use crate::{bundle, pkg};
use libraries::{NPM, Product, VIEWER};
use program::EmbeddedFiles;
use xtask::cargo::{self, WASM_PROFILE};
use xtask::step::step;

/// The targets that can be built on every Linux machine. Their programs are linked statically.
const LINUX: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// The targets that are built only on their own systems, because linking needs libraries of those systems.
const ELSEWHERE: [&str; 3] = [
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

#[derive(clap::Args)]
pub(crate) struct DistArgs {
    /// Build only the archive for this target, as on machines with other systems
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["with", "check"])]
    only: Option<String>,
    /// Add the archives built by other machines, from this folder
    #[arg(long, value_name = "FOLDER")]
    with: Option<PathBuf>,
    /// Embed this viewer, built by another machine
    #[arg(long, value_name = "FILE")]
    viewer: Option<PathBuf>,
    /// Check the result afterwards: unpack, use and install it in an empty environment
    #[arg(long)]
    check: bool,
}

/// Builds the files of a release, and replaces target/dist once they are complete.
///
/// # Errors
/// If a tool is missing and cannot be installed, something cannot be built, or a file contains a path of this
/// machine.
pub(crate) fn run_dist(root: &Path, args: &DistArgs) -> Result<()> {
    tools::archives()?;
    let dist = cargo::target(root).join("dist");
    let new = dist.with_extension("new");
    emptied(&new)?;
    let viewer = match &args.viewer {
        Some(viewer) => {
            fs::canonicalize(viewer).with_context(|| format!("looking for {}", viewer.display()))?
        }
        None => bundle::viewer(root, WASM_PROFILE)?,
    };
    match &args.only {
        Some(target) => drop(archives(root, &[target], &viewer, &new)?),
        None => {
            let embedded = archives(root, &LINUX, &viewer, &new)?;
            others(root, args.with.as_deref(), &embedded, &new)?;
        }
    }
    replace(&new, &dist)?;
    report(&dist, args.only.is_none())?;
    if args.check {
        check::check(root, &dist)
    } else {
        Ok(())
    }
}

/// Builds and packs the program for each target. Returns the files that the programs embed.
fn archives(root: &Path, targets: &[&str], viewer: &Path, new: &Path) -> Result<EmbeddedFiles> {
    let (text, licenses) = step("Collecting licenses", || {
        licenses::of_programs(root, targets)
    })?;
    let embedded = EmbeddedFiles {
        viewer: viewer.to_owned(),
        licenses,
    };
    let mut programs = Vec::new();
    for target in targets {
        programs.push((target, program::build(root, target, &embedded)?));
    }
    let beside = tempfile::tempdir()?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root.join(file), beside.path().join(file))?;
    }
    fs::write(beside.path().join(licenses::FILE), &text)?;
    step("Packing the archives", || {
        let here = programs.iter().find(|(target, _)| runs_here(target));
        let (_, here) = here.context(
            "the manual pages need a program that runs on this machine, and no such program was built",
        )?;
        archive::describe(here, beside.path())?;
        let time = archive::time(root);
        for (target, program) in &programs {
            archive::pack(target, program, beside.path(), time, new)?;
        }
        Ok(())
    })?;
    fs::write(new.join(licenses::FILE), text)?;
    Ok(embedded)
}

/// Returns whether this machine can run programs for a target.
fn runs_here(target: &str) -> bool {
    use std::env::consts::{ARCH, OS};
    let system = if OS == "macos" { "darwin" } else { OS };
    target.starts_with(ARCH) && target.contains(system)
}

/// Builds all files of a release except the archives of Linux. Copies the archives for other systems from the folder
/// `with`.
fn others(root: &Path, with: Option<&Path>, embedded: &EmbeddedFiles, new: &Path) -> Result<()> {
    if let Some(with) = with {
        for name in files::names(with)? {
            if archive::target(&name).is_some_and(|target| ELSEWHERE.contains(&target)) {
                fs::copy(with.join(&name), new.join(&name))?;
            }
        }
    }
    fs::copy(&embedded.viewer, new.join("viewer.html"))?;
    let package = pkg::build(root, WASM_PROFILE, &embedded.viewer)?;
    for name in files::names(&package)? {
        program::names_no_folder(root, &package.join(name))?;
    }
    step("Packing the npm packages", || {
        npm::pack(&package, new)?;
        npm::pack_programs(root, new)
    })?;
    step("Packing the crates", || {
        crates::pack(root, &embedded.viewer, &embedded.licenses, new)
    })?;
    step("Writing installers, formula, SBOM and sums", || {
        files::fill_all(root, new)?;
        let products = [
            VIEWER,
            NPM,
            Product::program(LINUX[0]),
            Product::program(LINUX[1]),
        ];
        fs::write(
            new.join("prosescope.cdx.json"),
            sbom::list(root, &products)?,
        )?;
        files::formula(new)?;
        for name in files::names(new)? {
            program::names_no_folder(root, &new.join(name))?;
        }
        files::sums(new)
    })
}

/// Replaces the folder of the previous release by the new one.
fn replace(new: &Path, dist: &Path) -> Result<()> {
    let old = dist.with_extension("old");
    if dist.exists() {
        fs::rename(dist, &old).with_context(|| format!("moving {}", dist.display()))?;
    }
    fs::rename(new, dist).with_context(|| format!("moving {}", new.display()))?;
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("removing {}", old.display()))
    } else {
        Ok(())
    }
}

/// Prints the built files, and the archives that a complete release still lacks.
fn report(dist: &Path, whole: bool) -> Result<()> {
    let names = files::names(dist)?;
    println!("{}", dist.display());
    for name in &names {
        let size = fs::metadata(dist.join(name))?.len();
        println!("{:>12} {name}", size);
    }
    let missing = ELSEWHERE
        .iter()
        .filter(|target| whole && !names.contains(&archive::name(target)));
    for target in missing {
        println!(
            "not built here: {target} needs a machine of that system (docs/contribute/release.md)"
        );
    }
    if !files::has_address() {
        println!(
            "not ready for the public: {} is a placeholder; set `repository` in Cargo.toml to the project's address",
            files::REPOSITORY
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_folder_takes_the_place_of_the_one_before_it() {
        let work = tempfile::tempdir().unwrap();
        let (new, dist): (PathBuf, PathBuf) =
            (work.path().join("dist.new"), work.path().join("dist"));
        for text in ["one", "two"] {
            emptied(&new).unwrap();
            fs::write(new.join(text), text).unwrap();
            replace(&new, &dist).unwrap();
            assert_eq!(files::names(&dist).unwrap(), [text]);
        }
        assert_eq!(files::names(work.path()).unwrap(), ["dist"]);
    }
}
