//! Rows of `bindings`, without their values.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::error::DecodeError;
use super::notes::Notes;
use super::read;
use super::scan::{Reader, Want, before};
use super::shape::quoted;
use crate::issue::Issue;
use crate::model::{Binding, BindingKind, Execution, Text, ValueAt};
use crate::schema::{self, Found};

/// The rest of a row is read in a list where the value before it is no longer than this.
pub(super) const SMALL: u32 = 2048;

const WANTS: &[Want] = &[
    // Without these three a row means nothing: they are read wherever they stand.
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("kind"),
    Want::long("source_statement").within(SMALL),
    Want::short("created_at").within(SMALL),
    Want::short("updated_at").within(SMALL),
    Want::short("attachment_path").within(SMALL),
];

/// The same without conditions, for one row that somebody opened.
const TAIL: &[Want] = &[
    Want::long("source_statement"),
    Want::short("created_at"),
    Want::short("updated_at"),
    Want::short("attachment_path"),
];

/// Reads all bindings: names, kinds and lengths; the rest where it does not lie behind a large value.
pub(super) fn read(reader: &mut Reader<'_>, executions: &[Execution]) -> Vec<Binding> {
    let Some(found) = reader.shape.table(schema::BINDINGS) else {
        return Vec::new();
    };
    let extra = [
        stored_kind(found, "value"),
        length(found, "value"),
        reached(found, &WANTS[3..]),
    ];
    let mut bindings: Vec<Binding> = Vec::with_capacity(reader.room_for(schema::BINDINGS));
    let kinds = Kinds::new();
    reader.scan(schema::BINDINGS, WANTS, &extra, |cells| {
        let value = kinds.value(cells.at, cells.extra(0), cells.extra_int(1));
        let name = cells.text(0).unwrap_or_else(|| {
            cells.notes.add(
                Issue::warning("unnamed-binding", "a binding has no name")
                    .at_row(schema::BINDINGS, cells.at)
                    .at_column("name")
                    .hint("No statement can mean it."),
            );
            "".into()
        });
        let binding = Binding {
            name,
            execution_id: cells.int(1),
            kind: BindingKind::parse(&cells.text(2).unwrap_or_else(|| "".into())),
            value,
            source: cells.text(3),
            created: cells.stamp(4),
            updated: cells.stamp(5),
            attachment: cells.text(6),
            fields: Box::default(),
            tail_known: cells.extra_int(2) == Some(1),
            parent_execution_id: None,
            superseded: false,
        };
        check(&binding, cells.at, executions, cells.notes);
        bindings.push(binding);
    });
    bindings.shrink_to_fit();
    finish(reader, &mut bindings);
    bindings
}

/// What takes all bindings of a name.
pub(super) fn finish(reader: &mut Reader<'_>, bindings: &mut [Binding]) {
    if !reader.shape.utf8 {
        // Stored bytes are not the text's bytes: nothing for it but to read the values.
        let values = bindings.iter_mut().map(|binding| &mut binding.value);
        recount(reader, schema::BINDINGS, "value", values);
    }
    supersede(bindings, &mut reader.notes);
}

/// Reads what a list left out of a binding: its statement, times and attachment.
///
/// # Errors
/// When there is no such row, or it cannot be read.
pub fn binding_tail(conn: &Connection, binding: &Binding) -> Result<Binding, DecodeError> {
    let mut full = [Binding {
        fields: Box::default(),
        tail_known: false,
        ..binding.clone()
    }];
    binding_tails(conn, &mut full)?;
    let [full] = full;
    if full.tail_known {
        return Ok(full);
    }
    Err(DecodeError::NotFound(match &full.value {
        ValueAt::Row { rowid, .. } => format!("row {rowid} in bindings"),
        _ => "row of this binding".into(),
    }))
}

/// The same for all of these whose tails are not known. A row that is gone stays as it is.
///
/// # Errors
/// When a row cannot be read.
pub fn binding_tails(conn: &Connection, bindings: &mut [Binding]) -> Result<(), DecodeError> {
    if bindings.iter().all(|b| b.tail_known) {
        return Ok(());
    }
    // What the table looks like is asked once for all.
    let mut reader = Reader::of_table(conn, schema::BINDINGS, "")?;
    for binding in bindings.iter_mut().filter(|b| !b.tail_known) {
        let ValueAt::Row { rowid, .. } = binding.value else {
            continue;
        };
        reader.scan_row(schema::BINDINGS, TAIL, rowid, |cells| {
            binding.source = cells.text(0);
            binding.created = cells.stamp(1);
            binding.updated = cells.stamp(2);
            binding.attachment = cells.text(3);
            binding.tail_known = true;
        })?;
    }
    Ok(())
}

/// `typeof` of a column, which looks at the row's header only.
pub(super) fn stored_kind(found: &Found, column: &str) -> String {
    match found.column(column) {
        Some(column) => format!("typeof({})", quoted(column)),
        None => "'null'".into(),
    }
}

/// A column's length in bytes, from the row's header.
pub(super) fn length(found: &Found, column: &str) -> String {
    match found.column(column) {
        Some(column) => format!("octet_length({})", quoted(column)),
        None => "NULL".into(),
    }
}

