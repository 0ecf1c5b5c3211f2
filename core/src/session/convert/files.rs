use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::values::inside;
use super::agents::own_agents;
use super::bindings::has_history;
use super::{Left, Session, odd_keys};
use crate::decode::{folder, memory_md};
use crate::model::{StateFile, ValueAt};
use crate::schema;
use crate::source::FileEntry;
use crate::trace::NodeKind;

/// Statements that are named where several have no place.
const NAMED: usize = 20;

/// Bytes of a gate's file that are read.
const GATE_MOST: u64 = 1 << 20;
/// What a gate's file says beside the table's columns (filesystem.md, "Approval Gates").
const GATE_KEYS: &[&str] = &["gate_id", "decision", "principal", "timestamp", "comment"];
/// What becomes of the files in the run's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Those that are copied as they are: the path inside the run, and the one inside the new one.
    pub copied: Vec<(String, String)>,
    /// Those that are copied once more at the end: what recording made of them says nothing else.
    pub again: Vec<String>,
    /// What they say that has no place.
    pub left: Vec<Left>,
}

impl Files {
    fn copy(&mut self, path: &str) {
        self.copied.push((path.to_owned(), path.to_owned()));
    }
}

impl Session {
    /// Which files of the run's folder are copied when the run is converted: all that rows do not say. Beside a
    /// database that lies alone (not `all`) they are none of the run's, but for the attachments that its rows name.
    pub fn carry_files(&self, to_folder: bool, all: bool) -> Files {
        let mut files = Files::default();
        if !all {
            for path in self.named_attachments() {
                files.copy(&path);
            }
            return files;
        }
        let told = self.told_by_rows();
        let mut segments = BTreeSet::new();
        for file in self.values.source.below(&self.root) {
            let path = file.path.get(self.root.len()..).unwrap_or_default();
            let of_database = self.values.db.as_ref().is_some_and(|db| {
                // A server's rows are listed under the name of a file, and called by the server's.
                let name = match db.db.holds_many_runs() {
                    true => "state.db",
                    false => &*db.name,
                };
                path.strip_prefix(name)
                    .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"))
            });
            if of_database || path == "x_checkpoint.jsonl" || folder::is_workings(path) {
                continue;
            }
            match to_folder {
                true => self.beside(path, &mut files),
                false => self.of_folder(file, path, &told, &mut segments, &mut files),
            }
        }
        files
    }

    /// The attachments that rows name and that are there.
    fn named_attachments(&self) -> BTreeSet<String> {
        let mut bindings = self.run.bindings.clone();
        self.values.binding_tails(&mut bindings);
        let named = bindings
            .iter()
            .filter_map(|b| inside(b.attachment.as_deref()?));
        let there = |path: &String| {
            self.values
                .source
                .file(&format!("{}{path}", self.root))
                .is_some()
        };
        named.filter(there).collect()
    }

    /// A file beside a database.
    fn beside(&self, path: &str, files: &mut Files) {
        let alone = path == "state.md" && self.told_by_state_file();
        let read = matches!(
            folder::role(path),
            Some(
                "binding"
                    | "memory"
                    | "segment"
                    | "gate"
                    | "audit log"
                    | "events"
                    | "imports"
                    | "checkpoint"
                    | "journal"
                    | "state file"
            )
        );
        let history = path.strip_prefix("x_history/").is_some_and(|below| {
            let of = |dir: &str| {
                below
                    .strip_prefix(dir)?
                    .rsplit_once('/')
                    .map(|(stem, _)| stem)
            };
            of("bindings/").is_some_and(|stem| has_history(self, stem))
                || of("agents/").is_some_and(|name| own_agents(self).any(|a| *a.name == *name))
        });
        let same = |file: &StateFile| file.status == self.run.status;
        if alone && self.run.state_file.as_ref().is_some_and(same) {
            files.again.push(path.to_owned());
        }
        if (read || history) && !alone {
            let what = "it lay beside the database, which says it itself: not carried";
            files.left.push(Left::new(path, what));
        } else {
            files.copy(path);
        }
    }

    /// A file of a folder, on the way to a database.
    fn of_folder(
        &self,
        file: &FileEntry,
        path: &str,
        told: &BTreeSet<&str>,
        segments: &mut BTreeSet<(String, i64)>,
        files: &mut Files,
    ) {
        let (top, below) = path.split_once('/').unwrap_or((path, ""));
        match (top, below) {
            ("x_events.jsonl" | "x_imports.jsonl", "") | ("gates", "audit.jsonl") => {}
            // A stray database would lie where the new one does.
            _ if folder::role(path) == Some("database") => {
                let what = "it holds no table of a run: not carried";
                files.left.push(Left::new(path, what));
            }
            ("state.md", "") if self.told_by_state_file() => files.copy(path),
            ("state.md", "") => self.state_file(path, files),
            ("bindings", _) if told.contains(path) => {}
            ("bindings", _) => {
                files.copy(path);
                let what = "it is not read as a binding: copied as a file";
                files.left.push(Left::new(path, what));
            }
            ("agents", _) if told.contains(path) => {}
            ("agents", _) => {
                let segment = below.split_once('/').and_then(|(agent, file)| {
                    Some((agent.to_owned(), memory_md::segment_number(agent, file)?))
                });
                let segment =
                    segment.filter(|(name, _)| own_agents(self).any(|a| *a.name == **name));
                if segment.is_none_or(|segment| !segments.insert(segment)) {
                    files.copy(path);
                }
            }
            ("gates", name) if name.ends_with(".json") => self.gate_file(file, path, files),
            ("x_history", _) if self.is_history(below) => {}
            _ => files.copy(path),
        }
    }

