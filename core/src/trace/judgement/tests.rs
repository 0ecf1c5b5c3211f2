//! Tests of gates that bar what follows them, recorded by the commands in each form, and by rows of others.

use super::{Bar, PassedBar, Why, went_against};
use crate::model::RunStatus;
use crate::program::scan;
use crate::record::tests::Memory;
use crate::record::{
    Begin, CreateGate, Decision, End, Fail, Finish, Insist, Put, ResolveGate, StatementRef, Style,
    WriteError,
};
use crate::trace::fold;

const NOW: &str = "2026-01-25 12:00:00";
const STYLES: [Style; 3] = [Style::AppendOnly, Style::InPlace, Style::Files];

/// Records one line of a script, such as `begin 4`, `gate 1`, `reject go`, `end 3`, `fail 2` or `finish`. `begin 4 a`
/// begins in the branch `a`; `force` at the end of a line is the option `--force`.
fn step(run: &mut Memory, line: &str) -> Result<(), WriteError> {
    let insist = Insist {
        overrides: false,
        force: line.ends_with(" force"),
    };
    let mut words = line.split(' ');
    let (verb, arg) = (words.next().unwrap(), words.next().unwrap_or_default());
    let number = || arg.parse::<u32>().unwrap();
    let statement = || StatementRef::line(number());
    match verb {
        "begin" => {
            let statement = statement();
            let item = words.next().filter(|word| *word != "force");
            let begin = Begin {
                statement,
                item: item.map(str::to_owned),
                insist,
                ..Begin::default()
            };
            run.at(NOW, &begin).map(drop)
        }
        "aside" => {
            let statement = StatementRef {
                text: Some("session \"Aside\"".to_owned()),
                line: None,
            };
            let begin = Begin {
                statement,
                insist,
                ..Begin::default()
            };
            run.at(NOW, &begin).map(drop)
        }
        "put" => {
            let (name, value) = line.split_once(' ').unwrap().1.split_once('=').unwrap();
            let put = Put {
                name: Some(name.to_owned()),
                value: value.as_bytes().to_vec().into(),
                ..Put::default()
            };
            run.at(NOW, &put).map(drop)
        }
        "gate" => {
            let gate = CreateGate {
                line: Some(number()),
                prompt: None,
                insist,
                ..CreateGate::default()
            };
            run.at(NOW, &gate).map(drop)
        }
        "approve" | "reject" => {
            let decision = match verb {
                "approve" => Decision::Approve { comment: None },
                _ => Decision::Reject {
                    reason: "no".to_owned(),
                },
            };
            let resolve = ResolveGate {
                gate: arg.to_owned(),
                decision,
                by: "alice".to_owned(),
                on_behalf_of: None,
                record_timeout: false,
                overrides: false,
            };
            run.at(NOW, &resolve).map(drop)
        }
        "end" => {
            let end = End {
                id: arg.parse().ok(),
                insist,
                ..End::default()
            };
            run.at(NOW, &end).map(drop)
        }
        "fail" => {
            let fail = Fail {
                id: arg.parse().ok(),
                error: "it failed".to_owned(),
                insist,
            };
            run.at(NOW, &fail).map(drop)
        }
        "finish" => {
            let finish = Finish {
                status: Some(RunStatus::Completed),
                insist,
                ..Finish::default()
            };
            run.at(NOW, &finish).map(drop)
        }
        other => panic!("{other}"),
    }
}

/// Runs a script in each form; a line that ends with ` !RULE` is refused by that rule. Returns the gates that the run
/// went past.
fn passed(program: &str, script: &str) -> Vec<(String, Why)> {
    let gate = |passed: PassedBar| match passed.bar {
        Bar::Gate(bar) => (bar.gate.to_string(), bar.why),
        other => panic!("{other:?}"),
    };
    against(program, script).into_iter().map(gate).collect()
}

/// Runs a script as [`passed`] does. Returns in words what the run did against its program.
fn words(program: &str, script: &str) -> Vec<String> {
    in_words(&against(program, script))
}

fn in_words(all: &[PassedBar]) -> Vec<String> {
    all.iter().map(|passed| passed.bar.passed()).collect()
}

/// Runs a script in one form. A line that ends with ` !RULE` is refused by that rule.
fn scripted(style: Style, program: &str, script: &str) -> Memory {
    let mut run = Memory::running(style, program);
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.split_once(" !") {
            Some((line, expected)) => match step(&mut run, line) {
                Err(WriteError::Refused { rule, .. }) => {
                    assert_eq!(rule, expected, "{style:?} {line}");
                }
                other => panic!("{style:?} {line}: {other:?} instead of {expected}"),
            },
            None => step(&mut run, line).unwrap_or_else(|e| panic!("{style:?} {line}: {e}")),
        }
    }
    run
}

