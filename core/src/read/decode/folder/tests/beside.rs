//! Tests a state file without its folder, and a folder with a database.

use super::*;

#[test]
fn a_lone_state_file_names_what_is_not_there() {
    let state = format!(
        "{STATE}\n## Index\n\n- a: bindings/a.md (let)\n- b: (pending)\n\n### Agents\n\n- captain: agents/captain/\n"
    );
    let run = lone_state_file("somewhere/old.md", &state);
    assert_eq!(
        (&*run.id, bindings(&run)),
        ("r1", vec!["a let missing".to_owned()])
    );
    assert_eq!(
        (run.agents.len(), run.files[0].path.as_str()),
        (1, "old.md")
    );
    assert_eq!(rules(&run).last(), Some(&"state-file-alone"));
    let log = lone_state_file("state.md", "# run:r p.prose\n");
    assert_eq!(
        log.form,
        Form::Folder {
            form: FolderForm::CompactLog
        }
    );
}

#[test]
fn beside_a_database_the_folder_adds_what_rows_lack() {
    let source = folder(&[
        ("r/state.db", "x"),
        ("r/program.prose", "session \"x\""),
        ("r/state.md", STATE),
        ("r/attachments/a.md", "x"),
        ("r/imports/h--s/program.prose", "x"),
    ]);
    let mut run = Run {
        id: "r1".into(),
        ..Run::default()
    };
    run.imports.push(crate::model::Import {
        alias: "h".into(),
        source_url: Some("u".into()),
        ..Default::default()
    });
    beside_database(&source, "r/", &mut run);
    assert_eq!(run.program.source.as_deref(), Some("session \"x\""));
    assert_eq!(
        (run.imports.len(), run.imports[0].nested.as_deref()),
        (1, Some("imports/h--s"))
    );
    assert_eq!(run.files.len(), 5);
    assert!(run.state_file.is_some());

    let mut other = Run {
        id: "r2".into(),
        ..Run::default()
    };
    beside_database(&source, "r", &mut other);
    assert!(other.state_file.is_none());
    assert_eq!(
        other
            .issues
            .iter()
            .find(|i| i.rule == "another-run")
            .map(|i| i.message.as_str()),
        Some("the state file belongs to run r1, but the database belongs to run r2")
    );
}

#[test]
fn a_state_file_and_rows_that_contradict_are_issues_and_other_words_for_the_same_are_none() {
    let binding = |name: &str, kind: &str| crate::model::Binding {
        name: name.into(),
        execution_id: None,
        kind: BindingKind::parse(kind),
        value: ValueAt::Missing,
        source: None,
        created: None,
        updated: None,
        attachment: None,
        fields: Box::default(),
        tail_known: true,
        parent_execution_id: None,
        superseded: false,
    };
    let messages = |index: &str, program: &str, rows: &[(&str, &str)]| -> Vec<String> {
        let text = format!(
            "{STATE}\n## Index\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n{index}"
        );
        let (file, _) = crate::read::decode::state_md::parse(&text);
        let mut run = Run {
            state_file: Some(file),
            bindings: rows
                .iter()
                .map(|(name, kind)| binding(name, kind))
                .collect(),
            ..Run::default()
        };
        run.program.path = Some(program.into());
        compare_with_rows(&run)
            .into_iter()
            .map(|i| i.message)
            .collect()
    };
    let a = "| a | let | bindings/a.md | (root) |\n";
    assert_eq!(messages(a, "dir/P.prose", &[("a", "let")]), [""; 0]);
    assert_eq!(messages("", "p.prose", &[("a", "let")]), [""; 0]);
    assert_eq!(
        messages(a, "p.prose", &[("a", "session (anonymous)")]),
        [""; 0]
    );
    assert_eq!(
        messages(a, "q.prose", &[("a", "const"), ("b", "let")]),
        [
            "state.md names the program p.prose, but the database names q.prose",
            "the database contains b, but the index of state.md does not",
            "a has the kind let in the index of state.md, but const in the database",
        ]
    );
    assert_eq!(
        messages(a, "p.prose", &[]),
        ["the index of state.md names a, but the database has no such binding"]
    );
}
