//! Copies the rows of a damaged database, one by one, into a new database with the correct schema.

use std::collections::BTreeMap;

use rusqlite::{Connection, ErrorCode, params, params_from_iter};

use super::{MadeRepair, PlacedRow, REPAIRED, Repair, RepairNote, RepairedRow, UNPLACED, as_json};
use crate::model::database::Value;
use crate::model::schema::{STATE_SQL, TABLES, known_column, known_table};
use crate::model::{ColumnInfo, TableInfo};
use crate::read::sqlite::quoted;

/// Fills the empty database `to` with the repaired rows of `from`. The connection `from` is guarded and only read.
/// Returns the repairs, by rule.
///
/// # Errors
/// Any error of SQLite about `to`. If a table of `from` is damaged, its remaining rows are left out, and a repair
/// records that. If the system refuses a read, that error is returned.
pub fn copy_repaired(
    from: &Connection,
    to: &Connection,
    tables: &[TableInfo],
    repair: &Repair,
) -> rusqlite::Result<Vec<MadeRepair>> {
    let mut copy = Copy {
        conn: to,
        repair,
        done: BTreeMap::new(),
    };
    copy.copy_all(from, tables)?;
    let done = copy.done.into_iter();
    Ok(done
        .map(|((rule, did), count)| MadeRepair { rule, did, count })
        .collect())
}

struct Copy<'a> {
    conn: &'a Connection,
    repair: &'a Repair,
    /// The number of times that each repair was made, by rule and description.
    done: BTreeMap<(String, String), u64>,
}

