//! Creates missing workflow tables, for `prosescope workflow setup --apply`.

use prosescope_core::model::schema::WORKFLOWS_POSTGRES_SQL;
use prosescope_core::record::{Fault, FaultKind, WriteError};
use tokio_postgres::error::SqlState;

use super::{discover, unread, unwritten};
use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::schema::OLDEST;
use crate::server::{Lost, PgClient};
use crate::shape::quoted;

/// Creates the missing workflow tables.
pub(super) fn make(address: &Address) -> Result<(), WriteError> {
    const SERVER: &str = "SELECT current_setting('server_version_num')::bigint, current_user::text";
    let server = PgClient::connect(address)?;
    let look = || {
        let rows = server.ask(SERVER, &[])?;
        let cells = rows.first().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let (version, role): (i64, String) =
            cells.transpose().map_err(Lost::Error)?.unwrap_or_default();
        Ok((version, role, discover::schema(&server)?))
    };
    let (version, role, schema) = look().map_err(|lost: Lost| unread(address, &lost))?;
    if version < OLDEST {
        let message = format!(
            "{address} is PostgreSQL {}, and tables of workflows need PostgreSQL 15 or later",
            version / 10_000
        );
        return Err(Fault::new(FaultKind::Damaged, message).into());
    }
    let Some(schema) = schema else {
        return Err(WriteError::refused(
            "no-schema",
            format!(
                "the search path of role {role} in {address} names no schema that the role may use"
            ),
            "set a search path: `ALTER ROLE … SET search_path = SCHEMA`",
        ));
    };
    // The search path contains only PostgreSQL's own schema and then `schema`, so that functions of other schemas do
    // not run. The BEGIN inside of `WORKFLOWS_POSTGRES_SQL` then has no effect. A lock timeout bounds the wait for a
    // table that another program keeps locked.
    let sql = format!(
        "BEGIN; SET LOCAL search_path = {}; SET LOCAL lock_timeout = '30s'; SET LOCAL client_min_messages = error;\n{WORKFLOWS_POSTGRES_SQL}",
        quoted(&schema)
    );
    match server.script(&sql) {
        Ok(()) => {
            server.release();
            Ok(())
        }
        Err(lost) => {
            let _ = server.batch("ROLLBACK");
            Err(refused(address, &lost, &schema, &role))
        }
    }
}

fn refused(address: &Address, lost: &Lost, schema: &str, role: &str) -> WriteError {
    let fault = unwritten(address, lost);
    match lost {
        Lost::Error(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            WriteError::refused(
                "no-right-to-create",
                format!(
                    "{}: role {role} may not make or change the tables in schema {schema}",
                    fault.message
                ),
                "run `prosescope workflow setup`, then run the SQL that it prints, connected as the owner of the schema and its tables",
            )
        }
        Lost::AtCommit(_) => fault.hint(fault::REPEAT).into(),
        _ => fault.into(),
    }
}
