//! Tests with random rows, gates and run statuses. `PROPTEST_CASES` sets the number of cases.

use std::sync::Arc;

use proptest::prelude::*;
use prosescope_core::model::{Execution, Gate, Meta, Run, RunStatus, Status};
use prosescope_core::pages::resume::{ResumeFacts, plan};
use prosescope_core::program::scan;
use prosescope_core::trace::scope::resolve;
use prosescope_core::trace::{NodeStatus, fold};

use crate::make::{gate_of, made};
use crate::sound::sound;

fn any_meta() -> impl Strategy<Value = Option<Arc<Meta>>> {
    let name = |names: &'static [&'static str]| {
        prop::option::weighted(0.5, prop::sample::select(names).prop_map(Arc::<str>::from))
    };
    let ids = (
        name(&["p1", "p2"]),
        name(&["a", "b", "c"]),
        name(&["l1", "l2"]),
        prop::option::weighted(
            0.2,
            prop::sample::select(&["g", "g#2", "h"][..]).prop_map(Arc::<str>::from),
        ),
        name(&["work", "dig"]),
    );
    let numbers = (
        prop::option::of(-1..6i64),
        prop::option::of(-1..4i64),
        prop::option::of(prop_oneof![0..4i64, Just(i64::MAX)]),
        any::<bool>(),
    );
    let meta = (ids, numbers).prop_map(
        |(
            (parallel_id, branch, loop_id, gate_id, block),
            (iteration, attempt, depth, in_place),
        )| {
            Arc::new(Meta {
                branches: vec!["a".into(), "b".into()],
                strategy: block.clone().map(|_| "first".into()),
                max: attempt,
                parallel_id,
                branch,
                loop_id,
                gate_id,
                block,
                iteration,
                attempt,
                depth,
                in_place,
                ..Meta::default()
            })
        },
    );
    prop::option::weighted(0.7, meta)
}

fn any_rows() -> impl Strategy<Value = Vec<Execution>> {
    const TEXTS: &[&str] = &[
        "session \"x\"",
        "parallel:",
        "parallel:a",
        "a = session",
        "loop",
        "do work()",
        "approve g:",
        "try:",
        "catch:",
        "",
        "let r = do dig(x)",
        "parallel (\"first\"):",
    ];
    const WORDS: &[&str] = &[
        "pending",
        "executing",
        "completed",
        "failed",
        "skipped",
        "started",
        "joined",
        "iteration",
        "exited",
        "retry",
        "waiting",
        "odd",
        "",
    ];
    let row = (
        1..3i64,
        prop::option::of(prop_oneof![0..60i64, Just(-1)]),
        prop::option::weighted(0.9, 1..6i64),
        prop::sample::select(TEXTS),
        prop::sample::select(WORDS),
        any_meta(),
    );
    prop::collection::vec(row, 0..60).prop_map(|rows| {
        let mut id = 0;
        rows.into_iter()
            .map(|(step, parent, index, text, status, meta)| {
                // Some rows get the same id, because tables without a key allow that.
                id += step - i64::from(step == 2 && parent == Some(-1)) * 2;
                Execution {
                    index,
                    ..made(id, parent, 0, text, Status::parse(status), &meta)
                }
            })
            .collect()
    })
}

fn any_gates() -> impl Strategy<Value = Vec<Gate>> {
    let gate = (
        prop::sample::select(&["g", "g#2", "h", "#"][..]),
        prop::option::of(0..60i64),
        prop::sample::select(&["pending", "approved", "rejected", "timeout", "odd"][..]),
    );
    prop::collection::vec(gate, 0..4).prop_map(|gates| {
        gates
            .into_iter()
            .map(|(id, at, status)| {
                gate_of(&serde_json::json!({ "id": id, "execution_id": at, "status": status }))
            })
            .collect()
    })
}

const PROGRAM: &str = "parallel:\n  a = session \"x\"\nloop:\n  try:\n    do work()\n  catch:\n    session \"x\"\n\
                       approve g:\nlet r = do dig(x)\n";

proptest! {
    #[test]
    fn no_rows_break_the_fold(
        executions in any_rows(),
        gates in any_gates(),
        status in prop::option::of(prop::sample::select(&["running", "completed", "failed", "waiting", "odd"][..])),
        known in any::<bool>(),
    ) {
        let run = Run {
            status: status.map(RunStatus::parse),
            executions,
            gates,
            ..Run::default()
        };
        let program = known.then(|| scan(PROGRAM));
        let trace = fold(&run, program.as_ref(), Some(1_768_487_452_000));
        let mut wrong = Vec::new();
        sound(&run, &trace, &mut wrong);
        prop_assert!(wrong.is_empty(), "{wrong:?}");
        if let Some(cause) = trace.first_cause {
            let word = trace.nodes[cause].status.word();
            prop_assert!(matches!(word, "failed" | "rejected" | "timeout"), "{word}");
            prop_assert!(!trace.nodes[cause].recovered);
            prop_assert!(!trace.because_of.contains(&cause));
        }
        let plan = plan(ResumeFacts { run: &run, trace: &trace, listing: program.as_ref() });
        prop_assert!(plan.positions.len() <= trace.positions.len().max(1), "{plan:?}");
        for (i, at) in trace.positions.iter().enumerate() {
            let node = &trace.nodes[*at];
            prop_assert!(node.status.is_open(), "{node:?}");
            let behind = trace.end(*at);
            prop_assert!(trace.positions.get(i + 1).is_none_or(|next| *next >= behind));
        }
        if matches!(trace.verdict.status.as_str(), "completed" | "failed") {
            prop_assert!(trace.positions.is_empty());
            for node in &trace.nodes {
                let kept = matches!(node.status, NodeStatus::Other(_)) || node.id.is_none();
                prop_assert!(kept || !node.status.is_open(), "{node:?}");
            }
        }
        // Name resolution follows the frames of each execution to the root, and must come to an end.
        for row in &run.executions {
            let found = resolve(&run, &trace, "x", Some(row.id));
            let mut chain = found.chain.clone();
            chain.sort_unstable();
            chain.dedup();
            prop_assert!(chain.len() <= run.executions.len());
        }
    }
}
