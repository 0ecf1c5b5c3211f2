//! Tests that the program supplies what a command leaves out, and that a contradicting command is refused.

use serde_json::{Value, json};

use super::Memory;
use crate::model::{AuditKind, GateStatus, RunStatus, Status};
use crate::pages::view::FrameView;
use crate::record::{
    AddImport, Begin, Begun, Change, CreateGate, Decision, End, ExecutionBegun, Finish, Insist,
    ParallelRunning, Put, Record, Reopen, ResolveGate, Retry, Round, Skip, StatementRef, Style,
    WriteError,
};

const NOW: &str = "2026-01-25 12:00:00";
const STYLES: [Style; 3] = [Style::AppendOnly, Style::InPlace, Style::Files];
const OVERRIDE: Insist = Insist {
    overrides: true,
    force: false,
};
const FORCE: Insist = Insist {
    overrides: false,
    force: true,
};

const PROGRAM: &str = r#"use "./lib/survey.prose" as survey
agent captain:
  persist: true
input topic: "What about"
const plan = session "Plan"
  retry: 3
parallel ("first"):
  a = session "A"
  session "B"
repeat 2:
  session "Again"
loop until **done** (max: 3):
  let note = session "Note"
block process(part):
  let result = session "Process {part}"
  do process(result)
do process(plan)
approve publish:
  prompt: "Publish it?"
  allow: ["legal", "ops"]
  timeout: "30m"
  on_reject: throw "no"
approve {open}:
output report = session "Report"
parallel ("any", count: 2):
  x = session "X"
  y = session "Y"
  z = session "Z"
"#;

fn run(style: Style) -> Memory {
    Memory::running(style, PROGRAM)
}

/// Passes the gate at line 18, as a statement that comes after it needs.
fn ask(run: &mut Memory) {
    let gate = CreateGate {
        line: Some(18),
        ..CreateGate::default()
    };
    run.at(NOW, &gate).unwrap();
    let approve = ResolveGate {
        gate: "publish".into(),
        decision: Decision::Approve { comment: None },
        by: "ops".into(),
        on_behalf_of: None,
        record_timeout: false,
        overrides: false,
    };
    run.at(NOW, &approve).unwrap();
}

/// Returns the name of the rule that refuses the command, or the error's message.
fn refusal<R: Record<Done: std::fmt::Debug>>(run: &mut Memory, command: &R) -> String {
    let before = run.executions.clone();
    let error = run.at(NOW, command).unwrap_err();
    assert_eq!(run.executions, before);
    assert!(!error.hint().is_empty(), "{error}");
    match error {
        WriteError::Refused { rule, .. } => rule.to_owned(),
        other => other.to_string(),
    }
}

fn begin(line: u32) -> Begin {
    Begin::line(line)
}

/// Begins the statement at a line, which has no branches.
fn begun(run: &mut Memory, line: u32) -> ExecutionBegun {
    match run.at(NOW, &begin(line)).unwrap() {
        Begun::Execution(begun) => begun,
        other => panic!("{other:?}"),
    }
}

/// Begins the parallel block at a line, with its branches.
fn running(run: &mut Memory, line: u32) -> ParallelRunning {
    match run.at(NOW, &begin(line)).unwrap() {
        Begun::Parallel(running) => running,
        other => panic!("{other:?}"),
    }
}

fn end(id: i64) -> End {
    End {
        id: Some(id),
        ..End::default()
    }
}

/// Returns the metadata of the last appended or updated row.
fn metadata(run: &Memory) -> Value {
    let last = run.changes.iter().rev().find_map(|change| match change {
        Change::Execution(row) => Some(row.metadata.clone()),
        Change::UpdateExecution(row) if !row.metadata.is_empty() => Some(row.metadata.clone()),
        _ => None,
    });
    Value::Object(last.expect("an execution was written"))
}

