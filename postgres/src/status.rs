//! Gathers facts about a server, and creates the schema and its role (postgres.md, "Security Warning"; errata P6, P9).

use std::collections::BTreeSet;

use prosescope_core::model::schema::{POSTGRES_SQL, POSTGRES_VERSION};
use prosescope_core::pages::upkeep::doctor::server::{RunSize, ServerFacts};
use prosescope_core::record::{Fault, WriteError};
use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::cell::get;
use crate::fault;
use crate::find::has;
use crate::foreign::{self, OF_RUNS};
use crate::schema::{self, OLDEST};
use crate::server::LOCK_WAIT;
use crate::server::{Lost, PgClient, READ, bool_of, int, text};
use crate::settle::settled;
use crate::shape::quoted;
use crate::store::DELETE;

/// Gathers facts about a server. A failure to connect or to read becomes the fact `error`.
pub fn server_facts(address: &Address) -> ServerFacts {
    let facts = ServerFacts {
        address: address.to_string(),
        wanted: i64::from(POSTGRES_VERSION),
        ..ServerFacts::default()
    };
    let server = match PgClient::connect(address) {
        Ok(server) => server,
        Err(fault) => {
            return ServerFacts {
                error: Some(fault.to_string()),
                ..facts
            };
        }
    };
    match look(&server, facts.clone()) {
        Ok(facts) => {
            server.release();
            facts
        }
        Err(lost) => ServerFacts {
            error: Some(fault::unread(address, &lost).to_string()),
            ..facts
        },
    }
}

