mod ran;

use crate::chance::cases;
use proptest::prelude::*;

use super::*;
use crate::decode::state_md::parse;
use crate::model::{
    AgentScope, Annotation, CallFrame, IndexedAgent, IndexedBinding, LoopState, ParallelState,
    RunStatus, StateFile, Status, Text, TraceLine,
};
use crate::time::Stamp;

const SAMPLE: &str = include_str!("../sample.md");

/// Renders a file, parses the text and renders it again, which must not change the text.
fn stable(file: &StateFile) -> (String, StateFile) {
    let text = from_state_file(file);
    let (read, _) = parse(&text);
    assert_eq!(from_state_file(&read), text);
    (text, read)
}

#[test]
fn the_sample_comes_out_as_it_went_in() {
    let (file, _) = parse(SAMPLE);
    assert_eq!(from_state_file(&file), SAMPLE);
}

#[test]
fn an_empty_state_has_an_index() {
    let (text, _) = stable(&StateFile::default());
    assert_eq!(
        text,
        "# Execution State\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID |\n|------|------|------|--------------|\n"
    );
}

#[test]
fn what_was_printed_once_is_printed_so_again() {
    // Found by fuzzing: a key that became longer with each writing, and lines with several line ends.
    for read in [
        "## Other\n\n###\r\r\r\r\n\r\rx\r\r\ny\r\r\r\n".to_owned(),
        format!("{}:", "\0".repeat(100)),
        format!("{}: x", "k".repeat(401)),
    ] {
        let _ = stable(&parse(&read).0);
    }
}

#[test]
fn a_line_of_a_program_that_looks_left_out_is_not() {
    let trace = |text: &str, line| TraceLine {
        line,
        text: text.into(),
        annotation: None,
    };
    let file = StateFile {
        trace: vec![
            trace("session \"\"\"", Some(1)),
            trace("... and so on ...", Some(2)),
            trace("\"\"\"", Some(3)),
        ],
        ..StateFile::default()
    };
    let (text, read) = stable(&file);
    assert!(text.contains("... and so on ..."), "{text}");
    assert_eq!(read.trace, file.trace);
    // A line that the writer left out stays left out.
    let file = StateFile {
        trace: vec![trace("...remaining stages...", None)],
        ..StateFile::default()
    };
    assert_eq!(stable(&file).1.trace, file.trace);
}

#[test]
fn real_words_stay_as_they_were() {
    let real = concat!(
        "# Execution State\n\nrun: r\nstatus: completed\nmode: fast\n\n## Execution Trace\n\n```prose\n",
        "a                                            # (complete - APPROVED)\n",
        "b                                            # --> exceptions.py created\n",
        "c  # (complete)                              #\n",
        "```\n\n## Index\n\n### Bindings\n\n| Name | Kind | Path | Execution ID | Status |\n",
        "|------|------|------|--------------|--------|\n| a | let |  | (root) | pending |\n\n## Results\n\n\\# one\n### two\n"
    );
    let (file, _) = parse(real);
    assert_eq!(from_state_file(&file), real);
    assert_eq!(file.sections[0].1.as_ref(), "# one\n### two");
}

/// The content that must be equal after rendering and parsing (docs/reference/formats.md).
#[derive(Debug, PartialEq)]
struct Carried {
    ids: (Option<Text>, Option<Text>, Option<RunStatus>),
    times: (Option<String>, Option<String>),
    lines: Vec<(Text, Option<Said>)>,
    parallels: Vec<ParallelState>,
    loops: Vec<LoopState>,
    bindings: Vec<IndexedBinding>,
    agents: Vec<IndexedAgent>,
    call_stack: Vec<CallFrame>,
    extra: Vec<(Text, Text)>,
}

type Said = (
    Option<Status>,
    Option<Text>,
    Option<(u32, Option<u32>)>,
    Option<Text>,
    Option<Text>,
    bool,
    bool,
);

fn carried(file: &StateFile) -> Carried {
    let said = |a: &Annotation| {
        (
            a.status.clone(),
            a.path.clone(),
            a.attempt,
            a.error.clone(),
            a.gate.clone(),
            a.ahead,
            a.declared,
        )
    };
    Carried {
        ids: (file.run.clone(), file.program.clone(), file.status.clone()),
        times: (
            file.started.as_ref().map(ToString::to_string),
            file.updated.as_ref().map(ToString::to_string),
        ),
        lines: file
            .trace
            .iter()
            .map(|l| (l.text.clone(), l.annotation.as_ref().map(said)))
            .collect(),
        parallels: file.parallels.clone(),
        loops: file.loops.clone(),
        bindings: file.bindings.clone(),
        agents: file.agents.clone(),
        call_stack: file.call_stack.clone(),
        extra: file.extra.clone(),
    }
}

