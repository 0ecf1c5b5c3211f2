//! Copies a run of another store into the database, in one transaction: completely or not at all.
//!
//! The database assigns the ids of executions (errata P8); the original ids stay in `x_source_id`. Values that a column
//! refuses or changes are kept in `x_original`, and statuses of the append-only form in `x_status` (P11).

mod original;
mod plan;
mod rows;

use std::collections::{BTreeMap, HashSet};

use prosescope_core::model::database::ColumnType;
use prosescope_core::pages::session::{CopyLoss, Session, weight};
use prosescope_core::record::{AttachmentFile, Change, Fault, FaultKind, WriteError};
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::apply::{self, PIECE, TransactionStep, step};
use crate::cell::get;
use crate::fault;
use crate::foreign::{self, OF_RUNS};
use crate::owner::RowOwner;
use crate::readback;
use crate::schema;
use crate::server::{Lost, PgClient, int, ints, owned_bytes, text};
use crate::store::{BEGIN, failure, send};
use crate::written_row::WrittenCell;
use original::{RefusedValues, nul, some, time};
use rows::{OpenInsert, PlannedInsert};

/// The number of bytes that are sent before the import waits for the server's answers.
const SENT: usize = 4 << 20;

/// The number of statements that are sent before the import waits for the server's answers.
const STATEMENTS: usize = 1000;

/// Copies a run into the database. Calls `moved` after each part, with the number of bytes of this part. Returns the
/// data that could not be copied.
///
/// # Errors
/// A refusal if a run with this id exists; a [`Fault`] if reading or writing fails. Nothing is left in either case.
pub fn import_run(
    address: &Address,
    session: &Session,
    with_files: bool,
    moved: &dyn Fn(u64),
) -> Result<Vec<CopyLoss>, WriteError> {
    let server = PgClient::connect(address)?;
    schema::complete(&server)?;
    let mut import = RunImport {
        server: &server,
        session,
        moved,
        of: RowOwner::Run(session.run().id.to_string()),
        ids: BTreeMap::new(),
        seen: HashSet::new(),
        late: Vec::new(),
        left: Vec::new(),
    };
    let done = import.all(with_files);
    let mut left = std::mem::take(&mut import.left);
    match done {
        Ok(carried) => left.extend(carried),
        Err(error) => {
            let _ = server.batch("ROLLBACK");
            return Err(error);
        }
    }
    match server.commit() {
        Ok(()) => {
            server.release();
            Ok(left)
        }
        Err(Lost::AtCommit(lost)) => {
            // If the COMMIT did not arrive, closing the connection makes the server end the transaction and release its
            // locks.
            drop(server);
            settle(address, session, *lost).map(|()| left)
        }
        Err(lost) => Err(failure(address, &lost)),
    }
}

/// Finds out, after an unanswered COMMIT, whether the run was imported. The run did not exist before, so it was
/// imported if it exists now.
fn settle(address: &Address, session: &Session, lost: Lost) -> Result<(), WriteError> {
    match schema::is_there(address, &session.run().id) {
        Some(true) => Ok(()),
        Some(false) => Err(fault::unwritten(address, &lost).into()),
        None => Err(fault::undecided(address, &lost).into()),
    }
}

struct RunImport<'a> {
    server: &'a PgClient,
    session: &'a Session,
    moved: &'a dyn Fn(u64),
    of: RowOwner,
    /// The ids in the database, by the ids in the original run.
    ids: BTreeMap<i64, i64>,
    /// A hash of the name and frame of each binding written so far. A second value of a binding is written in a
    /// statement of its own.
    seen: HashSet<u64>,
    /// The executions whose parents are written after them: id of the execution, id of the parent.
    late: Vec<(i64, i64)>,
    left: Vec<CopyLoss>,
}

