//! The schema `openprose`, and a new run in it.

use prosescope_core::schema::{POSTGRES_SQL, POSTGRES_VERSION};
use prosescope_core::write::{Fault, FaultKind, WriteError};

use crate::address::Address;
use crate::fault;
use crate::rows::get;
use crate::server::{Bound, Lost, Server, text};
use crate::store::BEGIN;

/// The oldest server whose indexes take NULLs as equal.
pub(crate) const OLDEST: i64 = 150_000;

/// Makes the schema where it is missing, and completes an older one.
pub(crate) fn complete(server: &Server) -> Result<(), Fault> {
    let wrong = |lost: Lost| fault::unwritten(server.address(), &lost);
    let looked = server.ask(
        "SELECT to_regclass('openprose.x_schema') IS NOT NULL, current_setting('server_version_num')::bigint",
        &[],
    );
    let looked = looked.map_err(wrong)?;
    let seen: Option<(bool, i64)> = looked
        .first()
        .map(|row| Ok((get(row, 0)?, get(row, 1)?)))
        .transpose()
        .map_err(|error: tokio_postgres::Error| wrong(error.into()))?;
    let (there, server_version) = seen.unwrap_or_default();
    if server_version < OLDEST {
        let message = format!(
            "{} is PostgreSQL {}, and runs need PostgreSQL 15 or later",
            server.address(),
            server_version / 10_000
        );
        return Err(Fault::new(FaultKind::Damaged, message));
    }
    if there {
        let found = server.ask("SELECT max(version)::bigint FROM openprose.x_schema", &[]);
        let found = found.map_err(wrong)?;
        let version = found.first().map(|row| get::<Option<i64>>(row, 0));
        let version = version.transpose().map_err(|error| wrong(error.into()))?;
        if version.flatten() >= Some(i64::from(POSTGRES_VERSION)) {
            return Ok(());
        }
    }
    server.batch(POSTGRES_SQL).map_err(|lost| {
        let fault = wrong(lost);
        // The statement's own transaction is still open, and failed.
        let _ = server.batch("ROLLBACK");
        fault
    })
}

/// Registers a run, in a schema that is made where it is missing. `now` is a time in UTC, as the documents write it.
///
/// # Errors
/// A refusal when there is a run of this id; a [`Fault`] when the server does not answer or refuses. Then nothing is
/// recorded.
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
            Inserted::Run => return Ok(()),
            // What was sent before the connection was lost is recorded.
            Inserted::Exists { same: true } if repeated => return Ok(()),
            Inserted::Exists { .. } => {
                return Err(WriteError::refused(
                    "run-exists",
                    format!("there is a run {run_id} in {address} already"),
                    "leave out --id: each run gets an id of its own",
                ));
            }
            Inserted::Not(lost) => lost,
        };
        if repeated || !fault::leaves_open(&lost) {
            return Err(fault::unwritten(address, &lost).into());
        }
        repeated = true;
    }
}

/// What became of a new run's row.
enum Inserted {
    /// The run is recorded.
    Run,
    /// There is a run of its id, with the same program and time or with others.
    Exists { same: bool },
    /// The server did not answer, or refused.
    Not(Lost),
}

fn inserted(address: &Address, row: &[Bound<'_>]) -> Result<Inserted, Fault> {
    const INSERT: &str =
        "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at, status)
         VALUES ($1, $2, $3, $4::timestamp AT TIME ZONE 'UTC', $4::timestamp AT TIME ZONE 'UTC', 'running')
         ON CONFLICT (id) DO NOTHING RETURNING true";
    // Asked by a statement of its own: the one that waited for another transaction does not see its row.
    const SAME: &str = "SELECT program_path = $2 AND program_source = $3 AND started_at = $4::timestamp AT TIME ZONE 'UTC'
         FROM openprose.run WHERE id = $1";
    let server = Server::connect(address)?;
    complete(&server)?;
    let insert = || {
        server.batch(BEGIN)?;
        let mut rows = server.rows(INSERT, row)?;
        let is_new = !rows.is_empty();
        if !is_new {
            rows = server.rows(SAME, row)?;
        }
        let same = rows.first().map(|row| get::<Option<bool>>(row, 0));
        let same = same.transpose()?.flatten() == Some(true);
        server.batch("COMMIT")?;
        Ok::<_, Lost>(match is_new {
            true => Inserted::Run,
            false => Inserted::Exists { same },
        })
    };
    let done = insert().unwrap_or_else(Inserted::Not);
    if !matches!(done, Inserted::Not(_)) {
        server.release();
    }
    Ok(done)
}
