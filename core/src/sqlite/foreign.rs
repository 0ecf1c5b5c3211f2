//! Detects code that a database's schema contains: triggers, CHECKs, computed columns, defaults, indexes on
//! expressions.
//!
//! This module does not parse the schema's SQL, because that text can be disguised. It lets SQLite compile a statement
//! instead. The authorizer callbacks and the compiled program then show which code would run (security.md, B1 to B3).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use prosescope_authorizer::{Action, authorize_during};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ffi};

use super::guard::LONGEST_SQL;
use super::shape::{discover, quoted};
use crate::database::DecodeError;
use crate::database::Found;
use crate::schema;

/// The reason why Prosescope does not write to a database: a noun phrase that completes "it has …", such as `a view
/// bindings, where a table is expected`.
pub type Unfit = String;

/// Returns the names of the tables of OpenProse and Prosescope that a database contains, in lower case. Returns an
/// [`Unfit`] instead if writing to the database would be unsafe. That is the case if one of the tables is a view or a
/// virtual table, has a computed column or a foreign trigger, or if the schema is disguised.
///
/// # Errors
/// If the schema cannot be read.
pub fn fit_for_writing(conn: &Connection) -> Result<Result<Vec<String>, Unfit>, DecodeError> {
    if let Some(odd) = odd_schema(conn)? {
        return Ok(Err(odd));
    }
    let tables = discover(conn)?;
    let mut tables_found = Vec::new();
    for found in tables.iter().filter(|found| is_written(found)) {
        let name = &found.info.name;
        if found.info.kind != "table" {
            let kind = match found.info.kind.as_str() {
                "virtual" | "shadow" => format!("a {} table", found.info.kind),
                kind => format!("a {kind}"),
            };
            return Ok(Err(format!("{kind} {name}, where a table is expected")));
        }
        // Reading a computed column would run the schema's expression. A computed column that OpenProse does not define
        // is accepted, because it is never read.
        let is_used = |column: &&String| schema::known_column(name, column) || !found.info.known;
        if let Some(column) = found.generated.iter().find(is_used) {
            return Ok(Err(format!(
                "a computed column, {name}.{column}, whose value comes from its own SQL"
            )));
        }
        tables_found.push(name.to_ascii_lowercase());
    }
    let triggers = match may_have_foreign_triggers(conn)? {
        true => triggers_of(conn, &tables)?,
        false => Vec::new(),
    };
    Ok(match triggers.first() {
        Some(trigger) => Err(format!("{trigger}, which would also write")),
        None => Ok(tables_found),
    })
}

/// Returns the triggers, other than OpenProse's, that fire on a write to one of OpenProse's tables, as `the trigger
/// NAME on TABLE`.
///
/// # Errors
/// If the schema cannot be read.
pub(super) fn foreign_triggers(conn: &Connection) -> Result<Vec<String>, DecodeError> {
    triggers_of(conn, &discover(conn)?)
}

/// Returns a description of a row in `sqlite_schema` that is not plain text; `None` if there is none. Such a row hides
/// schema code. Only `PRAGMA writable_schema` can write it, and no tool does that.
///
/// # Errors
/// If the schema cannot be read.
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

/// Maximum number of tables, indexes and triggers in a schema that is searched for triggers. A run's schema has two
/// dozen.
const MOST_OBJECTS: i64 = 1000;

/// Functions that a schema may call on each write, with their number of arguments; -1 means any number, as in
/// SQLite's own list.
///
/// SQLite cannot interrupt a function, so an endless call could not be stopped. The list is therefore short: the
/// functions that OpenProse uses, and those common in tables made by hand. Each function reads its arguments once, and
/// [`MOST_GIVEN`] limits their length. `tests/tests/record/functions.rs` measures every function of SQLite.
const ONE_PASS: &[&str] = &[
    "abs(1)",
    "current_date(0)",
    "current_time(0)",
    "current_timestamp(0)",
    "date(-1)",
    "datetime(-1)",
    "json_valid(1)",
    "julianday(-1)",
    "length(1)",
    "lower(1)",
    "ltrim(1)",
    "nullif(2)",
    "octet_length(1)",
    "round(1)",
    "round(2)",
    "rtrim(1)",
    "strftime(-1)",
    "substr(2)",
    "substr(3)",
    "substring(2)",
    "substring(3)",
    "time(-1)",
    "trim(1)",
    "typeof(1)",
    "unixepoch(-1)",
    "upper(1)",
];

