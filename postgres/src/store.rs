//! Records a run in PostgreSQL: one transaction per command, which locks the run's row.
//!
//! The lock (`FOR NO KEY UPDATE`) makes Prosescope's writers of one run take turns. The facts from which a command
//! computes its changes are therefore still true when the changes are applied. The lock blocks neither readers nor
//! OpenProse's own `INSERT`s. Transactions are READ COMMITTED: a writer that waited for the lock sees the previous
//! writer's changes.
//!
//! If the connection is lost at COMMIT, it is unknown whether the command was recorded (errata P14). Each transaction
//! therefore writes a token into `x_commands`. After a lost connection, the store takes the lock again, which waits for
//! the end of the old transaction, and looks for the token. `pg_xact_status` is not enough: after an immediate stop, a
//! server assigns unwritten transaction ids again, and would report another writer's commit as this command's.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use futures_util::future::{join_all, join4};
use prosescope_core::model::Run;
use prosescope_core::record::{
    AttachmentFile, Change, Facts, Fault, FaultKind, RunStore, Style, Work, WriteError,
};

use crate::address::Address;
use crate::apply::{self, StepCheck, TransactionStep};
use crate::cell::get;
use crate::fault;
use crate::foreign;
use crate::hidden::all_rows;
use crate::owner::{Keeper, RowOwner};
use crate::read::WITHIN;
use crate::readback;
use crate::schema;
use crate::server::{AT_ONCE, LOCK_WAIT, Lost, PgClient, owned, text, typed};
use crate::settle::settled;
use crate::shelf::{self, PostgresShelf, take_ids};
use crate::written_row::rows_of;

/// The most attempts of a command that fails because of other transactions or lost connections.
const TRIES: u32 = 20;

/// The time after which a command that failed because of another transaction or a lost connection is not retried.
const PATIENCE: Duration = Duration::from_secs(20);

/// Limit for the total waiting time for locks, after which no further wait begins.
const LOCKED: Duration = Duration::from_secs(25);

/// Expands to the statements at the beginning of a writing transaction. They set everything that writing depends on,
/// because a pooler may provide a session with any settings. Names are resolved in `pg_catalog` only, so that no
/// function or operator of another schema runs.
macro_rules! begin {
    ($commands:literal, $tables:literal) => {
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED;
            SET LOCAL search_path = pg_catalog; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD';
            SET LOCAL lock_timeout = '30s';
            SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'; ",
            all_rows!($commands, $tables)
        )
    };
}

/// Begins a transaction that writes runs.
pub(crate) const BEGIN: &str = begin!("r,w", "c.relnamespace = to_regnamespace('openprose')");

/// Begins a transaction that deletes from runs.
pub(crate) const DELETE: &str = begin!("r,w,d", "c.relnamespace = to_regnamespace('openprose')");

/// Begins a transaction that writes workflows.
pub(crate) const OF_WORKFLOWS: &str = begin!(
    "r,w",
    "c.relname IN ('workflows', 'workflow_runs', 'workflow_events')"
);

/// Begins a transaction that deletes from workflows.
pub(crate) const DELETE_OF_WORKFLOWS: &str = begin!(
    "r,w,d",
    "c.relname IN ('workflows', 'workflow_runs', 'workflow_events')"
);

/// Locks the run's row.
const LOCK: &str = "SELECT FROM openprose.run WHERE id = $1 FOR NO KEY UPDATE";

/// Makes writers of a project's or the user's agents take turns.
const LOCK_AGENTS: &str = "SELECT FROM pg_advisory_xact_lock(7957132, hashtext($1))";

/// Returns a new token.
const TOKEN: &str = "SELECT gen_random_uuid()::text";

/// Stores the token of a command, by which the command is found again after a lost connection.
const LEAVE_TOKEN: &str =
    "INSERT INTO openprose.x_commands (token, run_id) VALUES ($1::uuid, nullif($2, ''))";

/// Removes tokens that are older than a day: their commands have long ended.
const OLD_TOKENS: &str = "DELETE FROM openprose.x_commands
    WHERE (run_id = $1 OR $1 = '' AND run_id IS NULL) AND at < now() - interval '1 day'";

/// A command whose token ends with these digits also removes old tokens. Tokens are random, so this is one command in
/// 256.
const TIDY: &str = "00";

