use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// Returns the nearest `.prose` folder from a working directory upward, including that directory. The `.prose` in the
/// user's home directory keeps the user's agents (filesystem.md, "User-level state"). It counts as a project only if
/// the working directory is the home directory itself; otherwise the runs of every folder below without its own
/// `.prose` would be put into the home directory.
///
/// ```
/// use prosescope_store::prose_dir;
/// let home = tempfile::tempdir().unwrap();
/// let below = home.path().join("a/b");
/// std::fs::create_dir_all(&below).unwrap();
/// std::fs::create_dir_all(home.path().join(".prose")).unwrap();
/// assert_eq!(prose_dir(&below, Some(home.path())).unwrap(), None);
/// assert_eq!(prose_dir(home.path(), Some(home.path())).unwrap(), Some(home.path().join(".prose")));
/// std::fs::create_dir_all(home.path().join("a/.prose")).unwrap();
/// assert_eq!(prose_dir(&below, Some(home.path())).unwrap(), Some(home.path().join("a/.prose")));
/// ```
///
/// # Errors
/// If a folder cannot be checked: skipping it could select the wrong project.
pub fn prose_dir(from: &Path, home: Option<&Path>) -> Result<Option<PathBuf>, StoreError> {
    nearest(from, home, ".prose")
}

/// Returns the nearest `.prose` folder, or else the nearest `.agents/prose`, where later versions of OpenProse keep
/// their runs.
///
/// # Errors
/// As [`prose_dir`].
pub fn project_dir(from: &Path, home: Option<&Path>) -> Result<Option<PathBuf>, StoreError> {
    match prose_dir(from, home)? {
        Some(prose) => Ok(Some(prose)),
        None => nearest(from, home, ".agents/prose"),
    }
}

fn nearest(from: &Path, home: Option<&Path>, name: &str) -> Result<Option<PathBuf>, StoreError> {
    // A home directory of another user is skipped if it is not accessible.
    let nowhere = |cause: &io::Error| is_nothing(cause) || is_closed(cause);
    let real = |dir: &Path| match dir.canonicalize() {
        Err(cause) if nowhere(&cause) => Ok(dir.to_owned()),
        real => real.map_err(|cause| StoreError::io(dir, cause)),
    };
    for dir in from.ancestors() {
        let prose = dir.join(name);
        if !is_folder(&prose)? {
            continue;
        }
        let is_home = match home {
            Some(home) if dir != from => real(dir)? == real(home)?,
            _ => false,
        };
        if !is_home {
            return Ok(Some(prose));
        }
    }
    Ok(None)
}

/// Returns the user's own `.prose` folder in a home directory, if it exists (filesystem.md, "User-level state").
///
/// # Errors
/// If the existence of the folder cannot be checked.
pub fn home_prose(home: &Path) -> Result<Option<PathBuf>, StoreError> {
    let prose = home.join(".prose");
    match is_folder(&prose) {
        // In a container, the home directory often belongs to another user.
        Err(StoreError::Io { cause, .. }) if is_closed(&cause) => Ok(None),
        found => Ok(found?.then_some(prose)),
    }
}

fn is_folder(path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        Ok(meta) => Ok(meta.is_dir()),
        Err(cause) if is_nothing(&cause) => Ok(false),
        Err(cause) => Err(StoreError::io(path, cause)),
    }
}

fn is_closed(cause: &io::Error) -> bool {
    cause.kind() == ErrorKind::PermissionDenied
}

/// Returns whether an error means that the path does not exist.
fn is_nothing(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_wins_and_a_file_of_that_name_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("project/src");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir_all(dir.path().join(".prose")).unwrap();
        std::fs::write(dir.path().join("project/.prose"), "not a folder").unwrap();
        assert_eq!(
            prose_dir(&inner, None).unwrap(),
            Some(dir.path().join(".prose"))
        );
        std::fs::create_dir_all(inner.join(".prose")).unwrap();
        assert_eq!(prose_dir(&inner, None).unwrap(), Some(inner.join(".prose")));
        assert_eq!(home_prose(&inner).unwrap(), Some(inner.join(".prose")));
        assert_eq!(home_prose(&dir.path().join("project")).unwrap(), None);
    }

    /// The search skips the `.prose` of a home directory, even if the home directory is named through a link.
    #[test]
    fn the_home_folder_is_passed_by() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let work = home.join("work");
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(home.join(".prose")).unwrap();
        assert_eq!(prose_dir(&work, None).unwrap(), Some(home.join(".prose")));
        assert_eq!(prose_dir(&work, Some(&home)).unwrap(), None);
        #[cfg(unix)]
        {
            let linked = dir.path().join("linked");
            std::os::unix::fs::symlink(&home, &linked).unwrap();
            assert_eq!(prose_dir(&work, Some(&linked)).unwrap(), None);
        }
        std::fs::create_dir_all(dir.path().join(".prose")).unwrap();
        assert_eq!(
            prose_dir(&work, Some(&home)).unwrap(),
            Some(dir.path().join(".prose"))
        );
        assert_eq!(
            prose_dir(&home, Some(&home)).unwrap(),
            Some(home.join(".prose"))
        );
    }

    #[test]
    fn runs_of_later_versions_are_found_where_there_is_no_prose_folder() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let later = dir.path().join(".agents/prose");
        std::fs::create_dir_all(&later).unwrap();
        assert_eq!(prose_dir(&inner, None).unwrap(), None);
        assert_eq!(project_dir(&inner, None).unwrap(), Some(later));
        let prose = dir.path().join("a/.prose");
        std::fs::create_dir_all(&prose).unwrap();
        assert_eq!(project_dir(&inner, None).unwrap(), Some(prose));
    }
}