impl Copy<'_> {
    fn note_repair(&mut self, rule: &str, did: String) {
        *self.done.entry((rule.to_owned(), did)).or_default() += 1;
    }

    fn copy_all(&mut self, from: &Connection, tables: &[TableInfo]) -> rusqlite::Result<()> {
        // Foreign keys are off because rows are copied unchanged, even those with dangling references.
        self.conn
            .execute_batch("PRAGMA foreign_keys = OFF; BEGIN;")?;
        self.conn.execute_batch(STATE_SQL)?;
        self.conn.execute_batch(&format!(
            "CREATE TABLE {REPAIRED} (id INTEGER PRIMARY KEY, at TEXT DEFAULT (datetime('now')), rule TEXT,
                                      table_name TEXT, row_id INTEGER, column_name TEXT, before, after);
             CREATE TABLE {UNPLACED} (id INTEGER PRIMARY KEY, table_name TEXT, row_id INTEGER, reason TEXT, row TEXT);"
        ))?;
        for spec in TABLES {
            let exists = tables
                .iter()
                .any(|table| table.name.eq_ignore_ascii_case(spec.name) && table.kind == "table");
            if !exists && spec.earlier {
                self.note_repair("missing-table", format!("made the table {}", spec.name));
            }
        }
        for table in tables {
            self.table(from, table)?;
        }
        let runs = self
            .conn
            .query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0))?;
        if runs == 0 {
            self.place(self.repair.missing_run())?;
        }
        self.beside_tables(from)?;
        self.agents_of_segments()?;
        self.sequences(from)?;
        for table in [REPAIRED, UNPLACED] {
            let rows: i64 =
                self.conn
                    .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                        row.get(0)
                    })?;
            if rows == 0 {
                self.conn.execute_batch(&format!("DROP TABLE {table}"))?;
            }
        }
        self.conn.execute_batch("COMMIT")
    }

    fn table(&mut self, from: &Connection, table: &TableInfo) -> rusqlite::Result<()> {
        let name = &table.name;
        if name.to_ascii_lowercase().starts_with("sqlite_") {
            return Ok(());
        }
        if table.kind != "table" {
            let what = format!("left out the {} {name}: only tables are copied", table.kind);
            self.note_repair("table-not-read", what);
            return Ok(());
        }
        self.shape(table)?;
        let damage = |error: &rusqlite::Error| {
            format!(
                "copied only the rows of {name} before the place where the file is damaged: {error}"
            )
        };
        let read =
            reading(from, name).and_then(|(columns, sql)| Ok((columns, from.prepare(&sql)?)));
        let (columns, mut statement) = match read {
            Ok(read) => read,
            Err(error) if is_read_failure(&error) => return Err(error),
            Err(error) => {
                self.note_repair("table-damaged", damage(&error));
                return Ok(());
            }
        };
        // Columns that the original lacks are set to NULL. The schema's defaults would record false facts, such as the
        // present time or the status running.
        let mut absent = columns_of(self.conn, name)?;
        absent.retain(|column| !columns.iter().any(|own| own.eq_ignore_ascii_case(column)));
        let mut rows = statement.query([])?;
        let mut nth = 0;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(()),
                Err(error) if is_read_failure(&error) => return Err(error),
                Err(error) => {
                    self.note_repair("table-damaged", damage(&error));
                    return Ok(());
                }
            };
            nth += 1;
            let mut cells = Vec::with_capacity(columns.len());
            for (at, column) in columns.iter().enumerate() {
                cells.push((
                    column.clone(),
                    Value::from(row.get_ref(at + 1)?).into_owned(),
                ));
            }
            for column in &absent {
                cells.push((column.clone(), Value::Null));
            }
            let rowid = row.get::<_, Option<i64>>(0)?.unwrap_or(nth);
            let placed = self.repair.row(name, RepairedRow { rowid, cells });
            self.place(placed)?;
        }
    }

    /// Reports the indexes and triggers of the original that the copy lacks: other programs' triggers would run code on
    /// each write. Also reports whether the copy restores triggers that protect the audit log.
    fn beside_tables(&mut self, from: &Connection) -> rusqlite::Result<()> {
        let listed = |conn: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
            let sql = "SELECT type, name FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL";
            let mut rows = conn.prepare(sql)?;
            rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let ours = listed(self.conn)?;
        // If the damaged schema cannot be read, nothing is reported.
        let theirs = listed(from).unwrap_or_default();
        let log = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND lower(name) = 'gate_audit_log'";
        let has_log = from
            .query_row(log, [], |row| row.get::<_, i64>(0))
            .unwrap_or_default()
            > 0;
        let guard = |object: &&(String, String)| object.0 == "trigger";
        if has_log
            && ours
                .iter()
                .filter(guard)
                .any(|guard| !theirs.contains(guard))
        {
            let did = "created the triggers that protect the audit log against changes";
            self.note_repair("audit-unguarded", did.to_owned());
        }
        for (kind, name) in theirs.iter().filter(|object| !ours.contains(object)) {
            self.note_repair(
                "",
                format!("left out the {kind} {name}: only tables and their rows are copied"),
            );
        }
        Ok(())
    }

    /// Creates a table of the original in the copy. If the copy has the table already, adds the columns that the copy
    /// lacks.
    fn shape(&mut self, table: &TableInfo) -> rusqlite::Result<()> {
        let name = quoted(&table.name);
        let spelled = |column: &ColumnInfo| {
            let declared = declared(&column.declared);
            format!("{} {declared}", quoted(&column.name))
        };
        let existing = columns_of(self.conn, &table.name)?;
        // An empty list means that the copy lacks the table, because every table has columns.
        if existing.is_empty() {
            let columns: Vec<String> = table.columns.iter().map(spelled).collect();
            let columns = columns.join(", ");
            let sql = format!("CREATE TABLE {name} ({columns})");
            return self.conn.execute_batch(&sql);
        }
        for column in &table.columns {
            if !existing
                .iter()
                .any(|own| own.eq_ignore_ascii_case(&column.name))
            {
                let sql = format!("ALTER TABLE {name} ADD COLUMN {}", spelled(column));
                self.conn.execute_batch(&sql)?;
            }
        }
        let is_given = |own: &str| {
            let mut given = table.columns.iter();
            given.any(|column| column.name.eq_ignore_ascii_case(own))
        };
        let known = existing.iter().filter(|own| known_column(&table.name, own));
        let missing: Vec<&str> = known
            .map(String::as_str)
            .filter(|own| !is_given(own))
            .collect();
        if known_table(&table.name) && !missing.is_empty() {
            let what = format!(
                "added the missing columns {} to the table {}",
                missing.join(", "),
                table.name
            );
            self.note_repair("missing-column", what);
        }
        Ok(())
    }

    fn place(&mut self, placed: PlacedRow) -> rusqlite::Result<()> {
        let PlacedRow {
            table,
            mut row,
            notes,
        } = placed;
        let moved = notes
            .iter()
            .any(|note| !note.table.eq_ignore_ascii_case(&table));
        let mut inserted = insert(self.conn, &table, &row, moved);
        if is_constraint_error(&inserted) && table.eq_ignore_ascii_case("gates") {
            // The id is taken if the run reached the same gate twice. The second gate then gets a new id, such as
            // `deploy#2` (errata G1).
            let id = row
                .get("id")
                .and_then(|id| id.as_text().map(str::to_owned))
                .unwrap_or_default();
            for visit in 2..=100 {
                let again = Value::text(&format!("{id}#{visit}"));
                if let Some((_, cell)) = row
                    .cells
                    .iter_mut()
                    .find(|(name, _)| name.eq_ignore_ascii_case("id"))
                {
                    *cell = again;
                }
                inserted = insert(self.conn, &table, &row, moved);
                if !is_constraint_error(&inserted) {
                    self.note_repair(
                        "gate-twice",
                        format!("renamed the repeated gate {id} to {id}#{visit}"),
                    );
                    break;
                }
            }
        }
        match inserted {
            Err(error) if is_constraint(&error) => {
                self.conn.execute(
                    &format!("INSERT INTO {UNPLACED} (table_name, row_id, reason, row) VALUES (?1, ?2, ?3, ?4)"),
                    params![table, row.rowid, error.to_string(), as_json(&row)],
                )?;
                self.note_repair(
                    "",
                    format!(
                        "put a row that does not fit into {table} into {UNPLACED} instead: {error}"
                    ),
                );
                return Ok(());
            }
            other => other?,
        }
        for note in notes {
            self.note(&note)?;
        }
        Ok(())
    }

    fn note(&mut self, note: &RepairNote) -> rusqlite::Result<()> {
        self.note_repair(note.rule, note.did.to_owned());
        self.conn.execute(
            &format!(
                "INSERT INTO {REPAIRED} (rule, table_name, row_id, column_name, before, after) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
            ),
            params![note.rule, note.table, note.row, note.column, note.before, note.after],
        )?;
        Ok(())
    }

    /// Creates agents that segments refer to but that have no row (errata A1).
    fn agents_of_segments(&mut self) -> rusqlite::Result<()> {
        let made = self.conn.execute(
            "INSERT INTO agents (name, scope, created_at, updated_at)
             SELECT DISTINCT agent_name, 'execution', NULL, NULL FROM agent_segments
             WHERE agent_name IS NOT NULL AND agent_name NOT IN (SELECT name FROM agents WHERE name IS NOT NULL)",
            [],
        )?;
        for _ in 0..made {
            self.note_repair(
                "segment-without-agent",
                "added the missing row of an agent that has segments".to_owned(),
            );
        }
        Ok(())
    }

    /// Copies the counters of `AUTOINCREMENT` ids, so that ids of deleted rows are not used again. This matters most in
    /// the audit log.
    fn sequences(&mut self, from: &Connection) -> rusqlite::Result<()> {
        let read = || -> rusqlite::Result<Vec<(String, i64)>> {
            let mut rows = from.prepare("SELECT name, seq FROM sqlite_sequence")?;
            rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        for (name, seq) in read().unwrap_or_default() {
            self.conn.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
                params![name, seq],
            )?;
        }
        Ok(())
    }
}

