//! What contradicts what in gates and their log. The gates table wins; nothing is left out.

use std::collections::BTreeSet;

use serde_json::Value;

use super::allow::{Allow, AllowError};
use super::audit::is_sealed;
use super::lifecycle::{History, on_behalf_of};
use super::prompt_hash;
use crate::issue::Issue;
use crate::model::{AuditEvent, AuditKind, Gate, GateStatus, Text};
use crate::time::Stamp;
use crate::timeout::Timeout;

const GATES: &str = "gates";
const LOG: &str = "gate_audit_log";
/// A recorded deadline may differ that much from created + timeout: the two are written one after the other.
const SLACK_MS: i64 = 60_000;

/// What contradicts what in gates and their log. Nothing is left out because of it: the gates table wins.
pub fn issues(gates: &[Gate], log: &[AuditEvent]) -> Vec<Issue> {
    let mut issues = Vec::new();
    let history = History::new(log);
    let mut met = BTreeSet::new();
    for gate in gates {
        if !met.insert((&gate.run_id, &gate.id)) {
            issues.push(
                at(
                    gate,
                    "gate-twice",
                    "is there more than once in its run",
                    "id",
                )
                .hint("A gate that is met again should have an id of its own: id#2."),
            );
        }
        deadline(gate, &mut issues);
        let resolving: Vec<&AuditEvent> = history
            .of(gate)
            .filter(|event| resolves(&event.kind))
            .collect();
        decision(gate, &resolving, &mut issues);
        agreement(gate, &resolving, &mut issues);
        let created = history.of(gate).find(|e| e.kind == AuditKind::Created);
        as_sealed(gate, created, &resolving, &mut issues);
    }
    let known: BTreeSet<&str> = gates.iter().map(|gate| &*gate.id).collect();
    for (id, first) in history.gates() {
        if !known.contains(id) {
            issues.push(
                Issue::warning(
                    "gate-row-missing",
                    format!("the log speaks of gate {id}, which has no row"),
                )
                .at_row(LOG, first.id)
                .hint("Its row was deleted, or never written."),
            );
        }
    }
    issues
}

fn resolves(kind: &AuditKind) -> bool {
    matches!(
        kind,
        AuditKind::Approved | AuditKind::Rejected | AuditKind::Timeout
    )
}

fn at(gate: &Gate, rule: &str, what: &str, column: &str) -> Issue {
    Issue::warning(rule, format!("gate {} {what}", gate.id))
        .at_table(GATES)
        .at_column(column)
}

/// Whether the duration, the deadline and the list can be read, and agree (errata G4, G5).
fn deadline(gate: &Gate, issues: &mut Vec<Issue>) {
    match Allow::parse(gate.allow.as_deref()) {
        // What is no JSON was reported where it was read.
        Ok(_) | Err(AllowError::NotJson(_)) => {}
        Err(error) => issues.push(
            at(
                gate,
                "gate-allow-unreadable",
                &format!("admits nobody: {error}"),
                "allow",
            )
            .hint("It is refused until it is mended."),
        ),
    }
    if let Some(Stamp::Odd(text)) = &gate.timeout_at {
        issues.push(
            at(
                gate,
                "gate-deadline-unreadable",
                &format!("has the deadline “{text}”, which is no time"),
                "timeout_at",
            )
            .hint("It is shown without a deadline."),
        );
    }
    let Some(text) = &gate.timeout else { return };
    let timeout = match Timeout::parse(text) {
        Ok(timeout) => timeout,
        Err(error) => {
            let what = format!("has the timeout “{text}”: {error}");
            issues.push(at(gate, "gate-timeout-unreadable", &what, "timeout"));
            return;
        }
    };
    let created = gate.created.as_ref().and_then(Stamp::millis);
    let Some(due) = created.and_then(|from| timeout.deadline(from).ok()) else {
        return;
    };
    match &gate.timeout_at {
        None if gate.status == GateStatus::Pending => {
            let what = format!(
                "has a timeout of {} and no deadline; it would be {}",
                timeout.as_str().trim(),
                Stamp::At(due)
            );
            issues.push(
                at(gate, "gate-deadline-missing", &what, "timeout_at")
                    .hint("The documents' queries will never time it out."),
            );
        }
        Some(Stamp::At(recorded)) if recorded.saturating_sub(due).saturating_abs() > SLACK_MS => {
            let what = format!(
                "has the deadline {}, but its timeout of {} ends at {}",
                Stamp::At(*recorded),
                timeout.as_str().trim(),
                Stamp::At(due)
            );
            let mut issue = at(gate, "gate-deadline-differs", &what, "timeout_at");
            issue.severity = crate::issue::Severity::Info;
            issues.push(issue.hint("The recorded deadline counts."));
        }
        _ => {}
    }
}

