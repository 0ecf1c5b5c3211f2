//! What a program does not allow, rule by rule: each is refused in every form, and what was forced is told by every
//! reader. `../shared/design/judgement.md` numbers the rules.

use prosescope_core::model::issue::Severity;
use prosescope_core::pages::session::{Session, pages};

use super::{FORMS, Form, Recorded, check_in, postgres};

/// Runs a script in all forms. Each run did `against` to its program, in the words of `show`.
fn rule(program: &str, script: &str, against: Option<&str>) {
    for session in check_in(program, script) {
        let overview = pages::overview(&session, None);
        assert_eq!(
            overview.against.as_deref(),
            against,
            "{:?}",
            session.run().form
        );
        let Some(against) = against else { continue };
        assert!(overview.headline.contains(against), "{}", overview.headline);
        assert!(errors(&session) > 0, "check is silent: {against}");
    }
}

/// Runs a script that ends with refusals, and then again with what is forced after it: the run did nothing against its
/// program before, and `against` then.
fn barred(program: &str, refused: &str, forced: &str, against: &str) {
    rule(program, refused, None);
    rule(program, &format!("{refused}\n{forced}"), Some(against));
}

fn errors(session: &Session) -> usize {
    let all = pages::check(session, None);
    all.iter()
        .filter(|issue| issue.severity == Severity::Error)
        .count()
}

const GATE: &str = "approve go:\n  prompt: \"Go?\"\n  timeout: \"1h\"\n  on_reject: throw \"no\"\nsession \"x\"\nsession \"y\"\n";

#[test]
fn rule_1_what_follows_a_rejected_gate_does_not_begin() {
    let rejected =
        "gate go: Go?\nreject go: no\nbegin 5 !gate-rejected\nfinish completed !gate-rejected\n";
    barred(
        GATE,
        rejected,
        "begin 5 force\nend 3 force\nfinish completed force",
        "went on past the rejected gate go",
    );
}

#[test]
fn rule_1_what_follows_a_gate_that_timed_out_does_not_begin() {
    let late = "gate go: Go?\nlater 7200\nexpire\nbegin 5 !gate-timed-out\nfinish completed !gate-timed-out\n";
    barred(
        GATE,
        late,
        "begin 5 force",
        "went on past gate go, which timed out",
    );
}

#[test]
fn rule_1_what_follows_a_gate_that_waits_does_not_begin() {
    let waits = "gate go: Go?\nbegin 5 !gate-waits\nfinish completed !statements-open\n";
    barred(
        GATE,
        waits,
        "begin 5 force",
        "went on past the pending gate go",
    );
}

#[test]
fn rule_1_a_gate_that_nobody_asked_is_asked_first() {
    let unasked = "begin 5 !gate-not-asked\nfinish completed !gate-not-asked\n";
    barred(
        GATE,
        unasked,
        "begin 5 force",
        "went on past gate go, which was never asked",
    );
}

#[test]
fn rule_1_an_approved_gate_and_one_that_continues_bar_nothing() {
    rule(GATE, "gate go: Go?\napprove go\nbegin 5", None);
    let continues = GATE.replace("throw \"no\"", "continue");
    rule(&continues, "gate go: Go?\nreject go: no\nbegin 5", None);
}

#[test]
fn rule_2_what_was_passed_over_is_noted_and_told_by_check() {
    let program = "session \"a\"\nsession \"b\"\nsession \"c\"\n";
    for session in check_in(program, "begin 3") {
        let all = pages::check(&session, None);
        let told = all
            .iter()
            .find(|issue| issue.rule == "statement-passed-over");
        assert!(
            told.is_some_and(|issue| issue.message.contains("lines 1, 2")),
            "{all:?}"
        );
    }
}

#[test]
fn rule_3_only_what_answers_a_failure_follows_it() {
    let program = "session \"a\"\nsession \"b\"\n";
    let failed =
        "begin 1\nfail 1 broken\nbegin 2 !after-failure\nfinish completed !after-failure\n";
    rule(program, &format!("{failed}retry 1"), None);
    barred(
        program,
        failed,
        "begin 2 force",
        "went on after line 1 had failed",
    );
}

/// Runs a script in all forms: `check` tells in each what the run lacks, with this rule.
fn lacks(program: &str, script: &str, rule: &str) {
    for session in check_in(program, script) {
        let all = pages::check(&session, None);
        let form = &session.run().form;
        assert!(
            all.iter().any(|issue| issue.rule == rule),
            "{form:?}: {all:?}"
        );
    }
}

