//! Where bytes come from: the one door between the core and a shell.
//!
//! A shell implements [`Source`] over whatever it has: a folder on disk, files dropped into a browser, a local
//! server. The core decides what the files are and which to read; it never writes, and it asks for parts, never
//! for a whole large file.

use crate::database::{Database, DecodeError, Limits};
use crate::issue::Issue;
use crate::time::Stamp;

/// What a removed folder is called until it is gone.
pub const TRASH: &str = ".trash-";

/// A file that a source offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Path relative to the source, `/` between its parts, no `.` or `..`.
    pub path: String,
    /// Bytes.
    pub len: u64,
    /// When it was last changed, where the source knows.
    pub modified: Option<Stamp>,
}

/// Why a source could not give what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is no such file.
    #[error("there is no file {0}")]
    NotFound(String),
    /// The file changed since it was listed.
    #[error("{0} changed since it was opened; open it again")]
    Changed(String),
    /// The file is there but cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// What went wrong.
        cause: String,
    },
    /// A database was refused; the message says what was found, why, and what to do next.
    #[error("{path}: {cause}")]
    Database {
        /// The file.
        path: String,
        /// What was found and why it cannot be opened.
        cause: String,
        /// What to do next.
        next: String,
        /// Whether reading failed (no permission, a lock, an I/O error), so that another try may succeed; else what is
        /// there cannot be understood.
        failed: bool,
    },
}

impl SourceError {
    /// Why a database is not read.
    pub fn of_database(path: &str, error: &DecodeError) -> SourceError {
        SourceError::Database {
            path: path.to_owned(),
            cause: error.to_string(),
            next: error.next_step().to_owned(),
            failed: error.is_failed(),
        }
    }
}

/// A set of files that can be read in parts, and databases among them that can be opened.
pub trait Source {
    /// What to call it to a person: a path, a dropped folder's name.
    fn label(&self) -> String;

    /// The name of the folder that it lies in: its own, or that of the folder around a single file; empty where that is not
    /// known. A run's folder is named as the run.
    fn folder(&self) -> String {
        let label = self.label();
        let path = label.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
    }

    /// All files, in order of path.
    fn files(&self) -> &[FileEntry];

    /// The file at a path.
    fn file(&self, path: &str) -> Option<&FileEntry> {
        let files = self.files();
        let at = files.binary_search_by(|f| f.path.as_str().cmp(path)).ok()?;
        files.get(at)
    }

    /// The files whose path begins with `prefix` (a folder's path ending in `/`), in order of path.
    fn below(&self, prefix: &str) -> &[FileEntry] {
        let files = self.files();
        let start = files.partition_point(|f| f.path.as_str() < prefix);
        let rest = files.get(start..).unwrap_or_default();
        let end = rest.partition_point(|f| f.path.starts_with(prefix));
        rest.get(..end).unwrap_or_default()
    }

    /// Up to `len` bytes of a file from `offset`; fewer at its end.
    ///
    /// # Errors
    /// When the file is not there, changed, or cannot be read.
    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError>;

    /// Opens a database read-only, bounded by `limits`, and without a trace: the file and its folder stay as they are, byte
    /// for byte. Of a SQLite file, the shell opens a connection and gives [`crate::sqlite::Sqlite::of_source`]. A store that
    /// keeps many runs gives a reader that sees the rows of the run at this path alone.
    ///
    /// # Errors
    /// When it cannot be opened without writing, with what to do next.
    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError>;

    /// Opens a reader of the rows of all runs, where one store keeps them, each at the place `runs/{id}`: a list then asks
    /// this reader once, and only runs that did not end by themselves. `None`: each run lies in a place of its own.
    ///
    /// # Errors
    /// As [`Source::database`].
    fn all_runs(&self, _limits: &Limits) -> Result<Option<Box<dyn Database>>, SourceError> {
        Ok(None)
    }

    /// The same for the rows of these runs, by their ids.
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

    /// How many runs there are besides those that are listed, where only some of a store of many are.
    fn more_runs(&self) -> u32 {
        0
    }

    /// Hears which places will be read, the next one first: folders' paths, or files'. Where each read takes long, those of
    /// some may be made together.
    fn expect(&self, _places: &mut dyn Iterator<Item = &str>) {}

    /// What the shell had to do to open the database, when a person should know (an empty `-wal` was assumed,
    /// a hot journal was rolled back in a copy). Asked after [`Source::database`].
    fn notes(&self, _path: &str) -> Vec<Issue> {
        Vec::new()
    }

    /// When the run at a place (a folder's path, or a file's) was made, as finely as the source knows; nanoseconds since
    /// 1970 UTC. Asked only to order runs whose ids name the same second.
    fn made(&self, place: &str) -> Option<i128> {
        let program = format!("{place}/program.prose");
        let file = self
            .file(place)
            .or_else(|| self.file(program.trim_start_matches('/')))?;
        let millis = file.modified.as_ref()?.millis()?;
        Some(i128::from(millis) * 1_000_000)
    }

    /// Whether single files were given without the folder that they lie in: what they name beside them was then not given,
    /// rather than lost.
    fn is_loose(&self) -> bool {
        false
    }

    /// Whether several machines share the store: a file that its rows name may then lie on another one.
    fn is_shared(&self) -> bool {
        false
    }

    /// What a person should know of the listing: folders that were left out, or that cannot be listed.
    fn listed(&self) -> Vec<Issue> {
        Vec::new()
    }
}

/// Folders that hold no runs and very many files.
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];

