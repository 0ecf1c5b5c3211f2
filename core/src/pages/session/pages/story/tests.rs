use super::*;
use crate::model::Form;
use crate::pages::view::{Failure, GateView};

fn node(text: &str, path: &str) -> NodeRef {
    NodeRef {
        text: text.to_owned(),
        path: path.to_owned(),
        ..NodeRef::default()
    }
}

#[test]
fn a_run_at_a_gate() {
    let view = Overview {
        status: "waiting".to_owned(),
        statements: 29,
        statements_done: 28,
        retried: 1,
        recovered: 1,
        pending_gates: vec![GateView {
            id: "production_deploy".to_owned(),
            remaining: Some("expires in 3h 12m".to_owned()),
            on_reject: Some("throw \"Deployment cancelled\"".to_owned()),
            created: Some(crate::model::time::Stamp::parse("2026-01-25 13:04:20")),
            ..GateView::default()
        }],
        ..Overview::default()
    };
    assert_eq!(
        headline(&view, false),
        "Waiting at gate production_deploy since 25 Jan 2026, 13:04 UTC"
    );
    assert_eq!(
        sentences(&view, &Form::Unknown, 0),
        [
            "28 of 29 statements finished.",
            "1 statement needed more than one attempt; 1 failure was recovered.",
        ]
    );
}

#[test]
fn a_gate_past_its_deadline_no_longer_waits() {
    let mut view = Overview {
        status: "waiting".to_owned(),
        pending_gates: vec![GateView {
            id: "deploy".to_owned(),
            overdue: true,
            deadline: Some(crate::model::time::Stamp::parse("2026-01-25T18:41:07Z")),
            ..GateView::default()
        }],
        ..Overview::default()
    };
    let said = "The deadline of gate deploy passed on 25 Jan 2026, 18:41 UTC";
    assert_eq!(headline(&view, false), said);
    view.pending_gates[0].overdue = false;
    assert_eq!(headline(&view, false), "Waiting at gate deploy");
}

#[test]
fn an_interrupted_run_says_since_when_it_is_silent() {
    let mut view = Overview {
        status: "interrupted".to_owned(),
        statements: 2,
        statements_done: 1,
        last_sign: Some(crate::model::time::Stamp::parse("2026-01-15 09:11:30")),
        ..Overview::default()
    };
    let since = "The last sign of life was on 15 Jan 2026, 09:11 UTC.";
    assert_eq!(sentences(&view, &Form::Unknown, 0)[1], since);
    view.by_status = vec![StatusCount {
        status: WAS_EXECUTING.to_owned(),
        count: 1,
    }];
    let unfinished =
        "The statement that was running then did not finish; it may have been carried out in part.";
    assert_eq!(
        sentences(&view, &Form::Unknown, 0)[1],
        format!("{since} {unfinished}")
    );
    view.last_sign = None;
    assert_eq!(
        sentences(&view, &Form::Unknown, 0),
        ["1 of 2 statements finished."]
    );
}

#[test]
fn a_failed_run_names_its_cause_and_where_it_lies() {
    let view = Overview {
        status: "failed".to_owned(),
        statements: 5,
        statements_done: 1,
        duration: Some("9m".to_owned()),
        failure: Some(Failure {
            cause: node("session \"Process chunk\"", "loop › do process(half)"),
            error: Some("Connection timeout".to_owned()),
            because_of: vec![node("do process(half)", "")],
            because_of_count: 1,
            because_words: "it ended the block around it".to_owned(),
            percent: None,
        }),
        ..Overview::default()
    };
    assert_eq!(
        headline(&view, false),
        "Failed at session \"Process chunk\""
    );
    assert_eq!(
        sentences(&view, &Form::Unknown, 0)[1],
        "It ended the block around it."
    );
    let view = Overview {
        status: "interrupted".to_owned(),
        ..view
    };
    assert_eq!(
        sentences(&view, &Form::Unknown, 0)[1],
        "`session \"Process chunk\"` failed first; it ended the block around it."
    );
}

#[test]
fn counts_are_written_as_everywhere() {
    let view = Overview {
        status: "completed".to_owned(),
        statements: 50_000,
        statements_done: 49_999,
        bindings: 12_345,
        ..Overview::default()
    };
    assert_eq!(
        sentences(&view, &Form::Unknown, 0),
        [
            "49\u{202f}999 of 50\u{202f}000 statements finished.",
            "The run wrote 12\u{202f}345 values."
        ]
    );
}

#[test]
fn a_silent_run_says_for_how_long() {
    let view = Overview {
        status: "running".to_owned(),
        stale: true,
        last_sign_ago: Some("3d 4h ago".to_owned()),
        ..Overview::default()
    };
    assert_eq!(headline(&view, false), "Running, silent for 3d 4h");
    assert_eq!(
        sentences(&view, &Form::Unknown, 0),
        ["No statement is recorded yet."]
    );
}

#[test]
fn what_could_not_be_read_is_never_said_to_be_none() {
    let unread = |parts: &[RunPart]| crate::pages::view::Unread {
        parts: parts.to_vec(),
        ..Default::default()
    };
    for (status, parts, headline_said, said) in [
        (
            "unknown",
            &RunPart::ALL[..],
            "Status unknown: the run could not be read",
            &["The executed statements could not be read."][..],
        ),
        (
            "completed",
            &[RunPart::Bindings],
            "Completed",
            &[
                "No statement is recorded; the values could not be read.",
                "The values of the run could not be read.",
            ],
        ),
        (
            "unknown",
            &[RunPart::Gates],
            "Status unknown: no row says so",
            &["No statement is recorded."],
        ),
    ] {
        let view = Overview {
            status: status.to_owned(),
            status_reason: "no row says so".to_owned(),
            unread: vec![unread(parts)],
            ..Overview::default()
        };
        assert_eq!(headline(&view, false), headline_said);
        assert_eq!(sentences(&view, &Form::Unknown, 0), said, "{parts:?}");
    }
}

#[test]
fn a_store_of_agents_is_no_run_of_unknown_status() {
    let view = Overview {
        form: "agents".to_owned(),
        agents: 3,
        ..Overview::default()
    };
    assert_eq!(headline(&view, false), "A store of 3 agents");
    assert!(sentences(&view, &Form::Unknown, 0)[0].contains("not a run"));
}

#[test]
fn bindings_without_statements_are_not_nothing() {
    for (status, bindings, expected) in [
        ("", 0, vec!["No statement is recorded."]),
        (
            "",
            1,
            vec!["No statement is recorded, but 1 value is there."],
        ),
        (
            "completed",
            0,
            vec!["No statement is recorded.", "No values are recorded."],
        ),
    ] {
        let view = Overview {
            status: status.to_owned(),
            bindings,
            ..Overview::default()
        };
        assert_eq!(sentences(&view, &Form::Unknown, 0), expected);
    }
}
