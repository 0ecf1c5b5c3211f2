//! A run of another store as rows, in one transaction: it is there as a whole, or not at all.
//!
//! Ids of executions are the database's (errata P8); the source's own stay in `x_source_id`. What a column refuses or respells
//! is kept in `x_original`, and a status of the append-only form in `x_status` (P11).

use std::collections::BTreeMap;

use prosescope_core::session::{Left, Session};
use prosescope_core::time::Stamp;
use prosescope_core::write::{AttachmentFile, Change, ExecutionRow, Fault, FaultKind, WriteError};
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::apply::{self, PIECE, Step, any, step};
use crate::fault;
use crate::of::Of;
use crate::rows::get;
use crate::schema;
use crate::server::{Lost, Server, bytes, int, owned, owned_bytes, text};
use crate::store::{BEGIN, failure, send};

/// What stands in place of a character that PostgreSQL does not store.
const REPLACED: &str = "\u{fffd}";

/// What a column refuses: the column, and the bytes.
type Original = (&'static str, Vec<u8>);

/// Copies a run into the database. Returns what could not be carried.
///
/// # Errors
/// A refusal when a run of this id is there; a [`Fault`] when either cannot be read or written. Then nothing is there.
pub fn import_run(
    address: &Address,
    session: &Session,
    with_files: bool,
) -> Result<Vec<Left>, WriteError> {
    let server = Server::connect(address)?;
    schema::complete(&server)?;
    let mut import = Import {
        server: &server,
        session,
        of: Of::Run(session.run().id.to_string()),
        ids: BTreeMap::new(),
        late: Vec::new(),
        left: Vec::new(),
    };
    let done = import.all(with_files);
    let mut left = std::mem::take(&mut import.left);
    match done {
        Ok(carried) => {
            server.release();
            left.extend(carried);
            Ok(left)
        }
        Err(error) => {
            let _ = server.batch("ROLLBACK");
            Err(error)
        }
    }
}

struct Import<'a> {
    server: &'a Server,
    session: &'a Session,
    of: Of,
    /// The database's ids, by the source's.
    ids: BTreeMap<i64, i64>,
    /// Executions whose parents come after them: the row, the parent.
    late: Vec<(i64, i64)>,
    left: Vec<Left>,
}

