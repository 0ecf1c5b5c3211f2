//! Counts and deletes the rows about one agent in a database.

use rusqlite::Connection;

/// The tables with rows about an agent, each with the column that contains the agent's name. Rows are deleted in this
/// order: tables that refer to others come first.
const TABLES: [(&str, &str); 3] = [
    ("agent_segments", "agent_name"),
    ("x_agent_memory_history", "agent_name"),
    ("agents", "name"),
];

/// Returns an agent's number of rows and the size of its memory in bytes.
///
/// # Errors
/// Any error of SQLite.
pub fn count(conn: &Connection, name: &str) -> rusqlite::Result<(u64, u64)> {
    let (mut rows, mut memory) = (0, 0);
    for (table, column) in existing_tables(conn)? {
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} = ?1");
        rows += number(conn, &sql, name)?;
        if table == "agents" {
            let sql =
                "SELECT ifnull(sum(length(CAST(memory AS BLOB))), 0) FROM agents WHERE name = ?1";
            memory = number(conn, sql, name)?;
        }
    }
    Ok((rows, memory))
}

/// Deletes an agent: its memory, its segments, and the history of its memory.
///
/// # Errors
/// Any error of SQLite. Nothing is deleted in that case.
pub fn delete(conn: &Connection, name: &str) -> rusqlite::Result<()> {
    // `secure_delete` overwrites the deleted content; otherwise the content would remain readable in the file.
    conn.execute_batch("PRAGMA secure_delete = ON; BEGIN IMMEDIATE;")?;
    for (table, column) in existing_tables(conn)? {
        conn.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [name])?;
    }
    conn.execute_batch("COMMIT")
}

fn number(conn: &Connection, sql: &str, name: &str) -> rusqlite::Result<u64> {
    let n: i64 = conn.query_row(sql, [name], |row| row.get(0))?;
    Ok(u64::try_from(n).unwrap_or_default())
}

fn existing_tables(conn: &Connection) -> rusqlite::Result<Vec<(&'static str, &'static str)>> {
    let mut found = Vec::new();
    for (table, column) in TABLES {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1";
        if conn.query_row(sql, [table], |row| row.get::<_, i64>(0))? > 0 {
            found.push((table, column));
        }
    }
    Ok(found)
}
