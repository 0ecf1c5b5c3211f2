//! Tests of decisions made on a copy of the run: the comparison, and the log rows (docs/reference/audit.md).

use serde_json::Value;

use super::Memory;
use super::gates::{NOON, approve, deploy, events, reject, rule, run_with_gate};
use crate::gate::audit::ChainState;
use crate::gate::decision::{Choice, DecisionFile, Heads, Seen, Verdict};
use crate::gate::{self, prompt_hash};
use crate::model::{Gate, GateStatus};
use crate::time::Stamp;
use crate::write::{
    CreateGate, DecideAsSeen, DecidedOnCopy, Insist, Resolved, Style, ViewGate, WriteError,
};

const STYLES: [Style; 3] = [Style::AppendOnly, Style::InPlace, Style::Files];
const COPIED: &str = "2026-01-25 12:10:00";

/// Returns the decision that a person makes on a copy of the run in its present state.
fn carried(run: &Memory, decision: Verdict) -> DecisionFile {
    let choice = Choice {
        decision,
        comment: Some("seen on a copy".into()),
        by: "raymond".into(),
        on_behalf_of: None,
        at: Stamp::parse(COPIED).millis().unwrap(),
    };
    DecisionFile::new(super::memory::RUN, &run.gates[0], &run.audit, choice).unwrap()
}

fn import(run: &mut Memory, file: &DecisionFile) -> Result<Resolved, WriteError> {
    run.at("2026-01-25 12:30:00", &DecideAsSeen::imported(file, None))
}

#[test]
fn a_decision_of_a_copy_is_recorded_once_with_what_the_copy_claims() {
    for style in STYLES {
        for decision in [Verdict::Approved, Verdict::Rejected] {
            let mut run = run_with_gate(style);
            let file = carried(&run, decision);
            let Resolved::Decided(done) = import(&mut run, &file).unwrap() else {
                panic!("it is not too late");
            };
            let copy = DecidedOnCopy {
                by: "raymond".into(),
                decided_at: Some(Stamp::parse(COPIED)),
            };
            assert_eq!(
                (done.status.as_str(), done.imported),
                (decision.word(), Some(copy))
            );
            let row = run.audit.last().unwrap();
            let metadata: Value = serde_json::from_str(row.metadata.as_deref().unwrap()).unwrap();
            assert_eq!(metadata["imported"]["principal"], "raymond");
            assert_eq!(metadata["imported"]["decided_at"], "2026-01-25T12:10:00Z");
            // The decision gets the time of the import, because the copy's time is only a claim.
            let at = run.gates[0].resolved.clone();
            assert_eq!(at, Some(Stamp::parse("2026-01-25 12:30:00")));
            let report = gate::verify(&run.gates, &run.audit, None);
            assert_eq!(report.state, ChainState::Consistent);

            let before = (run.gates.clone(), run.audit.clone());
            let again = import(&mut run, &file).unwrap_err();
            assert_eq!(rule(&again), "decision-recorded-already");
            let other = match decision {
                Verdict::Approved => Verdict::Rejected,
                Verdict::Rejected => Verdict::Approved,
            };
            let other = DecisionFile {
                decision: other,
                ..file.clone()
            };
            let other = import(&mut run, &other).unwrap_err();
            assert_eq!(rule(&other), "gate-not-pending");
            assert_eq!(before, (run.gates.clone(), run.audit.clone()));
        }
    }
}

/// A change made to a run between the viewing and the import.
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
            // The import is refused even if the new list excludes no earlier principal.
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
        let file = carried(&run, Verdict::Approved);
        edit(&mut run);
        let before = (run.gates.clone(), run.audit.clone());
        let error = import(&mut run, &file).unwrap_err();
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
        let file = carried(&run, Verdict::Approved);
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
        import(&mut run, &file).unwrap();
        let last = events(&run).pop();
        assert_eq!(last, Some(("approved", "raymond")));
    }
}

