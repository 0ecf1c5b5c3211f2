//! Converts a run into changes for a new store of another form, with the original ids and times
//! (`prosescope convert`; errata B4, B10, G7).
//!
//! Parts of the run that the new form cannot represent are reported as [`CopyLoss`].

mod agents;
mod bindings;
mod existing;
mod files;
mod gates;
mod rows;
mod same;
mod unread_parts;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Session;
use super::values::ValueTable;
use crate::model::schema;
use crate::model::source::SourceError;
use crate::model::time::Stamp;
use crate::model::{Text, ValueAt};
pub use crate::pages::view::CopyLoss;
use crate::read::decode;
use crate::read::decode::text::is_plain_path;
use crate::record::{
    AttachmentFile, Change, Fault, FaultKind, StateFileRows, WriteError, rows_of_state_file,
};

pub use existing::CopyComparison;
pub use files::CopiedFiles;

/// The largest number of bytes of values in one group of changes. A larger value is a group of its own.
const HELD: usize = 8 << 20;
/// The largest number of bytes of values that one query reads in advance.
const AHEAD: u64 = 1 << 20;
/// The largest number of changes in one group; only groups of statements for a folder may be larger.
const ROWS: usize = 10_000;

/// The receiver of the changes, which come in order and in groups.
pub type ChangeReceiver<'a> = &'a mut dyn FnMut(Vec<Change>) -> Result<(), WriteError>;

/// The estimated bytes of a row besides its texts.
const ROW: u64 = 100;

/// Estimates the bytes that a change copies.
pub fn weight(change: &Change) -> u64 {
    let texts = match change {
        Change::Binding(row) => row.value.len(),
        Change::Memory(row) => row.memory.len(),
        Change::Execution(row) => row.text.len(),
        _ => 0,
    };
    texts as u64 + ROW
}

impl Session {
    /// Estimates the bytes that a copy of the run takes: values, files, and the texts of rows.
    pub fn weight(&self, to_folder: bool, with_files: bool) -> u64 {
        let values = self.run.bindings.iter().map(|binding| &binding.value);
        let values = values.chain(agents::own_agents(self).map(|agent| &agent.memory));
        let values = values.map(|value| value.len().unwrap_or(0) + ROW);
        let rows = self.run.executions.iter();
        let rows = rows.map(|row| row.text.len() as u64 + ROW);
        let files = self.carry_files(to_folder, with_files);
        let files = files.copied.iter().filter_map(|(path, _)| {
            let file = self.values.source.file(&format!("{}{path}", self.root))?;
            Some(file.len)
        });
        values.chain(rows).chain(files).sum()
    }

    /// Returns the rows that a copy in a database has of a run whose statements only a hand-written state file records.
    /// Empty for any other run.
    pub fn rows_of_state_file(&self) -> StateFileRows {
        rows_of_state_file(&self.run, self.trace(), self.listing())
    }

    /// Passes the run to `each` as changes for a new folder or database. Returns the parts that could not be copied.
    ///
    /// # Errors
    /// The error of `each`, or a [`Fault`] if the run cannot be read.
    pub fn carry(
        &self,
        to_folder: bool,
        each: ChangeReceiver<'_>,
    ) -> Result<Vec<CopyLoss>, WriteError> {
        self.carry_some(to_folder, true, each)
    }

    /// Does what [`Session::carry`] does; without `values`, bindings and the reports of tables are left out.
    pub(in crate::pages::session) fn carry_some(
        &self,
        to_folder: bool,
        values: bool,
        each: ChangeReceiver<'_>,
    ) -> Result<Vec<CopyLoss>, WriteError> {
        let mut carry = Carry {
            session: self,
            to_folder,
            each,
            held: Vec::new(),
            bytes: 0,
            keys: BTreeSet::new(),
            kept: 0,
            ahead: BTreeMap::new(),
            reads_ahead: true,
            left: Vec::new(),
            by_hand: if to_folder {
                StateFileRows::default()
            } else {
                self.rows_of_state_file()
            },
        };
        carry.reading();
        if values {
            carry.tables();
            carry.bindings()?;
        }
        carry.agents()?;
        carry.flush()?;
        carry.rows()?;
        Ok(carry.left)
    }
}

struct Carry<'a, 'b> {
    session: &'a Session,
    to_folder: bool,
    each: ChangeReceiver<'b>,
    held: Vec<Change>,
    bytes: usize,
    /// The files that the pending changes write. A group writes each file at most once, because a folder saves the
    /// earlier value from the file before the next write.
    keys: BTreeSet<String>,
    /// How many files were made from values that are not text.
    kept: u32,
    /// Values of bindings that were read in advance, by row.
    ahead: BTreeMap<i64, Vec<u8>>,
    /// Whether the store supports reading values in advance.
    reads_ahead: bool,
    left: Vec<CopyLoss>,
    /// The rows of a hand-written state file; empty if other records tell what ran.
    by_hand: StateFileRows,
}

impl Carry<'_, '_> {
    /// Returns the id of a frame in the copy.
    fn frame(&self, id: i64) -> i64 {
        self.by_hand.frames.get(&id).copied().unwrap_or(id)
    }

