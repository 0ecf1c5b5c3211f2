//! Judges whether a database is recorded into: whether its tables that we write have nothing but what
//! [`crate::model::schema::judge`] and [`allows_default`] allow. Other tables, views and triggers are left alone.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::shape::{discover, lossy, quoted, tables};
use crate::model::database::DecodeError;
use crate::model::schema::{self, SchemaName, allows_default};

/// The reason why a database is not recorded into: a clause, such as `table gates has the trigger evil`.
pub type Unfit = String;

/// Returns which of some tables a database has, in lower case; an [`Unfit`] instead if something is on one of them that
/// is not allowed. `deletes` is whether rows are also deleted.
///
/// # Errors
/// If SQLite cannot list the tables or what is on them.
pub fn fit_for_writing(
    conn: &Connection,
    names: &[&str],
    deletes: bool,
) -> Result<Result<Vec<String>, Unfit>, DecodeError> {
    let (there, unfit) = judged(conn, names, deletes)?;
    Ok(unfit.into_iter().next().map_or(Ok(there), Err))
}

/// Returns which of some tables a database has, and everything that is not allowed on them.
///
/// # Errors
/// If the definition of a table, index or trigger cannot be read.
pub(super) fn judged(
    conn: &Connection,
    names: &[&str],
    deletes: bool,
) -> Result<(Vec<String>, Vec<Unfit>), DecodeError> {
    if let Some(odd) = odd_schema(conn)? {
        return Ok((Vec::new(), vec![format!("it has {odd}")]));
    }
    let kinds: BTreeMap<String, String> = tables(conn)?.into_iter().collect();
    let mut keys = Vec::new();
    for (name, _) in kinds.iter().filter(|(_, kind)| *kind == "table") {
        keys.extend(foreign_keys(conn, name)?);
    }
    let mut written: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    written.retain(|name| kinds.contains_key(name));
    let there = written.clone();
    // A foreign key that acts makes our write a write to its table, too.
    let acts = |key: &&ForeignKey| key.on_update || (deletes && key.on_delete);
    while let Some(key) = keys
        .iter()
        .filter(acts)
        .find(|key| written.contains(&key.target) && !written.contains(&key.table))
    {
        written.push(key.table.clone());
    }
    let mut unfit = Vec::new();
    for name in &written {
        match kinds.get(name).map(String::as_str) {
            Some("table") => {}
            Some(kind) => unfit.push(format!("{name} is a {kind}, where a table is expected")),
            None => continue,
        }
        for key in keys
            .iter()
            .filter(|key| key.table == *name && there.contains(name))
        {
            if key.on_update || !there.contains(&key.target) {
                unfit.push(format!(
                    "table {name} has a foreign key to {} of its own",
                    key.target
                ));
            }
        }
        unfit.extend(odd_columns(conn, name)?);
    }
    for (row, object) in objects(conn)? {
        match object {
            None => unfit.push(format!("row {row} of sqlite_schema creates nothing")),
            Some(SchemaName {
                table,
                foreign: Some(what),
                ..
            }) => {
                let table = table.to_ascii_lowercase();
                if written.contains(&table) {
                    unfit.push(format!("table {table} has {what}"));
                }
            }
            Some(_) => {}
        }
    }
    Ok((there, unfit))
}

/// Returns the reason why a database is not shrunk: `VACUUM` makes every index of every table again, and so computes
/// their expressions.
///
/// # Errors
/// If the definitions of the tables and indexes cannot be read.
pub fn unfit_for_vacuum(conn: &Connection) -> Result<Option<Unfit>, DecodeError> {
    if let Some(odd) = odd_schema(conn)? {
        return Ok(Some(format!("it has {odd}")));
    }
    let computed = discover(conn)?
        .into_iter()
        .find(|found| !found.generated.is_empty());
    if let Some(found) = computed {
        return Ok(Some(format!(
            "table {} has a computed column",
            found.info.name
        )));
    }
    let index = objects(conn)?.into_iter().find_map(|(_, object)| {
        let object = object.filter(|object| object.kind == "index")?;
        Some(format!("table {} has {}", object.table, object.foreign?))
    });
    Ok(index)
}

