//! Tests how a state file becomes a trace: opens folders with a `state.md` and compares the nodes.

mod frames;

use crate::model::Run;
use crate::program::scan;
use crate::read::decode::folder;
use crate::read::sqlite::MemorySource;
use crate::trace::{Node, NodeId, NodeKind, Trace, fold};

/// Opens a folder with these files and folds its run.
pub(in crate::trace) fn folded(files: &[(&str, &str)]) -> (Run, Trace) {
    folded_at(files, None)
}

pub(in crate::trace) fn folded_at(files: &[(&str, &str)], now: Option<i64>) -> (Run, Trace) {
    let source = MemorySource::new(
        "d",
        files
            .iter()
            .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec())),
    );
    let run = folder::decode(&source, "");
    let listing = run.program.source.as_deref().map(scan);
    let trace = fold(&run, listing.as_ref(), now);
    (run, trace)
}

/// Returns a state file with this header, trace and further sections.
fn state(header: &str, trace: &str, sections: &str) -> String {
    format!(
        "# Execution State\n\nrun: r\n{header}\n\n## Execution Trace\n\n```prose\n{trace}\n```\n\n{sections}"
    )
}

/// Describes a node in a few words: its kind and text, its status, its marks.
fn words(node: &Node) -> String {
    let what = match &node.kind {
        NodeKind::Statement => node.text.to_string(),
        NodeKind::Parallel => "parallel".to_owned(),
        NodeKind::Branch { branch } => format!("branch {branch}"),
        NodeKind::Loop => "loop".to_owned(),
        NodeKind::Round { n } => format!("round {n}"),
        NodeKind::Frame { block, depth } => format!(
            "frame {block}#{} at {depth}",
            node.id.map_or("?".to_owned(), |id| id.to_string())
        ),
        NodeKind::Gate { gate } => format!("gate {gate}"),
    };
    let mut out = format!("{what}: {}", node.status.word());
    if node.attempts > 1 {
        out.push_str(&format!(" ×{}", node.attempts));
    }
    for (mark, word) in [
        (node.derived, "derived"),
        (node.inferred, "inferred"),
        (node.line_guessed, "guessed"),
        (node.recovered, "recovered"),
    ] {
        if mark {
            out.push_str(&format!(" {word}"));
        }
    }
    if let Some(line) = node.line {
        out.push_str(&format!(" @{line}"));
    }
    out
}

/// Draws the tree, one node per line, indented, with positions marked.
pub(in crate::trace) fn tree(trace: &Trace) -> String {
    let mut out = String::new();
    for (at, node) in trace.nodes.iter_enumerated() {
        let mark = if trace.positions.contains(&at) {
            " <"
        } else {
            ""
        };
        let mark = if trace.first_cause == Some(at) {
            " !"
        } else {
            mark
        };
        out.push_str(&format!(
            "{:indent$}{}{mark}\n",
            "",
            words(node),
            indent = 2 * node.level as usize
        ));
    }
    out
}

pub(in crate::trace) fn check(files: &[(&str, &str)], expected: &str) -> (Run, Trace) {
    let (run, trace) = folded(files);
    let lines: Vec<&str> = expected
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.trim().is_empty())
        .collect();
    let indent = lines
        .iter()
        .map(|l| l.len() - l.trim_start().len())
        .min()
        .unwrap_or(0);
    let expected: String = lines
        .iter()
        .map(|l| format!("{}\n", &l[indent..]))
        .collect();
    assert_eq!(tree(&trace), expected);
    (run, trace)
}

pub(in crate::trace) fn rules(trace: &Trace) -> Vec<&str> {
    trace.issues.iter().map(|i| i.rule.as_str()).collect()
}

