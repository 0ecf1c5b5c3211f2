//! Builds the npm packages: the library, and one package with the program for each system. npm installs only the
//! package that fits the user's system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::files::{REPOSITORY, VERSION};
use super::{archive, licenses, program, tools};
use xtask::step::run;

/// A system for which there is a package, with npm's names for the system and its processor.
pub(crate) struct System {
    /// Rust's target triple for the system.
    pub(crate) target: &'static str,
    os: &'static str,
    cpu: &'static str,
}

/// The systems for which there are packages: those of pkg/js/package.json.
pub(crate) const SYSTEMS: [System; 5] = [
    system("aarch64-apple-darwin", "darwin", "arm64"),
    system("x86_64-apple-darwin", "darwin", "x64"),
    system("aarch64-unknown-linux-musl", "linux", "arm64"),
    system("x86_64-unknown-linux-musl", "linux", "x64"),
    system("x86_64-pc-windows-msvc", "win32", "x64"),
];

const fn system(target: &'static str, os: &'static str, cpu: &'static str) -> System {
    System { target, os, cpu }
}

impl System {
    /// Returns the name of the npm package with the program for this system.
    fn package(&self) -> String {
        format!("@prosescope/cli-{}-{}", self.os, self.cpu)
    }

    /// Returns the file name of the packed package.
    pub(crate) fn file_name(&self) -> String {
        format!("prosescope-cli-{}-{}-{VERSION}.tgz", self.os, self.cpu)
    }

    fn manifest(&self) -> Value {
        json!({
            "name": self.package(),
            "version": VERSION,
            "description": format!("The program prosescope for {} {}: install the package prosescope instead", self.os, self.cpu),
            "license": "MIT OR Apache-2.0",
            "author": env!("CARGO_PKG_AUTHORS"),
            "repository": { "type": "git", "url": format!("git+{REPOSITORY}.git") },
            "os": [self.os],
            "cpu": [self.cpu],
            // Makes Yarn unpack the package, because no system can start a program inside of a zip.
            "preferUnplugged": true,
        })
    }
}

/// Returns the file name of the packed library.
pub(crate) fn library() -> String {
    format!("prosescope-{VERSION}.tgz")
}

/// Packs a package's folder into another folder.
///
/// # Errors
/// When npm is missing and cannot be installed, or fails.
pub(crate) fn pack(package: &Path, into: &Path) -> Result<()> {
    run(Command::new(tools::npm()?)
        .args(["pack", "--ignore-scripts", "--loglevel", "error"])
        .arg("--pack-destination")
        .arg(into)
        .current_dir(package)
        .stdout(Stdio::null()))
}

/// Packs the program of each archive in a folder as an npm package in the same folder.
///
/// # Errors
/// When an archive cannot be unpacked, or npm fails.
pub(crate) fn pack_programs(root: &Path, folder: &Path) -> Result<()> {
    for system in &SYSTEMS {
        let archive = folder.join(archive::name(system.target));
        if archive.is_file() {
            let work = tempfile::tempdir()?;
            let package = program_package(root, system, &archive, work.path())?;
            pack(&package, folder)?;
        }
    }
    Ok(())
}

/// Creates the folder of a system's npm package in `work`, from the archive for that system.
fn program_package(root: &Path, system: &System, archive: &Path, work: &Path) -> Result<PathBuf> {
    archive::unpack(archive, work)?;
    let unpacked = work.join(format!("prosescope-{}", system.target));
    let package = work.join("package");
    let name = program::file_name(system.target);
    fs::create_dir_all(package.join("bin"))?;
    for (from, to) in [
        (unpacked.join(name), package.join("bin").join(name)),
        (unpacked.join(licenses::FILE), package.join(licenses::FILE)),
        (root.join("LICENSE-MIT"), package.join("LICENSE-MIT")),
        (root.join("LICENSE-APACHE"), package.join("LICENSE-APACHE")),
    ] {
        fs::copy(&from, to).with_context(|| format!("copying {}", from.display()))?;
    }
    let readme = format!(
        "# {}\n\nThe program `prosescope` for {} {}. Install the package `prosescope` instead: npm then installs this package on the right systems, and `npx prosescope` \
         starts the program.\n",
        system.package(),
        system.os,
        system.cpu
    );
    fs::write(package.join("README.md"), readme)?;
    let manifest = serde_json::to_string_pretty(&system.manifest())?;
    fs::write(package.join("package.json"), manifest + "\n")?;
    Ok(package)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_library_asks_for_the_package_of_each_system_in_its_own_version() {
        let text = fs::read_to_string(xtask::root().join("pkg/js/package.json")).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let asked: BTreeMap<String, String> =
            serde_json::from_value(manifest["optionalDependencies"].clone()).unwrap();
        let ours = SYSTEMS.iter().map(System::package);
        assert_eq!(
            asked,
            ours.map(|name| (name, "@VERSION@".to_owned())).collect()
        );
        assert_eq!(manifest["bin"]["prosescope"], "cli.js");
        let scripts = manifest["scripts"].as_object();
        assert!(scripts.is_none_or(|scripts| !scripts.contains_key("postinstall")));
    }
}
