use std::sync::Arc;

use super::winner as winner_alone;
use super::*;
use crate::model::{
    Binding, BindingKind, CallFrame, Execution, FolderForm, Form, Import, Meta, StateFile, Status,
    ValueAt,
};
use crate::trace::fold;

/// A row: id, parent, text.
type Row<'a> = (i64, Option<i64>, &'a str);

fn execution((id, parent, text): &Row<'_>) -> Execution {
    Execution {
        id: *id,
        index: Some(*id),
        text: (*text).into(),
        status: Status::Executing,
        parent: *parent,
        started: None,
        completed: None,
        error: None,
        meta: None,
    }
}

fn binding(name: &str, execution_id: Option<i64>) -> Binding {
    Binding {
        name: name.into(),
        execution_id,
        kind: BindingKind::Let,
        value: ValueAt::File {
            path: "x.md".into(),
            start: 0,
            len: 1,
        },
        source: None,
        created: None,
        updated: None,
        attachment: None,
        fields: Box::default(),
        tail_known: true,
        parent_execution_id: None,
        superseded: false,
    }
}

fn run(rows: &[Row<'_>], bindings: &[(&str, Option<i64>)]) -> Run {
    Run {
        executions: rows.iter().map(execution).collect(),
        bindings: bindings.iter().map(|(n, e)| binding(n, *e)).collect(),
        ..Run::default()
    }
}

fn ask(run: &Run, name: &str, from: Option<i64>) -> Resolution {
    let trace = fold(run, None, None);
    let found = resolve(run, &trace, name, from);
    assert_eq!(
        winner_alone(run, &trace, name, from),
        found.winner,
        "{name}"
    );
    found
}

/// Returns the winner's frame; `Err` if there is no winner.
fn winner(run: &Run, found: &Resolution) -> Result<Option<i64>, ()> {
    let at = found.winner.ok_or(())?;
    Ok(run.bindings[at].execution_id)
}

fn outcomes(found: &Resolution) -> Vec<(Option<i64>, Option<u32>, Outcome)> {
    found
        .candidates
        .iter()
        .map(|c| (c.execution_id, c.distance, c.outcome))
        .collect()
}

fn rules(found: &Resolution) -> Vec<&str> {
    found.issues.iter().map(|i| i.rule.as_str()).collect()
}

#[test]
fn b1_the_nearest_frame_wins_even_when_its_parent_has_the_higher_id() {
    // Execution 9 was recorded after its child 4 and after 7, which is not a parent here.
    let run = run(
        &[
            (4, Some(9), "do inner()"),
            (7, None, "do other()"),
            (9, None, "do outer()"),
        ],
        &[("x", None), ("x", Some(9)), ("x", Some(4)), ("x", Some(7))],
    );
    let found = ask(&run, "x", Some(4));
    assert_eq!(winner(&run, &found), Ok(Some(4)));
    assert_eq!(found.chain, [4, 9]);
    assert_eq!(
        outcomes(&found),
        [
            (Some(4), Some(0), Outcome::Wins),
            (Some(9), Some(1), Outcome::Shadowed),
            (None, None, Outcome::Shadowed),
            (Some(7), None, Outcome::OutOfReach),
        ]
    );
    let reasons: Vec<&str> = found.candidates.iter().map(|c| c.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "from this call: do inner()",
            "do outer() (execution 9) is 1 step above execution 4, but execution 4 itself has a binding of that name, which is nearer",
            "the root is searched last, and execution 4 itself has a binding of that name",
            "do other() (execution 7) is none of the calls around execution 4",
        ]
    );
}

#[test]
fn the_nearest_wins_over_those_farther_up_and_the_root() {
    let run = run(
        &[
            (1, None, "do a()"),
            (2, Some(1), "do b()"),
            (3, Some(2), "do c()"),
        ],
        &[("x", None), ("x", Some(1)), ("x", Some(2)), ("y", None)],
    );
    let found = ask(&run, "x", Some(3));
    assert_eq!(winner(&run, &found), Ok(Some(2)));
    assert_eq!(
        found.candidates[0].reason,
        "the nearest binding: do b() (execution 2) is 1 step above execution 3"
    );
    assert_eq!(
        found.candidates[1].reason,
        "do a() (execution 1) is 2 steps above execution 3, but execution 2 has a binding of that name, which is nearer"
    );
    let found = ask(&run, "y", Some(3));
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(
        found.candidates[0].reason,
        "no scope from execution 3 up to the root has a binding of that name; the root is searched last"
    );
    assert_eq!(winner(&run, &ask(&run, "z", Some(3))), Err(()));
}

