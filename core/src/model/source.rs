//! Defines [`Source`], the interface through which the core reads the files and databases that a shell offers.
//!
//! A shell implements [`Source`] over a folder on disk, files dropped into a browser, or a local server. The core
//! decides what each file is and which files to read. Through this interface, the core only reads. It reads large files
//! in parts.

use crate::model::database::{Database, DecodeError, Limits};
use crate::model::issue::Issue;
use crate::model::time::Stamp;

/// The prefix of a run folder's name while the run is being removed, as in `.trash-20260115-143052-a7b3c9-1`.
pub const TRASH: &str = ".trash-";

/// A file that a source offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Path relative to the source, with `/` between its parts and without `.` or `..`.
    pub path: String,
    /// Size in bytes.
    pub len: u64,
    /// Time of the last change; `None` if the source does not know it.
    pub modified: Option<Stamp>,
}

/// The reason why a source could not return a file or database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The file does not exist.
    #[error("there is no file {0}")]
    NotFound(String),
    /// The file changed since it was listed.
    #[error("{0} changed since it was opened; open it again")]
    Changed(String),
    /// The file exists but cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        /// The path of the file.
        path: String,
        /// The cause of the failure.
        cause: String,
    },
    /// A database cannot be read, or its content cannot be understood.
    #[error("{path}: {cause}")]
    Database {
        /// The path of the file.
        path: String,
        /// What was found in the file, and why the database cannot be opened.
        cause: String,
        /// What the user can do so that the database can be read.
        next: String,
        /// True if reading failed (permission, lock, I/O error), so that another try may succeed; false if the content
        /// cannot be understood.
        failed: bool,
    },
}

impl SourceError {
    /// Returns the error for a database that could not be decoded.
    pub fn of_database(path: &str, error: &DecodeError) -> SourceError {
        SourceError::Database {
            path: path.to_owned(),
            cause: error.to_string(),
            next: error.next_step().to_owned(),
            failed: error.is_failed(),
        }
    }
}

/// A set of files that the core can read in parts. Some of the files are databases, which the core can open.
pub trait Source {
    /// Returns the name of the source for people: a path, or a dropped folder's name.
    fn label(&self) -> String;

    /// Returns the name of the source's own folder, or of the folder around a single file; empty if that is unknown.
    /// If the folder is a run's, its name is the run's id.
    fn folder(&self) -> String {
        let label = self.label();
        let path = label.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
    }

    /// Returns all files, in order of path.
    fn files(&self) -> &[FileEntry];

    /// Returns the file at a path.
    fn file(&self, path: &str) -> Option<&FileEntry> {
        let files = self.files();
        let at = files.binary_search_by(|f| f.path.as_str().cmp(path)).ok()?;
        files.get(at)
    }

    /// Returns the files whose path begins with `prefix` (a folder's path ending in `/`), in order of path.
    fn below(&self, prefix: &str) -> &[FileEntry] {
        let files = self.files();
        let start = files.partition_point(|f| f.path.as_str() < prefix);
        let rest = files.get(start..).unwrap_or_default();
        let end = rest.partition_point(|f| f.path.starts_with(prefix));
        rest.get(..end).unwrap_or_default()
    }

    /// Reads up to `len` bytes of a file from `offset`; returns fewer bytes at the end of the file.
    ///
    /// # Errors
    /// If the file does not exist, changed, or cannot be read.
    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError>;

    /// Opens a database read-only, bounded by `limits`. The file and its folder stay unchanged, byte for byte. For a
    /// SQLite file, the shell opens a connection and passes it to [`crate::read::sqlite::Sqlite::of_source`]. A store
    /// of many runs returns a reader that sees only the rows of the run at this path.
    ///
    /// # Errors
    /// If the database cannot be opened without writing; the error contains the next step.
    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError>;

    /// Opens a reader of the rows of all runs, if one store contains them all, as PostgreSQL does. Each run is at the
    /// place `runs/{id}`. This reader is enough to list the runs, except for runs without a recorded end. Returns
    /// `None` if each run has a store of its own.
    ///
    /// # Errors
    /// As [`Source::database`].
    fn all_runs(&self, _limits: &Limits) -> Result<Option<Box<dyn Database>>, SourceError> {
        Ok(None)
    }

    /// Opens a reader like [`Source::all_runs`], but only for the runs with these ids.
    ///
    /// # Errors
    /// As [`Source::database`].
    fn some_runs(
        &self,
        _ids: &[&str],
        _limits: &Limits,
    ) -> Result<Option<Box<dyn Database>>, SourceError> {
        Ok(None)
    }

    /// Returns whether a place belongs to a shared file. Commands record nothing in such a copy of a run.
    fn is_copy(&self, _place: &str) -> bool {
        false
    }

    /// Returns how many runs a large store has besides the listed ones; 0 if the list is complete.
    fn more_runs(&self) -> u32 {
        0
    }

    /// Announces the places (paths of folders or files) that will be read next, in order. A source whose reads are slow
    /// may fetch several of them together.
    fn expect(&self, _places: &mut dyn Iterator<Item = &str>) {}

