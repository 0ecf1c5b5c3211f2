use super::*;
use crate::model::time::Stamp;
use crate::model::{
    AgentScope, Annotation, CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState,
    RunStatus, StateFile, Status, Text, TraceLine,
};
use crate::read::decode::state_md::{annotation, parse};

const SAMPLE: &str = include_str!("sample.md");

#[test]
fn the_sample_comes_out_as_it_went_in() {
    let (file, _) = parse(SAMPLE);
    assert_eq!(from_state_file(&file), SAMPLE);
}

#[test]
fn an_empty_state_has_an_index() {
    assert_eq!(
        from_state_file(&StateFile::default()),
        "# Execution State\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|------|------|------|--------------|\n"
    );
}

/// Returns the one line of the trace that is printed for a source line with an annotation.
fn line(text: &str, annotation: Option<Annotation>) -> String {
    let line = TraceLine {
        line: Some(1),
        text: text.into(),
        annotation,
    };
    let file = StateFile {
        trace: vec![line],
        ..StateFile::default()
    };
    let text = from_state_file(&file);
    let lines = text.lines().skip_while(|line| !line.starts_with("```"));
    lines.skip(1).take(1).map(str::to_owned).collect()
}

#[test]
fn annotations_are_printed_and_read() {
    let said = |status: Status| Annotation {
        status: Some(status),
        ..Annotation::default()
    };
    let completed = || said(Status::Completed);
    for (annotation, expected) in [
        (
            Annotation {
                path: Some("bindings/a.md".into()),
                ..Annotation::default()
            },
            "--> bindings/a.md",
        ),
        (
            Annotation {
                path: Some("bindings/a.md".into()),
                ..completed()
            },
            "--> bindings/a.md (complete)",
        ),
        (completed(), "(complete)"),
        (
            Annotation {
                attempt: Some((2, Some(3))),
                ..completed()
            },
            "(complete, attempt 2/3)",
        ),
        (said(Status::Executing), "<-- EXECUTING"),
        (
            Annotation {
                attempt: Some((2, Some(3))),
                ..said(Status::Retry)
            },
            "<-- RETRYING (attempt 2/3)",
        ),
        (
            Annotation {
                gate: Some("deploy#2".into()),
                ..said(Status::Waiting)
            },
            "<-- WAITING (gate deploy#2)",
        ),
        (
            Annotation {
                error: Some("no network".into()),
                attempt: Some((3, None)),
                ..said(Status::Failed)
            },
            "(failed, attempt 3: no network)",
        ),
        (said(Status::Skipped), "(skipped)"),
        (said(Status::Other("rejected".into())), "(rejected)"),
        (said(Status::Other("PONDERING".into())), "<-- PONDERING"),
        (
            Annotation {
                ahead: true,
                ..Annotation::default()
            },
            "[not yet entered]",
        ),
    ] {
        let printed = line("x", Some(annotation.clone()));
        assert_eq!(printed, format!("x{:44}# {expected}", ""));
        let (source, read) = annotation::split(&printed);
        let raw = expected.into();
        assert_eq!(
            (source, read),
            ("x", Some(Annotation { raw, ..annotation }))
        );
    }
}