/// The list of principals, the timeout and the action on rejection come from the program (D2).
#[test]
fn a_gate_is_what_the_program_says() {
    for style in STYLES {
        let mut run = run(style);
        let gate = CreateGate {
            line: Some(18),
            ..CreateGate::default()
        };
        let made = run.at(NOW, &gate).unwrap();
        assert_eq!(
            (made.gate.as_str(), made.may_decide.as_str()),
            ("publish", "legal or ops")
        );
        let gate = &run.gates[0];
        assert_eq!(gate.prompt.as_deref(), Some("Publish it?"));
        assert_eq!(gate.timeout.as_deref(), Some("30m"));
        assert_eq!(gate.on_reject.as_deref(), Some("throw \"no\""));
        assert_eq!(
            gate.timeout_at.as_ref().unwrap().to_string(),
            "2026-01-25T12:30:00Z"
        );
    }
}

#[test]
fn a_gate_against_the_program_is_refused_or_logged() {
    let with = |change: fn(&mut CreateGate)| {
        let mut gate = CreateGate {
            id: Some("publish".into()),
            ..CreateGate::default()
        };
        change(&mut gate);
        gate
    };
    type Case = (fn(&mut CreateGate), &'static str, Value);
    let cases: [Case; 4] = [
        (
            |gate| gate.allow = Some(vec!["user".into()]),
            "allow",
            json!({ "program": ["legal", "ops"], "given": ["user"] }),
        ),
        (
            |gate| gate.timeout = Some("8h".into()),
            "timeout",
            json!({ "program": "30m", "given": "8h" }),
        ),
        (
            |gate| gate.on_reject = Some("continue".into()),
            "on_reject",
            json!({ "program": "throw \"no\"", "given": "continue" }),
        ),
        (
            |gate| gate.prompt = Some("Delete it?".into()),
            "prompt",
            json!({ "program": "Publish it?", "given": "Delete it?" }),
        ),
    ];
    for style in STYLES {
        for (change, what, said) in &cases {
            let mut run = run(style);
            let mut gate = with(*change);
            assert_eq!(refusal(&mut run, &gate), "against-program", "{what}");
            assert!(run.gates.is_empty() && run.audit.is_empty());
            gate.insist = OVERRIDE;
            run.at(NOW, &gate).unwrap();
            let kinds: Vec<&AuditKind> = run.audit.iter().map(|row| &row.kind).collect();
            assert_eq!(
                kinds,
                [&AuditKind::Created, &AuditKind::Overridden],
                "{what}"
            );
            let logged: Value =
                serde_json::from_str(run.audit[1].metadata.as_deref().unwrap()).unwrap();
            assert_eq!(logged[what], *said);
            assert_eq!(metadata(&run)["override"][what], *said);
        }
        // The same values in another spelling are not a contradiction.
        for same in [
            with(|gate| gate.allow = Some(vec!["ops".into(), "legal".into()])),
            with(|gate| gate.timeout = Some("1800s".into())),
            with(|gate| gate.prompt = Some("  Publish   it? ".into())),
        ] {
            run(style).at(NOW, &same).unwrap();
        }
    }
}

#[test]
fn a_line_of_another_kind_names_the_right_command() {
    let gate = |line| CreateGate {
        id: Some("publish".into()),
        line: Some(line),
        ..CreateGate::default()
    };
    let skip = |line| Skip {
        statement: StatementRef::line(line),
        ..Skip::default()
    };
    fn hint<R: Record<Done: std::fmt::Debug>>(command: R) -> String {
        run(Style::AppendOnly)
            .at(NOW, &command)
            .unwrap_err()
            .hint()
            .to_owned()
    }
    for (hint, expected) in [
        (hint(gate(4)), "prosescope program"),
        (hint(gate(5)), "prosescope begin 5"),
        (hint(begin(2)), "a statement that runs"),
        (hint(begin(4)), "prosescope put topic"),
        (hint(begin(14)), "`do process(…)` calls the block"),
        (hint(begin(6)), "the statement of line 5"),
        (hint(begin(8)), "prosescope begin 7"),
        (hint(skip(18)), "prosescope begin 18"),
    ] {
        assert!(hint.contains(expected), "{hint} lacks {expected}");
    }
    let mut other = gate(18);
    other.id = Some("deploy".into());
    let error = run(Style::Files).at(NOW, &other).unwrap_err();
    assert!(
        error.to_string().contains("line 18 is gate publish"),
        "{error}"
    );
}

/// The strategy, the branches, and the limits for rounds and attempts come from the program (D3).
#[test]
fn limits_are_the_programs() {
    for style in STYLES {
        let mut run = run(style);
        let first = running(&mut run, 7);
        let names: Vec<Option<&str>> = first.branches.iter().map(|b| b.name.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("branch_2")]);
        let join = end(first.parallel.id);
        assert_eq!(refusal(&mut run, &join), "branches-open");
        // The second branch alone is enough for `first`.
        run.at(NOW, &end(first.branches[1].id)).unwrap();
        run.at(NOW, &join).unwrap();

        // `any` waits for the given number of branches.
        ask(&mut run);
        let any = running(&mut run, 25);
        let join = end(any.parallel.id);
        for (nth, joins) in [(0, false), (2, true)] {
            done(&mut run, ["x", "y", "z"][nth], any.branches[nth].id);
            assert_eq!(run.clone().at(NOW, &join).is_ok(), joins);
        }
        run.at(NOW, &join).unwrap();

        // `repeat 2:` has two rounds.
        let a_loop = begun(&mut run, 10).id;
        for round in 0..2 {
            if round > 0 {
                run.at(NOW, &Round::default()).unwrap();
            }
            let id = begun(&mut run, 11).id;
            run.at(NOW, &end(id)).unwrap();
        }
        let mut left = run.clone();
        run.at(NOW, &Round::default()).unwrap();
        assert_eq!(refusal(&mut run, &Round::default()), "loop-used-up");
        assert_eq!(refusal(&mut run, &self::begin(11)), "loop-used-up");
        // A loop ends with its present round, and a round that has ended is not counted twice.
        for run in [&mut run, &mut left] {
            match run.at(NOW, &end(a_loop)).unwrap() {
                crate::record::EndedPart::Loop(rounds) => assert_eq!(rounds.iteration, 2),
                other => panic!("{other:?}"),
            }
        }

        // The program's `retry: 3` allows three attempts.
        let id = begun(&mut run, 5).id;
        let retry = Retry {
            id,
            error: Some("no".into()),
            ..Retry::default()
        };
        assert_eq!(run.at(NOW, &retry).unwrap().max, Some(3));
        assert_eq!(run.at(NOW, &retry).unwrap().attempt, 3);
        assert_eq!(refusal(&mut run, &retry), "retry-used-up");
        let max = Some(9);
        let mut more = Retry { max, ..retry };
        assert_eq!(refusal(&mut run, &more), "against-program");
        more.insist = OVERRIDE;
        assert_eq!(run.at(NOW, &more).unwrap().attempt, 4);
        let differs = json!({ "max": { "program": 3, "given": 9 } });
        assert_eq!(metadata(&run)["override"], differs, "{style:?}");
    }
}