impl Import<'_> {
    fn run(&self) -> &str {
        self.of.run().unwrap_or_default()
    }

    fn lost(&self, lost: Lost) -> WriteError {
        failure(self.server.address(), &lost)
    }

    fn send(&self, steps: &[Step<'_>]) -> Result<(), WriteError> {
        send(self.server, steps)
    }

    fn all(&mut self, with_files: bool) -> Result<Vec<Left>, WriteError> {
        self.server.batch(BEGIN).map_err(|lost| self.lost(lost))?;
        self.head()?;
        self.files(with_files)?;
        self.take_ids()?;
        let session = self.session;
        let carried = session.carry(false, &mut |changes| self.take(changes))?;
        for (row, parent) in std::mem::take(&mut self.late) {
            let sql = "UPDATE openprose.execution SET parent_id = $2 WHERE id = $1";
            self.send(&[step(sql, vec![int(row), int(parent)])])?;
        }
        match self.server.batch("COMMIT") {
            Ok(()) => Ok(carried),
            Err(lost) if fault::leaves_open(&lost) => self.settled().map(|()| carried),
            Err(lost) => Err(self.lost(lost)),
        }
    }

    /// Whether a run whose COMMIT was not answered is there: it was not before.
    fn settled(&self) -> Result<(), WriteError> {
        // Waits for the end of the old transaction.
        let sql =
            "INSERT INTO openprose.run (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id";
        let again = Server::connect(self.server.address())?;
        let looked = again
            .batch(BEGIN)
            .and_then(|()| again.rows(sql, &[text(self.run())]));
        let is_free = !looked.map_err(|lost| self.lost(lost))?.is_empty();
        again.batch("ROLLBACK").map_err(|lost| self.lost(lost))?;
        match is_free {
            false => Ok(()),
            true => Err(self.lost(Lost::Silent)),
        }
    }

    /// The run's own row.
    fn head(&mut self) -> Result<(), WriteError> {
        let run = self.session.run();
        let mut started = run.started.as_ref().map(ToString::to_string);
        let mut path = run.program.path.as_deref().map(str::to_owned);
        let mut source = run.program.source.as_deref().map(str::to_owned);
        let originals: Vec<Original> = [
            time(&mut started).map(|bytes| ("started_at", bytes)),
            path.as_mut()
                .and_then(nul)
                .map(|bytes| ("program_path", bytes)),
            source
                .as_mut()
                .and_then(nul)
                .map(|bytes| ("program_source", bytes)),
        ]
        .into_iter()
        .flatten()
        .collect();
        let sql =
            "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at)
                   VALUES ($1, $2, $3, COALESCE($4::timestamp AT TIME ZONE 'UTC', now()),
                           COALESCE($4::timestamp AT TIME ZONE 'UTC', now()))";
        let bound = [
            text(self.run()),
            text(path.as_deref()),
            text(source.as_deref()),
            text(started.as_deref()),
        ];
        match self.server.rows(sql, &bound) {
            Ok(_) => {}
            Err(Lost::Error(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(WriteError::refused(
                    "run-exists",
                    format!(
                        "there is a run {} in {} already",
                        self.run(),
                        self.server.address()
                    ),
                    "`prose clean postgres:ID --yes` removes a run that is no longer needed",
                ));
            }
            Err(lost) => return Err(self.lost(lost)),
        }
        self.send(&self.kept("run", "1", "true", &[], originals))
    }

    /// The files that rows do not say.
    fn files(&mut self, with_files: bool) -> Result<(), WriteError> {
        let files = self.session.carry_files(false, with_files);
        self.left.extend(files.left);
        let source = self.session.source();
        let again = files.again.into_iter().map(|path| (path.clone(), path));
        for (path, to) in files.copied.into_iter().chain(again) {
            if to == "program.prose" && self.session.run().program.source.is_some() {
                continue;
            }
            let from = format!("{}{path}", self.session.run().root);
            let len = source.file(&from).map_or(0, |file| file.len);
            let (mut at, mut n) = (0, 0);
            while at < len || n == 0 {
                let piece = source.read(&from, at, PIECE);
                let piece = piece.map_err(|error| Fault::new(FaultKind::Io, error.to_string()))?;
                if piece.is_empty() && at < len {
                    let message = format!("{from} changed while it was read");
                    return Err(Fault::new(FaultKind::Busy, message).into());
                }
                let bound = vec![text(self.run()), text(&*to), int(n), bytes(&piece)];
                self.send(&[step(apply::ADD_PIECE, bound)])?;
                at += piece.len() as u64;
                n += 1;
            }
        }
        Ok(())
    }

    /// Takes an id for each execution, in their order.
    fn take_ids(&mut self) -> Result<(), WriteError> {
        let mut ids: Vec<i64> = self
            .session
            .run()
            .executions
            .iter()
            .map(|row| row.id)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let sql = "SELECT nextval(pg_get_serial_sequence('openprose.execution', 'id')) FROM generate_series(1, $1)";
        let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        let rows = self.server.rows(sql, &[int(count)]);
        let rows = rows.map_err(|lost| self.lost(lost))?;
        let taken: Result<Vec<i64>, _> = rows.iter().map(|row| get(row, 0)).collect();
        let mut taken = taken.map_err(|error| self.lost(error.into()))?;
        taken.sort_unstable();
        self.ids = ids.into_iter().zip(taken).collect();
        Ok(())
    }

    fn take(&mut self, changes: Vec<Change>) -> Result<(), WriteError> {
        for change in changes {
            self.one(change)?;
        }
        Ok(())
    }

    fn one(&mut self, mut change: Change) -> Result<(), WriteError> {
        let run = self.run().to_owned();
        match &mut change {
            Change::Attachment(file) => return self.attachment(file),
            Change::Execution(row) => return self.execution(row),
            Change::Binding(row) => {
                let originals = [
                    ("value", nul(&mut row.value)),
                    ("source_statement", row.source.as_mut().and_then(nul)),
                ];
                let mut at = Some(std::mem::take(&mut row.at));
                let updated = ("updated_at", time(&mut at));
                let created = ("created_at", time(&mut row.created));
                row.at = at.unwrap_or_default();
                row.execution_id = row.execution_id.map(|id| self.id(id).unwrap_or(id));
                let bound = [row.name.clone(), row.execution_id.unwrap_or(-1).to_string()];
                let originals = originals.into_iter().chain([updated, created]);
                self.apply(&change)?;
                let of = "name = $3 AND COALESCE(execution_id, -1) = $4::bigint";
                return self.send(&self.kept("bindings", "x_seq", of, &bound, some(originals)));
            }
            Change::Memory(row) => {
                let mut at = Some(std::mem::take(&mut row.at));
                let originals = [
                    ("memory", nul(&mut row.memory)),
                    ("updated_at", time(&mut at)),
                ];
                row.at = at.unwrap_or_default();
                let bound = [row.agent.clone()];
                self.apply(&change)?;
                return self.send(&self.kept(
                    "agents",
                    "x_seq",
                    "name = $3",
                    &bound,
                    some(originals),
                ));
            }
            Change::Segment(row) => {
                let mut at = Some(std::mem::take(&mut row.at));
                let originals = [
                    ("prompt", nul(&mut row.prompt)),
                    ("summary", nul(&mut row.summary)),
                    ("timestamp", time(&mut at)),
                ];
                row.at = at.unwrap_or_default();
                let bound = [row.agent.clone(), row.number.to_string()];
                self.apply(&change)?;
                let of = "agent_name = $3 AND segment_number = $4::bigint";
                return self.send(&self.kept("agent_segments", "id", of, &bound, some(originals)));
            }
            Change::Import(row) => {
                let mut at = Some(std::mem::take(&mut row.fetched));
                let originals = [
                    ("fetched_at", time(&mut at)),
                    ("inputs_schema", json(&mut row.inputs_schema)),
                    ("outputs_schema", json(&mut row.outputs_schema)),
                ];
                row.fetched = at.unwrap_or_default();
                let bound = [row.alias.clone()];
                self.apply(&change)?;
                return self.send(&self.kept(
                    "imports",
                    "x_seq",
                    "alias = $3",
                    &bound,
                    some(originals),
                ));
            }
            Change::Gate(row) => {
                row.run_id = run;
                let wanted = row.execution_id;
                row.execution_id = wanted.and_then(|id| self.id(id));
                let lost = wanted.filter(|_| row.execution_id.is_none());
                let originals = [
                    ("prompt", row.prompt.as_mut().and_then(nul)),
                    ("on_reject", row.on_reject.as_mut().and_then(nul)),
                    ("execution_id", lost.map(|id| id.to_string().into_bytes())),
                ];
                let bound = [row.id.clone()];
                self.apply(&change)?;
                return self.send(&self.kept("gates", "x_seq", "id = $3", &bound, some(originals)));
            }
            Change::ResolveGate(row) => {
                row.run_id = run;
                let comment = row.comment.as_mut().and_then(nul);
                let bound = [row.id.clone()];
                self.apply(&change)?;
                let originals = some([("resolution_comment", comment)]);
                return self.send(&self.kept("gates", "x_seq", "id = $3", &bound, originals));
            }
            Change::Run(row) => {
                let mut at = Some(std::mem::take(&mut row.updated));
                let updated = time(&mut at);
                row.updated = at.unwrap_or_default();
                self.apply(&change)?;
                let originals = some([("updated_at", updated)]);
                return self.send(&self.kept("run", "1", "true", &[], originals));
            }
            Change::Audit(_) | Change::UpdateExecution(_) => {}
        }
        self.apply(&change)
    }

    fn apply(&self, change: &Change) -> Result<(), WriteError> {
        self.send(&apply::steps(&self.of, change))
    }

    fn attachment(&self, file: &AttachmentFile) -> Result<(), WriteError> {
        let mut failed = None;
        let written = apply::pieces(self.run(), file, None, &mut |step| {
            self.send(&[step]).map_err(|error| {
                let fault = Fault::new(FaultKind::Io, error.to_string());
                failed = Some(error);
                fault
            })
        });
        written.map_err(|fault| failed.unwrap_or_else(|| fault.into()))
    }

    fn id(&self, id: i64) -> Option<i64> {
        self.ids.get(&id).copied()
    }

    fn execution(&mut self, row: &ExecutionRow) -> Result<(), WriteError> {
        let id = self.id(row.id).unwrap_or(row.id);
        let (mut words, mut error) = (row.text.clone(), row.error.clone());
        let (mut started, mut completed) = (row.started.clone(), row.completed.clone());
        let index = row.index.filter(|index| i32::try_from(*index).is_ok());
        let parent = row.parent.and_then(|parent| self.id(parent));
        let odd = |value: Option<i64>| value.map(|value| value.to_string().into_bytes());
        let mut metadata = (!row.metadata.is_empty())
            .then(|| serde_json::Value::Object(row.metadata.clone()).to_string());
        let originals = some([
            ("statement_text", nul(&mut words)),
            ("error_message", error.as_mut().and_then(nul)),
            ("started_at", time(&mut started)),
            ("completed_at", time(&mut completed)),
            ("metadata", json(&mut metadata)),
            (
                "statement_index",
                odd(row.index.filter(|_| index.is_none())),
            ),
            ("parent_id", odd(row.parent.filter(|_| parent.is_none()))),
        ]);
        // A row's parent is there before it, unless the run is odd.
        let later = parent.filter(|parent| *parent >= id);
        self.late.extend(later.map(|parent| (id, parent)));
        let (status, odd_status) = in_place(&row.status);
        let sql = "INSERT INTO openprose.execution (id, run_id, statement_index, statement_text, status, x_status, started_at,
                       completed_at, error_message, parent_id, metadata, x_source_id)
                   VALUES ($1, $2, $3, $4, $5, $6, $7::timestamp AT TIME ZONE 'UTC', $8::timestamp AT TIME ZONE 'UTC', $9, $10,
                           $11::jsonb, $12)";
        let bound = vec![
            int(id),
            text(self.run()),
            int(index),
            text(&*words),
            text(status),
            text(odd_status),
            text(started.as_deref()),
            text(completed.as_deref()),
            text(error.as_deref()),
            int(parent.filter(|_| later.is_none())),
            text(metadata.as_deref()),
            int(row.id),
        ];
        self.send(&[step(sql, bound)])?;
        let bound = [id.to_string()];
        self.send(&self.kept("execution", "id", "id = $3::bigint", &bound, originals))
    }

    /// Keeps what columns of a row refuse: `of` says which row, `key` how it is found again.
    fn kept<'s>(
        &'s self,
        table: &str,
        key: &str,
        of: &str,
        bound: &[String],
        originals: Vec<Original>,
    ) -> Vec<Step<'s>> {
        let run = if table == "run" { "id" } else { "run_id" };
        let keep = |(column, original): Original| {
            let sql = format!(
                "INSERT INTO openprose.x_original (run_id, table_name, key, column_name, bytes, stored)
                 SELECT $1, '{table}', ({key})::text, '{column}', $2, md5({column}::text)
                 FROM openprose.{table} WHERE {run} = $1 AND {of}
                 ON CONFLICT (run_id, table_name, key, column_name)
                 DO UPDATE SET bytes = excluded.bytes, stored = excluded.stored"
            );
            let mut all = vec![text(self.run()), owned_bytes(original)];
            all.extend(bound.iter().map(|value| owned(value.clone())));
            any(sql, all)
        };
        originals.into_iter().map(keep).collect()
    }
}