    /// Returns notes for people on how the shell opened the database: an empty `-wal` was assumed, or a hot journal was
    /// rolled back in a copy. Call this after [`Source::database`].
    fn notes(&self, _path: &str) -> Vec<Issue> {
        Vec::new()
    }

    /// Returns the creation time of the run at a place (path of a folder or file), in nanoseconds since 1970 UTC.
    /// Precision depends on the source. Used only to order runs whose ids contain the same second.
    fn made(&self, place: &str) -> Option<i128> {
        let program = format!("{place}/program.prose");
        let file = self
            .file(place)
            .or_else(|| self.file(program.trim_start_matches('/')))?;
        let millis = file.modified.as_ref()?.millis()?;
        Some(i128::from(millis) * 1_000_000)
    }

    /// Returns whether single files were given without their folder. Other files of that folder are then not reported
    /// as missing.
    fn is_loose(&self) -> bool {
        false
    }

    /// Returns whether several machines share the store, so that a file whose path is in a row may be on another
    /// machine.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns issues of the listing itself: folders that were left out or cannot be listed.
    fn listed(&self) -> Vec<Issue> {
        Vec::new()
    }
}

/// Folders that contain very many files but not runs; a listing leaves them out.
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];

/// The names of a run's folders, and of the folders around runs. A folder inside one of these folders is listed even if
/// its name is in [`LEFT_OUT`] (except `.git`), because a binding may be called `target`.
const RUN_PARTS: [&str; 8] = [
    ".prose",
    "runs",
    "bindings",
    "agents",
    "attachments",
    "imports",
    "services",
    "workspace",
];

/// Returns whether a listing includes a folder. `folder` is its path inside the source, with `/` between the parts.
///
/// A shell that leaves a folder out reports it with [`left_out`].
pub fn is_listed(folder: &str) -> bool {
    if is_trash(folder) {
        return false;
    }
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    let name = parts.next().unwrap_or_default();
    !LEFT_OUT.contains(&name) || (name != ".git" && parts.any(|part| RUN_PARTS.contains(&part)))
}

/// Returns whether a folder belongs to a run that is being removed ([`crate::pages::upkeep::clean`]). Such a folder is
/// not listed.
fn is_trash(folder: &str) -> bool {
    let name = folder.trim_end_matches('/').rsplit('/').next();
    name.is_some_and(|name| name.starts_with(TRASH))
}

/// Returns a note about the folders that a listing left out; `None` if the list has only folders of runs that are being
/// removed.
pub fn left_out(folders: &[String]) -> Option<Issue> {
    let folders: Vec<&str> = folders
        .iter()
        .map(String::as_str)
        .filter(|folder| !is_trash(folder))
        .collect();
    let message = match folders.as_slice() {
        [] => return None,
        [one] => format!("the folder {one} was skipped"),
        [one, other] => format!("the folders {one} and {other} were skipped"),
        [one, more @ ..] => {
            format!("{one} and {} other folders were skipped", more.len())
        }
    };
    let issue = Issue::noted("folder-left-out", message).at_file(*folders.first()?);
    Some(issue.hint("Folders called .git, node_modules and target contain very many files but not runs. To read such a folder, open it by its own path."))
}

/// The names of a run's folders, and `runs`, the folder around runs.
const FOLDERS: [&str; 6] = [
    "agents",
    "attachments",
    "bindings",
    "gates",
    "imports",
    "runs",
];

/// The names of files of a run, for which [`link`] and [`misplaced`] report issues.
const FILES: [&str; 6] = [
    "agents.db",
    "audit.jsonl",
    "program.prose",
    "state.db",
    "state.md",
    "x_events.jsonl",
];

/// Splits a path into its last part and the name of the folder around it.
fn name_and_above(path: &str) -> (&str, &str) {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    (name, parts.next().unwrap_or_default())
}

/// Returns whether a file `name` in a folder `above` is a part of a run, such as `gates/deploy.pending.json`.
fn is_file_of(name: &str, above: &str) -> bool {
    match above {
        "gates" => name.ends_with(".json"),
        "bindings" => name.ends_with(".md"),
        _ => false,
    }
}

/// Returns whether a folder `name` in a folder `above` is a part of a run, such as `imports/research--writer`.
fn is_folder_of(name: &str, above: &str) -> bool {
    match above {
        "agents" => !name.contains('.'),
        "imports" => name.contains("--"),
        _ => false,
    }
}

/// Returns an issue if a link has the path of a part of a run, such as `state.db`. Links are not followed, because the
/// target may be outside the run.
pub fn link(path: &str) -> Option<Issue> {
    let (name, above) = name_and_above(path);
    let holds = FOLDERS.contains(&name) || FILES.contains(&name) || is_file_of(name, above);
    (holds || ["agents", "imports"].contains(&above)).then(|| {
        Issue::warning(
            "link-not-followed",
            format!("{path} is a link, which is not followed"),
        )
        .at_file(path)
        .hint(
            "If the target of the link belongs to the run, replace the link by the target; otherwise open the target by its own path.",
        )
    })
}

