//! Copies a database row by row into a new one. No page of the copy contains content that was deleted from the
//! original, or that is only in its journal.

use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement, ffi, params_from_iter};

use super::guard::{Guard, guard};
use super::shape::{discover, quoted};
use crate::model::database::{DecodeError, FoundTable, Value};
use crate::model::schema::WORKFLOWS_SQL;
use crate::model::schema::{GATES, STATE_SQL};

/// Decides which rows of the original are copied, and how they change.
pub trait Rebuild {
    /// Returns whether to copy a table.
    fn table(&mut self, table: &FoundTable) -> bool;

    /// Changes the cells of a row; returning `false` leaves the row out. `cells` has the table's columns, except those
    /// whose values are computed. The rows of `gates` come first; within a table, rows keep their order.
    fn row(&mut self, table: &FoundTable, cells: &mut Cells) -> bool;
}

/// Maximum number of suffixes tried for a row whose key is not unique.
const NUMBERS: usize = 1000;

/// A row's cells, each with its column's name.
pub type Cells = Vec<(String, Value<'static>)>;

/// The reason why a database could not be rebuilt.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// Reading the original failed.
    #[error("the table {table} cannot be read to its end: {cause}")]
    Read {
        /// The name of the table that could not be read to its end.
        table: String,
        /// SQLite's error.
        cause: rusqlite::Error,
    },
    /// Writing the new database failed.
    #[error(transparent)]
    Write(#[from] rusqlite::Error),
}

/// Guards a connection without limits of steps and memory. The usual limits would stop a full copy of a large database.
///
/// # Errors
/// If SQLite refuses a setting.
pub fn unbounded(conn: &mut Connection) -> Result<(), DecodeError> {
    let whole = Guard {
        steps: u64::MAX,
        heap: None,
        ..Guard::default()
    };
    guard(conn, whole)?;
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::MAX)?;
    Ok(())
}

/// Fills the empty database `to` with the tables and rows of the guarded database `from`, which is only read. If `to`
/// is `None`, rows are only passed to `rows`. A table defined exactly as `prosescope` defines it gets the same
/// constraints, indexes and triggers; any other table only gets its columns and key. Views, computed columns and tables
/// of extensions are left out.
///
/// # Errors
/// [`RebuildError`]. After an error, `to` is incomplete and must not be used.
pub fn rebuild(
    from: &Connection,
    to: Option<&Connection>,
    rows: &mut dyn Rebuild,
) -> Result<(), RebuildError> {
    let unread = |cause: rusqlite::Error| RebuildError::Read {
        table: "sqlite_schema".to_owned(),
        cause,
    };
    let ours = Ours::new()?;
    let mut tables = discover(from).map_err(|error| RebuildError::Read {
        table: "sqlite_schema".to_owned(),
        cause: rusqlite::Error::ToSqlConversionFailure(Box::new(error)),
    })?;
    // Gates come first, because the audit log contains hashes of their prompts.
    tables.sort_by_key(|table| !table.info.name.eq_ignore_ascii_case(GATES));
    if let Some(to) = to {
        // Durability is not needed: the copy is private until it is complete, and discarded after a crash. Rows that
        // violate a constraint are accepted, because the original contains them, too.
        to.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN;",
        )?;
    }
    let mut after = Vec::new();
    for table in &tables {
        if table.info.kind != "table" || !rows.table(table) {
            continue;
        }
        if let Some(to) = to {
            let sql = definition(from, &table.info.name).map_err(unread)?;
            match ours.objects(&table.info.name, &sql) {
                Some(objects) => {
                    to.execute_batch(&sql)?;
                    // Unique indexes are created before the rows. A row that repeats a key is then refused, and can be
                    // changed.
                    let is_unique = |sql: &String| sql.starts_with("CREATE UNIQUE INDEX");
                    let (unique, others): (Vec<_>, Vec<_>) =
                        objects.into_iter().partition(is_unique);
                    unique.iter().try_for_each(|sql| to.execute_batch(sql))?;
                    after.extend(others);
                }
                None => to.execute_batch(&plain(table))?,
            }
        }
        copy(from, to, table, rows)?;
    }
    if let Some(to) = to {
        for sql in after {
            to.execute_batch(&sql)?;
        }
        to.execute_batch("COMMIT")?;
    }
    Ok(())
}

/// An empty database in memory with the tables as `prosescope` creates them, for comparison.
struct Ours(Connection);

impl Ours {
    fn new() -> rusqlite::Result<Ours> {
        let conn = Connection::open_in_memory()?;
        conn.execute_batch(STATE_SQL)?;
        conn.execute_batch(WORKFLOWS_SQL)?;
        Ok(Ours(conn))
    }

