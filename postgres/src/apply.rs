//! Converts changes into statements with bound values (errata P10, B9), which are sent one after the other without
//! waiting.

use std::fs::File;
use std::io::{Read, Seek};

use prosescope_core::write::{
    AttachmentFile, BindingRow, Change, Content, ExecutionRow, ExecutionUpdate, Fault, FaultKind,
};
use serde_json::{Map, Value};

use crate::agents;
use crate::of::Of;
use crate::readback;
use crate::server::{Bound, bytes, int, owned, text};

/// A statement of a transaction, with its values and the expected result.
pub(crate) struct Step<'a> {
    pub(crate) sql: String,
    pub(crate) bound: Vec<Bound<'a>>,
    /// The number of rows that the statement must change; `None` allows any number.
    pub(crate) rows: Option<u64>,
    /// The check that the statement makes, if any: of the tables, or of the values of a row.
    pub(crate) check: Option<Check>,
}

/// The check that a statement makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Check {
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

impl Step<'_> {
    /// Returns the size of the statement's values in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bound.iter().map(|bound| bound.len).sum()
    }
}

pub(crate) fn step<'a>(sql: impl Into<String>, bound: Vec<Bound<'a>>) -> Step<'a> {
    Step {
        sql: sql.into(),
        bound,
        rows: Some(1),
        check: None,
    }
}

/// Returns a statement that must change `rows` rows.
pub(crate) fn many<'a>(sql: &str, bound: Vec<Bound<'a>>, rows: usize) -> Step<'a> {
    Step {
        rows: Some(rows as u64),
        ..step(sql, bound)
    }
}

pub(crate) fn any<'a>(sql: impl Into<String>, bound: Vec<Bound<'a>>) -> Step<'a> {
    Step {
        rows: None,
        ..step(sql, bound)
    }
}

/// The words that the column `run.status` accepts.
const STATUSES: [&str; 4] = ["running", "completed", "failed", "interrupted"];

/// The words that the column `bindings.kind` accepts.
const KINDS: [&str; 4] = ["input", "output", "let", "const"];

/// Returns the word that `bindings.kind` stores for `kind`, and `kind` itself if the two differ (errata P11).
pub(crate) fn kind(kind: &str) -> (&str, Option<&str>) {
    match KINDS.contains(&kind) {
        true => (kind, None),
        false => ("let", Some(kind)),
    }
}

/// Returns the word that `run.status` stores for `word`, and `word` itself if the two differ (errata P11).
pub(crate) fn status(word: &str) -> (&str, Option<&str>) {
    match STATUSES.contains(&word) {
        true => (word, None),
        false => ("interrupted", Some(word)),
    }
}

/// An SQL expression for the column `metadata` as an object to which keys can be added, even if the column is NULL
/// (errata X12). A value that is not an object is kept under the key `x_malformed`.
const OBJECT: &str = "CASE WHEN jsonb_typeof(metadata) = 'object' THEN metadata
                           WHEN metadata IS NULL THEN '{}'::jsonb
                           ELSE jsonb_build_object('x_malformed', metadata) END";

/// Returns the SQL expression that converts the UTC text bound to `$n` into a time; an empty text becomes NULL.
pub(crate) fn time(n: usize) -> String {
    format!("(nullif(${n}, '')::timestamp AT TIME ZONE 'UTC')")
}