/// Whether every one of these columns is near enough to the row's beginning to have been read.
pub(super) fn reached(found: &Found, wants: &[Want]) -> String {
    let conditions: Vec<String> = wants
        .iter()
        .filter_map(|w| {
            let column = found.column(w.column)?;
            Some(format!("{} <= {}", before(found, column)?, w.within?))
        })
        .collect();
    if conditions.is_empty() {
        "1".into()
    } else {
        conditions.join(" AND ")
    }
}

/// The five words of `typeof`, held once.
pub(super) struct Kinds([Text; 5]);

impl Kinds {
    pub(super) fn new() -> Kinds {
        Kinds(["text", "blob", "integer", "real", "null"].map(Text::from))
    }

    pub(super) fn value(&self, at: i64, kind: ValueRef<'_>, len: Option<i64>) -> ValueAt {
        let word = kind.as_str().unwrap_or("null");
        let [.., null] = &self.0;
        let stored = self.0.iter().find(|k| &***k == word).unwrap_or(null);
        ValueAt::Row {
            rowid: at,
            len: len.and_then(|n| u64::try_from(n).ok()),
            stored: Text::clone(stored),
        }
    }
}

/// The lengths of values as UTF-8, in a database that stores UTF-16.
///
/// Honest values take no more than their file. Where they claim to, what is left keeps the length that it is stored
/// with.
pub(super) fn recount<'a>(
    reader: &Reader<'_>,
    table: &str,
    column: &str,
    values: impl Iterator<Item = &'a mut ValueAt>,
) {
    let mut left = read::file_len(reader.conn).unwrap_or(0);
    for value in values {
        left = left.saturating_sub(value.len().unwrap_or(0));
        if left == 0 {
            break;
        }
        let mut total = 0;
        let counted = read::value_pieces(reader.conn, table, column, value, &mut |piece| {
            total += piece.len() as u64;
            true
        });
        if let (Ok(()), ValueAt::Row { len: Some(len), .. }) = (counted, value) {
            *len = total;
        }
    }
}

fn check(binding: &Binding, row: i64, executions: &[Execution], notes: &mut Notes) {
    // B10: both are accepted by SQLite.
    if let BindingKind::Other(word) = &binding.kind {
        let found = if word.is_empty() {
            "no kind".to_owned()
        } else {
            format!("the kind “{word}”")
        };
        notes.add(
            Issue::warning("unknown-kind", format!("{} has {found}", binding.name))
                .at_row(schema::BINDINGS, row)
                .at_column("kind")
                .hint("The documents know input, output, let and const."),
        );
    }
    if let Some(id) = binding.execution_id
        && executions.binary_search_by_key(&id, |e| e.id).is_err()
    {
        notes.add(
            Issue::warning(
                "unknown-execution",
                format!(
                    "{} belongs to execution {id}, which is not recorded",
                    binding.name
                ),
            )
            .at_row(schema::BINDINGS, row)
            .at_column("execution_id")
            .hint("No frame reaches it; it is shown where its row says."),
        );
    }
    // B11: reading accepts any name; these could be taken for something else.
    if let Some(why) = odd_name(&binding.name) {
        notes.add(
            Issue::info("odd-name", format!("the name “{}” {why}", binding.name))
                .at_row(schema::BINDINGS, row)
                .at_column("name")
                .hint("It is shown as written; `prose` itself would refuse to write it."),
        );
    }
}

/// Why a name could be taken for something else (errata B11).
fn odd_name(name: &str) -> Option<&'static str> {
    let scoped = name
        .rsplit_once("__")
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()));
    if scoped {
        Some("reads like a name in a frame, as folders write it")
    } else if name.contains(['/', '\\']) {
        Some("reads like a path")
    } else if !name
        .chars()
        .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    {
        Some("has characters that names do not have")
    } else if name.len() > 200 {
        Some("is longer than 200 bytes")
    } else {
        None
    }
}

/// Of two rows that claim one name and frame the later one counts (errata S2, B5).
fn supersede(bindings: &mut [Binding], notes: &mut Notes) {
    let mut last: BTreeMap<(Text, Option<i64>), usize> = BTreeMap::new();
    let mut earlier: Vec<(usize, usize)> = Vec::new();
    for (i, binding) in bindings.iter().enumerate() {
        let key = (Text::clone(&binding.name), binding.execution_id);
        if let Some(before) = last.insert(key, i) {
            earlier.push((before, i));
        }
    }
    for (before, after) in earlier {
        let rowid = |i: usize| match bindings.get(i).map(|b| &b.value) {
            Some(ValueAt::Row { rowid, .. }) => *rowid,
            _ => 0,
        };
        let (old, new) = (rowid(before), rowid(after));
        let Some(binding) = bindings.get_mut(before) else {
            continue;
        };
        binding.superseded = true;
        let place = match binding.execution_id {
            Some(id) => format!("in execution {id}"),
            None => "at the root".into(),
        };
        notes.add(
            Issue::warning(
                "duplicate-binding",
                format!(
                    "{} stands twice {place}: rows {old} and {new}",
                    binding.name
                ),
            )
            .at_row(schema::BINDINGS, old)
            .at_column("name")
            .hint("The later row counts; the earlier one is shown as superseded."),
        );
    }
}
