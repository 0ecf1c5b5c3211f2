//! Converts changes into statements with bound values (errata P10, B9), which are sent one after the other without
//! waiting.

use std::fs::File;
use std::io::{Read, Seek};

use prosescope_core::record::{AttachmentFile, Change, Fault, FaultKind, ValueBytes};
use serde_json::{Map, Value};

use crate::agents;
use crate::owner::RowOwner;
use crate::readback;
use crate::server::{Bound, bytes, int, owned, text};
use crate::written_row::{WrittenRow, time};

/// A statement of a transaction, with its values and the expected result.
pub(crate) struct TransactionStep<'a> {
    pub(crate) sql: String,
    pub(crate) bound: Vec<Bound<'a>>,
    /// The number of rows that the statement must change; `None` allows any number.
    pub(crate) rows: Option<u64>,
    /// The check that the statement makes, if any: of the tables, or of the values of a row.
    pub(crate) check: Option<StepCheck>,
}

/// The check that a statement makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StepCheck {
    /// Fails by a division by zero if something is on the tables that may not be there; see [`crate::foreign`].
    NoCode,
    /// Returns one row with a truth value for each compared column; see [`crate::readback`].
    Row {
        /// The table of the compared row.
        table: &'static str,
        /// The compared columns, in the order of the truth values.
        columns: Vec<&'static str>,
    },
}

impl TransactionStep<'_> {
    /// Returns the size of the statement's values in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bound.iter().map(|bound| bound.len).sum()
    }
}

pub(crate) fn step<'a>(sql: impl Into<String>, bound: Vec<Bound<'a>>) -> TransactionStep<'a> {
    TransactionStep {
        sql: sql.into(),
        bound,
        rows: Some(1),
        check: None,
    }
}

/// Returns a statement that must change `rows` rows.
pub(crate) fn many<'a>(sql: &str, bound: Vec<Bound<'a>>, rows: usize) -> TransactionStep<'a> {
    TransactionStep {
        rows: Some(rows as u64),
        ..step(sql, bound)
    }
}

pub(crate) fn any<'a>(sql: impl Into<String>, bound: Vec<Bound<'a>>) -> TransactionStep<'a> {
    TransactionStep {
        rows: None,
        ..step(sql, bound)
    }
}

/// Returns the statements that write the row of a change. Attachments have no row and are written separately; see
/// [`pieces`].
pub(crate) fn steps<'a>(
    of: &'a RowOwner,
    change: &'a Change,
    row: &'a WrittenRow,
) -> Vec<TransactionStep<'a>> {
    let run = of.run().unwrap_or_default();
    let one = |(sql, bound)| step(sql, bound);
    match change {
        Change::Attachment(_) => Vec::new(),
        Change::Agent(own) => vec![agents::agent(
            of,
            &own.agent,
            &own.scope,
            &own.created,
            &own.updated,
        )],
        Change::Memory(own) => agents::memory(of, own),
        Change::Segment(own) => agents::segment(of, own),
        Change::Execution(own) => {
            let started = own.started.as_deref();
            let error = own.error.as_deref();
            let event = event(run, own.id, &own.status, started, &own.metadata, error);
            vec![one(row.insert(run, None)), event]
        }
        Change::UpdateExecution(own) => {
            let at = own.completed.as_ref().and_then(Option::as_deref);
            let error = own.error.as_ref().and_then(Option::as_deref);
            let event = event(run, own.id, own.word(), at, &own.metadata, error);
            vec![one(row.update(run, &own.metadata, "")), event]
        }
        // A binding's earlier value is kept as history (errata B6).
        Change::Binding(_) => {
            let unique = "name, run_id, COALESCE(execution_id, -1)";
            vec![history(run, row), one(row.insert(run, Some(unique)))]
        }
        Change::Import(_) => vec![one(row.insert(run, Some("alias, run_id")))],
        // The statement decides only a pending gate, although the plan has checked that too (errata G3).
        Change::ResolveGate(own) => {
            let pending = " AND lower(btrim(status)) = 'pending'";
            vec![one(row.update(run, &own.metadata, pending))]
        }
        Change::Run(_) => vec![one(row.update(run, &Map::new(), ""))],
        Change::Gate(_) | Change::Audit(_) => vec![one(row.insert(run, None))],
    }
}

