use super::Text;
use super::words::words;
use crate::time::Stamp;

words! { parse
    /// What kind of name a binding is (filesystem.md, "The `kind` field distinguishes").
    pub enum BindingKind {
        /// Received from the caller.
        Input = "input",
        /// Returned to the caller.
        Output = "output",
        /// Mutable.
        Let = "let",
        /// Immutable.
        Const = "const",
    }
}

impl Default for BindingKind {
    fn default() -> BindingKind {
        BindingKind::Other(Text::default())
    }
}

/// A named value: what is known without reading the value itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Binding {
    /// The name as recorded; any text (errata B11).
    pub name: Text,
    /// The frame it belongs to, by the id in its own store; `None` is the root (errata B4).
    pub execution_id: Option<i64>,
    /// Input, output, let, const, or what was written.
    pub kind: BindingKind,
    /// Where the value lies and how long it is.
    pub value: ValueAt,
    /// The statement that made it. `None`: not recorded, or behind a large value and not read
    /// (see [`Binding::tail_known`]).
    pub source: Option<Text>,
    /// When it was first written.
    pub created: Option<Stamp>,
    /// When it was last written.
    pub updated: Option<Stamp>,
    /// `attachment_path` as recorded: not checked, not trusted.
    pub attachment: Option<Text>,
    /// Fields of a file's header that no document knows (`agent`, `exit_code`, `stderr`), in order.
    pub fields: Box<[(Text, Text)]>,
    /// Whether `source`, the times and `attachment` were read. They lie behind the value in a row, so a list
    /// leaves them for the row that is opened (errata R8); `Session` fills them in.
    pub tail_known: bool,
    /// `parent_execution_id:` of a scoped binding's header in a folder (errata F2).
    pub parent_execution_id: Option<i64>,
    /// Set on the earlier one of two rows that claim the same name and frame (errata S2).
    pub superseded: bool,
}

impl Binding {
    /// Whether its value is there, and no later version of it took its place.
    pub fn is_written(&self) -> bool {
        matches!(self.value, ValueAt::File { .. } | ValueAt::Row { .. }) && !self.superseded
    }

    /// The first line of the source that its header quotes.
    pub fn first_line(&self) -> Option<&str> {
        let first = self.source.as_deref()?.trim().lines().next()?.trim_end();
        (!first.is_empty()).then_some(first)
    }
}

/// Where a value lies.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ValueAt {
    /// A row of `bindings`, by rowid (or its place in key order where the table has no rowid).
    Row {
        /// The row's rowid, or what its store finds it by.
        rowid: i64,
        /// Bytes; `None` when the value is NULL.
        len: Option<u64>,
        /// How it is stored.
        stored: Stored,
    },
    /// A part of a file of the run: from `start` to the end.
    File {
        /// Path inside the source that the run was read from.
        path: Text,
        /// Where the value begins, in bytes.
        start: u64,
        /// Bytes from there to the end of the file.
        len: u64,
    },
    /// Named in an index (state.md), but there is no such row or file.
    #[default]
    Missing,
}

/// The type with which a cell is stored, whatever its column declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// NULL.
    Null,
    /// A whole number.
    Integer,
    /// A number.
    Real,
    /// A text.
    Text,
    /// Bytes.
    Blob,
}

impl Stored {
    /// Its name, as SQLite's `typeof` has it.
    pub fn word(self) -> &'static str {
        match self {
            Stored::Null => "null",
            Stored::Integer => "integer",
            Stored::Real => "real",
            Stored::Text => "text",
            Stored::Blob => "blob",
        }
    }
}

impl ValueAt {
    /// A whole file, by its path inside the source.
    pub(crate) fn file(path: &str, len: u64) -> ValueAt {
        ValueAt::File {
            path: path.into(),
            start: 0,
            len,
        }
    }

    /// The value's length in bytes, when there is a value.
    pub fn len(&self) -> Option<u64> {
        match self {
            ValueAt::Row { len, .. } => *len,
            ValueAt::File { len, .. } => Some(*len),
            ValueAt::Missing => None,
        }
    }

    /// Whether there is no value at all (NULL, missing), or one of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len().unwrap_or(0) == 0
    }
}
