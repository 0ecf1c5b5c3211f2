use super::*;
use crate::model::{AgentScope, Annotation, RunStatus, Status, Text};

fn text(s: &str) -> Text {
    s.into()
}

/// Returns the rules of the issues, in order.
fn rules(issues: &[Issue]) -> Vec<&str> {
    issues.iter().map(|i| i.rule.as_str()).collect()
}

#[test]
fn reads_the_sample_of_the_form() {
    let (file, issues) = parse(include_str!("../../../record/render/state_md/sample.md"));
    assert_eq!(rules(&issues), [""; 0]);
    assert_eq!(file.run, Some(text("20260115-143052-a7b3c9")));
    assert_eq!(file.program, Some(text("feature-implementation.prose")));
    assert_eq!(
        file.started.as_ref().map(ToString::to_string).as_deref(),
        Some("2026-01-15T14:30:52Z")
    );
    assert_eq!(
        file.updated.as_ref().map(ToString::to_string).as_deref(),
        Some("2026-01-15T14:35:22Z")
    );
    assert_eq!(file.status, Some(RunStatus::Running));
    assert_eq!(file.trace.len(), 17);
    let at = |line: usize| file.trace[line - 1].annotation.clone().unwrap_or_default();
    assert_eq!(
        (at(5).path, at(5).status),
        (Some(text("bindings/research.md")), None)
    );
    assert_eq!(
        (at(9).path, at(9).status),
        (Some(text("bindings/a.md")), Some(Status::Completed))
    );
    assert_eq!(at(10).status, Some(Status::Executing));
    assert!(at(12).ahead && at(16).ahead);
    assert_eq!(
        &*file.trace[11].text,
        "loop until **both risks understood** (max: 3):"
    );
    assert_eq!(file.trace[16].line, Some(17));
    assert_eq!(file.parallels[0].lines, Some((8, 10)));
    assert_eq!(
        file.parallels[0].branches,
        [
            (text("a"), Status::Completed),
            (text("b"), Status::Executing)
        ]
    );
    let waiting = &file.loops[0];
    assert_eq!(
        (
            waiting.lines,
            &*waiting.status,
            waiting.iteration,
            waiting.max
        ),
        (Some((12, 14)), "not yet entered", Some(0), Some(3))
    );
    assert_eq!(waiting.condition, Some(text("both risks understood")));
    let index: Vec<_> = file
        .bindings
        .iter()
        .map(|b| (&*b.name, &*b.kind, &*b.path, b.execution_id))
        .collect();
    assert_eq!(
        index,
        [
            ("research", "let", "bindings/research.md", None),
            ("a", "let", "bindings/a.md", None),
            ("result", "let", "bindings/result__43.md", Some(43)),
        ]
    );
    assert_eq!(file.agents[0].scope, Some(AgentScope::Execution));
    assert_eq!(file.agents[0].path, Some(text("agents/captain/")));
    let stack: Vec<_> = file
        .call_stack
        .iter()
        .map(|f| (f.execution_id, &*f.block, f.depth, f.status.clone()))
        .collect();
    assert_eq!(
        stack,
        [
            (43, "process", Some(3), Status::Executing),
            (42, "process", Some(2), Status::Waiting),
            (41, "process", Some(1), Status::Waiting),
        ]
    );
}

/// Checks that a line of the trace is split into this source and this annotation, described in a few words.
fn check_line(line: &str, source: &str, said: &str) {
    let (read, annotation) = annotation::split(line);
    let say = |a: Annotation| {
        let mut words: Vec<String> = Vec::new();
        words.extend(a.status.map(|s| s.word().to_owned()));
        words.extend(a.path.map(|p| format!("at {p}")));
        words.extend(a.attempt.map(|(n, of)| format!("attempt {n} of {of:?}")));
        words.extend(a.error.map(|e| format!("error {e}")));
        words.extend(a.gate.map(|g| format!("gate {g}")));
        words.extend(a.ahead.then(|| "ahead".to_owned()));
        words.extend(a.declared.then(|| "declared".to_owned()));
        words.join(", ")
    };
    assert_eq!(
        (read, annotation.map(say).as_deref().unwrap_or("-")),
        (source, said),
        "{line}"
    );
}