/// Generates names: plain ones, and ones with every character and word that has a meaning in state.md.
fn name() -> impl Strategy<Value = Text> {
    prop_oneof![
        "[a-z_]{1,8}",
        "[a-z|\\\\&#;:`*\\[\\]() \n\r\t\u{1b}\u{202e}\u{2028}é\"'/_.-]{1,12}",
        proptest::sample::select(vec![
            "none",
            "None",
            "(none)",
            "-",
            "---",
            "(root)",
            "n/a",
            "status",
            "strategy",
            "iteration",
            "condition",
            "*a*",
            "**a**",
            "`a`",
            "[a](b)",
            "a__43",
            "../x",
            "| a |",
            "# Index",
            "```",
            "&#10;",
            "\\",
            "x\\",
            "complete",
            "run",
            "#",
            "✓",
            "running",
            "executing (2)",
            "a #(complete)",
            "bindings/a b.md",
            "()",
            "--> x",
            "a: b",
        ])
        .prop_map(str::to_owned),
    ]
    .prop_map(|s| Text::from(s.as_str()))
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        4 => proptest::sample::select(vec![
            Status::Pending, Status::Executing, Status::Started, Status::Waiting, Status::Iteration, Status::Retry,
            Status::Completed, Status::Failed, Status::Skipped, Status::Joined, Status::Exited,
        ]),
        1 => name().prop_map(|n| Status::parse(&n)),
    ]
}

fn attempt() -> impl Strategy<Value = Option<(u32, Option<u32>)>> {
    proptest::option::weighted(0.3, (1..20u32, proptest::option::of(1..20u32)))
}

/// Generates annotations as a writer makes them, each with one meaning.
fn annotation() -> impl Strategy<Value = Annotation> {
    let done = proptest::option::of(proptest::sample::select(vec![
        Status::Completed,
        Status::Skipped,
    ]));
    prop_oneof![
        (name(), done).prop_map(|(path, status)| Annotation {
            path: Some(path),
            status,
            ..Annotation::default()
        }),
        (name(), proptest::option::of(name()), attempt()).prop_map(|(path, error, attempt)| {
            Annotation {
                path: Some(path),
                status: Some(Status::Failed),
                error: error.filter(|e| !e.trim().is_empty()),
                attempt,
                ..Annotation::default()
            }
        }),
        (status(), attempt()).prop_map(|(status, attempt)| Annotation {
            status: Some(status),
            attempt,
            ..Annotation::default()
        }),
        (proptest::option::of(name()), attempt()).prop_map(|(error, attempt)| Annotation {
            status: Some(Status::Failed),
            error: error.filter(|e| !e.trim().is_empty()),
            attempt,
            ..Annotation::default()
        }),
        name().prop_map(|gate| Annotation {
            status: Some(Status::Waiting),
            gate: Some(gate),
            ..Annotation::default()
        }),
        Just(Annotation {
            ahead: true,
            ..Annotation::default()
        }),
        Just(Annotation {
            declared: true,
            ..Annotation::default()
        }),
    ]
}

fn source_line() -> impl Strategy<Value = Text> {
    prop_oneof![
        "[ ]{0,4}[a-z]{1,8} = session \"[a-z #(]{0,12}\"",
        "[ ]{0,2}[a-z`#|\"() \u{1b}\\\\]{1,20}",
        proptest::sample::select(vec![
            "",
            "```",
            "````prose",
            "~~~",
            "## Index",
            "# (complete)",
            "x # (complete)",
            "#",
            "x #",
            "x   # --> y",
            "...",
            "...more...",
            "parallel:",
            "prompt: \"\"\"",
            "✓ done",
            "x ✓ done",
            "x [registered]",
            "x <-- y",
            "# Execution State",
        ])
        .prop_map(str::to_owned),
    ]
    .prop_map(|s| s.trim_end().into())
}

fn line() -> impl Strategy<Value = TraceLine> {
    (source_line(), proptest::option::of(annotation())).prop_map(|(text, annotation)| TraceLine {
        line: None,
        // An annotation on an empty line would be read as a comment of the program.
        annotation: annotation.filter(|_| !text.trim().is_empty()),
        text,
    })
}

fn lines_at() -> impl Strategy<Value = Option<(u32, u32)>> {
    proptest::option::of((1..500u32, 1..500u32))
}

