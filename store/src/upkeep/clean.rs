use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_std::fs::Metadata;
use prosescope_core::pages::upkeep::clean::{EntryKind, RunsEntry, TRASH};
use prosescope_core::record::{Fault, FaultKind};

use crate::dir::{self, Dir};
use crate::record::{LOCK, fault, lock};

/// Returns the entries of `.prose/runs`, sorted by name. [`RunsEntry::run`] is left empty; the caller sets it for runs.
///
/// # Errors
/// A [`Fault`] if the folder cannot be listed or is a link.
pub fn run_entries(prose: &Path) -> Result<Vec<RunsEntry>, Fault> {
    let Some(runs) = runs(prose)? else {
        return Ok(Vec::new());
    };
    let unlisted = |cause: io::Error| fault::io(runs.path(), "cannot be listed", &cause);
    let mut entries = Vec::new();
    // A name that is not valid text cannot be given on a command line, so it is skipped.
    for (name, _) in runs.names("").map_err(unlisted)? {
        entries.extend(look(&runs, &name)?);
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Removes the run of an entry. The folder is renamed first, so that a half-removed run never looks complete.
///
/// # Errors
/// A [`Fault`] if the entry is not a folder, if it changed since it was listed, or if the system refuses. In these
/// cases nothing was removed, unless the message says otherwise. If the folder was renamed but some of its files cannot
/// be removed, the fault is returned in `Ok`; a later clean-up removes these files.
pub fn remove_run(prose: &Path, entry: &RunsEntry) -> Result<Option<Fault>, Fault> {
    plain(&entry.name)?;
    let shown = prose.join("runs").join(&entry.name);
    let kept = |why: &str| Fault::new(FaultKind::Io, format!("{} {why}: kept", shown.display()));
    let wrong = |cause: io::Error| fault::io(&shown, "cannot be removed", &cause);
    let Some(runs) = runs(prose)? else {
        return Err(kept("is not a folder"));
    };
    let Some(dir) = runs.dir(&entry.name).map_err(|_| kept("is not a folder"))? else {
        return Err(kept("is not a folder"));
    };
    // If the lock file were a link, locking would create a file at its target.
    let lock_file = dir.look(LOCK).map_err(wrong)?;
    if lock_file.is_some_and(|meta| !meta.is_file()) {
        return Err(kept(&format!("has a {LOCK} that is not a file")));
    }
    let held = lock(&dir)?;
    let now = sum(&entry.name, EntryKind::Folder, &dir).map_err(wrong)?;
    if (now.bytes, now.files, now.newest) != (entry.bytes, entry.files, entry.newest) {
        return Err(changed(&shown));
    }
    let id = dir.id().map_err(wrong)?;
    if cfg!(windows) {
        // Windows cannot rename a folder that is open or contains an open file.
        drop((held, dir));
    }
    let trash = free(&runs, &entry.name).map_err(wrong)?;
    runs.rename(&entry.name, &trash).map_err(wrong)?;
    // Checks that the renamed folder is the one that was listed: another folder may have taken the name of the listed
    // folder.
    let renamed = runs
        .dir(&trash)
        .and_then(|now| now.map(|now| now.id()).transpose());
    if renamed.as_ref().is_ok_and(|now| *now == Some(id)) {
        return Ok(finish(&runs, &trash).err());
    }
    let back = match runs.look(&entry.name) {
        Ok(None) => runs.rename(&trash, &entry.name),
        _ => Err(io::ErrorKind::AlreadyExists.into()),
    };
    Err(match back {
        Ok(()) => match renamed {
            Err(cause) if cause.kind() != io::ErrorKind::NotADirectory => wrong(cause),
            _ => changed(&shown),
        },
        Err(cause) => fault::io(
            &shown,
            &format!("changed after it was listed, and is now {trash}"),
            &cause,
        ),
    })
}

fn changed(shown: &Path) -> Fault {
    let message = format!(
        "{} changed after it was listed, so it was kept",
        shown.display()
    );
    Fault::new(FaultKind::Busy, message).hint("try again when no process writes to this run")
}

/// Removes a half-removed run, which an interrupted clean-up left as `.trash-…`.
///
/// # Errors
/// A [`Fault`] if the system refuses.
pub fn remove_leftover(prose: &Path, name: &str) -> Result<(), Fault> {
    let ours = name.starts_with(TRASH) && !name.contains(['/', '\\']);
    let runs = runs(prose)?.filter(|_| ours);
    match runs {
        Some(runs) if runs.dir(name).is_ok_and(|dir| dir.is_some()) => finish(&runs, name),
        _ => {
            let shown = prose.join("runs").join(name);
            let message = format!(
                "{} is not the rest of an interrupted removal, so it was kept",
                shown.display()
            );
            Err(Fault::new(FaultKind::Io, message))
        }
    }
}

fn finish(runs: &Dir, trash: &str) -> Result<(), Fault> {
    // `remove_tree` follows no link, even if a link took the folder's place after the check.
    runs.remove_tree(trash)
        .and_then(|()| runs.sync())
        .map_err(|cause| {
            fault::io(
                &runs.shown(trash),
                "was left by an interrupted removal, and cannot be removed",
                &cause,
            )
            .hint("the next `prosescope clean --yes` tries again")
        })
}

/// Returns `.prose/runs`; `None` if it does not exist. A link is an error.
fn runs(prose: &Path) -> Result<Option<Dir>, Fault> {
    let shown = prose.join("runs");
    let opened = Dir::open(prose).and_then(|prose| prose.dir("runs"));
    opened.map_err(|cause| match cause.kind() {
        io::ErrorKind::NotADirectory => {
            let message = format!(
                "{} is a link, and nothing is removed through a link",
                shown.display()
            );
            Fault::new(FaultKind::Io, message)
                .hint("run the command in the folder to which the link leads, or remove the runs yourself")
        }
        _ => fault::io(&shown, "cannot be listed", &cause),
    })
}

fn plain(name: &str) -> Result<(), Fault> {
    let odd = name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.');
    if odd {
        Err(Fault::new(
            FaultKind::Io,
            format!("{name:?} is not the name of a run's folder, so it was kept"),
        ))
    } else {
        Ok(())
    }
}

/// Returns an unused name for a folder that is to be removed.
pub(super) fn free(dir: &Dir, name: &str) -> io::Result<String> {
    let first = format!("{TRASH}{name}-{}", std::process::id());
    let mut at = first.clone();
    let mut n = 1;
    while dir.look(&at)?.is_some() {
        n += 1;
        at = format!("{first}-{n}");
    }
    Ok(at)
}

/// Returns an entry with its kind, and with the number and total size of its files. A link counts as one file, without
/// its target. Returns `None` if the entry was removed.
fn look(runs: &Dir, name: &str) -> Result<Option<RunsEntry>, Fault> {
    let wrong = |cause: io::Error| fault::io(&runs.shown(name), "cannot be looked at", &cause);
    let Some(meta) = runs.look(name).map_err(wrong)? else {
        return Ok(None);
    };
    let kind = match meta.file_type() {
        kind if kind.is_symlink() => EntryKind::Link,
        kind if kind.is_dir() => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    if kind == EntryKind::Folder
        && let Some(dir) = runs.dir(name).map_err(wrong)?
    {
        return sum(name, kind, &dir).map(Some).map_err(wrong);
    }
    Ok(Some(RunsEntry {
        name: name.to_owned(),
        kind,
        bytes: meta.len(),
        files: 1,
        newest: changed_at(&meta),
        run: None,
    }))
}

/// Returns an entry with the number, total size and latest change of the files below a folder.
fn sum(name: &str, kind: EntryKind, dir: &Dir) -> io::Result<RunsEntry> {
    let mut entry = RunsEntry {
        name: name.to_owned(),
        kind,
        ..RunsEntry::default()
    };
    dir.walk(&mut |depth: usize, name: &OsStr, meta: &Metadata| {
        if meta.is_dir() || (depth == 1 && name == LOCK) {
            return;
        }
        entry.bytes += meta.len();
        entry.files += 1;
        entry.newest = entry.newest.max(changed_at(meta));
    })?;
    if entry.files == 0 {
        // For an empty folder, the time of change of the folder itself counts.
        entry.newest = changed_at(&dir.metadata()?);
    }
    Ok(entry)
}

/// Returns the number and the total size of the files in a folder.
pub(super) fn files_of(dir: &Dir) -> io::Result<(u64, u64)> {
    sum("", EntryKind::Folder, dir).map(|entry| (entry.files, entry.bytes))
}

fn changed_at(meta: &Metadata) -> Option<i64> {
    i64::try_from(dir::changed(meta)?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn prose() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join(".prose/runs/r1");
        write(&run.join("state.md"), "# Execution State\n");
        write(&run.join("agents/captain/memory.md"), "execution");
        write(&dir.path().join(".prose/agents/captain/memory.md"), "kept");
        write(&dir.path().join(".prose/runs/r2/state.md"), "other");
        dir
    }

    fn entry(prose: &Path, name: &str) -> RunsEntry {
        let entries = run_entries(prose).unwrap();
        entries.into_iter().find(|e| e.name == name).unwrap()
    }

    #[test]
    fn a_run_goes_with_its_own_agents_and_nothing_else_does() {
        let dir = prose();
        let prose = dir.path().join(".prose");
        let run = entry(&prose, "r1");
        assert_eq!((run.files, run.bytes), (2, 18 + 9));
        remove_run(&prose, &run).unwrap();
        let left: Vec<String> = run_entries(&prose)
            .unwrap()
            .into_iter()
            .map(|e| e.name)
            .collect();
        assert_eq!(left, ["r2"]);
        let kept = fs::read_to_string(prose.join("agents/captain/memory.md")).unwrap();
        assert_eq!(kept, "kept");
    }

    #[test]
    fn a_run_that_was_written_to_meanwhile_stays() {
        let dir = prose();
        let prose = dir.path().join(".prose");
        let run = entry(&prose, "r1");
        write(&prose.join("runs/r1/bindings/new.md"), "new");
        let fault = remove_run(&prose, &run).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Busy);
        assert!(prose.join("runs/r1/bindings/new.md").exists());
    }

    #[test]
    fn what_an_interrupted_clean_up_left_is_no_run_and_goes_with_the_next() {
        let dir = prose();
        let prose = dir.path().join(".prose");
        fs::rename(prose.join("runs/r1"), prose.join("runs/.trash-r1-7")).unwrap();
        let disk = crate::Disk::open(&prose).unwrap();
        use prosescope_core::model::source::Source;
        assert!(disk.files().iter().all(|f| !f.path.contains("trash")));
        assert_eq!(disk.listed(), []);
        remove_leftover(&prose, ".trash-r1-7").unwrap();
        assert!(!prose.join("runs/.trash-r1-7").exists());
        for none_of_ours in ["r2", "../agents", ".trash-/../r2", ".trash-nothing"] {
            assert!(
                remove_leftover(&prose, none_of_ours).is_err(),
                "{none_of_ours}"
            );
        }
        assert!(prose.join("runs/r2/state.md").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_never_followed() {
        use std::os::unix::fs::symlink;
        let dir = prose();
        let prose = dir.path().join(".prose");
        let outside = dir.path().join("outside");
        write(&outside.join("state.md"), "precious");
        // A run that is a link.
        symlink(&outside, prose.join("runs/linked")).unwrap();
        let linked = entry(&prose, "linked");
        assert_eq!(linked.kind, EntryKind::Link);
        assert!(remove_run(&prose, &linked).is_err());
        // A link inside a run is removed; its target stays.
        symlink(&outside, prose.join("runs/r1/bindings")).unwrap();
        remove_run(&prose, &entry(&prose, "r1")).unwrap();
        // If the link at the lock's place were followed, the lock file would be created outside the run.
        symlink(dir.path().join("made"), prose.join("runs/r2").join(LOCK)).unwrap();
        assert!(remove_run(&prose, &entry(&prose, "r2")).is_err());
        assert!(!dir.path().join("made").exists());
        // The folder `runs` is replaced by a link.
        fs::rename(prose.join("runs"), dir.path().join("elsewhere")).unwrap();
        symlink(dir.path().join("elsewhere"), prose.join("runs")).unwrap();
        assert!(run_entries(&prose).is_err());
        let precious = fs::read_to_string(outside.join("state.md")).unwrap();
        assert_eq!(precious, "precious");
    }

    #[test]
    fn a_name_that_leads_out_is_refused() {
        let dir = prose();
        let prose = dir.path().join(".prose");
        for name in ["", ".", "..", "../agents", "r1/agents"] {
            let entry = RunsEntry {
                name: name.to_owned(),
                ..RunsEntry::default()
            };
            assert!(remove_run(&prose, &entry).is_err(), "{name:?}");
        }
        assert!(prose.join("agents/captain/memory.md").exists());
    }
}