impl RunImport<'_> {
    fn run(&self) -> &str {
        self.of.run().unwrap_or_default()
    }

    fn lost(&self, lost: Lost) -> WriteError {
        failure(self.server.address(), &lost)
    }

    fn send(&self, steps: &[TransactionStep<'_>]) -> Result<(), WriteError> {
        send(self.server, steps)
    }

    fn all(&mut self, with_files: bool) -> Result<Vec<CopyLoss>, WriteError> {
        self.server.batch(BEGIN).map_err(|lost| self.lost(lost))?;
        self.send(&foreign::guard(OF_RUNS, false))?;
        self.send(&[readback::at_once()])?;
        self.head()?;
        self.files(with_files)?;
        self.take_ids()?;
        let session = self.session;
        let carried = session.carry(false, &mut |changes| self.take(changes))?;
        for some in std::mem::take(&mut self.late).chunks(10_000) {
            let sql = "UPDATE openprose.execution AS of SET parent_id = late.parent
                       FROM unnest($1, $2) AS late(id, parent) WHERE of.id = late.id";
            let (rows, parents) = some
                .iter()
                .map(|(row, parent)| (Some(*row), Some(*parent)))
                .unzip::<_, _, Vec<_>, Vec<_>>();
            self.send(&[apply::many(
                sql,
                vec![ints(rows), ints(parents)],
                some.len(),
            )])?;
        }
        Ok(carried)
    }

    /// Adds the run's row in the table `run`. The status and the time of the last change are written later, by the
    /// run's changes.
    fn head(&mut self) -> Result<(), WriteError> {
        let run = self.session.run();
        let mut started = run.started.as_ref().map(ToString::to_string);
        let mut path = run.program.path.as_deref().map(str::to_owned);
        let mut source = run.program.source.as_deref().map(str::to_owned);
        let refused = RefusedValues {
            table: "run",
            key: vec![WrittenCell::own("id", ColumnType::Text, self.run())],
            originals: some([
                ("started_at", time(&mut started)),
                ("program_path", path.as_mut().and_then(nul)),
                ("program_source", source.as_mut().and_then(nul)),
            ]),
        };
        let sql =
            "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at, status, x_status)
                   VALUES ($1, $2, $3, $4::timestamp AT TIME ZONE 'UTC', NULL, 'interrupted', '')";
        let bound = [
            text(self.run()),
            text(path.as_deref()),
            text(source.as_deref()),
            text(started.as_deref()),
        ];
        match self.server.rows_long(sql, &bound) {
            Ok(_) => {}
            Err(Lost::Error(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                return Err(WriteError::refused(
                    "run-exists",
                    format!(
                        "there is a run {} in {} already",
                        self.run(),
                        self.server.address()
                    ),
                    "`prosescope clean postgres:ID --yes` removes a run that is no longer needed",
                ));
            }
            Err(lost) => return Err(self.lost(lost)),
        }
        self.send(&refused.steps(self.run()).collect::<Vec<_>>())
    }

    /// Adds the files of the run to which no row refers.
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
            let mut group = Group::of(self.server);
            while at < len || n == 0 {
                let piece = source.read(&from, at, PIECE);
                let piece = piece.map_err(|error| Fault::new(FaultKind::Io, error.to_string()))?;
                if piece.is_empty() && at < len {
                    let message = format!("{from} changed while it was read");
                    return Err(Fault::new(FaultKind::Busy, message).into());
                }
                let bytes = piece.len() as u64;
                at += bytes;
                let compared = readback::piece(self.session.run().id.as_ref(), &to, n, &piece);
                let bound = vec![text(self.run()), text(&*to), int(n), owned_bytes(piece)];
                group.add([step(apply::ADD_PIECE, bound), compared])?;
                (self.moved)(bytes);
                n += 1;
            }
            group.send()?;
        }
        Ok(())
    }

    /// Reserves a database id for each execution, in the order of the original ids.
    fn take_ids(&mut self) -> Result<(), WriteError> {
        let mut ids: Vec<i64> = self
            .session
            .run()
            .executions
            .iter()
            .map(|row| row.id)
            .collect();
        ids.extend(
            self.session
                .rows_of_state_file()
                .rows
                .iter()
                .map(|row| row.id),
        );
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
        let bytes = changes.iter().map(weight).sum();
        let mut planned: Vec<PlannedInsert> = Vec::with_capacity(changes.len());
        for change in changes {
            match change {
                Change::Attachment(file) => self.attachment(&file)?,
                change => planned.extend(self.plan(change)),
            }
        }
        let mut open = OpenInsert::default();
        let mut group = Group::of(self.server);
        for planned in &planned {
            group.add(open.add(&self.of, planned))?;
        }
        group.add(open.close(self.run()))?;
        group.send()?;
        (self.moved)(bytes);
        Ok(())
    }

    fn attachment(&self, file: &AttachmentFile) -> Result<(), WriteError> {
        let mut failed = None;
        let written = apply::pieces(self.run(), file, None, &mut |steps| {
            self.send(steps).map_err(|error| {
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
}

/// Statements that are sent one after the other without waiting, limited in number and size because they and their
/// answers are kept in memory.
struct Group<'s, 'a> {
    server: &'s PgClient,
    steps: Vec<TransactionStep<'a>>,
    bytes: usize,
}

impl<'s, 'a> Group<'s, 'a> {
    fn of(server: &'s PgClient) -> Group<'s, 'a> {
        Group {
            server,
            steps: Vec::new(),
            bytes: 0,
        }
    }

    fn add(
        &mut self,
        steps: impl IntoIterator<Item = TransactionStep<'a>>,
    ) -> Result<(), WriteError> {
        for step in steps {
            self.bytes += step.len();
            self.steps.push(step);
            if self.bytes >= SENT || self.steps.len() >= STATEMENTS {
                self.send()?;
            }
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), WriteError> {
        self.bytes = 0;
        send(self.server, &std::mem::take(&mut self.steps))
    }
}
