use prosescope_authorizer::authorize_during;
use rusqlite::Connection;

use super::foreign::{judged, odd_schema};
use super::shape::{discover, quoted};
use crate::model::database::DecodeError;
use crate::model::issue::Issue;
use crate::model::schema::OF_RUNS;

/// Returns the defects of a database: those of its schema, and those that `PRAGMA quick_check` finds in the file.
/// `name` is the file's name in the issues.
pub(super) fn check_database(conn: &Connection, name: &str) -> Vec<Issue> {
    let odd = |odd: String| {
        Issue::error("disguised-schema", format!("{name} has {odd}")).hint(
            "No tool writes such a schema, so it was changed by hand. Do not trust this file.",
        )
    };
    let code = |why: String| {
        Issue::warning("foreign-code", format!("{name} is not recorded into: {why}"))
            .hint("Other programs run what is on a table: it may change what they record, even a gate's decision.")
    };
    let mut issues = Vec::new();
    let found = odd_schema(conn).and_then(|found| match found {
        Some(found) => Ok(vec![odd(found)]),
        None => Ok(judged(conn, &OF_RUNS, false)?
            .1
            .into_iter()
            .map(code)
            .collect()),
    });
    issues.extend(found.unwrap_or_else(|error| vec![not_checked(&error)]));
    let checked = quick_check(conn);
    issues.extend(checked.found.into_iter().map(|found| {
        Issue::error("database-damaged", found)
            .hint("Pages of the file contradict each other, so rows may be missing or wrong.")
    }));
    issues.extend(checked.ended.as_ref().map(not_checked));
    if checked.skipped > 0 {
        let what = format!(
            "{} tables that do not belong to a run were not checked, because at most {MOST_OTHERS} of them are checked",
            checked.skipped
        );
        issues.push(unknown(what));
    }
    issues
        .into_iter()
        .map(|issue| issue.at_file(name))
        .collect()
}

fn not_checked(error: &DecodeError) -> Issue {
    unknown(error.to_string())
}

fn unknown(why: String) -> Issue {
    Issue::noted("database-not-looked-through", why)
        .hint("It is unknown whether the pages of this database are consistent.")
}

/// Maximum number of tables to check that do not belong to a run. The time grows with the square of their number,
/// because SQLite walks over the names of all tables for each table.
const MOST_OTHERS: usize = 1000;

/// The result of checking the tables.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct QuickCheck {
    /// The defects, in SQLite's words.
    pub(super) found: Vec<String>,
    /// Number of tables that were not checked because there are more than [`MOST_OTHERS`].
    pub(super) skipped: usize,
    /// The error that ended the check early, such as the guard's limits or a missing page. `None` after a full check.
    pub(super) ended: Option<DecodeError>,
}

/// Runs SQLite's own check (`PRAGMA quick_check`) on each table and its indexes. The check reads all their pages and
/// finds contradictory pages and cells. It finds about two thirds of random damage.
///
/// The schema's own code does not run: CHECKs are ignored. Tables with computed columns and virtual tables are not
/// checked.
///
/// Of the tables that do not belong to a run, at most [`MOST_OTHERS`] are checked.
pub(super) fn quick_check(conn: &Connection) -> QuickCheck {
    let mut checked = QuickCheck::default();
    let checks = |ignored: bool| {
        authorize_during(
            conn,
            |_, _| true,
            || conn.pragma_update(None, "ignore_check_constraints", ignored),
        )?
    };
    let ended = discover(conn).and_then(|tables| {
        let mut refused = None;
        let mut others = 0;
        checks(true)?;
        for table in tables.iter().filter(|table| table.is_table()) {
            let name = &table.info.name;
            let other = !OF_RUNS.iter().any(|name| name.eq_ignore_ascii_case(&table.info.name));
            others += usize::from(other);
            match table.computed.first() {
                // Checking would compute the column with the file's own code. The table is skipped, and reported at the
                // end.
                Some(column) => {
                    let why = format!("checking the table {name} would run the SQL expression of its column {column}");
                    refused = refused.or(Some(DecodeError::Refused(why)));
                }
                None if other && others > MOST_OTHERS => {}
                None => check_table(conn, name, &mut checked.found)?,
            }
        }
        checks(false)?;
        checked.skipped = others.saturating_sub(MOST_OTHERS);
        refused.map_or(Ok(()), Err)
    });
    checked.ended = ended.err();
    checked
}

fn check_table(conn: &Connection, table: &str, found: &mut Vec<String>) -> Result<(), DecodeError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_looked_through_whatever_other_tables_there_are() {
        let of = |others: usize| {
            let conn = Connection::open_in_memory().unwrap();
            conn.execute_batch("CREATE TABLE run (id TEXT)").unwrap();
            for n in 0..others {
                conn.execute_batch(&format!("CREATE TABLE other{n} (a NOT NULL)"))
                    .unwrap();
            }
            // SQLite reports a NULL in a column that the schema declares NOT NULL.
            conn.execute_batch(
                "INSERT INTO run VALUES ('r');
                 PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET sql = 'CREATE TABLE run (id TEXT, more NOT NULL)' WHERE name = 'run';
                 PRAGMA writable_schema = RESET",
            )
            .unwrap();
            quick_check(&conn)
        };
        let found = vec!["run: NULL value in run.more".to_owned()];
        for (others, skipped) in [(MOST_OTHERS, 0), (MOST_OTHERS + 2, 2)] {
            let checked = of(others);
            assert_eq!(checked.found, found);
            assert_eq!((checked.skipped, checked.ended), (skipped, None));
        }
    }
}