fn other() -> impl Strategy<Value = Vec<(Text, Text)>> {
    proptest::option::weighted(0.2, name())
        .prop_map(|v| v.map(|v| (Text::from("Status"), v)).into_iter().collect())
}

fn state_file() -> impl Strategy<Value = StateFile> {
    use proptest::collection::vec;
    use proptest::option::of;
    let at = of(prop_oneof![
        (0..4_102_444_800i64).prop_map(|s| Stamp::At(s * 1000)),
        name().prop_map(|n| Stamp::parse(&n))
    ]);
    let header = (
        of(name()),
        of(name()),
        at.clone(),
        at,
        of(name().prop_map(|n| RunStatus::parse(&n))),
    );
    let parallel =
        (lines_at(), vec((name(), status()), 0..4)).prop_map(|(lines, branches)| ParallelState {
            lines,
            branches,
            extra: Vec::new(),
        });
    let looped = (lines_at(), name(), of(0..9u32), of(0..9u32), of(name())).prop_map(
        |(lines, status, iteration, max, condition)| LoopState {
            lines,
            status,
            iteration,
            max,
            condition,
            extra: Vec::new(),
        },
    );
    let binding = (name(), name(), name(), of(-9..99i64), other()).prop_map(
        |(name, kind, path, execution_id, other)| IndexedBinding {
            name,
            kind,
            path,
            execution_id,
            other,
        },
    );
    let agent = (
        name(),
        of(name().prop_map(|n| AgentScope::parse(&n))),
        of(name()),
        other(),
    )
        .prop_map(|(name, scope, path, other)| IndexedAgent {
            name,
            scope,
            path,
            other,
        });
    let frame = (-9..99i64, name(), of(-9..99i64), status()).prop_map(
        |(execution_id, block, depth, status)| CallFrame {
            // 0 would be read as the root, which is not a frame.
            execution_id: if execution_id == 0 { 1 } else { execution_id },
            block,
            depth,
            status,
        },
    );
    let sections = vec(
        (
            name(),
            vec(source_line(), 0..4).prop_map(|l| Text::from(l.join("\n").as_str())),
        ),
        0..3,
    );
    (
        header,
        vec((name(), name()), 0..3),
        vec(line(), 0..8),
        (vec(parallel, 0..3), vec(looped, 0..3)),
        (vec(binding, 0..4), vec(agent, 0..3), vec(frame, 0..4)),
        sections,
    )
        .prop_map(
            |(
                (run, program, started, updated, status),
                extra,
                trace,
                (parallels, loops),
                rows,
                sections,
            )| {
                let (bindings, agents, call_stack) = rows;
                StateFile {
                    run,
                    program,
                    started,
                    updated,
                    status,
                    extra,
                    trace,
                    parallels,
                    loops,
                    bindings,
                    agents,
                    call_stack,
                    root: None,
                    sections,
                }
            },
        )
}

/// Gives one spelling to content that state.md cannot distinguish, before two files are compared.
fn normal(mut file: StateFile) -> StateFile {
    let blank = |t: &Text| t.trim().is_empty();
    // A time that cannot be parsed keeps its text without blanks around it.
    for at in [&mut file.started, &mut file.updated] {
        *at = at
            .take()
            .map(|at| Stamp::parse(at.to_string().trim()))
            .filter(|at| !at.to_string().is_empty());
    }
    // `a` and `a` with a blank at the end are the same status word (`Status::parse`).
    file.agents
        .retain(|a| a.scope != Some(AgentScope::Other("".into())));
    file.status = file.status.filter(|s| !s.word().is_empty());
    // Line numbers are not compared, because the generated files have none.
    file.trace.iter_mut().for_each(|l| l.line = None);
    file.bindings
        .iter_mut()
        .for_each(|b| b.other.retain(|(_, v)| !blank(v)));
    file.agents
        .iter_mut()
        .for_each(|a| a.other.retain(|(_, v)| !blank(v)));
    file
}

proptest! {
    #![proptest_config(cases(200, 20_260_115))]

    #[test]
    fn what_is_carried_comes_back(file in state_file()) {
        let file = normal(file);
        let text = from_state_file(&file);
        let (read, _) = parse(&text);
        prop_assert_eq!(carried(&normal(read.clone())), carried(&file), "{}", text);
        prop_assert_eq!(from_state_file(&read), text);
    }

    #[test]
    fn any_text_renders_stably(text in "([#|`\\- a:()>\\[\\]\n\r*\"✓\\\\&;]|## |### Bindings\n|```prose\n|# --> |\\| a \\| b \\|\n){0,60}") {
        let (file, _) = parse(&text);
        stable(&file);
        let (file, _) = parse(&format!("# Execution State\n## Index\n{text}"));
        stable(&file);
    }
}

