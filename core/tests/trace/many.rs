//! Tests with a hundred thousand rows, gates and bindings, and with hostile rows.

use std::sync::Arc;

use prosescope_core::model::{Meta, RunStatus, Status};
use prosescope_core::trace::{NodeId, NodeKind};

use crate::make::{made, running};
use crate::sound::folded;

const MANY: i64 = 100_000;

#[test]
fn frames_100_000_deep_cost_no_stack() {
    let rows = (1..=MANY)
        .map(|id| {
            let parent = (id > 1).then(|| id - 1);
            made(id, parent, 1, "do deeper()", Status::Executing, &None)
        })
        .collect();
    let mut run = running(rows);
    let trace = folded(&run);
    assert_eq!(trace.positions, [NodeId::new(MANY as u32 - 1)]);
    let deepest = trace.nodes.last().expect("there are nodes");
    assert_eq!(deepest.level as i64, MANY - 1);
    assert!(matches!(deepest.kind, NodeKind::Frame { depth, .. } if i64::from(depth) == MANY));

    // Records the same nested rows as failed, from the innermost outward.
    for id in (1..=MANY).rev() {
        let parent = (id > 1).then(|| id - 1);
        let row = run.executions.len() as i64 + 1;
        run.executions
            .push(made(row, parent, 1, "do deeper()", Status::Failed, &None));
    }
    run.status = Some(RunStatus::Failed);
    let trace = folded(&run);
    assert_eq!(trace.first_cause, Some(NodeId::new(MANY as u32 - 1)));
    assert_eq!(trace.because_of.len() as i64, MANY - 1);
    assert_eq!(
        trace.because_of.first(),
        Some(&NodeId::new(MANY as u32 - 2))
    );
}

#[test]
fn a_loop_of_100_000_rounds_is_one_loop() {
    let meta = Some(Arc::new(Meta {
        loop_id: Some("l1".into()),
        ..Meta::default()
    }));
    let mut rows = vec![made(1, None, 1, "loop", Status::Started, &meta)];
    for n in 1..=MANY {
        rows.push(made(2 * n, None, 2, "session", Status::Completed, &None));
        rows.push(made(2 * n + 1, None, 1, "loop", Status::Iteration, &meta));
    }
    let trace = folded(&running(rows));
    assert_eq!(trace.nodes.len() as i64, 1 + 2 * MANY);
    assert_eq!(trace.nodes[NodeId::new(0)].aliases.len() as i64, MANY);
    let last = &trace.nodes.raw[trace.nodes.len() - 2];
    assert_eq!(last.kind, NodeKind::Round { n: MANY as u32 });
    assert_eq!(trace.positions, [NodeId::new(0)]);
}

#[test]
fn hostile_rows_are_folded_as_well() {
    let loop_of = |id: &str, iteration: i64| {
        Some(Arc::new(Meta {
            loop_id: Some(id.into()),
            iteration: Some(iteration),
            in_place: true,
            ..Meta::default()
        }))
    };
    // Two rows record a loop in its round 4,294,967,295.
    let endless = loop_of("a", i64::from(u32::MAX));
    let trace = folded(&running(vec![
        made(1, None, 1, "loop", Status::Executing, &endless),
        made(2, Some(1), 2, "session", Status::Executing, &None),
    ]));
    assert!(trace.nodes.len() < 20_000, "{}", trace.nodes.len());
    assert_eq!(trace.issues[0].rule, "rounds-not-listed");
    let round = trace.nodes[trace.positions[0]].parent.expect("in a round");
    assert_eq!(trace.nodes[round].kind, NodeKind::Round { n: u32::MAX });

    // Each of these rows has a parent that does not exist. The trace reports a thousand such rows one by one, and only
    // counts further rows.
    let orphans = (1..=MANY)
        .map(|id| made(id, Some(id + MANY), 1, "x", Status::Completed, &None))
        .collect();
    let trace = folded(&running(orphans));
    assert_eq!(trace.issues.len(), 1_001);
    assert_eq!(trace.issues[1_000].message, "and 99000 more of the same");

    // The next runs are: one cycle of all rows, loops without an end, a parallel block that begins again and again.
    let circle = (1..=MANY)
        .map(|id| {
            made(
                id,
                Some(id % MANY + 1),
                1,
                "do x()",
                Status::Executing,
                &None,
            )
        })
        .collect();
    let trace = folded(&running(circle));
    assert_eq!(trace.nodes[NodeId::new(0)].id, Some(1));
    assert_eq!(trace.issues.len(), 1);
    let open = (1..=MANY)
        .map(|id| {
            let meta = loop_of(&format!("l{id}"), 0);
            made(id, None, MANY - id, "loop", Status::Executing, &meta)
        })
        .collect();
    assert_eq!(folded(&running(open)).nodes.len() as i64, MANY);
    let many = Some(Arc::new(Meta {
        parallel_id: Some("p1".into()),
        branches: (0..50).map(|b| b.to_string().into()).collect(),
        ..Meta::default()
    }));
    let announced = (1..=MANY / 2)
        .map(|id| made(id, None, 1, "parallel:", Status::Completed, &many))
        .collect();
    let trace = folded(&running(announced));
    assert!(
        (trace.nodes.len() as i64) < 2 * MANY,
        "{}",
        trace.nodes.len()
    );
}
