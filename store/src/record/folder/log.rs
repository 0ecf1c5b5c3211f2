//! Reads `x_events.jsonl`, and `x_checkpoint.jsonl`: the part of the log from which the next state.md is rendered.
//!
//! The checkpoint is a cache of a part of the log. Its first line records how many bytes of the log it covers; the
//! other lines are copies of log lines. Log lines after the covered part are always read. A missing, torn or unrelated
//! checkpoint is made again. The number of covered bytes is trusted: a log that is shorter now is refused.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io::{self, Write};

use prosescope_core::decode::gates_json;
use prosescope_core::model::Execution;
use prosescope_core::render::gates_json::event;
use prosescope_core::write::{ExecutionRow, Fault};
use serde::{Deserialize, Serialize};

use super::index::Known;
use crate::dir::{Dir, part_of};
use crate::record::fault;
use crate::record::files::append;

/// The name of the log of executions, in the run's folder.
pub(super) const EVENTS: &str = "x_events.jsonl";
const CHECKPOINT: &str = "x_checkpoint.jsonl";
/// The largest number of bytes after the checkpoint that a command reads; a longer rest leads to a new checkpoint.
const BEHIND: u64 = 16 << 10;
/// Number of bytes that [`last_lines`] reads from the end of a log.
const LAST: u64 = 64 << 10;
/// Version of the checkpoint format.
const VERSION: u32 = 3;
/// Number of bytes at the end of the covered log part that identify the log.
const ENDING: u64 = 1 << 10;

/// The first line of the checkpoint, as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    /// The length of the part of the log that the checkpoint covers, in bytes.
    bytes: u64,
    /// The last bytes of the covered part: a log of the same length may be another one, such as a restored copy.
    ending: String,
    /// The highest id in the covered part.
    last: i64,
    /// The headers of binding files that were read before; unchanged files are not read again.
    bindings: Vec<Known>,
}

/// The current rows of a run, from which state.md is rendered, and the facts about its log.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// The current rows, in order of id.
    pub(super) rows: Vec<Execution>,
    /// The line of the log for each of [`Log::rows`], with its line break.
    lines: Vec<String>,
    /// The highest id of the log.
    pub(super) last: i64,
    /// Length of the log in bytes.
    pub(super) bytes: u64,
    /// The headers of binding files that were read before.
    pub(super) known: Vec<Known>,
    /// The length of the log part that the checkpoint covers, in bytes; `None` without a checkpoint.
    reaches: Option<u64>,
    /// All rows of the log, including those that are not current; read when first needed.
    whole: OnceCell<Vec<Execution>>,
    /// Lines made from a hand-written state file; they become the first lines of the log.
    pub(super) adopted: String,
}

impl Log {
    /// Reads the current rows: the rows in the checkpoint, and the log rows after the part that the checkpoint covers.
    pub(super) fn load(root: &Dir) -> Result<Log, Fault> {
        let wrong = |cause: io::Error| unread(root, &cause);
        let bytes = end(root, EVENTS).map_err(wrong)?;
        let mut log = Log {
            bytes,
            ..Log::default()
        };
        let mut from = 0;
        let checkpoint = checkpoint(root);
        let had = checkpoint.as_ref().map_or(0, |(head, _)| head.bytes);
        if had > bytes {
            return Err(shortened(root, had, &format!("has {bytes} bytes")));
        }
        if let Some((head, lines)) =
            checkpoint.filter(|(head, _)| ending(root, had).as_ref() == Some(&head.ending))
        {
            from = head.bytes;
            log.last = head.last;
            log.known = head.bindings;
            log.reaches = Some(head.bytes);
            log.add(&lines);
        }
        if from < bytes {
            let tail = root.read_part(EVENTS, from, bytes - from).map_err(wrong)?;
            log.add(&String::from_utf8_lossy(&tail));
        }
        if had > 0 && log.last == 0 && log.rows.is_empty() {
            return Err(shortened(root, had, "has no row"));
        }
        Ok(log)
    }

    /// Adds lines of the log. An unreadable line is skipped.
    pub(super) fn add(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (rows, _) = gates_json::events(line);
            for row in rows {
                self.last = self.last.max(row.id);
                self.rows.push(row);
                self.lines.push(format!("{line}\n"));
            }
        }
        if !self.rows.is_sorted_by_key(|row| row.id) {
            let mut both: Vec<(Execution, String)> = std::mem::take(&mut self.rows)
                .into_iter()
                .zip(std::mem::take(&mut self.lines))
                .collect();
            both.sort_by_key(|(row, _)| row.id);
            (self.rows, self.lines) = both.into_iter().unzip();
        }
    }

    /// Adds the rows of a run whose executions were recorded before the run had a log of events.
    pub(super) fn adopt(&mut self, rows: &[ExecutionRow]) {
        self.adopted = rows.iter().map(event).collect();
        let lines = self.adopted.clone();
        self.add(&lines);
        self.whole = OnceCell::from(self.rows.clone());
    }

    /// Returns the current row with an id.
    pub(super) fn row(&self, id: i64) -> Option<&Execution> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        self.rows.get(at)
    }

    /// Returns all rows of the run, including history; rarely needed, and read once.
    pub(super) fn whole(&self, root: &Dir) -> Result<&[Execution], Fault> {
        if let Some(rows) = self.whole.get() {
            return Ok(rows);
        }
        let bytes = root.read(EVENTS).map_err(|cause| unread(root, &cause))?;
        let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
        Ok(self.whole.get_or_init(|| gates_json::events(&text).0))
    }

    /// Returns whether all rows were read.
    #[cfg(test)]
    pub(super) fn is_read_whole(&self) -> bool {
        self.whole.get().is_some()
    }

    /// Writes a checkpoint for the next state.md, if the log has grown enough. A missing checkpoint only costs time.
    pub(super) fn keep(&self, root: &Dir, kept: &BTreeSet<i64>, known: Vec<Known>) {
        let near = self
            .reaches
            .is_some_and(|reaches| self.bytes.saturating_sub(reaches) < BEHIND);
        if near && known == self.known {
            return;
        }
        let Some(ending) = ending(root, self.bytes) else {
            return;
        };
        let head = Head {
            version: VERSION,
            bytes: self.bytes,
            ending,
            last: self.last,
            bindings: known,
        };
        let Ok(mut text) = serde_json::to_string(&head) else {
            return;
        };
        text.push('\n');
        for (row, line) in self.rows.iter().zip(&self.lines) {
            if kept.contains(&row.id) {
                text.push_str(line);
            }
        }
        // The checkpoint is not synced, because a torn checkpoint is detected and ignored.
        let aside = ".tmp-checkpoint";
        let written = root
            .remove(aside)
            .and_then(|()| root.create(aside)?.write_all(text.as_bytes()));
        if written.is_ok() {
            let _ = root.rename(aside, CHECKPOINT);
        }
    }
}