/// Returns the statements for a change. Attachments are written separately; see [`pieces`].
pub(crate) fn steps<'a>(of: &'a Of, change: &'a Change) -> Vec<Step<'a>> {
    let run = of.run().unwrap_or_default();
    match change {
        Change::Attachment(_) => Vec::new(),
        Change::Run(change) => {
            // A word that the column `status` refuses is kept in `x_status` (errata P11).
            let known = change.status.as_deref().map(status);
            let (status, odd) = known.map_or((None, None), |(status, odd)| (Some(status), odd));
            vec![step(
                format!(
                    "UPDATE openprose.run SET updated_at = COALESCE({}, updated_at), status = COALESCE($3, status),
                            x_status = CASE WHEN $3 IS NULL THEN x_status ELSE $4 END
                     WHERE id = $1",
                    time(2)
                ),
                vec![text(run), text(&*change.updated), text(status), text(odd)],
            )]
        }
        Change::Execution(row) => execution(run, row),
        Change::UpdateExecution(row) => update(run, row),
        Change::Binding(row) => binding(run, row),
        Change::Agent(row) => vec![agents::agent(of, &row.agent, &row.scope, &row.created, &row.updated)],
        Change::Memory(row) => agents::memory(of, row),
        Change::Segment(row) => agents::segment(of, row),
        Change::Import(row) => vec![step(
            format!(
                "INSERT INTO openprose.imports (alias, run_id, source_url, fetched_at, inputs_schema, outputs_schema)
                 VALUES ($1, $2, nullif($3, ''), {}, $5::jsonb, $6::jsonb)
                 ON CONFLICT (alias, run_id) DO UPDATE SET source_url = excluded.source_url,
                     fetched_at = excluded.fetched_at, inputs_schema = excluded.inputs_schema,
                     outputs_schema = excluded.outputs_schema",
                time(4)
            ),
            vec![
                text(&*row.alias),
                text(run),
                text(&*row.source_url),
                text(&*row.fetched),
                text(row.inputs_schema.as_deref()),
                text(row.outputs_schema.as_deref()),
            ],
        )],
        Change::Gate(row) => vec![step(
            "INSERT INTO openprose.gates (id, run_id, execution_id, prompt, allow, timeout, timeout_at, on_reject, status,
                                          created_at, metadata, resolved_at, resolved_by, resolution_comment)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'pending', nullif($9, ''), $10, NULL, NULL, NULL)",
            vec![
                text(&*row.id),
                text(&*row.run_id),
                int(row.execution_id),
                text(row.prompt.as_deref()),
                text(&*row.allow),
                text(row.timeout.as_deref()),
                text(row.timeout_at.as_deref()),
                text(row.on_reject.as_deref()),
                text(&*row.created),
                json(&row.metadata),
            ],
        )],
        Change::ResolveGate(row) => vec![step(
            // The statement decides only a pending gate, although the plan has checked that too (errata G3).
            "UPDATE openprose.gates SET status = $3, resolved_at = nullif($4, ''), resolved_by = nullif($5, ''),
                    resolution_comment = $6,
                    metadata = CASE WHEN $7 IS NULL THEN metadata
                                    ELSE (COALESCE(nullif(metadata, ''), '{}')::jsonb || $7::jsonb)::text END
             WHERE run_id = $1 AND id = $2 AND lower(btrim(status)) = 'pending'",
            vec![
                text(&*row.run_id),
                text(&*row.id),
                text(&*row.status),
                text(&*row.at),
                text(&*row.by),
                text(row.comment.as_deref()),
                json(&row.metadata),
            ],
        )],
        Change::Audit(row) => vec![step(
            "INSERT INTO openprose.gate_audit_log (id, gate_id, run_id, event_type, principal, comment, timestamp, metadata)
             VALUES ($1, $2, $3, $4, nullif($5, ''), $6, nullif($7, ''), nullif($8, ''))",
            vec![
                int(row.id),
                text(&*row.gate_id),
                text(&*row.run_id),
                text(&*row.event),
                text(&*row.principal),
                text(row.comment.as_deref()),
                text(&*row.at),
                text(&*row.metadata),
            ],
        )],
    }
}

fn execution<'a>(run: &'a str, row: &'a ExecutionRow) -> Vec<Step<'a>> {
    vec![
        step(
            format!(
                "INSERT INTO openprose.execution (id, run_id, statement_index, statement_text, status, started_at,
                                                  completed_at, error_message, parent_id, metadata, x_status, x_source_id)
                 VALUES ($1, $2, $3, $4, $5, {}, {}, $8, $9, COALESCE($10::jsonb, '{{}}'::jsonb), NULL, NULL)",
                time(6),
                time(7)
            ),
            vec![
                int(row.id),
                text(run),
                int(row.index),
                text(&*row.text),
                text(&*row.status),
                text(row.started.as_deref()),
                text(row.completed.as_deref()),
                text(row.error.as_deref()),
                int(row.parent),
                json(&row.metadata),
            ],
        ),
        event(run, row.id, &row.status, row.started.as_deref(), &row.metadata, row.error.as_deref()),
    ]
}