/// The kind of a file system entry that has the path of a part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// A pipe, a socket or a device.
    Special,
    /// A folder.
    Folder,
    /// A plain file.
    File,
}

/// Returns an issue if a part of a run has the wrong kind, such as a folder called `state.db`. Without the issue, that
/// part would look empty.
pub fn misplaced(path: &str, found: Odd) -> Option<Issue> {
    const ENDS: [&str; 5] = [".md", ".json", ".jsonl", ".db", ".prose"];
    let (name, above) = name_and_above(path);
    let (is_odd, what) = match found {
        Odd::Special => (
            [name, above].iter().any(|name| FOLDERS.contains(name))
                || ENDS.iter().any(|end| name.ends_with(end)),
            "a pipe, a socket or a device",
        ),
        Odd::Folder => (
            FILES.contains(&name) || is_file_of(name, above),
            "a folder instead of a file",
        ),
        Odd::File => (
            FOLDERS.contains(&name) || is_folder_of(name, above),
            "a file instead of a folder",
        ),
    };
    is_odd.then(|| {
        Issue::error("file-unreadable", format!("{path} is {what}"))
            .at_file(path)
            .hint("Restore the original file or folder: the run lacks its contents.")
    })
}

/// Returns a warning that the browser may have withheld files of this folder.
///
/// Chromium gives a page that was opened from disk only files whose names are harmless on every system, and does not
/// report the others.
pub fn names_hidden(folder: &str) -> Issue {
    let message = format!(
        "Some files of {folder} may be missing: a page opened from disk does not receive dropped files with < > : \" | ? * in their names, or with a dot, a blank or .lnk at the end"
    );
    Issue::noted("names-hidden", message)
        .hint("Use \u{201c}Open folder\u{2026}\u{201d}, or `prosescope view`.")
}

/// The rule name of [`names_hidden`].
pub const NAMES_HIDDEN: &str = "names-hidden";

/// Returns whether a browser may withhold a dropped file with this path.
pub fn is_hidden_name(path: &str) -> bool {
    let is_odd = |part: &str| {
        part.contains(['<', '>', ':', '"', '|', '?', '*'])
            || part.ends_with(['.', ' '])
            || part.ends_with(".lnk")
    };
    path.split('/').any(|part| !part.is_empty() && is_odd(part))
}

/// Returns an issue about the files that a browser listed but did not provide; `None` if there are no such files.
pub fn not_given(files: &[String]) -> Option<Issue> {
    let first = files.first()?;
    let message = match files.len() - 1 {
        0 => format!("the browser did not provide {first}"),
        1 => format!("the browser did not provide {first} and another file"),
        n => format!("the browser did not provide {first} and {n} other files"),
    };
    let issue = Issue::warning("file-not-given", message).at_file(first.as_str());
    Some(issue.hint(
        "Check that you may read the file and that its name is valid text. `prosescope view` reads such a file in any case.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_place_of_a_part_of_a_run_is_named() {
        use Odd::{File, Folder, Special};
        for (path, odd) in [
            (".prose/runs", &[File, Special][..]),
            ("r/state.db", &[Folder, Special]),
            ("r/gates", &[File, Special]),
            ("r/gates/a.pending.json", &[Folder, Special]),
            ("r/gates/audit.jsonl", &[Folder, Special]),
            ("r/bindings/a.md", &[Folder, Special]),
            ("r/bindings/a", &[Special]),
            ("r/agents/writer", &[File, Special]),
            ("r/imports/r--research", &[File, Special]),
            ("r/attachments/a", &[Special]),
            ("r/notes.md", &[Special]),
            ("r/services", &[]),
        ] {
            for found in [File, Folder, Special] {
                let issue = misplaced(path, found);
                assert_eq!(issue.is_some(), odd.contains(&found), "{path}: {found:?}");
            }
            let others = [
                "r/bindings/a",
                "r/attachments/a",
                "r/notes.md",
                "r/services",
            ];
            assert_eq!(link(path).is_some(), !others.contains(&path), "{path}");
        }
    }

    #[test]
    fn folders_of_tools_are_left_out_unless_a_run_holds_them() {
        for folder in [
            "src",
            "a/.prose/runs/x/bindings/target",
            "bindings/node_modules",
            ".prose/target/",
            "targets",
        ] {
            assert!(is_listed(folder), "{folder}");
        }
        for folder in [
            ".git",
            "target",
            "a/node_modules/",
            ".prose/.git",
            "x/target",
            ".prose/runs/.trash-20260115-143052-a7b3c9-1",
        ] {
            assert!(!is_listed(folder), "{folder}");
        }
        assert_eq!(left_out(&[]), None);
        assert_eq!(not_given(&[]), None);
        let three = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(
            not_given(&three).map(|i| i.message).as_deref(),
            Some("the browser did not provide a and 2 other files")
        );
        let two = [
            "web/node_modules".to_owned(),
            ".git".to_owned(),
            "runs/.trash-x".to_owned(),
        ];
        assert_eq!(
            left_out(&two).map(|i| i.message).as_deref(),
            Some("the folders web/node_modules and .git were skipped")
        );
    }
}
