use super::Memory;
use crate::model::{AgentScope, Execution, RunStatus, Status};
use crate::read::decode::rows::meta_of;
use crate::record::{
    AddImport, Begin, BranchStatus, CreateGate, End, EndedPart, Fail, Insist, Put, Record,
    Remember, StatementRef, Style, WriteError,
};

const NOW: &str = "2026-01-25 12:00:00";
const FORCE: Insist = Insist {
    overrides: false,
    force: true,
};

fn text(text: &str) -> StatementRef {
    StatementRef {
        text: Some(text.to_owned()),
        line: None,
    }
}

fn begin(statement: &str) -> Begin {
    Begin {
        statement: text(statement),
        ..Begin::default()
    }
}

fn end(id: i64) -> End {
    End {
        id: Some(id),
        ..End::default()
    }
}

/// Asserts that the rule `expected` refuses the command, and that nothing is changed.
fn refused<R: Record>(run: &mut Memory, command: &R, expected: &str)
where
    R::Done: std::fmt::Debug,
{
    let before = (run.executions.clone(), run.bindings.clone());
    match run.at(NOW, command) {
        Err(WriteError::Refused { rule, .. }) => assert_eq!(rule, expected),
        other => panic!("{other:?} instead of {expected}"),
    }
    assert_eq!((run.executions.clone(), run.bindings.clone()), before);
}

/// A parallel block and a loop that the program does not have: their text says what they are.
#[test]
fn constructs_that_the_program_lacks_begin_by_their_text() {
    for style in [Style::AppendOnly, Style::InPlace, Style::Files] {
        let mut run = Memory::new(style);
        let parallel = run.at(NOW, &begin("parallel:")).unwrap().id();
        let branch = Begin {
            parent: parallel,
            item: Some("a".to_owned()),
            ..begin("session \"A\"")
        };
        let branch = run.at(NOW, &branch).unwrap().id().unwrap();
        let Ok(EndedPart::Execution(ended)) = run.at(NOW, &end(branch)) else {
            panic!("a branch ends like any execution");
        };
        assert_eq!(ended.branch.as_deref(), Some("a"));
        let joined = run.at(NOW, &end(parallel.unwrap()));
        assert!(matches!(joined, Ok(EndedPart::Parallel(_))), "{joined:?}");
        let a_loop = run.at(NOW, &begin("loop until **done** (max: 2):"));
        let Ok(EndedPart::Loop(rounds)) = run.at(NOW, &end(a_loop.unwrap().id().unwrap())) else {
            panic!("a loop ends with its rounds");
        };
        assert_eq!((rounds.iteration, rounds.max), (0, Some(2)));
    }
}

/// Only a decision ends the wait at a gate. Otherwise what follows could begin without one.
#[test]
fn the_wait_at_a_gate_does_not_end_by_a_command() {
    for style in [Style::AppendOnly, Style::InPlace, Style::Files] {
        let mut run = Memory::new(style);
        let gate = CreateGate {
            id: Some("ship".to_owned()),
            prompt: Some("Ship it?".to_owned()),
            ..CreateGate::default()
        };
        run.at(NOW, &gate).unwrap();
        let gate = run.gates[0].execution_id;
        refused(&mut run, &end(gate.unwrap()), "gate-decides");
        let fail = Fail {
            id: gate,
            error: "out of memory".to_owned(),
            insist: FORCE,
        };
        refused(&mut run, &fail, "gate-decides");
    }
}

/// In OpenProse's rows, branches are siblings of their parallel block, without a parent (errata X2).
#[test]
fn branches_are_found_by_their_parallel_x2() {
    let mut run = Memory::new(Style::AppendOnly);
    let row = |id, words: &str, status, metadata: &str| Execution {
        id,
        index: Some(5),
        text: words.into(),
        status,
        parent: None,
        started: None,
        completed: None,
        error: None,
        meta: meta_of(metadata),
    };
    run.executions = vec![
        row(
            1,
            "parallel:",
            Status::Started,
            r#"{"parallel_id": "p1", "branches": ["a", "b"]}"#,
        ),
        row(
            2,
            "parallel:a",
            Status::Executing,
            r#"{"parallel_id": "p1", "branch": "a"}"#,
        ),
        row(
            3,
            "parallel:b",
            Status::Completed,
            r#"{"parallel_id": "p1", "branch": "b"}"#,
        ),
    ];
    refused(&mut run, &end(1), "branches-open");
    let again = Begin {
        parent: Some(1),
        item: Some("b".to_owned()),
        ..begin("session \"B\"")
    };
    refused(&mut run, &again, "branch-begun");
    run.executions[1].status = Status::Completed;
    let Ok(EndedPart::Parallel(joined)) = run.at(NOW, &end(1)) else {
        panic!("the branches are joined");
    };
    assert_eq!(
        joined.branches,
        ["a", "b"].map(|branch| BranchStatus {
            branch: branch.to_owned(),
            status: "completed".to_owned()
        })
    );
}

