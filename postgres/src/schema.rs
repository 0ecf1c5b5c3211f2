//! Creates and completes the schema `openprose`, and registers a new run in it.

use futures_util::future::join3;
use prosescope_core::model::schema::{POSTGRES_SQL, POSTGRES_VERSION};
use prosescope_core::record::{Fault, FaultKind, WriteError};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::foreign;
use crate::server::LOCK_WAIT;
use crate::server::{Bound, Lost, PgClient, text};
use crate::settle::settled;
use crate::store::BEGIN;

/// The oldest usable server version, PostgreSQL 15: unique indexes of older versions cannot treat NULLs as equal.
pub(crate) const OLDEST: i64 = 150_000;

/// Creates the schema if it is missing, and completes an older one.
///
/// # Errors
/// A refusal if something is on the tables that may not be there; the server's fault.
pub(crate) fn complete(server: &PgClient) -> Result<(), WriteError> {
    if look(server, "SELECT", &[])?.0 {
        Ok(())
    } else {
        make(server)
    }
}

/// Completes the schema for an existing run; a database without that run stays unchanged. Returns whether the run
/// exists.
pub(crate) fn complete_for(server: &PgClient, run: &str) -> Result<bool, WriteError> {
    const THERE: &str = "SELECT 1 FROM openprose.run WHERE id = $1";
    let (is_complete, there) = look(server, THERE, &[text(run)])?;
    if there.is_none_or(|rows| rows.is_empty()) {
        return Ok(false);
    }
    if !is_complete {
        make(server)?;
    }
    Ok(true)
}