/// Writes the binding of an execution, and completes it.
fn done(run: &mut Memory, name: &str, id: i64) {
    let put = Put {
        name: Some(name.to_owned()),
        execution: Some(id),
        value: b"v".to_vec().into(),
        ..Put::default()
    };
    run.at(NOW, &put).unwrap();
}

/// A statement runs in the construct that contains it in the program, so the caller need not give the parent (D9).
#[test]
fn a_statement_runs_in_what_it_lies_in() {
    for style in STYLES {
        let mut run = run(style);
        for (line, rule) in [(11, "not-begun"), (15, "not-begun"), (8, "is-a-branch")] {
            assert_eq!(refusal(&mut run, &begin(line)), rule, "line {line}");
        }
        let a_loop = begun(&mut run, 10).id;
        let inside = begun(&mut run, 11);
        assert_eq!(inside.parent, Some(a_loop));
        run.at(NOW, &end(inside.id)).unwrap();
        // A statement outside of the loop does not run in the loop.
        let mut wrong = begin(24);
        wrong.parent = Some(a_loop);
        assert_eq!(refusal(&mut run, &wrong), "parent-differs");
        run.at(NOW, &end(a_loop)).unwrap();

        // In a call inside a call, only the innermost call is running, and the outer ones wait.
        let outer = begun(&mut run, 17);
        assert_eq!(
            (outer.block.as_deref(), outer.depth),
            (Some("process"), Some(1))
        );
        let step = begun(&mut run, 15);
        assert_eq!(step.parent, Some(outer.id));
        done(&mut run, "result", step.id);
        let inner = begun(&mut run, 16);
        assert_eq!(
            (inner.parent, inner.block.as_deref(), inner.depth),
            (Some(outer.id), Some("process"), Some(2))
        );
        let step = begun(&mut run, 15);
        assert_eq!(step.parent, Some(inner.id));
        assert_eq!(
            step.task.unwrap().frame,
            Some(FrameView {
                id: inner.id,
                block: "process".to_owned(),
                depth: 2
            })
        );
        done(&mut run, "result", step.id);

        // If two calls run side by side, as in branches, the caller must name one of them.
        let mut side = begin(17);
        side.insist = FORCE;
        side.statement.text = Some("do process(other)".into());
        side.statement.line = None;
        run.at(NOW, &side).unwrap();
        let error = run.at(NOW, &begin(15)).unwrap_err();
        assert!(error.to_string().contains("--parent"), "{error}");
    }
}

