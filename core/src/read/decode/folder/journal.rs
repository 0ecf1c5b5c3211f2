//! Reads a run folder with an unfinished change as if the change were complete. The folder's journal contains the
//! whole change, so a reader never sees only a part of the change.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::model::change::{FileChange, JOURNAL};
use crate::model::database::{Database, Limits};
use crate::model::issue::Issue;
use crate::model::source::{FileEntry, Source, SourceError};

/// Maximum bytes read of a journal.
const JOURNAL_MOST: u64 = 64 << 20;

/// Returns the source with the change in the journal of the run folder at `root` applied, because the files on disk
/// may contain only part of that change. Without a journal of Prosescope, returns the source unchanged.
pub fn as_written(source: Rc<dyn Source>, root: &str) -> Rc<dyn Source> {
    match changes(source.as_ref(), root) {
        Some((files, changed)) => Rc::new(JournaledSource {
            source,
            journal: format!("{root}{JOURNAL}"),
            files,
            changed,
        }),
        None => source,
    }
}

/// A changed file: the first `from` bytes of the existing file, followed by `then`.
struct JournaledChange {
    from: u64,
    then: Vec<u8>,
}

type Changes = (Vec<FileEntry>, BTreeMap<String, JournaledChange>);

fn changes(source: &dyn Source, root: &str) -> Option<Changes> {
    let path = format!("{root}{JOURNAL}");
    let len = source.file(&path)?.len;
    let most = usize::try_from(len.min(JOURNAL_MOST)).ok()?;
    let bytes = source.read(&path, 0, most).ok()?;
    let ops: Vec<FileChange> = serde_json::from_slice(&bytes).ok()?;
    if !ops.iter().all(FileChange::is_ours) {
        return None;
    }
    let mut files: BTreeMap<&str, FileEntry> = BTreeMap::new();
    let mut changed = BTreeMap::new();
    for op in &ops {
        let path = format!("{root}{}", op.path());
        let existing = source.file(&path);
        let (from, text) = match op {
            FileChange::Write { text, .. } => (0, text),
            FileChange::Append { at, text, .. } => {
                let len = existing.map_or(0, |file| file.len);
                // A log only grows. If the log is shorter than the journal records, the journal belongs to another log.
                if len < *at || changed.contains_key(&path) {
                    return None;
                }
                let done = source.read(&path, *at, text.len());
                if len > *at && done.is_ok_and(|bytes| bytes == text.as_bytes()) {
                    continue;
                }
                (*at, text)
            }
        };
        let then = text.clone().into_bytes();
        let file = FileEntry {
            len: from.saturating_add(then.len() as u64),
            modified: existing.and_then(|file| file.modified.clone()),
            path: path.clone(),
        };
        files.insert(op.path(), file);
        changed.insert(path, JournaledChange { from, then });
    }
    let mut all: Vec<FileEntry> = source.files().to_vec();
    all.retain(|file| !changed.contains_key(&file.path));
    all.extend(files.into_values());
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Some((all, changed))
}

/// A source that returns the changed content of the files in a journal, and otherwise the content on disk.
struct JournaledSource {
    source: Rc<dyn Source>,
    journal: String,
    files: Vec<FileEntry>,
    changed: BTreeMap<String, JournaledChange>,
}

impl Source for JournaledSource {
    fn label(&self) -> String {
        self.source.label()
    }

    fn folder(&self) -> String {
        self.source.folder()
    }

    fn files(&self) -> &[FileEntry] {
        &self.files
    }

    fn is_shared(&self) -> bool {
        self.source.is_shared()
    }

    fn is_loose(&self) -> bool {
        self.source.is_loose()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let Some(changed) = self.changed.get(path) else {
            return self.source.read(path, offset, len);
        };
        let mut bytes = Vec::new();
        if offset < changed.from {
            let most = usize::try_from(changed.from - offset).unwrap_or(usize::MAX);
            bytes = self.source.read(path, offset, most.min(len))?;
        }
        let at = offset.saturating_sub(changed.from);
        let rest = usize::try_from(at)
            .ok()
            .and_then(|at| changed.then.get(at..));
        let more = len.saturating_sub(bytes.len());
        bytes.extend(rest.unwrap_or_default().iter().take(more));
        Ok(bytes)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        self.source.database(path, limits)
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        self.source.notes(path)
    }

