//! Creates a root folder for checks, with the system's programs and libraries and Rust only: no checkout, no home,
//! nothing that was installed for a user.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::bundle::emptied;

/// A shell script that mounts the system's folders and the folders in its arguments, then runs a command in this
/// root. When the command ends, all its processes end.
const ENTER: &str = r#"
root=$1 rust=$2 folder=$3; shift 3
for part in bin lib lib64; do [ -L "$root/$part" ] || ln -s "usr/$part" "$root/$part"; done
for part in usr etc dev proc; do mount --rbind "/$part" "$root/$part"; done
mount --rbind "$rust" "$root/rust"
exec env -i PATH=/rust/bin:/usr/bin:/usr/sbin HOME=/home \
    CARGO_HOME=/home/.cargo CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0 \
    npm_config_offline=true npm_config_update_notifier=false \
    chroot "$root" sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"#;

/// A temporary folder that is the root of commands. It is removed when this value is dropped.
pub(super) struct TemporaryRoot {
    folder: tempfile::TempDir,
    rust: PathBuf,
}

impl TemporaryRoot {
    /// Creates a root below a folder. The disk of this folder must have room for the builds.
    pub(super) fn new(below: &Path) -> Result<TemporaryRoot> {
        emptied(below)?;
        let folder = tempfile::tempdir_in(below)?;
        for name in ["usr", "etc", "dev", "proc", "tmp", "home", "work", "rust"] {
            fs::create_dir(folder.path().join(name))?;
        }
        let said = Command::new("rustc")
            .args(["--print", "sysroot"])
            .output()?;
        let rust = String::from_utf8(said.stdout).context("rustc names no folder")?;
        Ok(TemporaryRoot {
            folder,
            rust: PathBuf::from(rust.trim()),
        })
    }

    /// Returns the path, outside of the root, of a path inside of it.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    /// Returns a command that runs in a folder of the root.
    pub(super) fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command
            .args([
                "--map-root-user",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
            ])
            .args(["sh", "-eu", "-c", ENTER, "sh"])
            .arg(self.folder.path())
            .arg(&self.rust)
            .arg(folder)
            .args(args);
        command
    }
}