#[test]
fn nothing_ends_around_what_is_open() {
    for style in STYLES {
        let mut run = run(style);
        ask(&mut run);
        let call = begun(&mut run, 17).id;
        let step = begun(&mut run, 15).id;
        assert_eq!(refusal(&mut run, &end(call)), "children-open");
        let finish = Finish {
            status: Some(RunStatus::Completed),
            ..Finish::default()
        };
        assert_eq!(refusal(&mut run, &finish), "statements-open");
        let mut forced = end(call);
        forced.insist = FORCE;
        let mut other = run.clone();
        other.at(NOW, &forced).unwrap();
        assert_eq!(metadata(&other)["forced"], json!(["children-open"]));
        done(&mut run, "result", step);
        run.at(NOW, &end(call)).unwrap();
        run.at(NOW, &finish).unwrap();
    }
}

/// A pending gate blocks later statements and the end of the run (D4).
#[test]
fn nothing_begins_after_a_gate_that_waits() {
    for style in STYLES {
        let mut run = run(style);
        let gate = CreateGate {
            line: Some(18),
            ..CreateGate::default()
        };
        run.at(NOW, &gate).unwrap();
        assert_eq!(refusal(&mut run, &begin(24)), "gate-waits");
        assert_eq!(refusal(&mut run, &begin(12)), "gate-waits");
        let finish = |insist| Finish {
            status: Some(RunStatus::Completed),
            insist,
            ..Finish::default()
        };
        assert_eq!(
            refusal(&mut run, &finish(Insist::default())),
            "statements-open"
        );
        let mut forced = run.clone();
        let mut command = begin(24);
        command.insist = FORCE;
        forced.at(NOW, &command).unwrap();
        assert_eq!(metadata(&forced)["forced"], json!(["gate-waits"]));
        run.at(NOW, &finish(FORCE)).unwrap();
        assert_eq!(run.audit.last().unwrap().kind, AuditKind::Forced);
        assert_eq!(run.gates[0].status, GateStatus::Pending);

        // A gate in one branch does not block the other branch.
        let mut run = self::run(style);
        let branches = running(&mut run, 7).branches;
        let a = branches[0].id;
        let inside = CreateGate {
            id: Some("inside".into()),
            prompt: Some("Go?".into()),
            parent: Some(a),
            ..CreateGate::default()
        };
        run.at(NOW, &inside).unwrap();
        run.at(NOW, &end(branches[1].id)).unwrap();
        assert_eq!(refusal(&mut run, &begin(24)), "gate-waits");
    }
}