fn some(originals: impl IntoIterator<Item = (&'static str, Option<Vec<u8>>)>) -> Vec<Original> {
    let originals = originals.into_iter();
    originals
        .filter_map(|(column, bytes)| Some((column, bytes?)))
        .collect()
}

/// Takes NUL characters out of a text; returns what it was, where there are some.
fn nul(value: &mut String) -> Option<Vec<u8>> {
    value.contains('\0').then(|| {
        let shown = value.replace('\0', REPLACED);
        std::mem::replace(value, shown).into_bytes()
    })
}

/// Makes a time one that PostgreSQL takes, in UTC; returns what it was, where it is none.
fn time(value: &mut Option<String>) -> Option<Vec<u8>> {
    let was = value.take().filter(|text| !text.is_empty())?;
    match Stamp::parse(&was) {
        at @ Stamp::At(_) => *value = Some(at.to_string().trim_end_matches('Z').to_owned()),
        Stamp::Odd(_) => return Some(was.into_bytes()),
    }
    None
}

/// Leaves out JSON that PostgreSQL refuses; returns what it was.
fn json(value: &mut Option<String>) -> Option<Vec<u8>> {
    let refused = value.as_deref().is_some_and(|text| {
        text.contains("\\u0000") || serde_json::from_str::<serde_json::Value>(text).is_err()
    });
    let was = value.take_if(|_| refused)?;
    Some(was.into_bytes())
}

/// The status of a row that takes only the words of postgres.md, and the word itself where that is none of them (errata P3).
fn in_place(word: &str) -> (&'static str, Option<&str>) {
    match word {
        "pending" => ("pending", None),
        "executing" => ("executing", None),
        "completed" => ("completed", None),
        "failed" => ("failed", None),
        "skipped" => ("skipped", None),
        // What began, goes round or goes on was told by rows that followed.
        "started" | "joined" | "iteration" | "exited" | "retry" | "complete" => {
            ("completed", Some(word))
        }
        _ => ("pending", Some(word)),
    }
}
