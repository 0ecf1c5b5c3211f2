//! Records a whole program from beginning to end by a script of commands, in both forms: agents, a parallel, a loop,
//! a retry, recursion three deep, an import, a rejected gate. Both forms must give the same run.

use crate::project::{FORMS, Project, text};

pub(crate) const PROGRAM: &str = r#"use "https://p.prose.md/@alice/deep-research" as research

agent researcher:
  model: sonnet

agent captain:
  model: opus
  persist: true

let findings = research(topic: "AI safety")

let draft = session: researcher
  prompt: "Research AI safety"

parallel:
  a = session "Analyze risk A"
  b = session "Analyze risk B"

loop until **analysis complete** (max: 3):
  session "Synthesize"
    context: { a, b, draft }

block process(part):
  let result = session "Process {part}"
  do process(result)

do process(draft)

resume: captain
  prompt: "Review the synthesis"

session "Send the letter"
  retry: 3

approve publish:
  prompt: "Publish it?"

output report = session "Write the report"
"#;

/// Records the program, and returns the run's id.
fn record(project: &Project, form: &str) -> String {
    let run = project.init(form);
    let go = |args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--run", &run]);
        project.line(&args)
    };
    let begin = |args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--run", &run]);
        project.begin(&args)
    };
    let put = |name: &str, execution: &str, value: &str| {
        let args = [
            "put",
            name,
            "--run",
            &run,
            "--into",
            execution,
            "--not-done",
        ];
        project.expect(0, &args, value.as_bytes())
    };
    go(&["begin", "1"]);

    let import = begin(&["10"]);
    // In a database, the result of an import is a binding with a dotted name; in a folder, it is a binding of the
    // nested run (errata B12).
    let nested = format!("{run}/research--deep-research");
    let (name, of) = match form {
        "sqlite" => ("research.findings", &run),
        _ => ("findings", &nested),
    };
    let returned = ["put", name, "--kind", "output", "--run", of];
    project.expect(0, &returned, b"three findings");
    if form == "filesystem" {
        project.line(&["finish", "--run", &nested]);
    }
    put("findings", &import, "three findings");
    go(&["end", &import]);

    let draft = begin(&["12"]);
    // The binding was not written yet, so the command is refused, and nothing changes.
    let said = project.expect(4, &["end", &draft, "--run", &run], b"");
    assert!(said.contains("there is no binding draft"), "{said}");
    let said = put(
        "draft",
        &draft,
        "It's `quoted` $(never run)\n---\n# not a heading\n",
    );
    assert!(
        said.starts_with("Binding written: draft\nLocation: .prose/runs/"),
        "{said}"
    );
    assert!(
        said.ends_with("Summary: It's `quoted` $(never run)\n"),
        "{said}"
    );
    go(&["end", &draft]);

    // The branches begin with their parallel, and have the next numbers.
    let parallel = begin(&["15"]);
    let branch = |nth: u32| {
        let first: u32 = parallel.parse().expect("a number");
        (first + nth).to_string()
    };
    let (a, b) = (branch(1), branch(2));
    put("a", &a, "A");
    go(&["end", &a]);
    project.expect(4, &["end", &parallel, "--run", &run], b"");
    put("b", &b, "B");
    go(&["end", &b]);
    go(&["end", &parallel]);

    let a_loop = begin(&["19"]);
    for round in 1..=2 {
        let step = begin(&["20", "--parent", &a_loop]);
        put("anon", &step, &format!("round {round}"));
        go(&["end", &step]);
        go(&["round", &a_loop]);
    }
    go(&["end", &a_loop, "--because", "condition_satisfied"]);

    let mut frames: Vec<String> = Vec::new();
    for (depth, line) in [(1, "27"), (2, "25"), (3, "25")] {
        let mut args = vec![line];
        if let Some(parent) = frames.last() {
            args.extend(["--parent", parent]);
        }
        let frame = begin(&args);
        let step = begin(&["24", "--parent", &frame]);
        let said = put("result", &step, &format!("depth {depth}"));
        assert!(said.contains(&format!("Execution ID: {frame}\n")), "{said}");
        go(&["end", &step]);
        frames.push(frame);
    }
    for frame in frames.iter().rev() {
        go(&["end", frame]);
    }

    let captain = begin(&["29"]);
    project.expect(
        0,
        &["agent", "memory", "set", "captain", "--run", &run],
        b"# Captain\n\nReviewed once.\n",
    );
    project.expect(
        0,
        &[
            "agent",
            "segment",
            "add",
            "captain",
            "--prompt",
            "Review the synthesis",
            "--run",
            &run,
        ],
        b"- Reviewed: the synthesis\n",
    );
    go(&["end", &captain]);

    let letter = begin(&["32"]);
    go(&["fail", &letter, "Connection timeout after 30s"]);
    go(&["retry", &letter, "--max", "3"]);
    go(&["end", &letter]);

    go(&[
        "gate",
        "create",
        "publish",
        "--prompt",
        "Publish it?",
        "--timeout",
        "2h30m",
        "--on-reject",
        "continue",
        "--line",
        "35",
    ]);
    run
}

