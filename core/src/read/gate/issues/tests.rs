//! Tests of the contradictions in gates and their log.

use super::*;
use crate::model::Text;
use crate::model::time::Stamp;
use crate::read::gate::samples::{event, gate};

#[track_caller]
fn check(gates: &[Gate], log: &[AuditEvent], expected: &[(&str, &str)]) {
    let found = issues(gates, log);
    let found: Vec<_> = found.iter().map(|i| (&*i.rule, &*i.message)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_sound_gate_has_no_issues() {
    let mut done = gate("approved");
    done.resolved_by = Some("ops-team".into());
    done.timeout = Some("4h".into());
    done.timeout_at = Some(Stamp::parse("2026-01-25 16:00:01"));
    done.resolved = Some(Stamp::parse("2026-01-25 15:00:00"));
    check(&[done], &[event(1, "created"), event(2, "approved")], &[]);
    check(&[gate("pending")], &[event(1, "created")], &[]);
    check(&[], &[], &[]);
}

/// OpenProse's UPDATE can approve a gate that was rejected or has expired, so the log may contain a second or a late
/// decision (errata G3).
#[test]
fn late_and_second_decisions_are_told_g3_g10() {
    let mut late = gate("approved");
    late.timeout_at = Some(Stamp::parse("2026-01-25T16:00:00Z"));
    late.resolved = Some(Stamp::parse("2026-01-25 17:00:00"));
    late.resolved_by = Some("ops-team".into());
    check(
        &[late],
        &[event(1, "timeout"), event(2, "approved")],
        &[
            (
                "gate-decided-late",
                "gate deploy was approved at 2026-01-25T17:00:00Z, past its deadline 2026-01-25T16:00:00Z",
            ),
            (
                "gate-resolved-twice",
                "the audit log records 2 decisions of gate deploy: timeout (row 1), approved (row 2)",
            ),
        ],
    );
}

#[test]
fn a_log_that_says_otherwise_is_told() {
    check(
        &[gate("approved")],
        &[event(7, "rejected")],
        &[(
            "gate-log-disagrees",
            "gate deploy is approved, but the audit log records rejected",
        )],
    );
    check(
        &[gate("pending")],
        &[event(7, "rejected")],
        &[(
            "gate-log-ahead",
            "gate deploy is pending, but the audit log records rejected",
        )],
    );
    check(
        &[gate("timeout")],
        &[event(7, "viewed")],
        &[(
            "gate-not-logged",
            "gate deploy is timeout, but the audit log does not record the decision",
        )],
    );
    check(
        &[],
        &[event(7, "viewed"), event(8, "approved")],
        &[(
            "gate-row-missing",
            "the audit log mentions gate deploy, but the run has no such gate",
        )],
    );
    check(
        &[gate("pending"), gate("pending")],
        &[],
        &[("gate-twice", "gate deploy has more than one row in its run")],
    );
}

/// OpenProse's UPDATE does not check the `allow` list, so a stranger can decide (errata G4).
#[test]
fn decisions_of_strangers_are_told_g4() {
    let by = |name: &str, metadata: Option<&str>| {
        let mut gate = gate("rejected");
        gate.resolved_by = Some(name.into());
        gate.metadata = metadata.map(Text::from);
        gate
    };
    let log = [event(1, "rejected")];
    check(
        &[by("raymond", None)],
        &log,
        &[(
            "gate-decided-by-stranger",
            "gate deploy was rejected by “raymond”: `raymond` may not decide this gate: it admits ops-team",
        )],
    );
    check(
        &[by("raymond", Some(r#"{"on_behalf_of": "ops-team"}"#))],
        &log,
        &[],
    );
    let mut logged = event(1, "rejected");
    logged.metadata = Some(r#"{"on_behalf_of": "ops-team"}"#.into());
    check(&[by("raymond", None)], &[logged], &[]);
    let mut odd = by("raymond", None);
    odd.allow = Some("\"user\"".into());
    check(
        &[odd],
        &log,
        &[(
            "gate-allow-unreadable",
            "gate deploy admits nobody: `allow` is a text: expected a list of names, such as [\"user\"]",
        )],
    );
}

#[test]
fn odd_timeouts_and_deadlines_are_told() {
    let timed = |timeout: &str, at: Option<&str>| {
        let mut gate = gate("pending");
        gate.timeout = Some(timeout.into());
        gate.timeout_at = at.map(Stamp::parse);
        gate
    };
    check(
        &[timed("4 h", None)],
        &[],
        &[(
            "gate-timeout-unreadable",
            "gate deploy has the timeout “4 h”: `4 h` is not of the form `30m`, `24h`, `7d` or `2h30m`: a whole number before each unit, the units in the order d, h, m, s",
        )],
    );
    check(
        &[timed("4h", None)],
        &[],
        &[(
            "gate-deadline-missing",
            "gate deploy has a timeout of 4h, but no deadline; the deadline would be 2026-01-25T16:00:00Z",
        )],
    );
    check(
        &[timed("4h", Some("2026-01-25 17:00:00"))],
        &[],
        &[(
            "gate-deadline-differs",
            "gate deploy has the deadline 2026-01-25T17:00:00Z, but its timeout of 4h ends at 2026-01-25T16:00:00Z",
        )],
    );
    check(
        &[timed("4h", Some("tomorrow"))],
        &[],
        &[(
            "gate-deadline-unreadable",
            "gate deploy has the deadline “tomorrow”, which is not a time",
        )],
    );
}
