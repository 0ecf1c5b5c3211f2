//! Tests of gates without a sealed creation, and of logs that lost rows (errata G7, docs/reference/audit.md).

use serde_json::{Value, json};

use super::Memory;
use super::gates::{NOON, approve, deploy, events, reject, rule, run_with_gate};
use crate::model::{Gate, GateStatus};
use crate::read::gate;
use crate::read::gate::audit::ChainState;
use crate::record::{
    CreateGate, ExpireGates, FaultKind, Insist, ResolveGate, Style, ViewGate, WriteError,
};

/// Returns a run whose log seals creations, with a second gate that has no sealed row, as OpenProse's own SQL creates
/// it.
fn inserted(style: Style) -> Memory {
    let mut run = run_with_gate(style);
    let mut gate = run.gates[0].clone();
    gate.id = "by-hand".into();
    gate.execution_id = None;
    run.gates.push(gate);
    run
}

#[test]
fn a_gate_without_a_sealed_creation_is_decided_by_override_only_g7() {
    for (style, decide) in [Style::AppendOnly, Style::InPlace]
        .into_iter()
        .flat_map(|style| [(style, approve as fn(&str, &str) -> _), (style, reject)])
    {
        let mut run = inserted(style);
        let before = (run.gates.clone(), run.audit.clone());
        let mut command: ResolveGate = decide("by-hand", "raymond");
        let error = run.at(NOON, &command).unwrap_err();
        assert_eq!(rule(&error), "gate-creation-unsealed");
        assert!(error.hint().contains("--override"), "{}", error.hint());
        assert_eq!(before, (run.gates.clone(), run.audit.clone()));
        command.overrides = true;
        run.at(NOON, &command).unwrap();
        let word = run.gates[1].status.word();
        let logged = [
            ("created", "system"),
            ("overridden", "raymond"),
            (word, "raymond"),
        ];
        assert_eq!(events(&run), logged);
        let row: Value = serde_json::from_str(run.audit[1].metadata.as_deref().unwrap()).unwrap();
        assert_eq!(row["overrides"], "gate-creation-unsealed");
        assert_eq!(row["allow"], json!(["ops-team", "raymond"]));
        assert!(row["prompt_hash"].is_string() && row["created_at"].is_string());
        assert_eq!(row["columns"]["timeout"], "2h30m");
        // The log is consistent and contains the override; later changes of the gate are detected.
        let report = gate::verify(&run.gates, &run.audit, None);
        assert_eq!(
            (report.state, report.notes.len()),
            (ChainState::Consistent, 1)
        );
        let said = &report.notes[0].message;
        assert!(said.contains("by override of “raymond” (row 2)"), "{said}");
        let edits: [fn(&mut Gate); 5] = [
            |gate| gate.allow = Some(r#"["eve"]"#.into()),
            |gate| gate.prompt = Some("Stay?".into()),
            |gate| gate.on_reject = None,
            |gate| gate.created = None,
            |gate| gate.status = GateStatus::Pending,
        ];
        for edit in edits {
            let mut gates = run.gates.clone();
            edit(&mut gates[1]);
            let report = gate::verify(&gates, &run.audit, None);
            assert_eq!(report.state, ChainState::Contradicted);
        }
    }
    // An override that is not needed is not recorded.
    let mut run = run_with_gate(Style::AppendOnly);
    let overrides = true;
    let command = ResolveGate {
        overrides,
        ..approve("deploy", "raymond")
    };
    run.at(NOON, &command).unwrap();
    assert_eq!(events(&run)[1..], [("approved", "raymond")]);
}

/// Removing the row of a creation does not allow deciding the gate by an override.
#[test]
fn a_gate_whose_creation_was_removed_is_not_decided_by_override_g7() {
    let unsealed = |run: &mut Memory| {
        let mut row: Value =
            serde_json::from_str(run.audit[1].metadata.as_deref().unwrap()).unwrap();
        row.as_object_mut().unwrap().remove("chain");
        run.audit[1].metadata = Some(row.to_string().into());
        run.audit[1].row_json = None;
    };
    type Edit<'a> = (&'a str, &'a dyn Fn(&mut Memory), &'a str);
    let edits: [Edit<'_>; 4] = [
        (
            "its execution names its place",
            &|run| drop(run.audit.remove(1)),
            "execution 2 names the sealed row at place 2",
        ),
        (
            "no execution, and rows behind it",
            &|run| {
                run.audit.remove(1);
                run.gates[1].execution_id = None;
            },
            "missing before it",
        ),
        ("the seal", &unsealed, "lost its seal"),
        (
            "the first creation too",
            &|run| {
                run.audit.drain(..2);
                run.gates[1].execution_id = None;
            },
            "missing before it",
        ),
    ];
    for (what, edit, why) in edits {
        let mut run = Memory::new(Style::AppendOnly);
        let insist = Insist {
            force: true,
            ..Insist::default()
        };
        for id in ["one", "two", "three"] {
            let id = Some(id.into());
            run.at(
                NOON,
                &CreateGate {
                    id,
                    insist,
                    ..deploy()
                },
            )
            .unwrap();
        }
        edit(&mut run);
        let before = (run.gates.clone(), run.audit.clone());
        for overrides in [false, true] {
            let command = ResolveGate {
                overrides,
                ..approve("two", "raymond")
            };
            let error = run.at(NOON, &command).unwrap_err();
            assert_eq!(rule(&error), "gate-changed", "{what}");
            assert!(error.to_string().contains(why), "{what}: {error}");
            assert_eq!(before, (run.gates.clone(), run.audit.clone()), "{what}");
        }
    }
    // No command starts a new chain in a log that lost all of its rows.
    let mut run = run_with_gate(Style::AppendOnly);
    run.audit.clear();
    let commands: [&dyn Fn(&mut Memory) -> WriteError; 4] = [
        &|run| run.at(NOON, &approve("deploy", "raymond")).unwrap_err(),
        &|run| run.at(NOON, &ExpireGates::default()).unwrap_err(),
        &|run| {
            let id = Some("more".into());
            let insist = Insist {
                force: true,
                ..Insist::default()
            };
            let create = CreateGate {
                id,
                insist,
                ..deploy()
            };
            run.at(NOON, &create).unwrap_err()
        },
        &|run| {
            let (gate, by) = ("deploy".into(), "lee".into());
            run.at(NOON, &ViewGate { gate, by }).unwrap_err()
        },
    ];
    for command in commands {
        let error = command(&mut run);
        assert!(
            matches!(&error, WriteError::Fault(fault) if fault.kind == FaultKind::Damaged),
            "{error:?}"
        );
        assert!(run.audit.is_empty(), "{error:?}");
    }
}