/// Whether who decided was admitted, and in time (errata G3, G4).
fn decision(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    if !matches!(gate.status, GateStatus::Approved | GateStatus::Rejected) {
        return;
    }
    let word = gate.status.word();
    let acting_for = on_behalf_of(gate.metadata.as_deref()).or_else(|| {
        resolving
            .iter()
            .find_map(|event| on_behalf_of(event.metadata.as_deref()))
    });
    if let (Some(by), Ok(allow)) = (&gate.resolved_by, Allow::parse(gate.allow.as_deref()))
        && let Err(refusal) = allow.check(by, acting_for.as_deref())
    {
        issues.push(
            at(
                gate,
                "gate-decided-by-stranger",
                &format!("was {word} by “{by}”: {refusal}"),
                "resolved_by",
            )
            .hint("Names are claims; the documents' own commands do not look at allow."),
        );
    }
    let deadline = gate.timeout_at.as_ref().and_then(Stamp::millis);
    let resolved = gate.resolved.as_ref().and_then(Stamp::millis);
    if let (Some(deadline), Some(resolved)) = (deadline, resolved)
        && resolved > deadline
    {
        issues.push(
            at(
                gate,
                "gate-decided-late",
                &format!(
                    "was {word} at {}, past its deadline {}",
                    Stamp::At(resolved),
                    Stamp::At(deadline)
                ),
                "resolved_at",
            )
            .hint("Past its deadline a gate can only time out."),
        );
    }
}

/// Whether the log tells of the same, single resolution (errata G3, G10).
fn agreement(gate: &Gate, resolving: &[&AuditEvent], issues: &mut Vec<Issue>) {
    if let [first, .., last] = resolving {
        let then: Vec<String> = resolving
            .iter()
            .take(6)
            .map(|event| format!("{} (row {})", event.kind.word(), event.id))
            .collect();
        issues.push(
            Issue::warning(
                "gate-resolved-twice",
                format!(
                    "the log resolves gate {} {} times: {}",
                    gate.id,
                    resolving.len(),
                    then.join(", ")
                ),
            )
            .at_row(
                LOG,
                if first.kind == last.kind {
                    last.id
                } else {
                    first.id
                },
            )
            .hint("A gate has one resolution: what its own row says."),
        );
    }
    let same = |event: &&AuditEvent| event.kind.word() == gate.status.word();
    let Some(last) = resolving.last() else {
        if matches!(
            gate.status,
            GateStatus::Approved | GateStatus::Rejected | GateStatus::Timeout
        ) {
            issues.push(
                Issue::info(
                    "gate-not-logged",
                    format!(
                        "gate {} is {}, and the log does not say so",
                        gate.id,
                        gate.status.word()
                    ),
                )
                .at_table(GATES)
                .hint("The documents' own commands decide without logging."),
            );
        }
        return;
    };
    if gate.status == GateStatus::Pending {
        issues.push(
            Issue::warning(
                "gate-log-ahead",
                format!(
                    "gate {} is pending, and the log says {}",
                    gate.id,
                    last.kind.word()
                ),
            )
            .at_row(LOG, last.id)
            .hint("The log is written first: the writer stopped before it changed the gate."),
        );
    } else if !matches!(gate.status, GateStatus::Other(_)) && !resolving.iter().any(same) {
        issues.push(
            Issue::warning(
                "gate-log-disagrees",
                format!(
                    "gate {} is {}, and the log says {}",
                    gate.id,
                    gate.status.word(),
                    last.kind.word()
                ),
            )
            .at_row(LOG, last.id)
            .hint("The gate's own row is believed."),
        );
    }
}

