//! Tests of pairs of runs with known differences: each difference is reported, and nothing else.

use crate::make::{compared, database, example_after, example_with, told};

pub(crate) const PROGRAM: &str = r#"input topic: "The topic"

block polish(text):
  let better = session "Polish {text}"
  session "Proofread"

let plan = session "Plan"
  retry: 3
parallel:
  facts = session "Check facts"
  tone = session "Check tone"
loop until **good** (max: 3):
  let review = session "Review"
do polish(plan)
approve send:
  prompt: "Send?"
output letter = session "Send"
"#;

/// A completed run of the program.
pub(crate) const RUN: &str = r#"
INSERT INTO execution (id, statement_index, statement_text, status, started_at, completed_at, parent_id, metadata) VALUES
 (1, 7, 'let plan = session "Plan"', 'completed', '2026-01-25 15:00:00', '2026-01-25 15:01:00', NULL, NULL),
 (2, 9, 'parallel:', 'completed', '2026-01-25 15:01:00', '2026-01-25 15:02:00', NULL, '{"parallel_id":"p1","strategy":"all"}'),
 (3, 10, 'facts = session "Check facts"', 'completed', '2026-01-25 15:01:00', '2026-01-25 15:02:00', 2, '{"parallel_id":"p1","branch":"facts"}'),
 (4, 11, 'tone = session "Check tone"', 'completed', '2026-01-25 15:01:00', '2026-01-25 15:02:00', 2, '{"parallel_id":"p1","branch":"tone"}'),
 (5, 12, 'loop until **good** (max: 3):', 'completed', '2026-01-25 15:02:00', '2026-01-25 15:04:00', NULL, '{"loop_id":"l1","current_iteration":2,"max_iterations":3}'),
 (6, 13, 'let review = session "Review"', 'completed', '2026-01-25 15:02:00', '2026-01-25 15:03:00', 5, '{"loop_id":"l1","iteration":1}'),
 (7, 13, 'let review = session "Review"', 'completed', '2026-01-25 15:03:00', '2026-01-25 15:04:00', 5, '{"loop_id":"l1","iteration":2}'),
 (8, 14, 'do polish(plan)', 'completed', '2026-01-25 15:04:00', '2026-01-25 15:06:00', NULL, '{"block":"polish"}'),
 (9, 4, 'let better = session "Polish {text}"', 'completed', '2026-01-25 15:04:00', '2026-01-25 15:05:00', 8, NULL),
 (10, 5, 'session "Proofread"', 'completed', '2026-01-25 15:05:00', '2026-01-25 15:06:00', 8, NULL),
 (11, 15, 'approve send:', 'completed', '2026-01-25 15:06:00', '2026-01-25 15:07:00', NULL, '{"gate_id":"send"}'),
 (12, 17, 'output letter = session "Send"', 'completed', '2026-01-25 15:07:00', '2026-01-25 15:08:00', NULL, NULL);
INSERT INTO gates (id, run_id, execution_id, prompt, status, created_at, resolved_at, resolved_by, resolution_comment) VALUES
 ('send', 'r1', 11, 'Send?', 'approved', '2026-01-25 15:06:00', '2026-01-25 15:07:00', 'ada', 'Go');