/// Texts from a run's data that look like other lines, rows or annotations are changed, so that they are none.
#[test]
fn no_text_forges_a_line_a_row_or_an_annotation() {
    for (source, printed) in [
        ("x # (complete)", "x"),
        (
            "x # my note # --> bindings/a.md # (complete)",
            "x # my note",
        ),
        ("x ✓ done", "x"),
        ("x # my note", "x # my note"),
    ] {
        assert_eq!(line(source, None), printed);
    }
    let nasty = "no\n## Index\r\n| a | let | b | 1 |\n```\nrun: x\u{2028}\"# (complete) ##(skipped) --> bindings/a.md <!-- <b>";
    let name = || Text::from(nasty);
    let failed = Annotation {
        status: Some(Status::Failed),
        error: Some(name()),
        ..Annotation::default()
    };
    let waiting = Annotation {
        status: Some(Status::Waiting),
        gate: Some(name()),
        ..Annotation::default()
    };
    let written = Annotation {
        path: Some("bindings/a b (failed: no).md".into()),
        ..Annotation::default()
    };
    let other = Annotation {
        status: Some(Status::Other(name())),
        ..Annotation::default()
    };
    for source in ["session \"x\"", "prompt: \"\"\"", "x # (skipped)"] {
        for annotation in [&failed, &waiting, &written, &other] {
            let printed = line(source, Some(annotation.clone()));
            let (read, said) = annotation::split(&printed);
            assert_eq!(read, source, "{printed}");
            let said = said.unwrap();
            match &annotation.status {
                Some(Status::Other(_)) => {
                    assert!(matches!(said.status, Some(Status::Other(_))), "{printed}");
                }
                status => assert_eq!(said.status, *status, "{printed}"),
            }
            assert_eq!(said.path.is_some(), annotation.path.is_some(), "{printed}");
        }
    }
    let file = StateFile {
        run: Some(name()),
        program: Some(name()),
        started: Some(Stamp::parse(nasty)),
        status: Some(RunStatus::Other(name())),
        parallels: vec![ParallelState {
            lines: Some((1, 2)),
            branches: vec![
                ("a: complete".into(), Status::Pending),
                (name(), Status::Other(name())),
            ],
        }],
        loops: vec![LoopState {
            status: name(),
            condition: Some(name()),
            ..LoopState::default()
        }],
        bindings: vec![IndexedBinding {
            name: name(),
            kind: name(),
            path: name(),
            execution_id: None,
        }],
        agents: vec![IndexedAgent {
            name: name(),
            scope: Some(AgentScope::Other(name())),
            path: Some(name()),
        }],
        call_stack: vec![CallFrame {
            execution_id: 1,
            block: name(),
            depth: Some(1),
            status: Status::Other(name()),
        }],
        ..StateFile::default()
    };
    let text = from_state_file(&file);
    assert!(!text.contains("<!") && !text.contains("<b"), "{text}");
    let (read, _) = parse(&text);
    let count = |file: &StateFile| {
        (
            (file.extra.len(), file.sections.len(), file.trace.len()),
            (file.parallels.len(), file.parallels[0].branches.len()),
            (file.loops.len(), file.bindings.len(), file.agents.len()),
            file.call_stack.len(),
        )
    };
    assert_eq!(count(&read), count(&file), "{text}");
    assert_eq!(read.parallels[0].branches[0].1, Status::Pending);
    assert_eq!(read.bindings[0].execution_id, None);
}

#[test]
fn a_status_is_set_in_the_header_of_a_file_by_hand() {
    let file = "# Execution State\n\nrun: r\n**Status:** running\nmode: fast\n\n## Execution Trace\n\n```prose\nstatus: x\n```\n\n## Notes\n\nupdated: never\n";
    let expected = file.replace("**Status:** running", "status: failed\nupdated: now");
    assert_eq!(with_head(file, Some("failed"), Some("now")), expected);
    assert_eq!(with_head(file, None, None), file);
    assert_eq!(
        with_head("# Execution State\n", Some("failed"), None),
        "# Execution State\nstatus: failed\n"
    );
    assert_eq!(
        with_head(file, Some(""), None),
        file.replace("**Status:** running\n", "")
    );
}

/// Opens a folder with a state file, a program and other files, and renders the run.
fn rendered(files: &[(&str, &str)]) -> String {
    let source = crate::read::sqlite::MemorySource::new(
        "d",
        files
            .iter()
            .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
    );
    let run = crate::read::decode::folder::decode(&source, "");
    let listing = run.program.source.as_deref().map(crate::program::scan);
    let trace = crate::trace::fold(&run, listing.as_ref(), None);
    from_run(&run, &trace, listing.as_ref(), &RenderOptions::default())
}

/// Returns the program of the sample: its trace without the annotations.
fn sample_program() -> String {
    let (file, _) = parse(SAMPLE);
    file.trace
        .iter()
        .map(|line| format!("{}\n", line.text))
        .collect()
}