    fn listed(&self) -> Vec<Issue> {
        let mut listed = self.source.listed();
        listed.push(
            Issue::noted(
                "unfinished-write",
                "the last change of the run is not finished: its writer is still at work, or was killed",
            )
            .at_file(&self.journal)
            .hint("The change is shown as finished, because this file contains all of it. The next command that records in the run finishes the change."),
        );
        listed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::GateStatus;
    use crate::pages::session::{Options, Session};
    use crate::read::sqlite::MemorySource;

    const GATE: &str = r#"{"id":"g","status":"pending"}"#;
    const CREATED: &str = "{\"id\":1,\"gate_id\":\"g\",\"event_type\":\"created\"}\n";
    const APPROVED: &str = "{\"id\":2,\"gate_id\":\"g\",\"event_type\":\"approved\"}\n";
    const DECIDED: &str = r#"{"gate_id":"g","decision":"approved"}"#;

    fn journal() -> Value {
        json!([
            {"Append": {"path": "gates/audit.jsonl", "at": CREATED.len(), "text": APPROVED}},
            {"Write": {"path": "gates/g.resolved.json", "text": DECIDED, "keep": null}},
        ])
    }

    /// Opens a folder of runs in which the writer of r1 has written this part of the log, and this file of the gate.
    fn open(journal: &Value, log: &str, gate: Option<&str>) -> Session {
        let mut files = vec![
            (
                "runs/r1/state.md",
                "# Execution State\n\nrun: r1\n".to_owned(),
            ),
            ("runs/r1/gates/g.pending.json", GATE.to_owned()),
            ("runs/r1/gates/audit.jsonl", log.to_owned()),
            ("runs/r1/x_journal.json", journal.to_string()),
            (
                "runs/r2/state.md",
                "# Execution State\n\nrun: r2\n".to_owned(),
            ),
        ];
        files.extend(gate.map(|text| ("runs/r1/gates/g.resolved.json", text.to_owned())));
        let files = files.into_iter();
        let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes()));
        let source = Rc::new(MemorySource::new("runs", files));
        Session::open(source, "runs/r1", &Options::default()).unwrap()
    }

    #[test]
    fn what_the_journal_tells_of_is_read_as_done_however_far_it_came() {
        let whole = format!("{CREATED}{APPROVED}");
        for (log, gate) in [
            (CREATED, None),
            (&whole[..CREATED.len() + 20], None),
            (&whole, None),
            (&whole, Some(DECIDED)),
        ] {
            let session = open(&journal(), log, gate);
            let run = session.run();
            assert_eq!(run.gates[0].status, GateStatus::Approved, "{log}");
            let events: Vec<&str> = run.audit.iter().map(|e| e.kind.word()).collect();
            assert_eq!(events, ["created", "approved"], "{log}");
            let rules: Vec<&str> = run.issues.iter().map(|i| &*i.rule).collect();
            assert!(rules.contains(&"unfinished-write"), "{rules:?}");
            assert!(!rules.contains(&"malformed-json"), "{rules:?}");
        }
    }

    #[test]
    fn a_journal_that_is_not_our_writers_changes_nothing() {
        for odd in [
            json!("[]"),
            json!([{"Write": {"path": "program.prose", "text": "x", "keep": null}}]),
            json!([{"Write": {"path": "gates/../../r2/state.md", "text": "x", "keep": null}}]),
            json!([{"Append": {"path": "gates/audit.jsonl", "at": 999, "text": APPROVED}}]),
        ] {
            let session = open(&odd, CREATED, None);
            let run = session.run();
            assert_eq!(run.gates[0].status, GateStatus::Pending, "{odd}");
            assert_eq!(run.audit.len(), 1, "{odd}");
            let rules: Vec<&str> = run.issues.iter().map(|i| &*i.rule).collect();
            assert!(!rules.contains(&"unfinished-write"), "{rules:?}");
        }
    }

    #[test]
    fn a_changed_file_is_read_in_parts() {
        let files = [
            ("x_events.jsonl", "0123456789torn"),
            (
                "x_journal.json",
                r#"[{"Append":{"path":"x_events.jsonl","at":10,"text":"abcdef"}}]"#,
            ),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let source = as_written(Rc::new(MemorySource::new("r", files)), "");
        assert_eq!(source.file("x_events.jsonl").map(|f| f.len), Some(16));
        for (offset, len, expected) in [
            (0, 99, "0123456789abcdef"),
            (0, 4, "0123"),
            (8, 4, "89ab"),
            (10, 2, "ab"),
            (13, 9, "def"),
            (16, 9, ""),
            (99, 9, ""),
        ] {
            let read = source.read("x_events.jsonl", offset, len).unwrap();
            assert_eq!(String::from_utf8_lossy(&read), expected, "{offset}, {len}");
        }
    }
}
