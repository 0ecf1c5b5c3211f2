//! A repaired copy of a run that is a database: a new file of the corrected schema, filled row by row with what the
//! core says each row is to be. The run itself is only read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::decode::sqlite::{Guard, guard};
use prosescope_core::model::TableInfo;
use prosescope_core::repair::{
    Cell, Done, Note, Placed, REPAIRED, Repair, Row, UNPLACED, as_json, stale_state_file,
};
use prosescope_core::schema::{STATE_SQL, known_column, known_table};
use prosescope_core::session::{Options, Session};
use prosescope_core::source::{Source, SourceError};
use prosescope_core::write::{Fault, FaultKind};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params, params_from_iter};

use crate::Disk;
use crate::record::{connect, fault, sync_dir};

/// What a copy is made of.
pub struct Damaged<'a> {
    /// The files that the run lies in.
    pub disk: &'a Disk,
    /// The run's folder in it, ending in `/`, or empty.
    pub root: &'a str,
    /// The database in it.
    pub database: &'a str,
    /// Whether the other files of the folder belong to the run, and are copied.
    pub with_files: bool,
    /// Its tables.
    pub tables: &'a [TableInfo],
    /// What the rows are to be.
    pub repair: &'a Repair,
}

/// Writes a repaired copy as a new folder, whole or not at all.
///
/// # Errors
/// A [`Fault`]; then nothing is there.
pub fn write_repaired(damaged: &Damaged<'_>, to: &Path) -> Result<Vec<Done>, Fault> {
    let mut done = Vec::new();
    new_folder(to, |dir| {
        if damaged.with_files {
            copy_files(damaged.disk, damaged.root, damaged.database, dir)?;
        }
        done = database(damaged, &dir.join("state.db"))?;
        done.extend(state_file(dir)?);
        Ok(())
    })?;
    Ok(done)
}

/// Writes the state file beside the new database anew, where the rows contradict it.
fn state_file(dir: &Path) -> Result<Option<Done>, Fault> {
    let damaged = |error: String| Fault::new(FaultKind::Damaged, error);
    let disk = Disk::open(dir).map_err(|error| damaged(error.to_string()))?;
    let session = Session::open(Rc::new(disk), "", &Options::default())
        .map_err(|error| damaged(error.to_string()))?;
    let Some((path, text)) = stale_state_file(&session) else {
        return Ok(None);
    };
    let write = || {
        let history = dir.join("x_history");
        fs::create_dir_all(&history)?;
        fs::rename(dir.join(&path), history.join(&path))?;
        let mut file = fs::File::create(dir.join(&path))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|cause| fault::io(&dir.join(&path), "cannot be written", &cause))?;
    Ok(Some(Done {
        rule: "state-file-contradicts-rows".to_owned(),
        did: format!("rendered {path} from the rows; what it was lies in x_history"),
        count: 1,
    }))
}

/// Makes a folder, whole or not at all: under another name first.
pub(crate) fn new_folder(
    to: &Path,
    fill: impl FnOnce(&Path) -> Result<(), Fault>,
) -> Result<(), Fault> {
    if fs::symlink_metadata(to).is_ok() {
        let message = format!("{} is there already", to.display());
        return Err(Fault::new(FaultKind::Io, message).hint("take another --out"));
    }
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let wrong = |cause: &std::io::Error| fault::io(to, "cannot be made", cause);
    fs::create_dir_all(parent).map_err(|cause| wrong(&cause))?;
    // A name that no list of runs shows; it goes again when anything fails.
    let aside = tempfile::Builder::new()
        .prefix(".trash-new-")
        .tempdir_in(parent)
        .map_err(|cause| wrong(&cause))?;
    fill(aside.path())?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let shared = fs::Permissions::from_mode(0o755);
        fs::set_permissions(aside.path(), shared).map_err(|cause| wrong(&cause))?;
    }
    sync_dir(aside.path()).map_err(|cause| wrong(&cause))?;
    let kept = aside.keep();
    if let Err(cause) = fs::rename(&kept, to) {
        let _ = fs::remove_dir_all(&kept);
        return Err(wrong(&cause));
    }
    sync_dir(parent).map_err(|cause| wrong(&cause))
}

/// The run's other files, as they are; links, pipes and devices are none.
pub(crate) fn copy_files(disk: &Disk, root: &str, database: &str, dir: &Path) -> Result<(), Fault> {
    for file in disk.below(root) {
        let inside = file.path.strip_prefix(root).unwrap_or(&file.path);
        let of_database = file
            .path
            .strip_prefix(database)
            .is_some_and(|end| matches!(end, "" | "-wal" | "-shm" | "-journal"));
        if of_database || inside == crate::record::LOCK {
            continue;
        }
        let from = disk.path_of(&file.path);
        let to = dir.join(inside);
        let copy = || {
            fs::create_dir_all(to.parent().unwrap_or(dir))?;
            fs::copy(&from, &to)?;
            fs::File::open(&to)?.sync_all()
        };
        copy().map_err(|cause| fault::io(&from, "cannot be copied", &cause))?;
    }
    Ok(())
}

