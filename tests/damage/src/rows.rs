//! Damages the content of rows: wrong types, missing or duplicate rows, invalid parents.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::dice::Dice;

const TABLES: [&str; 8] = [
    "run",
    "execution",
    "bindings",
    "agents",
    "agent_segments",
    "imports",
    "gates",
    "gate_audit_log",
];

/// Texts with which readers often have problems.
const TEXTS: [&str; 40] = [
    "",
    " ",
    "null",
    "-1",
    "1e999",
    "0x10",
    "9223372036854775808",
    "2026-13-45 99:99:99",
    "2026-01-15T14:30:52+99:00",
    "-4713-11-24 12:00:00",
    "9999-12-31T23:59:59Z",
    "{\"a\": ",
    "[]",
    "{\"parallel_id\": {\"a\": 1}, \"branch\": null, \"iteration\": \"x\"}",
    "{\"loop_id\": \"l1\", \"iteration\": 9223372036854775807, \"max\": -1}",
    "{\"parallel_id\": \"p1\", \"branches\": [[[]]]}",
    "{\"iteration\": 1e400}",
    "started",
    "joined",
    "iteration",
    "exited",
    "retry",
    "executing",
    "waiting",
    "parallel:",
    "loop until **x** (max: 99999999999999999999):",
    "repeat 18446744073709551616:",
    "block a(b, c) (max_depth: -1):",
    "try:",
    "session \"",
    "session \"\"\"\n\n\"\"\"",
    "a = b = c = session: d",
    "\u{202e}gnp.exe\u{202c}",
    "\u{1b}]0;title\u{7}\u{1b}[2J",
    "<script>alert(1)</script>",
    "x__43",
    "../../etc/passwd",
    "C:\\Windows\\win.ini",
    "e\u{301}\u{301}\u{301}\u{301}",
    "---\n# run:x y.prose\n",
];

/// Replaces cells with values of any other type.
pub(crate) fn types(conn: &Connection, dice: &mut Dice) {
    for _ in 0..=dice.throw(12) {
        let table = *dice.pick(&TABLES);
        let columns = columns(conn, table);
        if columns.is_empty() {
            continue;
        }
        let column = dice.pick(&columns).clone();
        let some = some_rows(conn, table, dice);
        let sql = match dice.throw(8) {
            // Casting stores the bytes as a text, although they are not valid UTF-8.
            0 => format!("UPDATE {table} SET \"{column}\" = CAST(?1 AS TEXT) WHERE {some}"),
            1 => format!("UPDATE OR IGNORE {table} SET \"{column}\" = ?1"),
            _ => format!("UPDATE OR IGNORE {table} SET \"{column}\" = ?1 WHERE {some}"),
        };
        let _ = conn.execute(&sql, [value(dice)]);
    }
}

/// Deletes or duplicates rows, or gives them missing or circular parents, frames and gates.
pub(crate) fn rows(conn: &Connection, dice: &mut Dice) {
    for _ in 0..=dice.throw(8) {
        let table = *dice.pick(&TABLES);
        let some = some_rows(conn, table, dice);
        let (one, two) = (dice.throw(20), dice.throw(20));
        let odd = dice.odd_number();
        let sql = match dice.throw(14) {
            0 => format!("DELETE FROM {table} WHERE {some}"),
            1 => format!("DELETE FROM {table}"),
            2 => format!("INSERT OR IGNORE INTO {table} SELECT * FROM {table} WHERE {some}"),
            3 => {
                unkeyed(conn, table);
                continue;
            }
            4 => format!("UPDATE execution SET parent_id = id WHERE id % 20 = {one}"),
            5 => format!("UPDATE execution SET parent_id = id + 1 WHERE id > {one}"),
            6 => format!("UPDATE execution SET parent_id = {odd} WHERE id % 7 = {}", one % 7),
            7 => format!("UPDATE execution SET parent_id = (id * {one} + {two}) % 40"),
            8 => format!("UPDATE OR IGNORE execution SET id = {odd} WHERE id = {one}"),
            9 => format!("UPDATE execution SET statement_index = {odd} WHERE id % 3 = 0"),
            10 => "UPDATE execution SET metadata = (SELECT metadata FROM execution e WHERE e.id = execution.id + 1)".into(),
            11 => "UPDATE execution SET status = (SELECT status FROM execution e WHERE e.id = execution.id * 3 % 17)".into(),
            12 => format!("UPDATE OR IGNORE bindings SET execution_id = {odd} WHERE rowid % 2 = 0"),
            _ => format!("UPDATE OR IGNORE gates SET run_id = 'elsewhere', execution_id = {odd}, status = 'odd'"),
        };
        let _ = conn.execute_batch(&sql);
    }
}

/// Replaces a table by a table without keys that contains each row twice.
fn unkeyed(conn: &Connection, table: &str) {
    let _ = conn.execute_batch(&format!(
        "CREATE TABLE unkeyed AS SELECT * FROM {table} UNION ALL SELECT * FROM {table}; DROP TABLE {table};
         ALTER TABLE unkeyed RENAME TO {table}"
    ));
}

/// Returns an SQL condition that some rows meet. The condition uses rowids, so that the same rows meet it each time.
fn some_rows(conn: &Connection, table: &str, dice: &mut Dice) -> String {
    let (every, which) = (dice.throw(5) + 1, dice.throw(5));
    let by_rowid = conn.prepare(&format!("SELECT rowid FROM {table}")).is_ok();
    if by_rowid {
        format!("rowid % {every} = {}", which % every)
    } else {
        "1".to_owned()
    }
}

fn columns(conn: &Connection, table: &str) -> Vec<String> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = conn.prepare(&format!("PRAGMA table_info({table})"))?;
        let names = statement.query_map([], |row| row.get::<_, String>(1))?;
        names.collect()
    };
    read().unwrap_or_default()
}

fn value(dice: &mut Dice) -> Value {
    match dice.throw(8) {
        0 => Value::Null,
        1 => Value::Integer(dice.odd_number()),
        2 => Value::Real(*dice.pick(&[0.5, -0.0, 1e308, f64::INFINITY, f64::MIN_POSITIVE, 1e15])),
        3 => {
            let len = dice.throw(40);
            Value::Blob(dice.noise(len))
        }
        4 => Value::Text("x".repeat(dice.throw(20_000))),
        5 => Value::Text("[".repeat(dice.throw(5_000))),
        _ => Value::Text((*dice.pick(&TEXTS)).to_owned()),
    }
}
