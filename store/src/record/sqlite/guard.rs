//! What a database must be like before anything is written into it (reliability.md, "Untrusted files"): a trigger
//! could approve a gate, a view never end, a table swallow rows.

use std::path::Path;
use std::time::{Duration, Instant};

use prosescope_core::schema;
use prosescope_core::write::{Fault, FaultKind};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::record::fault;

/// What one transaction may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How long it may last, once it holds the database.
    pub(super) time: Duration,
    /// After how many of SQLite's steps the time is looked at.
    pub(super) steps: i32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(60),
            steps: 100_000,
        }
    }
}

/// Our own tables beside the documents'.
const HISTORY: [&str; 2] = [schema::BINDING_HISTORY, schema::AGENT_MEMORY_HISTORY];

/// Settings of every connection that writes.
pub(super) fn settings(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    // Never what the library happens to be built with (errata, "Foreign keys are switched on").
    conn.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON;",
    )
}

/// From here on the connection works for as long as the limits say.
pub(super) fn deadline(conn: &mut Connection, limits: Limits) -> rusqlite::Result<()> {
    let begun = Instant::now();
    conn.progress_handler(limits.steps, Some(move || begun.elapsed() > limits.time))
}

/// Takes the deadline back.
pub(super) fn no_deadline(conn: &mut Connection) -> rusqlite::Result<()> {
    conn.progress_handler(0, None::<fn() -> bool>)
}

/// The documents' tables that are there, in small letters.
///
/// # Errors
/// A fault when something else has the name of one, or a trigger that is none of ours works on one.
pub(super) fn tables(conn: &Connection, path: &Path) -> Result<Vec<String>, Fault> {
    let wrong = |error| fault::sqlite(path, &error);
    let mut statement = conn
        .prepare_cached(
            "SELECT type, name, tbl_name, ifnull(sql, '') FROM main.sqlite_schema
             WHERE typeof(name) = 'text' AND typeof(tbl_name) = 'text' AND typeof(sql) IN ('text', 'null')",
        )
        .map_err(wrong)?;
    let mut rows = statement.query([]).map_err(wrong)?;
    let mut there = Vec::new();
    while let Some(row) = rows.next().map_err(wrong)? {
        let text = |at: usize| row.get::<_, String>(at).map_err(wrong);
        let (kind, name, table, sql) = (text(0)?, text(1)?, text(2)?, text(3)?);
        let known = |name: &str| {
            let name = name.to_ascii_lowercase();
            is_ours(&name).then_some(name)
        };
        let odd = match kind.as_str() {
            "trigger" => (known(&table).is_some() && !schema::is_audit_trigger(&name, &sql))
                .then(|| format!("the trigger {name} on {table}, which would write too")),
            "table" if is_virtual(&sql) => {
                known(&name).map(|_| format!("a virtual table {name}, where a table is expected"))
            }
            "table" => {
                there.extend(known(&name));
                None
            }
            other => known(&name).map(|_| format!("{other} {name}, where a table is expected")),
        };
        if let Some(odd) = odd {
            let message = format!("{} has {odd}: nothing was written", path.display());
            return Err(Fault::new(FaultKind::Damaged, message)
                .hint("`prose check RUN --fix` writes a copy with the documents' tables alone"));
        }
    }
    Ok(there)
}

fn is_ours(table: &str) -> bool {
    schema::known_table(table) || HISTORY.contains(&table)
}

fn is_virtual(sql: &str) -> bool {
    let mut words = sql.split_whitespace();
    words
        .next()
        .is_some_and(|w| w.eq_ignore_ascii_case("create"))
        && words
            .next()
            .is_some_and(|w| w.eq_ignore_ascii_case("virtual"))
}

/// Makes the tables that are missing, with their indexes and triggers: what the documents' SQL leaves out, or does not
/// load (errata S1). What is there stays as it is.
pub(super) fn complete(conn: &Connection, there: &[String]) -> rusqlite::Result<()> {
    let missing = |table: &str| !there.iter().any(|name| name == table);
    let known = schema::TABLES.iter().map(|table| table.name);
    if !known.chain(HISTORY).any(missing) {
        return Ok(());
    }
    let whole = Connection::open_in_memory()?;
    whole.execute_batch(schema::STATE_SQL)?;
    let mut objects = whole.prepare(
        "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         ORDER BY rowid",
    )?;
    let mut objects = objects.query([])?;
    while let Some(object) = objects.next()? {
        let (name, table, sql): (String, String, String) =
            (object.get(0)?, object.get(1)?, object.get(2)?);
        if !missing(&table) {
            continue;
        }
        let taken: bool = conn.query_row(
            "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE)",
            [&name],
            |row| row.get(0),
        )?;
        // An index of that name on another table: ours only makes reading quicker, or keeps a rule that the plan keeps.
        if !taken {
            // A table that others made need not have the key that a reference asks for.
            let keys = [
                (schema::AGENTS, "name"),
                (schema::RUN, "id"),
                (schema::EXECUTION, "id"),
            ];
            let kept = keys.iter().filter(|(table, _)| !missing(table));
            let sql = kept.fold(sql, |sql, (table, key)| {
                sql.replace(&format!(" REFERENCES {table}({key})"), "")
            });
            conn.execute_batch(&sql)?;
        }
    }
    Ok(())
}

/// `ORDER BY` for a table: the order in which its rows came, where it has one (a `WITHOUT ROWID` table has none).
pub(super) fn by_coming(conn: &Connection, table: &str, down: bool) -> &'static str {
    match (
        conn.prepare_cached(&format!("SELECT rowid FROM {table} LIMIT 0")),
        down,
    ) {
        (Err(_), _) => "",
        (Ok(_), true) => "ORDER BY rowid DESC",
        (Ok(_), false) => "ORDER BY rowid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not what the library happens to be built with: each is the other way before.
    #[test]
    fn every_setting_is_made() {
        let conn = Connection::open_in_memory().unwrap();
        let switches = [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        ];
        for (switch, on) in switches {
            conn.set_db_config(switch, !on).unwrap();
        }
        conn.execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cell_size_check = OFF;",
        )
        .unwrap();
        settings(&conn).unwrap();
        for (switch, on) in switches {
            assert_eq!(conn.db_config(switch).unwrap(), on, "{switch:?}");
        }
        for (pragma, value) in [
            ("foreign_keys", 1),
            ("synchronous", 2),
            ("cell_size_check", 1),
        ] {
            let set: i64 = conn
                .pragma_query_value(None, pragma, |row| row.get(0))
                .unwrap();
            assert_eq!(set, value, "{pragma}");
        }
    }
}
