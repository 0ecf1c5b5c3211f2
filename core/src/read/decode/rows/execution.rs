//! Reads rows of `execution` in order of id, and determines their dialect: append-only (one row per event) or in place
//! (rows are updated).

use std::collections::BTreeMap;

use super::meta::Metas;
use super::reader::RowsReader;
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::{Dialect, Execution, Status};
use crate::read::decode::fields::{self, Fields as _};
use crate::read::decode::room::METADATA;

/// Reads all executions in order of id, and determines the dialect of their rows.
pub(super) fn read(reader: &mut RowsReader<'_>) -> (Vec<Execution>, Dialect) {
    let mut rows: Vec<Execution> = Vec::with_capacity(reader.room_for(schema::EXECUTION));
    let mut metas = Metas::default();
    let mut evidence = Evidence::default();
    let has_id = reader
        .table(schema::EXECUTION)
        .is_some_and(|t| t.column("id").is_some());
    reader.scan(schema::EXECUTION, |cells| {
        let id = if has_id { cells.int("id") } else { Some(cells.at) };
        let id = id.unwrap_or_else(|| {
            let issue = Issue::warning("missing-id", "a row of `execution` has no id");
            cells.mark_odd(
                "id",
                issue.hint("The row is shown under its rowid. Rows that name this row as their parent are not linked to it."),
            );
            cells.at
        });
        let metadata = cells.string("metadata");
        let parsed = metadata
            .as_deref()
            .map(|text| metas.parse(text, cells.texts))
            .unwrap_or_default();
        if let Some(why) = parsed.malformed {
            cells.notes.add(malformed(schema::EXECUTION, id, "metadata", &why));
        }
        if parsed.meta.is_some() {
            cells.more = METADATA;
        }
        let row = fields::execution(cells, id, parsed.meta);
        evidence.see(&row, parsed.in_place_words);
        rows.push(row);
    });
    rows.shrink_to_fit();
    put_in_order(reader, &mut rows);
    if !rows.is_empty() && !evidence.times {
        // Rows of the append-only dialect have no times (errata X14).
        reader.notes.add(
            Issue::noted("times-not-recorded", "no row of `execution` has a time")
                .at_table(schema::EXECUTION)
                .hint(
                    "Durations cannot be shown, only the order. The append-only form does not record times.",
                ),
        );
    }
    let dialect = evidence.dialect(&rows);
    (rows, dialect)
}

/// Returns the issue for a cell that should contain JSON, but does not (errata X13).
pub(super) fn malformed(table: &str, row: i64, column: &str, why: &str) -> Issue {
    Issue::warning("malformed-json", format!("`{column}` is not readable: {why}"))
        .at_row(table, row)
        .at_column(column)
        .hint("The row is shown without this value. To see the text, open the row under files and tables.")
}

/// Sorts rows by id, and reports ids that occur twice.
fn put_in_order(reader: &mut RowsReader<'_>, rows: &mut [Execution]) {
    if !rows.is_sorted_by_key(|r| r.id) {
        rows.sort_by_key(|r| r.id);
    }
    for pair in rows.windows(2) {
        if let [a, b] = pair
            && a.id == b.id
        {
            reader.notes.add(
                Issue::warning(
                    "duplicate-id",
                    format!("two rows of `execution` have the id {}", a.id),
                )
                .at_row(schema::EXECUTION, a.id)
                .at_column("id")
                .hint("Both rows are shown, in the order in which they are stored."),
            );
        }
    }
}

/// Returns the dialect of rows; [`Dialect::Undecided`] if the rows contain no evidence for either dialect.
pub fn dialect_of(rows: &[Execution]) -> Dialect {
    let mut evidence = Evidence::default();
    for row in rows {
        let in_place = row.meta.as_deref().is_some_and(|meta| meta.in_place);
        evidence.see(row, in_place);
    }
    evidence.dialect(rows)
}

/// Evidence for the two dialects (sqlite.md and sqlite-earlier.md).
#[derive(Debug, Default)]
struct Evidence {
    /// Whether a row has a word that occurs only in the append-only dialect (one row per event).
    append: bool,
    /// Whether a row has a key that occurs only in the in-place dialect (a statement's row is updated).
    in_place: bool,
    /// Whether a row has different start and end times: such a row was updated, or written once at the end.
    both_times: bool,
    times: bool,
}

impl Evidence {
    fn see(&mut self, row: &Execution, in_place_words: bool) {
        self.append |= matches!(
            row.status,
            Status::Started | Status::Joined | Status::Iteration | Status::Exited | Status::Retry
        );
        self.in_place |= in_place_words;
        self.times |= row.started.is_some() || row.completed.is_some();
        self.both_times |=
            row.started.is_some() && row.completed.is_some() && row.started != row.completed;
    }

    fn dialect(&self, rows: &[Execution]) -> Dialect {
        match (self.append, self.in_place) {
            (true, true) => Dialect::Mixed,
            (true, false) => Dialect::AppendOnly,
            (false, true) => Dialect::InPlace,
            (false, false) if closed_by_a_later_row(rows) => Dialect::AppendOnly,
            (false, false) if self.both_times => Dialect::InPlace,
            (false, false) => Dialect::Undecided,
        }
    }
}

/// Whether a row with a final status follows an unfinished row of the same statement (errata X7). Only the append-only
/// dialect writes such pairs of rows.
fn closed_by_a_later_row(rows: &[Execution]) -> bool {
    let mut open: BTreeMap<(i64, &str), ()> = BTreeMap::new();
    for row in rows {
        let Some(index) = row.index else { continue };
        let key = (index, &*row.text);
        if row.status.is_terminal() {
            if open.contains_key(&key) {
                return true;
            }
        } else {
            open.insert(key, ());
        }
    }
    false
}
