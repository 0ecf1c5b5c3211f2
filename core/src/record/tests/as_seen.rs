//! Tests of decisions made on a page: the comparison with the run (docs/reference/audit.md).

use super::Memory;
use super::gates::{NOON, approve, deploy, events, reject, rule, run_with_gate};
use crate::model::time::Stamp;
use crate::model::{Gate, GateStatus};
use crate::read::gate;
use crate::read::gate::audit::ChainState;
use crate::read::gate::seen::{Heads, SeenGate};
use crate::record::{
    CreateGate, DecideAsSeen, Decision, Insist, ResolveGate, ResolveResult, Style, ViewGate,
    WriteError,
};

const STYLES: [Style; 3] = [Style::AppendOnly, Style::InPlace, Style::Files];
const LATER: &str = "2026-01-25 12:30:00";

/// Returns the decision that a person makes on a page that shows the run in its present state.
fn on_page(run: &Memory, resolve: ResolveGate) -> DecideAsSeen {
    DecideAsSeen {
        run: super::memory::RUN.to_owned(),
        seen: SeenGate::of(&run.gates[0], &Heads::of(&run.audit)).unwrap(),
        resolve,
    }
}

#[test]
fn a_decision_on_a_page_is_recorded_once() {
    for style in STYLES {
        for (own, other, status) in [
            (
                approve("deploy", "raymond"),
                reject("deploy", "raymond"),
                "approved",
            ),
            (
                reject("deploy", "raymond"),
                approve("deploy", "raymond"),
                "rejected",
            ),
        ] {
            let mut run = run_with_gate(style);
            let page = on_page(&run, own);
            let ResolveResult::Decided(done) = run.at(LATER, &page).unwrap() else {
                panic!("it is not too late");
            };
            assert_eq!(done.status, status);
            assert_eq!(run.gates[0].resolved, Some(Stamp::parse(LATER)));
            let report = gate::verify(&run.gates, &run.audit, None);
            assert_eq!(report.state, ChainState::Consistent);
            assert_eq!(events(&run).pop(), Some((status, "raymond")));

            let before = (run.gates.clone(), run.audit.clone());
            let again = run.at(LATER, &page).unwrap_err();
            assert_eq!(rule(&again), "decision-recorded-already");
            let other = DecideAsSeen {
                resolve: other,
                ..page
            };
            let other = run.at(LATER, &other).unwrap_err();
            assert_eq!(rule(&other), "gate-not-pending");
            assert_eq!(before, (run.gates.clone(), run.audit.clone()));
        }
    }
}

/// A change made to a run after the page was loaded.
type Edit = fn(&mut Memory);