/// Returns whether the schema is complete, and the rows of `question`; `None` if the table in `question` is missing.
/// Sends all statements at once.
fn look(
    server: &PgClient,
    question: &str,
    bound: &[Bound<'_>],
) -> Result<(bool, Option<Vec<Row>>), Fault> {
    const SERVER: &str = "SELECT current_setting('server_version_num')::bigint";
    const SCHEMA: &str = "SELECT max(version)::bigint FROM openprose.x_schema";
    let wrong = |error: Error| fault::unwritten(server.address(), &server.lost(error));
    // Each question is its own transaction, so that a failure does not affect the others.
    let all = join3(
        server.alone(SERVER, &[]),
        server.alone(SCHEMA, &[]),
        server.alone(question, bound),
    );
    let answers = server.wait(all);
    let (of_server, of_schema, answer) =
        answers.ok_or_else(|| fault::unwritten(server.address(), &Lost::Silent))?;
    let number = |rows: &[Row]| -> Result<Option<i64>, Fault> {
        let found = rows.first().map(|row| get::<Option<i64>>(row, 0));
        Ok(found.transpose().map_err(wrong)?.flatten())
    };
    let of_server = number(&of_server.map_err(wrong)?)?.unwrap_or_default();
    if of_server < OLDEST {
        let message = format!(
            "{} is PostgreSQL {}, and runs need PostgreSQL 15 or later",
            server.address(),
            of_server / 10_000
        );
        return Err(Fault::new(FaultKind::Damaged, message));
    }
    let where_there = |answer: Result<Vec<Row>, Error>| match answer {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        answer => answer.map(Some).map_err(wrong),
    };
    let version = where_there(of_schema)?.map(|rows| number(&rows));
    let is_complete = version.transpose()?.flatten() >= Some(i64::from(POSTGRES_VERSION));
    Ok((is_complete, where_there(answer)?))
}

fn make(server: &PgClient) -> Result<(), WriteError> {
    let address = server.address();
    let there = foreign::found(server).map_err(|lost| fault::unwritten(address, &lost))?;
    if let Some(what) = there.first() {
        return Err(foreign::refused(address, what));
    }
    server.script(POSTGRES_SQL).map_err(|lost| {
        // An unanswered COMMIT leaves open only whether the tables were created. The command itself was not recorded.
        let lost = match lost {
            Lost::AtCommit(lost) => *lost,
            lost => lost,
        };
        let fault = fault::unwritten(address, &lost);
        // The transaction of the failed statement is still open.
        let _ = server.batch("ROLLBACK");
        fault
    })?;
    Ok(())
}

/// Registers a run, and creates the schema if it is missing. `now` is a UTC time in OpenProse's format.
///
/// # Errors
/// A refusal if a run with this id exists; a [`Fault`] if the server does not answer or refuses. Nothing is recorded in
/// either case.
pub fn init_postgres(
    address: &Address,
    run_id: &str,
    program_path: &str,
    program_source: &str,
    now: &str,
) -> Result<(), WriteError> {
    let row = [
        text(run_id),
        text(program_path),
        text(program_source),
        text(now),
    ];
    let mut repeated = false;
    loop {
        let lost = match inserted(address, &row)? {
            InsertResult::Run => return Ok(()),
            InsertResult::Exists => {
                return Err(WriteError::refused(
                    "run-exists",
                    format!("there is a run {run_id} in {address} already"),
                    "leave out --id: each run gets an id of its own",
                ));
            }
            InsertResult::Not(Lost::AtCommit(lost)) => {
                let found = settled(address, |server| {
                    Ok(Some(if_there(server, run_id, SAME, &row)?))
                });
                let same = |rows: &[Row]| {
                    let same = rows.first().map(|row| get::<Option<bool>>(row, 0));
                    same.and_then(Result::ok).flatten() == Some(true)
                };
                match found {
                    Some(Some(rows)) if same(&rows) => return Ok(()),
                    // The row does not exist, or another writer created it: this command was not recorded.
                    Some(_) => *lost,
                    None => return Err(fault::undecided(address, &lost).into()),
                }
            }
            InsertResult::Not(lost) => lost,
        };
        if repeated || !fault::is_passing(&lost) {
            return Err(fault::unwritten(address, &lost).into());
        }
        repeated = true;
    }
}

/// Finds out whether a new run exists whose COMMIT was not answered; `None` if the server cannot tell.
pub(crate) fn is_there(address: &Address, run: &str) -> Option<bool> {
    settled(address, |server| {
        let found = if_there(server, run, "SELECT", &[])?;
        Ok(Some(found.is_some()))
    })
}

/// Sends `question` about a run that another transaction may be creating. Returns `None` if the run does not exist and
/// no open transaction is creating it.
fn if_there(
    server: &PgClient,
    run: &str,
    question: &str,
    bound: &[Bound<'_>],
) -> Result<Option<Vec<Row>>, Lost> {
    // This INSERT waits for the end of any transaction that inserts the same row. It is rolled back below.
    const FREE: &str =
        "INSERT INTO openprose.run (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id";
    server.batch(&format!("{BEGIN}; {}", server.lock_timeout(LOCK_WAIT)))?;
    let found = if server.rows(FREE, &[text(run)])?.is_empty() {
        Some(server.rows(question, bound)?)
    } else {
        None
    };
    server.batch("ROLLBACK")?;
    Ok(found)
}

/// The result of an attempt to insert a new run's row.
enum InsertResult {
    /// The run is recorded.
    Run,
    /// A run with this id exists already.
    Exists,
    /// The server did not answer, or refused the row.
    Not(Lost),
}

/// Returns whether the stored row of a run equals the row that the command wrote.
const SAME: &str = "SELECT program_path = $2 AND program_source = $3 AND started_at = $4::timestamp AT TIME ZONE 'UTC'
     FROM openprose.run WHERE id = $1";

fn inserted(address: &Address, row: &[Bound<'_>]) -> Result<InsertResult, WriteError> {
    const INSERT: &str =
        "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at, status, x_status)
         VALUES ($1, $2, $3, $4::timestamp AT TIME ZONE 'UTC', $4::timestamp AT TIME ZONE 'UTC', 'running', NULL)
         ON CONFLICT (id) DO NOTHING RETURNING true";
    let server = PgClient::connect(address)?;
    complete(&server)?;
    // Fails unless the inserted row has the intended values.
    const READS: &str = "SELECT 1 / (count(*) = 1)::int FROM openprose.run WHERE id = $1
           AND program_path::text COLLATE \"C\" = $2 AND program_source::text COLLATE \"C\" = $3
           AND started_at::timestamptz = $4::timestamp AT TIME ZONE 'UTC'
           AND updated_at::timestamptz = $4::timestamp AT TIME ZONE 'UTC'
           AND status::text = 'running' AND x_status IS NULL";
    let insert = || {
        server.batch(BEGIN)?;
        foreign::guarded(&server, &["run"], false)?;
        if server.rows_long(INSERT, row)?.is_empty() {
            server.batch("ROLLBACK")?;
            return Ok::<_, Lost>(InsertResult::Exists);
        }
        server.batch("SET CONSTRAINTS ALL IMMEDIATE")?;
        server.rows(READS, row)?;
        server.commit()?;
        Ok(InsertResult::Run)
    };
    let done = match insert() {
        Err(lost) if foreign::is_of_guard(&lost) => return Err(foreign::refusal(&server)),
        done => done.unwrap_or_else(InsertResult::Not),
    };
    if !matches!(done, InsertResult::Not(_)) {
        server.release();
    }
    Ok(done)
}
