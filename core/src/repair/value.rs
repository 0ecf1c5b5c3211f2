use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value of a row, byte for byte: a text need not be UTF-8.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Cell {
    /// NULL.
    #[default]
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Cell {
    /// A text.
    pub fn text(text: &str) -> Cell {
        Cell::Text(text.as_bytes().to_vec())
    }

    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Cell::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The whole number, when it is one.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        *self == Cell::Null
    }
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Cell {
        match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(n) => Cell::Integer(n),
            ValueRef::Real(x) => Cell::Real(x),
            ValueRef::Text(bytes) => Cell::Text(bytes.to_vec()),
            ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Integer(n) => ValueRef::Integer(*n),
            Cell::Real(x) => ValueRef::Real(*x),
            Cell::Text(bytes) => ValueRef::Text(bytes),
            Cell::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
