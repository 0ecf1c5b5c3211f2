//! Tests with runs of any shape: planning how to continue never panics, and its cost is linear in the run.

use std::path::Path;
use std::sync::Arc;

use prosescope_core::model::{Execution, Meta, Run, RunStatus, Status};
use prosescope_core::pages::resume::{Need, ResumeFacts, ResumePlan, plan};
use prosescope_core::pages::session::pages;
use prosescope_core::pages::view::NeedState;
use prosescope_core::program::{Listing, scan};
use prosescope_core::trace::fold;
use prosescope_test_support::needs;
use serde_json::Value;

use crate::make::{NOW, database, folder};

fn planned(run: &Run, program: &str) -> (ResumePlan, usize) {
    let listing: Listing = scan(program);
    let trace = fold(run, Some(&listing), None);
    let facts = ResumeFacts {
        run,
        trace: &trace,
        listing: Some(&listing),
    };
    (plan(facts), trace.positions.len())
}

fn row(id: i64, parent: Option<i64>, text: &str, status: &str, meta: Option<Meta>) -> Execution {
    Execution {
        id,
        parent,
        index: None,
        text: text.into(),
        status: Status::parse(status),
        meta: meta.map(Arc::new),
        error: None,
        started: None,
        completed: None,
    }
}

fn running(executions: Vec<Execution>) -> Run {
    Run {
        status: Some(RunStatus::Running),
        executions,
        ..Run::default()
    }
}

/// For every golden case of the trace, the resume plan has the same positions as the trace.
#[test]
fn a_plan_stands_where_the_trace_does() {
    for fixture in [
        include_str!("../fixtures/trace.json"),
        include_str!("../fixtures/trace-more.json"),
    ] {
        let file: Value = serde_json::from_str(fixture).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let rows = case["rows"].as_array().unwrap();
            let meta = |value: &Value| -> Option<Meta> {
                let text = |key: &str| value[key].as_str().map(Arc::from);
                value.as_object().filter(|m| !m.is_empty())?;
                Some(Meta {
                    parallel_id: text("parallel_id"),
                    branch: text("branch"),
                    loop_id: text("loop_id"),
                    iteration: value["iteration"].as_i64(),
                    max: value["max"].as_i64(),
                    gate_id: text("gate_id"),
                    block: text("block"),
                    ..Meta::default()
                })
            };
            let executions = rows
                .iter()
                .map(|r| {
                    let text = r[3].as_str().unwrap_or_default();
                    let status = r[4].as_str().unwrap_or_default();
                    let mut made = row(
                        r[0].as_i64().unwrap(),
                        r[1].as_i64(),
                        text,
                        status,
                        meta(&r[5]),
                    );
                    made.index = r[2].as_i64();
                    made
                })
                .collect();
            let run = Run {
                status: case["run_status"].as_str().map(RunStatus::parse),
                ..running(executions)
            };
            let (plan, positions) = planned(&run, case["program"].as_str().unwrap_or_default());
            let name = &case["name"];
            match run.status {
                Some(RunStatus::Completed) => assert_eq!(plan, ResumePlan::default(), "{name}"),
                Some(RunStatus::Failed) => assert!(plan.positions.len() <= 1, "{name}"),
                // If nothing was recorded, the plan has no position: even the beginning is uncertain.
                None if run.executions.is_empty() => assert_eq!(plan.positions.len(), 0, "{name}"),
                _ => assert_eq!(plan.positions.len(), positions.max(1), "{name}"),
            }
        }
    }
}