/// Returns the rows of a trace without the parts that differ between forms: ids and times.
fn content_of(project: &Project, run: &str) -> Vec<String> {
    let trace = project.json(&["trace", run]);
    trace["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {} {}",
                "  ".repeat(row["level"].as_u64().unwrap_or(0) as usize),
                row["kind"],
                row["status"],
                row["text"],
                row["line"]
            )
        })
        .collect()
}

#[test]
fn a_whole_program_is_the_same_run_in_both_forms() {
    let Some(project) = Project::new(PROGRAM) else {
        return;
    };
    let runs = FORMS.map(|form| (form, record(&project, form)));
    let traces = runs.each_ref().map(|(_, run)| content_of(&project, run));
    assert_eq!(traces[0], traces[1], "sqlite against filesystem");
    for (form, run) in &runs {
        // The run waits at the gate, and every page reports that.
        let show = project.json(&["show", run]);
        assert_eq!(show["overview"]["status"], "waiting", "{form}");
        let state = project.line(&["state", run]);
        assert!(
            state.contains("# <-- WAITING (gate publish)"),
            "{form}:\n{state}"
        );
        assert!(
            state.contains("(complete, attempt 2/3)"),
            "{form}:\n{state}"
        );
        let resume = project.line(&["resume", run]);
        assert!(resume.contains("publish"), "{form}:\n{resume}");
        let issues = project.json(&["check", run]);
        assert_eq!(
            issues["runs"][0]["issues"],
            serde_json::json!([]),
            "{form}: {issues}"
        );

        // After the rejection, the program continues with its handler.
        let said = project.expect(
            0,
            &[
                "reject", run, "publish", "--reason", "Not yet", "--as", "raymond",
            ],
            b"",
        );
        assert!(said.contains("raymond"), "{form}: {said}");
        project.expect(4, &["approve", run, "publish", "--as", "raymond"], b"");
        project.line(&["finish", "interrupted", "--run", run]);
        project.expect(4, &["begin", "38", "--run", run], b"");

        // The run is reopened in the middle of the program, and recorded to its end.
        project.expect(0, &["resume", run, "--begin"], b"");
        let report = project.begin(&["38", "--run", run]);
        project.expect(
            0,
            &[
                "put",
                "report",
                "--run",
                run,
                "--into",
                &report,
                "--not-done",
            ],
            b"The report\n",
        );
        project.line(&["end", &report, "--run", run]);
        project.line(&["finish", "--run", run]);
        project.expect(4, &["begin", "38", "--run", run], b"");

        assert_eq!(
            text(&project.get(run, "research.findings")),
            "three findings",
            "{form}"
        );
        let draft = project.get(run, "draft");
        assert_eq!(
            text(&draft),
            "It's `quoted` $(never run)\n---\n# not a heading\n",
            "{form}"
        );
        assert_eq!(text(&project.get(run, "anon")), "round 2", "{form}");
        let bindings = project.json(&["bindings", run]);
        let earlier = bindings["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|row| row["name"] == "anon");
        assert_eq!(
            earlier.expect("anon")["earlier"],
            1,
            "{form}: the first round's value is kept"
        );
        let audit = project.json(&["audit", run]);
        assert_eq!(audit["chain"], "consistent", "{form}: {audit}");
        let issues = project.json(&["check", run]);
        assert_eq!(
            issues["runs"][0]["issues"],
            serde_json::json!([]),
            "{form}: {issues}"
        );
    }
    let traces = runs.each_ref().map(|(_, run)| content_of(&project, run));
    assert_eq!(
        traces[0], traces[1],
        "sqlite against filesystem, at the end"
    );
    assert_eq!(traces[0].len(), 20, "{:#?}", traces[0]);
    for (form, run) in &runs {
        crate::convert::there_and_back(&project, form, run);
    }
}
