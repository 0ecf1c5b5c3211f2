//! Reads cells of rows.

use tokio_postgres::types::FromSql;
use tokio_postgres::{Error, Row};

/// Removes the zone of a time such as `2026-01-15 14:30:52+00`. OpenProse's format has no zone.
pub(crate) fn without_zone(text: &str) -> &str {
    text.strip_suffix("+00").unwrap_or(text)
}

/// Returns the cell of a row at a position.
pub(crate) fn get<'a, T: FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at)
}
