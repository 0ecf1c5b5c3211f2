//! Reads rows of `bindings` of one name through the table's index, without touching other rows.

use super::bindings::supersede;
use super::reader::Reader;
use crate::database::{Database, DecodeError, Key, NEAR, Rows, SHORT_TEXT, Want};
use crate::decode::fields::Fields as _;
use crate::issue::Issue;
use crate::model::Binding;
use crate::schema;

/// The columns needed for a value; the other columns are not read.
const WANTS: &[Want<'static>] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("attachment_path").within(NEAR),
    Want::size("value"),
];

/// The bindings of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// In stored order.
    pub bindings: Vec<Binding>,
    /// Defects found in their rows.
    pub issues: Vec<Issue>,
}

/// Returns the bindings of one name, found through the table's index. Their kinds, statements and times are not read.
///
/// Returns `None` if only a scan of the whole table can answer: the index finds no row, rows of several runs share
/// the table, or the table cannot be read to its end.
///
/// # Errors
/// If the table does not exist.
pub fn bindings_named(
    db: &dyn Database,
    file: &str,
    name: &str,
) -> Result<Option<Named>, DecodeError> {
    let mut reader = Reader::of_table(db, schema::BINDINGS, file)?;
    let Some(found) = reader.table(schema::BINDINGS) else {
        return Ok(None);
    };
    // A cell that is not text, or is cut, would read differently from the stored name.
    let plain = name.len() < SHORT_TEXT as usize && !name.contains(['\0', '\u{fffd}']);
    if !plain || found.column("name").is_none() || found.column("run_id").is_some() {
        return Ok(None);
    }
    let mut bindings: Vec<Binding> = Vec::new();
    let rows = Rows::Holding("name", Key::Text(name));
    reader.scan_rows(schema::BINDINGS, rows, WANTS, |cells| {
        if let Some(found) = cells.text("name").filter(|found| **found == *name) {
            bindings.push(Binding {
                name: found,
                execution_id: cells.int("execution_id"),
                value: cells.value_at("value"),
                attachment: cells.text("attachment_path"),
                tail_known: cells.row.reached(),
                ..Binding::default()
            });
        }
    });
    if bindings.is_empty() || reader.failed.is_some() {
        return Ok(None);
    }
    supersede(&mut bindings, &mut reader.notes);
    Ok(Some(Named {
        bindings,
        issues: reader.notes.finish(),
    }))
}

/// Returns whether an execution has this id, found through the table's key. Returns `false` as well if the answer would
/// need a scan of the whole table.
pub fn has_execution(db: &dyn Database, file: &str, id: i64) -> bool {
    let Ok(mut reader) = Reader::of_table(db, schema::EXECUTION, file) else {
        return false;
    };
    let mut found = false;
    let rows = Rows::Holding("id", Key::Int(id));
    let wants = &[Want::short("id")];
    reader.scan_rows(schema::EXECUTION, rows, wants, |cells| {
        found |= cells.int("id") == Some(id);
    });
    found && reader.failed.is_none()
}
