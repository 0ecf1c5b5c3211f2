//! Code that a database brings along: triggers, CHECKs, computed columns, defaults, indexes on expressions.
//!
//! Nothing here reads the SQL of the schema. SQLite compiles a statement, and its authorizer and the compiled program
//! show what would run: a schema can be disguised, what SQLite made of it cannot (security.md, B1 to B3).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use prosescope_authorizer::{Action, authorize_during};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;

use super::shape::{discover, quoted};
use crate::database::DecodeError;
use crate::database::Found;
use crate::schema;

/// Why a run is not written to: what its schema has, as the object of "it has …".
pub type Unfit = String;

/// Returns which of the documents' tables and of our own are in a database, in small letters, or why nothing may be
/// written into it: one of them is a view, a virtual table or computed, a trigger fires on it, or the schema itself is
/// disguised.
///
/// # Errors
/// When the schema cannot be read.
pub fn fit_for_writing(conn: &Connection) -> Result<Result<Vec<String>, Unfit>, DecodeError> {
    if let Some(odd) = odd_schema(conn)? {
        return Ok(Err(odd));
    }
    let tables = discover(conn)?;
    let mut there = Vec::new();
    for found in tables.iter().filter(|found| is_written(found)) {
        let name = &found.info.name;
        if found.info.kind != "table" {
            let kind = match found.info.kind.as_str() {
                "virtual" | "shadow" => format!("a {} table", found.info.kind),
                kind => format!("a {kind}"),
            };
            return Ok(Err(format!("{kind} {name}, where a table is expected")));
        }
        // Reading it would run what the schema says. One that no document lists is never read.
        let asked = |column: &&String| schema::known_column(name, column) || !found.info.known;
        if let Some(column) = found.generated.iter().find(asked) {
            return Ok(Err(format!(
                "a computed column, {name}.{column}, whose value comes from its own SQL"
            )));
        }
        there.push(name.to_ascii_lowercase());
    }
    let triggers = match may_have_foreign_triggers(conn)? {
        true => triggers_of(conn, &tables)?,
        false => Vec::new(),
    };
    Ok(match triggers.first() {
        Some(trigger) => Err(format!("{trigger}, which would write too")),
        None => Ok(there),
    })
}

/// Returns the triggers, other than those of the documents, that fire when one of the documents' tables is written to,
/// as `the trigger NAME on TABLE`.
///
/// # Errors
/// When the schema cannot be read.
pub(super) fn foreign_triggers(conn: &Connection) -> Result<Vec<String>, DecodeError> {
    triggers_of(conn, &discover(conn)?)
}

/// Returns what is disguised in the schema's own rows: no tool writes such rows, `PRAGMA writable_schema` does.
///
/// # Errors
/// When the schema cannot be read.
pub(super) fn odd_schema(conn: &Connection) -> Result<Option<String>, DecodeError> {
    let odd: Option<i64> = conn.query_row(
        "SELECT min(rowid) FROM main.sqlite_schema
         WHERE type NOT IN ('table', 'index', 'view', 'trigger') OR typeof(type) <> 'text'
            OR typeof(name) <> 'text' OR typeof(tbl_name) <> 'text' OR typeof(sql) NOT IN ('text', 'null')
            OR instr(name, char(0)) OR instr(tbl_name, char(0)) OR instr(sql, char(0))",
        [],
        |row| row.get(0),
    )?;
    Ok(odd.map(|row| format!("a disguised schema (row {row} of sqlite_schema is not plain text)")))
}

/// Objects that a schema may name to be looked through for triggers; a run's has two dozen.
const MOST_OBJECTS: i64 = 1000;

/// Calls that one statement may make of functions whose work grows with the value: ours make seven.
const MOST_CALLS: usize = 16;

/// Functions that take time in proportion to their arguments at most.
const TAME: &[&str] = &[
    "abs",
    "coalesce",
    "date",
    "datetime",
    "ifnull",
    "json_object",
    "json_patch",
    "json_type",
    "json_valid",
    "julianday",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "octet_length",
    "round",
    "rtrim",
    "strftime",
    "substr",
    "substring",
    "time",
    "trim",
    "typeof",
    "unixepoch",
    "upper",
];

