//! Reads the cells of a row: each wanted cell is two columns of the statement, its length and its value.

use std::borrow::Cow;

use prosescope_core::model::StoredType;
use prosescope_core::model::database::{Cell, DecodeError, Row, Value, Want};
use tokio_postgres::types::{FromSql, Type};

use crate::cell::{get, without_zone};
use crate::fault;
use crate::shape::{ColumnReading, ScannedTable};

/// A wanted cell: the SQL of its two columns in the statement (length, then value), and how to read these columns.
pub(super) struct Slot {
    pub(super) sql: String,
    kind: ColumnReading,
    most: usize,
    /// The position of the length in the row; `None` if the column does not exist.
    at: Option<usize>,
}

impl Slot {
    pub(super) fn of(shape: &ScannedTable, want: &Want<'_>) -> Slot {
        let mut slot = Slot {
            sql: String::new(),
            kind: ColumnReading::Text,
            most: want.most as usize,
            at: None,
        };
        let Some(column) = shape.found.column(want.column) else {
            slot.sql = ", NULL::bigint, NULL::text".to_owned();
            return slot;
        };
        let value = shape.expression(column);
        slot.kind = shape.kind(column);
        slot.at = Some(0);
        slot.sql = match slot.kind {
            ColumnReading::Whole | ColumnReading::Real => {
                format!(", octet_length(({value})::text)::bigint, {value}")
            }
            _ if want.most == 0 => format!(", octet_length({value})::bigint, NULL::text"),
            kind => {
                let most = want.most.min(i32::MAX as u32);
                let beginning = match (kind, want.within.is_some() && !want.sized) {
                    (_, true) => String::new(),
                    (ColumnReading::Bytes | ColumnReading::Kept, _) => {
                        format!(" ELSE substring({value} FROM 1 FOR {most})")
                    }
                    _ => format!(" ELSE left({value}, {most})"),
                };
                format!(
                    ", octet_length({value})::bigint, CASE WHEN octet_length({value}) <= {most} THEN {value}{beginning} END"
                )
            }
        };
        slot
    }
}

/// The bytes of a value as the server sent them, without a conversion to text.
pub(super) struct RawBytes<'a>(pub(super) &'a [u8]);

impl<'a> FromSql<'a> for RawBytes<'a> {
    fn from_sql(
        _: &Type,
        raw: &'a [u8],
    ) -> Result<RawBytes<'a>, Box<dyn std::error::Error + Sync + Send>> {
        Ok(RawBytes(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A row of a statement's answer, from which [`Slot`]s read the wanted cells.
pub(super) struct OfStatement<'a> {
    pub(super) row: &'a tokio_postgres::Row,
    pub(super) slots: &'a [Slot],
    pub(super) at: i64,
}

impl OfStatement<'_> {
    /// Returns the slot of the i-th wanted cell, and the position of its length in the row; `None` if the table lacks
    /// the column.
    fn slot(&self, i: usize) -> Option<(&Slot, usize)> {
        let slot = self.slots.get(i)?;
        slot.at?;
        Some((slot, 1 + 2 * i))
    }

    fn len(&self, at: usize) -> Option<u64> {
        let len = get::<Option<i64>>(self.row, at).ok().flatten()?;
        len.try_into().ok()
    }
}

impl Row for OfStatement<'_> {
    fn at(&self) -> i64 {
        self.at
    }

    fn cell(&self, i: usize) -> Result<Cell<'_>, DecodeError> {
        let Some((slot, at)) = self.slot(i) else {
            return Ok(Cell::NULL);
        };
        if slot.most == 0 {
            return Ok(Cell::NULL);
        }
        let wrong = |error: tokio_postgres::Error| DecodeError::Server(fault::words(&error));
        match slot.kind {
            ColumnReading::Whole => {
                let n: Option<i64> = get(self.row, at + 1).map_err(wrong)?;
                Ok(n.map_or(Cell::NULL, |n| Cell::whole(Value::Integer(n))))
            }
            ColumnReading::Real => {
                let x: Option<f64> = get(self.row, at + 1).map_err(wrong)?;
                Ok(x.map_or(Cell::NULL, |x| Cell::whole(Value::Real(x))))
            }
            ColumnReading::Text
            | ColumnReading::Time
            | ColumnReading::Bytes
            | ColumnReading::Kept => {
                let raw: Option<RawBytes<'_>> = get(self.row, at + 1).map_err(wrong)?;
                let Some(RawBytes(bytes)) = raw else {
                    return Ok(Cell::NULL);
                };
                let cut = bytes.get(..slot.most).unwrap_or(bytes);
                let len = self.len(at).unwrap_or(cut.len() as u64);
                Ok(match slot.kind {
                    ColumnReading::Bytes => Cell {
                        value: Value::Blob(Cow::Borrowed(cut)),
                        len,
                    },
                    ColumnReading::Time => {
                        let text = std::str::from_utf8(cut)
                            .map_or(cut, |text| without_zone(text).as_bytes());
                        Cell::whole(Value::Text(Cow::Borrowed(text)))
                    }
                    _ => Cell {
                        value: Value::Text(Cow::Borrowed(cut)),
                        len,
                    },
                })
            }
        }
    }

    fn size(&self, i: usize) -> (StoredType, Option<u64>) {
        let Some((slot, at)) = self.slot(i) else {
            return (StoredType::Null, None);
        };
        match (self.len(at), slot.kind) {
            (None, _) => (StoredType::Null, None),
            (len, ColumnReading::Whole) => (StoredType::Integer, len),
            (len, ColumnReading::Real) => (StoredType::Real, len),
            (len, ColumnReading::Bytes) => (StoredType::Blob, len),
            (len, ColumnReading::Text | ColumnReading::Time | ColumnReading::Kept) => {
                (StoredType::Text, len)
            }
        }
    }

    fn reached(&self) -> bool {
        // A large value is stored apart from its row, so it does not slow down reading the other columns.
        true
    }
}
