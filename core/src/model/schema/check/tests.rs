use super::*;
use crate::model::schema::known_column;
use crate::model::{ColumnInfo, TableInfo};

fn table(name: &str, kind: &str, columns: &[&str], key: &[&str]) -> FoundTable {
    FoundTable {
        info: TableInfo {
            name: name.into(),
            kind: kind.into(),
            rows: None,
            known: crate::model::schema::known_table(name),
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

fn whole() -> Vec<FoundTable> {
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

/// Checks that a hint explains a half-made schema: if one command executes all of sqlite.md's CREATE statements, it
/// stops at bindings (errata S1).
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
    assert!(issues[0].hint.contains("the primary key has an expression"));
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
                "`run` is a view, not a table, and is not read",
            ),
        ),
        (
            "execution",
            "virtual",
            vec!["id"],
            vec![],
            (
                "table-not-read",
                "`execution` is a virtual table, not a table, and is not read",
            ),
        ),
        (
            "imports",
            "table",
            vec!["ALIAS", "source_url", "outputs_schema"],
            vec!["alias"],
            (
                "missing-column",
                "`imports` has no column fetched_at, inputs_schema",
            ),
        ),
        (
            "bindings",
            "table",
            TABLES[2].names().collect(),
            vec!["name", "execution_id"],
            (
                "odd-key",
                "the primary key of `bindings` is (`name`, `execution_id`)",
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
                "`agents` has a column unknown to OpenProse: mood",
            ),
        ),
        (
            "metrics",
            "table",
            vec!["a"],
            vec![],
            ("foreign-table", "`metrics` is a table unknown to OpenProse"),
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
    let found: Vec<FoundTable> = whole().drain(3..5).collect();
    assert_eq!(check_agents(&found), []);
}
