//! A new run's folder: there whole, or not at all.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use prosescope_core::write::WriteError;

use super::fault;
use super::files::{ASIDE, replace, shared, sync_dir};

/// Makes a run's folder with its program in it, under another name first; `fill` puts in what keeps the state.
///
/// # Errors
/// A refusal when something is there already; a fault when it cannot be made. Then nothing is there.
pub(super) fn run_folder(
    dir: &Path,
    program: &str,
    fill: impl FnOnce(&Path) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let wrong = |cause: io::Error| failed(dir, &cause);
    if dir.symlink_metadata().is_ok() {
        return Err(taken(dir));
    }
    let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    fs::create_dir_all(above).map_err(|cause| fault::io(above, "cannot be made", &cause))?;
    // A name that no list of runs shows: whoever is killed here leaves no run, and `clean` removes it.
    let aside = shared(0o777)
        .prefix(ASIDE)
        .tempdir_in(above)
        .map_err(|cause| fault::io(above, "takes no new folder", &cause))?;
    let source = aside.path().join("program.prose");
    replace(aside.path(), &source, program.as_bytes()).map_err(wrong)?;
    fill(aside.path())?;
    sync_dir(aside.path()).map_err(wrong)?;
    // A folder that came meanwhile is not replaced: only an empty one could be.
    fs::rename(aside.path(), dir).map_err(wrong)?;
    let _ = aside.keep();
    sync_dir(above).map_err(wrong)
}

fn failed(dir: &Path, cause: &io::Error) -> WriteError {
    match cause.kind() {
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => {
            taken(dir)
        }
        _ => fault::io(dir, "cannot be made", cause).into(),
    }
}

fn taken(dir: &Path) -> WriteError {
    let message = format!("{} is there already", dir.display());
    WriteError::refused("run-there", message, "take another id: `--id`")
}
