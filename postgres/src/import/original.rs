//! Replaces values that a column of the schema refuses or changes, and keeps the originals in `x_original` (errata P3,
//! P11).

use prosescope_core::model::database::ColumnType;
use prosescope_core::model::time::Stamp;
use serde_json::Value;

use crate::apply::{TransactionStep, any};
use crate::server::{owned_bytes, text};
use crate::written_row::{WrittenCell, only};

/// The replacement for NUL, which PostgreSQL does not store in a text.
const REPLACED: &str = "\u{fffd}";

/// A value that the database refuses: its column, and its original bytes.
pub(super) type Original = (&'static str, Vec<u8>);

/// The refused values of the row with a key.
pub(super) struct RefusedValues {
    pub(super) table: &'static str,
    pub(super) key: Vec<WrittenCell>,
    pub(super) originals: Vec<Original>,
}

impl RefusedValues {
    /// Returns the statements that keep the refused values; they run after the row is written.
    pub(super) fn steps<'a>(&'a self, run: &'a str) -> impl Iterator<Item = TransactionStep<'a>> {
        let RefusedValues { table, key, .. } = self;
        let address = match *table {
            "run" => "1",
            "execution" | "agent_segments" => "id",
            _ => "x_seq",
        };
        self.originals.iter().map(move |(column, original)| {
            let mut bound = vec![text(run), owned_bytes(original.clone())];
            let only = only(table, key, run, &mut bound);
            let sql = format!(
                "INSERT INTO openprose.x_original (run_id, table_name, key, column_name, bytes, stored)
                 SELECT $1, '{table}', ({address})::text, '{column}', $2, md5({column}::text)
                 FROM openprose.{table} WHERE {only}
                 ON CONFLICT (run_id, table_name, key, column_name)
                 DO UPDATE SET bytes = excluded.bytes, stored = excluded.stored"
            );
            any(sql, bound)
        })
    }
}

pub(super) fn some(
    originals: impl IntoIterator<Item = (&'static str, Option<Vec<u8>>)>,
) -> Vec<Original> {
    let originals = originals.into_iter();
    originals
        .filter_map(|(column, bytes)| Some((column, bytes?)))
        .collect()
}

/// Replaces a value that its column refuses; returns the original if it was replaced.
pub(super) fn refused_by(cell: &mut WrittenCell) -> Option<Vec<u8>> {
    let mut value = match &mut cell.value {
        Value::String(text) => Some(std::mem::take(text)),
        Value::Object(_) => Some(cell.value.to_string()),
        _ => return None,
    };
    let original = match cell.kind {
        ColumnType::Text => value.as_mut().and_then(nul),
        ColumnType::Time => time(&mut value),
        ColumnType::Json => json(&mut value),
        ColumnType::Integer => None,
    };
    cell.value = value.into();
    original
}

/// Replaces NUL characters in a text; returns the original if there were any.
pub(super) fn nul(value: &mut String) -> Option<Vec<u8>> {
    value.contains('\0').then(|| {
        let shown = value.replace('\0', REPLACED);
        std::mem::replace(value, shown).into_bytes()
    })
}

/// Replaces a scope that the column refuses by `custom`; returns the original if it was replaced.
pub(super) fn scope(word: &mut String) -> Option<Vec<u8>> {
    const SCOPES: [&str; 4] = ["execution", "project", "user", "custom"];
    let is_odd = !SCOPES.contains(&word.as_str());
    is_odd.then(|| std::mem::replace(word, "custom".to_owned()).into_bytes())
}

/// Converts a time into PostgreSQL's form in UTC; returns the original if it is not a time or has no zone.
pub(super) fn time(value: &mut Option<String>) -> Option<Vec<u8>> {
    let was = value.take().filter(|text| !text.is_empty())?;
    match Stamp::parse(&was) {
        at @ Stamp::At(_) => *value = Some(at.to_string().trim_end_matches('Z').to_owned()),
        // The column stores a zone, but this time has none, so the original is kept.
        at @ Stamp::Zoneless(_) => {
            *value = Some(at.to_string());
            return Some(was.into_bytes());
        }
        Stamp::Odd(_) => return Some(was.into_bytes()),
    }
    None
}

/// Sets JSON that PostgreSQL refuses to `None`; returns the original if it was refused.
pub(super) fn json(value: &mut Option<String>) -> Option<Vec<u8>> {
    let refused = value.as_deref().is_some_and(|text| {
        text.contains("\\u0000") || serde_json::from_str::<serde_json::Value>(text).is_err()
    });
    let was = value.take_if(|_| refused)?;
    Some(was.into_bytes())
}

/// Returns the status that the database stores for `word`, and `word` itself if it differs from that status. The table
/// allows only the words of postgres.md (errata P3).
pub(super) fn in_place(word: &str) -> (&'static str, Option<&str>) {
    match word {
        "pending" => ("pending", None),
        "executing" => ("executing", None),
        "completed" => ("completed", None),
        "failed" => ("failed", None),
        "skipped" => ("skipped", None),
        // The append-only form records each event of a statement as a row of its own, with one of these words. Such a
        // row does not change any more.
        "started" | "joined" | "iteration" | "exited" | "retry" | "complete" => {
            ("completed", Some(word))
        }
        _ => ("pending", Some(word)),
    }
}
