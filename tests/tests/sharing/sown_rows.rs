//! Plants secrets in databases: in each column of each table, as text, as bytes, and in JSON (as a value, as a key, and
//! in escapes).

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::leaks::escaped;
use crate::sown::Sower;

/// A column of a table.
struct Column {
    name: String,
    declared: String,
    is_key: bool,
    is_needed: bool,
}

/// SQL for tables and columns that OpenProse does not define.
pub(crate) const UNKNOWN: &str = "
CREATE TABLE notes (said TEXT, data BLOB, n INTEGER, anything);
CREATE TABLE keyed (k TEXT, l TEXT, x, PRIMARY KEY (l, k)) WITHOUT ROWID;
CREATE TABLE \"odd \"\"name\" (\"a column\" VARCHAR(20) DEFAULT 'x', \"order\" TEXT NOT NULL);
";

/// A function that converts a text to the value of a cell.
type Put = fn(&str) -> Value;

const PUTS: [(&str, Put); 6] = [
    ("", |text| Value::Text(text.to_owned())),
    (", bytes", |text| Value::Blob(text.as_bytes().to_vec())),
    (", value in JSON", |text| {
        Value::Text(serde_json::json!({"note": ["x", {"y": text}]}).to_string())
    }),
    (", key in JSON", |text| {
        Value::Text(serde_json::json!({text: 1}).to_string())
    }),
    (", escapes in JSON", |text| {
        Value::Text(format!("{{\"note\": \"{}\"}}", escaped(text)))
    }),
    (", escaped key in JSON", |text| {
        Value::Text(format!("[{{\"{}\": null}}]", escaped(text)))
    }),
];

/// Adds the tables of [`UNKNOWN`], and a column that OpenProse does not define to each table in `of`.
pub(crate) fn unknown(conn: &Connection, of: &[&str]) {
    conn.execute_batch(UNKNOWN).expect("made");
    for table in of {
        conn.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN x_note"))
            .expect("altered");
    }
}

/// Plants secrets in every column of every table.
pub(crate) fn sow(conn: &Connection, sower: &mut Sower) {
    conn.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN")
        .expect("set");
    let mut nth = 1_000_000;
    for table in names(
        conn,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    ) {
        let columns = columns(conn, &table);
        for (at, column) in columns.iter().enumerate() {
            // An integer primary key is the row id, which cannot contain text.
            if column.is_key && column.declared == "INTEGER" {
                continue;
            }
            for (how, put) in PUTS {
                for text in sower.texts(&format!("{table}.{}{how}", column.name)) {
                    nth += 1;
                    insert(conn, &table, &columns, at, put(&text), nth);
                }
            }
        }
    }
    // The bytes of deleted rows stay in free pages of the file until these are reused.
    conn.execute_batch("CREATE TABLE gone (said TEXT)")
        .expect("made");
    for text in sower.texts("deleted rows") {
        let sql = "INSERT INTO gone VALUES (?1 || zeroblob(5000) || ?1)";
        conn.execute(sql, [text]).expect("put");
    }
    conn.execute_batch("COMMIT; DELETE FROM gone; DROP TABLE gone")
        .expect("gone");
}

fn names(conn: &Connection, sql: &str) -> Vec<String> {
    let mut list = conn.prepare(sql).expect("SQL");
    let list = list.query_map([], |row| row.get(0)).expect("rows");
    list.map(|name| name.expect("a name")).collect()
}

fn columns(conn: &Connection, table: &str) -> Vec<Column> {
    let sql = "SELECT name, upper(type), pk > 0, \"notnull\" AND dflt_value IS NULL FROM pragma_table_info(?1)";
    let mut list = conn.prepare(sql).expect("SQL");
    let list = list.query_map([table], |row| {
        Ok(Column {
            name: row.get(0)?,
            declared: row.get(1)?,
            is_key: row.get(2)?,
            is_needed: row.get(3)?,
        })
    });
    list.expect("rows")
        .map(|column| column.expect("one"))
        .collect()
}

/// Inserts a row with this value in one column, and valid values in the others.
fn insert(conn: &Connection, table: &str, columns: &[Column], at: usize, value: Value, nth: i64) {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut names = Vec::new();
    let mut values = Vec::new();
    for (other, column) in columns.iter().enumerate() {
        let cell = match column.declared.as_str() {
            _ if other == at => value.clone(),
            "INTEGER" if column.is_key => Value::Integer(nth),
            "INTEGER" if column.is_needed => Value::Integer(nth),
            _ if column.is_needed || column.is_key => Value::Text(format!("k{nth}")),
            _ => continue,
        };
        names.push(quoted(&column.name));
        values.push(cell);
    }
    let marks = vec!["?"; values.len()].join(", ");
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({marks})",
        quoted(table),
        names.join(", ")
    );
    conn.execute(&sql, params_from_iter(values))
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
}
