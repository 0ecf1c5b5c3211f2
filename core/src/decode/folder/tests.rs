use super::*;
use crate::model::{BindingKind, FolderForm, Form, RunStatus, ValueAt};
use crate::source::MemorySource;

fn folder(files: &[(&str, &str)]) -> MemorySource {
    MemorySource::new(
        "dropped",
        files
            .iter()
            .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
    )
}

fn run(files: &[(&str, &str)]) -> Run {
    decode(&folder(files), "")
}

fn rules(run: &Run) -> Vec<&str> {
    run.issues
        .iter()
        .map(|i| i.rule.as_str())
        .filter(|r| *r != "state-file-incomplete")
        .collect()
}

/// Bindings in a few words: name, frame, kind, where.
fn bindings(run: &Run) -> Vec<String> {
    run.bindings
        .iter()
        .map(|b| {
            let frame = b
                .execution_id
                .map_or(String::new(), |id| format!(" of {id}"));
            let at = match &b.value {
                ValueAt::File { path, start, .. } => format!("{path}+{start}"),
                _ => "missing".to_owned(),
            };
            let gone = if b.superseded { " superseded" } else { "" };
            format!("{}{frame} {} {at}{gone}", b.name, b.kind.word())
        })
        .collect()
}

const STATE: &str = "# Execution State\n\nrun: r1\nprogram: p.prose\nstarted: 2026-01-15T14:30:52Z\nupdated: 2026-01-15T14:35:22Z\n";

#[test]
fn reads_a_whole_folder() {
    let state = format!(
        "{STATE}\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n\
         | result | let | bindings/result__43.md | 43 |\n| a | let | bindings/a.md | (root) |\n\n### Agents\n\n\
         | Name | Scope | Path |\n|---|---|---|\n| captain | execution | agents/captain/ |\n| mate | execution | agents/mate/ |\n| far | project | .prose/agents/far/ |\n"
    );
    let source = folder(&[
        (".prose/.env", "USER_ID=me\nAPI_KEY=hush\n"),
        (".prose/runs/r1/state.md", &state),
        (".prose/runs/r1/program.prose", "let a = session \"A\"\n"),
        (
            ".prose/runs/r1/bindings/a.md",
            "# a\n\nkind: let\n\n---\n\nvalue",
        ),
        (
            ".prose/runs/r1/bindings/result__43.md",
            "# result\n\nkind: let\nexecution_id: 43\nparent_execution_id: 42\n\n---\n\nv",
        ),
        (
            ".prose/runs/r1/agents/captain/memory.md",
            "# Agent Memory: captain\n",
        ),
        (
            ".prose/runs/r1/agents/captain/captain-1000.md",
            "# Segment 1000\n",
        ),
        (
            ".prose/runs/r1/agents/captain/captain-002.md",
            "# Segment 002\n\nprompt: \"go\"\n\ndone\n",
        ),
        (".prose/runs/r1/imports/r--research/state.md", STATE),
        (
            ".prose/runs/r1/imports/r--research/bindings/findings.md",
            "# findings\nkind: output\n---\nx",
        ),
        (
            ".prose/runs/r1/imports/r--research/bindings/inner.md",
            "# inner\nkind: let\n---\nx",
        ),
        (".prose/runs/r1/attachments/big.md", "big"),
        (
            ".prose/runs/r1/gates/deploy.pending.json",
            "{\"prompt\":\"Go?\"}",
        ),
        (".prose/runs/r1/notes.txt", "?"),
        (".prose/runs/r2/state.md", STATE),
    ]);
    let run = decode(&source, ".prose/runs/r1/");
    assert_eq!(
        run.form,
        Form::Folder {
            form: FolderForm::StateMd
        }
    );
    assert_eq!(
        (
            &*run.id,
            run.program.path.as_deref(),
            run.program.source_from.as_deref()
        ),
        ("r1", Some("p.prose"), Some("program.prose"))
    );
    assert_eq!(
        bindings(&run),
        [
            // The index's order; then what only the disk has, and the import's output (errata B12).
            "result of 43 let .prose/runs/r1/bindings/result__43.md+67",
            "a let .prose/runs/r1/bindings/a.md+21",
            "r.findings output .prose/runs/r1/imports/r--research/bindings/findings.md+28",
        ]
    );
    assert_eq!(run.bindings[0].parent_execution_id, Some(42));
    let agents: Vec<_> = run
        .agents
        .iter()
        .map(|a| (&*a.name, &*a.store, a.segments.len(), a.memory.len()))
        .collect();
    assert_eq!(
        agents,
        [
            ("captain", "agents/captain/", 2, Some(24)),
            ("mate", "agents/mate/", 0, None)
        ]
    );
    assert_eq!(
        run.agents[0]
            .segments
            .iter()
            .map(|s| s.number)
            .collect::<Vec<_>>(),
        [2, 1000]
    );
    assert_eq!(
        run.imports[0].nested.as_deref(),
        Some("imports/r--research")
    );
    assert_eq!(run.gates[0].prompt.as_deref(), Some("Go?"));
    assert_eq!(
        run.env
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect::<Vec<_>>(),
        ["USER_ID=me", "API_KEY=****"]
    );
    assert_eq!(run.files.len(), 13);
    assert_eq!(
        run.files
            .iter()
            .find(|f| f.path == "notes.txt")
            .map(|f| f.role.clone()),
        Some(None)
    );
    assert_eq!(rules(&run), ["agent-missing"]);
    // Nested runs open as runs of their own.
    assert_eq!(
        decode(&source, ".prose/runs/r1/imports/r--research")
            .bindings
            .len(),
        2
    );
}

