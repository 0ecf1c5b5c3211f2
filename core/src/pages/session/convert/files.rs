//! Selects the files of a run's folder that a conversion copies, and reports the others.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::values::inside;
use super::agents::own_agents;
use super::bindings::has_history;
use super::{CopyLoss, Session, odd_keys};
use crate::model::schema;
use crate::model::source::FileEntry;
use crate::model::{StateFile, ValueAt};
use crate::read::decode::{folder, memory_md};
use crate::trace::NodeKind;

/// The largest number of statements that a message lists.
const NAMED: usize = 20;

/// The largest number of bytes that are read from a gate's file.
const GATE_MOST: u64 = 1 << 20;
/// Keys of a gate's file in addition to the table's columns (OpenProse's filesystem.md, "Approval Gates").
const GATE_KEYS: &[&str] = &["gate_id", "decision", "principal", "timestamp", "comment"];
/// The files of a run's folder that a conversion copies, and the files that the conversion leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// Files that are copied unchanged: the path inside the run, and the path inside the copy.
    pub copied: Vec<(String, String)>,
    /// Files that are copied a second time at the end, because recording into the copy rewrote them without new facts.
    pub again: Vec<String>,
    /// The contents of the run's files that the copy lacks.
    pub left: Vec<CopyLoss>,
}

impl CopiedFiles {
    fn copy(&mut self, path: &str) {
        self.copied.push((path.to_owned(), path.to_owned()));
    }
}

impl Session {
    /// Selects the files of the run's folder that a conversion copies, because their content is not in rows. Without
    /// `all`, the database is outside of a run folder. In that case, only the attachments whose paths are in its rows
    /// belong to the run.
    pub fn carry_files(&self, to_folder: bool, all: bool) -> CopiedFiles {
        let mut files = CopiedFiles::default();
        if !all {
            for path in self.named_attachments() {
                files.copy(&path);
            }
            return files;
        }
        let as_rows = self.paths_turned_into_rows();
        let mut segments = BTreeSet::new();
        for file in self.values.source.below(&self.root) {
            let path = file.path.get(self.root.len()..).unwrap_or_default();
            let of_database = self.values.db.as_ref().is_some_and(|db| {
                // A run on a server is listed as a file `state.db`, although its store has the server's name.
                let name = if db.db.holds_many_runs() {
                    "state.db"
                } else {
                    &*db.name
                };
                path.strip_prefix(name)
                    .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"))
            });
            if of_database || path == "x_checkpoint.jsonl" || folder::is_workings(path) {
                continue;
            }
            if to_folder {
                self.beside(path, &mut files);
            } else {
                self.of_folder(file, path, &as_rows, &mut segments, &mut files);
            }
        }
        files
    }

    /// Returns the paths of existing attachments, as the bindings record them.
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

    /// Adds a file beside a database to the copied files or to those left out, for a copy in a folder.
    fn beside(&self, path: &str, files: &mut CopiedFiles) {
        let alone = path == "state.md" && self.recorded_in_state_file();
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
            let what = "not copied: the database beside this file contains the same facts";
            files.left.push(CopyLoss::new(path, what));
        } else {
            files.copy(path);
        }
    }

    /// Adds a file of a folder to the copied files or to those left out, for a copy in a database.
    fn of_folder(
        &self,
        file: &FileEntry,
        path: &str,
        as_rows: &BTreeSet<&str>,
        segments: &mut BTreeSet<(String, i64)>,
        files: &mut CopiedFiles,
    ) {
        let (top, below) = path.split_once('/').unwrap_or((path, ""));
        match (top, below) {
            ("x_events.jsonl" | "x_imports.jsonl", "") | ("gates", "audit.jsonl") => {}
            // A stray `state.db` is not copied, because the new database has the same name.
            _ if folder::role(path) == Some("database") => {
                let what = "not copied: this database has no table of a run";
                files.left.push(CopyLoss::new(path, what));
            }
            ("state.md", "") => self.state_file(path, files),
            ("bindings", _) if as_rows.contains(path) => {}
            ("bindings", _) => {
                files.copy(path);
                let what = "copied as a plain file, because it is not readable as a binding";
                files.left.push(CopyLoss::new(path, what));
            }
            ("agents", _) if as_rows.contains(path) => {}
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

    /// Returns whether the state file is the only record of the executed statements, because there are no rows. A state
    /// file without marks counts, too, if values beside the file show which statements ended.
    pub(super) fn recorded_in_state_file(&self) -> bool {
        let has_records = |file: &StateFile| {
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
        !self.run.recorded_in_rows()
            && file.is_some_and(|file| has_records(file) || !self.trace.nodes.is_empty())
    }

    /// Describes the statements that ended: `2 statements that ended (line 3, line 5)`; `None` if no statement ended.
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

    /// Returns the paths of the files whose values become rows in a database.
    fn paths_turned_into_rows(&self) -> BTreeSet<&str> {
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

    /// Keeps a copy of state.md if the file has keys or sections that OpenProse does not define. All other content
    /// becomes rows.
    fn state_file(&self, path: &str, files: &mut CopiedFiles) {
        let Some(file) = &self.run.state_file else {
            files.copy(path);
            return;
        };
        let keys = file.extra.iter().map(|(key, _)| &**key);
        let sections = file.sections.iter().map(|(heading, _)| &**heading);
        let odd: Vec<&str> = keys.chain(sections).collect();
        let by_hand = self.recorded_in_state_file();
        if odd.is_empty() && !by_hand {
            return;
        }
        let to = self.free_in_history("state");
        let lacks = match odd.as_slice() {
            [] => "the words of the state file, which was written by hand".to_owned(),
            odd => odd.join(", "),
        };
        let what = format!("the copy cannot keep {lacks}: the original is kept as {to}");
        files.left.push(CopyLoss::new(path, what));
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

    /// Returns whether a file below `x_history/` is an earlier value that becomes a row.
    fn is_history(&self, below: &str) -> bool {
        let of = |dir: &str| {
            let (stem, file) = below.strip_prefix(dir)?.rsplit_once('/')?;
            let number = file.strip_suffix(".md")?;
            number.parse::<u64>().is_ok().then_some(stem)
        };
        of("bindings/").is_some_and(|stem| has_history(self, stem))
            || of("agents/").is_some_and(|name| own_agents(self).any(|a| *a.name == *name))
    }

    fn gate_file(&self, file: &FileEntry, path: &str, files: &mut CopiedFiles) {
        let len = usize::try_from(file.len.min(GATE_MOST)).unwrap_or(0);
        let bytes = self
            .values
            .source
            .read(&file.path, 0, len)
            .unwrap_or_default();
        let Ok(object) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
            files.copy(path);
            let what = "copied as a plain file, because it is not readable as a gate";
            files.left.push(CopyLoss::new(path, what));
            return;
        };
        let odd = odd_keys(path, object.keys(), schema::GATES, GATE_KEYS);
        files.left.extend(odd);
    }
}

/// Returns the beginning of a statement, for a message.
fn head(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