/// Parts of a run, and what runs lie in: folders of any name may be in there.
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

/// Whether a folder below the one that was named is listed: its path, `/` between its parts.
///
/// Shells that leave a folder out say so: [`left_out`].
pub fn is_listed(folder: &str) -> bool {
    if is_trash(folder) {
        return false;
    }
    let mut parts = folder.trim_end_matches('/').rsplit('/');
    let name = parts.next().unwrap_or_default();
    !LEFT_OUT.contains(&name) || (name != ".git" && parts.any(|part| RUN_PARTS.contains(&part)))
}

/// Whether a folder is a run that is being removed ([`crate::upkeep::clean`]): never a run again, nor half of one.
fn is_trash(folder: &str) -> bool {
    let name = folder.trim_end_matches('/').rsplit('/').next();
    name.is_some_and(|name| name.starts_with(TRASH))
}

/// Says which folders were left out of a listing.
pub fn left_out(folders: &[String]) -> Option<Issue> {
    let folders: Vec<&str> = folders
        .iter()
        .map(String::as_str)
        .filter(|folder| !is_trash(folder))
        .collect();
    let message = match folders.as_slice() {
        [] => return None,
        [one] => format!("the folder {one} was not looked into"),
        [one, other] => format!("the folders {one} and {other} were not looked into"),
        [one, more @ ..] => {
            format!(
                "{one} and {} other folders were not looked into",
                more.len()
            )
        }
    };
    let issue = Issue::noted("folder-left-out", message).at_file(*folders.first()?);
    Some(issue.hint("Folders called .git, node_modules and target hold very many files and no runs; name one of them to look into it."))
}

/// Folders of a run, and the folder of runs.
const FOLDERS: [&str; 6] = [
    "agents",
    "attachments",
    "bindings",
    "gates",
    "imports",
    "runs",
];

/// Files of a run.
const FILES: [&str; 6] = [
    "agents.db",
    "audit.jsonl",
    "program.prose",
    "state.db",
    "state.md",
    "x_events.jsonl",
];

/// The name of what lies at a path, and of the folder it lies in.
fn name_and_above(path: &str) -> (&str, &str) {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    (name, parts.next().unwrap_or_default())
}

/// Whether a file of this name belongs into one of a run's folders.
fn is_file_of(name: &str, above: &str) -> bool {
    match above {
        "gates" => name.ends_with(".json"),
        "bindings" => name.ends_with(".md"),
        _ => false,
    }
}

/// Whether a folder of this name belongs into one of a run's folders.
fn is_folder_of(name: &str, above: &str) -> bool {
    match above {
        "agents" => !name.contains('.'),
        "imports" => name.contains("--"),
        _ => false,
    }
}

/// Says that a link stands where a part of a run would: what it leads to may lie outside of the run, and is not read.
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
            "Put what it leads to in its place, if that is the run's; or open it by its own path.",
        )
    })
}

/// What stands at a place that holds a plain file or a folder, and is neither, or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Odd {
    /// A pipe, a socket or a device.
    Special,
    /// A folder.
    Folder,
    /// A plain file.
    File,
}

/// Says that something else stands where a part of a run would: what that part says is not known, and is not "nothing".
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
            "a folder, and no file",
        ),
        Odd::File => (
            FOLDERS.contains(&name) || is_folder_of(name, above),
            "a file, and no folder",
        ),
    };
    is_odd.then(|| {
        Issue::error("file-unreadable", format!("{path} is {what}"))
            .at_file(path)
            .hint("Put back what stood there; what it says is missing here.")
    })
}

/// Says that a browser may have kept files of this folder back without a word.
///
/// Chromium gives a page that was opened from disk only files with names that are harmless on every system, and tells it
/// nothing of the others.
pub fn names_hidden(folder: &str) -> Issue {
    let message = format!(
        "Some files of {folder} may be missing: a page opened from disk does not receive dropped files with < > : \" | ? * in their names, or with a dot, a blank or .lnk at the end"
    );
    Issue::noted("names-hidden", message)
        .hint("Use \u{201c}Open folder\u{2026}\u{201d}, or `prosescope view`.")
}

/// The rule of [`names_hidden`].
pub const NAMES_HIDDEN: &str = "names-hidden";

/// Whether a browser may keep a dropped file of this path back.
pub fn is_hidden_name(path: &str) -> bool {
    let is_odd = |part: &str| {
        part.contains(['<', '>', ':', '"', '|', '?', '*'])
            || part.ends_with(['.', ' '])
            || part.ends_with(".lnk")
    };
    path.split('/').any(|part| !part.is_empty() && is_odd(part))
}

/// Says which files a browser named but did not give.
pub fn not_given(files: &[String]) -> Option<Issue> {
    let first = files.first()?;
    let message = match files.len() - 1 {
        0 => format!("the browser does not give {first}"),
        1 => format!("the browser does not give {first} and another file"),
        n => format!("the browser does not give {first} and {n} other files"),
    };
    let issue = Issue::warning("file-not-given", message).at_file(first.as_str());
    Some(issue.hint(
        "Check that you may read it and that its name is text; `prosescope view` reads it in any case.",
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
            Some("the browser does not give a and 2 other files")
        );
        let two = [
            "web/node_modules".to_owned(),
            ".git".to_owned(),
            "runs/.trash-x".to_owned(),
        ];
        assert_eq!(
            left_out(&two).map(|i| i.message).as_deref(),
            Some("the folders web/node_modules and .git were not looked into")
        );
    }
}
