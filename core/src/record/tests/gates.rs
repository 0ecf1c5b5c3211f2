//! Tests of recording gates (errata G1–G12).

use serde_json::{Value, json};

use super::Memory;
use super::memory::RUN;
use crate::model::time::Stamp;
use crate::model::{AuditEvent, Execution, Gate, GateRecord, GateStatus, Run, RunStatus, Status};
use crate::read::gate::audit::{ChainState, verify};
use crate::record::{
    Begin, Change, CreateGate, Decision, ExpireGates, Finish, Insist, Reopen, ResolveGate,
    ResolveResult, StatementRef, Style, ViewGate, WriteError,
};
use crate::trace::{NodeKind, fold};

pub(super) const NOON: &str = "2026-01-25 12:00:00";
const STYLES: [Style; 3] = [Style::AppendOnly, Style::InPlace, Style::Files];

pub(super) fn deploy() -> CreateGate {
    CreateGate {
        id: Some("deploy".into()),
        prompt: Some("Go?".into()),
        allow: Some(vec!["ops-team".into(), "raymond".into()]),
        timeout: Some("2h30m".into()),
        on_reject: Some("throw \"no\"".into()),
        ..CreateGate::default()
    }
}

pub(super) fn approve(gate: &str, by: &str) -> ResolveGate {
    let comment = Some("LGTM".into());
    ResolveGate {
        gate: gate.into(),
        decision: Decision::Approve { comment },
        by: by.into(),
        on_behalf_of: None,
        record_timeout: false,
        overrides: false,
    }
}

pub(super) fn reject(gate: &str, by: &str) -> ResolveGate {
    let reason = "not yet".into();
    ResolveGate {
        decision: Decision::Reject { reason },
        ..approve(gate, by)
    }
}

pub(super) fn run_with_gate(style: Style) -> Memory {
    let mut run = Memory::new(style);
    run.at(NOON, &deploy()).unwrap();
    run
}

/// Returns the metadata of the log's last row.
fn last_metadata(run: &Memory) -> Value {
    let last: Option<&AuditEvent> = run.audit.last();
    serde_json::from_str(last.unwrap().metadata.as_deref().unwrap()).unwrap()
}

pub(super) fn events(run: &Memory) -> Vec<(&str, &str)> {
    let rows = run.audit.iter();
    rows.map(|e| (e.kind.word(), e.principal.as_deref().unwrap()))
        .collect()
}

fn changes(run: &Memory) -> Vec<&'static str> {
    let word = |change: &Change| match change {
        Change::Run(_) => "run",
        Change::Execution(_) => "execution",
        Change::UpdateExecution(_) => "update",
        Change::Gate(_) => "gate",
        Change::ResolveGate(_) => "resolve",
        Change::Audit(_) => "audit",
        _ => "other",
    };
    run.changes.iter().map(word).collect()
}

pub(super) fn rule(error: &WriteError) -> &str {
    match error {
        WriteError::Refused { rule, .. } => rule,
        other => panic!("{other:?} is no refusal"),
    }
}

#[track_caller]
fn consistent(run: &Memory) {
    let report = verify(&run.audit, None);
    assert_eq!(report.state, ChainState::Consistent, "{report:?}");
}

/// Returns the status of the gate's only node in the trace of the run.
fn node_word(run: &Memory, gate: &str) -> String {
    let read = Run {
        id: RUN.into(),
        executions: run.executions.clone(),
        gates: run.gates.clone(),
        ..Run::default()
    };
    let trace = fold(&read, None, None);
    let mut words = trace.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Gate { gate: id } if **id == *gate => Some(node.status.word().to_owned()),
        _ => None,
    });
    let word = words.next().expect("the gate has a node");
    assert_eq!(words.next(), None, "and only one");
    word
}