/// Maximum number of calls of functions in [`ONE_PASS`] by the schema's code in one statement.
const MOST_CALLS: usize = 16;

/// Maximum number of instructions of a statement that counts as free of costly schema code. Prosescope's own statements
/// have at most 150, and each index adds a dozen.
const PLAIN: usize = 400;

/// Maximum number of instructions of a statement. The limit on steps is not enough: SQLite counts steps only at
/// backward jumps. A long CHECK without jumps would therefore always run to its end.
const MOST_INSTRUCTIONS: usize = 4000;

/// Maximum bytes of a value in a statement on which the schema runs its own expressions.
pub const MOST_GIVEN: i32 = 1 << 20;

/// The code that a statement would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The statement's own code, and an insignificant amount of the schema's.
    Own,
    /// The statement's own code, and expressions of the schema. These end in time if every value is at most
    /// [`MOST_GIVEN`] bytes long.
    Bounded,
    /// The statement's own code, and schema code that may not end in time. The text is a noun phrase for that code:
    /// `the function instr`, `a virtual table`, `more than 16 functions`.
    Foreign(String),
}

/// Returns which code of the schema a statement would run.
///
/// SQLite compiles the statement and lists its program (`EXPLAIN`) without running it. Function calls in the
/// statement's own text do not count, because Prosescope wrote that text.
///
/// # Errors
/// If SQLite cannot compile the statement.
pub fn program_of(conn: &Connection, sql: &str) -> rusqlite::Result<Program> {
    let mut statement = conn.prepare(&format!("EXPLAIN {sql}"))?;
    // No parameters are bound, because SQLite compiles the same program for all values.
    let mut rows = statement.raw_query();
    let (mut calls, mut instructions) = (0, 0);
    let mut own: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        instructions += 1;
        // The columns of EXPLAIN: addr, opcode, p1, p2, p3, p4, p5, comment.
        let code: String = row.get(1)?;
        let found = match code.as_str() {
            "Program" => {
                Some("another program (a trigger, or an action of a foreign key)".to_owned())
            }
            "VOpen" | "VFilter" | "VUpdate" | "VColumn" => Some("a virtual table".to_owned()),
            "Concat" => Some("an expression that joins texts".to_owned()),
            "Function" | "PureFunc" => {
                let call: String = row.get::<_, Option<String>>(5)?.unwrap_or_default();
                let name = call.split('(').next().unwrap_or_default();
                let left = own
                    .entry(name.to_owned())
                    .or_insert_with(|| calls_in(sql, name));
                if let Some(less) = left.checked_sub(1) {
                    *left = less;
                    None
                } else {
                    calls += 1;
                    let foreign = !ONE_PASS.contains(&call.as_str());
                    foreign.then(|| format!("the function {name}"))
                }
            }
            _ => None,
        };
        let many = if calls > MOST_CALLS {
            Some((MOST_CALLS, "functions"))
        } else {
            (instructions > MOST_INSTRUCTIONS).then_some((MOST_INSTRUCTIONS, "instructions"))
        };
        let found = found.or(many.map(|(most, what)| format!("more than {most} {what}")));
        if let Some(found) = found {
            return Ok(Program::Foreign(found));
        }
    }
    Ok(match calls > 0 || instructions > PLAIN {
        true => Program::Bounded,
        false => Program::Own,
    })
}