#[test]
fn rule_3_a_catch_without_a_failure_is_told() {
    let program = "try:\n  session \"a\"\ncatch:\n  session \"b\"\n";
    let script = "begin 1\nbegin 2\nend 2 force\nbegin 3\n";
    lacks(program, script, "catch-without-failure");
    let failed = "begin 1\nbegin 2\nfail 2 broken\nbegin 3\n";
    for session in check_in(program, failed) {
        let all = pages::check(&session, None);
        assert!(
            all.iter()
                .all(|issue| issue.rule != "catch-without-failure")
        );
    }
}

#[test]
fn rule_4_a_body_that_nobody_recorded_is_told() {
    let program = "do f(1)\n\nblock f(n):\n  session \"x\"\n";
    lacks(program, "begin 1\nend 1 force", "body-not-recorded");
    let passed = "if **a**:\n  session \"a\"\nelse:\n  session \"b\"\nsession \"c\"\n";
    lacks(passed, "begin 5", "statement-passed-over");
}

#[test]
fn rule_4_the_rounds_that_are_missing_are_told() {
    let program = "repeat 3:\n  session \"x\"\n";
    let script = "begin 1\nbegin 2 in 1\nend 2 force\nround 1\nend 1";
    lacks(program, script, "rounds-missing");
}

#[test]
fn rule_4_a_call_ends_with_its_return() {
    let program = "do f(1)\n\nblock f(n):\n  return n\n  session \"x\"\n";
    let returned = "begin 1\nbegin 4\nend 2 force\nbegin 5 !call-returned\n";
    barred(
        program,
        returned,
        "begin 5 force",
        "went on after the call had returned at line 4",
    );
}

#[test]
fn rule_4_a_block_calls_itself_as_deep_as_the_program_allows() {
    let program = "do f(1)\n\nblock f(n) (max_depth: 2):\n  do f(n)\n";
    let deep = "begin 1\nbegin 4\nbegin 4 in 2 !call-too-deep\n";
    barred(
        program,
        deep,
        "begin 4 in 2 force",
        "called block f deeper than its max_depth of 2",
    );
}

#[test]
fn rule_4_a_loop_has_its_rounds_and_no_more() {
    let program = "repeat 1:\n  session \"x\"\n";
    let script = "begin 1\nbegin 2\nend 2 force\nround 1\nbegin 2 in 1 !loop-used-up\nround 1 !loop-used-up\nend 1";
    rule(program, script, None);
}

#[test]
fn rule_4_a_parallel_that_needs_one_branch_joins_while_another_runs() {
    let program =
        "parallel (\"first\"):\n  a = session \"A\"\n  b = session \"B\"\nsession \"z\"\n";
    let script = "begin 1\nend 1 !branches-open\nput a in 2: risk\nend 2\nend 1\nbegin 4";
    rule(program, script, None);
}

#[test]
fn rule_4_a_parallel_over_a_recorded_list_knows_its_items() {
    let program =
        "let names = session \"names\"\nparallel for name in names:\n  session \"{name}\"\n";
    let script = "begin 1\nput names in 1: [\"a\", \"b\"]\nend 1\nbegin 2\nend 3 !items-left\nbegin 3 item=a\nend 4 force\nend 3 !items-left";
    rule(program, script, None);
}

#[test]
fn rule_7_a_gate_whose_record_was_removed_is_missed() {
    let missed = |session: &Session| {
        let all = pages::check(session, None);
        let rules: Vec<&str> = all.iter().map(|issue| &*issue.rule).collect();
        assert!(
            rules.contains(&"gate-gone"),
            "{:?}: {rules:?}",
            session.run().form
        );
    };
    for form in FORMS {
        let mut run = Recorded::new(form, GATE);
        run.step("gate go: Go?").unwrap();
        match form {
            Form::Folder => {
                let files = std::fs::read_dir(run.dir.join("gates")).unwrap();
                let gates = files.map(|file| file.unwrap().path());
                for gate in gates.filter(|path| path.extension().is_some_and(|e| e == "json")) {
                    std::fs::remove_file(gate).unwrap();
                }
            }
            Form::Sqlite => {
                let database = rusqlite::Connection::open(run.dir.join("state.db")).unwrap();
                database.execute("DELETE FROM gates", []).unwrap();
            }
        }
        missed(&run.session());
    }
    if let Some(mut run) = postgres::Recorded::new(GATE) {
        run.alone("gate go: Go?");
        run.sql("DELETE FROM openprose.gates");
        missed(&run.session());
    }
}