    fn left(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.left.push(CopyLoss::new(place, what));
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.bytes = 0;
        self.keys.clear();
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Ok(());
        }
        (self.each)(held)
    }

    fn hold(&mut self, key: String, bytes: usize, changes: Vec<Change>) -> Result<(), WriteError> {
        // Only a folder needs a new group: a database saves the earlier value inside of the transaction.
        let again = self.to_folder && self.keys.contains(&key);
        let full = self.bytes.saturating_add(bytes) > HELD || self.held.len() >= ROWS;
        if again || full {
            self.flush()?;
        }
        self.keys.insert(key);
        self.bytes = self.bytes.saturating_add(bytes);
        self.held.extend(changes);
        Ok(())
    }

    /// Returns a whole value, byte for byte.
    fn whole(
        &mut self,
        table: &str,
        column: &str,
        of: &ValueTable,
        at: &ValueAt,
    ) -> Result<Vec<u8>, WriteError> {
        let ahead = match at {
            ValueAt::Row { rowid, .. } if table == schema::BINDINGS => self.ahead.remove(rowid),
            _ => None,
        };
        if let Some(bytes) = ahead {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        if let (ValueAt::Row { len: Some(_), .. }, Some(db)) = (at, &self.session.values.db) {
            decode::rows::value_pieces(db.db.as_ref(), table, column, at, &mut |piece| {
                bytes.extend_from_slice(piece);
                true
            })
            .map_err(|error| damaged(&format!("{table}.{column}: {error}")))?;
        } else if let ValueAt::File { len, .. } = at {
            let len = usize::try_from(*len).unwrap_or(usize::MAX);
            bytes = self
                .session
                .values
                .read_at(of, at, 0, len)
                .map_err(|error: SourceError| damaged(&error.to_string()))?;
        }
        Ok(bytes)
    }

    /// Converts a value to text. Bytes that are not text are saved in a file, and the text has replacement characters.
    fn text_of(&mut self, bytes: Vec<u8>) -> (String, Option<AttachmentFile>) {
        match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
                (lossy, Some(self.keep(error.into_bytes())))
            }
        }
    }

    /// Parses metadata as a JSON object. Other text is kept under the key `x_malformed`, and reported.
    fn metadata(
        &mut self,
        place: impl FnOnce() -> String,
        text: Option<&str>,
    ) -> Map<String, Value> {
        let text = text.filter(|text| !text.trim().is_empty());
        let parsed = text.map(|text| {
            if text.len() <= METADATA {
                serde_json::from_str(text).ok()
            } else {
                None
            }
        });
        match parsed {
            None => Map::new(),
            Some(Some(Value::Object(metadata))) => metadata,
            Some(_) => {
                let what = if text.is_some_and(|text| text.len() > METADATA) {
                    "the metadata has more than 4 MB: in the copy, it is a text under the key `x_malformed`"
                } else {
                    "the metadata is not a JSON object: in the copy, it is a text under the key `x_malformed`"
                };
                self.left(place(), what);
                let whole = Value::from(text.unwrap_or_default());
                Map::from_iter([("x_malformed".to_owned(), whole)])
            }
        }
    }

    /// Creates a file for bytes that are not text, with a name that no file of the run has.
    fn keep(&mut self, bytes: Vec<u8>) -> AttachmentFile {
        let path = loop {
            self.kept += 1;
            let path = format!("attachments/x_converted_{}.bin", self.kept);
            let full = format!("{}{path}", self.session.root);
            if self.session.values.source.file(&full).is_none() {
                break path;
            }
        };
        AttachmentFile {
            path,
            content: bytes.into(),
        }
    }
}

/// The largest metadata that is parsed, in bytes. A million keys take more than thirty times their text when parsed.
const METADATA: usize = 4 << 20;

/// Returns whether a file can have this name on any operating system, as one component of a path.
fn names_a_file(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= 200
        && is_plain_path(name)
        && !name.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

fn text(text: &Option<Text>) -> Option<String> {
    text.as_deref().map(str::to_owned)
}

/// Reports the keys of an object that are neither columns of the table nor in `also`.
fn odd_keys(
    place: impl Into<String>,
    keys: impl Iterator<Item = impl AsRef<str>>,
    table: &str,
    also: &[&str],
) -> Option<CopyLoss> {
    let known = |key: &str| schema::known_column(table, key) || also.contains(&key);
    let odd: Vec<_> = keys.filter(|key| !known(key.as_ref())).collect();
    let odd: Vec<&str> = odd.iter().map(AsRef::as_ref).collect();
    let what = || {
        format!(
            "not copied: the keys {}, which the copy cannot keep",
            odd.join(", ")
        )
    };
    (!odd.is_empty()).then(|| CopyLoss::new(place, what()))
}

/// Returns a time as it was written, or an empty text.
fn stamp(at: Option<&Stamp>, to_folder: bool) -> String {
    let text = at.map(Stamp::to_string).unwrap_or_default();
    // Databases compare times as texts in the notation of `datetime('now')` (errata G5).
    match text.strip_suffix('Z').and_then(|text| text.split_once('T')) {
        Some((day, time)) if !to_folder && day.len() == 10 && time.len() == 8 => {
            format!("{day} {time}")
        }
        _ => text,
    }
}

fn stamped(at: Option<&Stamp>, to_folder: bool) -> Option<String> {
    at.map(|at| stamp(Some(at), to_folder))
}

fn damaged(cause: &str) -> WriteError {
    Fault::new(FaultKind::Damaged, cause).into()
}
