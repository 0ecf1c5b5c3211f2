//! A new run's folder: there whole, or not at all.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use prosescope_core::upkeep::clean::UNFINISHED;
use prosescope_core::write::WriteError;

use super::fault;
use super::files::{replace, shared, sync_dir};

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
        .prefix(UNFINISHED)
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Barrier;

    use prosescope_core::write::WriteError;

    use crate::{FolderStore, SqliteStore, init_folder, init_sqlite};

    type Init = fn(&Path, &str) -> Result<(), WriteError>;

    /// The same id asked for by many at once is one run, whole, of one of them.
    #[test]
    fn one_run_is_made_by_one() {
        let forms: [(Init, &str); 2] = [
            (
                |dir, program| init_folder(dir, "r", "p.prose", program, "2026-01-15T14:30:52Z"),
                "state.md",
            ),
            (
                |dir, program| init_sqlite(dir, "r", "p.prose", program, "2026-01-15 14:30:52"),
                "state.db",
            ),
        ];
        for (init, state) in forms {
            let above = tempfile::tempdir().unwrap();
            let dir = above.path().join("runs/r");
            let at_once = Barrier::new(8);
            let programs: Vec<String> = (0..8).map(|n| format!("session \"{n}\"\n")).collect();
            let done: Vec<Result<(), WriteError>> = std::thread::scope(|scope| {
                let one = |program: &str| {
                    at_once.wait();
                    init(&dir, program)
                };
                let all: Vec<_> = programs
                    .iter()
                    .map(|program| scope.spawn(move || one(program)))
                    .collect();
                all.into_iter().map(|one| one.join().unwrap()).collect()
            });
            let winners: Vec<usize> = (0..8).filter(|n| done[*n].is_ok()).collect();
            assert_eq!(winners.len(), 1, "{state}: {done:?}");
            for lost in done.iter().filter_map(|done| done.as_ref().err()) {
                let said = matches!(
                    lost,
                    WriteError::Refused {
                        rule: "run-there",
                        ..
                    }
                );
                assert!(said, "{state}: {lost:?}");
            }
            let program = std::fs::read_to_string(dir.join("program.prose")).unwrap();
            assert_eq!(program, programs[winners[0]]);
            match state {
                "state.db" => drop(SqliteStore::open(&dir.join(state), None).unwrap()),
                _ => drop(FolderStore::open(&dir).unwrap()),
            }
            // What the others had begun is gone.
            let left = std::fs::read_dir(above.path().join("runs")).unwrap();
            assert_eq!(left.count(), 1);
        }
    }
}
