use crate::model::Run;
use crate::trace::lower::state::tests::{check, folded, rules};
use crate::trace::{NodeId, Trace};

const PROGRAM: &str = "\
input topic: \"What\"
agent writer:
  model: sonnet

block implement(task):
  let impl = session \"Write\"
  loop until **green** (max: 3):
    let fix = session \"Fix\"
  session \"Review\"

let plan = session: writer
session \"Warm up\"
parallel:
  a = session \"A\"
  b = session \"B\"
loop until **good** (max: 3):
  draft = session \"Draft\"
  let verdict = session \"Judge\"
do implement(\"TASK-001\")
if **ready**:
  session \"Celebrate\"
gate fast_tests:
  prompt: \"Go?\"
let version = exec \"cat .version\"
output report = session \"Report\"
";

fn told(lines: &str, expected: &str) -> (Run, Trace) {
    let log = format!("# run:r p.prose\n{lines}");
    check(&[("state.md", &log), ("program.prose", PROGRAM)], expected)
}

/// Checks a log without a program, so that only the log determines the structure.
fn alone(lines: &str, expected: &str) -> (Run, Trace) {
    let log = format!("# run:r p.prose\n{lines}");
    check(&[("state.md", &log)], expected)
}

#[test]
fn a_whole_run_becomes_a_tree() {
    let (_, trace) = told(
        "1→ plan ✓\n2→ ✓\n3→ ∥start a,b\n3a→ a ✓\n3b→ b ✓\n3→ ∥done\n4→ loop:1/3\n4→ draft ✓\n4→ verdict ✓\n4→ loop:2/3\n4→ draft ✓\n4→ verdict ✓\n4→ loop:2/3 exit(**good**)\n5→ block:implement#1 TASK-001\n5→ #1 impl ✓\n5→ #1 loop:1/3\n5→ #1 fix ✓\n5→ #1 loop:1/3 exit(**green**)\n5→ #1 ✓\n5→ #1 done\n6→ if(false) skip\n7→ gate:fast_tests ✓ approved\n8→ version ✓\n9→ report ✓\n---end 2026-01-15T14:35:22Z\n",
        "
        let plan = session: writer: completed @11
        session \"Warm up\": completed @12
        parallel: completed @13
          branch a: completed @14
          branch b: completed @15
        loop: completed @16
          round 1: completed
            draft = session \"Draft\": completed @17
            let verdict = session \"Judge\": completed @18
          round 2: completed
            draft = session \"Draft\": completed @17
            let verdict = session \"Judge\": completed @18
        frame implement#1 at 1: completed @19
          let impl = session \"Write\": completed @6
          loop: completed @7
            round 1: completed
              let fix = session \"Fix\": completed @8
          session \"Review\": completed @9
        if **ready**:: skipped @20
        gate fast_tests: approved @22
        let version = exec \"cat .version\": completed @24
        output report = session \"Report\": completed @25
        ",
    );
    assert_eq!(
        (trace.verdict.status.as_str(), trace.verdict.source.as_str()),
        ("completed", "log")
    );
    assert_eq!(rules(&trace), [""; 0]);
    // Every line that records something belongs to a node.
    assert_eq!(
        trace
            .told
            .iter()
            .map(|(_, line)| line)
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        24
    );
}

#[test]
fn without_a_program_the_log_alone_says_what_lies_in_what() {
    alone(
        "1→ plan ✓\n2→ ✓\n3→ ∥start a,b\n3a→ a ✓\n3b→ ✓\n3→ ∥done\n4→ loop:1/3\n5→ draft ✓\n6→ verdict ✓\n4→ loop:2/3\n5→ draft ✓\n6→ verdict ✓\n4→ loop:3/3\n5→ draft ✓\n7→ block:implement#1 TASK-001\n7→ #1 impl ✓\n7→ block:test#2\n7→ #2 unit ✓\n7→ #2 done\n7→ #1 done\n8→ report ✓\n",
        "
        plan: completed
        statement 2: completed
        parallel: completed
          branch a: completed
          branch b: completed
        loop: completed derived
          round 1: completed
            draft: completed
            verdict: completed
          round 2: completed
            draft: completed
            verdict: completed
          round 3: completed
            draft: completed
        frame implement#1 at 1: completed
          impl: completed
          frame test#2 at 2: completed
            unit: completed
        report: completed
        ",
    );
}

#[test]
fn markers_begin_rounds_and_an_exit_leaves_the_loop() {
    alone(
        "4→ draft ✓\n4→ loop:1/3\n4→ draft ✓\n4→ loop:2/3 exit(**good**)\n5→ x ✓\n",
        "
        draft: completed
        loop: completed
          round 1: completed
            draft: completed
          round 2: completed
        x: completed
        ",
    );
    let (run, trace) = alone(
        "5→ loop:2/5 exit(**c**)\n",
        "
        loop: completed
          round 2: completed
        ",
    );
    assert_eq!(
        (
            trace.nodes[NodeId::new(0)].max,
            trace.nodes[NodeId::new(0)].error(&run)
        ),
        (Some(5), None)
    );
    // The number before the arrow does not identify a loop.
    alone(
        "1→ loop:1/3\n1→ a ✓\n2→ loop:2/3\n2→ a ✓\n3→ loop:3/3\n3→ a ✓\n---end 2026-01-15\n",
        "
        loop: completed derived
          round 1: completed
            a: completed
          round 2: completed
            a: completed
          round 3: completed
            a: completed
        ",
    );
    // A round number that does not rise, or another maximum, means that another loop begins.
    alone(
        "1→ loop:1/2\n1→ a ✓\n1→ loop:2/2\n1→ a ✓\n1→ loop:1/2\n1→ a ✓\n1→ loop:3/9\n1→ a ✓\n---end 2026-01-15\n",
        "
        loop: completed derived
          round 1: completed
            a: completed
          round 2: completed
            a: completed
        loop: completed derived
          round 1: completed
            a: completed
        loop: completed derived
          round 3: completed
            a: completed
        ",
    );
    // A loop whose markers return later surrounds the loop whose markers came in between.
    alone(
        "1→ loop:1/2\n2→ loop:1/3\n3→ a ✓\n2→ loop:1/3 exit(x)\n1→ loop:2/2\n2→ loop:1/3\n3→ a ✓\n1→ ✓\n",
        "
        loop: completed
          round 1: completed
            loop: completed
              round 1: completed
                a: completed
          round 2: completed
            loop: completed derived
              round 1: completed
                a: completed
        ",
    );
}

#[test]
fn branches_are_known_by_letter_and_by_name_and_more_may_run_than_were_announced() {
    let (_, trace) = alone(
        "3→ ∥start x,y,z\n3b→ ✓\n3→ x ✓\n3d→ extra ✓\n3b→ ✗ late\n",
        "
        parallel: unknown derived
          branch y: failed !
          branch x: completed
          branch extra: completed
          branch z: pending derived
        ",
    );
    assert_eq!(rules(&trace), ["branch-not-announced"]);
    // A letter alone does not make a branch; a branch has statements of its own, or calls a block.
    alone(
        "3a→ left ✓\n3b→ right ✗ no\n3b→ retry:2/2\n3b→ right ✓\n4→ ∥start p,q\n4a→ draft ✓\n4a→ review ✓\n4b→ block:check#7\n4b→ #7 lint ✓\n4b→ #7 done\n4→ ∥done\n",
        "
        left: completed
        right: completed ×2 recovered
        parallel: completed
          branch p: completed derived
            draft: completed
            review: completed
          branch q: completed derived
            frame check#7 at 1: completed
              lint: completed
        ",
    );
}

#[test]
fn attempts_failures_and_skips() {
    let (run, trace) = alone(
        "1→ fetch ✗ timeout\n1→ retry:2/3\n1→ fetch ✓\n2→ ✗ no key\n2→ ✓\n3→ publish ⊘ deferred (no key)\n4→ push ✗ refused\n---error 2026-01-15T14:35:22Z push refused\n",
        "
        fetch: completed ×2 recovered
        statement 2: completed ×2 recovered
        publish: skipped
        push: failed !
        ",
    );
    assert_eq!(trace.nodes[NodeId::new(0)].max, Some(3));
    assert_eq!(
        trace.nodes[NodeId::new(3)].error(&run).map(|e| &**e),
        Some("refused")
    );
    assert_eq!(trace.verdict.status, "failed");
    assert_eq!(trace.verdict.reason, "the log says failed: push refused");
    // A statement that was running when the log ended with an error failed; the next statement of the program is not
    // invented.
    let (run, trace) = told(
        "[Position] Statement 1: let plan = session: writer\n[Success]\n[Position] Statement 2: session \"Warm up\"\n---error 2026-01-15T14:35:22Z 503\n",
        "
        let plan = session: writer: completed @11
        session \"Warm up\": failed @12 !
        ",
    );
    assert_eq!(
        trace.nodes[NodeId::new(1)].error(&run).map(|e| &**e),
        Some("503")
    );
    told(
        "1→ plan ✓\n---error 2026-01-15T14:35:22Z 503\n",
        "let plan = session: writer: completed @11",
    );
}

#[test]
fn a_resumed_run_goes_on() {
    let (_, trace) = alone(
        "1→ a ✓\n2→ ∥start x,y\n2a→ x ✓\n2b→ y ✗ lost\n---error 2026-01-15 y lost\n---resume 2026-01-16 (again)\n2→ ∥start x,y\n2b→ y ✓\n2→ ∥done\n3→ c ✓\n---end 2026-01-16\n",
        "
        a: completed
        parallel: completed
          branch x: completed
          branch y: completed ×2 recovered
        c: completed
        ",
    );
    assert_eq!(trace.verdict.status, "completed");
    let (_, trace) = told(
        "1→ plan ✓\n---error x\n---resume\n2→ ✓\n",
        "
        let plan = session: writer: completed @11
        session \"Warm up\": completed @12
        ",
    );
    assert_eq!(trace.verdict.status, "");
}

#[test]
fn gates_wait_and_the_gates_own_record_wins() {
    let (_, trace) = told(
        "1→ plan ✓\n7→ gate:fast_tests pending\n",
        "
        let plan = session: writer: completed @11
        gate fast_tests: pending @22 <
        ",
    );
    assert_eq!(trace.verdict.status, "waiting");
    let (_, trace) = check(
        &[
            ("state.md", "# run:r p\n7→ gate:fast_tests pending\n"),
            (
                "gates/fast_tests.resolved.json",
                "{\"decision\":\"rejected\"}",
            ),
        ],
        "gate fast_tests: rejected",
    );
    assert_eq!(trace.verdict.status, "");
    alone(
        "6→ gate:t pending\n6→ gate:t ✓ approved\n6→ gate:t ✗ rejected\n7→ gate ✓ (72/72)\n",
        "
        gate t: approved
        gate t: rejected
        gate gate: approved
        ",
    );
}

#[test]
fn remarks_are_no_statements_but_what_was_at_hand_is_a_position() {
    alone(
        "1→ starting research\n1→ research ✓\n2→ looking around\n3→ write ✓\n[outage] API down\n4→ thinking\nfree text\n",
        "
        research: completed
        write: completed
        ",
    );
    // In the older form of the log, each `[Position]` line is current until the next `[Position]` line.
    told(
        "[Position] Statement 1: let plan = session: writer\n[Success] done\n[Position] Statement 2: session \"Warm up\"\n[Position] Statement 8: let version = exec \"cat .version\"\n",
        "
        let plan = session: writer: completed @11
        session \"Warm up\": completed derived @12
        let version = exec \"cat .version\": unknown derived @24
        ",
    );
}

#[test]
fn bindings_on_disk_tell_what_the_log_does_not() {
    let (_, trace) = check(
        &[
            (
                "state.md",
                "# run:r p.prose\n2→ ✓\n3→ ∥start a,b\n3a→ a ✓\n",
            ),
            ("program.prose", PROGRAM),
            ("bindings/topic.md", "# topic\nkind: input\n---\nx"),
            ("bindings/plan.md", "# plan\nkind: let\n---\nx"),
            ("bindings/b.md", "# b\nkind: let\n---\nx"),
        ],
        "
        let plan = session: writer: completed derived @11
        session \"Warm up\": completed @12
        parallel: completed derived @13
          branch a: completed @14
          branch b: completed derived @15
        ",
    );
    assert_eq!(rules(&trace), ["state-file-behind"], "{:?}", trace.issues);
    assert_eq!(
        trace.issues[0].message,
        "the bindings plan, b are written, but the log does not mark their statements as run"
    );
    let claims: Vec<(&str, &str)> = trace
        .verdict
        .claims
        .iter()
        .map(|(source, says)| (source.as_str(), says.as_str()))
        .collect();
    assert_eq!(
        claims,
        [
            ("log", "no status"),
            (
                "execution markers",
                "the log does not mark every statement whose binding is written"
            ),
            ("bindings on disk", "2 are written"),
        ]
    );
    // If the log has only its header and there are no bindings, the status is unknown.
    let (_, trace) = folded(&[
        ("state.md", "# run:r p.prose\n"),
        ("program.prose", PROGRAM),
    ]);
    assert_eq!((trace.nodes.len(), trace.verdict.status.as_str()), (0, ""));
    assert_eq!(
        trace.verdict.reason,
        "the log contains only its header: the run started, and nothing more is recorded"
    );
    // All statements of the program are over, although the log has no trailer.
    let program = "let a = session \"A\"\nsession \"B\"\noutput c = session \"C\"\n";
    let (_, trace) = folded(&[
        ("state.md", "# run:r p\n1→ a ✓\n2→ ✓\n"),
        ("program.prose", program),
        ("bindings/c.md", "# c\nkind: output\n---\nx"),
    ]);
    assert_eq!(
        (trace.verdict.status.as_str(), trace.verdict.source.as_str()),
        ("completed", "execution trace")
    );
}

#[test]
fn numbers_that_skip_and_repeat_are_tied_by_what_has_a_name() {
    let lines = |ties: &[(&str, Option<u32>, bool)], log: &str| {
        let (_, trace) = folded(&[
            ("state.md", &format!("# run:r p\n{log}")),
            ("program.prose", PROGRAM),
        ]);
        let found: Vec<_> = trace
            .nodes
            .iter()
            .filter(|n| !n.inferred && !matches!(n.kind, crate::trace::NodeKind::Branch { .. }))
            .map(|n| (&*n.text, n.line, n.line_guessed))
            .collect();
        assert_eq!(found, ties, "{log}");
    };
    // Between two lines that identify their statements, the tie of a line with only a number is certain.
    lines(
        &[
            ("let plan = session: writer", Some(11), false),
            ("session \"Warm up\"", Some(12), false),
            ("parallel:", Some(13), false),
        ],
        "1→ plan ✓\n2→ ✓\n3→ ∥start a,b\n3→ ∥done\n"
            .replace("3→ ∥done\n", "")
            .as_str()
            .trim_end(),
    );
    // Numbers may include the inputs, or start anywhere.
    lines(
        &[
            ("let plan = session: writer", Some(11), false),
            ("session \"Warm up\"", Some(12), false),
        ],
        "41→ plan ✓\n42→ ✓\n",
    );
    // If no line has a name, numbers count from one, and each tie is a guess.
    lines(&[("session \"Warm up\"", Some(12), true)], "2→ ✓\n");
    // Words that match no statement are shown as they are.
    lines(
        &[
            ("let plan = session: writer", Some(11), false),
            ("encrypt", None, false),
        ],
        "1→ plan ✓\n2→ encrypt ✓\n",
    );
}

#[test]
fn frames_that_nobody_entered_or_left() {
    let (_, trace) = alone(
        "5→ #9 impl ✓\n6→ block:a#1\n6→ #1 x ✓\n6→ block:b#2\n6→ #2 y ✓\n6→ #2 done\n7→ block:c\n7→ z ✓\n7→ c ✓\n8→ block:a#1\n8→ #1 again ✓\n",
        "
        frame #9 at 1: completed derived
          impl: completed
        frame a#1 at 1: completed derived
          x: completed
          frame b#2 at 2: completed
            y: completed
        frame c#? at 1: completed
          z: completed
        frame a#? at 1: unknown derived
          again: completed
        ",
    );
    assert_eq!(rules(&trace), ["log-frame-unknown", "log-frame-twice"]);
}

#[test]
fn a_log_costs_no_stack_and_no_more_than_its_length() {
    let mut text = "# run:r p\n".to_owned();
    for n in 0..30_000 {
        text.push_str(&format!("4→ block:process#{n}\n"));
    }
    let (_, trace) = folded(&[("state.md", &text)]);
    assert_eq!(trace.nodes.last().map(|n| n.level), Some(29_999));
    let rounds = "1→ loop:4000000000/4294967295\n1→ loop:4294967295/4294967295 exit(x)\n";
    let (_, trace) = folded(&[("state.md", &format!("# run:r p\n{rounds}"))]);
    assert!(trace.nodes.len() <= 1_010);
    let names: Vec<String> = (0..50_000).map(|n| format!("b{n}")).collect();
    let text = format!(
        "# run:r p\n1→ ∥start {}\n{}",
        names.join(","),
        "1→ b7 ✓\n".repeat(20_000)
    );
    let (_, trace) = folded(&[("state.md", &text)]);
    assert_eq!(trace.nodes.len(), 10_001);
}

/// A line of a frame has the number of the frame's call. A name identifies the line's statement; without a name, the
/// order of the lines does.
#[test]
fn a_silent_line_of_a_frame_is_the_next_statement_of_its_block() {
    let check_in = |block: &str, lines: &str, expected: &str| {
        let program = format!("let plan = session \"P\"\ndo work(plan)\nblock work(x):\n{block}");
        let log = format!("# run:r p.prose\n1→ plan ✓\n2→ block:work#1\n{lines}2→ #1 done\n");
        let (_, trace) = folded(&[("state.md", &log), ("program.prose", &program)]);
        let inside: Vec<String> = trace
            .nodes
            .iter()
            .filter(|n| n.level > 0)
            .map(|n| {
                let line = n.line.map_or("-".to_owned(), |line| line.to_string());
                format!("{line}{}", if n.line_guessed { "?" } else { "" })
            })
            .collect();
        assert_eq!(inside.join(" "), expected, "{block}{lines}");
    };
    let (one, two) = ("  session \"A\"\n", "  session \"A\"\n  session \"B\"\n");
    let named = "  let a = session \"A\"\n  let b = session \"B\"\n";
    let parallel = "  session \"A\"\n  parallel:\n    session \"B\"\n    session \"C\"\n";
    for (block, lines, expected) in [
        (one, "2→ #1 ✓\n", "4"),
        (two, "2→ #1 ✓\n2→ #1 ✓\n", "4 5"),
        // A line without a name does not fit a statement with a name, so the tie is a guess.
        (named, "2→ #1 ✓\n", "4?"),
        (named, "2→ #1 a ✓\n2→ #1 ✓\n", "4 5?"),
        // No statement of the program is left that the line could match.
        (named, "2→ #1 b ✓\n2→ #1 ✓\n", "5 -"),
        (parallel, "2→ #1 ✓\n2b→ #1 ✓\n", "4? -"),
        // Two cases: a block without statements, and a block that the program does not declare.
        ("  # nothing\n", "2→ #1 ✓\n", "-"),
    ] {
        check_in(block, lines, expected);
    }
    // The letter of a line in a frame names the branch of the call, not a branch of a parallel block inside the frame.
    let program = "parallel:\n  do work(1)\n  do work(2)\nblock work(x):\n  session \"A\"\n  parallel:\n    session \"B\"\n    session \"C\"\n";
    check(
        &[
            (
                "state.md",
                "# run:r p.prose\n1→ ∥start\n1a→ block:work#1\n1a→ #1 ✓\n1b→ block:work#2\n1b→ #2 ✓\n",
            ),
            ("program.prose", program),
        ],
        "
        parallel: unknown derived @1
          branch a: unknown derived
            frame work#1 at 1: unknown derived guessed @2
              session \"A\": completed @5
          branch b: unknown derived
            frame work#2 at 1: unknown derived guessed @3
              session \"A\": completed @5
        ",
    );
}
