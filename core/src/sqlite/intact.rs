use prosescope_authorizer::authorize_during;
use rusqlite::Connection;

use super::foreign::{foreign_triggers, odd_schema, refusals};
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
    match refusals(conn) {
        Ok(refused) => issues.extend(refused.iter().map(|why| {
            Issue::warning("foreign-code", format!("nothing is recorded in {name}: {why}"))
            .hint("It may take for ever, or write otherwise: `prosescope` refuses to write here. `prosescope check RUN --fix` writes a copy without it.")
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
/// Nothing of the schema's own runs: CHECKs are left out, and a table with computed columns is not looked at.
///
/// The second of the pair is what ended the look, where something did: the guard's limits, a page that is gone.
pub(super) fn quick_check(conn: &Connection) -> (Vec<String>, Option<DecodeError>) {
    let mut found = Vec::new();
    let checks = |ignored: bool| {
        authorize_during(
            conn,
            |_, _| true,
            || conn.pragma_update(None, "ignore_check_constraints", ignored),
        )?
    };
    let ended = discover(conn).and_then(|tables| {
        let mut refused = None;
        checks(true)?;
        for table in tables.iter().filter(|table| table.is_table()) {
            let name = &table.info.name;
            match table.computed.first() {
                // The other tables are still looked at.
                Some(column) => {
                    let why = format!("looking through {name} would compute its column {column}");
                    refused = refused.or(Some(DecodeError::Refused(why)));
                }
                None => look(conn, name, &mut found)?,
            }
        }
        checks(false)?;
        refused.map_or(Ok(()), Err)
    });
    (found, ended.err())
}

fn look(conn: &Connection, table: &str, found: &mut Vec<String>) -> Result<(), DecodeError> {
    let sql = format!("PRAGMA quick_check({})", quoted(table));
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