/// Returns what a statement would run that the schema chose and that may not end in time, as a noun: a trigger's or a
/// foreign key's program, a virtual table, a function that is not known to be tame, or too many calls.
///
/// SQLite compiles the statement and lists the program (`EXPLAIN`); nothing runs. `message` is the register in which
/// SQLite itself puts texts together, if the statement is one of those.
///
/// # Errors
/// When SQLite cannot compile it.
pub fn runs_foreign(
    conn: &Connection,
    sql: &str,
    message: Option<i64>,
) -> rusqlite::Result<Option<String>> {
    let mut statement = conn.prepare(&format!("EXPLAIN {sql}"))?;
    // Nothing is bound: the program is the same for all values.
    let mut rows = statement.raw_query();
    let mut calls = 0;
    while let Some(row) = rows.next()? {
        // addr, opcode, p1, p2, p3, p4, p5, comment
        let code: String = row.get(1)?;
        let found = match code.as_str() {
            "Program" => {
                Some("another program (a trigger, or an action of a foreign key)".to_owned())
            }
            "VOpen" | "VFilter" | "VUpdate" | "VColumn" => Some("a virtual table".to_owned()),
            "Function" | "PureFunc" => {
                calls += 1;
                let call: String = row.get::<_, Option<String>>(5)?.unwrap_or_default();
                let name = call.split('(').next().unwrap_or_default();
                let tame = TAME.iter().any(|tame| tame.eq_ignore_ascii_case(name));
                (!tame).then(|| format!("the function {name}"))
            }
            "Concat" => {
                (message != Some(row.get(4)?)).then(|| "an expression that joins texts".to_owned())
            }
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
        if calls > MOST_CALLS {
            return Ok(Some(format!("more than {MOST_CALLS} functions")));
        }
    }
    Ok(None)
}

/// Returns whether SQLite may have made a foreign trigger of the schema. Whatever else its rows claim, SQLite makes a trigger
/// only of a text with that keyword; compiling statements to see which triggers fire takes a fifth of the time of a write.
fn may_have_foreign_triggers(conn: &Connection) -> Result<bool, DecodeError> {
    let mut named = conn.prepare(
        "SELECT name, sql FROM main.sqlite_schema WHERE instr(lower(sql), 'trigger') LIMIT 100",
    )?;
    let mut named = named.query([])?;
    while let Some(row) = named.next()? {
        let (name, sql): (String, String) = (row.get(0)?, row.get(1)?);
        if !schema::is_audit_trigger(&name, &sql) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a writer writes to a table of this name.
fn is_written(found: &Found) -> bool {
    let name = found.info.name.to_ascii_lowercase();
    schema::known_table(&name)
        || [schema::BINDING_HISTORY, schema::AGENT_MEMORY_HISTORY].contains(&name.as_str())
}

fn triggers_of(conn: &Connection, tables: &[Found]) -> Result<Vec<String>, DecodeError> {
    let mut foreign = Vec::new();
    // Each statement compiles every trigger that it would fire.
    let objects: i64 =
        conn.query_row("SELECT count(*) FROM main.sqlite_schema", [], |r| r.get(0))?;
    if objects > MOST_OBJECTS {
        return Ok(vec![format!(
            "a schema of {objects} objects: triggers are looked for among {MOST_OBJECTS} at most"
        )]);
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true)?;
    for found in tables {
        if is_written(found) && found.info.kind == "table" {
            foreign.push(compiled(conn, found));
        }
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    let foreign: Result<Vec<Vec<String>>, DecodeError> = foreign.into_iter().collect();
    Ok(foreign?.into_iter().flatten().collect())
}

/// Compiles statements that write to a table, and notes in whose name SQLite asks while it does.
///
/// # Errors
/// When the schema cannot be read.
fn compiled(conn: &Connection, found: &Found) -> Result<Vec<String>, DecodeError> {
    let table = quoted(&found.info.name);
    let columns: Vec<String> = found
        .info
        .columns
        .iter()
        .map(|column| quoted(&column.name))
        .filter(|column| !found.generated.iter().any(|g| quoted(g) == *column))
        .map(|column| format!("{column} = {column}"))
        .collect();
    let named = Arc::new(Mutex::new(BTreeSet::new()));
    let mut failed = None;
    for sql in [
        format!("INSERT INTO {table} DEFAULT VALUES"),
        format!("UPDATE {table} SET {}", columns.join(", ")),
        format!("DELETE FROM {table}"),
    ] {
        let names = Arc::clone(&named);
        let note = move |_: &Action<'_>, inside: Option<&str>| {
            let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
            names.extend(inside.map(str::to_owned));
            true
        };
        let made = authorize_during(conn, note, || conn.prepare(&sql).map(drop));
        if let Err(error) = made.and_then(|made| made) {
            failed.get_or_insert(error);
        }
    }
    let names = named.lock().unwrap_or_else(PoisonError::into_inner);
    let mut foreign = Vec::new();
    for name in names.iter() {
        if !is_audit_trigger(conn, name)? {
            foreign.push(format!("the trigger {name} on {}", found.info.name));
        }
    }
    let failed = failed.map(DecodeError::from);
    if let Some(error) = failed.as_ref().filter(|error| error.is_failed()) {
        return Err(error.clone());
    }
    if let (Some(error), true) = (failed, foreign.is_empty()) {
        foreign.push(format!(
            "something on {} that SQLite cannot compile ({error})",
            found.info.name
        ));
    }
    Ok(foreign)
}

/// Returns the triggers that keep the audit log append-only (errata G7) and are gone, or are not what they were.
///
/// # Errors
/// When the schema cannot be read.
pub(super) fn audit_triggers_gone(conn: &Connection) -> Result<Vec<&'static str>, DecodeError> {
    let mut statement =
        conn.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?;
    let mut rows = statement.query([])?;
    let mut there = BTreeSet::new();
    while let Some(row) = rows.next()? {
        if let (ValueRef::Text(name), ValueRef::Text(sql)) = (row.get_ref(0)?, row.get_ref(1)?) {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            if schema::is_audit_trigger(&name, &String::from_utf8_lossy(sql)) {
                there.insert(name);
            }
        }
    }
    let triggers = schema::audit_triggers().map(|(name, _)| name);
    Ok(triggers.filter(|name| !there.contains(*name)).collect())
}

fn is_audit_trigger(conn: &Connection, name: &str) -> Result<bool, DecodeError> {
    let sql = conn.query_row(
        "SELECT sql FROM main.sqlite_schema WHERE type = 'trigger' AND name = ?1 COLLATE NOCASE",
        [name],
        |row| row.get::<_, String>(0),
    );
    match sql.map_err(DecodeError::from) {
        Ok(sql) => Ok(schema::is_audit_trigger(name, &sql)),
        Err(error) if error.is_failed() => Err(error),
        // Its SQL is no text.
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::intact::quick_check;
    use crate::sqlite::{Guard, guard};

    /// A run's database with something done to its schema, guarded.
    fn changed(sql: &str) -> Connection {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        #[allow(clippy::disallowed_methods)]
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(schema::STATE_SQL).unwrap();
        conn.execute_batch("INSERT INTO bindings(name, value) VALUES ('a', 'b')")
            .unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
            .unwrap();
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        conn.execute_batch(sql).unwrap();
        drop(conn);
        #[allow(clippy::disallowed_methods)]
        let mut conn = Connection::open(&path).unwrap();
        guard(&mut conn, Guard::default()).unwrap();
        conn
    }

    #[test]
    fn what_a_statement_would_run_is_seen_before_it_runs() {
        let check = |expression: &str| {
            format!(
                "UPDATE sqlite_schema SET sql = replace(sql, 'value TEXT', 'value TEXT CHECK ({expression})') WHERE name = 'bindings'"
            )
        };
        for (sql, found) in [
            (check("length(value) > 0"), None),
            (check("value IN (''a'', ''b'')"), None),
            (
                check("hex(zeroblob(480000000)) <> value"),
                Some("the function zeroblob"),
            ),
            (check("instr(value, name)"), Some("the function instr")),
            // What never changes is no less a call.
            (
                check("instr(zeroblob(20000000), zeroblob(10000000) || x''01'') = 0"),
                Some("the function zeroblob"),
            ),
            (check("value LIKE ''%a%''"), Some("the function like")),
            (
                check("length(value || value) > 0"),
                Some("an expression that joins texts"),
            ),
        ] {
            let conn = changed(&sql);
            let insert = "INSERT INTO bindings(name, value) VALUES (?1, ?2)";
            let said = runs_foreign(&conn, insert, None);
            // A guarded connection does not even compile what writes; the writer's does.
            assert!(said.is_err(), "{sql}");
            let pragma = runs_foreign(&conn, "PRAGMA quick_check(bindings)", Some(3)).unwrap();
            assert_eq!(pragma.as_deref(), found, "{sql}");
            let (damage, ended) = quick_check(&conn);
            assert_eq!(
                (damage, ended.is_some()),
                (vec![], found.is_some()),
                "{sql}"
            );
        }
    }
}
