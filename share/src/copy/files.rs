//! Decides for each file of a run whether it is shared, and how it is redacted.

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::model::ValueAt;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::{DatabaseAt, Session};
use prosescope_core::read::decode::folder::is_workings;

use super::sealed::LogRow;
use super::{Redactor, TextPlace};
use crate::what::SharedContent;

/// The longest file that is read as text, in bytes; a longer file is left out.
const LONGEST: u64 = 64 << 20;

/// A run to share, with its place in the source and in the copy.
pub struct SharedRun<'a> {
    /// The run; `None` for a database of workflows.
    pub session: Option<&'a Session>,
    /// The source with the run's files.
    pub source: &'a dyn Source,
    /// The run's folder in the source, ending in `/`, or empty.
    pub root: String,
    /// The path of the run's database in the source, if the run has one.
    pub database: Option<String>,
    /// Whether the run consists of its database alone, without the files beside it.
    pub alone: bool,
    /// The run's folder in the shared copy, ending in `/`, or empty.
    pub to: String,
}

impl<'a> SharedRun<'a> {
    /// Describes how to share the run at `place` in a source. A run in a folder keeps the folder's name. A database
    /// alone is shared without the files beside it.
    pub fn run(session: &'a Session, source: &'a dyn Source, place: &str) -> SharedRun<'a> {
        let at = DatabaseAt::of(source, session, place);
        let root = session.run().root.to_string();
        let folder = root.trim_end_matches('/').rsplit('/').next();
        let folder = folder.filter(|name| !name.is_empty());
        SharedRun {
            to: match (at.alone, folder) {
                (true, _) => String::new(),
                (false, Some(name)) => format!("{name}/"),
                (false, None) => format!("{}/", session.run().id),
            },
            session: Some(session),
            source,
            root,
            database: at.path,
            alone: at.alone,
        }
    }

    /// Describes how to share a database of workflows.
    pub fn workflows(source: &'a dyn Source, database: &str) -> SharedRun<'a> {
        SharedRun {
            database: Some(database.to_owned()),
            alone: true,
            ..SharedRun::whole(source)
        }
    }

    /// Returns the run's files, including those that are never shared.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let files = self.source.below(&self.root).iter();
        files.filter(|file| !self.alone || self.database.as_ref() == Some(&file.path))
    }

    /// Describes how to share all files of a source, even if they are not a run.
    pub fn whole(source: &'a dyn Source) -> SharedRun<'a> {
        SharedRun {
            session: None,
            source,
            root: String::new(),
            database: None,
            alone: false,
            to: String::new(),
        }
    }
}

/// A file to share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToShare {
    /// The file's path in the source.
    pub path: String,
    /// The file's path in the shared copy.
    pub to: String,
    /// The file's path within its run's folder in the copy.
    pub inside: String,
    /// The file's kind, which decides how the file is redacted.
    pub kind: FileKind,
    /// The file's size in bytes.
    pub len: u64,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A database.
    Database,
    /// Text or JSON.
    Text,
    /// Text of a kind that the user can leave out.
    Content(SharedContent),
    /// The audit log. This kind sorts last: the log contains hashes of texts in the other files, so these files must be
    /// redacted first.
    Log,
}

/// The paths already used in a shared copy.
pub type TakenPaths = BTreeSet<String>;

/// Returns the files of a run to share, each with its path in the copy. `redactor` counts the omitted `.env` files.
/// `taken` contains the paths already used in the copy, and gets the new paths.
pub fn files_of(
    shared: &SharedRun<'_>,
    taken: &mut TakenPaths,
    redactor: &mut Redactor,
) -> Vec<FileToShare> {
    let folder = match shared.to.trim_end_matches('/') {
        "" => String::new(),
        name => {
            let place = TextPlace {
                of: "name of a run",
                at: "",
            };
            let now = redactor.text(place, name);
            format!("{}/", free_path(now.as_deref().unwrap_or(name), taken))
        }
    };
    let mut files = Vec::new();
    for file in shared.files() {
        let inside = file.path.strip_prefix(&shared.root).unwrap_or(&file.path);
        let is_database = shared.database.as_ref() == Some(&file.path);
        let Some(kind) = (match is_database {
            true => Some(FileKind::Database),
            false => kind(inside, redactor, file.len),
        }) else {
            continue;
        };
        let place = TextPlace {
            of: "name of a file",
            at: "",
        };
        let name = redactor
            .text(place, inside)
            .unwrap_or_else(|| inside.to_owned());
        let to = free_path(&format!("{folder}{name}"), taken);
        files.push(FileToShare {
            path: file.path.clone(),
            inside: to.strip_prefix(&folder).unwrap_or(&to).to_owned(),
            to,
            kind,
            len: file.len,
        });
    }
    files.sort_by(|a, b| (a.kind == FileKind::Log, &a.to).cmp(&(b.kind == FileKind::Log, &b.to)));
    files
}