#[test]
fn the_sample_becomes_a_tree() {
    let sample = include_str!("../../../../record/render/state_md/sample.md");
    let (_, trace) = check(
        &[("state.md", sample)],
        "
        let research = session: researcher: completed @5
        parallel: started @8
          branch a: completed @9
          branch b: executing @10 <
        frame process#41 at 1: waiting
          frame process#42 at 2: waiting
            frame process#43 at 3: executing <
        ",
    );
    assert_eq!(trace.verdict.status, "running");
    assert_eq!(
        trace.by_row.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [41, 42, 43]
    );
}

const PROGRAM: &str = "\
agent worker:
  model: sonnet

block process(data):
  let parts = session \"Split\"
  loop until **small** (max: 4):
    let r = do process(parts)
  let result = session \"Process chunk\"

let data = session \"Load\"
let done = do process(data)
output report = session \"Report\"
";

#[test]
fn frames_hang_below_their_calls_and_markers_speak_of_the_innermost() {
    let text = state(
        "status: running",
        &PROGRAM
            .replace("\"Split\"", "\"Split\"   # --> bindings/parts__43.md")
            .replace("\"Process chunk\"", "\"Process chunk\"   # <-- EXECUTING")
            .replace("\"Load\"", "\"Load\"   # --> bindings/data.md")
            .replace(
                "let done = do process(data)",
                "let done = do process(data)   # <-- EXECUTING",
            ),
        "## Call Stack\n\n| execution_id | block | depth | status |\n|--|--|--|--|\n| 43 | process | 3 | executing |\n| 42 | process | 2 | waiting |\n| 41 | process | 1 | waiting |\n",
    );
    let (run, trace) = check(
        &[
            ("state.md", &text),
            ("program.prose", PROGRAM),
            ("bindings/data.md", "# data\nkind: let\n---\nx"),
            (
                "bindings/parts__41.md",
                "# parts\nkind: let\nexecution_id: 41\n---\nx",
            ),
            (
                "bindings/parts__43.md",
                "# parts\nkind: let\nexecution_id: 43\nparent_execution_id: 42\n---\nx",
            ),
        ],
        "
        let data = session \"Load\": completed @10
        frame process#41 at 1: waiting @11
          let parts = session \"Split\": completed derived @5
          frame process#42 at 2: waiting @7
            frame process#43 at 3: executing @7
              let parts = session \"Split\": completed @5
              let result = session \"Process chunk\": executing @8 <
        ",
    );
    assert_eq!(rules(&trace), [""; 0]);
    // Name resolution uses the same frames as the trace.
    let found = crate::trace::scope::resolve(&run, &trace, "parts", Some(43));
    assert_eq!(
        found.winner.and_then(|at| run.bindings[at].execution_id),
        Some(43)
    );
    let found = crate::trace::scope::resolve(&run, &trace, "parts", Some(42));
    assert_eq!(
        found.winner.and_then(|at| run.bindings[at].execution_id),
        Some(41)
    );
}

#[test]
fn finished_frames_are_known_by_their_bindings() {
    let text = state(
        "status: completed",
        &PROGRAM
            .replace("\"Load\"", "\"Load\"   # --> bindings/data.md")
            .replace(
                "let done = do process(data)",
                "let done = do process(data)   # (complete)",
            )
            .replace("\"Report\"", "\"Report\"   # --> bindings/report.md"),
        "",
    );
    check(
        &[
            ("state.md", &text),
            ("program.prose", PROGRAM),
            ("bindings/report.md", "x"),
            ("bindings/result__1.md", "# result\nkind: let\n---\nx"),
            (
                "bindings/result__2.md",
                "# result\nkind: let\nexecution_id: 2\nparent_execution_id: 1\n---\nx",
            ),
        ],
        "
        let data = session \"Load\": completed @10
        frame process#1 at 1: completed @11
          frame process#2 at 2: completed derived @7
            let result = session \"Process chunk\": completed derived @8
          let result = session \"Process chunk\": completed derived @8
        output report = session \"Report\": completed @12
        ",
    );
}

