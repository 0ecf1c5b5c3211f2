use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use prosescope_core::upkeep::clean::{Entry, EntryKind, TRASH};
use prosescope_core::write::{Fault, FaultKind};

use crate::record::{LOCK, fault, lock, sync_dir};

/// What lies in `.prose/runs`, in order of name; which of it is a run, the caller adds.
///
/// # Errors
/// A [`Fault`] when it cannot be listed, or is a link.
pub fn run_entries(prose: &Path) -> Result<Vec<Entry>, Fault> {
    let runs = runs(prose)?;
    let listed = match fs::read_dir(&runs) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(|cause| fault::io(&runs, "cannot be listed", &cause))?,
    };
    let mut entries = Vec::new();
    for at in listed {
        let at = at.map_err(|cause| fault::io(&runs, "cannot be listed", &cause))?;
        // A name that is no text cannot be asked for.
        if let Ok(name) = at.file_name().into_string() {
            entries.push(look(&runs, &name)?);
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Removes the run of an entry: first it gets a name that is no run's, then its files go, so that half a run never
/// looks like a whole one.
///
/// # Errors
/// A [`Fault`] when it is no folder, when it changed since it was looked at, or when the system refuses; unless the
/// message says otherwise, nothing was removed.
pub fn remove_run(prose: &Path, entry: &Entry) -> Result<(), Fault> {
    let runs = runs(prose)?;
    plain(&entry.name)?;
    let dir = runs.join(&entry.name);
    let changed = || {
        let message = format!("{} changed since it was looked at: kept", dir.display());
        Fault::new(FaultKind::Busy, message).hint("somebody writes to it; look again")
    };
    if look(&runs, &entry.name)?.kind != EntryKind::Folder {
        let message = format!("{} is no folder: kept", dir.display());
        return Err(Fault::new(FaultKind::Io, message));
    }
    // A link by the lock's name would make a file elsewhere.
    let lock_file = fs::symlink_metadata(dir.join(LOCK));
    if lock_file.is_ok_and(|meta| !meta.is_file()) {
        let message = format!("{} has a {LOCK} that is no file: kept", dir.display());
        return Err(Fault::new(FaultKind::Io, message));
    }
    let held = lock(&dir)?;
    let now = look(&runs, &entry.name)?;
    if (now.bytes, now.files, now.newest) != (entry.bytes, entry.files, entry.newest) {
        return Err(changed());
    }
    if cfg!(windows) {
        // There a folder with an open file in it keeps its name.
        drop(held);
    }
    let trash = free(&runs, &entry.name);
    fs::rename(&dir, &trash)
        .and_then(|()| sync_dir(&runs))
        .map_err(|cause| fault::io(&dir, "cannot be removed", &cause))?;
    finish(&runs, &trash)
}

/// Removes what an interrupted clean-up left.
///
/// # Errors
/// A [`Fault`] when the system refuses.
pub fn remove_leftover(prose: &Path, name: &str) -> Result<(), Fault> {
    let runs = runs(prose)?;
    let trash = runs.join(name);
    let folder = fs::symlink_metadata(&trash).is_ok_and(|meta| meta.is_dir());
    if !name.starts_with(TRASH) || name.contains(['/', '\\']) || !folder {
        let message = format!("{} is none of ours: kept", trash.display());
        return Err(Fault::new(FaultKind::Io, message));
    }
    finish(&runs, &trash)
}

fn finish(runs: &Path, trash: &Path) -> Result<(), Fault> {
    // It follows no link, whatever is put there meanwhile.
    fs::remove_dir_all(trash)
        .and_then(|()| sync_dir(runs))
        .map_err(|cause| {
            fault::io(
                trash,
                "is what is left of a run: it cannot be removed",
                &cause,
            )
            .hint("the next `prose clean --yes` tries again")
        })
}

/// `.prose/runs`, when it is no link.
fn runs(prose: &Path) -> Result<PathBuf, Fault> {
    let runs = prose.join("runs");
    if fs::symlink_metadata(&runs).is_ok_and(|meta| meta.is_symlink()) {
        let message = format!("{} is a link: nothing is removed behind it", runs.display());
        return Err(Fault::new(FaultKind::Io, message)
            .hint("go to the folder that it leads to, or remove the runs yourself"));
    }
    Ok(runs)
}

fn plain(name: &str) -> Result<(), Fault> {
    let odd = name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.');
    match odd {
        true => Err(Fault::new(
            FaultKind::Io,
            format!("{name:?} is no run's folder: kept"),
        )),
        false => Ok(()),
    }
}

pub(super) fn free(runs: &Path, name: &str) -> PathBuf {
    let first = format!("{TRASH}{name}-{}", std::process::id());
    let mut at = runs.join(&first);
    let mut n = 1;
    while fs::symlink_metadata(&at).is_ok() {
        n += 1;
        at = runs.join(format!("{first}-{n}"));
    }
    at
}

/// What an entry is, and the sum of its files; a link counts as itself, and nothing behind it does.
fn look(runs: &Path, name: &str) -> Result<Entry, Fault> {
    let path = runs.join(name);
    let meta = fs::symlink_metadata(&path)
        .map_err(|cause| fault::io(&path, "cannot be looked at", &cause))?;
    let kind = match meta.file_type() {
        kind if kind.is_symlink() => EntryKind::Link,
        kind if kind.is_dir() => EntryKind::Folder,
        _ => EntryKind::Other,
    };
    let mut entry = Entry {
        name: name.to_owned(),
        kind,
        ..Entry::default()
    };
    for at in walkdir::WalkDir::new(&path).follow_root_links(false) {
        let at = at.map_err(|error| {
            let message = format!("{} cannot be looked at: {error}", path.display());
            Fault::new(FaultKind::Io, message)
        })?;
        let lock = at.depth() == 1 && at.file_name() == LOCK;
        if at.file_type().is_dir() || lock {
            continue;
        }
        if let Ok(meta) = at.metadata() {
            entry.bytes += meta.len();
            entry.files += 1;
            entry.newest = entry.newest.max(changed(&meta));
        }
    }
    if entry.files == 0 {
        // Nothing in it yet tells when it was made.
        entry.newest = fs::symlink_metadata(&path).ok().as_ref().and_then(changed);
    }
    Ok(entry)
}

/// Files of a folder, and their bytes.
pub(super) fn files_of(dir: &Path) -> Result<(u64, u64), Fault> {
    let parent = dir.parent().unwrap_or(dir);
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    look(parent, &name).map(|entry| (entry.files, entry.bytes))
}

fn changed(meta: &Metadata) -> Option<i64> {
    let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
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

    fn entry(prose: &Path, name: &str) -> Entry {
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
        use prosescope_core::source::Source;
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
        // A link inside of a run goes; what it leads to stays.
        symlink(&outside, prose.join("runs/r1/bindings")).unwrap();
        remove_run(&prose, &entry(&prose, "r1")).unwrap();
        // A lock that would be made elsewhere.
        symlink(dir.path().join("made"), prose.join("runs/r2").join(LOCK)).unwrap();
        assert!(remove_run(&prose, &entry(&prose, "r2")).is_err());
        assert!(!dir.path().join("made").exists());
        // Runs that lie elsewhere.
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
            let entry = Entry {
                name: name.to_owned(),
                ..Entry::default()
            };
            assert!(remove_run(&prose, &entry).is_err(), "{name:?}");
        }
        assert!(prose.join("agents/captain/memory.md").exists());
    }
}
