//! Finds the bindings of one name through the index of the table `bindings`, without reading other rows.

use super::bindings::supersede;
use super::reader::RowsReader;
use crate::model::Binding;
use crate::model::database::{
    Database, DecodeError, LookupKey, NEAR, SHORT_TEXT, Want, WantedRows,
};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::read::decode::fields::Fields as _;

/// The columns that are needed to find a binding's frame and its value.
const WANTS: &[Want<'static>] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("attachment_path").within(NEAR),
    Want::size("value"),
];

/// The bindings of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedBindings {
    /// The bindings, in stored order.
    pub bindings: Vec<Binding>,
    /// Defects found in the rows of these bindings.
    pub issues: Vec<Issue>,
}

/// Returns the bindings of one name, found through the table's index. Their kinds, statements and times are not read.
///
/// Returns `None` if the caller must scan the whole table: the index finds no row, rows of several runs share the
/// table, or reading fails.
///
/// # Errors
/// If the table does not exist.
pub fn bindings_named(
    db: &dyn Database,
    file: &str,
    name: &str,
) -> Result<Option<NamedBindings>, DecodeError> {
    let mut reader = RowsReader::of_table(db, schema::BINDINGS, file)?;
    let Some(found) = reader.table(schema::BINDINGS) else {
        return Ok(None);
    };
    // The index compares stored cells. A name that is long, or contains NUL or U+FFFD, may differ from its stored cell.
    let plain = name.len() < SHORT_TEXT as usize && !name.contains(['\0', '\u{fffd}']);
    if !plain || found.column("name").is_none() || found.column("run_id").is_some() {
        return Ok(None);
    }
    let mut bindings: Vec<Binding> = Vec::new();
    let rows = WantedRows::Holding("name", LookupKey::Text(name));
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
    Ok(Some(NamedBindings {
        bindings,
        issues: reader.notes.finish(),
    }))
}

/// Returns whether the table's key finds an execution with this id. Returns `false` as well if only a scan of the
/// whole table could find the execution.
pub fn has_execution(db: &dyn Database, file: &str, id: i64) -> bool {
    let Ok(mut reader) = RowsReader::of_table(db, schema::EXECUTION, file) else {
        return false;
    };
    let mut found = false;
    let rows = WantedRows::Holding("id", LookupKey::Int(id));
    let wants = &[Want::short("id")];
    reader.scan_rows(schema::EXECUTION, rows, wants, |cells| {
        found |= cells.int("id") == Some(id);
    });
    found && reader.failed.is_none()
}
