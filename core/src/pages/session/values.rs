//! Reads values of a run from their files or rows on request.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::Session;
use super::pages::ValueWriter;
use super::shown;
use crate::model::database::{CellAt, Database, DecodeError, NEAR, Snapshot};
use crate::model::source::{Source, SourceError};
use crate::model::{Agent, Binding, Segment, Text, ValueAt};
use crate::pages::view::{RowView, RunPart, Unread, ValueFormat, ValueView};
use crate::read::decode::sealed::is_sealed;
use crate::read::decode::{folder, rows};

/// A reference to a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueOf {
    /// A binding's value, by the binding's index. If the binding's attachment exists, its content is the value.
    Binding(u32),
    /// The value in a binding's own row or file, even if the binding has an attachment.
    Summary(u32),
    /// An agent's memory, by the agent's index.
    Memory(u32),
    /// A file of the run, by its path inside the run folder.
    File(String),
}

/// How many bytes of a file are kept in memory at a time.
const PIECE: usize = 1 << 20;

/// The largest number of bytes of a cell that is shown. After `ROWS` bytes of one node's rows, the limit is `CUT`.
const CELL: u32 = 64 << 10;
const ROWS: usize = 1 << 20;
const CUT: u32 = 512;

/// The number of cells after which no more rows of a node are read.
const CELLS: usize = 4_000;

/// How many bytes are read for a preview.
const PREVIEW: usize = 640;

/// A reader of the values of a run.
pub(super) struct Values {
    pub(super) source: Rc<dyn Source>,
    /// The run folder's path inside the source, ending in `/`, or empty.
    pub(super) root: String,
    pub(super) db: Option<NamedDatabase>,
    /// The databases with the agents of the project and of the user.
    pub(super) agent_stores: Vec<NamedDatabase>,
    /// The source of each folder of agents, by the store's name.
    pub(super) folders: Vec<(Text, Rc<dyn Source>)>,
    /// Values whose preview could not be read.
    pub(super) lost: RefCell<Vec<Unread>>,
    /// The writer of each binding for which a page already looked up the writer.
    pub(super) written: RefCell<BTreeMap<u32, ValueWriter>>,
    /// The beginning of the first argument of each call that a page already named, by the call's id.
    pub(super) arguments: RefCell<BTreeMap<i64, String>>,
}

/// A database, with its name in rows and messages.
pub(super) struct NamedDatabase {
    pub(super) name: Text,
    pub(super) db: Box<dyn Database>,
}

/// The tables that contain values.
#[derive(Debug, Clone)]
pub(super) enum ValueTable {
    Bindings,
    Agents(Text),
}

/// The place of a value, with notes about it.
pub(super) struct ValuePlace {
    title: String,
    from: String,
    table: ValueTable,
    at: ValueAt,
    summary: Option<String>,
    note: Option<String>,
    /// Why the value is missing; `None` if the value exists. Bytes from the place of a missing value are not the value.
    missing: Option<String>,
}

impl Session {
    /// Returns the beginning of a value, up to `most` bytes.
    ///
    /// # Errors
    /// An error with the reason if the value does not exist or its store cannot be read.
    pub fn value(&self, of: &ValueOf, most: usize) -> Result<ValueView, SourceError> {
        self.values.view(&self.locate(of)?, most)
    }

    /// Returns the length of a value in bytes.
    ///
    /// # Errors
    /// An error if the value does not exist.
    pub fn value_len(&self, of: &ValueOf) -> Result<u64, SourceError> {
        Ok(self.locate(of)?.len())
    }