/// Runs a script as [`passed`] does. Returns what the run did against its program.
fn against(program: &str, script: &str) -> Vec<PassedBar> {
    let all = STYLES.map(|style| {
        let run = scripted(style, program, script);
        let listing = scan(program);
        let trace = fold(&run, Some(&listing), None);
        went_against(&run, &trace, Some(&listing))
    });
    let [first, ..] = &all;
    // The forms give executions different ids.
    assert!(
        all.iter().all(|one| in_words(one) == in_words(first)),
        "{all:?}"
    );
    first.clone()
}

const PLAIN: &str =
    "approve go:\n  prompt: \"Go?\"\n  on_reject: throw \"no\"\nsession \"x\"\nsession \"y\"\n";

#[test]
fn what_follows_a_rejected_gate_does_not_begin() {
    let rejected = "gate 1\nreject go\n";
    let refused = "begin 4 !gate-rejected\naside !gate-rejected\nfinish !gate-rejected\n";
    assert_eq!(passed(PLAIN, &format!("{rejected}{refused}")), []);
    let forced = format!("{rejected}begin 4 force\nend\nbegin 5 !gate-rejected\nfinish force");
    assert_eq!(passed(PLAIN, &forced), [("go".to_owned(), Why::Rejected)]);
    // A run that ends there as completed went past the gate, too.
    let ended = format!("{rejected}finish force");
    assert_eq!(passed(PLAIN, &ended), [("go".to_owned(), Why::Rejected)]);
}

#[test]
fn a_gate_that_nobody_asked_bars_like_one_that_waits() {
    assert_eq!(
        passed(PLAIN, "begin 4 !gate-not-asked\nfinish !gate-not-asked"),
        []
    );
    let forced = "begin 4 force\nend\nbegin 5 !gate-not-asked";
    assert_eq!(passed(PLAIN, forced), [("go".to_owned(), Why::NeverAsked)]);
    let ended = "gate 1\nfinish !statements-open\nfinish force";
    assert_eq!(passed(PLAIN, ended), [("go".to_owned(), Why::Pending)]);
    let waits = "gate 1\nbegin 4 !gate-waits\naside !gate-waits\nbegin 4 force\nend\napprove go\nbegin 5\nend";
    assert_eq!(passed(PLAIN, waits), [("go".to_owned(), Why::Pending)]);
    assert_eq!(
        passed(
            PLAIN,
            "gate 1\napprove go\nbegin 4\nend\nbegin 5\nend\nfinish"
        ),
        []
    );
}

#[test]
fn an_action_that_ends_the_run_bars_in_a_program_with_labels_too() {
    for action in ["exit", "stop", "throw \"no\""] {
        let program = format!("{}label again:\n", PLAIN.replace("throw \"no\"", action));
        let script = "gate 1\nreject go\nbegin 4 !gate-rejected";
        assert_eq!(passed(&program, script), [], "{action}");
    }
}

#[test]
fn a_program_that_goes_on_after_a_rejection_goes_on() {
    let program = PLAIN.replace("throw \"no\"", "continue");
    assert_eq!(
        passed(
            &program,
            "gate 1\nreject go\nbegin 4\nend\nbegin 5\nend\nfinish"
        ),
        []
    );
}

#[test]
fn a_catch_takes_a_rejection() {
    let program = "try:\n  approve go:\n    prompt: \"Go?\"\n  session \"x\"\ncatch as error:\n  session \"y\"\nsession \"z\"\n";
    let unrecorded = "gate 2\nreject go\nbegin 6\nend\nbegin 7\nend\nfinish";
    assert_eq!(passed(program, unrecorded), []);
}

#[test]
fn a_rejection_in_a_called_block_bars_what_follows_the_call() {
    let program = "block ask():\n  approve go:\n    prompt: \"Go?\"\n  session \"x\"\n\ndo ask()\nsession \"y\"\n";
    let script = "begin 6\ngate 2\nreject go\nbegin 4 !gate-rejected\nend 1 !gate-rejected\nfail 1\nbegin 7 !gate-rejected";
    assert_eq!(passed(program, script), []);
    let unasked = "begin 6\nbegin 4 !gate-not-asked\nend 1 !gate-not-asked";
    assert_eq!(passed(program, unasked), []);
}