    /// Returns the statements that create the indexes and triggers of a table. Returns `None` if `sql` is not the
    /// statement with which `prosescope` creates the table.
    fn objects(&self, table: &str, sql: &str) -> Option<Vec<String>> {
        if definition(&self.0, table).ok()? != sql {
            return None;
        }
        let list = "SELECT sql FROM sqlite_schema WHERE tbl_name = ?1 AND type <> 'table' AND sql IS NOT NULL";
        let mut list = self.0.prepare(list).ok()?;
        let listed = list.query_map([table], |row| row.get(0)).ok()?;
        listed.collect::<rusqlite::Result<_>>().ok()
    }
}

/// Returns the statement that created a table.
fn definition(conn: &Connection, table: &str) -> rusqlite::Result<String> {
    let sql = "SELECT CAST(coalesce(sql, '') AS BLOB) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    let bytes: Vec<u8> = conn.query_row(sql, [table], |row| row.get(0))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the definition of a table with the same columns and key, but without anything that runs code.
fn plain(table: &FoundTable) -> String {
    let stored = stored(table);
    let only = match table.key.as_slice() {
        [only] if !table.without_rowid => Some(only),
        _ => None,
    };
    let mut parts = Vec::new();
    let mut has_key = false;
    for column in &table.info.columns {
        if !stored.contains(&column.name.as_str()) {
            continue;
        }
        let declared = column
            .declared
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_'));
        let declared = if declared { &*column.declared } else { "" };
        let mut part = format!("{} {declared}", quoted(&column.name));
        // SQLite uses a single key column as the rowid only if it is declared `INTEGER PRIMARY KEY`.
        if only.is_some_and(|key| key.eq_ignore_ascii_case(&column.name))
            && declared.eq_ignore_ascii_case("INTEGER")
        {
            part.push_str(" PRIMARY KEY");
            has_key = true;
        }
        parts.push(part);
    }
    if !has_key && !table.key.is_empty() {
        let key: Vec<String> = table.key.iter().map(|column| quoted(column)).collect();
        parts.push(format!("PRIMARY KEY ({})", key.join(", ")));
    }
    format!(
        "CREATE TABLE {} ({}){}",
        quoted(&table.info.name),
        parts.join(", "),
        if table.without_rowid {
            " WITHOUT ROWID"
        } else {
            ""
        }
    )
}

/// Returns the columns that can be both read and written.
fn stored(table: &FoundTable) -> Vec<&str> {
    let mut stored = table.read_columns();
    stored.retain(|column| !table.generated.iter().any(|generated| generated == column));
    stored
}

fn copy(
    from: &Connection,
    to: Option<&Connection>,
    table: &FoundTable,
    rows: &mut dyn Rebuild,
) -> Result<(), RebuildError> {
    let unread = |cause: rusqlite::Error| RebuildError::Read {
        table: table.info.name.clone(),
        cause,
    };
    let columns = stored(table);
    if columns.is_empty() {
        return Ok(());
    }
    let name = quoted(&table.info.name);
    let list = |more: Option<&str>| -> Vec<String> {
        let all = columns.iter().copied().chain(more);
        all.map(quoted).collect()
    };
    let rowid = table.rowid_name();
    let written = list(rowid);
    let order = match rowid {
        Some(rowid) => format!(" ORDER BY {rowid}"),
        None => String::new(),
    };
    let asked = format!("SELECT {} FROM {name}{order}", written.join(", "));
    let marks = vec!["?"; written.len()].join(", ");
    let insert = to.map(|to| {
        to.prepare(&format!(
            "INSERT INTO {name} ({}) VALUES ({marks})",
            written.join(", ")
        ))
    });
    let mut insert = insert.transpose()?;
    let mut statement = from.prepare(&asked).map_err(unread)?;
    let mut read = statement.query([]).map_err(unread)?;
    let mut numbers = 1;
    while let Some(row) = read.next().map_err(unread)? {
        let mut cells = Cells::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            let value = Value::from(row.get_ref(at).map_err(unread)?);
            cells.push(((*column).to_owned(), value.into_owned()));
        }
        let stays = rows.row(table, &mut cells);
        let Some(insert) = insert.as_mut().filter(|_| stays) else {
            continue;
        };
        let mut values: Vec<Value<'static>> = cells.into_iter().map(|(_, value)| value).collect();
        if rowid.is_some() {
            let place = row.get_ref(columns.len()).map_err(unread)?;
            values.push(Value::from(place).into_owned());
        }
        match insert.execute(params_from_iter(&values)) {
            Err(refused) if is_repeated(&refused) => {
                let is_changed = |at: usize| {
                    let before = row.get_ref(at).map(Value::from);
                    before.is_ok_and(|before| Some(&before) != values.get(at))
                };
                let mut texts: Vec<usize> = (0..columns.len()).collect();
                texts.retain(|at| values.get(*at).is_some_and(|v| !v.bytes().is_empty()));
                texts.sort_by_key(|at| !is_changed(*at));
                add_numbered(insert, &values, &texts, &mut numbers, refused)?;
            }
            added => {
                added?;
            }
        }
    }
    Ok(())
}