    /// Returns a part of a value, byte for byte.
    ///
    /// # Errors
    /// An error if the value does not exist or its store cannot be read.
    pub fn value_part(
        &self,
        of: &ValueOf,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, SourceError> {
        self.values.part(&self.locate(of)?, offset, len)
    }

    /// Passes a whole value to `each`, in pieces and byte for byte. `each` stops the reading by returning `false`.
    ///
    /// # Errors
    /// An error if the value does not exist or its store cannot be read.
    pub fn value_pieces(
        &self,
        of: &ValueOf,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), SourceError> {
        self.values.pieces(&self.locate(of)?, each)
    }

    /// Returns an invocation of an agent in full length: the invocation with this number, or with `None` the last one.
    /// `agent` is the agent's index.
    ///
    /// # Errors
    /// An error if the store cannot be read.
    pub fn segment(&self, agent: u32, number: Option<i64>) -> Result<Option<Segment>, SourceError> {
        match self.run.agents.get(agent as usize) {
            Some(agent) => self.values.segment(agent, number),
            None => Ok(None),
        }
    }

    /// Returns a binding with the columns that a list leaves out ([`Binding::tail_known`]).
    pub fn whole(&self, binding: &Binding) -> Binding {
        self.values.binding_tail(binding)
    }

    /// Returns the value of a binding, if it is text of at most `most` bytes in the binding's own row or file.
    ///
    /// # Errors
    /// An error if the store cannot be read.
    pub fn short_text(
        &self,
        binding: &Binding,
        most: usize,
    ) -> Result<Option<String>, SourceError> {
        let binding = self.whole(binding);
        let place = self.values.row_of_binding(&binding);
        let elsewhere = binding
            .attachment
            .as_deref()
            .is_some_and(|path| !path.is_empty());
        if elsewhere || place.len() > most as u64 {
            return Ok(None);
        }
        let bytes = self.values.part(&place, 0, most)?;
        Ok(String::from_utf8(bytes)
            .ok()
            .filter(|text| !is_sealed(text)))
    }

    /// Keeps the run's databases unchanged while a page reads several values, so that each read needs no lock of its
    /// own. A page must release the snapshots before printing, because another program may be waiting to write. A store
    /// of many runs gets no snapshot, because each snapshot takes a query to the server.
    pub(super) fn snapshot(&self) -> Vec<Snapshot<'_>> {
        let own = self.values.db.iter().chain(&self.values.agent_stores);
        own.map(|store| store.db.as_ref())
            .filter(|db| !db.holds_many_runs())
            .map(Snapshot::of)
            .collect()
    }

    pub(super) fn locate(&self, of: &ValueOf) -> Result<ValuePlace, SourceError> {
        let none = |what: &str, n: u32| SourceError::NotFound(format!("{what} {n}"));
        match of {
            ValueOf::Binding(n) | ValueOf::Summary(n) => {
                let binding = self.run.bindings.get(*n as usize);
                let binding = binding.ok_or_else(|| none("binding", *n))?;
                Ok(match of {
                    ValueOf::Summary(_) => self.values.row_of_binding(binding),
                    _ => self.values.of_binding(binding),
                })
            }
            ValueOf::Memory(n) => {
                let agent = self.run.agents.get(*n as usize);
                Ok(self
                    .values
                    .of_memory(agent.ok_or_else(|| none("agent", *n))?))
            }
            ValueOf::File(path) => {
                let found = self.values.attachment(path);
                let (full, len) = found.ok_or_else(|| SourceError::NotFound(path.clone()))?;
                let title = full.get(self.root.len()..).unwrap_or_default().to_owned();
                Ok(ValuePlace::of_file(title, full, len))
            }
        }
    }
}

impl Values {
    pub(super) fn new(source: Rc<dyn Source>, root: String, db: Option<NamedDatabase>) -> Values {
        Values {
            source,
            root,
            db,
            agent_stores: Vec::new(),
            folders: Vec::new(),
            lost: RefCell::default(),
            arguments: RefCell::default(),
            written: RefCell::default(),
        }
    }