/// Returns a description of a row in `sqlite_schema` that is not plain text; `None` if there is none. Such a row hides
/// schema code. Only `PRAGMA writable_schema` can write it, and no tool does that.
///
/// # Errors
/// If the table `sqlite_schema` cannot be read.
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

/// Returns the objects of a schema, each with its row. SQLite runs the text of a row, whatever its other columns
/// contain, so only the text is judged.
fn objects(conn: &Connection) -> Result<Vec<(i64, Option<SchemaName>)>, DecodeError> {
    let mut statement =
        conn.prepare_cached("SELECT rowid, sql FROM main.sqlite_schema WHERE sql <> ''")?;
    let mut rows = statement.query([])?;
    let mut objects = Vec::new();
    while let Some(row) = rows.next()? {
        objects.push((row.get(0)?, schema::judge(&lossy(row.get_ref(1)?))));
    }
    Ok(objects)
}

/// A foreign key; the names of tables are in lower case.
struct ForeignKey {
    table: String,
    target: String,
    /// Whether a change of the target's row changes the table's rows.
    on_update: bool,
    /// Whether a deletion of the target's row changes the table's rows.
    on_delete: bool,
}

fn foreign_keys(conn: &Connection, table: &str) -> Result<Vec<ForeignKey>, DecodeError> {
    let sql = format!("PRAGMA foreign_key_list({})", quoted(table));
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        // The columns: id, seq, table, from, to, on_update, on_delete, match.
        let acts = |at| -> rusqlite::Result<bool> {
            Ok(!["NO ACTION", "RESTRICT"].contains(&row.get_ref(at)?.as_str()?))
        };
        keys.push(ForeignKey {
            table: table.to_owned(),
            target: lossy(row.get_ref(2)?).to_ascii_lowercase(),
            on_update: acts(5)?,
            on_delete: acts(6)?,
        });
    }
    Ok(keys)
}

/// Returns the computed columns of a table, and those whose default is not allowed.
fn odd_columns(conn: &Connection, table: &str) -> Result<Vec<Unfit>, DecodeError> {
    let mut statement = conn.prepare(&format!("PRAGMA table_xinfo({})", quoted(table)))?;
    let mut rows = statement.query([])?;
    let mut unfit = Vec::new();
    while let Some(row) = rows.next()? {
        // The columns: cid, name, type, notnull, dflt_value, pk, hidden.
        let (name, default) = (lossy(row.get_ref(1)?), row.get_ref(4)?);
        if row.get::<_, i64>(6)? != 0 {
            unfit.push(format!("table {table} has a computed column, {name}"));
        } else if default != ValueRef::Null && !allows_default(&lossy(default)) {
            unfit.push(format!(
                "table {table} has a default that is computed, of column {name}"
            ));
        }
    }
    Ok(unfit)
}

/// Returns the triggers that keep the audit log append-only (errata G7) and are missing or altered.
///
/// # Errors
/// If SQLite cannot list the triggers.
pub(super) fn audit_triggers_gone(conn: &Connection) -> Result<Vec<&'static str>, DecodeError> {
    let mut statement =
        conn.prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")?;
    let mut rows = statement.query([])?;
    let mut there = Vec::new();
    while let Some(row) = rows.next()? {
        if let (ValueRef::Text(name), ValueRef::Text(sql)) = (row.get_ref(0)?, row.get_ref(1)?) {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            if schema::is_own_trigger(&name, &String::from_utf8_lossy(sql)) {
                there.push(name);
            }
        }
    }
    let triggers = schema::audit_triggers().map(|(name, _)| name);
    Ok(triggers
        .filter(|name| !there.iter().any(|there| there == name))
        .collect())
}