INSERT INTO bindings (name, execution_id, kind, value, created_at, updated_at) VALUES
 ('topic', NULL, 'input', 'bees', '2026-01-25 14:59:00', '2026-01-25 14:59:00'),
 ('plan', NULL, 'let', 'one
two
three
', '2026-01-25 15:01:00', '2026-01-25 15:01:00'),
 ('facts', NULL, 'let', 'right', '2026-01-25 15:02:00', '2026-01-25 15:02:00'),
 ('tone', NULL, 'let', 'warm', '2026-01-25 15:02:00', '2026-01-25 15:02:00'),
 ('review', NULL, 'let', 'fine', '2026-01-25 15:04:00', '2026-01-25 15:04:00'),
 ('better', 8, 'let', 'better', '2026-01-25 15:05:00', '2026-01-25 15:05:00'),
 ('letter', NULL, 'output', 'Dear Ada', '2026-01-25 15:08:00', '2026-01-25 15:08:00');
INSERT INTO agents (name, scope, memory) VALUES ('editor', 'execution', 'short
');
"#;

/// Compares the run with a copy that SQL changed, and that has another program text if one is given.
#[track_caller]
fn check_program(about: &str, program: &str, sql: &str, expected: &str) {
    let a = database("letter.prose", PROGRAM, RUN);
    let b = database("letter.prose", program, &format!("{RUN}{sql}"));
    let view = compared(&a, &b).unwrap();
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    let said = told(&view);
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said, expected, "{about}: {}", view.found);
    assert_eq!(
        view.equal,
        said.iter()
            .all(|line| line.contains("; took ") && line.matches("; ").count() == 1),
        "{about}"
    );
    assert_eq!(
        view.found == "no difference",
        said.is_empty(),
        "{about}: {}",
        view.found
    );

    // Comparing in the reverse direction must yield the same number of differences.
    let back = compared(&b, &a).unwrap();
    let (one, other) = (view.counts, back.counts);
    assert_eq!(
        (
            one.paired,
            one.differ,
            one.durations,
            one.only_a,
            one.only_b,
            one.values_differ
        ),
        (
            other.paired,
            other.differ,
            other.durations,
            other.only_b,
            other.only_a,
            other.values_differ
        ),
        "{about}"
    );
    // A run must equal itself.
    for run in [&a, &b] {
        let view = compared(run, run).unwrap();
        assert_eq!(
            (view.found.as_str(), told(&view).as_str()),
            ("no difference", ""),
            "{about}"
        );
        assert!(view.equal && view.rows.is_empty(), "{about}");
    }
}

#[track_caller]
fn check(about: &str, sql: &str, expected: &str) {
    check_program(about, PROGRAM, sql, expected);
}

#[test]
fn what_one_row_differs_in_is_named_and_nothing_else() {
    check("nothing", "", "");
    check(
        "a statement failed, and the run with it",
        "UPDATE execution SET status = 'failed', error_message = 'No network' WHERE id = 12;
         UPDATE run SET status = 'failed'; DELETE FROM bindings WHERE name = 'letter';",
        r#"
        run: completed → failed
        ~ output letter = session "Send"; completed → failed; error None → Some("No network"); wrote letter only in A
        output letter
        "#,
    );
    check(
        "attempts",
        "UPDATE execution SET metadata = '{\"retry_attempt\":3}' WHERE id = 1;",
        "~ let plan = session \"Plan\"; attempts 1 → 3",
    );
    check(
        "a longer duration, alone",
        "UPDATE execution SET completed_at = '2026-01-25 15:17:12' WHERE id = 12;",
        "~ output letter = session \"Send\"; took +9m 12s",
    );
    check(
        "a little longer is no difference",
        "UPDATE execution SET completed_at = '2026-01-25 15:08:05' WHERE id = 12;",
        "",
    );
    check(
        "a time that is not recorded is no difference",
        "UPDATE execution SET completed_at = NULL WHERE id = 10;",
        "",
    );
    check(
        "a value's lines",
        "UPDATE bindings SET value = 'one\n2\nthree\nfour\n' WHERE name = 'plan';",
        "~ let plan = session \"Plan\"; wrote plan [-two] [+2] [+four]",
    );
    check(
        "a line more than one without a line break",
        "UPDATE bindings SET value = 'warm' || char(10) || 'and kind' WHERE name = 'tone';",
        "~ tone = session \"Check tone\"; wrote tone [+and kind]",
    );
    check(
        "a line break at its end",
        "UPDATE bindings SET value = 'right\n' WHERE name = 'facts';",
        "~ facts = session \"Check facts\"; wrote facts (only line breaks differ)",
    );
    check(
        "an output",
        "UPDATE bindings SET value = 'Dear Bob' WHERE name = 'letter';",
        r#"
        ~ output letter = session "Send"; wrote letter [-Dear Ada] [+Dear Bob]
        output letter
        "#,
    );
    check(
        "an input, which no row writes",
        "UPDATE bindings SET value = 'wasps' WHERE name = 'topic';",
        "value topic [-bees] [+wasps]",
    );
    check(
        "NULL is not an empty text",
        "UPDATE bindings SET value = NULL WHERE name = 'tone';",
        "~ tone = session \"Check tone\"; wrote tone (NULL in one of the runs)",
    );
    check(
        "a memory",
        "UPDATE agents SET memory = 'long\n';",
        "memory editor [-short] [+long]",
    );
    check(
        "who decided a gate",
        "UPDATE gates SET resolved_by = 'bob', resolution_comment = NULL;",
        r#"
        ~ approve send:; decision Some("Approved by ada: Go") → Some("Approved by bob")
        gate send [-resolved_by: ada] [-resolution_comment: Go] [+resolved_by: bob]
        "#,
    );
}

#[test]
fn rows_are_compared_in_their_own_round_branch_and_call() {
    check(
        "one round more",
        "UPDATE execution SET metadata = '{\"loop_id\":\"l1\",\"current_iteration\":3,\"max_iterations\":3}' WHERE id = 5;
         INSERT INTO execution (id, statement_index, statement_text, status, parent_id, metadata)
         VALUES (20, 13, 'let review = session \"Review\"', 'completed', 5, '{\"loop_id\":\"l1\",\"iteration\":3}');",
        "+ round 3 (+1)",
    );
    check(
        "a branch is missing",
        "DELETE FROM execution WHERE id = 4; DELETE FROM bindings WHERE name = 'tone';",
        "- tone = session \"Check tone\" (+0)",
    );
    check(
        "a second call, with values of its own",
        "INSERT INTO execution (id, statement_index, statement_text, status, metadata)
         VALUES (20, 14, 'do polish(plan)', 'completed', '{\"block\":\"polish\"}');
         INSERT INTO execution (id, statement_index, statement_text, status, parent_id)
         VALUES (21, 4, 'let better = session \"Polish {text}\"', 'completed', 20);
         INSERT INTO bindings (name, execution_id, kind, value) VALUES ('better', 20, 'let', 'best');",
        "+ do polish(plan) (+1)",
    );
    check(
        "a value in a call",
        "UPDATE bindings SET value = 'worse' WHERE name = 'better';",
        "~ let better = session \"Polish {text}\"; wrote better [-better] [+worse]",
    );
}

#[test]
fn statements_of_two_versions_are_found_where_they_are_now() {
    let moved = format!("# A letter\n\n{PROGRAM}");
    check_program(
        "lines moved",
        &moved,
        "UPDATE execution SET statement_index = statement_index + 2;",
        "program Differs: 13 shared",
    );
    let edited = PROGRAM.replace("session \"Plan\"", "session \"Plan it well\"");
    check_program(
        "an edited statement that binds a name",
        &edited,
        "UPDATE execution SET statement_text = 'let plan = session \"Plan it well\"' WHERE id = 1;",
        r#"
        program Differs: 12 shared
        ~ let plan = session "Plan"; now let plan = session "Plan it well"
        "#,
    );
    let longer = PROGRAM.replace("(max: 3)", "(max: 5)");
    check_program(
        "an edited loop: its rounds are compared",
        &longer,
        "UPDATE execution SET statement_text = 'loop until **good** (max: 5):' WHERE id = 5;
         UPDATE execution SET status = 'failed', error_message = 'Lost' WHERE id = 7;",
        r#"
        program Differs: 12 shared
        ~ loop until **good** (max: 3):?; now loop until **good** (max: 5):
        ~ let review = session "Review"; completed → failed; error None → Some("Lost")
        "#,
    );
    let more = PROGRAM.replace("do polish(plan)\n", "do polish(plan)\nsession \"Rest\"\n");
    check_program(
        "a new statement",
        &more,
        "UPDATE execution SET statement_index = statement_index + 1 WHERE id > 10;
         INSERT INTO execution (id, statement_index, statement_text, status)
         VALUES (20, 15, 'session \"Rest\"', 'completed');",
        r#"
        program Differs: 13 shared
        + session "Rest" (+0)
        "#,
    );
}

#[test]
fn runs_of_different_programs_are_refused() {
    let a = database("letter.prose", PROGRAM, RUN);
    let other = "session \"Sing\"\nsession \"Dance\"\n";
    let b = database("party.prose", other, "");
    let refused = compared(&a, &b).unwrap_err().to_string();
    assert_eq!(
        refused,
        "A and B are runs of different programs: 0 of the 13 statements in A and the 2 in B are in both programs"
    );
    // A program with the same name counts as another version, even if few of its lines are the same.
    let b = database("letter.prose", other, "");
    assert!(
        compared(&a, &b)
            .unwrap()
            .programs
            .words
            .contains("0 of the 13")
    );
    // If one run lacks its program, the programs' names decide whether the runs are comparable.
    let b = database("party.prose", "", "");
    assert!(compared(&a, &b).is_err());
    let b = database("letter.prose", "", RUN);
    let view = compared(&a, &b).unwrap();
    assert_eq!(
        told(&view),
        "program Unknown: 0 shared\n? the programs: It is not known whether the programs are the same: of B, the program was not saved with the run.\n"
    );
    assert!(!view.equal, "{}", view.found);
    assert_eq!(
        view.found,
        "no difference in what was compared; not compared: the programs"
    );
    // What neither run contains is not missing.
    let view = compared(&b, &b).unwrap();
    assert!(view.equal, "{}", view.found);
}

const FLAKY: &str = "20260112-091407-k3v8qd";
const SCHOOL: &str = "20260115-083214-h5n2ye";
const RULES: &str = "20260125-125506-p7r2mx";
const MANUAL: &str = "20260118-201530-z4t9wa";

#[track_caller]
fn check_example(run: &str, sql: &str, expected: &str) {
    let (a, b) = (example_after(run, ""), example_after(run, sql));
    let said = told(&compared(&a, &b).unwrap());
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{sql}");
}

#[test]
fn known_differences_of_the_examples_are_named() {
    for run in [FLAKY, MANUAL, RULES] {
        check_example(run, "", "");
    }
    check_example(
        FLAKY,
        "UPDATE execution SET status = 'skipped' WHERE id = 29",
        "~ session \"Open a draft pull request\"; completed → skipped",
    );
    check_example(
        FLAKY,
        "DELETE FROM execution WHERE id IN (20, 21, 22, 23, 24)",
        "- round 2 (+2)",
    );
    check_example(
        RULES,
        "UPDATE gates SET resolved_by = 'noor', resolution_comment = NULL WHERE id = 'staging_deploy'",
        r#"
        ~ approve staging_deploy:; decision Some("Approved by mira: Numbers are plausible; replay is what I'd expect") → Some("Approved by noor")
        gate staging_deploy [-resolved_by: mira] [-resolution_comment: Numbers are plausible; replay is what I'd expect] [+resolved_by: noor]
        "#,
    );
    check_example(
        RULES,
        "DELETE FROM execution WHERE id IN (12, 13); DELETE FROM bindings WHERE name = 'staging'",
        "- let staging = session \"Deploy to staging and watch it for half an hour\" (+0)",
    );
    check_example(
        MANUAL,
        "UPDATE bindings SET value = value || char(10) || 'One line more.' WHERE name = 'style' AND execution_id = 12",
        r#"~ let style = session "What does this chapter ask for in style, beyond the general rule?"; wrote style [+One line more.]"#,
    );
}

#[test]
fn known_differences_of_a_folder_are_named() {
    let a = example_with(SCHOOL, "state.md", "run:", "run:");
    let b = example_with(SCHOOL, "bindings/budget.md", "450,000", "500,000");
    let view = compared(&a, &a).unwrap();
    assert_eq!(
        (told(&view).as_str(), view.found.as_str()),
        ("", "no difference")
    );
    let view = compared(&a, &b).unwrap();
    assert_eq!(told(&view), "value budget [-450,000] [+500,000]\n");
}