/// A cache of checked statements, and of whether their values must be limited. It is valid until the schema changes.
#[derive(Debug, Default)]
pub struct LookedAt(RefCell<(i64, BTreeMap<String, bool>)>);

impl LookedAt {
    /// Runs `work`, which executes the statement `sql`. Refuses if the schema would run costly code of its own with
    /// this statement.
    ///
    /// # Errors
    /// Any error of SQLite. If the schema's code would run, the error's message names that code.
    pub fn run<T>(
        &self,
        conn: &Connection,
        sql: &str,
        work: impl FnOnce() -> T,
    ) -> rusqlite::Result<T> {
        let mut version = conn.prepare_cached("PRAGMA schema_version")?;
        let version: i64 = version.query_row([], |row| row.get(0))?;
        let mut seen = self.0.borrow_mut();
        if seen.0 != version {
            *seen = (version, BTreeMap::new());
        }
        let bounded = match seen.1.get(sql) {
            Some(bounded) => *bounded,
            None => {
                let bounded = match program_of(conn, sql)? {
                    Program::Own => false,
                    Program::Bounded => true,
                    Program::Foreign(what) => {
                        let code = ffi::Error::new(ffi::SQLITE_AUTH);
                        let message =
                            format!("the schema of the database would run {what} with each write");
                        return Err(rusqlite::Error::SqliteFailure(code, Some(message)));
                    }
                };
                seen.1.insert(sql.to_owned(), bounded);
                bounded
            }
        };
        drop(seen);
        if !bounded {
            return Ok(work());
        }
        let before = conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_GIVEN)?;
        let done = work();
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, before)?;
        Ok(done)
    }
}

/// Counts the calls of a function in one of Prosescope's own statements.
fn calls_in(sql: &str, name: &str) -> usize {
    let found = sql.match_indices(name).filter(|(at, _)| {
        let (before, after) = sql.split_at(*at);
        let is_part = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        !is_part && after.starts_with(&format!("{name}("))
    });
    found.count()
}

/// Returns the reasons for which a write would be refused, one sentence each. The reasons are those of
/// [`fit_for_writing`] and [`program_of`]. The result is empty for a disguised schema and for foreign triggers, because
/// these are reported as separate issues.
///
/// # Errors
/// If the schema cannot be read.
pub(super) fn refusals(conn: &Connection) -> Result<Vec<String>, DecodeError> {
    if odd_schema(conn)?.is_some() || !foreign_triggers(conn)?.is_empty() {
        return Ok(Vec::new());
    }
    if let Err(unfit) = fit_for_writing(conn)? {
        return Ok(vec![format!("it has {unfit}")]);
    }
    let mut refused = Vec::new();
    for found in discover(conn)?.iter().filter(|found| is_written(found)) {
        let known = found.info.columns.iter();
        let known = known.filter(|column| column.known || !found.info.known);
        let names: Vec<String> = known.map(|column| quoted(&column.name)).collect();
        if names.is_empty() {
            continue;
        }
        let table = quoted(&found.info.name);
        let set: Vec<String> = names.iter().map(|name| format!("{name} = 1")).collect();
        let ones = vec!["1"; names.len()].join(", ");
        let statements = [
            format!("INSERT INTO {table} ({}) VALUES ({ones})", names.join(", ")),
            format!("UPDATE {table} SET {}", set.join(", ")),
        ];
        let copy = empty_copy(conn, &found.info.name);
        let conns = std::iter::once(conn).chain(copy.as_ref().ok());
        let foreign = conns
            .flat_map(|conn| statements.iter().map(move |sql| (conn, sql)))
            .find_map(|(conn, sql)| {
                let program = authorize_during(conn, |_, _| true, || program_of(conn, sql));
                match program.and_then(|program| program) {
                    Ok(Program::Foreign(what)) => Some(what),
                    // A statement that SQLite cannot compile runs none of the schema's code, so its error is not a
                    // reason to refuse.
                    _ => None,
                }
            });
        refused.extend(foreign.map(|what| {
            let table = &found.info.name;
            format!("the schema of the database would run {what} with each write into {table}")
        }));
    }
    Ok(refused)
}