/// Errata, "Folder form" and B11: whose file `result__43.md` is.
#[test]
fn a_scoped_name_is_believed_only_when_its_header_agrees() {
    for (path, text, expected, rule) in [
        (
            "bindings/r__43.md",
            "# r\nkind: let\nexecution_id: 43\n---\nv",
            "r of 43 let bindings/r__43.md+35",
            None,
        ),
        (
            "bindings/r__43.md",
            "# r\nkind: let\n---\nv",
            "r of 43 let bindings/r__43.md+18",
            None,
        ),
        (
            "bindings/r__43.md",
            "# r\nkind: let\nexecution_id: 44\n---\nv",
            "r of 44 let bindings/r__43.md+35",
            Some("binding-frame"),
        ),
        (
            "bindings/r__43.md",
            "# r__43\nkind: let\nexecution_id: (root)\n---\nv",
            "r__43 let bindings/r__43.md+43",
            Some("binding-frame"),
        ),
        (
            "bindings/r.md",
            "# r\nkind: let\nexecution_id: 7\n---\nv",
            "r of 7 let bindings/r.md+34",
            Some("binding-frame"),
        ),
        (
            "bindings/__43.md",
            "# x\nkind: let\n---\nv",
            "__43 let bindings/__43.md+18",
            None,
        ),
        ("bindings/r__x.md", "v", "r__x  bindings/r__x.md+0", None),
        (
            "bindings/service/out.md",
            "v",
            "service/out  bindings/service/out.md+0",
            None,
        ),
        (
            "bindings/data.json",
            "{}",
            "data.json  bindings/data.json+0",
            None,
        ),
    ] {
        let run = run(&[("state.md", STATE), (path, text)]);
        assert_eq!(bindings(&run), [expected], "{path}: {text}");
        let found: Vec<_> = rules(&run)
            .into_iter()
            .filter(|r| *r != "binding-not-indexed")
            .collect();
        assert_eq!(
            found,
            rule.into_iter().collect::<Vec<_>>(),
            "{path}: {text}"
        );
    }
    let told = run(&[(
        "bindings/r__43.md",
        "# r\nkind: let\nexecution_id: 44\n---\nv",
    )]);
    let issue = told
        .issues
        .iter()
        .find(|i| i.rule == "binding-frame")
        .unwrap();
    assert_eq!(
        issue.message,
        "bindings/r__43.md is named for frame 43, but its header says frame 44"
    );
}