/// Whether the gate is still what its sealed rows say of it. Rows that other tools wrote are no measure: the document's
/// own example lists others there than the gate does.
fn as_sealed(
    gate: &Gate,
    created: Option<&AuditEvent>,
    resolving: &[&AuditEvent],
    issues: &mut Vec<Issue>,
) {
    let mut differs = |event: &AuditEvent, column: &str, what: &str| {
        issues.push(
            at(
                gate,
                "gate-changed",
                &format!("{what} (row {} of the log)", event.id),
                column,
            )
            .hint("The gate was changed behind the log's back: ask whether its decision stands."),
        );
    };
    if let Some(event) = created.filter(|event| is_sealed(event)) {
        let said = event.metadata.as_deref().map(serde_json::from_str::<Value>);
        let said = said.and_then(Result::ok).unwrap_or_default();
        let list = gate.allow.as_deref().map(serde_json::from_str::<Value>);
        if said["allow"].is_array() && list.and_then(Result::ok).as_ref() != Some(&said["allow"]) {
            let what = "may be decided by others than those it was created for";
            differs(event, "allow", what);
        }
        let hash = prompt_hash(gate.prompt.as_deref().unwrap_or_default());
        if said["prompt_hash"]
            .as_str()
            .is_some_and(|said| said != hash)
        {
            differs(
                event,
                "prompt",
                "asks something else than when it was created",
            );
        }
    }
    let same = |event: &&&AuditEvent| event.kind.word() == gate.status.word() && is_sealed(event);
    if let Some(event) = resolving.iter().rev().find(same)
        && event.principal != gate.resolved_by
    {
        let name = |who: &Option<Text>| who.as_deref().unwrap_or("nobody").to_owned();
        let what = format!(
            "was {} by “{}”, and the log says by “{}”",
            gate.status.word(),
            name(&gate.resolved_by),
            name(&event.principal)
        );
        differs(event, "resolved_by", &what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{event, gate};
    use super::*;

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

    /// Errata G3: nothing stops the documents' UPDATE from approving what was rejected or expired.
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
                    "the log resolves gate deploy 2 times: timeout (row 1), approved (row 2)",
                ),
            ],
        );
    }

    #[test]
    fn a_gate_that_is_not_what_was_sealed_is_told() {
        let chain = r#""chain":{"seq":1,"prev":"","hash":""}"#;
        let hash = prompt_hash("Go?");
        let said = format!(r#"{{"allow":["ops-team"],"prompt_hash":"{hash}",{chain}}}"#);
        let mut created = event(1, "created");
        created.metadata = Some(said.as_str().into());
        let mut approved = event(2, "approved");
        approved.metadata = Some(format!("{{{chain}}}").into());
        approved.principal = Some("ops-team".into());
        let mut log = [created, approved];
        let mut sound = gate("approved");
        sound.prompt = Some("Go?".into());
        sound.resolved_by = Some("ops-team".into());
        check(&[sound.clone()], &log, &[]);

        let mut changed = sound;
        changed.allow = Some(r#"["ops-team","mallory"]"#.into());
        changed.prompt = Some("Stay?".into());
        changed.resolved_by = Some("mallory".into());
        check(
            &[changed.clone()],
            &log,
            &[
                (
                    "gate-changed",
                    "gate deploy may be decided by others than those it was created for (row 1 of the log)",
                ),
                (
                    "gate-changed",
                    "gate deploy asks something else than when it was created (row 1 of the log)",
                ),
                (
                    "gate-changed",
                    "gate deploy was approved by “mallory”, and the log says by “ops-team” (row 2 of the log)",
                ),
            ],
        );
        // What other tools wrote into the log is no measure.
        for row in &mut log {
            row.metadata = row
                .metadata
                .as_deref()
                .map(|m| m.replace("chain", "note").into());
        }
        check(&[changed], &log, &[]);
    }

    #[test]
    fn a_log_that_says_otherwise_is_told() {
        check(
            &[gate("approved")],
            &[event(7, "rejected")],
            &[(
                "gate-log-disagrees",
                "gate deploy is approved, and the log says rejected",
            )],
        );
        check(
            &[gate("pending")],
            &[event(7, "rejected")],
            &[(
                "gate-log-ahead",
                "gate deploy is pending, and the log says rejected",
            )],
        );
        check(
            &[gate("timeout")],
            &[event(7, "viewed")],
            &[(
                "gate-not-logged",
                "gate deploy is timeout, and the log does not say so",
            )],
        );
        check(
            &[],
            &[event(7, "viewed"), event(8, "approved")],
            &[(
                "gate-row-missing",
                "the log speaks of gate deploy, which has no row",
            )],
        );
        check(
            &[gate("pending"), gate("pending")],
            &[],
            &[(
                "gate-twice",
                "gate deploy is there more than once in its run",
            )],
        );
    }

    /// Errata G4: the documents' UPDATE asks nobody.
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
                "gate deploy has the timeout “4 h”: a blank at character 2: expected a unit after `4`: d, h, m or s (no blanks inside)",
            )],
        );
        check(
            &[timed("4h", None)],
            &[],
            &[(
                "gate-deadline-missing",
                "gate deploy has a timeout of 4h and no deadline; it would be 2026-01-25T16:00:00Z",
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
                "gate deploy has the deadline “tomorrow”, which is no time",
            )],
        );
    }
}
