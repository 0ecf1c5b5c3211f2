//! Creates temporary folders in which the tests run commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prosescope_share::archive::Archive;
use prosescope_share::page;
use prosescope_tests::needs;

pub(crate) struct Project {
    dir: tempfile::TempDir,
    prose: PathBuf,
}

/// The files of a zip: the path and the bytes of each.
pub(crate) type Parts = Vec<(String, Vec<u8>)>;

impl Project {
    /// Creates the folder. Returns `None`, after printing why, if `prosescope` is missing.
    pub(crate) fn new() -> Option<Project> {
        let prose = needs::prose()?;
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        Some(Project { dir, prose })
    }

    pub(crate) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.prose);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.at("home"))
            .env_remove("PROSE_RUN")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command that must succeed. Returns its output.
    #[track_caller]
    pub(crate) fn done(&self, args: &[&str]) -> String {
        let out = self.command(args).output().expect("it runs");
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{args:?}: {}: {said}", out.status);
        String::from_utf8(out.stdout).expect("text")
    }

    /// Returns the JSON output of a command. Exit code 1 is allowed, because the run may have issues.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.command(args).arg("--json").output().expect("it runs");
        let said = String::from_utf8_lossy(&out.stderr);
        serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {said}"))
    }

    /// Returns the bytes of a file.
    #[track_caller]
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.at(path)).expect("a file")
    }
}

/// Returns every file of a zip.
#[track_caller]
pub(crate) fn parts(zip: &[u8]) -> Parts {
    let zip = Archive::open(zip, zip.len() as u64, 1 << 30).expect("a zip");
    let paths = zip.entries().iter().map(|entry| entry.path.clone());
    let whole = |path: &str| zip.whole(path).expect("read").expect("there");
    paths.map(|path| (path.clone(), whole(&path))).collect()
}

/// Returns every file of the zip in a page.
#[track_caller]
pub(crate) fn page_parts(page: &[u8]) -> Parts {
    let packed = page::packed(page).expect("a page").expect("sound");
    parts(&packed)
}