#[test]
fn the_other_branches_of_a_parallel_go_on() {
    let program = "parallel:\n  a = do ask()\n  b = session \"B\"\nsession \"y\"\n\nblock ask():\n  approve go:\n    prompt: \"Go?\"\n  session \"x\"\n";
    let script = "begin 1\ngate 7\nreject go\nbegin 9 !gate-rejected\nfail 2\nend 1 !branch-failed";
    assert_eq!(passed(program, script), []);
}

#[test]
fn a_gate_before_a_parallel_is_not_missed_by_the_handler_of_a_branch() {
    let program = "if **fair**:\n  approve go:\n    prompt: \"Go?\"\n  parallel:\n    try:\n      session \"x\"\n    finally:\n      session \"y\"\n";
    let script = "begin 1\ngate 2\napprove go\nbegin 4\nbegin 5 branch_1\nbegin 6\nend\nend\nbegin 7 branch_1\nbegin 8";
    assert_eq!(passed(program, script), []);
}

const TWICE: &str = "do f(1)\nsession \"z\"\n\nblock f(n) (max_depth: 2):\n  if **small**:\n    return n\n  session \"x\"\n  do f(n)\n";

#[test]
fn nothing_follows_in_a_call_that_returned() {
    let returned = "begin 1\nbegin 5\nbegin 6\nend\nend";
    let refused = "begin 7 !call-returned\nbegin 8 !call-returned\nend\nbegin 2\nend\nfinish";
    assert_eq!(against(TWICE, &format!("{returned}\n{refused}")), []);
    let forced = format!("{returned}\nbegin 7 force");
    assert_eq!(
        words(TWICE, &forced),
        ["went on after the call had returned at line 6"]
    );
}

#[test]
fn a_call_has_the_depth_that_the_program_allows() {
    let twice = "begin 1\nbegin 7\nend\nbegin 8\nbegin 7\nend\nbegin 8 !call-too-deep";
    assert_eq!(against(TWICE, twice), []);
    let forced = twice.replace("!call-too-deep", "force");
    assert_eq!(
        words(TWICE, &forced),
        ["called block f deeper than its max_depth of 2"]
    );
}

#[test]
fn a_finally_runs_after_a_return() {
    let program = "do f()\n\nblock f():\n  try:\n    return 1\n  finally:\n    session \"y\"\n  session \"z\"\n";
    let script =
        "begin 1\nbegin 4\nbegin 5\nend\nend\nbegin 6\nbegin 7\nend\nend\nbegin 8 !call-returned";
    assert_eq!(against(program, script), []);
}

#[test]
fn after_a_failure_only_what_answers_it_begins() {
    let program = "try:\n  session \"a\"\n  session \"b\"\ncatch:\n  session \"c\"\nsession \"d\"\nsession \"e\"\n";
    let caught = "begin 2\nfail 1\nbegin 3 !after-failure\nbegin 6 !after-failure\nbegin 5\nend\nbegin 6\nend\nbegin 7\nend\nfinish";
    assert_eq!(against(program, caught), []);
    let outside = "begin 2\nend\nbegin 3\nend\nbegin 6\nfail";
    let refused = "begin 7 !after-failure\naside !after-failure\nfinish !after-failure";
    assert_eq!(
        against(
            program,
            &format!("{outside}\n{refused}\nbegin 6\nend\nbegin 7")
        ),
        []
    );
    let forced = format!("{outside}\nbegin 7 force");
    assert_eq!(words(program, &forced), ["went on after line 6 had failed"]);
    let ended = against(program, &format!("{outside}\nfinish force"));
    assert_eq!(ended.len(), 1);
}

#[test]
fn a_parallel_over_a_recorded_list_is_joined_after_all_of_its_items() {
    let program = "let names = session \"names\"\nparallel for name in names:\n  session \"{name}\"\nsession \"z\"\n";
    let list = |list: &str| format!("begin 1\nput names={list}\nbegin 2\n");
    let two = list("[\"a\", \"b\"]");
    let script =
        "end ALL !items-left\nbegin 3 a\nend ONE\nend ALL !items-left\nbegin 3 b\nend TWO\nend ALL";
    let ids = |style| {
        if style == Style::InPlace {
            (2, 3, 4)
        } else {
            (3, 4, 6)
        }
    };
    for style in STYLES {
        let (parallel, first, second) = ids(style);
        let script = script.replace("ONE", &first.to_string());
        let script = script.replace("TWO", &second.to_string());
        let script = script.replace("ALL", &parallel.to_string());
        scripted(style, program, &format!("{two}{script}"));
        // What is not a list of texts may still be one in the model's words.
        let prose = list("anna and ben");
        scripted(
            style,
            program,
            &format!("{prose}begin 3 anna\nend {first}\nend {parallel}"),
        );
    }
}