/// Returns a database in memory with an empty copy of one table. The copy is needed because SQLite ignores CHECKs in
/// a file that is opened for reading.
///
/// # Errors
/// If the table does not exist, or if SQLite does not accept its definition in another database.
fn empty_copy(conn: &Connection, table: &str) -> rusqlite::Result<Connection> {
    let sql: String = conn.query_row(
        "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        [table],
        |row| row.get(0),
    )?;
    let copy = Connection::open_in_memory()?;
    copy.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL)?;
    // The definition is never executed as a statement: SQLite only parses it as part of a schema.
    copy.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; CREATE TABLE {} (x); PRAGMA writable_schema = ON",
        quoted(table)
    ))?;
    copy.execute("UPDATE sqlite_schema SET sql = ?1", [sql])?;
    copy.execute_batch("PRAGMA writable_schema = RESET")?;
    Ok(copy)
}

/// Returns whether the schema may contain foreign triggers. This test is cheap: it searches the schema's texts for the
/// word `trigger`, without which SQLite creates no trigger. The exact search compiles statements, which takes a fifth
/// of the time of a write.
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

/// Returns whether Prosescope writes to a table of this name.
pub(super) fn is_written(found: &Found) -> bool {
    let name = found.info.name.to_ascii_lowercase();
    schema::known_table(&name)
        || [schema::BINDING_HISTORY, schema::AGENT_MEMORY_HISTORY].contains(&name.as_str())
}