#[test]
fn loops_have_the_rounds_that_are_counted() {
    let program = "session \"Start\"\nloop until **good** (max: 5):\n  let draft = session \"Write\"\n  session \"Critique\"\nsession \"End\"\n";
    let trace = program
        .replace("\"Start\"", "\"Start\"   # (complete)")
        .replace("\"Write\"", "\"Write\"   # --> bindings/draft.md")
        .replace(
            "\"Critique\"",
            "\"Critique\"   # <-- RETRYING (attempt 2/3)",
        );
    let constructs = "## Active Constructs\n\n### Loop (lines 2-4)\n\n- status: executing\n- iteration: 3/5\n- condition: good\n";
    check(
        &[
            ("state.md", &state("", &trace, constructs)),
            ("program.prose", program),
        ],
        "
        session \"Start\": completed @1
        loop: started @2
          round 1: completed derived
          round 2: completed derived
          round 3: started derived
            let draft = session \"Write\": completed @3
            session \"Critique\": retry ×2 @4 <
        ",
    );
    // Without a program, the state file's trace is read in place of the program.
    let (_, trace) = folded(&[("state.md", &state("", &trace, constructs))]);
    assert_eq!(
        trace
            .nodes
            .iter()
            .find(|n| n.kind == NodeKind::Loop)
            .and_then(|n| n.max),
        Some(5)
    );
    assert_eq!(trace.nodes.len(), 7);
    // If a file records an absurd number of rounds, no more than the maximum are listed.
    let many = constructs.replace("3/5", "4000000000/5");
    let (_, trace) = folded(&[(
        "state.md",
        &state(
            "",
            "loop until **good**:\n  session \"x\"   # <-- EXECUTING",
            &many,
        ),
    )]);
    assert!(trace.nodes.len() < 2_000);
    assert_eq!(trace.positions.len(), 1);
}

#[test]
fn branches_are_told_by_lines_and_by_the_section() {
    let program = "parallel:\n  a = session \"A\"\n  b = session \"B\"\n  c = session \"C\"\nsession \"End\"\n";
    let trace = program
        .replace("\"A\"", "\"A\"   # <-- EXECUTING")
        .replace("\"B\"", "\"B\"   # (failed: no network)");
    let constructs = "## Active Constructs\n\n### Parallel (lines 1-4)\n\n- a: complete\n- b: executing\n- c: pending\n- d: executing\n";
    let (run, trace) = check(
        &[
            ("state.md", &state("", &trace, constructs)),
            ("program.prose", program),
        ],
        "
        parallel: started @1
          branch d: executing <
          branch a: completed @2
          branch b: failed @3 !
          branch c: pending derived @4
        ",
    );
    let failed = trace.first_cause.map(|at| &trace.nodes[at]);
    assert_eq!(
        failed.and_then(|n| n.error(&run)).map(|e| &**e),
        Some("no network")
    );
}

#[test]
fn gates_stand_by_their_record() {
    let program = "session \"Build\"\napprove deploy:\n  prompt: \"Go?\"\nsession \"Deploy\"\n";
    let trace = program
        .replace("\"Build\"", "\"Build\"   # (complete)")
        .replace(
            "approve deploy:",
            "approve deploy:   # <-- WAITING (gate deploy)",
        );
    let text = state("", &trace, "");
    let (_, waiting) = check(
        &[
            ("state.md", &text),
            ("program.prose", program),
            ("gates/deploy.pending.json", "{}"),
        ],
        "
        session \"Build\": completed @1
        gate deploy: pending @2 <
        ",
    );
    assert_eq!(
        (
            waiting.verdict.status.as_str(),
            waiting.verdict.reason.as_str()
        ),
        ("waiting", "waiting at gate deploy")
    );
    check(
        &[
            ("state.md", &text),
            ("program.prose", program),
            ("gates/deploy.resolved.json", "{\"decision\":\"approved\"}"),
        ],
        "
        session \"Build\": completed @1
        gate deploy: approved @2
        session \"Deploy\": pending inferred @4 <
        ",
    );
    // A gate that no marker mentions.
    let (_, trace) = folded(&[
        (
            "state.md",
            &state("", "session \"x\"   # <-- EXECUTING", ""),
        ),
        ("gates/late.pending.json", "{}"),
    ]);
    assert!(tree(&trace).contains("gate late: pending derived <"));
}

