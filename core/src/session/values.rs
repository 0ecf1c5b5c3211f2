use super::{Session, Store};
use crate::database::{DecodeError, NEAR};
use crate::decode::rows;
use crate::model::{Agent, Binding, Text, ValueAt};
use crate::source::SourceError;
use crate::view::{Part, RowView, Unread, ValueFormat, ValueView};

/// What a value is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOf {
    /// A binding, by its index. Where its row names an attachment that is there, the attachment's content.
    Binding(u32),
    /// A binding's own row or file, even where it names an attachment.
    Summary(u32),
    /// An agent's memory, by the agent's index.
    Memory(u32),
    /// A file of the run, by its path inside the run folder.
    File(String),
}

/// How much of a file is held at a time, in bytes.
const PIECE: usize = 1 << 20;

/// Bytes of a cell of a row that somebody opened; of one among many, after this much was read.
const CELL: u32 = 64 << 10;
const ROWS: usize = 1 << 20;
const CUT: u32 = 512;

/// Cells of a node's rows.
const CELLS: usize = 4_000;

/// How much a preview shows, in bytes read.
const PREVIEW: usize = 640;

impl Session {
    /// Opens a value: its beginning, up to `most` bytes.
    ///
    /// # Errors
    /// When there is no such value, or its store cannot give it; the message says which and why.
    pub fn value(&self, of: &ValueOf, most: usize) -> Result<ValueView, SourceError> {
        let place = self.locate(of)?;
        let bytes = place.read(self, 0, most)?;
        let len = place.len;
        let cut = (bytes.len() as u64) < len;
        let (text, replaced) = to_text(&bytes, cut);
        let format = format_of(&bytes, &text);
        let mut notes: Vec<String> = place.note.into_iter().collect();
        if replaced && format != ValueFormat::Binary {
            notes.push("bytes that are not UTF-8 are shown as �".to_owned());
        }
        Ok(ValueView {
            title: place.title,
            text: if format == ValueFormat::Binary {
                hex(&bytes, 4096)
            } else {
                text
            },
            len,
            cut,
            format,
            from: place.from,
            summary: place.summary,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        })
    }

    /// How long a value is, in bytes.
    ///
    /// # Errors
    /// When there is no such value.
    pub fn value_len(&self, of: &ValueOf) -> Result<u64, SourceError> {
        Ok(self.locate(of)?.len)
    }

