//! Assigns paths to the files that a user drops together. Runs of the same name get separate folders: `run` and `run
//! (2)`.

use std::collections::BTreeMap;

/// A dropped file: the number of the dropped item that it belongs to (a folder or a single file), its path, and the
/// file.
pub(crate) type DroppedFile<T> = (usize, String, T);

/// The suffixes of the files that belong to a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// If there are several single databases, moves each, with its `-wal`, into a folder of the database's name. Equal
/// names get a number: `state.db (2)`. Returns the files with their new paths, and the paths of files that fit nowhere,
/// such as a `-wal` beside two databases of its name.
pub(crate) fn apart<T>(given: Vec<DroppedFile<T>>) -> (Vec<(String, T)>, Vec<String>) {
    let mut roots: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (root, path, _) in &given {
        let top = top(path).to_owned();
        let of_name = roots.entry(top).or_default();
        if !of_name.contains(root) {
            of_name.push(*root);
        }
    }
    let databases = given
        .iter()
        .filter(|(_, path, _)| is_database(path))
        .count();
    let mut files = Vec::new();
    let mut unplaced = Vec::new();
    for (root, path, file) in given {
        let same = roots.get(top(&path)).map_or(&[][..], Vec::as_slice);
        let number = same.iter().position(|of| *of == root).unwrap_or(0);
        match path.split_once('/') {
            Some((top, below)) => files.push((format!("{}/{below}", numbered(top, number)), file)),
            None => match owner(&path) {
                Some(owner) => match roots.get(owner).map_or(0, Vec::len) {
                    0 | 1 if databases > 1 && same.len() == 1 => {
                        files.push((format!("{owner}/{path}"), file));
                    }
                    0 | 1 if same.len() == 1 => files.push((path, file)),
                    _ => unplaced.push(path),
                },
                None if (is_database(&path) && databases > 1) || same.len() > 1 => {
                    files.push((format!("{}/{path}", numbered(&path, number)), file));
                }
                None => files.push((path, file)),
            },
        }
    }
    (files, unplaced)
}

/// Returns whether single files were given instead of a folder.
pub(crate) fn is_loose<T>(given: &[DroppedFile<T>]) -> bool {
    given.iter().all(|(_, path, _)| !path.contains('/'))
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn numbered(name: &str, number: usize) -> String {
    match number {
        0 => name.to_owned(),
        n => format!("{name} ({})", n + 1),
    }
}

/// Returns the name of the database to which a single file belongs: `state.db` for `state.db-wal`. Returns `None` for
/// other files.
fn owner(path: &str) -> Option<&str> {
    BESIDE.iter().find_map(|end| path.strip_suffix(end))
}

/// Returns whether a single file has the name of a database.
fn is_database(path: &str) -> bool {
    let named = [".db", ".sqlite", ".sqlite3"];
    !path.contains('/') && path != "agents.db" && named.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &[(usize, &str)], expected: &[&str], not_placed: &[&str]) {
        let given = given
            .iter()
            .map(|(root, path)| (*root, (*path).to_owned(), ()));
        let (files, unplaced) = apart(given.collect());
        let paths: Vec<&str> = files.iter().map(|(path, ())| path.as_str()).collect();
        assert_eq!(paths, expected);
        assert_eq!(unplaced, not_placed);
    }

    #[test]
    fn several_databases_are_several_runs() {
        check(
            &[(0, "state.db"), (1, "state.db-wal")],
            &["state.db", "state.db-wal"],
            &[],
        );
        check(
            &[(0, "state.db"), (1, "state.db")],
            &["state.db/state.db", "state.db (2)/state.db"],
            &[],
        );
        check(
            &[(0, "a.db"), (1, "b.db"), (2, "b.db-wal")],
            &["a.db/a.db", "b.db/b.db", "b.db/b.db-wal"],
            &[],
        );
        // The `-wal` could belong to either of two databases.
        check(
            &[(0, "state.db"), (1, "state.db-wal"), (2, "state.db")],
            &["state.db/state.db", "state.db (2)/state.db"],
            &["state.db-wal"],
        );
    }

    #[test]
    fn what_belongs_to_one_run_stays_together() {
        let one = [(0, "state.db"), (1, "program.prose"), (2, "agents.db")];
        check(&one, &["state.db", "program.prose", "agents.db"], &[]);
        let folder = [
            (0, "run/state.db"),
            (0, "run/bindings/a.md"),
            (0, "run/x.db"),
        ];
        check(
            &folder,
            &["run/state.db", "run/bindings/a.md", "run/x.db"],
            &[],
        );
    }

    #[test]
    fn folders_of_one_name_are_two() {
        check(
            &[
                (0, "run/state.md"),
                (0, "run/a.md"),
                (1, "run/state.md"),
                (1, "run/b.md"),
            ],
            &[
                "run/state.md",
                "run/a.md",
                "run (2)/state.md",
                "run (2)/b.md",
            ],
            &[],
        );
        check(
            &[(0, "state.md"), (1, "state.md")],
            &["state.md/state.md", "state.md (2)/state.md"],
            &[],
        );
    }
}