/// A binding on disk counts more than a mark in the state file (errata T10, last sentence; docs/reference/formats.md).
#[test]
fn a_binding_on_disk_beats_a_marker() {
    let program = "let analysis = session \"A\"\nlet plan = session \"P\"\nlet code = session \"C\"\noutput summary = session \"S\"\n";
    let text = state(
        "updated: 2026-01-19T21:52:02Z",
        "let analysis = session \"A\"   # <-- EXECUTING\nlet plan = session \"P\"   # [...next...]\n...remaining stages...\noutput summary = session \"S\"   # [...next...]",
        "",
    );
    let (_, trace) = check(
        &[
            ("state.md", &text),
            ("program.prose", program),
            ("bindings/analysis.md", "x"),
            ("bindings/plan.md", "x"),
            ("bindings/code.md", "x"),
        ],
        "
        let analysis = session \"A\": completed @1
        let plan = session \"P\": completed derived @2
        let code = session \"C\": completed derived @3
        output summary = session \"S\": pending inferred @4 <
        ",
    );
    assert_eq!(
        rules(&trace),
        ["marker-contradicts-disk", "state-file-behind"]
    );
    assert_eq!(
        trace.issues[0].message,
        "`let analysis = session \"A\"` is marked executing, but its binding analysis is written"
    );
    let sources: Vec<&str> = trace
        .verdict
        .claims
        .iter()
        .map(|(source, _)| source.as_str())
        .collect();
    assert_eq!(
        sources,
        ["state file", "execution markers", "bindings on disk"]
    );
    assert_eq!(
        trace.verdict.claims[1].1,
        "`let analysis = session \"A\"` is under way"
    );
    assert_eq!(trace.verdict.status, "running");
    assert!(
        trace
            .verdict
            .reason
            .ends_with("bindings on disk are newer than the marks in the state file")
    );

    let (_, trace) = folded(&[
        (
            "state.md",
            &text.replace("updated", "status: running\nupdated"),
        ),
        ("program.prose", program),
        ("bindings/analysis.md", "x"),
        ("bindings/plan.md", "x"),
        ("bindings/code.md", "x"),
        ("bindings/summary.md", "x"),
    ]);
    assert_eq!(
        (trace.verdict.status.as_str(), trace.verdict.source.as_str()),
        ("completed", "execution trace")
    );
    assert!(rules(&trace).contains(&"status-disagrees"));
}

#[test]
fn in_a_loop_a_binding_may_be_of_an_earlier_round() {
    let program = "loop until **good** (max: 5):\n  let draft = session \"Write\"\n  let verify = session \"Verify\"\n";
    let trace = program.replace("\"Write\"", "\"Write\"   # <-- EXECUTING");
    let constructs =
        "## Active Constructs\n\n### Loop (lines 1-3)\n\n- status: executing\n- iteration: 2/5\n";
    let text = state("", &trace, constructs);
    check(
        &[
            ("state.md", &text),
            ("program.prose", program),
            ("bindings/draft.md", "x"),
            ("bindings/verify.md", "x"),
        ],
        "
        loop: started @1
          round 1: completed derived
          round 2: started derived
            let draft = session \"Write\": executing @2 <
        ",
    );
    // The file records the status `running` in round 2, but round 4 has bindings.
    let (_, trace) = folded(&[
        ("state.md", &text),
        ("program.prose", program),
        ("bindings/verify_round4_final.md", "x"),
    ]);
    assert!(tree(&trace).contains("  round 4: started derived\n"));
    assert_eq!(rules(&trace), ["round-behind-disk"]);
    assert_eq!(
        trace.issues[0].message,
        "the state file is at round 2 of a loop, but the binding verify_round4_final of a later round is written"
    );
}

