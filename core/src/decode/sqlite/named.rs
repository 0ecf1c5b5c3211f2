//! Rows of `bindings` of one name, by the table's index: no other row is looked at.

use rusqlite::Connection;

use super::bindings::{Kinds, SMALL, finish, length, reached, stored_kind};
use super::error::DecodeError;
use super::scan::{Reader, SHORT_TEXT, Want};
use crate::issue::Issue;
use crate::model::{Binding, BindingKind};
use crate::schema::{self, Found};

/// What a value takes; the rest of a row is not asked for.
const WANTS: &[Want] = &[
    Want::short("name"),
    Want::short("execution_id"),
    Want::short("attachment_path").within(SMALL),
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
/// `None` where it takes the whole table to know which they are: there are none, the table is none that an index can
/// be asked of, rows of several runs share it, or it cannot be read to its end.
///
/// # Errors
/// When there is no such table.
pub fn bindings_named(
    conn: &Connection,
    file: &str,
    name: &str,
) -> Result<Option<Named>, DecodeError> {
    let mut reader = Reader::of_table(conn, schema::BINDINGS, file)?;
    let Some(found) = reader.shape.table(schema::BINDINGS) else {
        return Ok(None);
    };
    let extra = [
        stored_kind(found, "value"),
        length(found, "value"),
        reached(found, WANTS),
    ];
    // SQLite makes a text of what is written into such a column, so that no number stands for the name; a text that is
    // none, or is cut, reads as another than is stored.
    let plain = name.len() < SHORT_TEXT as usize && !name.contains(['\0', '\u{fffd}']);
    let column = found.column("name").filter(|_| plain);
    let Some(column) = column.filter(|column| is_text(found, column)) else {
        return Ok(None);
    };
    if found.rowid_name().is_none() || found.column("run_id").is_some() {
        return Ok(None);
    }
    let column = column.to_owned();
    let mut bindings: Vec<Binding> = Vec::new();
    let kinds = Kinds::new();
    let asked = (column.as_str(), name);
    reader.scan_named(schema::BINDINGS, asked, WANTS, &extra, |cells| {
        if let Some(found) = cells.text(0).filter(|found| **found == *name) {
            bindings.push(Binding {
                name: found,
                execution_id: cells.int(1),
                kind: BindingKind::parse(""),
                value: kinds.value(cells.at, cells.extra(0), cells.extra_int(1)),
                source: None,
                created: None,
                updated: None,
                attachment: cells.text(2),
                fields: Box::default(),
                tail_known: cells.extra_int(2) == Some(1),
                parent_execution_id: None,
                superseded: false,
            });
        }
    });
    if bindings.is_empty() || reader.failed.is_some() {
        return Ok(None);
    }
    finish(&mut reader, &mut bindings);
    Ok(Some(Named {
        bindings,
        issues: reader.notes.finish(),
    }))
}

/// Whether a column has the affinity of a text (SQLite, "Determination Of Column Affinity").
fn is_text(found: &Found, column: &str) -> bool {
    let declared = found.info.columns.iter().find(|c| c.name == column);
    let declared = declared.map_or_else(String::new, |c| c.declared.to_ascii_uppercase());
    let has = |word: &str| declared.contains(word);
    !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT"))
}