#[test]
fn what_differs_from_what_was_seen_is_refused_by_name() {
    let edits: [(Edit, &str); 9] = [
        (
            |run| run.gates[0].prompt = Some("Stay?".into()),
            "decision-prompt-differs",
        ),
        (
            |run| run.gates[0].allow = Some(r#"["raymond"]"#.into()),
            "decision-allow-differs",
        ),
        (
            // The decision is refused even if the new list excludes no earlier principal.
            |run| run.gates[0].allow = Some(r#"["user"]"#.into()),
            "decision-allow-differs",
        ),
        (
            |run| run.gates[0].allow = Some("raymond".into()),
            "gate-changed",
        ),
        // The rest of the gate is compared with its sealed rows, as for any decision.
        (|run| run.gates[0].on_reject = None, "gate-changed"),
        (|run| drop(run.audit.pop()), "decision-head-differs"),
        (
            // The log still has the head that was seen, but it lost a row before that head.
            |run| {
                run.audit.remove(0);
                run.at(NOON, &look()).unwrap();
            },
            "decision-head-differs",
        ),
        (
            |run| run.gates[0].status = GateStatus::Approved,
            "gate-not-pending",
        ),
        (
            |run| {
                // The gate was decided and then reset, but the log still contains the decision.
                let was = run.gates[0].clone();
                run.at(NOON, &reject("deploy", "raymond")).unwrap();
                run.gates[0] = was;
            },
            "decision-gate-moved",
        ),
    ];
    for (edit, expected) in edits {
        let mut run = run_with_gate(Style::AppendOnly);
        run.at(NOON, &look()).unwrap();
        let page = on_page(&run, approve("deploy", "raymond"));
        edit(&mut run);
        let before = (run.gates.clone(), run.audit.clone());
        let error = run.at(LATER, &page).unwrap_err();
        assert_eq!(rule(&error), expected, "{error}");
        assert_eq!(before, (run.gates.clone(), run.audit.clone()));
    }
}

fn look() -> ViewGate {
    ViewGate {
        gate: "deploy".into(),
        by: "lee".into(),
    }
}

/// The log may grow meanwhile: views of the gate and events of other gates do not invalidate the decision.
#[test]
fn a_log_that_grew_by_other_rows_is_the_one_that_was_seen() {
    for style in STYLES {
        let mut run = run_with_gate(style);
        let page = on_page(&run, approve("deploy", "raymond"));
        run.at(NOON, &look()).unwrap();
        let other = CreateGate {
            id: Some("other".into()),
            insist: Insist {
                force: true,
                ..Insist::default()
            },
            ..deploy()
        };
        run.at(NOON, &other).unwrap();
        run.at(NOON, &approve("other", "raymond")).unwrap();
        run.at(LATER, &page).unwrap();
        let last = events(&run).pop();
        assert_eq!(last, Some(("approved", "raymond")));
    }
}

#[test]
fn a_decision_is_judged_by_the_clock_and_the_list_of_the_run() {
    let mut run = run_with_gate(Style::AppendOnly);
    let mut at = |time: &str, by: &str| {
        let page = on_page(&run, approve("deploy", by));
        run.at(time, &page).map_err(|error| rule(&error).to_owned())
    };
    assert_eq!(
        at("2026-01-25 14:30:01", "raymond").unwrap_err(),
        "gate-past-deadline"
    );
    assert_eq!(at(NOON, "eve").unwrap_err(), "gate-not-allowed");
    assert_eq!(at(NOON, "system").unwrap_err(), "principal-reserved");
    at(NOON, "ops-team").unwrap();
}

#[test]
fn a_decision_of_another_run_or_gate_or_without_a_name_is_refused() {
    let mut run = run_with_gate(Style::AppendOnly);
    let page = on_page(&run, approve("deploy", "raymond"));
    let other = DecideAsSeen {
        run: "20260125-120000-other0".into(),
        ..page.clone()
    };
    let error = run.at(LATER, &other).unwrap_err();
    assert_eq!(rule(&error), "decision-of-another-run");
    let decides = |resolve| DecideAsSeen {
        resolve,
        ..page.clone()
    };
    let unknown = decides(approve("deploy#2", "raymond"));
    let error = run.at(LATER, &unknown).unwrap_err();
    assert!(matches!(error, WriteError::NotFound { .. }), "{error}");
    let silent = ResolveGate {
        decision: Decision::Reject {
            reason: String::new(),
        },
        ..page.resolve.clone()
    };
    for wrong in [
        approve("deploy", ""),
        approve("deploy", "a\u{202e}b"),
        silent,
    ] {
        let error = run.at(LATER, &decides(wrong)).unwrap_err();
        assert!(matches!(error, WriteError::Wrong { .. }), "{error}");
    }
    assert_eq!(events(&run), [("created", "system")]);
}

/// OpenProse's own log has no chain, so only the prompt and the list are compared.
#[test]
fn a_log_without_seals_has_no_head_to_compare() {
    let mut run = Memory::new(Style::AppendOnly);
    let gate = Gate {
        id: "by-hand".into(),
        execution_id: None,
        metadata: None,
        ..run_with_gate(Style::AppendOnly).gates[0].clone()
    };
    run.gates.push(gate);
    let page = on_page(&run, approve("by-hand", "raymond"));
    assert_eq!(page.seen.head, None);
    let mut sealed = run.clone();
    sealed.at(NOON, &deploy()).unwrap();
    let error = sealed.at(LATER, &page).unwrap_err();
    assert_eq!(rule(&error), "decision-head-differs");
    run.at(LATER, &page).unwrap();
}