#[test]
fn what_was_never_closed_ended_with_the_run_and_what_failed_is_found() {
    let trace = "try:\n  session \"Risky\"   # (failed: gone)\ncatch:\n  session \"Mend\"   # (complete)\nsession \"Next\"   # (failed, attempt 3/3: worse)\nsession \"Last\"   # <-- EXECUTING";
    let (run, trace) = check(
        &[("state.md", &state("status: failed", trace, ""))],
        "
        session \"Risky\": failed recovered @2
        session \"Mend\": completed @4
        session \"Next\": failed ×3 @5 !
        session \"Last\": cut off derived @6
        ",
    );
    assert_eq!(
        trace.nodes[NodeId::new(2)].error(&run).map(|e| &**e),
        Some("worse")
    );
    assert_eq!(rules(&trace), ["abandoned"]);
}

#[test]
fn a_folder_without_a_state_file_shows_what_its_bindings_prove() {
    let program =
        "input topic: \"?\"\nlet a = session \"A\"\nlet b = session \"B\"\nsession \"Critique\"\n";
    let (run, trace) = check(
        &[
            ("program.prose", program),
            ("bindings/topic.md", "x"),
            ("bindings/a.md", "x"),
            (
                "bindings/anon_001.md",
                "# anon_001\nkind: let\nsource:\n```prose\nsession \"Critique\"\n```\n---\nx",
            ),
        ],
        "
        let a = session \"A\": completed derived @2
        session \"Critique\": completed derived @4
        ",
    );
    assert_eq!(trace.verdict.status, "");
    assert!(trace.verdict.claims.is_empty());
    assert_eq!(
        run.issues
            .iter()
            .filter(|i| i.rule == "no-state-file")
            .count(),
        1
    );
    // With a log instead of a state file, bindings on disk prove the same.
    let (_, trace) = folded(&[
        (
            "state.md",
            "# run:r p.prose\n1→ a ✓\n---end 2026-02-13T11:33:01Z\n",
        ),
        ("program.prose", program),
        ("bindings/a.md", "x"),
    ]);
    assert_eq!(
        (trace.verdict.status.as_str(), trace.verdict.source.as_str()),
        ("completed", "log")
    );
}

#[test]
fn statements_that_the_program_lacks_are_shown_without_a_line() {
    let (_, trace) = check(
        &[
            (
                "state.md",
                &state(
                    "",
                    "let a = session \"A\"   # (complete)\nlet other = session \"Gone\"   # (complete)\nlet c = session \"C\"   # <-- EXECUTING",
                    "",
                ),
            ),
            (
                "program.prose",
                "# shortened\nlet a = session \"A\"\nlet c = session \"C\"\n",
            ),
        ],
        "
        let a = session \"A\": completed @2
        let other = session \"Gone\": completed
        let c = session \"C\": executing @3 <
        ",
    );
    assert_eq!(
        trace.issues[0].message,
        "1 annotated lines of the state file are not in the program"
    );
}

#[test]
fn a_finished_trace_needs_no_status() {
    let trace = "agent x:   # [registered]\nlet a = session \"A\"   # --> bindings/a.md\nparallel:   # (complete)\n  b = session \"B\"   # ✓ DONE";
    let (_, trace) = folded(&[
        ("state.md", &state("updated: 2026-01-01", trace, "")),
        ("bindings/a.md", "x"),
    ]);
    assert_eq!(
        (trace.verdict.status.as_str(), trace.verdict.reason.as_str()),
        (
            "completed",
            "every statement has ended, and no record of the run contradicts that"
        )
    );
    let (_, trace) = folded_at(
        &[(
            "state.md",
            &state("updated: 2026-01-01", "session \"A\"   # <-- EXECUTING", ""),
        )],
        Some(1_767_225_600_000 + 3 * 86_400_000),
    );
    assert_eq!(
        (trace.verdict.stale, trace.verdict.reason.as_str()),
        (true, "running, no sign of life for 3 d")
    );
    assert_eq!(trace.verdict.last_sign_from.as_deref(), Some("state file"));
}