#[test]
fn contradictions_of_index_and_disk_are_reported() {
    let index = |rows: &str| {
        format!(
            "{STATE}\n## Index\n\n| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n{rows}"
        )
    };
    let check =
        |rows: &str, files: &[(&str, &str)], expected: &[&str], rule: &str, message: &str| {
            let state = index(rows);
            let mut all = vec![("state.md", state.as_str())];
            all.extend(files);
            let run = run(&all);
            assert_eq!(bindings(&run), expected, "{rows}");
            let found: Vec<_> = run
                .issues
                .iter()
                .filter(|i| i.rule != "state-file-incomplete")
                .map(|i| (i.rule.as_str(), i.message.as_str()))
                .collect();
            assert_eq!(found, [(rule, message)], "{rows}");
        };
    let a = ("bindings/a.md", "# a\nkind: let\n---\nv");
    check(
        "| b | let | bindings/b.md | (root) |\n",
        &[],
        &["b let missing"],
        "binding-missing",
        "the index names b, but there is no such file",
    );
    check(
        "",
        &[a],
        &["a let bindings/a.md+18"],
        "binding-not-indexed",
        "bindings/a.md is on disk, but not in the index",
    );
    check(
        "| a | const | bindings/a.md | 7 |\n",
        &[a],
        &["a let bindings/a.md+18"],
        "index-disagrees",
        "bindings/a.md: the index puts it in frame 7, the file in the root; it calls it const, the file let",
    );
    let state = index(
        "| c | let | ./bindings/c.md | (root) |\n| a | let | .prose/runs/r1/bindings/a.md | (root) |\n",
    );
    let run = run(&[
        ("state.md", &state),
        a,
        ("bindings/C.md", "x"),
        ("bindings/c.md", "x"),
    ]);
    assert_eq!(
        bindings(&run),
        [
            "c  bindings/c.md+0",
            "a let bindings/a.md+18",
            "C  bindings/C.md+0"
        ]
    );
    assert_eq!(rules(&run), ["name-clash", "binding-not-indexed"]);
}

#[test]
fn names_that_clash_and_files_that_repeat() {
    let run = run(&[
        ("bindings/A.md", "x"),
        ("bindings/a.md", "x"),
        ("bindings/r__043.md", "x"),
        ("bindings/r__43.md", "x"),
        ("bindings/s.md", "# s\nkind: session (anonymous)\n---\nx"),
    ]);
    assert_eq!(
        bindings(&run),
        [
            "A  bindings/A.md+0",
            "a  bindings/a.md+0",
            "r of 43  bindings/r__043.md+0 superseded",
            "r of 43  bindings/r__43.md+0",
            "s session (anonymous) bindings/s.md+34",
        ]
    );
    assert_eq!(
        rules(&run),
        [
            "unknown-kind",
            "name-clash",
            "duplicate-binding",
            "no-state-file"
        ]
    );
    assert_eq!(
        run.issues[2].message,
        "bindings/r__043.md and bindings/r__43.md are both r of frame 43"
    );
    assert_eq!(
        run.issues[1].hint,
        "On some file systems they are one file."
    );
}

#[test]
fn other_forms_are_recognised_and_their_heads_read() {
    let check = |files: &[(&str, &str)],
                 form: FolderForm,
                 id: &str,
                 program: Option<&str>,
                 status: Option<RunStatus>| {
        let run = run(files);
        assert_eq!(run.form, Form::Folder { form }, "{files:?}");
        assert_eq!(
            (&*run.id, run.program.path.as_deref(), run.status.clone()),
            (id, program, status),
            "{files:?}"
        );
        run
    };
    check(
        &[(
            "state.md",
            "# run:20260213-105319-63068c self-experiment.prose\n",
        )],
        FolderForm::CompactLog,
        "20260213-105319-63068c",
        Some("self-experiment.prose"),
        None,
    );
    let run = check(
        &[(
            "state.md",
            "\u{feff}# run:r\r\nprogram: p.prose\r\nroot: .\r\n1→ a ✓\r\n---error 2026-01-15T14:35:22Z no network\r\n",
        )],
        FolderForm::CompactLog,
        "r",
        Some("p.prose"),
        Some(RunStatus::Failed),
    );
    assert_eq!(
        run.updated.map(|t| t.to_string()).as_deref(),
        Some("2026-01-15T14:35:22Z")
    );
    assert_eq!(run.log.map(|log| log.lines.len()), Some(2));
    check(
        &[(
            "state.md",
            "# run:r p\n1→ a ✓\n---error x\n---resume y\n2→ b ✓\n",
        )],
        FolderForm::CompactLog,
        "r",
        Some("p"),
        None,
    );
    check(
        &[
            ("vm.log.md", "whatever"),
            ("root.prose.md", "x"),
            ("bindings/caller/request.md", "x"),
        ],
        FolderForm::VmLog,
        "",
        Some("root.prose.md"),
        None,
    );
    check(
        &[
            (
                "state.md",
                "# Run State — r9\n\n**Program:** p.prose\n**Status:** completed\n\n## Notes\n\n**Program:** other\n",
            ),
            ("receipts.jsonl", ""),
        ],
        FolderForm::Receipts,
        "r9",
        Some("p.prose"),
        Some(RunStatus::Completed),
    );
    check(
        &[
            (
                "run.json",
                "{\"run_id\":\"r\",\"program\":\"p.prose\",\"status\":\"failed\"}",
            ),
            ("receipts.jsonl", ""),
        ],
        FolderForm::Receipts,
        "r",
        Some("p.prose"),
        Some(RunStatus::Failed),
    );
    let sealed = check(
        &[(
            "state.md",
            "{\n\t\"data\": \"ENC[x]\",\n\t\"sops\": {}\n}\n",
        )],
        FolderForm::Foreign,
        "",
        None,
        None,
    );
    assert_eq!(
        sealed.issues[0].message,
        "the state file is an encrypted envelope"
    );
    check(&[("state.md", "")], FolderForm::Foreign, "", None, None);
    check(
        &[("program.prose", "x")],
        FolderForm::Bare,
        "",
        Some("program.prose"),
        None,
    );
    check(&[], FolderForm::Bare, "", None, None);
}