fn triggers_of(conn: &Connection, tables: &[Found]) -> Result<Vec<String>, DecodeError> {
    let mut foreign = Vec::new();
    // The number of schema objects is limited, because SQLite compiles every trigger that a statement would fire.
    let objects: i64 =
        conn.query_row("SELECT count(*) FROM main.sqlite_schema", [], |r| r.get(0))?;
    if objects > MOST_OBJECTS {
        return Ok(vec![format!(
            "a schema of {objects} objects, of which at most {MOST_OBJECTS} can be searched for triggers"
        )]);
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true)?;
    for found in tables {
        if is_written(found) && found.info.kind == "table" {
            foreign.push(foreign_triggers_on(conn, found));
        }
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    let foreign: Result<Vec<Vec<String>>, DecodeError> = foreign.into_iter().collect();
    Ok(foreign?.into_iter().flatten().collect())
}

/// Returns the foreign triggers on one table. SQLite compiles statements that write to the table, and passes the name
/// of each trigger to the authorizer callback.
///
/// # Errors
/// If the schema cannot be read.
fn foreign_triggers_on(conn: &Connection, found: &Found) -> Result<Vec<String>, DecodeError> {
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
    let own = audit_triggers(conn)?;
    let foreign = names
        .iter()
        .filter(|name| !own.contains(&name.to_ascii_lowercase()));
    let foreign = foreign.map(|name| format!("the trigger {name} on {}", found.info.name));
    let mut foreign: Vec<String> = foreign.collect();
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

/// Returns the triggers that keep the audit log append-only (errata G7) and are missing or altered.
///
/// # Errors
/// If the schema cannot be read.
pub(super) fn audit_triggers_gone(conn: &Connection) -> Result<Vec<&'static str>, DecodeError> {
    let existing = audit_triggers(conn)?;
    let triggers = schema::audit_triggers().map(|(name, _)| name);
    Ok(triggers.filter(|name| !existing.contains(*name)).collect())
}

/// Returns the names of the triggers that protect the audit log and are unaltered, in lower case.
fn audit_triggers(conn: &Connection) -> Result<BTreeSet<String>, DecodeError> {
    let mut statement =
        conn.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")?;
    let mut rows = statement.query([])?;
    let mut found = BTreeSet::new();
    while let Some(row) = rows.next()? {
        if let (ValueRef::Text(name), ValueRef::Text(sql)) = (row.get_ref(0)?, row.get_ref(1)?) {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            if schema::is_audit_trigger(&name, &String::from_utf8_lossy(sql)) {
                found.insert(name);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::check::{QuickCheck, quick_check};
    use crate::sqlite::{Guard, guard};

    /// Returns a guarded run database after the given change to its schema.
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
        let foreign = |what: &str| Some(Program::Foreign(what.to_owned()));
        let check = |expression: &str| {
            format!(
                "UPDATE sqlite_schema SET sql = replace(sql, 'value TEXT', 'value TEXT CHECK ({expression})') WHERE name = 'bindings'"
            )
        };
        for (sql, found) in [
            (check("length(value) > 0"), Some(Program::Bounded)),
            (check("value IN (''a'', ''b'')"), Some(Program::Own)),
            (
                check("hex(zeroblob(480000000)) <> value"),
                foreign("the function zeroblob"),
            ),
            (check("instr(value, name)"), foreign("the function instr")),
            // A call with constant arguments counts, too.
            (
                check("instr(zeroblob(20000000), zeroblob(10000000) || x''01'') = 0"),
                foreign("the function zeroblob"),
            ),
            (check("value LIKE ''%a%''"), foreign("the function like")),
            (check("trim(value) <> ''''"), Some(Program::Bounded)),
            (
                check("trim(value, name) <> ''''"),
                foreign("the function trim"),
            ),
            (
                check("length(value || value) > 0"),
                foreign("an expression that joins texts"),
            ),
            (
                check(&["(value = name)"; 500].join(" + ")),
                Some(Program::Bounded),
            ),
        ] {
            let conn = changed(&sql);
            // The statement sets the time columns, because OpenProse's default for them calls a function.
            let insert =
                "INSERT INTO bindings(name, value, created_at, updated_at) VALUES (?1, ?2, '', '')";
            // A guarded connection refuses even to compile a write; a writer's connection compiles it.
            assert!(program_of(&conn, insert).is_err(), "{sql}");
            let program = authorize_during(&conn, |_, _| true, || program_of(&conn, insert));
            assert_eq!(program.unwrap().ok(), found, "{sql}");
            let is_foreign = matches!(found, Some(Program::Foreign(_)));
            let refused = refusals(&conn).unwrap();
            assert_eq!(refused.len(), usize::from(is_foreign), "{sql}: {refused:?}");
            // The check only reads, so none of the schema's code runs.
            assert_eq!(quick_check(&conn), QuickCheck::default(), "{sql}");
        }
    }

    #[test]
    fn a_statement_is_looked_at_again_when_the_schema_is_another_one() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (a)").unwrap();
        let looked_at = LookedAt::default();
        let sql = "INSERT INTO t VALUES ('x')";
        let insert = || looked_at.run(&conn, sql, || conn.execute(sql, []));
        assert_eq!(insert(), Ok(Ok(1)));
        assert_eq!(insert(), Ok(Ok(1)));
        conn.execute_batch("CREATE INDEX evil ON t(replace(a, 'y', 'z'))")
            .unwrap();
        let refused = insert().unwrap_err().to_string();
        assert_eq!(
            refused,
            "the schema of the database would run the function replace with each write"
        );
        let rows = conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
        assert_eq!(rows, Ok(2));
    }

    #[test]
    fn a_statement_calls_what_its_own_text_says() {
        for (sql, name, calls) in [
            ("UPDATE t SET a = trim(lower(trim(b)))", "trim", 2),
            ("SELECT ltrim(a), trimmed(b), trim", "trim", 0),
            ("json_patch(json_object(1), 2)", "json_patch", 1),
        ] {
            assert_eq!(calls_in(sql, name), calls, "{sql}");
        }
    }
}