#[test]
fn a_folder_renders_as_its_state_file_says() {
    let program = sample_program();
    let files = [
        ("state.md", SAMPLE),
        ("program.prose", program.as_str()),
        ("bindings/research.md", "# research\nkind: let\n---\nx"),
        ("bindings/a.md", "# a\nkind: let\n---\nx"),
        (
            "bindings/result__43.md",
            "# result\nkind: let\nexecution_id: 43\n---\nx",
        ),
        ("agents/captain/memory.md", "x"),
    ];
    assert_eq!(rendered(&files), SAMPLE);
    // The state file is rendered with the same content if other files of the run are missing.
    assert_eq!(rendered(&files[..2]), SAMPLE);
    assert_eq!(rendered(&files[..1]), SAMPLE);
}

/// Builds a run with a program from rows that are written as in the golden cases.
fn of_rows(
    program: Option<&str>,
    status: &str,
    rows: &[(i64, Option<i64>, &str, &str, &str)],
) -> String {
    let lines: Vec<String> = rows
        .iter()
        .map(|(id, parent, text, status, metadata)| {
            let (parent, text) = (serde_json::json!(parent), serde_json::json!(text));
            format!("{{\"id\":{id},\"parent_id\":{parent},\"statement_text\":{text},\"status\":\"{status}\",\"error_message\":\"no\\nnetwork\",\"metadata\":{metadata}}}")
        })
        .collect();
    let (executions, issues) = crate::read::decode::gates_json::events(&lines.join("\n"));
    assert!(issues.is_empty());
    let run = crate::model::Run {
        id: "r".into(),
        status: Some(RunStatus::parse(status)),
        program: crate::model::Program {
            path: program.map(|_| "program.prose".into()),
            ..crate::model::Program::default()
        },
        executions,
        ..crate::model::Run::default()
    };
    let listing = program.map(crate::program::scan);
    let trace = crate::trace::fold(&run, listing.as_ref(), None);
    from_run(&run, &trace, listing.as_ref(), &RenderOptions::default())
}

const LOOPED: &str = "let research = session \"R\"\nparallel:\n  a = session \"A\"\n  b = session \"B\"\nloop until **complete** (max: 5):\n  session \"Improve\"\n  session \"Check\"\nsession \"Risky\"\n  retry: 3\nsession \"End\"\n";

