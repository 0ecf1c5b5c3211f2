//! Creates a new folder completely or not at all.

use std::io::{self, ErrorKind};
use std::path::Path;

use prosescope_core::pages::upkeep::clean::UNFINISHED;
use prosescope_core::record::{Fault, WriteError};

use super::fault;
use super::files::{SyncFault, put, unsure};
use crate::dir::Dir;

/// Splits the path of a new folder: returns its parent folder, created if missing, and the new folder's name.
pub(crate) fn place(dir: &Path) -> Result<(Dir, String), Fault> {
    let above = dir.parent().unwrap_or(Path::new("."));
    let wrong = |cause: io::Error| fault::io(above, "cannot be made", &cause);
    let name = dir.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| wrong(ErrorKind::InvalidFilename.into()))?;
    Ok((Dir::make(above).map_err(wrong)?, name.to_owned()))
}

/// Creates a run's folder with its program; `fill` adds the state. Returns a failure that happened after the folder was
/// created.
///
/// # Errors
/// A refusal if the path exists; a fault if it cannot be created. In both cases no part of the folder is left.
pub(super) fn run_folder(
    above: &Dir,
    name: &str,
    program: &str,
    fill: impl FnOnce(&Dir) -> Result<(), WriteError>,
) -> Result<Option<Fault>, WriteError> {
    let dir = above.shown(name);
    let wrong = |cause: io::Error| failed(&dir, &cause);
    if above.look(name).map_err(wrong)?.is_some() {
        return Err(taken(&dir));
    }
    let made = new_folder(above, name, |aside| {
        put(aside, "program.prose", program.as_bytes()).map_err(wrong)?;
        fill(aside)
    });
    made.map(unsure).map_err(|failure| match failure {
        Failure::Filling(error) => error,
        Failure::Making(cause) => wrong(cause),
    })
}

/// The reason why the folder was not created.
pub(crate) enum Failure<E> {
    /// Filling the new folder failed.
    Filling(E),
    /// Creating the folder itself failed.
    Making(io::Error),
}

/// Creates a folder under a temporary name that no list of runs shows, and renames it once it is filled. On failure the
/// folder is removed. If the process is killed, `prosescope clean` removes the temporary folder.
pub(crate) fn new_folder<E>(
    above: &Dir,
    name: &str,
    fill: impl FnOnce(&Dir) -> Result<(), E>,
) -> Result<SyncFault, Failure<E>> {
    let (aside, dir) = unfinished(above).map_err(Failure::Making)?;
    let filled = fill(&dir)
        .map_err(Failure::Filling)
        .and_then(|()| dir.sync().map_err(Failure::Making));
    // Some systems cannot rename a folder while it is open.
    drop(dir);
    // `rename` fails unless the target is empty, so a concurrently created folder is safe.
    let filled = filled.and_then(|()| above.rename(&aside, name).map_err(Failure::Making));
    if let Err(failure) = filled {
        let _ = above.remove_tree(&aside);
        return Err(failure);
    }
    Ok(above.sync().err())
}

fn unfinished(above: &Dir) -> io::Result<(String, Dir)> {
    let mut n = 1;
    loop {
        let name = format!("{UNFINISHED}{}-{n}", std::process::id());
        match above.new_dir(&name) {
            // The name belongs to another thread, or to a killed process with the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => n += 1,
            made => return made.map(|dir| (name, dir)),
        }
    }
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

    use prosescope_core::record::{Fault, WriteError};

    use crate::{FolderStore, SqliteStore, init_folder, init_sqlite};

    type Init = fn(&Path, &str) -> Result<Option<Fault>, WriteError>;

    /// When many writers create a run with one id at the same time, exactly one succeeds, and its run is complete.
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
            let done: Vec<Result<Option<Fault>, WriteError>> = std::thread::scope(|scope| {
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
            // The writers that did not succeed have removed their unfinished folders.
            let left = std::fs::read_dir(above.path().join("runs")).unwrap();
            assert_eq!(left.count(), 1);
        }
    }
}
