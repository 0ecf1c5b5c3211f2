//! Packs the program, its manual pages, completions and licenses into an archive for a target. The same files give
//! the same bytes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use super::program::file_name;
use xtask::step::run;

/// Returns the file name of a target's archive.
pub(crate) fn name(target: &str) -> String {
    match target.contains("windows") {
        true => format!("prosescope-{target}.zip"),
        false => format!("prosescope-{target}.tar.xz"),
    }
}

/// Returns the target in the file name of an archive; `None` for other files.
pub(crate) fn target(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("prosescope-")?;
    rest.strip_suffix(".tar.xz")
        .or_else(|| rest.strip_suffix(".zip"))
}

/// Packs a program and the files beside it into `into`, in one top folder, and returns the archive's path.
///
/// # Errors
/// If a file cannot be copied, or `tar` fails.
pub(crate) fn pack(
    target: &str,
    program: &Path,
    beside: &Path,
    time: SystemTime,
    into: &Path,
) -> Result<PathBuf> {
    let work = tempfile::tempdir()?;
    let top = format!("prosescope-{target}");
    let folder = work.path().join(&top);
    copy_all(beside, &folder)?;
    fs::copy(program, folder.join(file_name(target)))?;
    set_times(&folder, time)?;
    let archive = into.join(name(target));
    let mut tar = Command::new("tar");
    if cfg!(target_os = "linux") {
        tar.args([
            "--format=ustar",
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
        ])
        .env("XZ_OPT", "-9e");
    }
    tar.arg(if target.contains("windows") {
        "-acf"
    } else {
        "-cJf"
    })
    .arg(&archive)
    .arg("-C")
    .arg(work.path())
    .arg(&top);
    run(&mut tar)?;
    Ok(archive)
}

/// Unpacks an archive into a folder.
///
/// # Errors
/// If `tar` or Python is missing, or fails.
pub(crate) fn unpack(archive: &Path, into: &Path) -> Result<()> {
    let mut unpack = match archive.extension().is_some_and(|end| end == "zip") {
        // GNU's tar cannot read a zip.
        true => {
            let mut python = Command::new("python3");
            python.args(["-m", "zipfile", "-e"]).arg(archive).arg(into);
            python
        }
        false => {
            let mut tar = Command::new("tar");
            tar.arg("-xf").arg(archive).arg("-C").arg(into);
            tar
        }
    };
    run(&mut unpack)
}

/// Unpacks a crate into a folder.
///
/// # Errors
/// When `tar` fails.
pub(crate) fn unpack_crate(packed: &Path, into: &Path) -> Result<()> {
    run(Command::new("tar")
        .arg("-xzf")
        .arg(packed)
        .arg("-C")
        .arg(into))
}

/// Returns the time of the built commit. Without git, returns a time that every archive format can store.
pub(crate) fn time(root: &Path) -> SystemTime {
    let said = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(root)
        .output();
    let seconds = said
        .ok()
        .and_then(|said| String::from_utf8(said.stdout).ok());
    let seconds = seconds.and_then(|text| text.trim().parse().ok());
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unwrap_or(315_532_800))
}

/// Copies a folder with its content.
pub(crate) fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("listing {}", from.display()))? {
        let (path, name) = {
            let entry = entry?;
            (entry.path(), entry.file_name())
        };
        if path.is_dir() {
            copy_all(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))
                .with_context(|| format!("copying {}", path.display()))?;
        }
    }
    Ok(())
}

fn set_times(path: &Path, time: SystemTime) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            set_times(&entry?.path(), time)?;
        }
    }
    // On Windows, a folder cannot be opened as a file, so its time is not set.
    if cfg!(unix) || path.is_file() {
        File::open(path)?
            .set_modified(time)
            .with_context(|| format!("dating {}", path.display()))?;
    }
    Ok(())
}

/// Runs a built program, which writes its manual pages and completions into a folder. These files are the same on all
/// systems, so all archives contain them.
///
/// # Errors
/// If the program does not run on this machine.
pub(crate) fn describe(program: &Path, into: &Path) -> Result<()> {
    let (man, completions) = (into.join("man"), into.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    run(Command::new(program).arg("man").arg(&man))?;
    for (shell, file) in [
        ("bash", "prosescope.bash"),
        ("zsh", "_prosescope"),
        ("fish", "prosescope.fish"),
        ("powershell", "_prosescope.ps1"),
    ] {
        let said = Command::new(program)
            .args(["completions", shell])
            .output()?;
        ensure!(
            said.status.success(),
            "`prosescope completions {shell}` failed"
        );
        fs::write(completions.join(file), said.stdout)?;
    }
    Ok(())
}
