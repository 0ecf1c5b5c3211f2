//! Tests that an invalid command is refused and changes no byte. The message contains what is wrong, why, and the next
//! step; the exit code is the right one.

mod asked;

use prosescope_test_support::{clock, needs};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;

use crate::project::{FORMS, Project, text};

const PROGRAM: &str = r#"use "https://p.prose.md/@alice/research" as research

agent writer:
  model: opus
  persist: true

input topic: "What about?"

block check(text):
  let verdict = session "Is it right?"
  do check(verdict)

const outline = session: writer
  prompt: "Outline"

parallel:
  a = session "A"
  b = session "B"

loop until **it is good** (max: 2):
  let draft = session "Draft"

parallel ("first"):
  x = do check(outline)
  y = do check(draft)

approve publish:
  prompt: "Publish it?"
  allow: ["editor"]
  timeout: "2h"
  on_reject: continue

approve send:
  prompt: "Send it?"

session "Send"
  retry: 3

output report = session "Report"
"#;

/// The states of a run in which invalid commands are tried, each with the commands that lead to it. An argument with
/// blanks is in single quotes. The comments list the open executions by their numbers.
const STAGES: &[(&str, &[&str])] = &[
    ("fresh", &[]),
    // Execution 1 is the statement that writes `outline`.
    ("begun", &["begin 13"]),
    // Execution 1 is the parallel block, 2 branch a, 3 branch b.
    ("parallel", &["begin 16"]),
    // Execution 1 is the loop, 2 the session inside of it.
    ("loop", &["begin 20", "begin 21"]),
    // Execution 1 is the loop, after its two rounds.
    ("used-up", &["begin 20", "round", "round"]),
    // Execution 1 is the parallel block; 2 and 3 are two calls of one block.
    ("frames", &["begin 23"]),
    // Execution 1 is the parallel block, 2 and 3 are two calls of one block, and 4 is a session in the first call.
    (
        "inside",
        &[
            "begin 23",
            // With `--into 1`, the value is at the root, and the call stays open.
            "put x --into 1 --not-done --file value",
            "begin 10 --parent 2",
        ],
    ),
    // Execution 1 is the gate, whose deadline is 14:00.
    ("gate", &["gate create --line 27"]),
    // The gate is the same, but the commands run an hour after its deadline.
    ("late", &["gate create --line 27"]),
    // Execution 1 failed, after its three attempts.
    (
        "failed",
        &[
            "begin 36 --force",
            "retry 1 --error no",
            "retry 1 --error no",
            "fail 1 no",
        ],
    ),
    // Execution 1 is completed.
    ("done", &["begin 13", "put outline --into 1 --file value"]),
    ("finished", &["finish --run RUN --force"]),
    ("interrupted", &["finish interrupted --run RUN"]),
];

