use rusqlite::Connection;

use super::foreign::{foreign_triggers, odd_schema, runs_foreign};
use super::shape::{discover, quoted};
use crate::database::DecodeError;
use crate::issue::Issue;

/// What is wrong with the database `name`, by SQLite's own look at the file, and with its schema.
pub(super) fn look_through(conn: &Connection, name: &str) -> Vec<Issue> {
    let mut issues = Vec::new();
    match odd_schema(conn) {
        Ok(Some(odd)) => issues.push(
            Issue::error("disguised-schema", format!("{name} has {odd}"))
            .hint("No tool writes such a schema: somebody changed it by hand. Do not trust this file."),
        ),
        Ok(None) => {}
        Err(error) => issues.push(not_looked_through(&error)),
    }
    match foreign_triggers(conn) {
        Ok(triggers) => issues.extend(triggers.iter().map(|trigger| {
            Issue::warning("foreign-trigger", format!("{name} has {trigger}"))
            .hint("Other writers run it: it may change what they record, a decision too. `prosescope` never does, and refuses to write here.")
        })),
        Err(error) => issues.push(not_looked_through(&error)),
    }
    let (found, ended) = quick_check(conn);
    issues.extend(found.into_iter().map(|found| {
        Issue::error("database-damaged", found)
            .hint("Pages of the file contradict each other: rows may be missing or wrong.")
    }));
    issues.extend(ended.as_ref().map(not_looked_through));
    issues
        .into_iter()
        .map(|issue| issue.at_file(name))
        .collect()
}

fn not_looked_through(error: &DecodeError) -> Issue {
    Issue::info("database-not-looked-through", error.to_string())
        .hint("Whether its pages agree with each other is not known.")
}

/// What SQLite itself finds wrong with a file (`PRAGMA quick_check`), table by table with its indexes: pages and cells
/// that contradict each other. Reads all of them. Finds about two thirds of random damage (reliability.md). Virtual
/// tables are left out: their checks would run code that the file chooses.
///
/// The second of the pair is what ended the look, where something did: the guard's limits, a page that is gone.
pub(super) fn quick_check(conn: &Connection) -> (Vec<String>, Option<DecodeError>) {
    let mut found = Vec::new();
    let ended = discover(conn).and_then(|tables| {
        let tables = tables.iter().filter(|t| t.is_table());
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
