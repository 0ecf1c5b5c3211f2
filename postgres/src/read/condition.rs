//! Builds the condition and the order of the statement for a scan's [`WantedRows`].

use prosescope_core::model::database::{LookupKey, WantedRows};

use crate::owner::{RowOwner, USER};
use crate::server::{Bound, int, owned, text};
use crate::shape::{ColumnReading, ScannedTable, declared, quoted};

/// Returns the SQL for the condition and the order of these rows, and the values that the SQL uses from `$2` on.
pub(super) fn condition<'a>(
    shape: &ScannedTable,
    rows: WantedRows<'a>,
    of: &RowOwner,
) -> (String, Vec<Bound<'a>>) {
    const ORDER: &str = "ORDER BY t.\"*at*\"";
    match rows {
        WantedRows::All => (ORDER.to_owned(), Vec::new()),
        // Either the reader was opened for this run only, or the table has no column for the run. So no further
        // condition is needed.
        WantedRows::OfRun(run) if shape.run.is_none() || Some(run) == of.run() => {
            (ORDER.to_owned(), Vec::new())
        }
        WantedRows::OfRun(_) => ("WHERE false".to_owned(), Vec::new()),
        WantedRows::At(at) => ("WHERE t.\"*at*\" = $2".to_owned(), vec![int(at)]),
        WantedRows::Page(from, len) => (
            format!("{ORDER} LIMIT $2 OFFSET $3"),
            vec![
                int(i64::from(len)),
                int(i64::try_from(from).unwrap_or(i64::MAX)),
            ],
        ),
        WantedRows::Holding(column, key) => {
            let Some(column) = shape.found.column(column) else {
                return ("WHERE false".to_owned(), Vec::new());
            };
            let name = quoted(column);
            let of = declared(&shape.found, column);
            let word = match key {
                LookupKey::Text(word) if shape.prefixed == Some(column) => {
                    let stored = owned(format!("{USER}{word}"));
                    return (format!("WHERE t.{name}::text = $2 {ORDER}"), vec![stored]);
                }
                key => key,
            };
            match (word, ColumnReading::of(of)) {
                (LookupKey::Int(n), ColumnReading::Whole) => {
                    (format!("WHERE t.{name} = $2 {ORDER}"), vec![int(n)])
                }
                (LookupKey::Int(n), _) => {
                    let n = owned(n.to_string());
                    (format!("WHERE t.{name}::text = $2 {ORDER}"), vec![n])
                }
                (LookupKey::Text(word), _) if of == "text" => {
                    (format!("WHERE t.{name} = $2 {ORDER}"), vec![text(word)])
                }
                (LookupKey::Text(word), _) => (
                    format!("WHERE t.{name}::text = $2 {ORDER}"),
                    vec![text(word)],
                ),
            }
        }
    }
}
