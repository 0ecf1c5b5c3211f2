//! Detects a `state.db` that is not the database of its folder's run: an empty file, which `sqlite3 state.db` creates,
//! or tables of another program.

use super::Session;
use super::survey::join;
use crate::model::database::{DecodeError, Limits};
use crate::model::source::Source;
use crate::read::decode::{folder, rows};

/// Returns whether a folder keeps its run in files and its `state.db` has no table of a run. The database is then
/// ignored for reading and writing. `dir` is the folder's path inside the source, empty for the source itself.
pub fn has_stray_database(source: &dyn Source, dir: &str) -> bool {
    let path = join(dir, "state.db");
    source.file(&path).is_some()
        && kept_in_files(source, &join(dir, ""))
        && holds_no_run(source, &path)
}

/// The place of a run's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseAt {
    /// The database's path in the source; `None` if the run is kept in files.
    pub path: Option<String>,
    /// Whether the database was opened by its path and is not called `state.db`. Files beside such a database do not
    /// belong to the run.
    pub alone: bool,
}

impl DatabaseAt {
    /// Finds the database of a run that was opened at this place.
    pub fn of(source: &dyn Source, session: &Session, place: &str) -> DatabaseAt {
        let root = &session.run().root;
        let is_file = source.file(place).is_some();
        let path = if is_file {
            place.to_owned()
        } else {
            format!("{root}state.db")
        };
        let alone = is_file && !path.ends_with("state.db");
        let stray = !is_file && has_stray_database(source, root.trim_end_matches('/'));
        let path = source.file(&path).filter(|_| !stray);
        DatabaseAt {
            path: path.map(|file| file.path.clone()),
            alone,
        }
    }
}

/// Returns whether a folder has files that can contain a run: a state file, events, or bindings. `root` ends in `/` or
/// is empty.
pub(super) fn kept_in_files(source: &dyn Source, root: &str) -> bool {
    let events = source.file(&format!("{root}x_events.jsonl")).is_some();
    let bindings = !source.below(&format!("{root}bindings/")).is_empty();
    events || bindings || folder::state_file_of(source, root).is_some()
}

fn holds_no_run(source: &dyn Source, path: &str) -> bool {
    let len = |end: &str| source.file(&format!("{path}{end}")).map_or(0, |f| f.len);
    if len("") == 0 {
        // A `-wal` file can contain rows of a run that were never moved into the database file.
        return len("-wal") == 0;
    }
    let head = || {
        let db = source.database(path, &Limits::default()).ok()?;
        rows::head(db.as_ref(), path, "", |_| 0).err()
    };
    matches!(head(), Some(DecodeError::NoTables(_)))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use rusqlite::Connection;

    use super::*;
    use crate::model::schema::STATE_SQL;
    use crate::pages::session::{OpenError, Options, Session};
    use crate::read::sqlite::MemorySource;

    fn database(sql: &str) -> Vec<u8> {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(sql).unwrap();
        conn.serialize("main").unwrap().to_vec()
    }

    const STATE: (&str, &str) = ("state.md", "# Execution State\n\nrun: r\n");
    const EVENTS: (&str, &str) = ("x_events.jsonl", "");
    const BINDING: (&str, &str) = ("bindings/a.md", "# a\n\nkind: let\n\n---\n\nv");
    const PROGRAM: (&str, &str) = ("program.prose", "let a = session \"A\"\n");

    /// Returns the rule that opening reports for a folder's database, or "refused"; and whether the database is
    /// ignored.
    fn check(db: &[u8], beside: &[(&str, &str)]) -> (String, bool) {
        let mut files = vec![("runs/r/state.db".to_owned(), db.to_vec())];
        let text =
            |(path, text): &(&str, &str)| (format!("runs/r/{path}"), text.as_bytes().to_vec());
        files.extend(beside.iter().map(text));
        let source: Rc<dyn Source> = Rc::new(MemorySource::new("test", files));
        let stray = has_stray_database(source.as_ref(), "runs/r");
        let told = match Session::open(source, "runs/r", &Options::default()) {
            Ok(session) => {
                let issues = session.run().issues.iter();
                let of_file = issues.filter(|i| i.location.file.as_deref() == Some("state.db"));
                let rules: Vec<&str> = of_file.map(|issue| &*issue.rule).collect();
                rules.join(" ")
            }
            Err(OpenError::NoRun { .. }) => "no run".to_owned(),
            Err(_) => "refused".to_owned(),
        };
        (told, stray)
    }

    #[test]
    fn a_database_without_a_run_is_ignored_beside_the_files_of_one() {
        let notes = database("CREATE TABLE notes (text TEXT)");
        let nothing = database("PRAGMA user_version = 1");
        let runs = database(&format!("{STATE_SQL} INSERT INTO run (id) VALUES ('r')"));
        for (beside, what) in [
            (&[STATE][..], "a state file"),
            (&[PROGRAM, EVENTS], "events"),
            (&[BINDING], "bindings"),
        ] {
            for db in [&[][..], &notes, &nothing] {
                assert_eq!(
                    check(db, beside),
                    ("stray-database".to_owned(), true),
                    "{what}"
                );
            }
            assert_eq!(check(&runs, beside), (String::new(), false), "{what}");
            let cut = (String::from("database-unreadable"), false);
            assert_eq!(check(b"SQLite format 3\0", beside), cut, "{what}");
            assert_eq!(check(b"404: Not Found", beside), cut, "{what}");
        }
    }

    #[test]
    fn alone_it_is_the_run_and_cannot_be_read() {
        let notes = database("CREATE TABLE notes (text TEXT)");
        for db in [&[][..], &notes, b"404: Not Found"] {
            for beside in [&[][..], &[PROGRAM], &[PROGRAM, ("agents/a/memory.md", "m")]] {
                assert_eq!(check(db, beside), ("refused".to_owned(), false));
            }
        }
    }

    /// A copy may have lost the database file and kept the rows in its `-wal`.
    #[test]
    fn an_empty_file_with_a_log_of_pages_is_no_stray_one() {
        let wal = ("state.db-wal", "pages");
        assert_eq!(
            check(b"", &[STATE, wal]),
            ("database-unreadable".to_owned(), false)
        );
    }
}