fn unread(root: &Dir, cause: &io::Error) -> Fault {
    fault::io(&root.shown(EVENTS), "cannot be read", cause)
}

/// Returns the fault for a log that became shorter. New rows would reuse the ids of the lost rows. Lines lost after the
/// checkpoint are not detected.
fn shortened(root: &Dir, had: u64, has: &str) -> Fault {
    let why = format!("the log {has}, and had {had} bytes when {CHECKPOINT} was written");
    let next = format!("to accept the loss, remove {CHECKPOINT}");
    Fault::lost_rows(root.shown(EVENTS).display(), &why, &next)
}

/// Returns the last [`ENDING`] bytes of the first `bytes` bytes of the log.
fn ending(root: &Dir, bytes: u64) -> Option<String> {
    let most = bytes.min(ENDING);
    let part = root.read_part(EVENTS, bytes - most, most).ok();
    // A run without executions has no log, which equals an empty one.
    let part = part.or_else(|| (bytes == 0).then(Vec::new))?;
    Some(String::from_utf8_lossy(&part).into_owned())
}

fn checkpoint(root: &Dir) -> Option<(Head, String)> {
    let bytes = root.read(CHECKPOINT).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let (first, lines) = text.split_once('\n')?;
    let head: Head = serde_json::from_str(first).ok()?;
    let whole = head.version == VERSION && (lines.is_empty() || lines.ends_with('\n'));
    whole.then(|| (head, lines.to_owned()))
}

/// Returns the length of a log after repair: an incomplete last line is not counted, and a complete last line without a
/// line break (written by hand) gets a line break. The next appended line replaces the incomplete line, which [`torn`]
/// returns.
pub(super) fn end(root: &Dir, path: &str) -> io::Result<u64> {
    let Some((end, rest)) = last_line(root, path)? else {
        return Ok(0);
    };
    if is_row(&rest) {
        let len = end + rest.len() as u64;
        append(root, path, len, b"\n")?;
        return Ok(len + 1);
    }
    Ok(end)
}

/// Returns the incomplete last line of a log, left by a killed writer or a truncation.
pub(super) fn torn(root: &Dir, path: &str) -> io::Result<Option<Vec<u8>>> {
    let rest = last_line(root, path)?.map(|(_, rest)| rest);
    Ok(rest.filter(|rest| !rest.trim_ascii().is_empty() && !is_row(rest)))
}

fn is_row(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}

/// Returns the position after the last line break of a log, and the rest; `None` if there is no log.
fn last_line(root: &Dir, path: &str) -> io::Result<Option<(u64, Vec<u8>)>> {
    let Some(file) = root.file(path)? else {
        return Ok(None);
    };
    let part = |from: u64, most: u64| part_of(file.try_clone()?, from, most);
    let len = file.metadata()?.len();
    let mut at = len;
    let mut end = 0;
    // Searches backward from the end for the last line break.
    while at > 0 {
        let from = at.saturating_sub(64 << 10);
        let part = part(from, at - from)?;
        if let Some(found) = part.iter().rposition(|byte| *byte == b'\n') {
            end = from + found as u64 + 1;
            break;
        }
        at = from;
    }
    let rest = match end < len {
        true => part(end, len - end)?,
        false => Vec::new(),
    };
    Ok(Some((end, rest)))
}

/// Returns the lines in the last [`LAST`] bytes of a log; `None` if the log is shorter. A line that is cut at the
/// beginning is left out; a torn line at the end is not.
pub(super) fn last_lines(root: &Dir, path: &str) -> io::Result<Option<String>> {
    let Some(file) = root.file(path)? else {
        return Ok(None);
    };
    let Some(from) = file.metadata()?.len().checked_sub(LAST) else {
        return Ok(None);
    };
    let part = part_of(file, from, LAST)?;
    // The first of these lines may be cut.
    let begin = part.iter().position(|byte| *byte == b'\n');
    let lines = begin.and_then(|at| part.get(at + 1..));
    Ok(lines.map(|lines| String::from_utf8_lossy(lines).into_owned()))
}

/// Returns whether every line has an id, each higher than the one before.
pub(super) fn ids_rise(lines: &str) -> bool {
    #[derive(Deserialize)]
    struct Row {
        id: i64,
    }
    let mut last = i64::MIN;
    lines.lines().all(|line| {
        let row = serde_json::from_str::<Row>(line);
        row.is_ok_and(|row| std::mem::replace(&mut last, row.id) < row.id)
    })
}