#[test]
fn deep_stacks_and_long_traces_are_linear() {
    let rows: String = (0..100_000)
        .rev()
        .map(|i| format!("| {i} | process | {} | waiting |\n", i + 1))
        .collect();
    let text = state("", PROGRAM, &format!("## Call Stack\n\n{rows}"));
    let (_, trace) = folded(&[("state.md", &text), ("program.prose", PROGRAM)]);
    assert_eq!((trace.nodes.len(), trace.positions.len()), (100_000, 1));
    assert_eq!(trace.nodes.last().map(|n| n.level), Some(99_999));
    let long = "session \"same\"   # (complete)\n".repeat(50_000);
    let (_, trace) = folded(&[
        ("state.md", &state("", &long, "")),
        ("program.prose", &"session \"same\"\n".repeat(50_000)),
    ]);
    assert_eq!(trace.nodes.len(), 50_000);
}

/// Kinds of outdated state files: the file's content, the bindings on disk, the resulting status, and the issues.
#[test]
fn what_lies_on_disk_is_newer_than_what_is_marked() {
    let program = "let a = session \"A\"\nsession \"Look\"\nlet b = session \"B\"\nparallel:\n  c = session \"C\"\n  d = session \"D\"\nlet e = session \"E\"\n";
    let mark = |text: &str, said: &str| program.replace(text, &format!("{text}   # {said}"));
    struct Case {
        header: &'static str,
        trace: String,
        disk: &'static [&'static str],
        status: &'static str,
        positions: &'static [&'static str],
        rules: &'static [&'static str],
    }
    let cases = [
        // An anonymous session does not write a binding, but a statement after it did.
        Case {
            header: "status: running",
            trace: mark("session \"Look\"", "<-- EXECUTING"),
            disk: &["a", "b"],
            status: "running",
            positions: &["parallel:"],
            rules: &["marker-contradicts-disk", "state-file-behind"],
        },
        // Branches run in parallel, so a finished branch proves nothing about another branch.
        Case {
            header: "",
            trace: mark("c = session \"C\"", "<-- EXECUTING"),
            disk: &["d"],
            status: "running",
            positions: &["c = session \"C\""],
            rules: &["state-file-behind"],
        },
        // A statement that the file marks as not reached has written its binding nevertheless.
        Case {
            header: "",
            trace: mark("session \"Look\"", "<-- EXECUTING")
                .replace("\"E\"", "\"E\"   # [...next...]"),
            disk: &["e"],
            status: "",
            positions: &[],
            rules: &["marker-contradicts-disk", "state-file-behind"],
        },
        // The same statement is marked as completed in one place and as running in another.
        Case {
            header: "status: complete",
            trace: mark("session \"Look\"", "<-- EXECUTING"),
            disk: &["a"],
            status: "completed",
            positions: &[],
            rules: &["state-file-behind", "abandoned"],
        },
    ];
    for case in cases {
        let text = state(case.header, &case.trace, "");
        let paths: Vec<String> = case
            .disk
            .iter()
            .map(|n| format!("bindings/{n}.md"))
            .collect();
        let mut files = vec![("state.md", text.as_str()), ("program.prose", program)];
        files.extend(paths.iter().map(|p| (p.as_str(), "x")));
        let (_, trace) = folded(&files);
        let positions: Vec<&str> = trace
            .positions
            .iter()
            .map(|at| &*trace.nodes[*at].text)
            .collect();
        let found = (
            trace.verdict.status.as_str(),
            positions.as_slice(),
            rules(&trace),
        );
        assert_eq!(
            found,
            (case.status, case.positions, case.rules.to_vec()),
            "{}\n{:?}",
            case.trace,
            trace.verdict
        );
    }
}