    /// Returns the place of a binding's value: its attachment if that exists, or else its row or file.
    pub(super) fn of_binding(&self, short: &Binding) -> ValuePlace {
        let binding = self.binding_tail(short);
        let own = self.row_of_binding(&binding);
        let Some(path) = binding.attachment.as_deref().filter(|p| !p.is_empty()) else {
            return own;
        };
        let Some((full, len)) = self.attachment(path) else {
            let why = if inside(path).is_none() {
                format!("the attachment's path leaves the run and is not followed: {path}")
            } else if self.source.is_loose() {
                format!("the attachment {path} was not given: only the run's own file was opened")
            } else if self.source.is_shared() {
                format!("the attachment {path} is not on this machine")
            } else {
                format!("the attachment {path} is not there")
            };
            return ValuePlace {
                note: Some(format!("{why}; the value in the binding's row is shown")),
                missing: Some(why),
                ..own
            };
        };
        let summary = self.preview(ValueTable::Bindings, &binding.value);
        ValuePlace {
            summary: Some(summary).filter(|s| !s.is_empty()),
            ..ValuePlace::of_file(binding.name.to_string(), full, len)
        }
    }

    /// Returns the place of a binding's own row or file.
    fn row_of_binding(&self, binding: &Binding) -> ValuePlace {
        self.place(
            ValueTable::Bindings,
            &binding.value,
            binding.name.to_string(),
        )
    }

    /// Returns the place of an agent's memory.
    pub(super) fn of_memory(&self, agent: &Agent) -> ValuePlace {
        let title = format!("memory of {}", agent.name);
        ValuePlace {
            from: agent.store.to_string(),
            ..self.place(
                ValueTable::Agents(agent.store.clone()),
                &agent.memory,
                title,
            )
        }
    }

    fn place(&self, table: ValueTable, at: &ValueAt, title: String) -> ValuePlace {
        let (from, note) = match at {
            ValueAt::Row { len, .. } => {
                let from = match self.store(&table) {
                    Some(store) => format!("{}, {}", store.name, table.name()),
                    None => table.name().to_owned(),
                };
                (from, len.is_none().then_some("the value is NULL"))
            }
            ValueAt::File { path, .. } => (path.to_string(), None),
            ValueAt::Missing => (
                "nowhere".to_owned(),
                Some("the run names this value, but the value is missing"),
            ),
        };
        let is_missing = matches!(at, ValueAt::Missing);
        ValuePlace {
            title,
            from,
            table,
            at: at.clone(),
            summary: None,
            note: note.map(str::to_owned),
            missing: note.filter(|_| is_missing).map(str::to_owned),
        }
    }