/// A run in PostgreSQL, or agents that outlive runs, open for recording.
pub struct PostgresStore {
    address: Address,
    server: Option<PgClient>,
    of: RowOwner,
    /// The file with a value that is too long for memory.
    staged: Option<File>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("address", &self.address)
            .field("of", &self.of)
            .finish()
    }
}

/// A transaction whose COMMIT was not answered.
struct Unanswered {
    token: String,
    lost: Lost,
}

/// The reason why a command was not recorded.
enum RecordFailure {
    /// A retry may succeed.
    Passing(Fault),
    /// The server was silent at COMMIT. A retry may succeed, but only one is made, because the server may be silent
    /// again.
    Silent(Fault),
    /// Another transaction holds a needed lock; the command waits again.
    Locked(Fault),
    /// A retry cannot succeed.
    Finally(WriteError),
}

impl From<WriteError> for RecordFailure {
    fn from(error: WriteError) -> RecordFailure {
        RecordFailure::Finally(error)
    }
}

impl PostgresStore {
    /// Opens a run for writing. Completes a schema that is older than this program.
    ///
    /// # Errors
    /// If the server does not answer, or the run does not exist.
    pub fn open(address: &Address, run: &str) -> Result<PostgresStore, WriteError> {
        let server = PgClient::connect(address)?;
        if !schema::complete_for(&server, run)? {
            return Err(WriteError::not_found(
                format!("there is no run {run} in {address}"),
                "`prosescope runs` lists the runs of the database",
            ));
        }
        Ok(PostgresStore {
            address: address.clone(),
            server: Some(server),
            of: RowOwner::Run(run.to_owned()),
            staged: None,
        })
    }

    /// Opens agents that outlive runs for writing; creates the schema if it is missing.
    ///
    /// # Errors
    /// If the server does not answer, or if the schema cannot be created or completed.
    pub fn open_agents(address: &Address, keeper: Keeper) -> Result<PostgresStore, WriteError> {
        let server = PgClient::connect(address)?;
        schema::complete(&server)?;
        Ok(PostgresStore {
            address: address.clone(),
            server: Some(server),
            of: RowOwner::Agents(keeper),
            staged: None,
        })
    }

    /// Sets the file with the bytes of a value that is too long for memory. The next commands copy these bytes for each
    /// attachment with `ValueBytes::Staged`.
    pub fn stage(&mut self, file: File) {
        self.staged = Some(file);
    }

    /// Returns the id of the run that is recorded; empty for agents that outlive runs.
    pub fn run_id(&self) -> &str {
        self.run()
    }

    fn run(&self) -> &str {
        self.of.run().unwrap_or_default()
    }

    fn attempt(&mut self, work: Work<'_>) -> Result<(), RecordFailure> {
        let server = match self.server.take() {
            Some(server) if !server.is_closed() => server,
            _ => PgClient::connect(&self.address).map_err(RecordFailure::Passing)?,
        };
        let done = self.in_transaction(&server, work);
        if let Ok(Some(unanswered)) = done {
            // If the COMMIT did not arrive, closing the connection makes the server end the transaction and release its
            // lock.
            drop(server);
            return self.settle(&unanswered);
        }
        let done = done.map(|_| ());
        if done.is_err() && !server.is_closed() && server.batch("ROLLBACK").is_err() {
            // The connection is dropped. The server ends an unfinished transaction when its session ends.
            return done;
        }
        self.server = Some(server);
        done
    }

