//! Tests of runs at every kind of position, and of the plan for continuing them.

use crate::make::{NOW, database, files, told};
use prosescope_core::pages::session::pages;

#[track_caller]
fn check(name: &str, program: &str, status: &str, sql: &str, expected: &str) {
    let view = pages::resume(&database(program, status, sql), Some(NOW));
    let told = told(&view);
    let plain = |text: &str| -> Vec<String> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.contains("make sure that no model is"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(plain(&told), plain(expected), "{name}\n{told}");
}

#[test]
fn a_statement_that_was_begun() {
    check(
        "in place, its binding written",
        "input topic\nlet a = session \"A {topic}\"\nlet b = session \"B\"\n  context: a\noutput c = session \"C\"\n  context: { a, b }\n",
        "interrupted",
        "INSERT INTO execution (id, statement_index, statement_text, status, started_at) VALUES
           (1, 1, 'let a = session \"A {topic}\"', 'completed', '2026-01-25 15:00:00'),
           (2, 2, 'let b = session \"B\"', 'executing', '2026-01-25 15:10:00');
         INSERT INTO bindings (name, kind, value, updated_at) VALUES
           ('topic', 'input', 'bees', '2026-01-25 15:00:00'),
           ('a', 'let', 'one', '2026-01-25 15:05:00'),
           ('b', 'let', 'two', '2026-01-25 15:20:00');",
        r#"
         Stands at line 3
         open 3 in root next 3
         ahead 3! 5
         there a root @4,6
         made b @6
         begun: `let b = session "B"` was begun, and no end is recorded: it may have done its work
         written: b is written in this frame, last at 2026-01-25T15:20:00Z: the statement has probably ended
        "#,
    );
    check(
        "a command, in a run that holds nothing else",
        "exec \"make release\"\nsession \"Done\"\n",
        "running",
        "INSERT INTO execution (statement_text, status) VALUES ('exec \"make release\"', 'executing');",
        r#"
         Stands at line 1
         open 1 in root next 1
         ahead 1! 2
         exec: `exec "make release"` was begun, and no end is recorded: its command may have run, whole or in part
        "#,
    );
    check(
        "a third attempt of an agent that may push",
        "agent pusher:\n  permissions:\n    bash: allow\n    read: [\"*\"]\nsession: pusher\n  prompt: \"Push\"\n  retry: 3\n",
        "running",
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES
           (1, 5, 'session: pusher', 'failed', NULL),
           (2, 5, 'session: pusher', 'retry', '{\"attempt\": 2, \"max\": 3}');",
        r#"
         Stands at line 5
         open 5 in root next 5
         ahead 5!
         begun: `session: pusher` was begun, and no end is recorded: it may have done its work
         attempts: `session: pusher` is in attempt 2 of 3
         outside: the statement may change things outside of the run (bash: allow)
        "#,
    );
    check(
        "a turn of an agent whose memory may hold it",
        "agent captain:\n  persist: true\nlet a = session: captain\n  prompt: \"A\"\nlet b = resume: captain\n  prompt: \"B\"\nlet c = resume: captain\n  prompt: \"C\"\n  context: b\n",
        "interrupted",
        "INSERT INTO execution (id, statement_index, statement_text, status) VALUES
           (1, 3, 'let a = session: captain', 'completed'), (2, 5, 'let b = resume: captain', 'executing');
         INSERT INTO agents (name, scope, memory) VALUES ('captain', 'execution', 'all of it');
         INSERT INTO agent_segments (agent_name, segment_number) VALUES ('captain', 1), ('captain', 2);",
        r#"
         Stands at line 5
         open 5 in root next 5
         ahead 5! 7
         made b @9
         memory captain execution there @5,7
         begun: `let b = resume: captain` was begun, and no end is recorded: it may have done its work
         memory: agent captain has more segments (2) than completed sessions (1): the agent's memory may contain this session already
        "#,
    );
}

#[test]
fn nothing_is_open() {
    let program = "let a = session \"A\"\nlet b = session \"B\"\n  context: a\nloop until **good** (max: 3):\n  let c = session \"C\"\n    context: { b, c }\noutput d = c\n";
    check(
        "append-only, between two statements",
        program,
        "running",
        "INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'let a = session \"A\"', 'completed');
         INSERT INTO bindings (name, kind, value) VALUES ('a', 'let', 'one');",
        r#"
         Nothing is open; line 2 comes next
         between - in root next 2
         ahead 2 4 5 7
         there a root @3
         made b @6
         given c @6
         made c @7
        "#,
    );
    check(
        "a loop between two rounds",
        program,
        "running",
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES
           (1, NULL, 1, 'let a = session \"A\"', 'completed', NULL),
           (2, NULL, 2, 'let b = session \"B\"', 'completed', NULL),
           (3, NULL, 4, 'loop', 'started', '{\"loop_id\": \"l1\", \"max\": 3}'),
           (4, 3, 5, 'let c = session \"C\"', 'completed', NULL),
           (5, NULL, 4, 'loop', 'iteration', '{\"loop_id\": \"l1\", \"iteration\": 1}');
         INSERT INTO bindings (name, kind, value) VALUES ('a', 'let', '1'), ('b', 'let', '2'), ('c', 'let', '3');",
        r#"
         Stands at line 4
         open 4 in root next 5
         ahead 4! 5 7
         there b root @6
         there c root @6
         made c @7
         rounds: 1 of 3 rounds of the loop at line 4 are done
        "#,
    );
    check(
        "the last round, and its statement ended",
        program,
        "running",
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES
           (1, NULL, 2, 'let b = session \"B\"', 'completed', NULL),
           (2, NULL, 4, 'loop', 'executing', '{\"loop_id\": \"l1\", \"max_iterations\": 3, \"current_iteration\": 3}'),
           (3, 2, 5, 'let c = session \"C\"', 'completed', NULL);
         INSERT INTO bindings (name, kind, value) VALUES ('b', 'let', '2'), ('c', 'let', '3');",
        r#"
         Stands at line 4
         open 4 in root next 4
         ahead 4! 7
         there c root @7
         rounds: the loop at line 4 is in round 3 of 3; already done: let c = session "C"
        "#,
    );
}

#[test]
fn a_parallel_in_part() {
    check(
        "one branch done, one begun, one announced, one not even that",
        "let topic = session \"T\"\nparallel:\n  a = session \"A\"\n    context: topic\n  b = session \"B\"\n    context: topic\n  c = session \"C\"\n  d = session \"D\"\nsession \"E\"\n  context: { a, b, c, d }\n",
        "interrupted",
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES
           (1, 1, 'let topic = session \"T\"', 'completed', NULL),
           (2, 2, 'parallel:', 'started', '{\"parallel_id\": \"p1\", \"branches\": [\"a\", \"b\", \"c\"]}'),
           (3, 2, 'parallel:a', 'completed', '{\"parallel_id\": \"p1\", \"branch\": \"a\"}'),
           (4, 2, 'parallel:b', 'executing', '{\"parallel_id\": \"p1\", \"branch\": \"b\"}');
         INSERT INTO bindings (name, kind, value) VALUES ('topic', 'let', 't'), ('a', 'let', '1');",
        r#"
         Stands at line 5
         open 5 in root next 5
         ahead 5! 7 8 9
         there topic root @6
         there a root @10
         made b @10
         made c @10
         made d @10
         begun: `parallel:b` was begun, and no end is recorded: it may have done its work
         branches: these branches of the parallel at line 2 are done: a
        "#,
    );
}

#[test]
fn frames_see_their_own_names_and_those_around() {
    let program = "let data = session \"D\"\nblock half(part):\n  let size = session \"How long?\"\n    context: part\n  if **too long**:\n    do half(size)\n  let mark = session \"Mark\"\n    context: { part, size, style, data }\nconst style = \"short\"\ndo half(data)\noutput all = session \"Sum\"\n  context: data\n";
    check(
        "a frame in a frame, the inner one begun",
        program,
        "interrupted",
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES
           (1, NULL, 1, 'let data = session \"D\"', 'completed', NULL),
           (2, NULL, 10, 'do half(data)', 'executing', '{\"block\": \"half\", \"depth\": 1}'),
           (3, 2, 3, 'let size = session \"How long?\"', 'completed', NULL),
           (4, 2, 6, 'do half(size)', 'executing', '{\"block\": \"half\", \"depth\": 2}'),
           (5, 4, 3, 'let size = session \"How long?\"', 'executing', NULL);
         INSERT INTO bindings (name, execution_id, kind, value) VALUES
           ('data', NULL, 'let', 'all'), ('size', 2, 'let', '9'), ('part', 2, 'input', 'all');",
        r#"
         Stands at line 3
         open 3 in #4 next 3
         ahead 3! 5 6? 7 7 11 3^ 5^ 6^ 7^
         given part @4,8
         made size @6,8
         there data root @8,12
         given style @8
         there part #2 @8
         there size #2 @8
         given style @8
         begun: `let size = session "How long?"` was begun, and no end is recorded: it may have done its work
        "#,
    );
}

#[test]
fn what_follows_depends_on_the_construct() {
    let rows = |line: u32, text: &str| {
        format!(
            "INSERT INTO execution (id, statement_index, statement_text, status) VALUES ({line}, {line}, '{text}', 'executing');"
        )
    };
    check(
        "behind a condition that holds the others are not asked",
        "if **x**:\n  session \"A\"\nelif **y**:\n  session \"B\"\nelse:\n  session \"C\"\nsession \"D\"\n",
        "running",
        &rows(2, "session \"A\""),
        r#"
         Stands at line 2
         open 2 in root next 2
         ahead 2! 7
         begun: `session "A"` was begun, and no end is recorded: it may have done its work
        "#,
    );
    check(
        "of options one is taken",
        "choice **which**:\n  option \"one\":\n    session \"A\"\n  option \"two\":\n    session \"B\"\nsession \"C\"\n",
        "running",
        &rows(3, "session \"A\""),
        r#"
         Stands at line 3
         open 3 in root next 3
         ahead 3! 6
         begun: `session "A"` was begun, and no end is recorded: it may have done its work
        "#,
    );
    check(
        "an error may come, the end comes in any case",
        "try:\n  session \"A\"\n  session \"B\"\ncatch as err:\n  session \"C {err}\"\nfinally:\n  session \"D\"\n",
        "running",
        &rows(2, "session \"A\""),
        r#"
         Stands at line 2
         open 2 in root next 2
         ahead 2! 3 4? 5? 6 7
         given err? @5
         begun: `session "A"` was begun, and no end is recorded: it may have done its work
        "#,
    );
    check(
        "a loop goes round, and what it goes through is needed",
        "let files = session \"List\"\nfor file in files:\n  let r = session \"Read {file}\"\n  session \"Judge\"\n    context: { r, file }\nsession \"End\"\n",
        "running",
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES
           (1, NULL, 1, 'let files = session \"List\"', 'completed', NULL),
           (2, NULL, 2, 'for file in files:', 'started', '{\"loop_id\": \"l1\"}'),
           (3, 2, 3, 'let r = session \"Read {file}\"', 'executing', NULL);
         INSERT INTO bindings (name, kind, value) VALUES ('files', 'let', '[]');",
        r#"
         Stands at line 3
         open 3 in root next 3
         ahead 3! 4 2* 6
         given file @3,5
         made r @5
         there files root @2
         begun: `let r = session "Read {file}"` was begun, and no end is recorded: it may have done its work
         rounds: the loop at line 2 is in round 1
        "#,
    );
    check(
        "blocks that are called ahead, and by those",
        "block one(a):\n  session \"{a} {shared}\"\n  do two(a)\nblock two(b):\n  let own = session \"{b}\"\n  session \"x\"\n    context: own\n  do one(own)\nlet shared = session \"S\"\nlet r = do one(shared)\noutput o = r\n",
        "running",
        &rows(9, "let shared = session \"S\""),
        r#"
         Stands at line 9
         open 9 in root next 9
         ahead 9! 10 11 2^ 3^ 5^ 6^ 8^
         made shared @10,2
         made r @11
         given a @2,3
         given b? @5
         made own @7,8
         begun: `let shared = session "S"` was begun, and no end is recorded: it may have done its work
        "#,
    );
    check(
        "two branches at once are two positions",
        "parallel:\n  a = session \"A\"\n  b = session \"B\"\nsession \"C\"\n  context: [a, b]\n",
        "running",
        "INSERT INTO execution (id, parent_id, statement_index, statement_text, status, metadata) VALUES
           (42, NULL, 1, 'parallel:', 'executing', '{\"parallel_id\": \"p1\"}'),
           (44, 42, 2, 'a = session \"A\"', 'executing', '{\"parallel_id\": \"p1\", \"branch\": \"a\"}'),
           (45, 42, 3, 'b = session \"B\"', 'executing', '{\"parallel_id\": \"p1\", \"branch\": \"b\"}');",
        r#"
         Stands in 2 places
         open 2 in root next 2
         open 3 in root next 3
         ahead 2! 4 3!
         made a @5
         made b @5
         begun: `a = session "A"` was begun, and no end is recorded: it may have done its work
         begun: `b = session "B"` was begun, and no end is recorded: it may have done its work
        "#,
    );
}

#[test]
fn gates_and_what_their_outcomes_mean() {
    let program = "let plan = session \"Plan\"\ntry:\n  approve deploy:\n    prompt: \"Deploy {plan}?\"\n    timeout: \"4h\"\n    on_reject: throw \"No\"\n  session \"Deploy\"\n    context: plan\ncatch as err:\n  session \"Say why {err}\"\nsession \"End\"\n";
    let rows =
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES
           (1, 1, 'let plan = session \"Plan\"', 'completed', NULL),
           (2, 3, 'approve deploy:', 'pending', '{\"gate_id\": \"deploy\"}');
         INSERT INTO bindings (name, kind, value) VALUES ('plan', 'let', 'p');";
    check(
        "in a try, with a deadline ahead",
        program,
        "running",
        &format!("{rows}
         INSERT INTO gates (id, run_id, execution_id, timeout, timeout_at, on_reject, created_at) VALUES
           ('deploy', 'r1', 2, '4h', '2026-01-25 19:00:00', 'throw \"No\"', '2026-01-25 15:00:00');"),
        r#"
         Waits for a decision on gate deploy
         gate 3 in root next 3
         ahead 3! 7 9? 10? 11
         there plan root @4,8
         given err? @10
         gate deploy
           + goes on at line 7, `session "Deploy"`
           - `throw "No"` is caught at line 9
           t counts as a rejection by `system`: `throw "No"` is caught at line 9
        "#,
    );
    check(
        "past its deadline",
        program,
        "running",
        &format!(
            "{rows}
         INSERT INTO gates (id, run_id, execution_id, timeout, timeout_at, created_at) VALUES
           ('deploy', 'r1', 2, '30m', '2026-01-25 15:30:00', '2026-01-25 15:00:00');"
        ),
        r#"
         The deadline of gate deploy passed on 25 Jan 2026, 15:30 UTC
         gate 3 in root next 3
         ahead 3! 7 9? 10? 11
         there plan root @4,8
         given err? @10
         gate deploy
           + goes on at line 7, `session "Deploy"`
           - `throw "No"` is caught at line 9
           t counts as a rejection by `system`: `throw "No"` is caught at line 9
        "#,
    );
    check(
        "approved meanwhile: it goes on behind it",
        program,
        "running",
        &format!(
            "{rows}
         INSERT INTO gates (id, run_id, execution_id, status, resolved_by) VALUES
           ('deploy', 'r1', 2, 'approved', 'raymond');"
        ),
        r#"
         Nothing is open; line 7 comes next
         between - in root next 7
         ahead 7 9? 10? 11
         there plan root @8
         given err? @10
         note: gate deploy was approved by raymond: it is not asked again
        "#,
    );
    check(
        "rejected meanwhile: what that means is to be done",
        program,
        "running",
        &format!(
            "{rows}
         INSERT INTO gates (id, run_id, execution_id, status, resolved_by, on_reject) VALUES
           ('deploy', 'r1', 2, 'rejected', 'raymond', 'throw \"No\"');"
        ),
        r#"
         A gate was turned down at line 3; the program's reaction is still to be carried out
         refused 3 in root next 9
         ahead 9 10? 11
         given err? @10
         note: gate deploy was rejected by raymond: it is not asked again
        "#,
    );
    check(
        "timed out meanwhile, and that changes nothing",
        program,
        "running",
        &format!(
            "{rows}
         INSERT INTO gates (id, run_id, execution_id, status, on_reject) VALUES
           ('deploy', 'r1', 2, 'timeout', 'continue');"
        ),
        r#"
         Nothing is open; line 7 comes next
         between - in root next 7
         ahead 7 9? 10? 11
         there plan root @8
         given err? @10
         note: gate deploy timed out: it is not asked again
        "#,
    );
    check(
        "without a deadline or a word on rejection",
        "approve look\nsession \"End\"\n",
        "waiting",
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES
           (1, 1, 'approve look', 'waiting', '{\"gate_id\": \"look\"}');
         INSERT INTO gates (id, run_id, execution_id) VALUES ('look', 'r1', 1);",
        r#"
         Waits for a decision on gate look
         gate 1 in root next 1
         ahead 1! 2
         gate look
           + goes on at line 2, `session "End"`
           - what the program does then is not recorded
           t no deadline: the gate waits for a decision
        "#,
    );
}

#[test]
fn what_is_missing_is_said() {
    check(
        "a name that nothing binds, a value that is gone, a memory that never was, a name that may be text",
        "use \"@x/y\" as lib\nlet a = session \"A\"\nlet b = session \"B {likewise} {a}\"\n  context: { a, ghost, lib.found }\nresume: sage\n  prompt: \"And {ghost.name}?\"\nsession \"C\"\n  context: b\n",
        "interrupted",
        "INSERT INTO execution (id, statement_index, statement_text, status) VALUES
           (1, 2, 'let a = session \"A\"', 'completed');
         INSERT INTO bindings (name, kind, value, attachment_path) VALUES ('a', 'let', 'summary', 'attachments/a.md');",
        r#"
         Nothing is open; line 3 comes next
         between - in root next 3
         ahead 3 5 7
         empty a root @3
         nowhere ghost @4
         import lib.found @4
         made b @8
         memory sage execution nowhere @5
        "#,
    );
}

#[test]
fn a_failed_run_begins_again_at_its_first_cause() {
    check(
        "failed in an attempt that was the last",
        "let a = session \"A\"\nlet b = session \"B\"\n  context: a\n  retry: 2\nsession \"C\"\n  context: b\n",
        "failed",
        "INSERT INTO execution (id, statement_index, statement_text, status, error_message, metadata) VALUES
           (1, 1, 'let a = session \"A\"', 'completed', NULL, NULL),
           (2, 2, 'let b = session \"B\"', 'failed', 'timeout', NULL),
           (3, 2, 'let b = session \"B\"', 'retry', NULL, '{\"attempt\": 2, \"max\": 2}'),
           (4, 2, 'let b = session \"B\"', 'failed', 'timeout again', '{\"attempt\": 2}');
         INSERT INTO bindings (name, kind, value) VALUES ('a', 'let', 'one');",
        r#"
         Failed; the run can begin again at line 2
         failed 2 in root next 2
         ahead 2! 5
         there a root @3
         made b @6
         attempts: `let b = session "B"` has failed in attempt 2 of 2: no attempt is left
        "#,
    );
    check(
        "no row says where",
        "session \"A\"\n",
        "failed",
        "",
        r#"
         Failed, but no record shows where; how to go on is unknown
         note: the run failed, but no record shows at which statement
        "#,
    );
}

#[test]
fn a_failed_run_that_was_taken_up_again_stands_at_its_first_cause() {
    let program = "block translate(text):\n  session \"Translate {text}\"\ndo translate(\"a\")\n";
    let rows = "INSERT INTO execution (id, statement_index, statement_text, status, error_message, parent_id) VALUES
           (1, 3, 'do translate(\"a\")', 'failed', 'translate failed', NULL),
           (2, 2, 'session \"Translate {text}\"', 'failed', 'cut off', 1);";
    // The result is the same if the run's row still has the status `running` although a statement failed.
    for status in ["failed", "running"] {
        let view = pages::resume(&database(program, status, rows), Some(NOW));
        let positions = told(&view);
        assert!(
            positions.contains("failed 2 in #1 next 2"),
            "{status}: {positions}"
        );
    }
}

#[test]
fn runs_that_need_no_more_or_tell_no_more() {
    check(
        "completed",
        "session \"A\"\n",
        "completed",
        "INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');",
        r#"
         Completed: nothing to resume
        "#,
    );
    check(
        "everything ended, and no end is recorded",
        "session \"A\"\n",
        "running",
        "INSERT INTO execution (statement_text, status) VALUES ('session \"A\"', 'completed');",
        r#"
         Nothing is open, and no statement remains
         between - in root next -
        "#,
    );
    check(
        "no program",
        "",
        "running",
        "INSERT INTO execution (id, statement_text, status) VALUES (1, 'let a = session \"A\"', 'completed'), (2, 'exec \"make\"', 'executing');",
        r#"
         Stands at exec "make"
         open - in root next -
         exec: `exec "make"` was begun, and no end is recorded: its command may have run, whole or in part
         note: the program was not saved with the run: the remaining statements and their inputs are unknown
        "#,
    );
    check(
        "a statement that the program does not have",
        "session \"A\"\nsession \"B\"\n",
        "running",
        "INSERT INTO execution (id, statement_text, status) VALUES (1, 'session \"A\"', 'completed'), (2, 'water the orchids twice', 'executing');",
        r#"
         Stands at water the orchids twice
         open - in root next -
         begun: `water the orchids twice` was begun, and no end is recorded: it may have done its work
         note: the line of `water the orchids twice` in the program is unknown: the statements after that line are unknown
        "#,
    );
}

#[test]
fn a_folder_without_a_program_has_the_trace_of_its_state_file() {
    let state = "# Execution State\n\nrun: r1\nprogram: p.prose\nstatus: interrupted\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"   # --> bindings/a.md\nlet b = session \"B\"   # <-- EXECUTING\n  context: a\nsession \"C\"   # [...next...]\n  context: b\n```\n";
    let session = files(vec![
        ("state.md".to_owned(), state.into()),
        (
            "bindings/a.md".to_owned(),
            "# a\n\nkind: let\n\n---\n\none\n".into(),
        ),
    ]);
    let told = told(&pages::resume(&session, Some(NOW)));
    assert_eq!(
        told,
        "Stands at line 2\n\
         open 2 in root next 2\n\
         ahead 2! 4\n\
         there a root @3\n\
         made b @5\n\
         begun: `let b = session \"B\"` was begun, and no end is recorded: it may have done its work\n\
         note: the program was not saved with the run: line numbers are those of the trace in the state file, which may be shortened\n"
    );
}

/// A log without an end leaves open whether its blocks have ended, so the run continues after the last mark.
#[test]
fn a_log_without_an_end_goes_on_after_its_last_mark() {
    let program = "loop until **done** (max: 2):\n  let draft = session \"Draft\"\n  let note = session \"Note\"\nsession \"Report\"\n";
    for (log, next) in [
        ("1→ loop:1/2\n2→ draft ✓\n", Some(3)),
        (
            "1→ loop:1/2\n2→ draft ✓\n3→ note ✓\n1→ loop:2/2\n2→ draft ✓\n",
            Some(3),
        ),
        ("1→ loop:1/2\n2→ draft ✓\n3→ note ✓\n", Some(1)),
        ("1→ loop:1/2 exit(**done**)\n", Some(4)),
        ("1→ loop:1/2\n2→ draft ✗ no wind\n2→ retry:2/3\n", Some(2)),
    ] {
        let text = format!("# run:20260104-101500-log001 p.prose\n\n{log}");
        let view = pages::resume(
            &files(vec![
                ("state.md".to_owned(), text.into_bytes()),
                ("program.prose".to_owned(), program.as_bytes().to_vec()),
            ]),
            Some(NOW),
        );
        let at = view.positions[0].next.as_ref().map(|next| next.line);
        assert_eq!(at, next, "{log}");
    }
}

/// If only bindings record the rounds, it is unknown whether the loop's condition was met.
#[test]
fn a_loop_whose_rounds_only_bindings_record_may_have_another_round() {
    let program = "loop until **good** (max: 3):\n  let draft = session \"Draft\"\n  let note = session \"Note\"\nsession \"Report\"\n";
    let state = "# Execution State\n\nrun: r1\nprogram: p.prose\nstatus: interrupted\n";
    for (written, ahead) in [
        (&["draft_round2"][..], "3 1* 2* 4"),
        (&["draft_round2", "note_round2"], "1* 2* 3* 4"),
        (&["draft_round3", "note_round3"], "4"),
    ] {
        let mut all = vec![
            ("state.md".to_owned(), state.into()),
            ("program.prose".to_owned(), program.into()),
        ];
        for name in written {
            let text = format!("# {name}\n\nkind: let\n\n---\n\nvalue\n");
            all.push((format!("bindings/{name}.md"), text.into_bytes()));
        }
        let told = told(&pages::resume(&files(all), Some(NOW)));
        let listed = told.lines().find_map(|line| line.strip_prefix("ahead "));
        assert_eq!(listed, Some(ahead), "{told}");
    }
}

#[test]
fn a_handler_comes_next_only_after_a_failure() {
    let program = "try:\n  session \"A\"\ncatch:\n  session \"B\"\nsession \"C\"\n";
    for (status, next) in [("completed", 5), ("failed", 3)] {
        let row = format!(
            "INSERT INTO execution (id, statement_index, statement_text, status) VALUES (1, 2, 'session \"A\"', '{status}');"
        );
        let view = pages::resume(&database(program, "running", &row), Some(NOW));
        let at = view.positions[0].next.as_ref().map(|next| next.line);
        assert_eq!(at, Some(next), "{status}");
        assert!(view.ahead.iter().any(|a| a.line == 4), "{status}");
    }
}

#[test]
fn an_attempt_that_a_log_repeats_shows_the_last_error() {
    let log = "# run:20260104-101500-log001 p.prose\n\n1→ draft ✗ no wind\n1→ retry:2/3\n1→ draft ✗ no sea\n1→ retry:3/3\n---interrupted 2026-01-04T10:20:00Z\n";
    let session = files(vec![
        ("state.md".to_owned(), log.as_bytes().to_vec()),
        (
            "program.prose".to_owned(),
            b"let draft = session \"Draft\"\n  retry: 3\n".to_vec(),
        ),
    ]);
    let (show, resume) = (
        pages::overview(&session, Some(NOW)),
        pages::resume(&session, Some(NOW)),
    );
    assert_eq!(show.positions[0].error.as_deref(), Some("no sea"));
    assert_eq!(resume.positions[0].error.as_deref(), Some("no sea"));
    assert!(
        show.story
            .join(" ")
            .contains("The last attempt failed: no sea.")
    );
}

#[test]
fn a_gate_that_the_run_went_past() {
    let program = "let a = session \"A\"\napprove go:\n  prompt: \"Go?\"\nlet b = session \"B\"\nlet c = session \"C\"\n";
    check(
        "rows",
        program,
        "running",
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata) VALUES
           (1, 1, 'let a = session \"A\"', 'completed', NULL),
           (2, 2, 'approve go:', 'waiting', '{\"gate_id\": \"go\"}'),
           (3, 4, 'let b = session \"B\"', 'completed', NULL);
         INSERT INTO gates (id, run_id, status, prompt) VALUES ('go', 'r1', 'pending', 'Go?');",
        r#"
         Waits for a decision on gate go; the run went on past the pending gate go
         gate 2 in root next 2
         ahead 2! 5
         gate go
           + goes on at line 5, `let c = session "C"`
           - what the program does then is not recorded
           t no deadline: the gate waits for a decision
        "#,
    );
    let state = "# run:20260104-101500-passed p.prose\n1→ a ✓\n2→ gate:go ◇ pending\n3→ b ✓\n";
    let texts = [("program.prose", program), ("state.md", state)];
    let run = files(
        texts
            .map(|(path, text)| (path.to_owned(), text.into()))
            .into(),
    );
    let told = told(&pages::resume(&run, Some(NOW)));
    assert!(
        told.contains("+ goes on at line 5, `let c = session \"C\"`"),
        "{told}"
    );
}