#[test]
fn a_recursion_of_100_000_frames_is_planned_from_both_ends() {
    const DEEP: i64 = 100_000;
    let frame = || Meta {
        block: Some("dig".into()),
        ..Meta::default()
    };
    let mut rows: Vec<Execution> = (1..=DEEP)
        .map(|id| {
            let parent = (id > 1).then_some(id - 1);
            let text = if id > 1 { "do dig(x)" } else { "do dig(data)" };
            row(id, parent, text, "executing", Some(frame()))
        })
        .collect();
    rows.push(row(
        DEEP + 1,
        Some(DEEP),
        "session \"Work\"",
        "executing",
        None,
    ));
    let program = "block dig(x):\n  session \"Work\"\n  do dig(x)\n  session \"Fill\"\n    context: hole\ndo dig(data)\nsession \"End\"\n  context: top\n";
    let (plan, _) = planned(&running(rows), program);
    assert_eq!(plan.positions.len(), 1);
    assert!(plan.ahead.len() < 1_000, "{}", plan.ahead.len());
    // The plan also lists what follows at the root, after all frames: the last session needs `top`.
    assert!(plan.needs.iter().any(|n| n.name == "top"));
    assert!(
        plan.notes.iter().any(|n| n.contains("frames between")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn many_positions_and_a_long_program_are_planned_too() {
    let rows = (1..=20_000)
        .map(|id| row(id, None, &format!("session \"S{id}\""), "executing", None))
        .collect();
    let program: String = (1..=20_000)
        .map(|n| format!("session \"S{n}\"\n  context: v{n}\n"))
        .collect();
    let (plan, positions) = planned(&running(rows), &program);
    assert_eq!(plan.positions.len(), positions);
    assert!(plan.ahead.len() <= 4_000 && plan.needs.len() <= 4_000);
}

/// Before a run, every name that a program uses must have a source: a statement, a caller, or an enclosing construct.
#[test]
fn programs_use_what_something_makes() {
    let (programs, names, odd) = used(&needs::fixtures("programs"));
    assert!(programs > 4 && names > 15, "{programs}, {names}");
    assert_eq!(odd, [] as [String; 0]);
}

#[test]
fn real_programs_use_what_something_makes() {
    let Some(corpus) = needs::shared("corpus/programs") else {
        return;
    };
    let (programs, names, odd) = used(&corpus);
    assert!(
        programs > 100 && names > 500,
        "{programs} programs, {names} names"
    );
    assert!(odd.len() * 50 <= programs, "{odd:#?}");
}

/// Returns the number of programs in a folder, the number of names they use, and the names without a source.
fn used(dir: &Path) -> (usize, usize, Vec<String>) {
    let mut files = Vec::new();
    folder(dir, "", &mut files);
    let (mut programs, mut names, mut odd) = (0, 0, Vec::new());
    for (path, bytes) in files {
        if !path.ends_with(".prose") {
            continue;
        }
        let (plan, _) = planned(&running(Vec::new()), &String::from_utf8_lossy(&bytes));
        programs += 1;
        names += plan.needs.len();
        let nowhere =
            |n: &&Need| n.sure && n.from.state == NeedState::Nowhere && n.from.line.is_none();
        let found: Vec<&str> = plan
            .needs
            .iter()
            .filter(nowhere)
            .map(|n| n.name.as_str())
            .collect();
        if !found.is_empty() {
            odd.push(format!("{path}: {}", found.join(", ")));
        }
    }
    (programs, names, odd)
}

#[test]
fn of_very_many_gates_the_first_are_listed_and_the_rest_is_said() {
    let gates = |many: u32| {
        let sql = format!(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {many})
             INSERT INTO gates (id, run_id) SELECT 'g' || i, 'r1' FROM n"
        );
        pages::resume(&database("session \"A\"\n", "running", &sql), Some(NOW))
    };
    let all = gates(200);
    assert_eq!(all.gates.len(), 200);
    let said = |note: &String| note.contains("gates wait for a decision");
    assert!(!all.notes.iter().any(said), "{:?}", all.notes);
    let some = gates(250);
    assert_eq!(some.gates.len(), 200);
    assert!(
        some.notes
            .iter()
            .any(|note| said(note) && note.contains("250")),
        "{:?}",
        some.notes
    );
}