/// A session that outlives an interruption may still write its value. A run that has ended takes no value.
#[test]
fn a_finished_run_takes_no_more_values() {
    let put = Put {
        name: Some("a".to_owned()),
        value: b"A".to_vec().into(),
        ..Put::default()
    };
    for (status, taken) in [
        (RunStatus::Running, true),
        (RunStatus::Interrupted, true),
        (RunStatus::Completed, false),
        (RunStatus::Failed, false),
    ] {
        let mut run = Memory::new(Style::AppendOnly);
        run.status = Some(status);
        if taken {
            run.at(NOW, &put).unwrap();
        } else {
            refused(&mut run, &put, "run-finished");
        }
    }
}

#[test]
fn statements_without_a_line_are_found_by_their_text() {
    for style in [Style::AppendOnly, Style::InPlace, Style::Files] {
        let mut run = Memory::new(style);
        run.at(NOW, &begin("session \"A\"")).unwrap();
        run.at(NOW, &begin("session \"B\"")).unwrap();
        refused(&mut run, &begin("session \"A\""), "execution-open");
    }
}

/// The names of values, gates and agents are file names in a folder, and row values in a database.
#[test]
fn devices_of_windows_name_nothing_in_a_folder() {
    for (style, fits) in [(Style::Files, false), (Style::AppendOnly, true)] {
        let mut run = Memory::new(style);
        let put = Put {
            name: Some("aux".to_owned()),
            value: vec![0].into(),
            ..Put::default()
        };
        assert_eq!(run.at(NOW, &put).is_ok(), fits);
        let gate = CreateGate {
            id: Some("NUL".to_owned()),
            prompt: Some("Go?".to_owned()),
            ..CreateGate::default()
        };
        assert_eq!(run.at(NOW, &gate).is_ok(), fits);
        let remember = Remember {
            agent: "con".to_owned(),
            scope: AgentScope::Execution,
            memory: String::new(),
        };
        assert_eq!(run.at(NOW, &remember).is_ok(), fits);
        // An attachment beside a database gets another name, because Windows reserves `aux`.
        if fits {
            assert_eq!(run.attachments, ["attachments/aux@2.md"]);
        }
    }
}

#[test]
fn a_handle_stands_for_one_source() {
    for style in [Style::AppendOnly, Style::InPlace, Style::Files] {
        let mut run = Memory::new(style);
        let add = |source: &str, program: Option<&str>| AddImport {
            alias: "r".to_owned(),
            source_url: Some(source.to_owned()),
            program: program.map(str::to_owned),
            ..AddImport::default()
        };
        assert!(!run.at(NOW, &add("a/research", None)).unwrap().again);
        assert!(run.at(NOW, &add("a/research", None)).unwrap().again);
        refused(&mut run, &add("b/survey", Some("x")), "import-differs");
        assert!(run.attachments.is_empty());
        // An import that was registered without a program stores a program that is given later. A stored program is not
        // replaced.
        for _ in 0..2 {
            run.at(NOW, &add("a/research", Some("session \"R\"\n")))
                .unwrap();
        }
        let kept = match style {
            Style::Files => &[][..],
            _ => &["imports/r--research/program.prose"],
        };
        assert_eq!(run.attachments, kept, "{style:?}");
    }
}

#[test]
fn a_handle_can_be_told_from_its_slug() {
    let mut run = Memory::new(Style::Files);
    for (alias, fits) in [
        ("research", true),
        ("a-b", true),
        ("a--b", false),
        ("a.b", false),
    ] {
        let import = AddImport {
            alias: alias.to_owned(),
            source_url: Some("https://example.org/x".to_owned()),
            ..AddImport::default()
        };
        assert_eq!(run.at(NOW, &import).is_ok(), fits, "{alias}");
    }
}