/// Each case: the state, the command, the exit code, what is wrong and why, and the next step.
const WRONG: &[(&str, &str, i32, &str, &str)] = &[
    // These commands have the line of a statement that does not begin, or that the command is not for.
    (
        "fresh",
        "begin 7",
        2,
        "line 7 is an input, which does not begin",
        "`prosescope put topic`",
    ),
    (
        "fresh",
        "begin 7",
        2,
        "line 7 is an input, which does not begin",
        "`prosescope skip 7`",
    ),
    (
        "fresh",
        "begin 3",
        2,
        "line 3 is a declaration, which does not begin",
        "the line of a statement that runs",
    ),
    (
        "fresh",
        "begin 9",
        2,
        "line 9 is the declaration of a block, which does not begin",
        "`do check(…)` calls the block",
    ),
    (
        "fresh",
        "skip 3",
        2,
        "line 3 is a declaration, which does not begin",
        "the line of a statement that runs",
    ),
    (
        "fresh",
        "skip 9",
        2,
        "line 9 is the declaration of a block, which does not begin",
        "`do check(…)` calls the block",
    ),
    (
        "fresh",
        "skip 27",
        4,
        "line 27 is a gate, and a gate cannot be skipped",
        "`prosescope begin 27`",
    ),
    (
        "gate",
        "skip 27",
        4,
        "line 27 is a gate, and a gate cannot be skipped",
        "a person decides",
    ),
    (
        "fresh",
        "begin 13 --program p.prose",
        2,
        "--program is for a `use`",
        "leave --program out",
    ),
    (
        "fresh",
        "gate create --line 36",
        2,
        "line 36 is not a gate",
        "`prosescope begin 36`",
    ),
    (
        "fresh",
        "gate create --line 16",
        2,
        "line 16 is not a gate",
        "`prosescope begin 16`",
    ),
    (
        "fresh",
        "gate create --line 20",
        2,
        "line 20 is not a gate",
        "`prosescope begin 20`",
    ),
    (
        "fresh",
        "gate create --line 7",
        2,
        "line 7 is not a gate",
        "`prosescope program`",
    ),
    // In these commands, the line does not begin a statement, or the statement is missing or given twice.
    (
        "fresh",
        "begin 14",
        3,
        "no statement begins at line 14",
        "the statement of line 13",
    ),
    (
        "fresh",
        "skip 14",
        3,
        "no statement begins at line 14",
        "the statement of line 13",
    ),
    (
        "fresh",
        "gate create --line 28",
        3,
        "no statement begins at line 28",
        "the statement of line 27",
    ),
    (
        "fresh",
        "begin 2",
        3,
        "no statement begins at line 2 of the program",
        "the next statement begins at line 3",
    ),
    (
        "fresh",
        "begin 99",
        3,
        "no statement begins at line 99",
        "39 lines",
    ),
    (
        "fresh",
        "skip 99",
        3,
        "no statement begins at line 99",
        "39 lines",
    ),
    (
        "fresh",
        "begin 0",
        3,
        "no statement begins at line 0",
        "the next statement begins at line 1",
    ),
    ("fresh", "begin", 2, "<LINE", "--help"),
    ("fresh", "skip", 2, "<LINE>", "--help"),
    (
        "fresh",
        r#"begin 13 --text 'session "Send"'"#,
        2,
        "cannot be used with",
        "--help",
    ),
    (
        "fresh",
        "begin --text 13",
        2,
        "13 is a number, not the text of a statement",
        "`prosescope begin 13`",
    ),
    // These commands begin a statement in a wrong place: outside of its loop, branch or call, or with a wrong parent.
    (
        "parallel",
        "begin 17 --parent 1",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "parallel",
        "begin 17 --parent 2",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "parallel",
        "begin 17 --parent 3",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "fresh",
        "begin 17",
        4,
        "line 17 is a branch of the parallel of line 16",
        "`prosescope begin 16`",
    ),
    (
        "fresh",
        "skip 17",
        4,
        "line 17 is a branch of the parallel of line 16",
        "`prosescope begin 16`",
    ),
    (
        "parallel",
        "begin 17",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "fresh",
        "begin 10",
        4,
        "line 10 lies in block check (line 9), which is not called",
        "call the block with `prosescope begin 24`",
    ),
    (
        "fresh",
        "begin 21",
        4,
        "line 21 lies in the loop of line 20, which has not begun",
        "`prosescope begin 20`",
    ),
    (
        "frames",
        "begin 10",
        4,
        "may run in any of 2 executions: --parent 2 (branch x",
        "`--parent ID`",
    ),
    (
        "frames",
        "skip 10",
        4,
        "may run in any of 2 executions: --parent 2 (branch x",
        "`--parent ID`",
    ),
    (
        "begun",
        "begin 36 --parent 1",
        4,
        "line 36 does not run in execution 1",
        "leave --parent out",
    ),
    (
        "loop",
        "begin 21 --parent 2",
        4,
        "line 21 does not run in execution 2",
        "leave --parent out",
    ),
    (
        "loop",
        "begin 36 --parent 1",
        4,
        "line 36 does not run in execution 1",
        "leave --parent out",
    ),
    (
        "parallel",
        "begin 21 --parent 2",
        4,
        "line 21 lies in the loop of line 20",
        "leave --parent out",
    ),
    (
        "done",
        "begin 36 --parent 1",
        4,
        "execution 1 is completed already",
        "`prosescope resume RUN`",
    ),
    (
        "fresh",
        "begin 36 --parent 5",
        3,
        "there is no execution 5",
        "`prosescope trace RUN`",
    ),
    (
        "begun",
        "begin 13",
        4,
        "execution 1 of this statement is still open",
        "end, fail or skip",
    ),
    (
        "loop",
        "begin 20",
        4,
        "execution 1 of this statement is still open",
        "end, fail or skip",
    ),
    (
        "loop",
        "begin 21",
        4,
        "execution 2 of this statement is still open",
        "end, fail or skip",
    ),
    (
        "parallel",
        r#"begin --text 'session "C"' --parent 1 --item a"#,
        4,
        "branch a of parallel 1 is executing already",
        "`prosescope retry ID`",
    ),
    (
        "parallel",
        r#"begin --text 'session "C"' --parent 1 --item c"#,
        4,
        "parallel 1 has no branch c: its branches are a, b",
        "one of these",
    ),
    (
        "begun",
        r#"begin --text 'session "C"' --parent 1 --item a"#,
        2,
        "--item also needs the parallel",
        "`--parent ID`",
    ),
    // These options contradict the program.
    (
        "fresh",
        "gate create --line 27 --prompt Now?",
        4,
        "prompt Now? contradicts line 27 of the program, which has Publish it?",
        "`--override`",
    ),
    (
        "fresh",
        "gate create --line 27 --allow writer",
        4,
        "allow [writer] contradicts line 27 of the program, which has [editor]",
        "`--override`",
    ),
    (
        "fresh",
        "gate create --line 27 --timeout 4h",
        4,
        "timeout 4h contradicts line 27 of the program, which has 2h",
        "`--override`",
    ),
    (
        "fresh",
        "gate create publish --on-reject stop",
        4,
        "stop contradicts",
        "`--override`",
    ),
    (
        "failed",
        "retry 1 --max 5",
        4,
        "max 5 contradicts line 36 of the program, which has 3",
        "`--override`",
    ),
    (
        "fresh",
        "put outline --kind let --file value",
        4,
        "kind let contradicts the program, in which outline is const",
        "leave --kind out",
    ),
    // These commands are about gates.
    (
        "fresh",
        "gate create send --line 27",
        2,
        "line 27 is gate publish, not send",
        "`prosescope begin 27`",
    ),
    (
        "fresh",
        "gate create other",
        2,
        "the program has no gate other",
        "--prompt TEXT`",
    ),
    ("fresh", "gate create", 2, "<ID>", "--help"),
    (
        "fresh",
        "gate create other --prompt Go? --timeout 2h30",
        2,
        "--timeout 2h30",
        "2h30m",
    ),
    (
        "fresh",
        "begin --text 'approve other:'",
        2,
        "the program has no such gate",
        "--prompt TEXT`",
    ),
    (
        "gate",
        "gate create --line 27",
        4,
        "gate publish waits for a decision (execution 1)",
        "a person decides",
    ),
    (
        "gate",
        "begin 27",
        4,
        "gate publish waits for a decision (execution 1)",
        "a person decides",
    ),
    (
        "gate",
        "gate create --line 27 --force",
        4,
        "gate publish was created already, and waits for a decision",
        "a person decides",
    ),
    (
        "gate",
        "gate create --line 33",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "begin 36",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "begin 16",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "skip 36",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "end 1",
        4,
        "execution 1 waits at a gate, and only a decision ends that",
        "a person decides",
    ),
    (
        "gate",
        "fail 1 no",
        4,
        "execution 1 waits at a gate, and only a decision ends that",
        "a person decides",
    ),
    (
        "gate",
        "retry 1",
        4,
        "only a failed execution can be retried",
        "--error TEXT",
    ),
    (
        "gate",
        "retry 1 --error no",
        4,
        "execution 1 waits at a gate",
        "a person decides",
    ),
    (
        "gate",
        "end",
        4,
        "nothing is open but gate publish",
        "`prosescope gate wait publish`",
    ),
    (
        "gate",
        "put x --into 1 --file value",
        4,
        "execution 1 waits at a gate",
        "a person decides",
    ),
    (
        "gate",
        "finish --run RUN",
        4,
        "gate publish waits for a decision",
        "`prosescope finish failed`",
    ),
    (
        "gate",
        "approve RUN publish --as stranger",
        4,
        "`stranger` may not decide this gate: it admits editor",
        "`--as NAME --for NAME`",
    ),
    (
        "gate",
        "approve RUN publish --as system",
        4,
        "`system` is reserved",
        "`--as NAME`",
    ),
    (
        "gate",
        "approve RUN pulbish --as editor",
        3,
        "there is no gate pulbish",
        "`prosescope gates RUN --all`",
    ),
    (
        "gate",
        "reject RUN publish --as editor --reason ' '",
        2,
        "a rejection needs a reason",
        "`--reason TEXT`",
    ),
    (
        "late",
        "approve RUN publish --as editor",
        4,
        "past its deadline (25 Jan 2026, 14:00 UTC): nothing was changed",
        "--record-timeout",
    ),
    (
        "late",
        "reject RUN publish --as editor --reason no",
        4,
        "past its deadline",
        "goes on with: continue",
    ),
    // These commands are about statements that are finished, or not finished yet.
    (
        "parallel",
        "end 1",
        4,
        "parallel 1 waits for a, b",
        "end, fail or skip",
    ),
    (
        "parallel",
        "end",
        4,
        r#"execution 2 is open (a = session "A"), execution 3 is open"#,
        "give the id",
    ),
    (
        "parallel",
        "fail no",
        4,
        r#"execution 2 is open (a = session "A"), execution 3 is open"#,
        "give the id",
    ),
    (
        "parallel",
        "end 2",
        4,
        "there is no binding a at the root",
        "`prosescope put a --into 2`",
    ),
    (
        "parallel",
        "end 2 3",
        4,
        "there is no binding a at the root",
        "`prosescope put a --into 2`",
    ),
    (
        "parallel",
        "round",
        3,
        "no loop is open",
        "`prosescope begin LINE`",
    ),
    (
        "parallel",
        "round 1",
        4,
        "execution 1 is not a loop",
        "`prosescope begin` printed",
    ),
    (
        "parallel",
        "skip 16",
        4,
        "execution 1 cannot be skipped",
        "fail or skip the open execution",
    ),
    (
        "parallel",
        "put x --into 1 --file value",
        4,
        "execution 1 has no value of its own",
        "the first is line 17",
    ),
    (
        "parallel",
        "put --anon --file value",
        4,
        "more than one statement is open",
        "`--into ID`",
    ),
    (
        "parallel",
        "brief 1",
        4,
        "only a session has a subagent",
        "`prosescope trace RUN`",
    ),
    ("frames", "end 1", 4, "1 more of x, y", "end, fail or skip"),
    (
        "frames",
        "end 2",
        4,
        "there is no binding x at the root",
        "`prosescope put x --into 2`",
    ),
    (
        "inside",
        "end 2",
        4,
        "execution 4 is open (let verdict",
        "fail or skip the open execution",
    ),
    (
        "inside",
        "skip 24",
        4,
        "execution 4 is open (let verdict",
        "fail or skip the open execution",
    ),
    (
        "inside",
        "put x --into 2 --file value",
        4,
        "execution 4 is open (let verdict",
        "fail or skip the open execution",
    ),
    (
        "loop",
        "end",
        4,
        "there is no binding draft at the root",
        "`prosescope put draft --into 2`",
    ),
    (
        "loop",
        "end 1",
        4,
        "execution 2 is open (let draft",
        "fail or skip the open execution",
    ),
    (
        "loop",
        "round",
        4,
        "execution 2 is open (let draft",
        "fail or skip the open execution",
    ),
    (
        "loop",
        "skip 20",
        4,
        "execution 2 is open (let draft",
        "fail or skip the open execution",
    ),
    (
        "loop",
        "round 2",
        4,
        "execution 2 is not a loop",
        "`prosescope begin` printed",
    ),
    (
        "loop",
        "put draft --into 1 --file value",
        4,
        "execution 1 has no value of its own",
        "the first is line 21",
    ),
    (
        "loop",
        "brief 1",
        4,
        "only a session has a subagent",
        "`prosescope next`",
    ),
    (
        "used-up",
        "round",
        4,
        "loop 1 has had all of its 2 rounds",
        "`prosescope end 1`",
    ),
    (
        "used-up",
        "begin 21",
        4,
        "loop 1 has had all of its 2 rounds",
        "`prosescope end 1`",
    ),
    (
        "used-up",
        "skip 21",
        4,
        "loop 1 has had all of its 2 rounds",
        "`prosescope end 1`",
    ),
    (
        "begun",
        "end",
        4,
        "there is no binding outline at the root",
        "`prosescope put outline --into 1`",
    ),
    (
        "begun",
        "end 1",
        4,
        "there is no binding outline at the root",
        "`prosescope put outline --into 1`",
    ),
    (
        "begun",
        "round 1",
        4,
        "execution 1 is not a loop",
        "`prosescope begin` printed",
    ),
    (
        "begun",
        "put --anon --file value",
        4,
        "whose statement writes outline",
        "`prosescope put outline --into 1`",
    ),
    (
        "begun",
        "put outline --file empty",
        4,
        "the value is empty, so execution 1 is not completed",
        "`--file PATH`",
    ),
    (
        "begun",
        "finish --run RUN",
        4,
        "execution 1 is open (const outline",
        "`prosescope finish failed`",
    ),
    (
        "begun",
        "retry 1",
        4,
        "only a failed execution can be retried",
        "--error TEXT",
    ),
    (
        "failed",
        "retry 1",
        4,
        "execution 1 has had all of its 3 attempts",
        "`--max N`",
    ),
    (
        "failed",
        "end 1",
        4,
        "execution 1 is failed already",
        "`prosescope retry",
    ),
    (
        "failed",
        "fail 1 no",
        4,
        "execution 1 is failed already",
        "`prosescope retry",
    ),
    (
        "failed",
        "end",
        3,
        "no statement is open",
        "`prosescope begin LINE`",
    ),
    (
        "done",
        "end 1",
        4,
        "execution 1 is completed already",
        "`prosescope next`",
    ),
    (
        "done",
        "fail 1 no",
        4,
        "execution 1 is completed already",
        "`prosescope next`",
    ),
    (
        "done",
        "retry 1",
        4,
        "only a failed execution can be retried",
        "--error TEXT",
    ),
    (
        "done",
        "retry 1 --error no",
        4,
        "execution 1 is completed already",
        "`prosescope next`",
    ),
    (
        "done",
        "put outline --into 1 --file value",
        4,
        "execution 1 is completed already",
        "`prosescope next`",
    ),
    (
        "fresh",
        "end",
        3,
        "no statement is open",
        "`prosescope begin LINE`",
    ),
    (
        "fresh",
        "fail no",
        3,
        "no statement is open",
        "`prosescope begin LINE`",
    ),
    (
        "fresh",
        "round",
        3,
        "no loop is open",
        "`prosescope begin LINE`",
    ),
    (
        "fresh",
        "put --anon --file value",
        3,
        "no statement is open",
        "`prosescope begin LINE`",
    ),
    (
        "fresh",
        "finish failed no",
        4,
        "no execution is open that could fail",
        "leave the text out",
    ),
    (
        "begun",
        "finish interrupted no",
        2,
        "only a failed run has an error",
        "leave the text out",
    ),
    (
        "begun",
        "finish completed no",
        2,
        "only a failed run has an error",
        "leave the text out",
    ),
    // These commands are about values, names and files.
    (
        "begun",
        "begin 16",
        4,
        "line 16 cannot begin yet: execution 1",
        "`prosescope put outline --into 1`",
    ),
    (
        "parallel",
        "begin 20",
        4,
        "line 20 cannot begin yet: execution 1",
        "`prosescope put b --into 3`",
    ),
    (
        "begun",
        "put report --into 1 --file value",
        4,
        "whose statement writes outline",
        "`prosescope put outline --into 1`",
    ),
    (
        "begun",
        "put outline --into 7 --file value",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "put outline --kind var --file value",
        2,
        r#""var""#,
        "input, output, let or const",
    ),
    (
        "fresh",
        "put a/b --file value",
        2,
        r#""a/b" cannot be the name of this binding: the character '/' is not allowed"#,
        "letters, digits",
    ),
    (
        "fresh",
        "put outline__7 --file value",
        2,
        "ends in `__` and digits",
        "letters, digits",
    ),
    (
        "fresh",
        "agent memory set ../x",
        2,
        r#""../x" cannot be the name of this agent"#,
        "letters, digits",
    ),
    (
        "fresh",
        "gate create a/b --prompt Go?",
        2,
        r#""a/b" cannot be the name of this gate"#,
        "letters, digits",
    ),
    (
        "fresh",
        "put outline --file missing",
        3,
        "cannot read missing",
        "check the path",
    ),
    (
        "begun",
        "put outline --into 1 --file value --memory missing",
        3,
        "cannot read missing",
        "check the path",
    ),
    (
        "begun",
        "put outline --into 1 --file value --memory bytes",
        5,
        "bytes is not UTF-8 text: line 1 has the byte 0xff",
        "`iconv -f UTF-16 -t UTF-8 bytes > NEW`",
    ),
    (
        "fresh",
        "put x --file value --memory value",
        2,
        "no agent is named",
        "`--agent NAME`",
    ),
    (
        "fresh",
        r#"begin --text 'use "./x.prose" as a.b'"#,
        2,
        "the handle a.b has `.` in it",
        "`research.findings`",
    ),
    (
        "fresh",
        "begin 1 --program missing.prose",
        3,
        "missing.prose",
        "check the path",
    ),
    // These commands have wrong numbers, ids or runs.
    (
        "fresh",
        "begin x",
        2,
        "invalid value 'x' for '[LINE]'",
        "--help",
    ),
    (
        "fresh",
        "skip x",
        2,
        "invalid value 'x' for '<LINE>'",
        "--help",
    ),
    ("fresh", "end one", 2, "invalid value 'one'", "--help"),
    ("fresh", "round one", 2, "invalid value 'one'", "--help"),
    ("fresh", "retry one", 2, "invalid value 'one'", "--help"),
    ("fresh", "brief one", 2, "invalid value 'one'", "--help"),
    ("fresh", "fail", 2, "<TEXT>", "--help"),
    (
        "fresh",
        "fail 1",
        2,
        "the error is missing",
        "`prosescope fail 1 TEXT`",
    ),
    (
        "fresh",
        "fail one two",
        2,
        "one is not the number of an execution",
        "put the text in quotes",
    ),
    (
        "fresh",
        "fail 1 two words",
        2,
        "unexpected argument 'words'",
        "--help",
    ),
    ("fresh", "retry", 2, "<EXECUTION>", "--help"),
    ("fresh", "brief", 2, "<EXECUTION>", "--help"),
    (
        "fresh",
        "finish waiting --run RUN",
        2,
        "invalid value 'waiting'",
        "--help",
    ),
    (
        "fresh",
        "end 7",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "round 7",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "retry 7",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "fail 7 no",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "brief 7",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "unknown",
        "begin 13",
        3,
        "there is no run unknown",
        "`prosescope runs`",
    ),
    (
        "unknown",
        "put outline --file value",
        3,
        "there is no run unknown",
        "`prosescope runs`",
    ),
    (
        "unknown",
        "brief 1",
        3,
        "there is no run unknown",
        "`prosescope runs`",
    ),
    (
        "finished",
        "begin 13",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "put outline --file value",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "end",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "skip 13",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "gate create --line 27",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "finish failed --run RUN",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "resume RUN --begin",
        4,
        "run finished is completed",
        "`prosescope init PROGRAM`",
    ),
    (
        "interrupted",
        "begin 13",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "begin 1",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "end",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "round",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "fail no",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "skip 13",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
];

const NOON: &str = "2026-01-25 12:00:00";
const LATE: &str = "2026-01-25 15:00:00";

/// Splits a command into words. `RUN` is replaced by the id of the run. The run is added as an option if neither the
/// command nor its environment contains it.
fn words(command: &str, run: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (set, command) = environment(command);
    for (nth, part) in command.split('\'').enumerate() {
        if nth % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(|word| word.replace("RUN", run)));
        }
    }
    let is_named =
        command.contains("RUN") || command.contains("--run") || command.starts_with("init");
    if !is_named && set.is_none() {
        words.extend(["--run".to_owned(), run.to_owned()]);
    }
    words
}