/// Returns whether the system refused a read. The copy must then fail: the rows may be intact, and an incomplete copy
/// would lose them.
fn is_read_failure(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
        )
    )
}

fn is_constraint_error(inserted: &rusqlite::Result<()>) -> bool {
    inserted.as_ref().is_err_and(is_constraint)
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

fn insert(conn: &Connection, table: &str, row: &RepairedRow, moved: bool) -> rusqlite::Result<()> {
    let mut columns: Vec<String> = row.cells.iter().map(|(name, _)| quoted(name)).collect();
    let mut values: Vec<&dyn rusqlite::ToSql> = row
        .cells
        .iter()
        .map(|(_, cell)| cell as &dyn rusqlite::ToSql)
        .collect();
    // The rowid is copied, because it decides which of two rows with the same key counts: the later one. It is not set
    // again if the column `id` is the rowid.
    let has = |column: &str| {
        row.cells
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(column))
    };
    let table_name = table.to_ascii_lowercase();
    let by_id = ["execution", "agent_segments", "gate_audit_log"].contains(&&*table_name)
        || table_name.starts_with("x_");
    let placed_by_id = by_id && has("id");
    if !(moved || has("rowid") || placed_by_id) {
        columns.push("rowid".to_owned());
        values.push(&row.rowid);
    }
    let marks: Vec<&str> = columns.iter().map(|_| "?").collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        quoted(table),
        columns.join(", "),
        marks.join(", ")
    );
    conn.prepare_cached(&sql)?
        .execute(params_from_iter(values))?;
    Ok(())
}

/// Returns the columns of a table of the damaged database, and a query for its rows in the order in which they were
/// written. The query's first column is the rowid.
fn reading(from: &Connection, table: &str) -> rusqlite::Result<(Vec<String>, String)> {
    let columns = columns_of(from, table)?;
    let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
    let (list, name) = (list.join(", "), quoted(table));
    let rowid = ["_rowid_", "rowid", "oid"].into_iter().find(|alias| {
        !columns
            .iter()
            .any(|column| column.eq_ignore_ascii_case(alias))
    });
    let by_rowid =
        rowid.map(|rowid| format!("SELECT {rowid}, {list} FROM {name} ORDER BY {rowid}"));
    let sql = match by_rowid.filter(|sql| from.prepare(sql).is_ok()) {
        Some(sql) => sql,
        // Tables without rowids and views have no rowid, so NULL takes its place.
        None => format!("SELECT NULL, {list} FROM {name}"),
    };
    Ok((columns, sql))
}

/// Returns the stored columns of a table. Computed columns are omitted, because reading one would run the file's code.
fn columns_of(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut info = conn.prepare(&format!("PRAGMA table_xinfo({})", quoted(table)))?;
    let listed: Vec<(String, i64)> = info
        .query_map([], |row| Ok((row.get(1)?, row.get(6)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let stored = listed.into_iter().filter(|(_, hidden)| *hidden == 0);
    Ok(stored.map(|(name, _)| name).collect())
}

/// Returns a column's declared type if it has only letters, digits, blanks and `_`, otherwise an empty string. The type
/// comes from an untrusted file and becomes part of a statement.
fn declared(declared: &str) -> &str {
    let plain = declared
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_'));
    if plain { declared } else { "" }
}