fn database(damaged: &Damaged<'_>, to: &Path) -> Result<Vec<Done>, Fault> {
    let from = open(damaged)?;
    let conn = connect(
        to,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    let mut copy = Copy {
        conn,
        repair: damaged.repair,
        done: BTreeMap::new(),
    };
    copy.whole(&from, damaged.tables)
        .map_err(|error| fault::sqlite(to, &error))?;
    Ok(copy
        .done
        .into_iter()
        .map(|((rule, did), count)| Done { rule, did, count })
        .collect())
}

fn open(damaged: &Damaged<'_>) -> Result<Connection, Fault> {
    let unreadable = |message: String| Fault::new(FaultKind::Damaged, message);
    let mut from = damaged
        .disk
        .database(damaged.database)
        .map_err(|error| match error {
            SourceError::Database { path, cause, next } => {
                unreadable(format!("{path}: {cause}")).hint(next)
            }
            other => unreadable(other.to_string()),
        })?;
    guard(&mut from, Guard::default()).map_err(|error| unreadable(error.to_string()))?;
    // A value is copied whole, however long.
    from.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::MAX)
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(from)
}

struct Copy<'a> {
    conn: Connection,
    repair: &'a Repair,
    /// By rule and what was done: how often.
    done: BTreeMap<(String, String), u64>,
}

