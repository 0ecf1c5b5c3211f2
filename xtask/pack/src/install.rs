//! `cargo xtask install`: installs `prosescope` where cargo installs programs, and its second name `prose` beside it.
//!
//! OpenProse calls the commands `prose gates` and `prose approve`. Another tool is also called `prose`; if it is
//! installed, the second name is left out, because it would hide that tool.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::bundle;
use crate::dist::{licenses, program::LICENSES};
use xtask::cargo::{self, VIEWER_HTML, WASM_PROFILE, cargo, target};
use xtask::step::{run, step};

/// Installs both names, and prints whether the second one was installed.
///
/// # Errors
/// If the build fails, or the second name is free and cannot be created.
pub(crate) fn run_install(root: &Path) -> Result<()> {
    let bin = bin()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Copies of an earlier version are found before the new version replaces that version.
    let other = other(&bin, std::env::split_paths(&path));
    let viewer = bundle::viewer(root, WASM_PROFILE)?;
    let (_, licenses) = licenses::of_programs(root, &[&cargo::host()?])?;
    step("Installing prosescope (optimised build)", || {
        run(cargo(root)
            .args(["install", "--locked", "--force", "--path", "cli"])
            .env("CARGO_TARGET_DIR", target(root))
            .env(VIEWER_HTML, viewer)
            .env(LICENSES, licenses))
    })?;
    println!("{}", name_twice(&bin, other.as_deref())?);
    Ok(())
}

/// Returns the folder in which `cargo install` puts programs, unless its configuration file sets `install.root`.
fn bin() -> Result<PathBuf> {
    let root = std::env::var_os("CARGO_INSTALL_ROOT").map(PathBuf::from);
    let root = root.or_else(cargo::home).context("no home folder")?;
    Ok(root.join("bin"))
}

/// The names under which a shell finds a program called `prose`.
#[cfg(not(windows))]
const NAMES: &[&str] = &["prose"];
#[cfg(windows)]
const NAMES: &[&str] = &["prose.com", "prose.exe", "prose.bat", "prose.cmd"];

/// Returns the path of `prosescope` or `prose` in a folder.
fn program(bin: &Path, name: &str) -> PathBuf {
    bin.join(name)
        .with_extension(std::env::consts::EXE_EXTENSION)
}

/// Returns the first program called `prose`, in a folder or in PATH, that is neither a link to the `prosescope` of the
/// folder nor a copy of it. No program is run for this.
fn other(bin: &Path, path: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let ours = program(bin, "prosescope");
    let is_ours = |named: &Path| {
        fs::canonicalize(named).ok() == fs::canonicalize(&ours).ok()
            || fs::read(named)
                .ok()
                .is_some_and(|bytes| fs::read(&ours).is_ok_and(|ours| ours == bytes))
    };
    std::iter::once(bin.to_owned())
        .chain(path)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|named| is_program(named) && !is_ours(named))
}

/// Returns whether a shell would run this file; links are followed.
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && is_executable(&meta))
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// Creates the second name of the `prosescope` in a folder, unless another program has the name. Returns a sentence
/// with the result and the reason.
fn name_twice(bin: &Path, other: Option<&Path>) -> Result<String> {
    if let Some(other) = other {
        return Ok(format!(
            "The second name `prose` was not installed: {} is another program (its file was read, not run). Call `prosescope`, also where OpenProse says `prose gates` or `prose approve`.",
            other.display()
        ));
    }
    let (program, second) = (program(bin, "prosescope"), program(bin, "prose"));
    // Removes the link or copy of an earlier installation. A file that is not a program stays, and creating the link
    // fails.
    if is_program(&second) {
        fs::remove_file(&second).with_context(|| format!("cannot replace {}", second.display()))?;
    }
    link(&program, &second).with_context(|| format!("cannot make {}", second.display()))?;
    Ok(format!(
        "Installed the second name `prose` too, because no other program in PATH has this name: {} is the same program as {}.",
        second.display(),
        program.display()
    ))
}

/// Creates a symbolic link, because a link stays valid when cargo replaces the program.
#[cfg(unix)]
fn link(program: &Path, second: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program.file_name().unwrap_or(program.as_os_str()), second)
}

#[cfg(not(unix))]
fn link(program: &Path, second: &Path) -> std::io::Result<()> {
    fs::copy(program, second).map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(path: &Path, text: &[u8], mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns a folder with an installed `prosescope`.
    fn installed() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        file(&bin.join("prosescope"), b"a version", 0o755);
        (dir, bin)
    }

    /// Creates the second name, as an installation does.
    fn name(bin: &Path, path: &[PathBuf]) -> Result<String> {
        name_twice(bin, other(bin, path.iter().cloned()).as_deref())
    }

    #[test]
    fn the_second_name_is_installed_again_and_again_where_it_is_free() {
        let (dir, bin) = installed();
        // A file that is not executable does not take the name.
        file(&dir.path().join("other/prose"), b"notes", 0o644);
        let path = [dir.path().join("other"), bin.clone()];
        for _ in 0..2 {
            let said = name(&bin, &path).unwrap();
            assert!(said.starts_with("Installed"), "{said}");
            let link = fs::read_link(bin.join("prose")).unwrap();
            assert_eq!(link, Path::new("prosescope"));
        }
        // A copy of this program under the second name is replaced.
        fs::remove_file(bin.join("prose")).unwrap();
        fs::copy(bin.join("prosescope"), bin.join("prose")).unwrap();
        name(&bin, &path).unwrap();
        assert!(bin.join("prose").is_symlink());
        // A file of that name stays if it is not a program.
        fs::remove_file(bin.join("prose")).unwrap();
        file(&bin.join("prose"), b"notes", 0o644);
        assert!(name(&bin, &path).is_err());
        assert_eq!(fs::read(bin.join("prose")).unwrap(), b"notes");
    }

    #[test]
    fn another_prose_is_neither_replaced_nor_hidden_nor_run() {
        for place in ["bin", "other"] {
            let (dir, bin) = installed();
            let foreign = dir.path().join(place).join("prose");
            let ran = dir.path().join("ran");
            let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
            file(&foreign, script.as_bytes(), 0o755);
            let said = name(&bin, &[dir.path().join("other")]).unwrap();
            assert!(said.contains("was not installed"), "{said}");
            assert!(said.contains(&foreign.display().to_string()), "{said}");
            assert_eq!(fs::read(&foreign).unwrap(), script.as_bytes());
            assert_eq!(bin.join("prose").exists(), place == "bin");
            assert!(!ran.exists(), "it was run");
        }
    }
}