    /// A part of a value, byte for byte.
    ///
    /// # Errors
    /// When there is no such value, or its store cannot give it.
    pub fn value_part(
        &self,
        of: &ValueOf,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, SourceError> {
        self.locate(of)?.read(self, offset, len)
    }

    /// Gives a whole value to `each`, piece by piece, byte for byte; `each` stops it by returning `false`.
    ///
    /// # Errors
    /// When there is no such value, or its store cannot give it.
    pub fn value_pieces(
        &self,
        of: &ValueOf,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), SourceError> {
        let place = self.locate(of)?;
        // The way to a place deep in a row's value is long: a row is walked once, a file part by part.
        if let At::Value(table, at @ ValueAt::Row { len: Some(_), .. }) = &place.at
            && let Some(store) = table.store(self)
        {
            return rows::value_pieces(store.db.as_ref(), table.name(), table.column(), at, each)
                .map_err(|e| unreadable(store, &e));
        }
        let mut offset = 0;
        while offset < place.len {
            let piece = place.read(self, offset, PIECE)?;
            if piece.is_empty() || !each(&piece) {
                break;
            }
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Source statement, times and attachment of a binding: from the model where they were read, else from its row.
    pub(super) fn binding_tail(&self, binding: &Binding) -> Binding {
        let mut full = [binding.clone()];
        self.binding_tails(&mut full);
        let [full] = full;
        full
    }

    /// The same for many at once.
    pub(super) fn binding_tails(&self, bindings: &mut [Binding]) {
        if let Some(db) = &self.db {
            // What cannot be read stays unknown.
            let _ = rows::binding_tails(db.db.as_ref(), bindings);
        }
    }

    /// Times of an agent: from the model where they were read, else from its row, behind a large memory.
    pub(super) fn agent_tail(&self, agent: &Agent) -> Agent {
        let large = agent.memory.len().unwrap_or(0) > u64::from(NEAR);
        let known = agent.created.is_some() || agent.updated.is_some();
        Table::Agents(agent.store.clone())
            .store(self)
            .filter(|_| large && !known)
            .and_then(|store| rows::agent_tail(store.db.as_ref(), agent).ok())
            .unwrap_or_else(|| agent.clone())
    }

    /// The beginning of a value on one line.
    pub(super) fn preview(&self, table: Table, at: &ValueAt) -> String {
        let table_name = table.name();
        let part = match table {
            Table::Bindings => Part::Bindings,
            Table::Agents(_) => Part::Agents,
        };
        let len = at.len().unwrap_or(0).min(PREVIEW as u64) as usize;
        if len == 0 {
            return String::new();
        }
        match self.read_at(table, at, 0, len) {
            Ok(bytes) => {
                let (text, _) = to_text(&bytes, true);
                if format_of(&bytes, &text) == ValueFormat::Binary {
                    hex(&bytes, 24)
                } else {
                    one_line(&text, 160)
                }
            }
            Err(error) => {
                let lost = Unread {
                    what: format!("a value in {table_name}"),
                    why: error.to_string(),
                    next: "Repeat the command.".to_owned(),
                    parts: vec![part],
                    failed: !matches!(error, SourceError::Database { failed: false, .. }),
                    sealed: false,
                    around: false,
                };
                self.lost.borrow_mut().push(lost);
                String::new()
            }
        }
    }

    /// Where an attachment lies and how long it is, when its path stays inside the run and it is there.
    pub(super) fn attachment(&self, path: &str) -> Option<(String, u64)> {
        let clean = inside(path)?;
        let full = format!("{}{clean}", self.root);
        let file = self.source.file(&full)?;
        Some((full, file.len))
    }

    fn locate(&self, of: &ValueOf) -> Result<Place, SourceError> {
        let none = |what: &str, n: u32| SourceError::NotFound(format!("{what} {n}"));
        match of {
            ValueOf::Binding(n) | ValueOf::Summary(n) => {
                let short = self
                    .run
                    .bindings
                    .get(*n as usize)
                    .ok_or_else(|| none("binding", *n))?;
                let binding = self.binding_tail(short);
                let own = self.place_of(Table::Bindings, &binding.value, binding.name.to_string());
                let (ValueOf::Binding(_), Some(path)) =
                    (of, binding.attachment.as_deref().filter(|p| !p.is_empty()))
                else {
                    return Ok(own);
                };
                let summary =
                    Some(self.preview(Table::Bindings, &binding.value)).filter(|s| !s.is_empty());
                Ok(match self.attachment(path) {
                    Some((full, len)) => Place {
                        title: binding.name.to_string(),
                        from: full.clone(),
                        len,
                        at: At::File {
                            path: full,
                            start: 0,
                        },
                        summary,
                        note: None,
                    },
                    None if inside(path).is_none() => Place {
                        note: Some(format!(
                            "the attachment's path leaves the run and is not followed: {path}"
                        )),
                        ..own
                    },
                    None => Place {
                        note: Some(match self.source.is_loose() {
                            true => format!(
                                "the attachment {path} was not given: only the run's own file was opened; this is the row's own value"
                            ),
                            false => format!(
                                "the attachment {path} is not there; this is the row's own value"
                            ),
                        }),
                        ..own
                    },
                })
            }
            ValueOf::Memory(n) => {
                let agent = self
                    .run
                    .agents
                    .get(*n as usize)
                    .ok_or_else(|| none("agent", *n))?;
                let mut place = self.place_of(
                    Table::Agents(agent.store.clone()),
                    &agent.memory,
                    format!("memory of {}", agent.name),
                );
                place.from = agent.store.to_string();
                Ok(place)
            }
            ValueOf::File(path) => {
                let clean = inside(path).ok_or_else(|| SourceError::NotFound(path.clone()))?;
                let full = format!("{}{clean}", self.root);
                let file = self
                    .source
                    .file(&full)
                    .ok_or_else(|| SourceError::NotFound(path.clone()))?;
                Ok(Place {
                    title: clean,
                    from: full.clone(),
                    len: file.len,
                    at: At::File {
                        path: full,
                        start: 0,
                    },
                    summary: None,
                    note: None,
                })
            }
        }
    }

    fn place_of(&self, table: Table, at: &ValueAt, title: String) -> Place {
        let (from, note) = match at {
            ValueAt::Row { len: None, .. } => {
                (table.words(self), Some("the value is NULL".to_owned()))
            }
            ValueAt::Row { .. } => (table.words(self), None),
            ValueAt::File { path, .. } => (path.to_string(), None),
            ValueAt::Missing => (
                "nowhere".to_owned(),
                Some("it is named, but it is not there".to_owned()),
            ),
        };
        Place {
            title,
            from,
            len: at.len().unwrap_or(0),
            at: At::Value(table, at.clone()),
            summary: None,
            note,
        }
    }

    pub(super) fn read_at(
        &self,
        table: Table,
        at: &ValueAt,
        offset: u64,
        len: usize,
    ) -> Result<Vec<u8>, SourceError> {
        match at {
            ValueAt::Missing => Ok(Vec::new()),
            ValueAt::File { path, start, .. } => {
                let own = &self.source;
                let source = match &table {
                    Table::Agents(store) => self
                        .folders
                        .iter()
                        .find(|(name, _)| name == store)
                        .map_or(own, |(_, s)| s),
                    Table::Bindings => own,
                };
                source.read(path, start + offset, len)
            }
            ValueAt::Row { .. } => {
                let Some(store) = table.store(self) else {
                    return Err(SourceError::NotFound(
                        "the database of this value".to_owned(),
                    ));
                };
                rows::value_bytes(
                    store.db.as_ref(),
                    table.name(),
                    table.column(),
                    at,
                    offset,
                    len,
                )
                .map_err(|e| unreadable(store, &e))
            }
        }
    }
}

pub(super) fn unreadable(store: &Store, error: &DecodeError) -> SourceError {
    SourceError::Unreadable {
        path: store.name.to_string(),
        cause: error.to_string(),
    }
}

/// Every column of these execution rows, read now. Cells are cut sooner once much was read, and of wide rows fewer
/// are given: rows of one node may be hundreds.
pub(super) fn execution_rows(session: &Session, ids: &[i64]) -> Vec<RowView> {
    let Some(db) = &session.db else {
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
            read += columns
                .iter()
                .map(|(_, cell)| cell.text.len())
                .sum::<usize>();
            cells += columns.len();
            rows.push(RowView { id, columns });
        }
    }
    rows
}

/// The tables that hold values.
#[derive(Debug, Clone)]
pub(super) enum Table {
    Bindings,
    Agents(Text),
}

impl Table {
    fn name(&self) -> &'static str {
        match self {
            Table::Bindings => "bindings",
            Table::Agents(_) => "agents",
        }
    }

    fn column(&self) -> &'static str {
        match self {
            Table::Bindings => "value",
            Table::Agents(_) => "memory",
        }
    }