#[test]
fn b2_a_circle_of_parents_ends_at_its_first_repeat_and_is_reported() {
    let circle = [
        (4, Some(5), "do a()"),
        (5, Some(6), "do b()"),
        (6, Some(4), "do c()"),
        (9, Some(5), "do d()"),
    ];
    for (from, chain) in [
        (4, vec![4, 5, 6]),
        (5, vec![5, 6, 4]),
        (6, vec![6, 4, 5]),
        (9, vec![9, 5, 6, 4]),
    ] {
        let run = run(&circle, &[("x", Some(from)), ("x", None)]);
        let found = ask(&run, "y", Some(from));
        assert_eq!(found.chain, chain, "from {from}");
        assert_eq!(rules(&found), ["parent-cycle"], "from {from}");
        assert!(winner(&run, &ask(&run, "x", Some(4))).is_ok());
    }
    let run = run(&circle, &[("x", Some(5)), ("x", None)]);
    assert_eq!(winner(&run, &ask(&run, "x", Some(4))), Ok(Some(5)));
    let itself = self::run(&[(1, Some(1), "do a()")], &[("x", None)]);
    let found = ask(&itself, "x", Some(1));
    assert_eq!(
        (found.chain.as_slice(), rules(&found)),
        (&[1][..], vec!["self-parent"])
    );
    assert_eq!(winner(&itself, &found), Ok(None));
}

#[test]
fn b3_a_row_without_a_parent_falls_to_the_root_and_says_why() {
    let mut run = run(
        &[
            (1, None, "do process()"),
            (2, None, "session \"inside of 1\""),
        ],
        &[("x", None), ("x", Some(1))],
    );
    let found = ask(&run, "x", Some(2));
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(
        found.candidates[0].reason,
        "no scope from execution 2 up to the root has a binding of that name; the root is searched last: execution 2 names no parent"
    );
    assert_eq!(
        found.candidates[1].reason,
        "do process() (execution 1) is none of the calls around execution 2: execution 2 names no parent"
    );
    assert_eq!(rules(&found), [""; 0]);
    // An execution that records a depth, but no parent, is reported.
    run.executions[1].meta = Some(Arc::new(Meta {
        depth: Some(2),
        ..Meta::default()
    }));
    assert_eq!(rules(&ask(&run, "x", Some(2))), ["missing-parent"]);
}

/// A loop is not a scope, so the chain does not contain the loop. But the loop is the recorded parent of its rows.
#[test]
fn a_row_whose_parents_are_no_scopes_does_not_lack_one() {
    let run = run(
        &[
            (1, None, "loop until **done**:"),
            (2, Some(1), "session \"inside of 1\""),
        ],
        &[("x", None)],
    );
    let found = ask(&run, "x", Some(2));
    let reason = &found.candidates[0].reason;
    assert!(!reason.contains("names no parent"), "{reason}");
}

#[test]
fn b4_frames_of_a_folder_are_named_by_its_own_ids() {
    let frame = |execution_id, depth| CallFrame {
        execution_id,
        block: "process".into(),
        depth,
        status: Status::Waiting,
    };
    for depths in [[Some(3), Some(2), Some(1)], [None, None, None]] {
        let mut run = run(
            &[],
            &[
                ("x", None),
                ("x", Some(41)),
                ("x", Some(40)),
                ("y", Some(40)),
            ],
        );
        // Execution 40 is finished: only its binding's header records that it was called from 42.
        run.bindings[2].parent_execution_id = Some(42);
        run.state_file = Some(StateFile {
            call_stack: [43, 42, 41]
                .into_iter()
                .zip(depths)
                .map(|(id, depth)| frame(id, depth))
                .collect(),
            ..StateFile::default()
        });
        let found = ask(&run, "x", Some(43));
        assert_eq!(found.chain, [43, 42, 41]);
        assert_eq!(winner(&run, &found), Ok(Some(41)));
        let found = ask(&run, "x", Some(40));
        assert_eq!(found.chain, [40, 42, 41]);
        assert_eq!(winner(&run, &found), Ok(Some(40)));
        assert_eq!(winner(&run, &ask(&run, "y", Some(43))), Err(()));
    }
}