/// Returns the statement that records a change of an execution in `x_events`, because updates overwrite the row itself
/// (errata P3).
fn event<'a>(
    run: &'a str,
    id: i64,
    word: &'a str,
    at: Option<&'a str>,
    metadata: &Map<String, Value>,
    error: Option<&'a str>,
) -> TransactionStep<'a> {
    step(
        format!(
            "INSERT INTO openprose.x_events (run_id, execution_id, word, at, metadata, error)
             VALUES ($1, $2, $3, COALESCE({}, now()), $5, $6)",
            time(4)
        ),
        vec![
            text(run),
            int(id),
            text(word),
            text(at),
            json(metadata),
            text(error),
        ],
    )
}

/// Returns the statement that keeps a binding's present value.
fn history<'a>(run: &'a str, row: &'a WrittenRow) -> TransactionStep<'a> {
    let mut bound = Vec::new();
    let key = row.only(run, &mut bound);
    let mut cells = row.columns.iter();
    let updated = cells.find(|cell| cell.column == "updated_at");
    let at = updated.map_or("NULL".to_owned(), |cell| cell.place(&mut bound));
    let columns = "run_id, name, execution_id, kind, source_statement, created_at, updated_at, attachment_path, value";
    any(
        format!(
            "INSERT INTO openprose.x_binding_history ({columns}, replaced_at)
             SELECT {columns}, {at} FROM openprose.bindings WHERE {key} FOR UPDATE"
        ),
        bound,
    )
}

fn json<'a>(object: &Map<String, Value>) -> Bound<'a> {
    owned((!object.is_empty()).then(|| Value::Object(object.clone()).to_string()))
}

/// Size of a piece of an attachment in bytes (errata P12).
pub(crate) const PIECE: usize = 1 << 20;

pub(crate) const ADD_PIECE: &str =
    "INSERT INTO openprose.x_attachments (run_id, path, piece, bytes) VALUES ($1, $2, $3, $4)";

/// Passes the statements for each piece of an attachment to `write`, in order. An empty attachment gets one empty
/// piece, so that the database contains the attachment.
pub(crate) fn pieces(
    run: &str,
    file: &AttachmentFile,
    staged: Option<&File>,
    write: &mut dyn FnMut(&[TransactionStep<'_>]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut n = 0;
    let mut add = |piece: &[u8]| {
        let bound = vec![text(run), text(&*file.path), int(n), bytes(piece)];
        let compared = readback::piece(run, &file.path, n, piece);
        n += 1;
        write(&[step(ADD_PIECE, bound), compared])
    };
    match &file.content {
        ValueBytes::Held(held) if held.is_empty() => add(&[]),
        ValueBytes::Held(held) => held.chunks(PIECE).try_for_each(add),
        ValueBytes::Staged(given) => {
            let unread = |cause: std::io::Error| {
                Fault::new(
                    FaultKind::Io,
                    format!("{} cannot be read: {cause}", file.path),
                )
            };
            let mut from = staged.ok_or_else(|| unread(std::io::ErrorKind::NotFound.into()))?;
            from.rewind().map_err(unread)?;
            let mut left = given.len;
            let mut piece = Vec::with_capacity(PIECE);
            while left > 0 {
                piece.clear();
                let read = from
                    .take(left.min(PIECE as u64))
                    .read_to_end(&mut piece)
                    .map_err(unread)?;
                if read == 0 {
                    return Err(unread(std::io::ErrorKind::UnexpectedEof.into()));
                }
                left -= read as u64;
                add(&piece)?;
            }
            Ok(())
        }
    }
}