    pub(super) fn store<'a>(&self, session: &'a Session) -> Option<&'a Store> {
        match self {
            Table::Bindings => session.db.as_ref(),
            Table::Agents(name) => session
                .db
                .iter()
                .chain(&session.agent_stores)
                .find(|store| store.name == *name),
        }
    }

    fn words(&self, session: &Session) -> String {
        match self.store(session) {
            Some(store) => format!("{}, {}", store.name, self.name()),
            None => self.name().to_owned(),
        }
    }
}

struct Place {
    title: String,
    from: String,
    len: u64,
    at: At,
    summary: Option<String>,
    note: Option<String>,
}

enum At {
    Value(Table, ValueAt),
    File { path: String, start: u64 },
}

impl Place {
    fn read(&self, session: &Session, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        let left = self.len.saturating_sub(offset);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(len);
        if len == 0 {
            return Ok(Vec::new());
        }
        match &self.at {
            At::Value(table, at) => session.read_at(table.clone(), at, offset, len),
            At::File { path, start } => session.source.read(path, start + offset, len),
        }
    }
}

/// A path made of plain components, or nothing: no `..`, no root, no drive, no device (reliability.md).
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

/// Bytes as text; a character that the cut went through is left out, others that are no UTF-8 are replaced.
fn to_text(bytes: &[u8], cut: bool) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(e) if cut && e.error_len().is_none() => (
            String::from_utf8_lossy(bytes.get(..e.valid_up_to()).unwrap_or_default()).into_owned(),
            false,
        ),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