#[test]
fn the_program_goes_by_many_names() {
    for (files, expected) in [
        (
            &[("program.prose", "1"), ("current.prose", "2")][..],
            Some("program.prose"),
        ),
        (&[("current.prose", "1")], Some("current.prose")),
        (&[("a.prose", "1"), ("p.prose", "2")], Some("p.prose")),
        (&[("a.prose", "1")], Some("a.prose")),
        (&[("sub/a.prose", "1")], None),
    ] {
        let mut all = vec![("state.md", STATE)];
        all.extend(files);
        let run = run(&all);
        assert_eq!(
            (
                run.program.path.as_deref(),
                run.program.source_from.as_deref()
            ),
            (Some("p.prose"), expected),
            "{files:?}"
        );
    }
    let sealed = run(&[("program.prose", "{\n\t\"data\": \"ENC[x]\"\n}\n")]);
    assert_eq!(sealed.program.source, None);
    assert_eq!(rules(&sealed), ["program-encrypted", "no-state-file"]);
    let source = folder(&[("a.prose", "1"), ("b.prose", "2")]);
    let (program, issues) = program_of(&source, "", None);
    assert_eq!(
        (program.source.as_deref(), issues[0].rule.as_str()),
        (Some("1"), "several-programs")
    );
    assert_eq!(files_of(&source, "").len(), 2);
}

/// reliability.md, "Untrusted files": plain components only.
#[test]
fn paths_that_leave_the_run_are_not_read() {
    let run = run(&[
        ("../up.md", "x"),
        ("bindings/../../secret.md", "x"),
        ("bindings/a//b.md", "x"),
        (
            "state.md",
            &format!("{STATE}\n## Index\n\n- s: ../../secret.md\n"),
        ),
    ]);
    assert_eq!(bindings(&run), ["s  missing"]);
    assert_eq!(
        rules(&run),
        ["unsafe-path", "unsafe-path", "binding-missing"]
    );
    assert_eq!(
        run.issues[0].message,
        "the path ../up.md and 2 others are not plain"
    );
    assert_eq!(run.files.len(), 1);
}

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
        Some("the state file speaks of run r1, the database of r2")
    );
}

#[test]
fn agents_of_the_project() {
    let source = folder(&[
        (".prose/agents/captain/memory.md", "# Agent Memory: mate\n"),
        (".prose/agents/captain/captain-001.md", "# Segment 002\n"),
        (".prose/agents/captain/captain-1.md", "x"),
        (".prose/agents/stray.md", "x"),
    ]);
    let (agents, issues) = agents(&source, ".prose/agents/", AgentScope::Project);
    assert_eq!(
        (agents.len(), &*agents[0].store, agents[0].scope.word()),
        (1, ".prose/agents/captain/", "project")
    );
    let found: Vec<_> = issues
        .iter()
        .map(|i| {
            (
                i.rule.as_str(),
                i.location.file.as_deref().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("segment-number", ".prose/agents/captain/captain-001.md"),
            ("memory-of-another", ".prose/agents/captain/memory.md"),
            ("duplicate-segment", ".prose/agents/captain/"),
        ]
    );
}

#[test]
fn unreadable_files_and_odd_bytes_are_issues() {
    let source = MemorySource::new(
        "d",
        [
            (
                "state.md".to_owned(),
                b"# Execution State\r\nrun: r\xff1\r\n".to_vec(),
            ),
            ("bindings/a.md".to_owned(), b"\xff\xfe".to_vec()),
        ],
    );
    let run = decode(&source, "");
    assert_eq!((&*run.id, run.bindings.len()), ("r\u{fffd}1", 1));
    assert_eq!(rules(&run)[0], "invalid-utf8");
    assert_eq!(run.bindings[0].kind, BindingKind::Other("".into()));
}