impl Copy<'_> {
    fn did(&mut self, rule: &str, did: String) {
        *self.done.entry((rule.to_owned(), did)).or_default() += 1;
    }

    fn whole(&mut self, from: &Connection, tables: &[TableInfo]) -> rusqlite::Result<()> {
        // Rows are carried as they are: also those that refer to nothing.
        self.conn
            .execute_batch("PRAGMA foreign_keys = OFF; BEGIN;")?;
        self.conn.execute_batch(STATE_SQL)?;
        self.conn.execute_batch(&format!(
            "CREATE TABLE {REPAIRED} (id INTEGER PRIMARY KEY, at TEXT DEFAULT (datetime('now')), rule TEXT,
                                      table_name TEXT, row_id INTEGER, column_name TEXT, before, after);
             CREATE TABLE {UNPLACED} (id INTEGER PRIMARY KEY, table_name TEXT, row_id INTEGER, reason TEXT, row TEXT);"
        ))?;
        for spec in prosescope_core::schema::TABLES {
            let there = tables
                .iter()
                .any(|table| table.name.eq_ignore_ascii_case(spec.name) && table.kind == "table");
            if !there && spec.earlier {
                self.did("missing-table", format!("made the table {}", spec.name));
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
            self.did("table-not-read", what);
            return Ok(());
        }
        self.shape(table)?;
        let damage = |error: &rusqlite::Error| {
            format!("{name} is cut off where the file is damaged: {error}")
        };
        let read =
            reading(from, name).and_then(|(columns, sql)| Ok((columns, from.prepare(&sql)?)));
        let (columns, mut statement) = match read {
            Ok(read) => read,
            Err(error) => {
                self.did("table-damaged", damage(&error));
                return Ok(());
            }
        };
        // A default would claim what nothing recorded: that it was made now, that it runs.
        let mut absent = columns_of(&self.conn, name)?;
        absent.retain(|column| !columns.iter().any(|own| own.eq_ignore_ascii_case(column)));
        let mut rows = statement.query([])?;
        let mut nth = 0;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.did("table-damaged", damage(&error));
                    return Ok(());
                }
            };
            nth += 1;
            let mut cells = Vec::with_capacity(columns.len());
            for (at, column) in columns.iter().enumerate() {
                cells.push((column.clone(), row.get_ref(at + 1)?.into()));
            }
            for column in &absent {
                cells.push((column.clone(), Cell::Null));
            }
            let rowid = row.get::<_, Option<i64>>(0)?.unwrap_or(nth);
            let placed = self.repair.row(name, Row { rowid, cells });
            self.place(placed)?;
        }
    }

    /// Makes the table, or its further columns.
    fn shape(&mut self, table: &TableInfo) -> rusqlite::Result<()> {
        let name = quoted(&table.name);
        let columns: Vec<_> = table.columns.iter().collect();
        let exists: bool = self.conn.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE lower(name) = lower(?1)",
            [&table.name],
            |row| row.get(0),
        )?;
        if !exists {
            let columns: Vec<String> = columns
                .iter()
                .map(|column| format!("{} {}", quoted(&column.name), declared(&column.declared)))
                .collect();
            return self
                .conn
                .execute_batch(&format!("CREATE TABLE {name} ({})", columns.join(", ")));
        }
        let there = columns_of(&self.conn, &table.name)?;
        for column in &columns {
            if !there.contains(&column.name.to_lowercase()) {
                self.conn.execute_batch(&format!(
                    "ALTER TABLE {name} ADD COLUMN {} {}",
                    quoted(&column.name),
                    declared(&column.declared)
                ))?;
            }
        }
        if known_table(&table.name) {
            let missing = there
                .iter()
                .filter(|name| known_column(&table.name, name))
                .filter(|name| {
                    !columns
                        .iter()
                        .any(|column| column.name.eq_ignore_ascii_case(name))
                });
            let missing: Vec<&str> = missing.map(String::as_str).collect();
            if !missing.is_empty() {
                let what = format!("made the columns {} of {}", missing.join(", "), table.name);
                self.did("missing-column", what);
            }
        }
        Ok(())
    }

    fn place(&mut self, placed: Placed) -> rusqlite::Result<()> {
        let Placed {
            table,
            mut row,
            notes,
        } = placed;
        let moved = notes
            .iter()
            .any(|note| !note.table.eq_ignore_ascii_case(&table));
        let mut inserted = insert(&self.conn, &table, &row, moved);
        if refused(&inserted) && table.eq_ignore_ascii_case("gates") {
            // G1: the same gate again.
            let id = row
                .get("id")
                .and_then(|id| id.as_text().map(str::to_owned))
                .unwrap_or_default();
            for visit in 2..=100 {
                let again = Cell::text(&format!("{id}#{visit}"));
                if let Some((_, cell)) = row
                    .cells
                    .iter_mut()
                    .find(|(name, _)| name.eq_ignore_ascii_case("id"))
                {
                    *cell = again;
                }
                inserted = insert(&self.conn, &table, &row, moved);
                if !refused(&inserted) {
                    self.did(
                        "gate-twice",
                        format!("named the gate {id} that is met again {id}#{visit}"),
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
                self.did("", format!("kept a row of {table} in {UNPLACED}: {error}"));
                return Ok(());
            }
            other => other?,
        }
        for note in notes {
            self.note(&note)?;
        }
        Ok(())
    }

    fn note(&mut self, note: &Note) -> rusqlite::Result<()> {
        self.did(note.rule, note.did.to_owned());
        self.conn.execute(
            &format!(
                "INSERT INTO {REPAIRED} (rule, table_name, row_id, column_name, before, after) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
            ),
            params![note.rule, note.table, note.row, note.column, note.before, note.after],
        )?;
        Ok(())
    }

    /// A1: the agent is there before its segments name it.
    fn agents_of_segments(&mut self) -> rusqlite::Result<()> {
        let made = self.conn.execute(
            "INSERT INTO agents (name, scope, created_at, updated_at)
             SELECT DISTINCT agent_name, 'execution', NULL, NULL FROM agent_segments
             WHERE agent_name IS NOT NULL AND agent_name NOT IN (SELECT name FROM agents WHERE name IS NOT NULL)",
            [],
        )?;
        for _ in 0..made {
            self.did(
                "segment-without-agent",
                "made the row of an agent that has segments".to_owned(),
            );
        }
        Ok(())
    }

    /// Ids that were given once are not given again (the audit log's above all).
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

fn refused(inserted: &rusqlite::Result<()>) -> bool {
    inserted.as_ref().is_err_and(is_constraint)
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

fn insert(conn: &Connection, table: &str, row: &Row, moved: bool) -> rusqlite::Result<()> {
    let mut columns: Vec<String> = row.cells.iter().map(|(name, _)| quoted(name)).collect();
    let mut values: Vec<&dyn rusqlite::ToSql> = row
        .cells
        .iter()
        .map(|(_, cell)| cell as &dyn rusqlite::ToSql)
        .collect();
    // The place in the table is kept: of two rows the later one counts. Where the id is the place, it says so.
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

/// How to read the rows of a table of the damaged database, in the order in which they came: the columns, and the
/// query, whose first value is the rowid.
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
        // A table without rowids, or with a view's name.
        None => format!("SELECT NULL, {list} FROM {name}"),
    };
    Ok((columns, sql))
}

/// The stored columns of a table: what is computed is never asked for.
fn columns_of(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut info = conn.prepare(&format!("PRAGMA table_xinfo({})", quoted(table)))?;
    let listed: Vec<(String, i64)> = info
        .query_map([], |row| Ok((row.get(1)?, row.get(6)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let stored = listed.into_iter().filter(|(_, hidden)| *hidden == 0);
    Ok(stored.map(|(name, _)| name).collect())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A declared type, when it is one: the file chose it.
fn declared(declared: &str) -> &str {
    let plain = declared
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_'));
    if plain { declared } else { "" }
}
