//! Rows of `bindings` of one name, by the table's index: no other row is looked at.

use super::bindings::supersede;
use super::reader::Reader;
use crate::database::{Database, DecodeError, Key, NEAR, Rows, SHORT_TEXT, Want};
use crate::decode::fields::Fields as _;
use crate::issue::Issue;
use crate::model::Binding;
use crate::schema;

/// What a value takes; the rest of a row is not asked for.
const WANTS: &[Want<'static>] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("attachment_path").within(NEAR),
    Want::size("value"),
];

/// What the rows of one name say.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// In the order in which they are stored.
    pub bindings: Vec<Binding>,
    /// What was odd about them.
    pub issues: Vec<Issue>,
}

/// The bindings of one name, found by the table's index. Their kinds, statements and times are not read.
///
/// `None` where it takes the whole table to know which they are: there are none, rows of several runs share it, or it cannot
/// be read to its end.
///
/// # Errors
/// When there is no such table.
pub fn bindings_named(
    db: &dyn Database,
    file: &str,
    name: &str,
) -> Result<Option<Named>, DecodeError> {
    let mut reader = Reader::of_table(db, schema::BINDINGS, file)?;
    let Some(found) = reader.table(schema::BINDINGS) else {
        return Ok(None);
    };
    // A text that is none, or is cut, reads as another than is stored.
    let plain = name.len() < SHORT_TEXT as usize && !name.contains(['\0', '\u{fffd}']);
    if !plain || found.column("name").is_none() || found.column("run_id").is_some() {
        return Ok(None);
    }
    let mut bindings: Vec<Binding> = Vec::new();
    let asked = Rows::Holding("name", Key::Text(name));
    reader.scan_rows(schema::BINDINGS, asked, WANTS, |cells| {
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

/// Returns whether an execution has this id, found by the table's key. `false` where that takes the whole table to know.
pub fn has_execution(db: &dyn Database, file: &str, id: i64) -> bool {
    let Ok(mut reader) = Reader::of_table(db, schema::EXECUTION, file) else {
        return false;
    };
    let mut found = false;
    let asked = Rows::Holding("id", Key::Int(id));
    let wants = &[Want::short("id")];
    reader.scan_rows(schema::EXECUTION, asked, wants, |cells| {
        found |= cells.int("id") == Some(id);
    });
    found && reader.failed.is_none()
}