#[test]
fn rows_render_as_the_present_round() {
    let rows = [
        (1, None, "let research = session", "completed", "{}"),
        (
            2,
            None,
            "parallel:",
            "started",
            r#"{"parallel_id":"p1","branches":["a","b"]}"#,
        ),
        (
            3,
            None,
            "parallel:a",
            "completed",
            r#"{"parallel_id":"p1","branch":"a"}"#,
        ),
        (
            4,
            None,
            "parallel:b",
            "completed",
            r#"{"parallel_id":"p1","branch":"b"}"#,
        ),
        (5, None, "parallel:", "joined", r#"{"parallel_id":"p1"}"#),
        (
            6,
            None,
            "loop",
            "started",
            r#"{"loop_id":"l1","max":5,"condition":"**complete**"}"#,
        ),
        (7, Some(6), "session \"Improve\"", "completed", "{}"),
        (8, Some(6), "session \"Check\"", "completed", "{}"),
        (
            9,
            None,
            "loop",
            "iteration",
            r#"{"loop_id":"l1","iteration":1}"#,
        ),
        (10, Some(6), "session \"Improve\"", "executing", "{}"),
    ];
    let text = of_rows(Some(LOOPED), "running", &rows);
    assert_eq!(
        text,
        concat!(
            "# Execution State\n\nrun: r\nprogram: program.prose\nstatus: running\n\n## Execution Trace\n\n```prose\n",
            "let research = session \"R\"                   # (complete)\n",
            "parallel:                                    # (complete)\n",
            "  a = session \"A\"                            # (complete)\n",
            "  b = session \"B\"                            # (complete)\n",
            "loop until **complete** (max: 5):\n",
            "  session \"Improve\"                          # <-- EXECUTING\n",
            "  session \"Check\"                            # [...next...]\n",
            "session \"Risky\"                              # [...next...]\n",
            "  retry: 3\n",
            "session \"End\"                                # [...next...]\n",
            "```\n\n## Active Constructs\n\n### Loop (lines 5-7)\n\n- status: executing\n- iteration: 2/5\n- condition: complete\n",
            "\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|------|------|------|--------------|\n",
        )
    );
}

#[test]
fn failures_retries_and_programs_that_are_missing() {
    let rows = [
        (1, None, "let research = session", "completed", "{}"),
        (2, None, "session \"Risky\"", "failed", "{}"),
        (
            3,
            None,
            "session \"Risky\"",
            "retry",
            r#"{"attempt":2,"max":3}"#,
        ),
    ];
    let text = of_rows(Some(LOOPED), "running", &rows);
    assert!(
        text.contains(
            "session \"Risky\"                              # <-- RETRYING (attempt 2/3)\n"
        ),
        "{text}"
    );
    let text = of_rows(Some(LOOPED), "failed", &rows[..2]);
    assert!(
        text.contains("session \"Risky\"                              # (failed: no network)\n"),
        "{text}"
    );
    // A run that is over has no next statement.
    assert!(!text.contains("next"), "{text}");
    let text = of_rows(None, "running", &rows);
    assert!(text.contains("```prose\nlet research = session                       # (complete)\nsession \"Risky\"  "), "{text}");
}

#[test]
fn frames_render_innermost_first() {
    let program = "block process(data):\n  let parts = session \"Split\"\n  let r = do process(parts)\n  session \"Join\"\n\nlet data = session \"Load\"\ndo process(data)\n";
    let text = of_rows(
        Some(program),
        "running",
        &[
            (1, None, "let data = session \"Load\"", "completed", "{}"),
            (
                2,
                None,
                "do process(data)",
                "executing",
                r#"{"block":"process","depth":1}"#,
            ),
            (
                3,
                Some(2),
                "let parts = session \"Split\"",
                "completed",
                "{}",
            ),
            (
                4,
                Some(2),
                "let r = do process(parts)",
                "executing",
                r#"{"block":"process","depth":2}"#,
            ),
            (
                5,
                Some(4),
                "let parts = session \"Split\"",
                "executing",
                "{}",
            ),
        ],
    );
    assert!(text.ends_with("## Call Stack\n\n| execution_id | block | depth | status |\n|--------------|-------|-------|--------|\n| 4 | process | 2 | executing |\n| 2 | process | 1 | waiting |\n"), "{text}");
    assert!(
        text.contains("  let parts = session \"Split\"                # <-- EXECUTING\n"),
        "{text}"
    );
}

#[test]
fn a_recursion_that_is_over_marks_the_statements_of_all_its_calls() {
    let program = "block f(n):\n  if **small**:\n    return n\n  session \"Split\"\n  do f(n)\n\ndo f(3)\nsession \"End\"\n";
    let (one, two) = (r#"{"block":"f","depth":1}"#, r#"{"block":"f","depth":2}"#);
    let rows = [
        (1, None, "do f(3)", "executing", one),
        (2, Some(1), "session \"Split\"", "completed", "{}"),
        (3, Some(1), "do f(n)", "executing", two),
        (4, Some(3), "if **small**:", "executing", "{}"),
        (5, Some(4), "return n", "completed", "{}"),
        (6, Some(3), "if **small**:", "completed", "{}"),
        (7, Some(1), "do f(n)", "completed", two),
        (8, None, "do f(3)", "completed", one),
        (9, None, "session \"End\"", "executing", "{}"),
    ];
    let text = of_rows(Some(program), "running", &rows);
    let marked = text.lines().filter(|line| line.ends_with("(complete)"));
    let marked: Vec<&str> = marked.filter_map(|line| line.split('#').next()).collect();
    let marked: Vec<&str> = marked.into_iter().map(str::trim).collect();
    assert_eq!(
        marked,
        [
            "if **small**:",
            "return n",
            "session \"Split\"",
            "do f(n)",
            "do f(3)"
        ],
        "{text}"
    );
}

#[test]
fn a_window_ends_five_to_ten_lines_ahead() {
    let program: String = (1..=100)
        .map(|i| format!("session \"{i}\"\n  prompt: \"x\"\n"))
        .collect();
    let text = of_rows(
        Some(&program),
        "running",
        &[(1, None, "session \"10\"", "executing", "{}")],
    );
    let lines = text
        .lines()
        .skip_while(|l| !l.starts_with("```"))
        .skip(1)
        .take_while(|l| !l.starts_with("```"))
        .count();
    assert_eq!(lines, 30);
}