fn update<'a>(run: &'a str, row: &'a ExecutionUpdate) -> Vec<Step<'a>> {
    let (at, error) = (row.completed.as_ref(), row.error.as_ref());
    let at = at.and_then(Option::as_deref);
    let error = error.and_then(Option::as_deref);
    vec![
        step(
            format!(
                "UPDATE openprose.execution SET status = COALESCE($3, status),
                        x_status = CASE WHEN $3 IS NULL THEN x_status END,
                        completed_at = CASE WHEN $4 = 1 THEN {} ELSE completed_at END,
                        error_message = CASE WHEN $6 = 1 THEN $7 ELSE error_message END,
                        metadata = CASE WHEN $8 IS NULL THEN metadata ELSE {OBJECT} || $8::jsonb END
                 WHERE id = $1 AND run_id = $2",
                time(5)
            ),
            vec![
                int(row.id),
                text(run),
                text(row.status.as_deref()),
                int(i64::from(row.completed.is_some())),
                text(at),
                int(i64::from(row.error.is_some())),
                text(error),
                json(&row.metadata),
            ],
        ),
        event(run, row.id, row.word(), at, &row.metadata, error),
    ]
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
) -> Step<'a> {
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

/// Returns the statements that write a binding and keep its earlier value as history (errata B6).
fn binding<'a>(run: &'a str, row: &'a BindingRow) -> Vec<Step<'a>> {
    let frame = || int(row.execution_id.unwrap_or(-1));
    let (kind, odd) = kind(&row.kind);
    vec![
        any(
            format!(
                "INSERT INTO openprose.x_binding_history (run_id, name, execution_id, kind, source_statement, created_at,
                                                          updated_at, replaced_at, attachment_path, value)
                 SELECT run_id, name, execution_id, kind, source_statement, created_at, updated_at, {}, attachment_path, value
                 FROM openprose.bindings WHERE name = $1 AND run_id = $2 AND COALESCE(execution_id, -1) = $3 FOR UPDATE",
                time(4)
            ),
            vec![text(&*row.name), text(run), frame(), text(&*row.at)],
        ),
        step(
            format!(
                // An existing row with `execution_id` -1 becomes a binding of the root, whose `execution_id` is NULL,
                // so that readers find the value (errata P11).
                "INSERT INTO openprose.bindings (name, run_id, execution_id, kind, value, source_statement, created_at,
                                                 updated_at, attachment_path, x_kind, x_parent_execution_id)
                 VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $8 IS NULL THEN {at} ELSE {} END, {at}, $9, $10, $11)
                 ON CONFLICT (name, run_id, COALESCE(execution_id, -1)) DO UPDATE
                 SET execution_id = excluded.execution_id, kind = excluded.kind, x_kind = excluded.x_kind, value = excluded.value,
                     source_statement = excluded.source_statement,
                     updated_at = excluded.updated_at, attachment_path = excluded.attachment_path,
                     x_parent_execution_id = COALESCE(excluded.x_parent_execution_id, bindings.x_parent_execution_id)",
                time(8),
                at = time(7)
            ),
            vec![
                text(&*row.name),
                text(run),
                int(row.execution_id),
                text(kind),
                text(&*row.value),
                text(row.source.as_deref()),
                text(&*row.at),
                text(row.created.as_deref()),
                text(row.attachment.as_deref()),
                text(odd),
                int(row.parent_execution_id),
            ],
        ),
    ]
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
    write: &mut dyn FnMut(&[Step<'_>]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut n = 0;
    let mut add = |piece: &[u8]| {
        let bound = vec![text(run), text(&*file.path), int(n), bytes(piece)];
        let compared = readback::piece(run, &file.path, n, piece);
        n += 1;
        write(&[step(ADD_PIECE, bound), compared])
    };
    match &file.content {
        Content::Held(held) if held.is_empty() => add(&[]),
        Content::Held(held) => held.chunks(PIECE).try_for_each(add),
        Content::Staged(given) => {
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
