use rusqlite::Connection;

use super::error::DecodeError;
use super::foreign::runs_foreign;
use super::shape::{Shape, quoted};

/// What SQLite itself finds wrong with a file (`PRAGMA quick_check`), table by table with its indexes: pages and cells
/// that contradict each other. Reads all of them. Finds about two thirds of random damage (reliability.md). Virtual
/// tables are left out: their checks would run code that the file chooses.
///
/// The second of the pair is what ended the look, where something did: the guard's limits, a page that is gone.
pub fn quick_check(conn: &Connection) -> (Vec<String>, Option<DecodeError>) {
    let mut found = Vec::new();
    let ended = Shape::discover(conn).and_then(|shape| {
        let tables = shape.tables.iter().filter(|t| t.is_table());
        let mut refused = None;
        for table in tables {
            match look(conn, &table.info.name, &mut found) {
                // The other tables are still looked at.
                Err(error @ DecodeError::Refused(_)) => refused = refused.or(Some(error)),
                looked => looked?,
            }
        }
        refused.map_or(Ok(()), Err)
    });
    (found, ended.err())
}

/// The register in which `quick_check` puts its messages together; expressions get higher ones.
const MESSAGE: i64 = 3;

fn look(conn: &Connection, table: &str, found: &mut Vec<String>) -> Result<(), DecodeError> {
    let sql = format!("PRAGMA quick_check({})", quoted(table));
    // The pragma evaluates CHECKs, computed columns and indexes.
    if let Some(foreign) = runs_foreign(conn, &sql, Some(MESSAGE))? {
        return Err(DecodeError::Refused(format!(
            "looking through {table} would run {foreign}"
        )));
    }
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let said: String = row.get(0)?;
        found.extend(
            said.lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && *line != "ok" && !line.starts_with("***"))
                .map(|line| format!("{table}: {line}")),
        );
    }
    Ok(())
}