#[test]
fn a_gate_is_created_behind_the_row_that_waits_at_it_g2() {
    for style in STYLES {
        let mut run = Memory::new(style);
        run.program.source =
            Some("let a = session \"x\"\napprove deploy:\n  prompt: \"Go?\"\n".into());
        let made = run.at(NOON, &deploy()).unwrap();
        assert_eq!((made.gate.as_str(), made.visit), ("deploy", 1));
        assert_eq!(made.line, Some(2));
        assert_eq!(made.may_decide, "ops-team or raymond");
        assert_eq!(made.deadline, Some(Stamp::parse("2026-01-25 14:30:00")));
        assert_eq!(changes(&run), ["execution", "audit", "gate", "run"]);
        let gate = &run.gates[0];
        assert_eq!(gate.timeout.as_deref(), Some("2h30m"));
        assert_eq!(gate.allow.as_deref(), Some(r#"["ops-team","raymond"]"#));
        let row = run.row(made.execution_id);
        assert_eq!(row.status, Status::Pending);
        let meta = row.meta.as_ref().unwrap();
        assert_eq!(meta.gate_id.as_deref(), Some("deploy"));
        assert_eq!(node_word(&run, "deploy"), "pending");
        let created = last_metadata(&run);
        // The hash of the prompt, as from `printf 'Go?' | sha256sum`.
        assert_eq!(
            created["prompt_hash"],
            "sha256:7a1da86cb32b78a521d13237a75b86b1ce97a42c11589a26d3e5da4c5334beef"
        );
        assert_eq!(created["allow"], json!(["ops-team", "raymond"]));
        assert_eq!(events(&run), [("created", "system")]);
        let head = made.head.unwrap();
        assert_eq!((head.count, head.hash.len()), (1, 64));
        consistent(&run);
    }
}

#[test]
fn a_deadline_is_written_as_the_store_writes_times_g5() {
    for (style, text) in [
        (Style::AppendOnly, "2026-01-25 14:30:00"),
        (Style::InPlace, "2026-01-25 14:30:00"),
        (Style::Files, "2026-01-25T14:30:00Z"),
    ] {
        let run = run_with_gate(style);
        let gate = run.changes.iter().find_map(|change| match change {
            Change::Gate(gate) => Some(gate),
            _ => None,
        });
        assert_eq!(gate.unwrap().timeout_at.as_deref(), Some(text));
    }
}

#[test]
fn what_makes_no_gate_is_said_and_changes_nothing() {
    type Spoil = fn(&mut CreateGate);
    let cases: [(Spoil, &str); 9] = [
        (|gate| gate.id = Some("../x".into()), "'/' is not allowed"),
        (
            |gate| gate.id = Some("deploy#2".into()),
            "'#' is not allowed",
        ),
        (
            |gate| gate.prompt = Some("  ".into()),
            "no prompt for its approver",
        ),
        (|gate| gate.timeout = Some("30m2h".into()), "in the order"),
        (|gate| gate.timeout = Some("9000000d".into()), "year"),
        (
            |gate| gate.allow = Some(vec![" ".into()]),
            "the name is empty",
        ),
        (|gate| gate.allow = Some(vec!["system".into()]), "reserved"),
        (|gate| gate.parent = Some(7), "no execution 7"),
        (|gate| gate.on_reject = Some("x".repeat(40_000)), "40000"),
    ];
    for (spoil, expected) in cases {
        let mut run = Memory::new(Style::AppendOnly);
        let mut gate = deploy();
        spoil(&mut gate);
        let error = run.at(NOON, &gate).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(run.gates.is_empty() && run.executions.is_empty() && run.audit.is_empty());
    }
}

#[test]
fn a_gate_met_again_is_another_one_g1() {
    for style in STYLES {
        let mut run = run_with_gate(style);
        let twice = run.at(NOON, &deploy()).unwrap_err();
        assert_eq!(rule(&twice), "gate-waits");
        // The command is refused even with force, because two rows of one gate in one place could not be told apart.
        let force = CreateGate {
            insist: Insist {
                force: true,
                ..Insist::default()
            },
            ..deploy()
        };
        let twice = run.at(NOON, &force).unwrap_err();
        assert_eq!(rule(&twice), "gate-pending");
        run.at(NOON, &approve("deploy", "raymond")).unwrap();
        let second = run.at("2026-01-25 12:05:00", &deploy()).unwrap();
        assert_eq!((second.gate.as_str(), second.visit), ("deploy#2", 2));
        let said: Value = serde_json::from_str(run.gates[1].metadata.as_deref().unwrap()).unwrap();
        assert_eq!(said, json!({ "gate": "deploy", "visit": 2 }));
        // Each visit of a gate has its own decision.
        let no = reject("deploy#2", "raymond");
        run.at("2026-01-25 12:06:00", &no).unwrap();
        assert_eq!(node_word(&run, "deploy"), "approved");
        assert_eq!(node_word(&run, "deploy#2"), "rejected");
        let third = run.at("2026-01-25 12:07:00", &deploy()).unwrap();
        assert_eq!(third.gate, "deploy#3");
        let error = run.at(NOON, &approve("deploy", "raymond")).unwrap_err();
        assert_eq!(rule(&error), "gate-not-pending");
        assert_eq!(
            error.hint(),
            "the program reached the gate again: decide gate deploy#3 instead"
        );
        consistent(&run);
    }
}

#[test]
fn a_decision_is_one_transaction_with_the_log_first_g7() {
    for style in STYLES {
        let mut run = run_with_gate(style);
        let done = run.at("2026-01-25 12:14:07", &approve("deploy", "raymond"));
        let ResolveResult::Decided(done) = done.unwrap() else {
            panic!("it was in time");
        };
        assert_eq!(
            (done.status.as_str(), done.waited_ms),
            ("approved", Some(847_000))
        );
        assert_eq!(done.on_reject, None);
        // In a database, the waiting row is marked as no longer waiting.
        let rows: &[&str] = match style {
            Style::InPlace => &["update"],
            Style::AppendOnly => &["update", "execution"],
            Style::Files => &["execution"],
        };
        let expected = [&["audit", "resolve"], rows, &["run"]].concat();
        assert_eq!(changes(&run), expected);
        let said = last_metadata(&run);
        for (key, value) in [
            ("client", json!("cli")),
            ("os_user", json!("ray")),
            ("approval_time_seconds", json!(847)),
            ("previous_status", json!("pending")),
        ] {
            assert_eq!(said[key], value, "{key}");
        }
        assert_eq!(run.audit[1].comment.as_deref(), Some("LGTM"));
        assert_eq!(done.head.unwrap().count, 2);
        // OpenProse never completes the waiting row, but Prosescope does.
        assert_eq!(run.executions.last().unwrap().status, Status::Completed);
        assert_eq!(node_word(&run, "deploy"), "approved");
        consistent(&run);
    }
}

#[test]
fn a_rejection_names_what_the_program_does_then() {
    let mut run = run_with_gate(Style::AppendOnly);
    let mut silent = reject("deploy", "raymond");
    silent.decision = Decision::Reject { reason: " ".into() };
    let error = run.at(NOON, &silent).unwrap_err();
    assert!(error.to_string().contains("needs a reason"), "{error}");
    let mut command = reject("deploy", "lee");
    command.on_behalf_of = Some("ops-team".into());
    let ResolveResult::Decided(done) = run.at(NOON, &command).unwrap() else {
        panic!("it was in time");
    };
    assert_eq!(done.on_reject.as_deref(), Some("throw \"no\""));
    let said = last_metadata(&run);
    assert_eq!(said["on_reject"], "throw \"no\"");
    assert_eq!(said["on_behalf_of"], "ops-team");
    let gate = &run.gates[0];
    assert_eq!(gate.comment.as_deref(), Some("not yet"));
    let metadata = gate.metadata.as_deref();
    assert_eq!(metadata, Some(r#"{"on_behalf_of":"ops-team"}"#));
}

#[test]
fn who_may_not_decide_changes_nothing_g4() {
    for (allow, by, acting_for, expected) in [
        (&["ops-team"][..], "raymond", None, "gate-not-allowed"),
        (&["ops-team"], "user", None, "gate-not-allowed"),
        (&["ops-team"], "raymond", Some("dev"), "gate-not-allowed"),
        (&[], "user", None, "gate-not-allowed"),
        (&["user"], "system", None, "principal-reserved"),
        (&["user"], "raymond", Some("system"), "principal-reserved"),
    ] {
        let mut run = Memory::new(Style::AppendOnly);
        let names = allow.iter().map(|name| (*name).to_owned()).collect();
        let allow = Some(names);
        run.at(NOON, &CreateGate { allow, ..deploy() }).unwrap();
        let before = (run.gates.clone(), run.audit.clone(), run.executions.clone());
        let mut command = approve("deploy", by);
        command.on_behalf_of = acting_for.map(str::to_owned);
        assert_eq!(rule(&run.at(NOON, &command).unwrap_err()), expected);
        assert_eq!(
            before,
            (run.gates.clone(), run.audit.clone(), run.executions.clone()),
            "{by}"
        );
    }
    for by in ["", " ", "a\u{1b}[2J", &"x".repeat(201)] {
        let mut run = run_with_gate(Style::AppendOnly);
        let error = run.at(NOON, &approve("deploy", by)).unwrap_err();
        assert!(matches!(error, WriteError::Wrong { .. }), "{error:?}");
    }
    let mut run = run_with_gate(Style::AppendOnly);
    run.gates[0].allow = Some("ops-team".into());
    // A gate that no longer agrees with its sealed rows is refused as changed.
    let error = run.at(NOON, &approve("deploy", "raymond")).unwrap_err();
    assert_eq!(rule(&error), "gate-changed");
    // Without sealed rows, the gate counts as a gate of another tool, and its unreadable `allow` list is the reason of
    // the refusal.
    run.audit.clear();
    run.gates[0].execution_id = None;
    let error = run.at(NOON, &approve("deploy", "raymond")).unwrap_err();
    assert_eq!(rule(&error), "gate-allow-unreadable");
}

#[test]
fn a_gate_is_decided_once_g3_g10() {
    let decisions: [fn(&str, &str) -> ResolveGate; 2] = [approve, reject];
    for first in decisions {
        for second in decisions {
            let mut run = run_with_gate(Style::AppendOnly);
            run.at(NOON, &first("deploy", "raymond")).unwrap();
            let before = (run.gates.clone(), run.audit.clone());
            let error = run.at(NOON, &second("deploy", "raymond")).unwrap_err();
            assert_eq!(rule(&error), "gate-not-pending");
            assert!(error.to_string().contains("by raymond (as claimed)"));
            assert_eq!(before, (run.gates.clone(), run.audit.clone()));
        }
    }
    let mut run = run_with_gate(Style::AppendOnly);
    let error = run.at(NOON, &approve("depoly", "raymond")).unwrap_err();
    assert!(matches!(error, WriteError::NotFound { .. }));
}

#[test]
fn past_its_deadline_a_gate_is_not_decided_g3() {
    for style in STYLES {
        let mut run = run_with_gate(style);
        // A gate is not expired at the deadline itself.
        let mut in_time = run.clone();
        let yes = approve("deploy", "raymond");
        in_time.at("2026-01-25 14:30:00", &yes).unwrap();
        assert_eq!(in_time.gates[0].status, GateStatus::Approved);

        // A refused decision leaves no trace in the run.
        let late = run.at("2026-01-25 14:30:01", &approve("deploy", "raymond"));
        let error = late.unwrap_err();
        assert_eq!(rule(&error), "gate-past-deadline");
        assert!(error.hint().contains("throw \"no\""), "{}", error.hint());
        assert_eq!(events(&run), [("created", "system")]);
        assert_eq!(run.gates[0].status, GateStatus::Pending);

        // On request, the time-out is recorded for any principal, even one who is not admitted.
        let mut asked = approve("deploy", "mallory");
        asked.record_timeout = true;
        let late = run.at("2026-01-25 14:30:01", &asked);
        let ResolveResult::TooLate(out) = late.unwrap() else {
            panic!("it was late");
        };
        assert_eq!(out.on_reject.as_deref(), Some("throw \"no\""));
        assert_eq!(events(&run), [("created", "system"), ("timeout", "system")]);
        let gate = &run.gates[0];
        assert_eq!(gate.status, GateStatus::Timeout);
        assert_eq!(gate.resolved_by.as_deref(), Some("system"));
        let said = last_metadata(&run);
        assert_eq!(said["timeout_at"], "2026-01-25T14:30:00Z");
        assert_eq!(said["on_reject"], "throw \"no\"");
        assert_eq!(run.executions.last().unwrap().status, Status::Completed);
        assert_eq!(node_word(&run, "deploy"), "timeout");
        let again = run.at("2026-01-25 14:31:00", &yes).unwrap_err();
        assert_eq!(rule(&again), "gate-not-pending");
        consistent(&run);
    }
}

#[test]
fn all_due_gates_time_out_at_once_and_once_g6_g9() {
    for style in STYLES {
        let mut run = Memory::new(style);
        let gates = [
            ("a", Some("1h"), "timeout"),
            ("b", None, "pending"),
            ("c", Some("30m"), "timeout"),
            ("d", Some("7d"), "pending"),
        ];
        for (id, timeout, _) in gates {
            let gate = CreateGate {
                id: Some(id.into()),
                timeout: timeout.map(str::to_owned),
                insist: Insist {
                    force: true,
                    ..Insist::default()
                },
                ..deploy()
            };
            run.at(NOON, &gate).unwrap();
        }
        let early = run.at(NOON, &ExpireGates::default()).unwrap();
        assert_eq!((early.len(), run.changes.len()), (0, 0));
        let done = run
            .at("2026-01-25 13:00:01", &ExpireGates::default())
            .unwrap();
        let names: Vec<&str> = done.iter().map(|out| out.gate.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        assert_eq!(done[1].head.as_ref().unwrap().count, 6);
        for (id, _, word) in gates {
            assert_eq!(node_word(&run, id), word, "{id}");
        }
        let again = run
            .at("2026-01-25 13:00:02", &ExpireGates::default())
            .unwrap();
        assert_eq!((again.len(), run.changes.len()), (0, 0));
        consistent(&run);
    }
}

/// Whatever texts are recorded, a database and a folder return the hashed bytes unchanged (errata B9, P10).
#[test]
fn whatever_is_said_the_log_holds_together_in_every_form() {
    for style in STYLES {
        for said in [
            "it's \"fine\"\n$(rm -rf ~)\t`x` \\ C:\\temp\\new",
            "größe 🎉 \u{202e}\u{7f}\u{1b}[2J\u{0}",
            "{\"chain\":{\"seq\":9}}",
            &"x".repeat(32_000),
        ] {
            let mut run = Memory::new(style);
            let gate = CreateGate {
                prompt: Some(said.into()),
                on_reject: Some(said.into()),
                allow: Some(vec!["o'brien \"é\"".into()]),
                ..deploy()
            };
            run.at(NOON, &gate).unwrap();
            let mut command = reject("deploy", "o'brien \"é\"");
            command.decision = Decision::Reject {
                reason: said.into(),
            };
            run.at(NOON, &command).unwrap();
            assert_eq!(run.audit[1].comment.as_deref(), Some(said));
            assert_eq!(last_metadata(&run)["on_reject"], said);
            consistent(&run);
        }
    }
}

#[test]
fn looking_is_logged_and_touches_nothing_else() {
    let mut run = run_with_gate(Style::AppendOnly);
    let look = ViewGate {
        gate: "deploy".into(),
        by: "user".into(),
    };
    run.at(NOON, &look).unwrap();
    assert_eq!(changes(&run), ["audit"]);
    assert_eq!(events(&run)[1], ("viewed", "user"));
    consistent(&run);
}

#[test]
fn going_on_is_logged_at_the_gates_where_the_run_stands() {
    let rest = Finish {
        status: Some(RunStatus::Interrupted),
        ..Finish::default()
    };
    for style in STYLES {
        let mut pending = run_with_gate(style);
        pending.at(NOON, &rest).unwrap();
        let done = pending.at(NOON, &Reopen).unwrap();
        assert_eq!(done, ["deploy"]);
        let said = last_metadata(&pending);
        assert_eq!(said["resume_source"], "cli");
        assert_eq!(said["previous_status"], "pending");
        consistent(&pending);

        let mut decided = run_with_gate(style);
        decided.at(NOON, &rest).unwrap();
        decided.at(NOON, &approve("deploy", "raymond")).unwrap();
        assert_eq!(decided.status, Some(RunStatus::Interrupted));
        let done = decided.at(NOON, &Reopen).unwrap();
        assert_eq!(done, ["deploy"]);
        assert_eq!(last_metadata(&decided)["previous_status"], "approved");

        let mut past = run_with_gate(style);
        past.at(NOON, &approve("deploy", "raymond")).unwrap();
        let statement = StatementRef {
            text: Some("session \"x\"".into()),
            line: None,
        };
        let begin = Begin {
            statement,
            ..Begin::default()
        };
        past.at(NOON, &begin).unwrap();
        let done = past.at(NOON, &Reopen).unwrap();
        assert_eq!(done, [] as [String; 0]);
    }
}

/// The execution that a gate of another tool refers to is closed only if it waits at that gate.
#[test]
fn a_gate_of_another_tool_closes_no_foreign_row() {
    for (text, status, closed) in [
        ("session \"x\"", Status::Executing, false),
        ("session \"x\"", Status::Completed, false),
        ("approve deploy:", Status::Executing, true),
        ("(shortened)", Status::Pending, true),
    ] {
        let mut run = Memory::new(Style::AppendOnly);
        run.executions.push(Execution {
            index: Some(1),
            text: text.into(),
            ..Execution::new(1, status)
        });
        run.gates.push(Gate {
            id: "deploy".into(),
            recorded: GateRecord::Own,
            run_id: Some(RUN.into()),
            execution_id: Some(1),
            source_execution_id: None,
            prompt: None,
            allow: None,
            timeout: None,
            timeout_at: None,
            on_reject: None,
            status: GateStatus::Pending,
            created: None,
            resolved: None,
            resolved_by: None,
            comment: None,
            metadata: None,
        });
        run.at(NOON, &approve("deploy", "anybody")).unwrap();
        assert_eq!(run.executions.len() == 2, closed, "{text}");
    }
}
