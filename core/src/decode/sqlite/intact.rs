use rusqlite::Connection;

use super::error::DecodeError;

/// What SQLite itself finds wrong with a file (`PRAGMA quick_check`): pages and cells that contradict each other.
/// Reads the whole file. Finds about two thirds of random damage (reliability.md).
///
/// # Errors
/// When it cannot be looked through, or the guard's limits end it.
pub fn quick_check(conn: &Connection) -> Result<Vec<String>, DecodeError> {
    let mut statement = conn.prepare("PRAGMA quick_check")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let said: String = row.get(0)?;
        found.extend(
            said.lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && *line != "ok" && !line.starts_with("***"))
                .map(str::to_owned),
        );
    }
    Ok(found)
}
