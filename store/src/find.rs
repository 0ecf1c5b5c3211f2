use std::path::{Path, PathBuf};

/// The nearest `.prose` folder from a working directory upward, that directory included. The one in the user's home
/// directory keeps the user's agents (filesystem.md, "User-level state"): it is a project's only to somebody who works
/// in the home directory itself, else any folder below it without a `.prose` of its own would put its runs there.
///
/// ```
/// use prosescope_store::prose_dir;
/// let home = tempfile::tempdir().unwrap();
/// let below = home.path().join("a/b");
/// std::fs::create_dir_all(&below).unwrap();
/// std::fs::create_dir_all(home.path().join(".prose")).unwrap();
/// assert_eq!(prose_dir(&below, Some(home.path())), None);
/// assert_eq!(prose_dir(home.path(), Some(home.path())), Some(home.path().join(".prose")));
/// std::fs::create_dir_all(home.path().join("a/.prose")).unwrap();
/// assert_eq!(prose_dir(&below, Some(home.path())), Some(home.path().join("a/.prose")));
/// ```
pub fn prose_dir(from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let real = |dir: &Path| dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let is_home = |dir: &Path| home.is_some_and(|home| real(dir) == real(home));
    from.ancestors()
        .filter(|dir| dir.join(".prose").is_dir())
        .find(|dir| *dir == from || !is_home(dir))
        .map(|dir| dir.join(".prose"))
}

/// The user's own `.prose` folder, below a home directory, when it is there (filesystem.md, "User-level state").
pub fn home_prose(home: &Path) -> Option<PathBuf> {
    Some(home.join(".prose")).filter(|dir| dir.is_dir())
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
        assert_eq!(prose_dir(&inner, None), Some(dir.path().join(".prose")));
        std::fs::create_dir_all(inner.join(".prose")).unwrap();
        assert_eq!(prose_dir(&inner, None), Some(inner.join(".prose")));
        assert_eq!(home_prose(&inner), Some(inner.join(".prose")));
        assert_eq!(home_prose(&dir.path().join("project")), None);
    }

    /// A home directory below a project is not in its way, and may be named by a link.
    #[test]
    fn the_home_folder_is_passed_by() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let work = home.join("work");
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(home.join(".prose")).unwrap();
        assert_eq!(prose_dir(&work, None), Some(home.join(".prose")));
        assert_eq!(prose_dir(&work, Some(&home)), None);
        #[cfg(unix)]
        {
            let linked = dir.path().join("linked");
            std::os::unix::fs::symlink(&home, &linked).unwrap();
            assert_eq!(prose_dir(&work, Some(&linked)), None);
        }
        std::fs::create_dir_all(dir.path().join(".prose")).unwrap();
        assert_eq!(
            prose_dir(&work, Some(&home)),
            Some(dir.path().join(".prose"))
        );
        assert_eq!(prose_dir(&home, Some(&home)), Some(home.join(".prose")));
    }
}
