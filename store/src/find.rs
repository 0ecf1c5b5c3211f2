use std::path::{Path, PathBuf};

/// The nearest `.prose` folder from a working directory upward, that directory included.
///
/// ```
/// use prosescope_store::prose_dir;
/// let dir = tempfile::tempdir().unwrap();
/// let below = dir.path().join("a/b");
/// std::fs::create_dir_all(&below).unwrap();
/// std::fs::create_dir_all(dir.path().join(".prose/runs")).unwrap();
/// assert_eq!(prose_dir(&below), Some(dir.path().join(".prose")));
/// ```
pub fn prose_dir(from: &Path) -> Option<PathBuf> {
    from.ancestors()
        .map(|dir| dir.join(".prose"))
        .find(|dir| dir.is_dir())
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
        assert_eq!(prose_dir(&inner), Some(dir.path().join(".prose")));
        std::fs::create_dir_all(inner.join(".prose")).unwrap();
        assert_eq!(prose_dir(&inner), Some(inner.join(".prose")));
        assert_eq!(home_prose(&inner), Some(inner.join(".prose")));
        assert_eq!(home_prose(&dir.path().join("project")), None);
    }
}