/// Returns an unused path, in which `\` is replaced because it separates folders on Windows. Two files can have the
/// same name after redaction, so a number makes the path unique: `a (2).md`.
fn free_path(path: &str, taken: &mut TakenPaths) -> String {
    let plain = path.replace('\\', "_");
    let mut free = plain.clone();
    let mut n = 1;
    while !taken.insert(free.clone()) {
        n += 1;
        let (stem, end) = match plain.rsplit_once('.') {
            Some((stem, end)) if !end.contains('/') => (stem, format!(".{end}")),
            _ => (plain.as_str(), String::new()),
        };
        free = format!("{stem} ({n}){end}");
    }
    free
}

/// Returns the kind of a file from its path within the run; `None` if the file is never shared.
fn kind(path: &str, redactor: &mut Redactor, len: u64) -> Option<FileKind> {
    // The folder of an import contains a run of its own, so the path inside that run decides the kind.
    let mut inside = path;
    while let Some((_, rest)) = inside
        .strip_prefix("imports/")
        .and_then(|rest| rest.split_once('/'))
    {
        inside = rest;
    }
    let (folder, rest) = inside.split_once('/').unwrap_or(("", inside));
    let name = inside.rsplit('/').next().unwrap_or(inside);
    let beside = ["-wal", "-shm", "-journal"];
    // A file that a program is writing now has another name in a moment.
    if is_workings(name) || beside.iter().any(|end| name.ends_with(end)) {
        return None;
    }
    if name == ".env" || name.starts_with(".env.") {
        redactor.leave_out(".env", len);
        return None;
    }
    let content = match folder {
        "x_history" => Some(SharedContent::History),
        "attachments" => Some(SharedContent::Attachments),
        "agents" if rest.ends_with("/memory.md") => Some(SharedContent::Memories),
        "agents" => Some(SharedContent::Prompts),
        _ if name.ends_with(".prose") => Some(SharedContent::Program),
        _ => None,
    };
    Some(match content {
        Some(content) => FileKind::Content(content),
        None if inside == "gates/audit.jsonl" => FileKind::Log,
        None if name.ends_with(".db") || name.ends_with(".sqlite") => FileKind::Database,
        None => FileKind::Text,
    })
}

/// Returns, for each file with the value of a binding, the byte offset at which the value begins.
pub fn values_of(session: Option<&Session>) -> BTreeMap<String, u64> {
    let bindings = session.map(|session| session.run().bindings.iter());
    let bindings = bindings.into_iter().flatten();
    let values = bindings.filter_map(|binding| match &binding.value {
        ValueAt::File { path, start, .. } => Some((path.to_string(), *start)),
        _ => None,
    });
    values.collect()
}