/// Content decides: binary by its control bytes, JSON by its brackets, Markdown by its marks.
fn format_of(bytes: &[u8], text: &str) -> ValueFormat {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default();
    let odd = head
        .iter()
        .filter(|b| matches!(b, 0..=8 | 14..=26 | 28..=31))
        .count();
    let replaced = text.chars().take(2048).filter(|&c| c == '\u{fffd}').count();
    if (odd + replaced) * 10 > head.len() {
        return ValueFormat::Binary;
    }
    let trimmed = text.trim();
    let bracketed = (trimmed.starts_with('{') && trimmed.ends_with('}'))
        || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    if bracketed && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
        return ValueFormat::Json;
    }
    let marked = |line: &str| {
        let line = line.trim_start();
        ["# ", "## ", "### ", "- ", "* ", "1. ", "> ", "```", "|"]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    let inline = ["**", "`", "]("].iter().any(|mark| text.contains(mark));
    if inline || text.lines().take(200).any(marked) {
        ValueFormat::Markdown
    } else {
        ValueFormat::Text
    }
}

fn hex(bytes: &[u8], most: usize) -> String {
    let mut out = String::with_capacity(most * 3);
    for (i, byte) in bytes.iter().take(most).enumerate() {
        if i > 0 {
            out.push(if i % 16 == 0 { '\n' } else { ' ' });
        }
        out.push_str(&format!("{byte:02x}"));
    }
    if bytes.len() > most {
        out.push_str(" …");
    }
    out
}

fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut blank = true;
    let mut n = 0;
    for c in text.chars() {
        let white = c.is_whitespace() || c.is_control();
        if white && blank {
            continue;
        }
        if n == most {
            out.push('…');
            break;
        }
        out.push(if white { ' ' } else { c });
        blank = white;
        n += 1;
    }
    out.trim_end().to_owned()
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

    #[test]
    fn content_decides_how_a_value_reads() {
        for (bytes, format) in [
            (&b"plain words"[..], ValueFormat::Text),
            (b"# Heading\n\ntext", ValueFormat::Markdown),
            (b"with **bold** in it", ValueFormat::Markdown),
            (b" {\"a\": [1, 2]} ", ValueFormat::Json),
            (b"{not json}", ValueFormat::Text),
            (b"\x00\x01\x02\x03", ValueFormat::Binary),
            (b"", ValueFormat::Text),
        ] {
            let (text, _) = to_text(bytes, false);
            assert_eq!(format_of(bytes, &text), format, "{bytes:?}");
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let bytes = "aé".as_bytes();
        assert_eq!(to_text(&bytes[..2], true), ("a".to_owned(), false));
        assert!(to_text(&bytes[..2], false).1);
    }

    #[test]
    fn previews_are_one_line() {
        assert_eq!(one_line("  a\n\n b\tc ", 160), "a b c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