/// Adds a row whose key is taken, by appending a number to one of its texts: `name (2)`. Keys may become equal when
/// parts of them are redacted. `texts` lists the indexes of the cells to try, `last` is the last number used, and
/// `refused` is the error of the first attempt.
fn add_numbered(
    insert: &mut Statement<'_>,
    values: &[Value<'static>],
    texts: &[usize],
    last: &mut u64,
    mut refused: rusqlite::Error,
) -> rusqlite::Result<()> {
    for _ in 0..NUMBERS {
        *last += 1;
        for at in texts {
            let mut numbered = values.to_vec();
            if let Some(value) = numbered.get_mut(*at) {
                *value = with_number(value, *last);
            }
            match insert.execute(params_from_iter(numbered)) {
                Err(error) if is_repeated(&error) => refused = error,
                added => return added.map(|_| ()),
            }
        }
    }
    Err(refused)
}

fn is_repeated(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
    )
}

/// Returns a text with a number appended.
fn with_number(value: &Value<'_>, number: u64) -> Value<'static> {
    let mut bytes = value.bytes().to_vec();
    bytes.extend_from_slice(format!(" ({number})").as_bytes());
    match value.as_text() {
        Some(_) => Value::text(&String::from_utf8_lossy(&bytes)),
        None => Value::Blob(bytes.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Redacting;

    impl Rebuild for Redacting {
        fn table(&mut self, table: &FoundTable) -> bool {
            table.info.name != "gone"
        }

        fn row(&mut self, _: &FoundTable, cells: &mut Cells) -> bool {
            for (_, cell) in cells.iter_mut() {
                if let Some(text) = cell.as_text() {
                    *cell = Value::text(&text.replace("secret", "[x]"));
                }
            }
            !matches!(cells.first(), Some((_, Value::Integer(13))))
        }
    }

    #[test]
    fn rows_are_copied_and_nothing_else_of_the_file_is() {
        let from = Connection::open_in_memory().unwrap();
        from.execute_batch(STATE_SQL).unwrap();
        from.execute_batch(
            "INSERT INTO run (id, status) VALUES ('r', 'completed');
             INSERT INTO bindings (name, kind, value) VALUES ('a', 'let', 'a secret');
             INSERT INTO gate_audit_log (gate_id, run_id, event_type) VALUES ('g', 'r', 'created');
             CREATE TABLE odd (n INTEGER PRIMARY KEY, t TEXT DEFAULT 'secret', b BLOB, c AS (n + 1));
             INSERT INTO odd (n, t, b) VALUES (7, NULL, x'00ff'), (13, 'left out', NULL);
             CREATE TABLE keyed (k TEXT, l TEXT, PRIMARY KEY (l, k)) WITHOUT ROWID;
             INSERT INTO keyed VALUES ('1', 'secret'), ('2', 'b');
             CREATE TABLE gone (x); INSERT INTO gone VALUES ('secret');
             CREATE TABLE notes (k TEXT PRIMARY KEY, n INTEGER);
             INSERT INTO notes VALUES ('secret', 1), ('[x]', 2), ('secret (2)', 3), ('[x] (2)', 4);
             INSERT INTO bindings (name, kind) VALUES ('[x]', 'let'), ('secret', 'let');
             CREATE VIEW seen AS SELECT 'secret';
             CREATE TRIGGER acts AFTER INSERT ON odd BEGIN SELECT 'secret'; END;",
        )
        .unwrap();
        let to = Connection::open_in_memory().unwrap();
        rebuild(&from, Some(&to), &mut Redacting).unwrap();
        let all = |sql: &str| -> Vec<String> {
            let mut all = to.prepare(sql).unwrap();
            let all = all.query_map([], |row| row.get(0)).unwrap();
            all.map(Result::unwrap).collect()
        };
        assert_eq!(
            all("SELECT value FROM bindings WHERE name = 'a'"),
            ["a [x]"]
        );
        assert_eq!(
            all("SELECT concat_ws(' ', n, t, hex(b)) FROM odd"),
            ["7 00FF"]
        );
        assert_eq!(all("SELECT l || k FROM keyed"), ["[x]1", "b2"]);
        // Keys that differed in the original also differ in the copy.
        assert_eq!(
            all("SELECT k FROM notes ORDER BY n"),
            ["[x]", "[x] (2)", "[x] (2) (3)", "[x] (2) (4)"]
        );
        assert_eq!(
            all("SELECT name FROM bindings WHERE kind = 'let' ORDER BY rowid"),
            ["a", "[x]", "[x] (2)"]
        );
        assert!(to.execute("DELETE FROM gate_audit_log", []).is_err());
        let mut to = to;
        let bytes = to.serialize(rusqlite::MAIN_DB).unwrap().to_vec();
        let held = String::from_utf8_lossy(&bytes);
        assert!(!held.contains("secret") && !held.contains("acts"), "{held}");
    }
}