    /// Records a command; returns its transaction if the server did not answer the COMMIT.
    fn in_transaction(
        &self,
        server: &PgClient,
        work: Work<'_>,
    ) -> Result<Option<Unanswered>, RecordFailure> {
        let failed = |lost: Lost| failed(&self.address, &lost);
        let token = self.lock(server).map_err(|lost| {
            if foreign::is_of_guard(&lost) {
                RecordFailure::Finally(foreign::refusal(server))
            } else {
                failed(lost)
            }
        })?;
        let session = match self.run() {
            "" => None,
            run => Some(shelf::read(server, run).map_err(|fault| {
                if server.is_closed() {
                    RecordFailure::Passing(fault)
                } else {
                    RecordFailure::Finally(fault.into())
                }
            })?),
        };
        let shelf = PostgresShelf {
            server,
            run: self.run(),
            of: RefCell::new(self.of.clone()),
            session,
            ids: Cell::new(None),
            lost: RefCell::new(None),
        };
        let changes = self.planned(&shelf, work)?;
        if changes.is_empty() {
            return server.batch("ROLLBACK").map(|()| None).map_err(failed);
        }
        let of = shelf.of.borrow().clone();
        let rows = rows_of(of.run().unwrap_or_default(), &changes);
        let mut steps = vec![apply::step(
            LEAVE_TOKEN,
            vec![owned(token.clone()), text(self.run())],
        )];
        for (change, row) in &rows {
            steps.extend(apply::steps(&of, change, row));
        }
        if token.ends_with(TIDY) {
            steps.push(apply::any(OLD_TOKENS, vec![text(self.run())]));
        }
        let files = changes.iter().filter_map(|change| match change {
            Change::Attachment(file) => Some(file),
            _ => None,
        });
        let named = steps.iter().map(|step| step.sql.as_str());
        let guarded = foreign::tables_of(named.chain(files.clone().map(|_| apply::ADD_PIECE)));
        let mut guard = Vec::from(foreign::guard(&guarded, false));
        for file in files {
            // The guard must run before the first row is written.
            self.send(server, &std::mem::take(&mut guard))?;
            self.attach(server, file)?;
        }
        guard.extend(steps);
        guard.push(readback::at_once());
        guard.extend(readback::of_all(&of, &rows));
        self.send(server, &guard)?;
        match server.commit() {
            Ok(()) => Ok(None),
            Err(Lost::AtCommit(lost)) => Ok(Some(Unanswered { token, lost: *lost })),
            Err(lost) => Err(failed(lost)),
        }
    }

    /// Begins a transaction, locks the run's row, and returns the transaction's token.
    fn lock(&self, server: &PgClient) -> Result<String, Lost> {
        let (lock, whose) = match &self.of {
            RowOwner::Agents(_) | RowOwner::Runs(_) => (LOCK_AGENTS, [self.of.key()]),
            RowOwner::Run(run) => (LOCK, [text(&**run)]),
        };
        let tables = [foreign::no_tables()];
        let begin = format!("{BEGIN}; {}; {WITHIN}", server.lock_timeout(AT_ONCE));
        let all = join4(
            server.client().batch_execute(&begin),
            // A view in place of a table would execute foreign SQL. This check fails if there is such a view, and the
            // later statements then do not run.
            server.question(foreign::NO_TABLES, &tables),
            server.question(lock, &whose),
            server.question(TOKEN, &[]),
        );
        let (begun, tables, locked, token) = server.wait(all).ok_or(Lost::Silent)?;
        begun?;
        tables?;
        locked?;
        let token = token?;
        let token = token.first().map(|row| get(row, 0)).transpose()?;
        Ok(token.unwrap_or_default())
    }

    /// Calls `work` for the changes. Repeats the call until the transaction has reserved all ids that the changes use.
    fn planned(
        &self,
        shelf: &PostgresShelf<'_>,
        work: Work<'_>,
    ) -> Result<Vec<Change>, RecordFailure> {
        let none = Run::default();
        let session = shelf.session.as_ref();
        let run = session.map_or(&none, |session| session.run());
        let listing = session.and_then(|session| session.listing());
        let trace = session.map(|session| session.trace());
        let facts = Facts::of(shelf, Style::InPlace, Cow::Borrowed(run), listing, trace);
        let facts = facts.map_err(|fault| {
            if shelf.server.is_closed() {
                RecordFailure::Passing(fault)
            } else {
                RecordFailure::Finally(fault.into())
            }
        })?;
        for _ in 0..TRIES {
            let changes = work(&facts).map_err(|error| match shelf.lost.take() {
                Some(lost) if fault::is_passing(&lost) => failed(&self.address, &lost),
                _ => RecordFailure::Finally(error),
            })?;
            let ids = changes.iter().filter_map(|change| match change {
                Change::Execution(row) => Some(row.id),
                _ => None,
            });
            let (first, count) = shelf.ids.get().unwrap_or_default();
            let needed = ids.max().map_or(0, |last| last - first + 1);
            if needed <= count {
                return Ok(changes);
            }
            // The missing ids must follow the reserved ones. If another writer has taken one of them meanwhile,
            // `needed` new ids are reserved for a new plan.
            let lost = |lost| failed(&self.address, &lost);
            let more = take_ids(shelf.server, needed - count).map_err(lost)?;
            if more == Some(first + count) {
                return Ok(changes);
            }
            if let Some(first) = take_ids(shelf.server, needed).map_err(lost)? {
                shelf.ids.set(Some((first, needed)));
            }
        }
        let message = format!(
            "{} was not written: in each attempt, another writer took the new ids first",
            self.address
        );
        Err(RecordFailure::Finally(
            Fault::new(FaultKind::Busy, message)
                .hint("try again")
                .into(),
        ))
    }

