//! The schema `openprose`, and a new run in it.

use futures_util::future::join3;
use prosescope_core::schema::{POSTGRES_SQL, POSTGRES_VERSION};
use prosescope_core::write::{Fault, FaultKind, WriteError};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use crate::address::Address;
use crate::fault;
use crate::rows::get;
use crate::server::{Bound, Lost, Server, text};

/// The oldest server whose indexes take NULLs as equal.
pub(crate) const OLDEST: i64 = 150_000;

/// Makes the schema where it is missing, and completes an older one.
pub(crate) fn complete(server: &Server) -> Result<(), Fault> {
    with(server, "SELECT", &[]).map(|_| ())
}

/// The same, and the rows that answer a question. Where the schema is complete, the server is waited for once.
pub(crate) fn with(
    server: &Server,
    question: &str,
    bound: &[Bound<'_>],
) -> Result<Vec<Row>, Fault> {
    const SERVER: &str = "SELECT current_setting('server_version_num')::bigint";
    const SCHEMA: &str = "SELECT max(version)::bigint FROM openprose.x_schema";
    let wrong = |lost: Lost| fault::unwritten(server.address(), &lost);
    let number = |rows: Result<Vec<Row>, Error>| -> Result<Option<i64>, Error> {
        let found = rows?.first().map(|row| get::<Option<i64>>(row, 0));
        Ok(found.transpose()?.flatten())
    };
    // Each is a transaction of its own: the one that fails takes no other with it.
    let all = join3(
        server.ask(SERVER, &[]),
        server.ask(SCHEMA, &[]),
        server.ask(question, bound),
    );
    let (of_server, of_schema, answer) = server.wait(all).ok_or_else(|| wrong(Lost::Silent))?;
    let of_server = number(of_server).map_err(|error| wrong(error.into()))?;
    let of_server = of_server.unwrap_or_default();
    if of_server < OLDEST {
        let message = format!(
            "{} is PostgreSQL {}, and runs need PostgreSQL 15 or later",
            server.address(),
            of_server / 10_000
        );
        return Err(Fault::new(FaultKind::Damaged, message));
    }
    let there = match number(of_schema) {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => None,
        found => found.map_err(|error| wrong(error.into()))?,
    };
    if there >= Some(i64::from(POSTGRES_VERSION)) {
        return answer.map_err(|error| wrong(error.into()));
    }
    server.batch(POSTGRES_SQL).map_err(|lost| {
        let fault = wrong(lost);
        // The statement's own transaction is still open, and failed.
        let _ = server.batch("ROLLBACK");
        fault
    })?;
    server.rows(question, bound).map_err(wrong)
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
    let server = Server::connect(address)?;
    complete(&server)?;
    let inserted = server.rows(
        "INSERT INTO openprose.run (id, program_path, program_source, started_at, updated_at, status)
         VALUES ($1, $2, $3, $4::timestamp AT TIME ZONE 'UTC', $4::timestamp AT TIME ZONE 'UTC', 'running')",
        &[text(run_id), text(program_path), text(program_source), text(now)],
    );
    match inserted {
        Ok(_) => Ok(()),
        Err(Lost::Error(error)) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
            Err(WriteError::refused(
                "run-exists",
                format!("there is a run {run_id} in {address} already"),
                "leave out --id: each run gets an id of its own",
            ))
        }
        Err(lost) => Err(fault::unwritten(address, &lost).into()),
    }
}