/// Returns the value of `PROSE_RUN` at the beginning of a command, and the rest of the command.
fn environment(command: &str) -> (Option<&str>, &str) {
    match command.strip_prefix("PROSE_RUN=") {
        Some(rest) => {
            let (run, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (Some(run), rest)
        }
        None => (None, command),
    }
}

/// Returns all files of the project with their bytes, except for lock files.
fn files(project: &Project) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![project.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if entry.file_name() != ".lock" {
                let bytes = std::fs::read(&path).expect("read");
                files.insert(path, bytes);
            }
        }
    }
    files
}

/// Builds a project with a run in each state. The id of the run is the name of the state.
fn prepared(form: &str) -> Option<Project> {
    let project = Project::new(PROGRAM)?;
    std::fs::write(project.path().join("value"), "a value").expect("written");
    std::fs::write(project.path().join("empty"), "").expect("written");
    std::fs::write(project.path().join("bytes"), [0xff, 0xfe]).expect("written");
    for (stage, commands) in STAGES {
        project.line(&["init", "p.prose", "--state", form, "--id", stage]);
        for command in *commands {
            let out = asked(&project, NOON, command, stage);
            assert!(out.status.success(), "{command}: {}", text(&out.stderr));
        }
    }
    Some(project)
}

fn asked(project: &Project, now: &str, line: &str, run: &str) -> Output {
    let words = words(line, run);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = project.command(&words);
    if let (Some(run), _) = environment(line) {
        command.env("PROSE_RUN", run);
    }
    command
        .envs(clock::at(now))
        .output()
        .expect("prosescope runs")
}