#[test]
fn reads_annotations_as_documents_and_real_files_write_them() {
    for (line, source, said) in [
        // These are the examples of filesystem.md, "Status annotations", and of errata F1.
        ("x   # --> bindings/name.md", "x", "at bindings/name.md"),
        (
            "x   # --> bindings/name.md (complete)",
            "x",
            "completed, at bindings/name.md",
        ),
        ("x   # <-- EXECUTING", "x", "executing"),
        ("x   # (complete)", "x", "completed"),
        ("x   # [not yet entered]", "x", "ahead"),
        ("x   # [...next...]", "x", "ahead"),
        (
            "x   # <-- RETRYING (attempt 2/3)",
            "x",
            "retry, attempt 2 of Some(3)",
        ),
        (
            "x   # (failed: no network: try again)",
            "x",
            "failed, error no network: try again",
        ),
        ("x   # (skipped)", "x", "skipped"),
        (
            "x   # <-- WAITING (gate deploy)",
            "x",
            "waiting, gate deploy",
        ),
        // These are examples of docs/reference/formats.md.
        ("x   # [registered]", "x", "declared"),
        ("x   # (registered)", "x", "declared"),
        ("x   # (complete - APPROVED)", "x", "completed"),
        ("x   # --> exceptions.py created", "x", "completed"),
        ("x   # --> __init__.py", "x", "at __init__.py"),
        ("x   ✓ DONE", "x", "completed"),
        ("x   ✓ defined", "x", "declared"),
        ("x   <-- EXECUTING", "x", "executing"),
        ("x   # ✅ --> bindings/a.md", "x", "at bindings/a.md"),
        ("x   # ✗ no network", "x", "failed, error no network"),
        ("x   # --> bindings/a\\_b.md", "x", "at bindings/a_b.md"),
        ("x   # (rejected)", "x", "rejected"),
        (
            "x   # (complete, attempt 2/3)",
            "x",
            "completed, attempt 2 of Some(3)",
        ),
        (
            "x   # (failed, attempt 3/3: gone)",
            "x",
            "failed, attempt 3 of Some(3), error gone",
        ),
        ("x   # <-- PONDERING", "x", "PONDERING"),
        // The last comment that can be read as an annotation is the annotation.
        (
            "x  # (complete)   # <-- EXECUTING",
            "x  # (complete)",
            "executing",
        ),
        ("x  # my note   # (complete)", "x  # my note", "completed"),
        (
            "x   # (failed: see issue #42)",
            "x",
            "failed, error see issue #42",
        ),
        (
            "session \"say \\\"# (complete)\\\" twice\"",
            "session \"say \\\"# (complete)\\\" twice\"",
            "-",
        ),
        (
            "prompt: \"it\"s\"   # (complete)",
            "prompt: \"it\"s\"",
            "completed",
        ),
        // The program's own comments stay in the source.
        ("# Hello World", "# Hello World", "-"),
        ("# (complete)", "# (complete)", "-"),
        ("#", "#", "-"),
        (
            "x   # (complete rewrite of the parser)",
            "x   # (complete rewrite of the parser)",
            "-",
        ),
        (
            "x   # see [registered users]",
            "x   # see [registered users]",
            "-",
        ),
        (
            "  - ✓ the tests must pass",
            "  - ✓ the tests must pass",
            "-",
        ),
        ("context: [a, b]", "context: [a, b]", "-"),
        ("a -> b -> c", "a -> b -> c", "-"),
        ("", "", "-"),
    ] {
        check_line(line, source, said);
    }
}