const SERVER: &str = "
    SELECT current_setting('server_version'), current_setting('server_version_num')::bigint, current_user::text,
           (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), pg_is_in_recovery(),
           COALESCE((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
           inet_server_addr() IS NOT NULL AND host(inet_server_addr()) NOT IN ('127.0.0.1', '::1'),
           has_database_privilege('public', current_database(), 'CONNECT'),
           has_database_privilege('public', current_database(), 'TEMPORARY'),
           to_regnamespace('public') IS NOT NULL AND has_schema_privilege('public', 'public', 'USAGE'),
           to_regnamespace('openprose') IS NOT NULL";

fn look(server: &PgClient, mut facts: ServerFacts) -> Result<ServerFacts, Lost> {
    let rows = server.ask(SERVER, &[])?;
    let Some(row) = rows.first() else {
        return Ok(facts);
    };
    facts.version = get(row, 0)?;
    facts.too_old = get::<i64>(row, 1)? < OLDEST;
    facts.role = get(row, 2)?;
    facts.superuser = get::<Option<bool>>(row, 3)?.unwrap_or_default();
    facts.read_only = get(row, 4)?;
    let (encrypted, remote): (bool, bool) = (get(row, 5)?, get(row, 6)?);
    facts.in_the_open = remote && !encrypted;
    for (at, may) in [
        (7, "connect to the database"),
        (8, "make temporary tables"),
        (9, "use the schema public"),
    ] {
        if get(row, at)? {
            facts.public.push(may.to_owned());
        }
    }
    let there: bool = get(row, 10)?;
    if !there || facts.too_old {
        return Ok(facts);
    }
    facts.schema = Some(match has(server, "openprose.x_schema")? {
        true => {
            let rows = server.ask("SELECT max(version)::bigint FROM openprose.x_schema", &[])?;
            let version = rows.first().map(|row| get::<Option<i64>>(row, 0));
            version.transpose()?.flatten().unwrap_or(0)
        }
        // OpenProse's own SQL created the schema, so it has no version.
        false => 0,
    });
    facts.missing = missing(server)?;
    if has(server, "openprose.run")? {
        let sql = "SELECT has_table_privilege('openprose.run', 'INSERT') AND has_table_privilege('openprose.run', 'UPDATE')";
        let rows = server.ask(sql, &[])?;
        facts.writes = rows.first().map(|row| get(row, 0)).transpose()? == Some(true);
    }
    for (table, sql) in ORPHANS {
        if has(server, &format!("openprose.{table}"))? && has(server, "openprose.run")? {
            let count = in_time(server, sql)?;
            if count != Some(0) {
                facts.orphans.push((table.to_owned(), count));
            }
        }
    }
    Ok(facts)
}

/// Returns a number that needs a scan of a whole table; `None` if the scan takes more than half of the time limit for
/// an answer.
fn in_time(server: &PgClient, sql: &str) -> Result<Option<i64>, Lost> {
    let most = server.address().answer.as_millis() / 2;
    server.batch(&format!("{READ}; SET LOCAL statement_timeout = {most}"))?;
    let found = server.rows_long(sql, &[]);
    server.batch("ROLLBACK")?;
    match found {
        Err(Lost::Error(error)) if error.code() == Some(&SqlState::QUERY_CANCELED) => Ok(None),
        found => Ok(found?.first().map(|row| get(row, 0)).transpose()?),
    }
}

/// Queries that count the rows of a table whose run or execution does not exist any more (errata P5, B10).
const ORPHANS: [(&str, &str); 3] = [
    (
        "agents",
        "SELECT count(*) FROM openprose.agents AS a
         WHERE run_id IS NOT NULL AND NOT EXISTS (SELECT FROM openprose.run WHERE id = a.run_id)",
    ),
    (
        "agent_segments",
        "SELECT count(*) FROM openprose.agent_segments AS s
         WHERE run_id IS NOT NULL AND NOT EXISTS (SELECT FROM openprose.run WHERE id = s.run_id)",
    ),
    (
        "bindings",
        "SELECT count(*) FROM openprose.bindings AS b WHERE execution_id IS NOT NULL
         AND NOT EXISTS (SELECT FROM openprose.execution WHERE id = b.execution_id AND run_id = b.run_id)",
    ),
];

/// Returns the missing parts of the schema: `table gates`, `column run.x_status`, `index idx_…`.
fn missing(server: &PgClient) -> Result<Vec<String>, Lost> {
    let sql = "SELECT 'table ' || relname FROM pg_class WHERE relnamespace = 'openprose'::regnamespace AND relkind IN ('r', 'p')
               UNION ALL
               SELECT 'index ' || c.relname FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid
               WHERE c.relnamespace = 'openprose'::regnamespace AND i.indisvalid
               UNION ALL
               SELECT 'column ' || c.relname || '.' || a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
               WHERE c.relnamespace = 'openprose'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped";
    let mut there: BTreeSet<String> = BTreeSet::new();
    for row in server.ask(sql, &[])? {
        there.insert(get(&row, 0)?);
    }
    Ok(made().filter(|made| !there.contains(made)).collect())
}

/// Returns the tables, added columns and indexes that Prosescope's schema creates, such as `table gates`.
fn made() -> impl Iterator<Item = String> {
    POSTGRES_SQL.lines().filter_map(|line| {
        let name = |text: &str| {
            text.split([' ', '(', ';'])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        if let Some((_, rest)) = line.split_once("TABLE IF NOT EXISTS openprose.") {
            return Some(format!("table {}", name(rest)));
        }
        if let Some((_, rest)) = line.split_once("INDEX IF NOT EXISTS ") {
            return Some(format!("index {}", name(rest)));
        }
        let (table, column) = line.split_once(" ADD COLUMN IF NOT EXISTS ")?;
        let table = table.strip_prefix("ALTER TABLE openprose.")?;
        Some(format!("column {table}.{}", name(column)))
    })
}

/// Returns the number of runs, the size of the schema in bytes, and the sizes of the newest runs, at most `most`.
///
/// # Errors
/// If the server does not answer, or refuses to count and measure the runs.
pub fn run_sizes(address: &Address, most: u32) -> Result<(u64, u64, Vec<RunSize>), Fault> {
    const ALL: &str = "SELECT (SELECT count(*) FROM openprose.run), COALESCE(sum(pg_total_relation_size(oid)), 0)::bigint
        FROM pg_class WHERE relnamespace = 'openprose'::regnamespace AND relkind = 'r'";
    const NEWEST: &str = "
        SELECT r.id, e.rows + b.rows + g.rows + s.rows, (b.bytes + a.bytes)::bigint
        FROM (SELECT id FROM openprose.run ORDER BY started_at DESC, id DESC LIMIT $1) AS r,
             LATERAL (SELECT count(*) AS rows FROM openprose.execution WHERE run_id = r.id) AS e,
             LATERAL (SELECT count(*) AS rows, COALESCE(sum(octet_length(value)), 0) AS bytes
                      FROM openprose.bindings WHERE run_id = r.id) AS b,
             LATERAL (SELECT count(*) AS rows FROM openprose.gates WHERE run_id = r.id) AS g,
             LATERAL (SELECT count(*) AS rows FROM openprose.agent_segments WHERE run_id = r.id) AS s,
             LATERAL (SELECT COALESCE(sum(octet_length(bytes)), 0) AS bytes
                      FROM openprose.x_attachments WHERE run_id = r.id) AS a";
    let server = PgClient::connect(address)?;
    let look = || {
        // OpenProse's own SQL creates fewer tables than Prosescope's, so each table is checked before it is read.
        if !has(&server, "openprose.run")? {
            return Ok((0, 0, Vec::new()));
        }
        let all = server.ask(ALL, &[])?;
        let (mut runs, mut bytes) = (0, 0);
        if let Some(row) = all.first() {
            (runs, bytes) = (get::<i64>(row, 0)?, get::<i64>(row, 1)?);
        }
        let mut newest = Vec::new();
        for table in [
            "execution",
            "bindings",
            "gates",
            "agent_segments",
            "x_attachments",
        ] {
            if !has(&server, &format!("openprose.{table}"))? {
                return Ok((runs.unsigned_abs(), bytes.unsigned_abs(), newest));
            }
        }
        for row in server.ask(NEWEST, &[int(i64::from(most))])? {
            newest.push(RunSize {
                run: get(&row, 0)?,
                rows: get::<i64>(&row, 1)?.unsigned_abs(),
                bytes: get::<i64>(&row, 2)?.unsigned_abs(),
            });
        }
        Ok((runs.unsigned_abs(), bytes.unsigned_abs(), newest))
    };
    let sizes = look().map_err(|lost: Lost| fault::unread_fault(address, &lost))?;
    server.release();
    Ok(sizes)
}

/// Returns the statements that create the schema and a role limited to it; for a `dedicated` database also those that
/// revoke PUBLIC's rights.
pub fn setup_sql(role: &str, database: Option<&str>, dedicated: bool) -> String {
    let (name, literal) = (quoted(role), role.replace('\'', "''"));
    let database = quoted(database.unwrap_or("DATABASE"));
    let mut sql = format!(
        "{POSTGRES_SQL}
-- A role for programs: it reads and writes the tables of the schema, and makes none. Set its password with \\password in psql.
BEGIN;
SET LOCAL search_path = pg_catalog;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{literal}') THEN
        CREATE ROLE {name} LOGIN;
    END IF;
END
$$;
GRANT CONNECT ON DATABASE {database} TO {name};
GRANT USAGE ON SCHEMA openprose TO {name};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA openprose TO {name};
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA openprose TO {name};
ALTER DEFAULT PRIVILEGES IN SCHEMA openprose GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {name};
ALTER DEFAULT PRIVILEGES IN SCHEMA openprose GRANT USAGE, SELECT ON SEQUENCES TO {name};
"
    );
    if dedicated {
        sql.push_str(&format!(
            "-- P9: every role of the server may connect, make temporary tables and use the schema public, because PUBLIC may. These
-- statements take that from all roles: other programs that use this database lose it, too.
REVOKE CONNECT, TEMPORARY ON DATABASE {database} FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
"
        ));
    }
    sql.push_str("COMMIT;\n");
    sql
}

/// Executes the statements of [`setup_sql`].
///
/// # Errors
/// If the server does not answer, if the role has no right to set up the schema, or if a statement fails.
pub fn set_up(address: &Address, role: &str, dedicated: bool) -> Result<(), WriteError> {
    let server = PgClient::connect(address)?;
    let unwritten = |lost: Lost| fault::unwritten(address, &lost);
    let (is_owner, is_done) = set_up_already(&server, role, dedicated).map_err(unwritten)?;
    if !is_owner {
        if is_done {
            server.release();
            return Ok(());
        }
        return Err(WriteError::refused(
            "no-right-to-set-up",
            format!(
                "{address}: parts of the schema or rights on it are missing, and this role may neither create nor grant them"
            ),
            "run the command as the owner of the schema `openprose` or as a superuser, or let one of them run the output of `prosescope postgres setup`",
        ));
    }
    schema::complete(&server)?;
    let sql = setup_sql(role, address.database(), dedicated);
    server.script(&sql).map_err(|lost| {
        let _ = server.batch("ROLLBACK");
        let is_open = matches!(lost, Lost::AtCommit(_));
        let fault = unwritten(lost);
        match is_open {
            true => fault.hint(fault::REPEAT),
            false => fault,
        }
    })?;
    server.release();
    Ok(())
}

/// Returns whether the current role may set up the schema, and whether everything is already set up for `role`.
fn set_up_already(server: &PgClient, role: &str, dedicated: bool) -> Result<(bool, bool), Lost> {
    // The owner of the schema may set it up. If the schema is missing, a role with the right to create schemas may.
    // Creating a role needs a separate right.
    const OWNER: &str = "
        SELECT rolsuper OR CASE WHEN to_regnamespace('openprose') IS NULL
                                THEN has_database_privilege(current_database(), 'CREATE')
                                ELSE pg_has_role((SELECT nspowner FROM pg_namespace WHERE nspname = 'openprose'), 'USAGE') END
        FROM pg_roles WHERE rolname = current_user";
    const DONE: &str = "
        SELECT has_database_privilege(r.oid, current_database(), 'CONNECT') AND has_schema_privilege(r.oid, n.oid, 'USAGE')
               AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
                               AND NOT (has_table_privilege(r.oid, c.oid, 'SELECT') AND has_table_privilege(r.oid, c.oid, 'INSERT')
                                    AND has_table_privilege(r.oid, c.oid, 'UPDATE') AND has_table_privilege(r.oid, c.oid, 'DELETE')))
               AND NOT EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND CASE c.relkind WHEN 'S' THEN NOT has_sequence_privilege(r.oid, c.oid, 'USAGE') END)
               AND (NOT $2 OR NOT has_database_privilege('public', current_database(), 'CONNECT'))
        FROM pg_roles AS r, pg_namespace AS n WHERE r.rolname = $1 AND n.nspname = 'openprose'";
    let first = |rows: Vec<tokio_postgres::Row>| {
        let said = rows.first().map(|row| get::<Option<bool>>(row, 0));
        Ok::<_, Lost>(said.transpose()?.flatten() == Some(true))
    };
    let is_owner = first(server.ask(OWNER, &[])?)?;
    let is_granted = first(server.ask(DONE, &[text(role), bool_of(dedicated)])?)?;
    Ok((is_owner, is_granted && missing(server)?.is_empty()))
}

/// Removes a run with all its data, including its agents and segments (errata P5). Returns whether the run existed.
///
/// # Errors
/// If the run was not removed, or if the connection was lost and its removal is uncertain.
pub fn remove_run(address: &Address, run: &str) -> Result<bool, WriteError> {
    const REMOVE: [&str; 4] = [
        "DELETE FROM openprose.agents WHERE run_id = $1",
        "DELETE FROM openprose.agent_segments WHERE run_id = $1",
        "DELETE FROM openprose.run WHERE id = $1 RETURNING id",
        // Rows of the audit log may be deleted only after their run.
        "DELETE FROM openprose.gate_audit_log WHERE run_id = $1",
    ];
    let mut there = false;
    let mut remove = |server: &PgClient| {
        server.batch(&format!("{DELETE}; {}", server.lock_timeout(LOCK_WAIT)))?;
        foreign::guarded(server, OF_RUNS, true)?;
        for sql in REMOVE {
            there |= !server.rows_long(sql, &[text(run)])?.is_empty();
        }
        server.commit()
    };
    deleted(address, &mut remove)?;
    Ok(there)
}

/// Calls `delete`, which deletes rows in one transaction. Repeats the call once after a lost connection or an
/// unanswered COMMIT. The repetition is safe, because deleting twice has no further effect.
pub(crate) fn deleted(
    address: &Address,
    delete: &mut dyn FnMut(&PgClient) -> Result<(), Lost>,
) -> Result<(), WriteError> {
    let mut repeated = false;
    loop {
        let server = PgClient::connect(address)?;
        match delete(&server) {
            Ok(()) => break server.release(),
            Err(Lost::AtCommit(lost)) => {
                drop(server);
                let again = settled(address, |server| delete(server).map(Some));
                break again.ok_or_else(|| fault::undecided(address, &lost))?;
            }
            Err(lost) if !repeated && fault::is_passing(&lost) => repeated = true,
            Err(lost) if foreign::is_of_guard(&lost) => return Err(foreign::refusal(&server)),
            Err(lost) => {
                let _ = server.batch("ROLLBACK");
                return Err(fault::unwritten(address, &lost).into());
            }
        }
    }
    Ok(())
}
