//! Deviations of a schema that was found from the documents.

use super::{TABLES, TableSpec, table_spec};
use crate::database::Found;
use crate::issue::Issue;

/// Says where the tables of a `state.db` differ from sqlite.md and sqlite-earlier.md.
///
/// Rules: `table-not-read` (a view or a virtual table under a document's name), `missing-table`,
/// `missing-column`, `odd-key`, `computed-column`, `unknown-column`, `foreign-table`. Extensions (`x_…`) are
/// welcome and no issue.
pub fn check(found: &[Found]) -> Vec<Issue> {
    let expected: Vec<&TableSpec> = TABLES.iter().collect();
    deviations(found, &expected)
}

/// Says where the tables of an `agents.db` differ from sqlite.md.
pub fn check_agents(found: &[Found]) -> Vec<Issue> {
    let expected: Vec<&TableSpec> = [super::AGENTS, super::AGENT_SEGMENTS]
        .into_iter()
        .filter_map(table_spec)
        .collect();
    deviations(found, &expected)
}

fn deviations(found: &[Found], expected: &[&TableSpec]) -> Vec<Issue> {
    let mut issues = missing_tables(found, expected);
    for table in found {
        match table_spec(&table.info.name) {
            Some(spec) if table.is_table() => {
                issues.extend(missing_columns(table, spec));
                issues.extend(odd_key(table, spec));
                issues.extend(computed_columns(table));
                issues.extend(unknown_columns(table));
            }
            Some(spec) => issues.push(
                Issue::error(
                    "table-not-read",
                    format!(
                        "{} is a {}, not a table, and is not read",
                        spec.name,
                        kind_in_words(&table.info.kind)
                    ),
                )
                .at_table(spec.name)
                .hint(
                    "Its rows would be computed by the file's own SQL, which is not trusted; \
                     ask the sender for the tables themselves.",
                ),
            ),
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

/// Tables that carry the story of a run; without them something is not shown at all.
const CARRYING: &[&str] = &[super::RUN, super::EXECUTION, super::BINDINGS, super::AGENTS];

fn missing_tables(found: &[Found], expected: &[&TableSpec]) -> Vec<Issue> {
    let missing: Vec<&TableSpec> = expected
        .iter()
        .copied()
        .filter(|spec| {
            !found
                .iter()
                .any(|f| f.info.name.eq_ignore_ascii_case(spec.name))
        })
        .collect();
    let mut issues = Vec::new();
    let half_made = missing.iter().any(|t| t.name == super::BINDINGS)
        && found
            .iter()
            .any(|f| f.info.name.eq_ignore_ascii_case(super::EXECUTION));
    for spec in missing.iter().filter(|t| CARRYING.contains(&t.name)) {
        let hint = if half_made {
            // S1: what the document's own CREATE leaves behind.
            "The document's CREATE TABLE bindings has an expression in its primary key, which SQLite refuses; \
             given as one command, the tables after it are not made either."
        } else {
            "What it would say is not shown."
        };
        issues.push(
            Issue::warning("missing-table", format!("there is no table {}", spec.name))
                .at_table(spec.name)
                .hint(hint),
        );
    }
    // The earlier document has no gates: their absence alone says nothing.
    let minor: Vec<&str> = missing
        .iter()
        .filter(|t| !CARRYING.contains(&t.name) && t.earlier)
        .map(|t| t.name)
        .collect();
    if !minor.is_empty() {
        issues.push(
            Issue::info(
                "missing-table",
                format!("there is no table {}", minor.join(", no table ")),
            )
            .hint("Nothing of that kind is shown."),
        );
    }
    issues
}

fn missing_columns(table: &Found, spec: &TableSpec) -> Option<Issue> {
    let has = |c: &str| {
        table
            .info
            .columns
            .iter()
            .any(|f| f.name.eq_ignore_ascii_case(c))
    };
    let missing: Vec<&str> = spec.names().filter(|c| !has(c)).collect();
    if missing.is_empty() {
        return None;
    }
    Some(
        Issue::warning(
            "missing-column",
            format!("{} has no column {}", spec.name, missing.join(", ")),
        )
        .at_table(spec.name)
        .hint("It is read as if it were empty in every row."),
    )
}

fn odd_key(table: &Found, spec: &TableSpec) -> Option<Issue> {
    let key: Vec<String> = table.key.iter().map(|k| k.to_ascii_lowercase()).collect();
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    let (message, hint) = match (spec.name, key.as_slice()) {
        // S2: the likely work-around for S1.
        (super::BINDINGS, ["name", "execution_id"]) => (
            "the primary key of bindings is (name, execution_id)",
            "Two root bindings of one name can stand side by side, since NULLs are never equal; \
             the later row counts.",
        ),
        (super::BINDINGS, ["name"]) => (
            "the primary key of bindings is the name alone",
            "A frame's binding and a root binding of one name cannot both be recorded: \
             the later one replaced the earlier one, or was refused.",
        ),
        (super::EXECUTION, key) if key != ["id"] && table.column("id").is_some() => (
            "the primary key of execution is not its id",
            "Two rows may carry one id; all are shown, in the order in which they are stored.",
        ),
        // G1: either key is read.
        (super::GATES, key)
            if key != ["id"] && key != ["run_id", "id"] && key != ["id", "run_id"] =>
        {
            (
                "the primary key of gates is neither its id nor its run and id",
                "One gate may stand in several rows; all are shown.",
            )
        }
        _ => return None,
    };
    Some(
        Issue::info("odd-key", message)
            .at_table(spec.name)
            .hint(hint),
    )
}

fn computed_columns(table: &Found) -> Option<Issue> {
    if table.computed.is_empty() {
        return None;
    }
    Some(
        Issue::warning(
            "computed-column",
            format!(
                "{} computes {} on reading; that is not read",
                table.info.name,
                table.computed.join(", ")
            ),
        )
        .at_table(&table.info.name)
        .hint("Its value would come from the file's own SQL, which is not trusted."),
    )
}

fn unknown_columns(table: &Found) -> Option<Issue> {
    let unknown: Vec<&str> = table
        .info
        .columns
        .iter()
        .filter(|c| !c.known)
        .map(|c| c.name.as_str())
        .collect();
    if unknown.is_empty() {
        return None;
    }
    Some(
        Issue::info(
            "unknown-column",
            format!(
                "{} has {} that no document lists: {}",
                table.info.name,
                if unknown.len() == 1 {
                    "a column"
                } else {
                    "columns"
                },
                unknown.join(", ")
            ),
        )
        .at_table(&table.info.name)
        .hint("Extra columns are allowed. They are shown with the table's rows, under files and tables."),
    )
}

fn foreign_table(table: &Found) -> Option<Issue> {
    let name = &table.info.name;
    let extension = name
        .get(..2)
        .is_some_and(|start| start.eq_ignore_ascii_case("x_"));
    if extension || table.info.kind == "shadow" {
        return None;
    }
    Some(
        Issue::info(
            "foreign-table",
            format!(
                "{name} is a {} that no document lists",
                kind_in_words(&table.info.kind)
            ),
        )
        .at_table(name)
        .hint("Extensions should be named x_…; it is listed under files and tables."),
    )
}

#[cfg(test)]
mod tests;
