use super::Text;
use super::words::words;
use crate::model::time::Stamp;

words! { parse
    /// The kind of a binding (filesystem.md, "The `kind` field distinguishes").
    pub enum BindingKind {
        /// An input: the value comes from the caller.
        Input = "input",
        /// An output: the value is returned to the caller.
        Output = "output",
        /// A variable that may be assigned again.
        Let = "let",
        /// A constant, which is assigned once.
        Const = "const",
    }
}

impl Default for BindingKind {
    fn default() -> BindingKind {
        BindingKind::Other(Text::default())
    }
}

/// A binding's record, without the value itself, which is read on demand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Binding {
    /// The name as recorded; may be any text (errata B11).
    pub name: Text,
    /// The id of the binding's frame, as numbered in the run's own store. `None` is the root (errata B4).
    pub execution_id: Option<i64>,
    /// The kind: input, output, let, const, or another word as written.
    pub kind: BindingKind,
    /// The value's location and length.
    pub value: ValueAt,
    /// The statement that wrote the binding. `None`: not recorded, or not read because a large value precedes it in
    /// the row (see [`Binding::tail_known`]).
    pub source: Option<Text>,
    /// When the binding was first written.
    pub created: Option<Stamp>,
    /// When the binding was last written.
    pub updated: Option<Stamp>,
    /// The column `attachment_path` as recorded: neither checked nor trusted.
    pub attachment: Option<Text>,
    /// The fields in a binding file's header that OpenProse does not define, in order: `agent`, `exit_code`, `stderr`.
    pub fields: Box<[(Text, Text)]>,
    /// Whether `source`, the times and `attachment` were read. A row stores these columns after the value, and SQLite
    /// reads them slowly after a large one. A list therefore skips them (errata R8); `Session` reads them when the row
    /// is opened.
    pub tail_known: bool,
    /// The id in the header line `parent_execution_id:` of a scoped binding's file (errata F2); `None` without this
    /// line.
    pub parent_execution_id: Option<i64>,
    /// Whether a later row has the same name and frame. If so, only the later row counts (errata S2).
    pub superseded: bool,
}

impl Binding {
    /// Returns whether the value exists and is not replaced by a later version.
    pub fn is_written(&self) -> bool {
        matches!(self.value, ValueAt::File { .. } | ValueAt::Row { .. }) && !self.superseded
    }

    /// Returns the first line of [`Binding::source`], trimmed; `None` if the source is absent or blank.
    pub fn first_line(&self) -> Option<&str> {
        let first = self.source.as_deref()?.trim().lines().next()?.trim_end();
        (!first.is_empty()).then_some(first)
    }
}

/// The location of a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ValueAt {
    /// A row of the table `bindings`.
    Row {
        /// The row's rowid. In a store without rowids: the number by which the store finds the row again.
        rowid: i64,
        /// The value's length in bytes; `None` if the value is NULL.
        len: Option<u64>,
        /// The storage type of the value's cell.
        stored: StoredType,
    },
    /// A part of a file of the run: from `start` to the end.
    File {
        /// The file's path inside the source from which the run was read.
        path: Text,
        /// The offset of the value's first byte in the file.
        start: u64,
        /// The number of bytes from `start` to the end of the file.
        len: u64,
    },
    /// The index in `state.md` lists the value, but the value's row or file does not exist.
    #[default]
    Missing,
}

/// The storage type of a cell, which may differ from its column's declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredType {
    /// NULL.
    Null,
    /// A whole number, such as an execution's id.
    Integer,
    /// A floating-point number.
    Real,
    /// A text.
    Text,
    /// Bytes.
    Blob,
}

impl StoredType {
    /// Returns the type's name as SQLite's `typeof` returns it.
    pub fn word(self) -> &'static str {
        match self {
            StoredType::Null => "null",
            StoredType::Integer => "integer",
            StoredType::Real => "real",
            StoredType::Text => "text",
            StoredType::Blob => "blob",
        }
    }
}

impl ValueAt {
    /// Returns the location of a value that fills a whole file; `path` is the file's path inside the source.
    pub(crate) fn file(path: &str, len: u64) -> ValueAt {
        ValueAt::File {
            path: path.into(),
            start: 0,
            len,
        }
    }

    /// Returns the value's length in bytes; `None` without a value.
    pub fn len(&self) -> Option<u64> {
        match self {
            ValueAt::Row { len, .. } => *len,
            ValueAt::File { len, .. } => Some(*len),
            ValueAt::Missing => None,
        }
    }

    /// Returns whether the value is absent (NULL, missing) or has 0 bytes.
    pub fn is_empty(&self) -> bool {
        self.len().unwrap_or(0) == 0
    }
}
