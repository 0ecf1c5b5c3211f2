//! Damages the schema: statements that no longer match the stored rows.

use rusqlite::Connection;

use crate::dice::Dice;

/// SQL texts that replace the statement of a table in the schema; `{}` is the table's name.
const DECLARED: [&str; 22] = [
    "CREATE VIEW \"{}\" AS SELECT * FROM sqlite_schema",
    "CREATE VIEW \"{}\" AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS name FROM n",
    "CREATE VIEW \"{}\" AS SELECT a.name AS id, b.sql AS value FROM sqlite_schema a, sqlite_schema b, sqlite_schema c, sqlite_schema d",
    "CREATE VIRTUAL TABLE \"{}\" USING fts5(id, name, value)",
    "CREATE VIRTUAL TABLE \"{}\" USING nothing(id)",
    "CREATE TABLE \"{}\"(id, name, value) WITHOUT ROWID",
    "CREATE TABLE \"{}\"(id PRIMARY KEY, name, value) WITHOUT ROWID",
    "CREATE TABLE \"{}\"(value, name, id)",
    "CREATE TABLE \"{}\"(id INTEGER PRIMARY KEY, name AS (value), value AS (name))",
    "CREATE TABLE \"{}\"(id INTEGER PRIMARY KEY, name AS (hex(zeroblob(id * 1000000))), value TEXT)",
    "CREATE TABLE \"{}\"(id COLLATE nowhere PRIMARY KEY, name, value COLLATE nowhere)",
    "CREATE TABLE \"{}\"(id CHECK (load_extension('x')), name DEFAULT (readfile('/etc/passwd')), value)",
    "CREATE TABLE \"{}\"(\"\", \" \", \"\"\"\", \"'\", \"\u{202e}\")",
    "CREATE TABLE \"{}\"(rowid, oid, _rowid_, id, name, value)",
    "CREATE TABLE \"{}\"(id, id)",
    "CREATE TABLE \"{}\"",
    "CREATE TABLE",
    "SELECT 1",
    "",
    "CREATE TRIGGER \"{}\" AFTER INSERT ON run BEGIN SELECT 1; END",
    "CREATE INDEX \"{}\" ON run(id)",
    "CREATE TABLE main.\"{}\"(id, name, value); DROP TABLE run",
];

/// Edits rows of `sqlite_schema`, as a hex editor or an attacker would.
pub(crate) fn edit(conn: &Connection, dice: &mut Dice) {
    let _ = conn.execute_batch("PRAGMA writable_schema = ON");
    let names = names(conn);
    if names.is_empty() {
        return;
    }
    for _ in 0..=dice.throw(3) {
        let name = dice.pick(&names).clone();
        let other = dice.pick(&names).clone();
        let sql = match dice.throw(12) {
            0..=3 => {
                let declared = dice.pick(&DECLARED).replace("{}", &name);
                set(conn, &name, "sql", &declared);
                continue;
            }
            4 => {
                let text = text_of(conn, &name);
                set(conn, &name, "sql", &edited(&text, dice));
                continue;
            }
            5 => format!("rootpage = {}", dice.odd_number()),
            6 => format!("rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '{other}')"),
            7 => format!(
                "type = '{}'",
                dice.pick(&["view", "index", "trigger", "", "table"])
            ),
            8 => format!("name = '{other}'"),
            9 => format!("tbl_name = '{other}'"),
            10 => "sql = x'ff00ff'".to_owned(),
            _ => "sql = NULL".to_owned(),
        };
        let _ = conn.execute_batch(&format!(
            "UPDATE sqlite_schema SET {sql} WHERE name = '{name}'"
        ));
        match dice.throw(6) {
            0 => drop(
                conn.execute_batch(&format!("DELETE FROM sqlite_schema WHERE name = '{other}'")),
            ),
            1 => drop(conn.execute_batch(&format!(
                "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = '{other}'"
            ))),
            _ => {}
        }
    }
}

fn set(conn: &Connection, name: &str, column: &str, to: &str) {
    let sql = format!("UPDATE sqlite_schema SET {column} = ?2 WHERE name = ?1");
    let _ = conn.execute(&sql, [name, to]);
}

fn names(conn: &Connection) -> Vec<String> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = conn.prepare("SELECT name FROM sqlite_schema ORDER BY rowid")?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?;
        names.collect()
    };
    read().unwrap_or_default()
}

fn text_of(conn: &Connection, name: &str) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    conn.query_row(sql, [name], |row| row.get(0))
        .unwrap_or_default()
}

/// Returns a statement with a part removed, repeated, or replaced.
fn edited(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.throw(6) {
        let at = dice.throw(chars.len());
        match dice.throw(5) {
            0 => chars.truncate(at),
            1 if !chars.is_empty() => drop(chars.remove(at)),
            2 => {
                let piece: Vec<char> = chars.iter().skip(at).take(20).copied().collect();
                chars.splice(at..at, piece);
            }
            _ => {
                let odd = *dice.pick(&['(', ')', ',', '"', '\'', ';', '\0', '\u{fffd}', '-', '*']);
                if let Some(place) = chars.get_mut(at) {
                    *place = odd;
                }
            }
        }
    }
    chars.into_iter().collect()
}
