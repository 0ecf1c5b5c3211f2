//! Generates runs of random rows, such as no real program would record.

use std::sync::Arc;

use prosescope_core::model::{Meta, Program, Run, RunStatus, Status};
use prosescope_damage::Dice;

use crate::make::{gate_of, made};
use crate::runs::{NOW, folded};
use crate::text::Dumped;

const RUNS: u64 = 100;

const TEXTS: [&str; 10] = [
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
];

const WORDS: [&str; 13] = [
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

const PROGRAM: &str = "parallel:\n  a = session \"x\"\nloop:\n  try:\n    do work()\n  catch:\n    session \"x\"\napprove g:\n";

pub(crate) fn rows() -> Vec<Dumped> {
    (0..RUNS).map(run).collect()
}

fn run(seed: u64) -> Dumped {
    let mut dice = Dice::new(0xc4a0_0000 + seed);
    let mut id = 0;
    let executions = (0..dice.throw(40)).map(|_| {
        id += 1 + dice.throw(2) as i64;
        let parent = (dice.throw(2) == 0).then(|| dice.throw(60) as i64);
        let index = dice.throw(6) as i64;
        let text = *dice.pick(&TEXTS);
        let word = *dice.pick(&WORDS);
        let status = Status::parse(word);
        let meta = meta(&mut dice);
        made(id, parent, index, text, status, &meta)
    });
    let executions = executions.collect();
    let gates = (0..dice.throw(3)).map(|_| {
        let id = *dice.pick(&["g", "g#2", "h"]);
        let status = *dice.pick(&["pending", "approved", "rejected", "timeout", "odd"]);
        let at = dice.throw(60);
        gate_of(&serde_json::json!({ "id": id, "execution_id": at, "status": status }))
    });
    let run = Run {
        gates: gates.collect(),
        executions,
        status: match *dice.pick(&["", "running", "completed", "failed", "waiting", "odd"]) {
            "" => None,
            word => Some(RunStatus::parse(word)),
        },
        program: Program {
            source: (dice.throw(2) == 0).then(|| PROGRAM.into()),
            ..Program::default()
        },
        ..Run::default()
    };
    folded(&format!("chance {seed}"), &run, Some(NOW))
}

fn meta(dice: &mut Dice) -> Option<Arc<Meta>> {
    if dice.throw(3) == 0 {
        return None;
    }
    let mut word =
        |of: usize, words: &[&str]| (dice.throw(of) == 0).then(|| Arc::from(*dice.pick(words)));
    let parallel_id = word(3, &["p1", "p2"]);
    let branch = word(3, &["a", "b", "c"]);
    let loop_id = word(3, &["l1", "l2"]);
    let gate_id = word(6, &["g", "g#2", "h"]);
    let block = word(4, &["work", "dig"]);
    let mut number = |most: usize| (dice.throw(2) == 0).then(|| dice.throw(most) as i64 - 1);
    Some(Arc::new(Meta {
        parallel_id,
        branch,
        loop_id,
        gate_id,
        block,
        branches: vec!["a".into(), "b".into()],
        iteration: number(6),
        attempt: number(5),
        max: number(5),
        in_place: dice.throw(3) == 0,
        ..Meta::default()
    }))
}