#[test]
fn reads_real_headers() {
    for (header, run, updated, status) in [
        (
            "run: r1\nupdated: 2026-01-15T14:35:22Z\nstatus: COMPLETED",
            "r1",
            "2026-01-15T14:35:22Z",
            "completed",
        ),
        (
            "run: r1\ncompleted: 2026-01-15 14:35:22\nstatus: complete",
            "r1",
            "2026-01-15T14:35:22Z",
            "completed",
        ),
        (
            "**Run:** `r1`\r\n- **Status**: Completed (all stages)",
            "r1",
            "",
            "completed",
        ),
        ("Run ID: r\\_1\nstatus: stuck", "r_1", "", "stuck"),
        ("run: (none)\nupdated: soon", "", "soon", ""),
    ] {
        let (file, _) = parse(&format!("# Execution State\n\n{header}\n"));
        assert_eq!(file.run.as_deref().unwrap_or_default(), run, "{header}");
        assert_eq!(
            file.updated.map(|at| at.to_string()).unwrap_or_default(),
            updated,
            "{header}"
        );
        assert_eq!(
            file.status.as_ref().map_or("", RunStatus::word),
            status,
            "{header}"
        );
    }
    let (file, issues) =
        parse("# Execution State\nrun: r1\nupdated: soon\nmode: fast\nrun: r2\nno key here\n");
    assert_eq!(
        file.extra,
        [(text("mode"), text("fast")), (text("run"), text("r2"))]
    );
    assert_eq!(
        file.sections,
        [(text("Header (text)"), text("no key here"))]
    );
    assert_eq!(rules(&issues), ["unreadable-time", "state-file-incomplete"]);
    assert_eq!(issues[0].location.line, Some(3));
    assert_eq!(
        issues[0].message,
        "\u{201c}soon\u{201d} under `updated` is not a time"
    );
    assert_eq!(
        issues[1].message,
        "the state file does not contain the program, the start time, the execution trace, the index"
    );
}

#[test]
fn nothing_is_said_in_many_ways() {
    let (file, issues) = parse(concat!(
        "# Execution State\n\n## Active Constructs\n\nNone\n\n## Index\n\n### Bindings\n\n",
        "| Name | Kind | Path | Execution ID |\n|---|---|---|---|\n| (none yet) | | | |\n\n### Agents\n\n",
        "(none - execution complete)\n\n## Call Stack\n\nEmpty (root scope)\n"
    ));
    assert_eq!(
        (
            file.bindings.len(),
            file.agents.len(),
            file.call_stack.len()
        ),
        (0, 0, 0)
    );
    assert_eq!(
        (file.parallels.len(), file.loops.len(), file.sections.len()),
        (0, 0, 0)
    );
    assert_eq!(rules(&issues), ["state-file-incomplete"]);
}

#[test]
fn reads_indexes_of_other_columns_and_lists() {
    let (file, issues) = parse(concat!(
        "# Execution State\n## Index\n### Bindings\n",
        "| Name | Kind | Path | Status |\n|---|---|---|---|\n",
        "| a | let | `bindings/a.md` | written |\n| result\\_\\_x | let | `bindings/r.md` |\n",
        "| deep | let | bindings/deep__7.md | |\n",
        "\n- spec: bindings/spec.md\n- round1: (pending)\n- **out**: bindings/out.md (output)\n",
        "### Agents\n| Name | Model | Prompt |\n|---|---|---|\n| reviewer | sonnet | \"You \\| are\" |\n",
    ));
    let index: Vec<_> = file
        .bindings
        .iter()
        .map(|b| (&*b.name, &*b.kind, &*b.path, b.execution_id))
        .collect();
    assert_eq!(
        index,
        [
            ("a", "let", "bindings/a.md", None),
            ("result__x", "let", "bindings/r.md", None),
            ("deep", "let", "bindings/deep__7.md", Some(7)),
            ("spec", "", "bindings/spec.md", None),
            ("round1", "", "", None),
            ("out", "output", "bindings/out.md", None),
        ]
    );
    assert_eq!(&*file.agents[0].name, "reviewer");
    assert_eq!(
        rules(&issues),
        ["index-without-frames", "state-file-incomplete"]
    );
}