/// Opens a folder with a state file, a program and other files, and renders the run.
fn rendered(files: &[(&str, &str)]) -> String {
    let source = crate::sqlite::MemorySource::new(
        "d",
        files
            .iter()
            .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
    );
    let run = crate::decode::folder::decode(&source, "");
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
    let (executions, issues) = crate::decode::gates_json::events(&lines.join("\n"));
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
    let text = from_run(&run, &trace, listing.as_ref(), &RenderOptions::default());
    // The rendered text is read as a run again, which must render the same.
    let mut files = vec![("state.md", text.as_str())];
    files.extend(program.map(|p| ("program.prose", p)));
    let again = rendered(&files);
    // Rows that no program could produce may differ after reading, but their text may not.
    files[0].1 = &again;
    assert_eq!(rendered(&files), again);
    text
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
        text.contains(
            "session \"Risky\"                              # (failed: no&#10;network)\n"
        ),
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

/// Generates a run: whether each construct was entered and left, and rows inside with their status.
fn any_rows() -> impl Strategy<Value = ([u8; 3], Vec<(usize, usize)>)> {
    (
        [0..3u8, 0..3u8, 0..3u8],
        proptest::collection::vec((0..7usize, 0..4usize), 0..10),
    )
}

const MIXED: &str = "input topic: \"?\"\nblock process(data):\n  let parts = session \"Split\"\n  let r = do process(parts)\nlet research = session \"R\"\nparallel:\n  a = session \"A\"\n  b = session \"B\"\nloop until **complete** (max: 5):\n  session \"Improve\"\ntry:\n  session \"Risky\"\ncatch:\n  session \"Mend\"\napprove ship:\n  prompt: \"?\"\ndo process(research)\noutput report = session \"End\"\n";

proptest! {
    #![proptest_config(cases(200, 20_260_115))]

    /// Parsing the rendered text gives the same run, as far as state.md can represent it.
    #[test]
    fn any_run_renders_to_a_run_that_renders_the_same((entered, rows) in any_rows(), run_status in 0..4usize, with_program in any::<bool>()) {
        let texts = [
            (None, "let research = session \"R\"", "{}"),
            (Some(0), "parallel:a", r#"{"parallel_id":"p1","branch":"a"}"#),
            (Some(0), "parallel:b", r#"{"parallel_id":"p1","branch":"b"}"#),
            (Some(1), "session \"Improve\"", "{}"),
            (None, "session \"Risky\"", "{}"),
            (Some(2), "let parts = session \"Split\"", "{}"),
            (None, "output report = session \"End\"", "{}"),
        ];
        let constructs = [
            ("parallel:", r#"{"parallel_id":"p1","branches":["a","b"]}"#, "started", "joined"),
            ("loop until **complete** (max: 5):", r#"{"loop_id":"l1","max":5,"condition":"**complete**"}"#, "started", "exited"),
            ("do process(research)", r#"{"block":"process"}"#, "executing", "completed"),
        ];
        let words = ["executing", "completed", "failed", "skipped"];
        let run_words = ["running", "completed", "failed", "interrupted"];
        // A program runs in order, so nothing after an open construct has run.
        let mut entered = entered;
        if let Some(open) = entered.iter().position(|e| *e == 1) {
            entered[open + 1..].fill(0);
        }
        let still = entered.contains(&1);
        let mut made = Vec::new();
        for (i, (text, metadata, open, _)) in constructs.into_iter().enumerate() {
            if entered[i] > 0 {
                made.push((i as i64 + 1, None, text, open, metadata));
            }
        }
        // One row for each text, because state.md only represents the current pass.
        let mut rows = rows;
        rows.sort_unstable();
        rows.dedup_by_key(|(text, _)| *text);
        for (id, (text, word)) in (4i64..).zip(rows) {
            let (place, text, metadata) = texts[text];
            if place.is_none_or(|place: usize| entered[place] > 0) && !(still && (text.contains("Risky") || text.starts_with("output"))) {
                made.push((id, place.map(|p| p as i64 + 1), text, words[word], metadata));
            }
        }
        for (i, (text, metadata, _, left)) in constructs.into_iter().enumerate() {
            if entered[i] == 2 {
                made.push((100 + i as i64, None, text, left, metadata));
            }
        }
        let run_words = run_words[run_status];
        let rows = made;
        of_rows(with_program.then_some(MIXED), run_words, &rows);
    }
}
