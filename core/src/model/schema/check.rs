//! Reports where a database's schema differs from the schema that OpenProse defines.

use super::names::OF_CONTRACT_2;
use super::{TABLES, TableSpec, table_spec};
use crate::model::database::{FoundTable, renamed};
use crate::model::issue::Issue;

/// Reports where the tables of a `state.db` differ from sqlite.md and sqlite-earlier.md.
///
/// Rules: `table-not-read` (a view or a virtual table with the name of an OpenProse table), `missing-table`,
/// `missing-column`, `odd-key`, `computed-column`, `unknown-column`, `foreign-table`. Extensions (`x_…`) are allowed
/// and not reported.
pub fn check(found: &[FoundTable]) -> Vec<Issue> {
    let expected: Vec<&TableSpec> = TABLES.iter().collect();
    deviations(found, &expected)
}

/// Reports where the tables of an `agents.db` differ from sqlite.md.
pub fn check_agents(found: &[FoundTable]) -> Vec<Issue> {
    let expected: Vec<&TableSpec> = [super::AGENTS, super::AGENT_SEGMENTS]
        .into_iter()
        .filter_map(table_spec)
        .collect();
    deviations(found, &expected)
}

fn deviations(found: &[FoundTable], expected: &[&TableSpec]) -> Vec<Issue> {
    let mut issues = missing_tables(found, expected);
    for table in found {
        match table_spec(&table.info.name) {
            Some(spec) if table.is_table() => {
                issues.extend(missing_columns(table, spec));
                issues.extend(odd_key(table, spec));
                issues.extend(computed_columns(table));
                issues.extend(unknown_columns(table));
            }
            Some(spec) => {
                let (name, kind) = (spec.name, kind_in_words(&table.info.kind));
                let what = format!("`{name}` is a {kind}, not a table, and is not read");
                let issue = Issue::error("table-not-read", what).at_table(name);
                issues.push(issue.hint(
                    "Ask the sender for the table itself: the rows would be computed by the file's own SQL, \
                     which is not trusted.",
                ));
            }
            None => issues.extend(foreign_table(table)),
        }
    }
    issues
}

fn kind_in_words(kind: &str) -> &str {
    match kind {
        "virtual" => "virtual table",
        "shadow" => "part of a virtual table",
        other => other,
    }
}

/// Tables whose absence is a warning, because each contains a whole area of the run, such as all values.
const CARRYING: &[&str] = &[super::RUN, super::EXECUTION, super::BINDINGS, super::AGENTS];

fn missing_tables(found: &[FoundTable], expected: &[&TableSpec]) -> Vec<Issue> {
    let is_there = |name: &str| found.iter().any(|f| f.info.name.eq_ignore_ascii_case(name));
    let missing = expected.iter().filter(|spec| !is_there(spec.name));
    let (carrying, minor): (Vec<&TableSpec>, Vec<&TableSpec>) =
        missing.partition(|spec| CARRYING.contains(&spec.name));
    let half_made = !is_there(super::BINDINGS) && is_there(super::EXECUTION);
    let hint = match half_made {
        // Executing sqlite.md's own CREATE statements produces this schema (errata S1).
        true => {
            "SQLite refuses OpenProse's own `CREATE TABLE bindings`, because the primary key has an expression. \
             If all statements are run as one command, the tables after `bindings` are not created either."
        }
        false => "The facts that belong in this table are not shown.",
    };
    let issue = |name: &str| {
        let issue = Issue::warning("missing-table", format!("there is no table {name}"));
        issue.at_table(name).hint(hint)
    };
    let mut issues: Vec<Issue> = carrying.iter().map(|spec| issue(spec.name)).collect();
    // The earlier format has no gates, so the absence of only the gate tables is not an issue.
    let minor = minor.iter().filter(|spec| spec.earlier);
    let minor: Vec<&str> = minor.map(|spec| spec.name).collect();
    if !minor.is_empty() {
        let what = format!("there is no table {}", minor.join(", no table "));
        let issue = Issue::noted("missing-table", what);
        issues.push(issue.hint("The facts that belong in these tables are not shown."));
    }
    issues
}

fn missing_columns(table: &FoundTable, spec: &TableSpec) -> Option<Issue> {
    let columns = &table.info.columns;
    let has = |name: &str| columns.iter().any(|c| c.name.eq_ignore_ascii_case(name));
    let is_missing = |name: &&str| !has(name) && !renamed(spec.name, name).is_some_and(has);
    let missing: Vec<&str> = spec.names().filter(is_missing).collect();
    let what = format!("`{}` has no column {}", spec.name, missing.join(", "));
    let issue = Issue::warning("missing-column", what).at_table(spec.name);
    (!missing.is_empty()).then(|| issue.hint("A missing column is treated as empty in every row."))
}

fn odd_key(table: &FoundTable, spec: &TableSpec) -> Option<Issue> {
    if spec.name != super::BINDINGS {
        return None;
    }
    let key: Vec<String> = table.key.iter().map(|k| k.to_ascii_lowercase()).collect();
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    let (message, hint) = match key.as_slice() {
        // A writer probably chose this key to work around the failing CREATE statement (errata S1, S2).
        ["name", "execution_id"] => (
            "the primary key of `bindings` is (`name`, `execution_id`)",
            "The root may have two bindings of one name, because this key does not treat two NULLs as equal; \
             the later row counts.",
        ),
        ["name"] => (
            "the primary key of `bindings` is `name` alone",
            "A frame's binding and a root binding of one name cannot both be recorded: \
             the later binding replaced the earlier one, or was refused.",
        ),
        _ => return None,
    };
    Some(
        Issue::noted("odd-key", message)
            .at_table(spec.name)
            .hint(hint),
    )
}

fn computed_columns(table: &FoundTable) -> Option<Issue> {
    let (name, computed) = (&table.info.name, table.computed.join(", "));
    let what = format!("`{name}` has computed columns, which are not read: {computed}");
    let issue = Issue::warning("computed-column", what).at_table(name);
    let hint =
        "The values of computed columns would come from the file's own SQL, which is not trusted.";
    (!computed.is_empty()).then(|| issue.hint(hint))
}

fn unknown_columns(table: &FoundTable) -> Option<Issue> {
    let unknown = table.info.columns.iter().filter(|c| !c.known);
    let unknown: Vec<&str> = unknown.map(|c| c.name.as_str()).collect();
    let (name, listed) = (&table.info.name, unknown.join(", "));
    let some = match unknown.as_slice() {
        [] => return None,
        [_] => "a column",
        _ => "columns",
    };
    let what = format!("`{name}` has {some} unknown to OpenProse: {listed}");
    let issue = Issue::noted("unknown-column", what).at_table(name);
    Some(issue.hint(
        "Extra columns are allowed. They are shown with the table's rows, under files and tables.",
    ))
}

fn foreign_table(table: &FoundTable) -> Option<Issue> {
    let (name, kind) = (&table.info.name, kind_in_words(&table.info.kind));
    let begins = name.get(..2);
    let extension = begins.is_some_and(|start| start.eq_ignore_ascii_case("x_"))
        || OF_CONTRACT_2
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name));
    let what = format!("`{name}` is a {kind} unknown to OpenProse");
    let issue = Issue::noted("foreign-table", what).at_table(name);
    let hint = "Look under files and tables. Names of extensions should begin with `x_`.";
    (!extension && table.info.kind != "shadow").then(|| issue.hint(hint))
}

#[cfg(test)]
mod tests;