#[test]
fn two_frames_of_one_depth_lie_in_the_one_below_both() {
    let frame = |execution_id, depth| CallFrame {
        execution_id,
        block: "process".into(),
        depth: Some(depth),
        status: Status::Waiting,
    };
    let mut run = run(&[], &[("x", Some(42)), ("x", Some(41))]);
    run.state_file = Some(StateFile {
        call_stack: vec![frame(43, 2), frame(42, 2), frame(41, 1)],
        ..StateFile::default()
    });
    let found = ask(&run, "x", Some(43));
    assert_eq!(found.chain, [43, 41]);
    assert_eq!(winner(&run, &found), Ok(Some(41)));
}

#[test]
fn a_folder_whose_headers_lead_in_a_circle_ends_too() {
    let mut run = run(&[], &[("x", Some(1)), ("x", Some(2)), ("y", None)]);
    run.form = Form::Folder {
        form: FolderForm::StateMd,
    };
    run.bindings[0].parent_execution_id = Some(2);
    run.bindings[1].parent_execution_id = Some(1);
    // The trace cuts the cycle of parents at the first frame of the cycle.
    let found = ask(&run, "y", Some(2));
    assert_eq!(found.chain, [2, 1]);
    assert_eq!(winner(&run, &found), Ok(None));
}

#[test]
fn b5_without_a_frame_a_name_means_the_root() {
    let run = run(
        &[(1, None, "do a()")],
        &[("x", Some(1)), ("x", None), ("y", Some(1))],
    );
    let found = ask(&run, "x", None);
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(found.candidates[0].reason, "from the program's top level");
    let found = ask(&run, "y", None);
    assert_eq!(winner(&run, &found), Err(()));
    assert_eq!(
        found.candidates[0].reason,
        "the search starts at the root, which does not see execution 1"
    );
}

#[test]
fn b10_an_unknown_frame_is_an_issue_and_its_own_bindings_are_found() {
    let run = run(&[(1, None, "do a()")], &[("x", Some(77)), ("x", None)]);
    let found = ask(&run, "x", Some(77));
    assert_eq!(winner(&run, &found), Ok(Some(77)));
    let found = ask(&run, "x", Some(1));
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(found.candidates[1].reason, "execution 77 does not exist");
    let found = ask(&run, "x", Some(99));
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(rules(&found), ["unknown-frame"]);
}

#[test]
fn b11_names_are_compared_as_they_are() {
    let run = run(
        &[(43, None, "do a()")],
        &[("x__43", None), ("X", Some(43)), ("../x", None)],
    );
    assert_eq!(winner(&run, &ask(&run, "x", Some(43))), Err(()));
    assert_eq!(winner(&run, &ask(&run, "x__43", Some(43))), Ok(None));
    assert_eq!(winner(&run, &ask(&run, "../x", None)), Ok(None));
}

#[test]
fn b12_a_dotted_name_is_an_imports_binding_at_the_root() {
    let mut run = run(
        &[(1, None, "do a()")],
        &[
            ("research.findings", None),
            ("findings", None),
            ("sources", None),
        ],
    );
    let import = |nested: Option<&str>| Import {
        alias: "research".into(),
        nested: nested.map(Into::into),
        ..Import::default()
    };
    let found = ask(&run, "research.findings", Some(1));
    assert_eq!(found.winner, Some(0));
    // In a folder, the binding of an import is in the nested run.
    run.imports = vec![import(Some("imports/research--deep"))];
    let found = ask(&run, "research.sources", Some(1));
    assert_eq!(found.winner, None);
    assert_eq!(rules(&found), ["import-binding"]);
    assert_eq!(
        found.issues[0].message,
        "`research` is an import: `sources` is looked up in the run of the import, imports/research--deep"
    );
    let other = ask(&run, "other.sources", None);
    assert_eq!((other.winner, rules(&other)), (None, vec![]));
}

