//! `cargo xtask install`: installs `prosescope` where cargo installs programs, and its second name `prose` beside it.
//!
//! OpenProse calls the commands `prose gates` and `prose approve`. Another tool is also called `prose`; if it is
//! installed, the second name is left out, because it would hide that tool.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bundle;
use crate::dist::{licenses, program};
use crate::second_name::{is_ours, second_names};
use xtask::cargo::{self, VIEWER_HTML, WASM_PROFILE, cargo, target};
use xtask::step::{run, step};

/// Installs both names, and prints whether the second one was installed.
///
/// # Errors
/// If the build fails, or the second name is free and cannot be created.
pub(crate) fn run_install(root: &Path) -> Result<()> {
    let viewer = bundle::viewer(root, WASM_PROFILE)?;
    let (_, licenses) = licenses::of_programs(root, &[&cargo::host()?])?;
    step("Installing prosescope (optimised build)", || {
        run(cargo(root)
            .args(["install", "--locked", "--force", "--path", "cli"])
            .env("CARGO_TARGET_DIR", target(root))
            .env(VIEWER_HTML, viewer)
            .env(program::LICENSES, licenses))
    })?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    println!("{}", name_twice(&bin()?, std::env::split_paths(&path))?);
    Ok(())
}

/// Returns the folder in which `cargo install` puts programs, unless its configuration file sets `install.root`.
fn bin() -> Result<PathBuf> {
    let root = std::env::var_os("CARGO_INSTALL_ROOT").map(PathBuf::from);
    let root = root.or_else(cargo::home).context("no home folder")?;
    Ok(root.join("bin"))
}

/// Creates the second name of the `prosescope` in a folder, unless another program in that folder or in PATH has the
/// name. Returns a sentence with the result and the reason.
fn name_twice(bin: &Path, path: impl Iterator<Item = PathBuf>) -> Result<String> {
    let file = |name: &str| {
        bin.join(name)
            .with_extension(std::env::consts::EXE_EXTENSION)
    };
    let (program, second) = (file("prosescope"), file("prose"));
    ensure!(
        is_ours(&program).with_context(|| format!("cannot read {}", program.display()))?,
        "{} does not contain the mark of Prosescope (store/src/upkeep/second_name.rs)",
        program.display()
    );
    for (path, ours) in second_names(std::iter::once(bin.to_owned()).chain(path)) {
        let why = match ours {
            Ok(true) => continue,
            Ok(false) => "is another program (its file was read, not run)".to_owned(),
            Err(cause) => {
                format!("may be another program, because the file cannot be read ({cause})")
            }
        };
        return Ok(format!(
            "The second name `prose` was not installed: {} {why}. Call `prosescope`, also where OpenProse says `prose gates` or `prose approve`.",
            path.display()
        ));
    }
    // Removes the link of an earlier installation. If another program has the name, that program stays, and creating
    // the link fails.
    if is_ours(&second).unwrap_or(false) {
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

    fn program(path: &Path, text: &[u8], mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns a folder with a program that counts as an installed `prosescope`. The program is a copy of this test,
    /// because the test also contains the mark of Prosescope.
    fn installed() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        let ours = fs::read(std::env::current_exe().unwrap()).unwrap();
        program(&bin.join("prosescope"), &ours, 0o755);
        (dir, bin)
    }

    #[test]
    fn the_second_name_is_installed_again_and_again_where_it_is_free() {
        let (dir, bin) = installed();
        // A file that is not executable does not take the name.
        program(&dir.path().join("other/prose"), b"notes", 0o644);
        let path = || [dir.path().join("other"), bin.clone()].into_iter();
        for _ in 0..2 {
            let said = name_twice(&bin, path()).unwrap();
            assert!(said.starts_with("Installed"), "{said}");
            let link = fs::read_link(bin.join("prose")).unwrap();
            assert_eq!(link, Path::new("prosescope"));
        }
        // An older copy of this program under the second name is replaced.
        fs::remove_file(bin.join("prose")).unwrap();
        fs::copy(bin.join("prosescope"), bin.join("prose")).unwrap();
        name_twice(&bin, path()).unwrap();
        assert!(bin.join("prose").is_symlink());
        // A file of that name stays if it is not a program.
        fs::remove_file(bin.join("prose")).unwrap();
        program(&bin.join("prose"), b"notes", 0o644);
        assert!(name_twice(&bin, path()).is_err());
        assert_eq!(fs::read(bin.join("prose")).unwrap(), b"notes");
    }

    #[test]
    fn another_prose_is_neither_replaced_nor_hidden_nor_run() {
        for place in ["bin", "other"] {
            let (dir, bin) = installed();
            let foreign = dir.path().join(place).join("prose");
            let ran = dir.path().join("ran");
            let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
            program(&foreign, script.as_bytes(), 0o755);
            let said = name_twice(&bin, [dir.path().join("other")].into_iter()).unwrap();
            assert!(said.contains("was not installed"), "{said}");
            assert!(said.contains(&foreign.display().to_string()), "{said}");
            assert_eq!(fs::read(&foreign).unwrap(), script.as_bytes());
            assert_eq!(bin.join("prose").exists(), place == "bin");
            assert!(!ran.exists(), "it was run");
        }
    }
}