    /// Reads the beginning of a value for display.
    pub(super) fn view(&self, place: &ValuePlace, most: usize) -> Result<ValueView, SourceError> {
        let bytes = self.part(place, 0, most)?;
        let len = place.len();
        let cut = (bytes.len() as u64) < len;
        let (text, replaced) = shown::to_text(&bytes, cut);
        let format = shown::format_of(&bytes, &text);
        let replaced = (replaced && format != ValueFormat::Binary)
            .then(|| "bytes that are not UTF-8 are shown as �".to_owned());
        let notes: Vec<String> = place.note.iter().cloned().chain(replaced).collect();
        Ok(ValueView {
            title: place.title.clone(),
            text: match format {
                ValueFormat::Binary => shown::hex(&bytes, 4096),
                _ => text,
            },
            len,
            cut,
            format,
            from: place.from.clone(),
            summary: place.summary.clone(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            missing: place.missing.clone(),
        })
    }

    /// Reads a part of a value.
    fn part(&self, place: &ValuePlace, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let left = place.len().saturating_sub(offset);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(len);
        match len {
            0 => Ok(Vec::new()),
            len => self.read_at(&place.table, &place.at, offset, len),
        }
    }

    /// Passes a whole value to `each`, in pieces.
    pub(super) fn pieces(
        &self,
        place: &ValuePlace,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), SourceError> {
        self.pieces_from(place, 0, each)
    }

    /// Passes a value to `each` in pieces, beginning at an offset.
    pub(super) fn pieces_from(
        &self,
        place: &ValuePlace,
        from: u64,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), SourceError> {
        let (table, at) = (&place.table, &place.at);
        // To reach an offset in a value, SQLite reads the value from its beginning. So a row's value is read in one
        // pass, a file in parts.
        if let ValueAt::Row {
            len: Some(_),
            rowid,
            stored,
        } = at
            && let Some(store) = self.store(table)
        {
            let cell = CellAt {
                table: table.name(),
                column: table.column(),
                at: *rowid,
                stored: Some(*stored),
            };
            let read = store.db.pieces(&cell, from..u64::MAX, each);
            return read.map_err(|e| unreadable(store, &e));
        }
        let mut offset = from;
        while offset < place.len() {
            let piece = self.part(place, offset, PIECE)?;
            if piece.is_empty() || !each(&piece) {
                break;
            }
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Reads bytes of a value from `offset` on.
    pub(super) fn read_at(
        &self,
        table: &ValueTable,
        at: &ValueAt,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, SourceError> {
        match at {
            ValueAt::Missing => Ok(Vec::new()),
            ValueAt::File { path, start, .. } => {
                let source = match table {
                    ValueTable::Agents(store) => self.folder(store),
                    ValueTable::Bindings => None,
                };
                source
                    .unwrap_or(&self.source)
                    .read(path, start + offset, len)
            }
            ValueAt::Row { .. } => {
                let store = self.store(table).ok_or_else(|| {
                    SourceError::NotFound("with the database of this value".to_owned())
                })?;
                let db = store.db.as_ref();
                rows::value_bytes(db, table.name(), table.column(), at, offset, len)
                    .map_err(|e| unreadable(store, &e))
            }
        }
    }

    /// Returns the beginning of a value on one line.
    pub(super) fn preview(&self, table: ValueTable, at: &ValueAt) -> String {
        let len = at.len().unwrap_or(0).min(PREVIEW as u64) as usize;
        if len == 0 {
            return String::new();
        }
        match self.read_at(&table, at, 0, len) {
            Ok(bytes) => shown::preview(&bytes),
            Err(error) => {
                let lost = Unread {
                    what: format!("a value in {}", table.name()),
                    why: error.to_string(),
                    next: "Repeat the command.".to_owned(),
                    parts: vec![table.part()],
                    failed: !matches!(error, SourceError::Database { failed: false, .. }),
                    sealed: false,
                    around: false,
                };
                self.lost.borrow_mut().push(lost);
                String::new()
            }
        }
    }

    /// Adds a binding's source statement, times and attachment from its row, unless these fields were read already.
    pub(super) fn binding_tail(&self, binding: &Binding) -> Binding {
        let mut full = [binding.clone()];
        self.binding_tails(&mut full);
        let [full] = full;
        full
    }

    /// Adds the source statement, times and attachment to several bindings at once.
    pub(super) fn binding_tails(&self, bindings: &mut [Binding]) {
        if let Some(db) = &self.db {
            // An error is ignored: facts that cannot be read stay unknown.
            let _ = rows::binding_tails(db.db.as_ref(), bindings);
        }
    }

    /// Adds an agent's times from its row, unless the times were read already. In a row, the times come after the
    /// memory, so decoding skips the times if the memory is large.
    pub(super) fn agent_tail(&self, agent: &Agent) -> Agent {
        let large = agent.memory.len().unwrap_or(0) > u64::from(NEAR);
        let known = agent.created.is_some() || agent.updated.is_some();
        self.store(&ValueTable::Agents(agent.store.clone()))
            .filter(|_| large && !known)
            .and_then(|store| rows::agent_tail(store.db.as_ref(), agent).ok())
            .unwrap_or_else(|| agent.clone())
    }

    /// Returns the path and length of a file of the run, if its path stays inside the run and the file exists.
    pub(super) fn attachment(&self, path: &str) -> Option<(String, u64)> {
        let full = format!("{}{}", self.root, inside(path)?);
        let len = self.source.file(&full)?.len;
        Some((full, len))
    }

    /// Returns an invocation of an agent: the invocation with this number, or with `None` the last one.
    pub(super) fn segment(
        &self,
        agent: &Agent,
        number: Option<i64>,
    ) -> Result<Option<Segment>, SourceError> {
        if let Some(store) = self.store(&ValueTable::Agents(Text::clone(&agent.store))) {
            return rows::segment(store.db.as_ref(), &store.name, &agent.name, number)
                .map_err(|error| unreadable(store, &error));
        }
        let (source, dir) = match self.folder(&agent.store) {
            // The name of a store outside of the run begins with its scope.
            Some(source) => {
                let dir = agent.store.split_once(": ");
                let dir = dir.map_or(&*agent.store, |(_, dir)| dir);
                (source, dir.to_owned())
            }
            None => (&self.source, format!("{}{}", self.root, agent.store)),
        };
        folder::segment(source.as_ref(), &dir, &agent.name, number)
    }

    /// Reads every column of these execution rows. A node may have hundreds of rows, so cells are cut shorter after
    /// many bytes, and the number of cells is limited.
    pub(super) fn execution_rows(&self, ids: &[i64]) -> Vec<RowView> {
        let Some(db) = &self.db else {
            return Vec::new();
        };
        let (mut read, mut cells) = (0, 0);
        let mut rows = Vec::new();
        for &id in ids {
            if cells > CELLS {
                break;
            }
            let most = if read > ROWS { CUT } else { CELL };
            if let Ok(Some(columns)) = rows::execution_row(db.db.as_ref(), id, most) {
                let texts = columns.iter().map(|(_, cell)| cell.text.len());
                read += texts.sum::<usize>();
                cells += columns.len();
                rows.push(RowView { id, columns });
            }
        }
        rows
    }

    fn store(&self, table: &ValueTable) -> Option<&NamedDatabase> {
        match table {
            ValueTable::Bindings => self.db.as_ref(),
            ValueTable::Agents(name) => {
                let mut stores = self.db.iter().chain(&self.agent_stores);
                stores.find(|store| store.name == *name)
            }
        }
    }

    /// Returns the source of a folder of agents outside of the run.
    fn folder(&self, store: &Text) -> Option<&Rc<dyn Source>> {
        let mut folders = self.folders.iter();
        folders.find(|(name, _)| name == store).map(|(_, s)| s)
    }
}

pub(super) fn unreadable(store: &NamedDatabase, error: &DecodeError) -> SourceError {
    SourceError::Unreadable {
        path: store.name.to_string(),
        cause: error.to_string(),
    }
}

impl ValueTable {
    fn name(&self) -> &'static str {
        match self {
            ValueTable::Bindings => "bindings",
            ValueTable::Agents(_) => "agents",
        }
    }

    fn column(&self) -> &'static str {
        match self {
            ValueTable::Bindings => "value",
            ValueTable::Agents(_) => "memory",
        }
    }

    fn part(&self) -> RunPart {
        match self {
            ValueTable::Bindings => RunPart::Bindings,
            ValueTable::Agents(_) => RunPart::Agents,
        }
    }
}

impl ValuePlace {
    fn of_file(title: String, path: String, len: u64) -> ValuePlace {
        ValuePlace {
            title,
            from: path.clone(),
            table: ValueTable::Bindings,
            at: ValueAt::File {
                path: path.into(),
                start: 0,
                len,
            },
            summary: None,
            note: None,
            missing: None,
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.at.len().unwrap_or(0)
    }
}

/// Normalizes a path inside the run. `None` if it has `..`, a root, a drive or a device (errata R5).
pub(super) fn inside(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let bad = path.is_empty()
        || path.starts_with('/')
        || path.contains(':')
        || path.contains('\0')
        || path
            .split('/')
            .any(|part| part.is_empty() || part == "." || part == "..");
    (!bad).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachment_paths_stay_inside_the_run() {
        for (path, clean) in [
            ("attachments/report.md", Some("attachments/report.md")),
            ("./attachments/report.md", Some("attachments/report.md")),
            ("attachments\\report.md", Some("attachments/report.md")),
            ("../secret", None),
            ("attachments/../../secret", None),
            ("/etc/passwd", None),
            ("C:\\Windows\\win.ini", None),
            ("a//b", None),
            ("", None),
            ("a\0b", None),
        ] {
            assert_eq!(inside(path).as_deref(), clean, "{path:?}");
        }
    }
}
