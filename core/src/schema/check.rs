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
mod tests {
    use super::*;
    use crate::model::{ColumnInfo, TableInfo};
    use crate::schema::known_column;

    fn table(name: &str, kind: &str, columns: &[&str], key: &[&str]) -> Found {
        Found {
            info: TableInfo {
                name: name.into(),
                kind: kind.into(),
                rows: None,
                known: crate::schema::known_table(name),
                columns: columns
                    .iter()
                    .map(|c| ColumnInfo {
                        name: (*c).into(),
                        declared: "TEXT".into(),
                        known: known_column(name, c),
                    })
                    .collect(),
            },
            key: key.iter().map(|k| (*k).to_owned()).collect(),
            without_rowid: false,
            computed: Vec::new(),
            generated: Vec::new(),
        }
    }

    fn whole() -> Vec<Found> {
        TABLES
            .iter()
            .map(|t| table(t.name, "table", &t.names().collect::<Vec<_>>(), &["id"]))
            .collect()
    }

    fn said(issues: &[Issue]) -> Vec<(&str, &str)> {
        issues
            .iter()
            .map(|i| (i.rule.as_str(), i.message.as_str()))
            .collect()
    }

    #[test]
    fn the_documents_schema_has_no_deviation() {
        assert_eq!(check(&whole()), []);
    }

    #[test]
    fn the_earlier_document_has_no_gates_and_that_is_no_issue() {
        let mut found = whole();
        found.truncate(6);
        assert_eq!(check(&found), []);
    }

    /// S1: the document's own CREATE, given as one command, stops at bindings.
    #[test]
    fn s1_half_made_schema_is_explained() {
        let mut found = whole();
        found.truncate(2);
        let issues = check(&found);
        assert_eq!(
            said(&issues),
            [
                ("missing-table", "there is no table bindings"),
                ("missing-table", "there is no table agents"),
                (
                    "missing-table",
                    "there is no table agent_segments, no table imports"
                ),
            ]
        );
        assert!(issues[0].hint.contains("expression in its primary key"));
    }

    #[test]
    fn every_deviation_is_said() {
        for (name, kind, columns, key, expected) in [
            (
                "run",
                "view",
                vec!["id"],
                vec![],
                (
                    "table-not-read",
                    "run is a view, not a table, and is not read",
                ),
            ),
            (
                "execution",
                "virtual",
                vec!["id"],
                vec![],
                (
                    "table-not-read",
                    "execution is a virtual table, not a table, and is not read",
                ),
            ),
            (
                "imports",
                "table",
                vec!["ALIAS", "source_url", "outputs_schema"],
                vec!["alias"],
                (
                    "missing-column",
                    "imports has no column fetched_at, inputs_schema",
                ),
            ),
            (
                "bindings",
                "table",
                TABLES[2].names().collect(),
                vec!["name", "execution_id"],
                (
                    "odd-key",
                    "the primary key of bindings is (name, execution_id)",
                ),
            ),
            (
                "agents",
                "table",
                vec![
                    "name",
                    "scope",
                    "memory",
                    "created_at",
                    "updated_at",
                    "mood",
                ],
                vec!["name"],
                (
                    "unknown-column",
                    "agents has a column that no document lists: mood",
                ),
            ),
            (
                "metrics",
                "table",
                vec!["a"],
                vec![],
                ("foreign-table", "metrics is a table that no document lists"),
            ),
        ] {
            let mut found = whole();
            found.retain(|f| f.info.name != name);
            found.push(table(name, kind, &columns, &key));
            assert_eq!(said(&check(&found)), [expected], "{name}");
        }
        let mut found = whole();
        found.push(table("X_metrics", "table", &["a"], &[]));
        assert_eq!(check(&found), [], "extensions are welcome");
    }

    #[test]
    fn an_agents_database_wants_agents_only() {
        let found: Vec<Found> = whole().drain(3..5).collect();
        assert_eq!(check_agents(&found), []);
    }
}