    /// Whether what ran is told by the state file alone: without rows it is all there is. A file that marks no statement tells it
    /// too, together with the values beside it: where there is one, a value shows that its statement is over.
    pub(super) fn told_by_state_file(&self) -> bool {
        let tells = |file: &StateFile| {
            let marks = file
                .trace
                .iter()
                .filter_map(|line| line.annotation.as_ref());
            !file.parallels.is_empty()
                || !file.loops.is_empty()
                || !file.call_stack.is_empty()
                || marks.into_iter().any(|mark| !mark.ahead && !mark.declared)
        };
        let file = self.run.state_file.as_ref();
        !self.run.told_by_rows()
            && file.is_some_and(|file| tells(file) || !self.trace.nodes.is_empty())
    }

    /// How many statements are known to have ended, and which; `None` where none is.
    pub(super) fn ended(&self) -> Option<String> {
        let nodes = self.trace.nodes.iter();
        let all: Vec<_> = nodes
            .filter(|node| {
                let is_part = matches!(node.kind, NodeKind::Branch { .. } | NodeKind::Round { .. });
                !is_part && !node.status.is_open()
            })
            .map(|node| match node.line {
                Some(line) => format!("line {line}"),
                None => format!("`{}`", head(&node.text)),
            })
            .collect();
        let some = all
            .iter()
            .take(NAMED)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        let more = all.len().saturating_sub(NAMED);
        match all.len() {
            0 => None,
            1 => Some(format!("1 statement that ended ({some})")),
            n if more == 0 => Some(format!("{n} statements that ended ({some})")),
            n => Some(format!(
                "{n} statements that ended ({some}, and {more} more)"
            )),
        }
    }

    /// Files that are rows in a database.
    fn told_by_rows(&self) -> BTreeSet<&str> {
        let bindings = self.run.bindings.iter().map(|binding| &binding.value);
        let memories = own_agents(self).map(|agent| &agent.memory);
        bindings
            .chain(memories)
            .filter_map(|value| match value {
                ValueAt::File { path, .. } => path.strip_prefix(self.root.as_str()),
                _ => None,
            })
            .collect()
    }

    /// What state.md says is in the rows, but for what no document lists.
    fn state_file(&self, path: &str, files: &mut Files) {
        let Some(file) = &self.run.state_file else {
            files.copy(path);
            return;
        };
        let keys = file.extra.iter().map(|(key, _)| &**key);
        let sections = file.sections.iter().map(|(heading, _)| &**heading);
        let odd: Vec<&str> = keys.chain(sections).collect();
        if odd.is_empty() {
            return;
        }
        let to = self.free_in_history("state");
        let what = format!("no place for {}: it is kept as {to}", odd.join(", "));
        files.left.push(Left::new(path, what));
        files.copied.push((path.to_owned(), to));
    }

    fn free_in_history(&self, stem: &str) -> String {
        let mut n = 1;
        loop {
            let path = format!("x_history/{stem}/{n}.md");
            if self
                .values
                .source
                .file(&format!("{}{path}", self.root))
                .is_none()
            {
                return path;
            }
            n += 1;
        }
    }

    /// Whether rows say this file below `x_history/`.
    fn is_history(&self, below: &str) -> bool {
        let of = |dir: &str| {
            let (stem, file) = below.strip_prefix(dir)?.rsplit_once('/')?;
            let number = file.strip_suffix(".md")?;
            number.parse::<u64>().is_ok().then_some(stem)
        };
        of("bindings/").is_some_and(|stem| has_history(self, stem))
            || of("agents/").is_some_and(|name| own_agents(self).any(|a| *a.name == *name))
    }

    fn gate_file(&self, file: &FileEntry, path: &str, files: &mut Files) {
        let len = usize::try_from(file.len.min(GATE_MOST)).unwrap_or(0);
        let bytes = self
            .values
            .source
            .read(&file.path, 0, len)
            .unwrap_or_default();
        let Ok(object) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
            files.copy(path);
            let what = "it is not read as a gate: copied as a file";
            files.left.push(Left::new(path, what));
            return;
        };
        let odd = odd_keys(path, object.keys(), schema::GATES, GATE_KEYS);
        files.left.extend(odd);
    }
}

/// The beginning of a statement.
fn head(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