/// A resumption is logged once, at the gate of the current position (D7).
#[test]
fn going_on_is_logged_once() {
    for style in STYLES {
        let mut run = run(style);
        let gate = CreateGate {
            line: Some(18),
            ..CreateGate::default()
        };
        run.at(NOW, &gate).unwrap();
        let rest = Finish {
            status: Some(RunStatus::Interrupted),
            ..Finish::default()
        };
        let resumed = |run: &Memory| {
            let rows = run
                .audit
                .iter()
                .filter(|row| row.kind == AuditKind::Resumed);
            rows.count()
        };
        run.at(NOW, &rest).unwrap();
        for _ in 0..3 {
            run.at(NOW, &Reopen).unwrap();
            assert_eq!(resumed(&run), 1, "{style:?}");
        }
        // The run was interrupted again, and the gate still waits.
        run.at(NOW, &rest).unwrap();
        run.at(NOW, &Reopen).unwrap();
        assert_eq!(resumed(&run), 2);
    }
}

/// An import that is registered again keeps what its earlier registration recorded (D6).
#[test]
fn an_import_keeps_its_schemas() {
    for style in STYLES {
        let mut run = run(style);
        let add = |inputs: Option<&str>| AddImport {
            alias: "survey".into(),
            inputs_schema: inputs.map(str::to_owned),
            ..AddImport::default()
        };
        run.at(NOW, &add(Some("{\"topic\":\"text\"}"))).unwrap();
        run.at(NOW, &add(None)).unwrap();
        let kept = run.imports[0].inputs_schema.as_deref();
        assert_eq!(kept, Some("{\"topic\":\"text\"}"), "{style:?}");
        assert!(run.changes.iter().any(|change| matches!(
            change,
            Change::Import(row) if row.source_url == "./lib/survey.prose"
        )));
    }
}

/// An opening row has the status `executing` exactly as long as its execution is open (D17).
#[test]
fn a_row_says_executing_while_it_is_true() {
    let mut run = run(Style::AppendOnly);
    let executing = |run: &Memory| {
        let rows = run
            .executions
            .iter()
            .filter(|row| row.status == Status::Executing);
        rows.map(|row| row.id).collect::<Vec<_>>()
    };
    let id = begun(&mut run, 5).id;
    assert_eq!(executing(&run), [id]);
    let retry = Retry {
        id,
        error: Some("no".into()),
        ..Retry::default()
    };
    run.at(NOW, &retry).unwrap();
    assert_eq!(executing(&run), [id]);
    done(&mut run, "plan", id);
    assert_eq!(executing(&run), [] as [i64; 0]);
    // Abandoned branches do not keep the status `executing` either.
    let running = running(&mut run, 7);
    assert_eq!(executing(&run).len(), 3);
    done(&mut run, "a", running.branches[0].id);
    run.at(NOW, &end(running.parallel.id)).unwrap();
    assert_eq!(executing(&run), [] as [i64; 0]);
}

#[test]
fn what_a_session_completes_is_what_its_statement_writes() {
    for style in STYLES {
        let mut run = run(style);
        ask(&mut run);
        let id = begun(&mut run, 24).id;
        assert_eq!(refusal(&mut run, &end(id)), "output-missing");
        let put = |name: &str| Put {
            name: Some(name.to_owned()),
            execution: Some(id),
            value: b"v".to_vec().into(),
            ..Put::default()
        };
        assert_eq!(refusal(&mut run, &put("summary")), "output-differs");
        let empty = Put {
            value: Vec::new().into(),
            ..put("report")
        };
        assert_eq!(refusal(&mut run, &empty), "value-empty");
        assert!(run.bindings.is_empty());
        let written = run.at(NOW, &put("report")).unwrap();
        assert_eq!(
            (written.completed, written.kind.as_str()),
            (Some(id), "output")
        );
        assert_eq!(metadata(&run)["completed_by"], "put");
        let kind = Put {
            kind: Some("let".into()),
            not_done: true,
            execution: None,
            ..put("plan")
        };
        assert_eq!(refusal(&mut run, &kind), "against-program");
    }
}

