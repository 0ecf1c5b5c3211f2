//! Reads the files of one run folder in parts, within limits.

use std::ops::Range;

use super::bindings::few;
use crate::model::issue::{Issue, Issues};
use crate::model::source::{FileEntry, Source};
use crate::model::text::first_lines;
use crate::model::time::Stamp;
use crate::read::decode::room::{MOST_HELD, too_many_rows};
use crate::read::decode::text::{is_plain_path, lossy};

/// Maximum number of issues of one kind that are listed one by one.
const MOST_LISTED: usize = 50;

/// A run folder inside a source.
pub(super) struct RunTree<'a> {
    source: &'a dyn Source,
    /// The folder's path inside the source, ending in `/`; empty for the source itself.
    pub(super) root: String,
    /// The folder's files, ordered by path, without files whose paths are unsafe.
    files: Vec<&'a FileEntry>,
    issues: Issues,
    /// The paths of bindings that are encrypted envelopes.
    pub(super) sealed: Vec<String>,
    /// Approximate bytes of memory taken by the program and the rows read so far.
    pub(super) held: usize,
}

/// Whether a file is only used during writing and not part of the run: the lock file, or a file not yet renamed to
/// its final name.
pub fn is_workings(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == ".lock" || name.starts_with(".tmp-") || name.starts_with(".new-")
}

impl<'a> RunTree<'a> {
    pub(super) fn new(source: &'a dyn Source, root: &str) -> RunTree<'a> {
        let root = match root.trim_end_matches('/') {
            "" => String::new(),
            root => format!("{root}/"),
        };
        let mut tree = RunTree {
            source,
            root: root.clone(),
            files: Vec::new(),
            issues: Issues::listing(MOST_LISTED),
            sealed: Vec::new(),
            held: 0,
        };
        let mut odd: Vec<&str> = Vec::new();
        for file in source.below(&root) {
            if is_workings(tree.relative(file)) {
                continue;
            }
            if is_plain_path(tree.relative(file)) {
                tree.files.push(file);
            } else {
                odd.push(&file.path);
            }
        }
        if let [first, more @ ..] = odd.as_slice() {
            let message = match more.len() {
                0 => format!("the path {first} is not safe, so the file is not read"),
                n => format!(
                    "the path {first} and {n} others are not safe, so these files are not read"
                ),
            };
            tree.issue(
                Issue::warning("unsafe-path", message)
                    .hint("Files whose path has an empty part, `.` or `..` are not read, because such a path may lead out of the run."),
            );
        }
        tree
    }

    /// Returns a file's path inside the run folder.
    pub(super) fn relative(&self, file: &'a FileEntry) -> &'a str {
        file.path.get(self.root.len()..).unwrap_or_default()
    }

    /// Returns a file's path inside the run folder like [`RunTree::relative`], but also accepts a file outside of this
    /// tree.
    pub(super) fn inside<'f>(&self, file: &'f FileEntry) -> &'f str {
        file.path.get(self.root.len()..).unwrap_or(&file.path)
    }

    pub(super) fn files(&self) -> &[&'a FileEntry] {
        &self.files
    }

    /// Returns the file at that path inside the run folder.
    pub(super) fn get(&self, path: &str) -> Option<&'a FileEntry> {
        let at = self
            .files
            .binary_search_by(|f| self.relative(f).cmp(path))
            .ok()?;
        self.files.get(at).copied()
    }

    /// Returns the indexes of the files whose path inside the run folder begins with `dir` (which ends in `/`).
    pub(super) fn under(&self, dir: &str) -> Range<usize> {
        let start = self.files.partition_point(|f| self.relative(f) < dir);
        let rest = self.files.get(start..).unwrap_or_default();
        start
            ..start
                + rest
                    .iter()
                    .take_while(|f| self.relative(f).starts_with(dir))
                    .count()
    }

    /// Returns a file by its index in [`RunTree::files`].
    pub(super) fn at(&self, place: usize) -> Option<&'a FileEntry> {
        self.files.get(place).copied()
    }

    /// Returns the first bytes of a file; a failed read becomes an issue.
    pub(super) fn head(&mut self, file: &FileEntry, most: usize) -> Option<Vec<u8>> {
        match self.source.read(&file.path, 0, most) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.issue(
                    Issue::error("file-unreadable", error.to_string())
                        .at_file(self.inside(file))
                        .hint("Check that you have permission to read the file. The content of the file is missing here."),
                );
                None
            }
        }
    }

    /// Returns the first `most` bytes of a file as text. If the file is longer, adds an issue.
    pub(super) fn text(&mut self, file: &FileEntry, most: usize) -> Option<String> {
        let bytes = self.head(file, most)?;
        let path = self.inside(file).to_owned();
        if file.len > bytes.len() as u64 {
            let message = format!(
                "{path} is {} bytes long; only the first {} bytes were read",
                file.len,
                bytes.len()
            );
            self.issue(
                Issue::warning("file-cut", message)
                    .at_file(path.clone())
                    .hint("Open the file itself to see the rest."),
            );
        }
        let (text, issues) = lossy(&bytes);
        let text = text.into_owned();
        self.issues_of(&path, issues);
        Some(text)
    }

    /// Counts the memory for the rows of the file at `path`. Returns the number of rows that fit into the limit, and
    /// adds an issue if some do not fit.
    pub(super) fn room(&mut self, path: &str, bytes_a_row: usize, rows: usize) -> usize {
        let room = MOST_HELD.saturating_sub(self.held) / bytes_a_row.max(1);
        let most = room.min(rows);
        self.held += most * bytes_a_row;
        if most < rows {
            let issue =
                too_many_rows(path, most).hint("Open the files themselves to see all rows.");
            self.issue(issue.at_file(path));
        }
        most
    }

    /// Returns the first lines of a log, as many as fit into the limit if each row takes `bytes_a_row`.
    pub(super) fn first_rows<'l>(
        &mut self,
        path: &str,
        bytes_a_row: usize,
        log: &'l str,
    ) -> &'l str {
        let most = self.room(path, bytes_a_row, log.lines().count());
        first_lines(log, most)
    }

    pub(super) fn issue(&mut self, issue: Issue) {
        self.issues.add(issue);
    }

    /// Adds issues of a file; `path` is the file's path inside the run folder.
    pub(super) fn issues_of(&mut self, path: &str, issues: Vec<Issue>) {
        self.issues
            .extend(issues.into_iter().map(|issue| issue.at_file(path)));
    }

    /// Returns all issues, in the order found. One issue covers all encrypted envelopes, because a run often has dozens
    /// of them.
    pub(super) fn finish(mut self) -> Vec<Issue> {
        let paths = std::mem::take(&mut self.sealed);
        let (message, place) = match paths.as_slice() {
            [] => return self.issues.finish(),
            [one] => (format!("the binding in {one} is encrypted"), one.as_str()),
            many => {
                let count = many.len();
                let message = format!("{count} bindings are encrypted: {}", few(many));
                (message, "bindings")
            }
        };
        self.issue(
            Issue::noted("encrypted-value", message)
                .at_file(place)
                .hint("The encrypted text is shown. Only the holder of the key can decrypt it."),
        );
        self.issues.finish()
    }

    /// Returns the latest modification time of the run's files. Files of nested runs do not count.
    pub(super) fn touched(&self) -> Option<Stamp> {
        let own = self
            .files
            .iter()
            .filter(|f| !self.relative(f).starts_with("imports/"));
        own.filter_map(|f| f.modified.as_ref()?.millis())
            .max()
            .map(Stamp::At)
    }
}