#[test]
fn s2_of_two_rows_with_one_name_and_frame_the_later_wins() {
    let mut run = run(
        &[(1, None, "do a()")],
        &[("x", None), ("x", None), ("x", Some(1)), ("x", Some(1))],
    );
    let found = ask(&run, "x", None);
    assert_eq!(found.winner, Some(1));
    assert_eq!(
        (
            found.candidates[1].outcome,
            found.candidates[1].reason.as_str()
        ),
        (
            Outcome::Superseded,
            "a later row has the same name at the root"
        )
    );
    // The decoder knows the rowids, so a row that the decoder marked as superseded loses.
    run.bindings[3].superseded = true;
    let found = ask(&run, "x", Some(1));
    assert_eq!(found.winner, Some(2));
    assert_eq!(
        found.candidates[1].reason,
        "a later row has the same name in execution 1"
    );
}

#[test]
fn an_alias_means_its_instance() {
    // Row 2 completes execution 1. Frame 4 records row 2 as its parent, and the binding records row 2 as its frame.
    let mut run = run(
        &[
            (1, None, "do a()"),
            (2, None, "do a()"),
            (4, Some(2), "do b()"),
        ],
        &[("x", Some(2)), ("x", None)],
    );
    run.executions[1].index = Some(1);
    let found = ask(&run, "x", Some(4));
    assert_eq!(found.chain, [4, 1]);
    assert_eq!(winner(&run, &found), Ok(Some(2)));
    assert_eq!(ask(&run, "x", Some(2)).chain, [1]);
}

#[test]
fn an_orphan_goes_to_the_root_and_is_reported() {
    let run = run(
        &[(1, Some(50), "do a()"), (2, Some(1), "do b()")],
        &[("x", Some(9)), ("x", None)],
    );
    let found = ask(&run, "x", Some(2));
    assert_eq!(found.chain, [2, 1]);
    assert_eq!(winner(&run, &found), Ok(None));
    assert_eq!(rules(&found), ["orphan-parent"]);
    assert_eq!(
        found.issues[0].message,
        "execution 1 names parent 50, which does not exist, on the way from execution 2"
    );
    assert_eq!(
        found.candidates[0].reason,
        "no scope from execution 2 up to the root has a binding of that name; the root is searched last: execution 1 names parent 50, which does not exist"
    );
}

#[test]
fn a_branch_looks_up_through_its_parallel_whatever_its_parent_id_says() {
    let mut run = run(
        &[
            (1, None, "do a()"),
            (2, Some(1), "parallel:"),
            (3, Some(3), "b = session"),
        ],
        &[("x", Some(1)), ("x", None)],
    );
    let meta = |branch: Option<&str>| {
        Some(Arc::new(Meta {
            parallel_id: Some("p1".into()),
            branch: branch.map(Into::into),
            ..Meta::default()
        }))
    };
    run.executions[1].meta = meta(None);
    run.executions[2].meta = meta(Some("b"));
    let found = ask(&run, "x", Some(3));
    // The parallel block is not a scope, and no binding records the block as its frame.
    assert_eq!(found.chain, [3, 1]);
    assert_eq!(winner(&run, &found), Ok(Some(1)));
    assert_eq!(found.candidates[0].distance, Some(1));
    run.bindings.push(binding("y", Some(2)));
    assert_eq!(ask(&run, "x", Some(3)).chain, [3, 2, 1]);
}

#[test]
fn a_chain_of_100_000_costs_no_stack() {
    let rows: Vec<Row<'_>> = (1..=100_000)
        .map(|id| (id, (id > 1).then(|| id - 1), "do deeper()"))
        .collect();
    let run = run(&rows, &[("x", Some(1)), ("x", None)]);
    let found = ask(&run, "x", Some(100_000));
    assert_eq!(found.chain.len(), 100_000);
    assert_eq!(winner(&run, &found), Ok(Some(1)));
    assert_eq!(found.candidates[0].distance, Some(99_999));
}