#[test]
fn a_decision_is_judged_by_the_clock_and_the_list_of_the_run() {
    let mut run = run_with_gate(Style::AppendOnly);
    let file = carried(&run, Verdict::Approved);
    let at = |run: &mut Memory, time: &str, by: Option<&str>| {
        let command = DecideAsSeen::imported(&file, by.map(str::to_owned));
        run.at(time, &command).map_err(|error| {
            let hint = error.hint().to_owned();
            (rule(&error).to_owned(), hint)
        })
    };
    let (late, hint) = at(&mut run, "2026-01-25 14:30:01", None).unwrap_err();
    assert_eq!(late, "gate-past-deadline");
    let expire = format!(
        "record the time-out with `prosescope gates expire {}`",
        super::memory::RUN
    );
    assert!(hint.starts_with(&expire), "{hint}");
    assert_eq!(
        at(&mut run, NOON, Some("eve")).unwrap_err().0,
        "gate-not-allowed"
    );
    assert_eq!(
        at(&mut run, NOON, Some("system")).unwrap_err().0,
        "principal-reserved"
    );
    // An import may decide in the importer's own name; the log contains both names.
    at(&mut run, NOON, Some("ops-team")).unwrap();
    let row = run.audit.last().unwrap();
    assert_eq!(row.principal.as_deref(), Some("ops-team"));
    assert!(row.metadata.as_deref().unwrap().contains("raymond"));
}

#[test]
fn a_decision_of_another_run_or_gate_or_without_a_name_is_refused() {
    let mut run = run_with_gate(Style::AppendOnly);
    let file = carried(&run, Verdict::Approved);
    let other = DecisionFile {
        run: "20260125-120000-other0".into(),
        ..file.clone()
    };
    let error = import(&mut run, &other).unwrap_err();
    assert_eq!(rule(&error), "decision-of-another-run");
    let unknown = DecisionFile {
        gate: "deploy#2".into(),
        ..file.clone()
    };
    let error = import(&mut run, &unknown).unwrap_err();
    assert!(matches!(error, WriteError::NotFound { .. }), "{error}");
    for by in ["", "a\u{202e}b"] {
        let file = DecisionFile {
            by: by.into(),
            ..file.clone()
        };
        // A file with such a name is refused even if the importer decides in another name, because the log would
        // contain both names.
        for own in [None, Some("raymond".to_owned())] {
            let error = run.at(NOON, &DecideAsSeen::imported(&file, own));
            let error = error.unwrap_err();
            assert!(matches!(error, WriteError::Wrong { .. }), "{error}");
        }
    }
    let silent = DecisionFile {
        decision: Verdict::Rejected,
        comment: None,
        ..file
    };
    let error = import(&mut run, &silent).unwrap_err();
    assert!(matches!(error, WriteError::Wrong { .. }), "{error}");
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
    let file = carried(&run, Verdict::Approved);
    assert_eq!(file.seen.head, None);
    let mut sealed = run.clone();
    sealed.at(NOON, &deploy()).unwrap();
    let error = import(&mut sealed, &file).unwrap_err();
    assert_eq!(rule(&error), "decision-head-differs");
    import(&mut run, &file).unwrap();
}

/// A copied database with the decision is equivalent to a decision file.
#[test]
fn a_copy_in_which_the_gate_was_decided_is_imported_by_the_same_rules() {
    let mut run = run_with_gate(Style::AppendOnly);
    run.at(NOON, &look()).unwrap();
    let mut copy = run.clone();
    copy.at(COPIED, &reject("deploy", "raymond")).unwrap();
    let decided = |copy: &Memory| {
        let id = super::memory::RUN;
        DecisionFile::decided_in(id, &copy.gates[0], &copy.gates, &copy.audit)
    };
    let file = decided(&copy).unwrap();
    let heads = Heads::of(&run.audit);
    assert_eq!(file.seen, Seen::of(&run.gates[0], &heads).unwrap());
    assert_eq!(file.seen.prompt_hash, prompt_hash("Go?"));
    assert_eq!(file.decided_at, Some(Stamp::parse(COPIED)));
    import(&mut run, &file).unwrap();
    assert_eq!(events(&run).pop(), Some(("rejected", "raymond")));
    assert_eq!(run.gates[0].comment.as_deref(), Some("not yet"));

    // A copy whose gate was changed without a log row is refused.
    copy.gates[0].resolved_by = Some("eve".into());
    let error = decided(&copy).unwrap_err().to_string();
    assert!(error.contains("does not agree"), "{error}");
}