/// A value goes to the statement that writes its name, and completes it; otherwise it belongs to the root.
#[test]
fn a_value_completes_the_statement_that_asked_for_it() {
    let put = |name: &str, not_done: bool| Put {
        name: Some(name.to_owned()),
        value: b"v".to_vec().into(),
        not_done,
        ..Put::default()
    };
    for style in STYLES {
        let mut run = run(style);
        assert_eq!(run.at(NOW, &put("topic", false)).unwrap().completed, None);
        let id = begun(&mut run, 5).id;
        assert_eq!(run.at(NOW, &put("plan", true)).unwrap().completed, None);
        assert_eq!(
            run.at(NOW, &put("plan", false)).unwrap().completed,
            Some(id)
        );
        // In a call inside of a call, the innermost statement asks.
        ask(&mut run);
        begun(&mut run, 17);
        let outer = begun(&mut run, 15).id;
        run.at(NOW, &put("result", false)).unwrap();
        begun(&mut run, 16);
        let inner = begun(&mut run, 15).id;
        assert!(inner > outer);
        let written = run.at(NOW, &put("result", false)).unwrap();
        assert_eq!(written.completed, Some(inner));
    }
}

#[test]
fn what_was_skipped_is_not_asked_for_again() {
    let skip = |line| Skip {
        statement: StatementRef::line(line),
        because: Some("no need".to_owned()),
        ..Skip::default()
    };
    for style in STYLES {
        let mut run = run(style);
        assert_eq!(run.at(NOW, &skip(4)).unwrap().status, "skipped");
        // An open statement is skipped, not begun a second time.
        let id = begun(&mut run, 5).id;
        assert_eq!(run.at(NOW, &skip(5)).unwrap().id, id);
        assert_eq!(refusal(&mut run, &skip(18)), "gate-decides");
    }
}

/// The branches of a parallel block that is tried again begin one by one, by their lines.
#[test]
fn a_branch_that_has_not_begun_begins_by_its_line() {
    // Where rows are updated in place, the branches go on as they were.
    for style in [Style::AppendOnly, Style::Files] {
        let mut run = run(style);
        let parallel = running(&mut run, 7).parallel.id;
        let retry = Retry {
            id: parallel,
            error: Some("no".into()),
            ..Retry::default()
        };
        run.at(NOW, &retry).unwrap();
        let branch = begun(&mut run, 8);
        assert_eq!(
            (branch.parent, branch.name.as_deref()),
            (Some(parallel), Some("a")),
            "{style:?}"
        );
        assert_eq!(refusal(&mut run, &begin(8)), "is-a-branch");
        assert_eq!(begun(&mut run, 9).name.as_deref(), Some("branch_2"));
    }
}

#[test]
fn what_is_open_fails_with_the_run() {
    let failed = Finish {
        status: Some(RunStatus::Failed),
        error: Some("the disk is full".to_owned()),
        ..Finish::default()
    };
    for style in STYLES {
        let mut run = run(style);
        assert_eq!(refusal(&mut run, &failed), "nothing-open");
        let id = begun(&mut run, 5).id;
        run.at(NOW, &failed).unwrap();
        let last = run.executions.iter().rev();
        let mut last = last.filter(|row| row.status == Status::Failed);
        let error = last.find_map(|row| row.error.clone());
        assert_eq!(error.as_deref(), Some("the disk is full"), "{id}");
    }
}