    fn send(&self, server: &PgClient, steps: &[TransactionStep<'_>]) -> Result<(), RecordFailure> {
        sent(server, AT_ONCE, steps)
    }

    /// Writes an attachment, piece by piece.
    fn attach(&self, server: &PgClient, file: &AttachmentFile) -> Result<(), RecordFailure> {
        let mut lost = None;
        let mut write = |steps: &[TransactionStep<'_>]| {
            self.send(server, steps).map_err(|failed| match failed {
                RecordFailure::Passing(fault) | RecordFailure::Silent(fault) => {
                    lost = Some(RecordFailure::Passing(fault.clone()));
                    fault
                }
                RecordFailure::Locked(fault) => {
                    lost = Some(RecordFailure::Locked(fault.clone()));
                    fault
                }
                RecordFailure::Finally(error) => {
                    let fault = Fault::new(FaultKind::Damaged, error.to_string());
                    lost = Some(RecordFailure::Finally(error));
                    fault
                }
            })
        };
        let written = apply::pieces(self.run(), file, self.staged.as_ref(), &mut write);
        written.map_err(|fault| lost.unwrap_or_else(|| RecordFailure::Finally(fault.into())))
    }

    /// Finds out whether a transaction with an unanswered COMMIT was recorded.
    fn settle(&self, of: &Unanswered) -> Result<(), RecordFailure> {
        // Getting the lock proves that the old transaction has ended.
        let is_recorded = settled(&self.address, |server| {
            self.lock(server)?;
            let sql = "SELECT FROM openprose.x_commands WHERE token = $1::uuid";
            let found = server.rows(sql, &[text(&*of.token)])?;
            server.batch("ROLLBACK")?;
            Ok(Some(!found.is_empty()))
        });
        match is_recorded {
            Some(true) => Ok(()),
            Some(false) => {
                let fault = fault::unwritten(&self.address, &of.lost);
                // Since the command was not recorded, a retry is possible, whatever the reason was.
                Err(match of.lost {
                    Lost::Silent => RecordFailure::Silent(fault),
                    _ => RecordFailure::Passing(fault),
                })
            }
            None => Err(RecordFailure::Finally(
                fault::undecided(&self.address, &of.lost).into(),
            )),
        }
    }
}

/// Sends statements one after the other without waiting, and then checks all answers. Each statement may wait up to
/// `lock` for a lock.
fn sent(
    server: &PgClient,
    lock: Duration,
    steps: &[TransactionStep<'_>],
) -> Result<(), RecordFailure> {
    let most = server.address().most;
    if let Some(bytes) = steps
        .iter()
        .map(TransactionStep::len)
        .find(|len| *len > most)
    {
        let message = format!(
            "{} was not written: a row has {bytes} bytes, and PostgreSQL accepts less than 1 GB",
            server.address()
        );
        return Err(RecordFailure::Finally(WriteError::refused(
            "not-storable",
            message,
            "keep the value in pieces as an attachment: `prosescope put NAME --file FILE`; or record the run in a file: `prosescope init --state sqlite`",
        )));
    }
    let client = server.client();
    let all = steps.iter().map(|step| async move {
        let rows = client
            .query_typed_raw(&step.sql, typed(&step.bound))
            .await?;
        let mut rows = std::pin::pin!(rows);
        let mut looked = Vec::new();
        while let Some(row) = rows.try_next().await? {
            if let Some(StepCheck::Row { .. }) = step.check {
                looked.push(get::<Vec<Option<bool>>>(&row, 0)?);
            }
        }
        Ok::<_, tokio_postgres::Error>((rows.rows_affected().unwrap_or(0), looked))
    });
    // Constraint checks and locks may be slow, so the limit for slow statements applies.
    let answers = server.wait_long(lock, join_all(all));
    let Some(answers) = answers else {
        return Err(failed(server.address(), &Lost::Silent));
    };
    for (answer, step) in answers.into_iter().zip(steps) {
        // The first error causes the errors of the following statements, so only the first one is reported.
        let (changed, looked) = match answer.map_err(|error| server.lost(error)) {
            Ok(answer) => answer,
            Err(lost) if step.check == Some(StepCheck::NoCode) && foreign::is_of_guard(&lost) => {
                return Err(RecordFailure::Finally(foreign::refusal(server)));
            }
            Err(lost) => return Err(failed(server.address(), &lost)),
        };
        if let Some(StepCheck::Row { table, columns }) = &step.check
            && let Some(what) = differs(table, columns, &looked)
        {
            return Err(RecordFailure::Finally(foreign::otherwise(
                server.address(),
                &what,
            )));
        }
        if let Some(wanted) = step.rows.filter(|wanted| *wanted != changed) {
            let wanted = match wanted {
                1 => "one row".to_owned(),
                _ => format!("{wanted} rows"),
            };
            let message = format!(
                "{} was not written: a change of {wanted} affected {changed} rows",
                server.address()
            );
            let hint =
                "look for rules, triggers and row security on the tables of the schema `openprose`";
            return Err(RecordFailure::Finally(
                Fault::new(FaultKind::Damaged, message).hint(hint).into(),
            ));
        }
    }
    Ok(())
}

/// Returns a sentence about the first column that differs from its written value, or about a wrong number of rows;
/// `None` if all values are equal.
fn differs(table: &str, columns: &[&str], looked: &[Vec<Option<bool>>]) -> Option<String> {
    let [row] = looked else {
        return Some(format!(
            "openprose.{table} has {} rows with the key of the row that was just written, instead of one row",
            looked.len()
        ));
    };
    let odd = row.iter().position(|same| *same != Some(true));
    let column = columns.get(odd?).copied().unwrap_or_default();
    Some(format!(
        "openprose.{table}.{column} differs from the written value"
    ))
}

/// Sends statements for a caller that does not retry.
///
/// # Errors
/// The server's error.
pub(crate) fn send(server: &PgClient, steps: &[TransactionStep<'_>]) -> Result<(), WriteError> {
    sent(server, LOCK_WAIT, steps).map_err(WriteError::from)
}

/// Returns the error of a command, for a caller that does not retry.
pub(crate) fn failure(address: &Address, lost: &Lost) -> WriteError {
    failed(address, lost).into()
}

impl From<RecordFailure> for WriteError {
    fn from(failed: RecordFailure) -> WriteError {
        match failed {
            RecordFailure::Passing(fault)
            | RecordFailure::Silent(fault)
            | RecordFailure::Locked(fault) => fault.into(),
            RecordFailure::Finally(error) => error,
        }
    }
}

fn failed(address: &Address, lost: &Lost) -> RecordFailure {
    if let Some(what) = fault::not_storable(lost) {
        return RecordFailure::Finally(WriteError::refused(
            "not-storable",
            format!("{address} was not written: {what}"),
            "PostgreSQL stores no NUL in a text, and no number outside the range of its column: change the value, or keep the run in files",
        ));
    }
    let fault = fault::unwritten(address, lost);
    match fault::is_passing(lost) {
        true => RecordFailure::Passing(fault),
        false if fault::is_locked(lost) => RecordFailure::Locked(fault),
        false => RecordFailure::Finally(fault.into()),
    }
}

impl RunStore for PostgresStore {
    fn transact(&mut self, work: Work<'_>) -> Result<(), WriteError> {
        let begun = Instant::now();
        let (mut tries, mut was_silent) = (0, false);
        loop {
            tries += 1;
            match self.attempt(work) {
                Ok(()) => return Ok(()),
                Err(RecordFailure::Finally(error)) => return Err(error),
                Err(RecordFailure::Locked(fault)) if begun.elapsed() > LOCKED => {
                    return Err(fault.into());
                }
                Err(RecordFailure::Locked(_)) => {}
                Err(RecordFailure::Silent(fault)) if was_silent => return Err(fault.into()),
                Err(RecordFailure::Silent(_)) => was_silent = true,
                Err(RecordFailure::Passing(fault))
                    if tries == TRIES || begun.elapsed() > PATIENCE =>
                {
                    return Err(fault.into());
                }
                // A deadlock does not repeat itself, because each of the two commands waits for a different time
                // before its retry.
                Err(RecordFailure::Passing(_)) => {
                    let jitter = u64::from(std::process::id() % 13);
                    thread::sleep(Duration::from_millis(10 * u64::from(tries) + jitter));
                }
            }
        }
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.release();
        }
    }
}