impl Redactor {
    /// Returns the redacted bytes of a file that is not a database; `None` if the file is left out.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file(
        &mut self,
        shared: &SharedRun<'_>,
        file: &FileToShare,
        values: &BTreeMap<String, u64>,
    ) -> Result<Option<Vec<u8>>, SourceError> {
        self.add_scanned(file.len);
        let FileKind::Content(content) = file.kind else {
            return self.plain(shared, file, values);
        };
        if !self.what.has(content) {
            self.leave_out(content.word(), file.len);
            return Ok(None);
        }
        if self.what.max_value.is_some_and(|most| file.len > most) {
            self.leave_out("long files", file.len);
            return Ok(None);
        }
        self.plain(shared, file, values)
    }

    fn plain(
        &mut self,
        shared: &SharedRun<'_>,
        file: &FileToShare,
        values: &BTreeMap<String, u64>,
    ) -> Result<Option<Vec<u8>>, SourceError> {
        if file.len > LONGEST && !self.raw {
            self.leave_out("files longer than 64 MB", file.len);
            return Ok(None);
        }
        let whole = usize::try_from(file.len).unwrap_or(usize::MAX);
        let bytes = shared.source.read(&file.path, 0, whole)?;
        let text = match String::from_utf8(bytes) {
            Ok(text) if self.raw || !self.is_wide(&text) => text,
            Err(error) if self.raw => return Ok(Some(error.into_bytes())),
            _ => {
                self.leave_out("files that are not text", file.len);
                return Ok(None);
            }
        };
        let of = place_of(file);
        let inside = file.inside.as_str();
        let place = TextPlace { of, at: inside };
        let now = match file.kind {
            FileKind::Log => self.log(place, &text),
            _ if inside.ends_with(".jsonl") => self.lines(place, &text),
            _ if inside.ends_with(".json") => {
                let now = self.json(place, &text);
                if let Some(now) = &now {
                    self.gate_changed(&text, now);
                }
                now
            }
            _ => match values.get(&file.path) {
                Some(start) => self.binding(place, &text, *start),
                None => self.said(place, &text),
            },
        };
        Ok(Some(now.unwrap_or(text).into_bytes()))
    }

    /// Records the changes of a gate's long texts, because the audit log contains hashes of these texts.
    fn gate_changed(&mut self, before: &str, now: &str) {
        let read = |text: &str| serde_json::from_str::<LogRow>(text).unwrap_or_default();
        let (before, now) = (read(before), read(now));
        for key in ["prompt", "on_reject"] {
            let text = |of: &LogRow| {
                of.get(key)
                    .and_then(|value| value.as_str())
                    .map(str::to_owned)
            };
            if let (Some(before), Some(now)) = (text(&before), text(&now)) {
                self.sealed.hashed(&before, &now);
            }
        }
    }

    /// Redacts the file of a binding. The binding's value begins at byte `start`, after a header.
    fn binding(&mut self, place: TextPlace<'_>, text: &str, start: u64) -> Option<String> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let (Some(head), Some(value)) = (text.get(..start), text.get(start..)) else {
            return self.text(place, text);
        };
        if let Err(note) = self.whole(SharedContent::Values, value.len() as u64) {
            let head = self.text(place, head).unwrap_or_else(|| head.to_owned());
            return Some(format!("{head}{note}\n"));
        }
        let file = place.at.rsplit('/').next().unwrap_or_default();
        let name = file.trim_end_matches(".md").split("__").next();
        let said = value.trim_end();
        let (head_now, said_now) = (
            self.text(place, head),
            self.named(place, name.unwrap_or_default(), said),
        );
        if head_now.is_none() && said_now.is_none() {
            return None;
        }
        let (head, rest) = (head_now.as_deref().unwrap_or(head), value.get(said.len()..));
        let said = said_now.as_deref().unwrap_or(said);
        Some([head, said, rest.unwrap_or_default()].concat())
    }

    /// Redacts each line of a JSON Lines file; `None` if nothing is replaced.
    fn lines(&mut self, place: TextPlace<'_>, text: &str) -> Option<String> {
        let mut changed = false;
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let now = self.json(place, line);
            changed |= now.is_some();
            out.push_str(now.as_deref().unwrap_or(line));
        }
        changed.then_some(out)
    }

    /// Redacts the audit log of a run in a folder; `None` if no row changes.
    fn log(&mut self, place: TextPlace<'_>, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let body = line.trim_end_matches(['\r', '\n']);
            let Ok(before) = serde_json::from_str::<LogRow>(body) else {
                out.push_str(&self.text(place, line).unwrap_or_else(|| line.to_owned()));
                continue;
            };
            let mut row = before.clone();
            self.log_row(place, &mut row, false);
            match row == before {
                true => out.push_str(line),
                false => {
                    out.push_str(&serde_json::Value::Object(row).to_string());
                    out.push('\n');
                }
            }
        }
        (out != text).then_some(out)
    }
}

fn place_of(file: &FileToShare) -> &'static str {
    match file.kind {
        FileKind::Database => "database",
        FileKind::Text => "files",
        FileKind::Content(content) => content.word(),
        FileKind::Log => "gate_audit_log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_gets_a_path_of_its_own() {
        let mut taken = TakenPaths::new();
        let paths = ["r/a\\b.md", "r/a_b.md", "r/a_b.md", "r/[x #1]", "r/[x #1]"];
        let paths = paths.map(|path| free_path(path, &mut taken));
        assert_eq!(
            paths,
            [
                "r/a_b.md",
                "r/a_b (2).md",
                "r/a_b (3).md",
                "r/[x #1]",
                "r/[x #1] (2)"
            ]
        );
    }
}