#[test]
fn keeps_what_it_does_not_understand() {
    let (file, issues) = parse(concat!(
        "# Execution State\n## Results Summary\n\n### Files\n- a.py\n```sh\n## no heading\n```\n## Active Constructs\n",
        "### Gate\n- deploy: pending\n### Loop (lines 4–6): refine\n- iteration: 2 of 5\n- mood: good\nodd line\n",
        "## Call Stack\n| main | - | 0 | done |\n"
    ));
    assert_eq!(
        file.sections,
        [
            (
                text("Results Summary"),
                text("### Files\n- a.py\n```sh\n## no heading\n```")
            ),
            (text("Active Constructs: Gate"), text("- deploy: pending")),
            (text("Active Constructs (text)"), text("odd line")),
            (text("Call Stack (text)"), text("| main | - | 0 | done |")),
        ]
    );
    assert_eq!(
        (
            file.loops[0].lines,
            file.loops[0].iteration,
            file.loops[0].max
        ),
        (Some((4, 6)), Some(2), Some(5))
    );
    assert_eq!(
        rules(&issues),
        [
            "extra-section",
            "extra-section",
            "unreadable-frame",
            "state-file-incomplete"
        ]
    );
}

#[test]
fn a_trace_may_be_elided_or_unclosed() {
    let (file, issues) = parse(
        "# Execution State\n## Execution Trace\n```prose\na   # (complete)\n...remaining stages...\nb\n```\n",
    );
    let lines: Vec<_> = file.trace.iter().map(|l| (&*l.text, l.line)).collect();
    assert_eq!(
        lines,
        [
            ("a", Some(1)),
            ("...remaining stages...", None),
            ("b", None)
        ]
    );
    assert_eq!(rules(&issues), ["elided-trace", "state-file-incomplete"]);

    let (file, issues) = parse(
        "# Execution State\n## Execution Trace\n```prose\na\n## Index\n### Agents\n- x: agents/x/\n",
    );
    assert_eq!((file.trace.len(), file.agents.len()), (1, 1));
    assert_eq!(rules(&issues), ["unclosed-fence", "state-file-incomplete"]);
    assert_eq!(
        issues[0].hint,
        "The trace was read up to the next known section."
    );
}

#[test]
fn knows_the_forms_by_content() {
    for (content, expected) in [
        ("# Execution State\n", FolderForm::StateMd),
        ("\u{feff}\r\n# execution state\r\n", FolderForm::StateMd),
        ("run: x\n## Execution Trace\n", FolderForm::StateMd),
        (
            "# run:20260213-105319-63068c self-experiment.prose\n",
            FolderForm::CompactLog,
        ),
        (
            "# Run State — 20260716-082519-hak1oi\n",
            FolderForm::Receipts,
        ),
        ("# VM Log\n", FolderForm::VmLog),
        (
            "{\n\t\"data\": \"ENC[AES256_GCM\",\n\t\"sops\": {}\n}\n12→ x ✓\n",
            FolderForm::CompactLog,
        ),
        (
            "{\n\t\"data\": \"ENC[AES256_GCM\",\n\t\"sops\": {}\n}\n",
            FolderForm::Foreign,
        ),
        ("1→ plan ✓\n", FolderForm::CompactLog),
        ("hello", FolderForm::Foreign),
        ("", FolderForm::Foreign),
    ] {
        assert_eq!(form(content), expected, "{content}");
    }
}

#[test]
fn is_bounded() {
    // A quadratic reader would take minutes for each of these.
    let heads = [
        "# Execution State\n",
        "# Execution State\n## Execution Trace\n```prose\n",
        "# Execution State\n## Index\n",
        "# Execution State\n## Active Constructs\n### Parallel\n",
    ];
    for unit in [
        "# ",
        "|",
        "\n",
        "````\n## Index\n",
        "- a: b\n",
        "#(",
        "\\",
        "## x\n",
        "✓ ",
        "-->(",
        "\"# (complete)",
    ] {
        let body = unit.repeat(300_000 / unit.len());
        for head in heads {
            let (file, issues) = parse(&format!("{head}{body}"));
            assert!(
                file.trace.len() <= MOST_LINES && issues.len() <= MOST_EXTRAS + 4,
                "{unit}"
            );
        }
    }
    let (file, issues) = parse(&format!(
        "# Execution State\n```\n{}```\n## Call Stack\n| 1 | b | 1 | waiting |\n",
        "x\n".repeat(MOST_LINES + 5)
    ));
    assert_eq!((file.trace.len(), file.call_stack.len()), (MOST_LINES, 1));
    assert_eq!(rules(&issues), ["state-file-cut", "state-file-incomplete"]);
    assert_eq!(
        issues[0].message,
        "the execution trace has more than 100000 lines"
    );
}