/// Runs an invalid command. Returns what is wrong with its output, exit code or effect, or `None`.
fn check(
    project: &Project,
    (stage, command, code, says, next): &(&str, &str, i32, &str, &str),
) -> Option<String> {
    let before = files(project);
    let now = if *stage == "late" { LATE } else { NOON };
    let out = asked(project, now, command, stage);
    let (stdout, said) = (text(&out.stdout), text(&out.stderr));
    let (message, rest) = said.split_once('\n').unwrap_or((&said, ""));
    // Errors of the command-line parser have a wording and a next step of their own.
    let usage = rest.contains("try '--help'");
    let goes_on = |line: &str| usage || line.trim_start().starts_with('→');
    let mut odd = Vec::new();
    if out.status.code() != Some(*code) {
        odd.push(format!("exit code {:?}, not {code}", out.status.code()));
    }
    if !message.starts_with("error: ") || !(if usage { &said } else { message }).contains(says) {
        odd.push(format!("it does not say: {says}"));
    }
    if !rest
        .lines()
        .any(|line| goes_on(line) && line.contains(next))
    {
        odd.push(format!("the next step is not: {next}"));
    }
    if !stdout.is_empty() {
        odd.push(format!("it prints: {stdout}"));
    }
    if files(project) != before {
        odd.push("files changed".to_owned());
    }
    (!odd.is_empty()).then(|| format!("{stage}: {command}\n  {}\n{said}", odd.join("\n  ")))
}

#[test]
fn what_is_wrong_is_refused_with_what_why_and_next_and_changes_nothing() {
    if needs::faketime().is_none() {
        return;
    }
    for form in FORMS {
        let Some(project) = prepared(form) else {
            return;
        };
        let odd: Vec<String> = WRONG
            .iter()
            .chain(asked::ASKED)
            .filter_map(|case| check(&project, case))
            .collect();
        assert!(odd.is_empty(), "{form}:\n{}", odd.join("\n"));
    }
}
