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
    ("begun", &["exec begin --line 13"]),
    // Execution 1 is the parallel block, 2 branch a, 3 branch b.
    ("parallel", &["parallel run --line 16"]),
    // Execution 1 is the loop, 2 the session inside of it.
    ("loop", &["exec run --line 21 --in 20"]),
    // Execution 1 is the loop, after its two rounds.
    (
        "used-up",
        &["loop begin --line 20", "loop iterate", "loop iterate"],
    ),
    // Execution 1 is the parallel block; 2 and 3 are two calls of one block.
    ("frames", &["parallel run --line 23"]),
    // Execution 1 is the parallel block, 2 and 3 are two calls of one block, and 4 is a session in the first call.
    (
        "inside",
        &[
            "parallel run --line 23",
            "put x --file value",
            "exec begin --line 10 --parent 2",
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
            "exec begin --line 36 --force",
            "exec retry 1 --error no",
            "exec retry 1 --error no",
            "exec fail 1 --error no",
        ],
    ),
    // Execution 1 is completed.
    (
        "done",
        &[
            "exec begin --line 13",
            "put outline --execution 1 --file value --done",
        ],
    ),
    ("finished", &["finish RUN --status completed --force"]),
    ("interrupted", &["finish RUN --status interrupted"]),
];

/// Each case: the state, the command, the exit code, what is wrong and why, and the next step.
const WRONG: &[(&str, &str, i32, &str, &str)] = &[
    // These commands have the line of another kind of statement, and the message contains the right command.
    (
        "fresh",
        "exec begin --line 16",
        2,
        "line 16 is a parallel, not a statement that `prosescope exec` records",
        "`prosescope parallel run --line 16`",
    ),
    (
        "fresh",
        "exec run --line 20",
        2,
        "line 20 is a loop, not",
        "`prosescope loop begin --line 20`",
    ),
    (
        "fresh",
        "exec begin --line 27",
        2,
        "line 27 is a gate, not",
        "`prosescope gate create --line 27`",
    ),
    (
        "fresh",
        "exec run --line 7",
        2,
        "line 7 is an input, not",
        "`prosescope put topic`",
    ),
    (
        "fresh",
        "exec begin --line 1",
        2,
        "line 1 is an import, not",
        "`prosescope import add research`",
    ),
    (
        "fresh",
        "exec run --line 3",
        2,
        "line 3 is a declaration, not",
        "the line of a statement that runs",
    ),
    (
        "fresh",
        "exec begin --line 9",
        2,
        "line 9 is the declaration of a block, not",
        "`do check(…)` calls the block",
    ),
    (
        "fresh",
        "parallel begin --line 13",
        2,
        "line 13 is a plain statement, not a parallel",
        "`prosescope exec run --line 13`",
    ),
    (
        "fresh",
        "parallel run --line 20",
        2,
        "line 20 is a loop, not a parallel",
        "`prosescope loop begin --line 20`",
    ),
    (
        "fresh",
        "parallel run --line 27",
        2,
        "line 27 is a gate, not a parallel",
        "`prosescope gate create --line 27`",
    ),
    (
        "fresh",
        "parallel run --line 17",
        2,
        "not a parallel",
        "`prosescope parallel run --line 16`",
    ),
    (
        "fresh",
        "loop begin --line 16",
        2,
        "line 16 is a parallel, not a loop",
        "`prosescope parallel run --line 16`",
    ),
    (
        "fresh",
        "loop begin --line 36",
        2,
        "line 36 is a plain statement, not a loop",
        "`prosescope exec run --line 36`",
    ),
    (
        "fresh",
        "loop begin --line 9",
        2,
        "line 9 is the declaration of a block, not a loop",
        "`do check(…)` calls the block",
    ),
    (
        "fresh",
        "gate create --line 36",
        2,
        "line 36 is a plain statement, not a gate",
        "`prosescope exec run --line 36`",
    ),
    (
        "fresh",
        "gate create --line 16",
        2,
        "line 16 is a parallel, not a gate",
        "`prosescope parallel run --line 16`",
    ),
    (
        "fresh",
        "gate create --line 20",
        2,
        "line 20 is a loop, not a gate",
        "`prosescope loop begin --line 20`",
    ),
    (
        "fresh",
        "gate create --line 7",
        2,
        "line 7 is an input, not a gate",
        "`prosescope put topic`",
    ),
    (
        "fresh",
        "exec run --line 21 --in 16",
        2,
        "line 16 is a parallel, not",
        "`prosescope parallel run --line 16`",
    ),
    // In these commands, the line does not begin a statement, or the statement is missing or given twice.
    (
        "fresh",
        "exec begin --line 14",
        3,
        "no statement begins at line 14",
        "--line 13",
    ),
    (
        "fresh",
        "gate create --line 28",
        3,
        "no statement begins at line 28",
        "--line 27",
    ),
    (
        "fresh",
        "exec run --line 2",
        3,
        "no statement begins at line 2 of the program",
        "the next statement begins at line 3",
    ),
    (
        "fresh",
        "parallel run --line 99",
        3,
        "no statement begins at line 99",
        "39 lines",
    ),
    (
        "fresh",
        "loop begin --line 0",
        3,
        "no statement begins at line 0",
        "the next statement begins at line 1",
    ),
    ("fresh", "exec begin", 2, "no statement was named", "--line"),
    (
        "fresh",
        r#"exec begin 'session "Send"' --line 13"#,
        2,
        "the given text is the statement of line 36, not of line 13",
        "the text or --line",
    ),
    // These commands begin a statement in a wrong place: outside of its loop, branch or call, or with a wrong parent.
    (
        "parallel",
        "exec begin --line 17 --parent 1",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "parallel",
        "exec begin --line 17 --parent 2",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "parallel",
        "exec begin --line 17 --parent 3",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "fresh",
        "exec begin --line 17",
        4,
        "line 17 is a branch of the parallel of line 16",
        "`prosescope parallel run --line 16`",
    ),
    (
        "parallel",
        "exec run --line 17",
        4,
        "line 17 is a branch of the parallel of line 16",
        "the branch has begun, as execution 2",
    ),
    (
        "fresh",
        "exec run --line 10",
        4,
        "line 10 lies in block check (line 9), which is not called",
        "call the block with `prosescope exec begin --line 24`",
    ),
    (
        "fresh",
        "exec run --line 21",
        4,
        "line 21 lies in the loop of line 20, which has not begun",
        "`--in 20`",
    ),
    (
        "fresh",
        "exec run --line 21 --in 36",
        2,
        "`--in 36` names neither a loop around the statement nor a call of",
        "omit `--in`",
    ),
    (
        "frames",
        "exec run --line 10",
        4,
        "may run in any of 2 executions: --parent 2 (branch x",
        "`--parent ID`",
    ),
    (
        "begun",
        "exec begin --line 36 --parent 1",
        4,
        "line 36 does not run in execution 1",
        "leave --parent out",
    ),
    (
        "loop",
        "exec begin --line 21 --parent 2",
        4,
        "line 21 does not run in execution 2",
        "leave --parent out",
    ),
    (
        "loop",
        "exec begin --line 36 --parent 1",
        4,
        "line 36 does not run in execution 1",
        "leave --parent out",
    ),
    (
        "parallel",
        "exec run --line 21 --parent 2",
        4,
        "line 21 lies in the loop of line 20",
        "leave --parent out",
    ),
    (
        "done",
        "exec begin --line 36 --parent 1",
        4,
        "execution 1 is completed already",
        "`prosescope resume RUN`",
    ),
    (
        "fresh",
        "exec begin --line 36 --parent 5",
        3,
        "there is no execution 5",
        "`prosescope trace RUN`",
    ),
    (
        "begun",
        "exec begin --line 13",
        4,
        "execution 1 of this statement is still open",
        "complete, fail or skip",
    ),
    (
        "parallel",
        "parallel branch 1 a",
        4,
        "branch a of parallel 1 is executing already",
        "`prosescope exec retry ID`",
    ),
    (
        "parallel",
        "parallel branch 1 c",
        4,
        "parallel 1 has no branch c: its branches are a, b",
        "one of these",
    ),
    (
        "begun",
        "parallel branch 1 a",
        4,
        "execution 1 is not a parallel",
        "`prosescope parallel begin` printed",
    ),
    // These options contradict the program.
    (
        "fresh",
        "loop begin --line 20 --max 5",
        4,
        "max 5 contradicts line 20 of the program, which has 2",
        "`--override`",
    ),
    (
        "fresh",
        "loop begin --line 20 --condition **never**",
        4,
        "**never** contradicts line 20 of the program, which has **it is good**",
        "`--override`",
    ),
    (
        "fresh",
        "parallel run --line 16 --strategy first",
        4,
        "strategy first contradicts line 16 of the program, which has all",
        "`--override`",
    ),
    (
        "fresh",
        "parallel begin --line 23 --strategy all",
        4,
        "strategy all contradicts line 23 of the program, which has first",
        "`--override`",
    ),
    (
        "fresh",
        "parallel run --line 16 --branches a,c",
        4,
        "contradicts line 16 of the program, which has [a, b]",
        "`--override`",
    ),
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
        "exec retry 1 --max 5",
        4,
        "max 5 contradicts line 36 of the program, which has 3",
        "`--override`",
    ),
    (
        "begun",
        "exec complete 1 --binding report",
        4,
        "binding report contradicts line 13 of the program, which has outline",
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
        "`prosescope gate create --line 27`",
    ),
    (
        "fresh",
        "gate create other",
        2,
        "the program has no gate other",
        "`--prompt TEXT`",
    ),
    (
        "fresh",
        "gate create other --prompt Go? --timeout 2h30",
        2,
        "--timeout 2h30",
        "2h30m",
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
        "exec run --line 36",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "parallel run --line 16",
        4,
        "nothing can begin before the decision",
        "a person decides",
    ),
    (
        "gate",
        "exec complete 1",
        4,
        "execution 1 is a gate",
        "a person decides",
    ),
    (
        "gate",
        "finish RUN --status completed",
        4,
        "gate publish waits for a decision",
        "`--status failed`",
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
        "parallel join",
        4,
        "parallel 1 waits for a, b",
        "complete, fail or skip",
    ),
    (
        "parallel",
        "parallel join 2",
        4,
        "execution 2 is not a parallel",
        "`prosescope parallel begin` printed",
    ),
    (
        "parallel",
        "exec complete 1",
        4,
        "execution 1 is a parallel",
        "`prosescope parallel join",
    ),
    (
        "parallel",
        "exec complete",
        4,
        r#"execution 2 is open (a = session "A"), execution 3 is open"#,
        "give the id",
    ),
    (
        "parallel",
        "exec skip 1",
        4,
        "execution 1 is a parallel",
        "`prosescope parallel join",
    ),
    (
        "frames",
        "parallel join",
        4,
        "1 more of x, y",
        "complete, fail or skip",
    ),
    (
        "frames",
        "exec complete 2",
        4,
        "there is no binding x at the root",
        "`prosescope put x --execution 2`",
    ),
    (
        "inside",
        "exec complete 2",
        4,
        "execution 4 is open (let verdict",
        "complete, fail or skip",
    ),
    (
        "inside",
        "exec skip 2",
        4,
        "execution 4 is open (let verdict",
        "complete, fail or skip",
    ),
    (
        "loop",
        "exec complete 1",
        4,
        "execution 1 is a loop",
        "`prosescope loop exit",
    ),
    (
        "loop",
        "loop iterate",
        4,
        "execution 2 is open (let draft",
        "complete, fail or skip",
    ),
    (
        "loop",
        "loop exit",
        4,
        "execution 2 is open (let draft",
        "complete, fail or skip",
    ),
    (
        "loop",
        "exec run --line 21 --round",
        4,
        "execution 2 is open (let draft",
        "complete, fail or skip",
    ),
    (
        "loop",
        "loop exit 2",
        4,
        "execution 2 is not a loop",
        "`prosescope loop begin` printed",
    ),
    (
        "used-up",
        "loop iterate",
        4,
        "loop 1 has had all of its 2 rounds",
        "`prosescope loop exit",
    ),
    (
        "used-up",
        "exec run --line 21",
        4,
        "loop 1 has had all of its 2 rounds",
        "`prosescope loop exit",
    ),
    (
        "begun",
        "exec complete 1",
        4,
        "there is no binding outline at the root",
        "`prosescope put outline --execution 1`",
    ),
    (
        "begun",
        "finish RUN --status completed",
        4,
        "execution 1 is open (const outline",
        "`--status failed`",
    ),
    (
        "begun",
        "exec retry 1",
        4,
        "only a failed execution can be retried",
        "--error TEXT",
    ),
    (
        "failed",
        "exec retry 1",
        4,
        "execution 1 has had all of its 3 attempts",
        "`--max N`",
    ),
    (
        "failed",
        "exec complete 1",
        4,
        "execution 1 is failed already",
        "`prosescope exec retry",
    ),
    (
        "done",
        "exec complete 1",
        4,
        "execution 1 is completed already",
        "`prosescope exec begin`",
    ),
    (
        "done",
        "exec fail 1 --error no",
        4,
        "execution 1 is completed already",
        "`prosescope exec begin`",
    ),
    (
        "done",
        "put outline --execution 1 --file value --done",
        4,
        "execution 1 is completed already",
        "`prosescope exec begin`",
    ),
    (
        "fresh",
        "exec complete",
        3,
        "no statement",
        "`prosescope exec run --line N`",
    ),
    (
        "fresh",
        "loop iterate",
        3,
        "no loop",
        "`prosescope loop begin --line N`",
    ),
    (
        "fresh",
        "parallel join",
        3,
        "no parallel",
        "`prosescope parallel run --line N`",
    ),
    // These commands are about values, names and files.
    (
        "begun",
        "parallel run --line 16",
        4,
        "line 16 cannot begin yet: execution 1",
        "`prosescope exec complete 1`",
    ),
    (
        "parallel",
        "exec run --line 21 --in 20",
        4,
        "line 20 cannot begin yet: execution 1",
        "`prosescope parallel join 1`",
    ),
    (
        "begun",
        "put report --execution 1 --file value --done",
        4,
        "whose statement writes outline",
        "`prosescope put outline --execution 1 --done`",
    ),
    (
        "begun",
        "put outline --execution 7 --file value",
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
        "brief a/b",
        2,
        r#""a/b" cannot be the name of this binding"#,
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
        "parallel begin --line 16 --branches a,a",
        2,
        "branch a is named twice",
        "a name of its own",
    ),
    (
        "fresh",
        "parallel begin --line 16 --strategy most",
        2,
        r#""most" is not a strategy"#,
        "all, first or any",
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
        "put outline --execution 1 --file value --memory missing",
        3,
        "cannot read missing",
        "check the path",
    ),
    (
        "begun",
        "put outline --execution 1 --file value --memory bytes",
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
        "import add a.b ./x.prose",
        2,
        "the handle a.b has `.` in it",
        "`research.findings`",
    ),
    (
        "fresh",
        "import add unknown",
        2,
        "the program has no `use … as unknown`",
        "`prosescope import add HANDLE SOURCE`",
    ),
    (
        "fresh",
        "import add research --inputs {topic}",
        2,
        "inputs is not valid JSON",
        r#"{"topic": "text"}"#,
    ),
    (
        "fresh",
        "import add research --outputs no",
        2,
        "outputs is not valid JSON",
        r#"{"topic": "text"}"#,
    ),
    (
        "fresh",
        "import add research --program missing.prose",
        3,
        "missing.prose",
        "check the path",
    ),
    // These commands have wrong numbers, ids or runs.
    (
        "fresh",
        "exec begin --line x",
        2,
        "invalid value 'x' for '--line <N>'",
        "--help",
    ),
    (
        "fresh",
        "exec complete one",
        2,
        "invalid value 'one'",
        "--help",
    ),
    (
        "fresh",
        "loop begin --line 20 --max many",
        2,
        "invalid value 'many' for '--max <N>'",
        "--help",
    ),
    ("fresh", "exec fail 1", 2, "--error <TEXT>", "--help"),
    (
        "fresh",
        "finish RUN --status waiting",
        2,
        "invalid value 'waiting'",
        "--help",
    ),
    (
        "fresh",
        "exec fail 7 --error no",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "parallel branch 7 a",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "fresh",
        "brief --execution 7",
        3,
        "there is no execution 7",
        "`prosescope trace RUN`",
    ),
    (
        "unknown",
        "exec begin --line 13",
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
        "finished",
        "exec begin --line 13",
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
        "gate create --line 27",
        4,
        "run finished is completed already",
        "`prosescope init PROGRAM`",
    ),
    (
        "finished",
        "finish RUN --status failed",
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
        "exec run --line 13",
        4,
        "run interrupted is interrupted",
        "`prosescope resume RUN --begin`",
    ),
    (
        "interrupted",
        "import add research",
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
