//! Finds decisions, times and numbers of the log that are out of order. Each finding may have an innocent cause, which
//! its hint names, so none of them is an error.

use super::audit::read_link;
use super::lifecycle::History;
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::model::{AuditEvent, AuditKind, Form, Gate, Run};

/// The tolerated difference in milliseconds between two times of a log: some tools record whole seconds.
const SLACK_MS: i64 = 1_000;

/// Returns the findings about the order of a run's log. A server counts the rows of all runs together, so numbers are
/// compared in other stores only.
pub(crate) fn out_of_order(run: &Run) -> Vec<Issue> {
    let (log, counted) = (&run.audit, !matches!(run.form, Form::Postgres { .. }));
    let history = History::new(log);
    let gates = run.gates.iter();
    let mut issues: Vec<Issue> = gates.filter_map(|gate| early(gate, &history)).collect();
    let mut rows: Vec<&AuditEvent> = log.iter().collect();
    rows.sort_by_key(|event| event.id);
    let pairs = rows.array_windows();
    issues.extend(pairs.clone().find_map(|[a, b]| clock_back(a, b)));
    issues.extend(pairs.filter(|_| counted).find_map(|[a, b]| skipped(a, b)));
    issues
}

fn time(at: Option<&Stamp>) -> Option<i64> {
    at.and_then(Stamp::millis)
}

/// Finds a gate whose decision has an earlier time, or an earlier row, than its creation.
fn early(gate: &Gate, history: &History<'_>) -> Option<Issue> {
    let created = history.of(gate).find(|row| row.kind == AuditKind::Created);
    let decided = history.of(gate).find(|row| row.kind.resolves());
    let logged = |row: Option<&AuditEvent>| time(row?.timestamp.as_ref());
    let from = time(gate.created.as_ref()).or(logged(created));
    let at = time(gate.resolved.as_ref()).or(logged(decided));
    let times = from.zip(at);
    let id = &gate.id;
    let message = match (times, created.zip(decided)) {
        (Some((from, at)), _) if at.saturating_add(SLACK_MS) < from => {
            let (from, at) = (Stamp::At(from), Stamp::At(at));
            format!("gate {id} was decided at {at}, before its creation at {from}")
        }
        (_, Some((created, decided))) if decided.id < created.id => {
            let (first, then) = (decided.id, created.id);
            format!("row {first} of the log decides gate {id}, but row {then} creates the gate")
        }
        _ => return None,
    };
    let issue = Issue::warning("gate-decided-before-creation", message).at_table("gates");
    Some(issue.hint("Ask who decided: the decision may have been prepared. A clock that was set back looks the same."))
}

/// Finds a row that has an earlier time than the row before it.
fn clock_back(before: &AuditEvent, row: &AuditEvent) -> Option<Issue> {
    let from = time(before.timestamp.as_ref())?;
    let at = time(row.timestamp.as_ref())?;
    let (first, then, is_back) = (before.id, row.id, at.saturating_add(SLACK_MS) < from);
    let (from, at) = (Stamp::At(from), Stamp::At(at));
    let message = format!("row {then} of the log has the time {at}, but row {first} has {from}");
    let issue = Issue::noted("audit-clock-back", message).at_row("gate_audit_log", then);
    let hint = "Compare the times with other records. A clock that was set back looks the same, and so do writers on machines whose clocks differ.";
    is_back.then(|| issue.hint(hint))
}

/// Finds two rows between whose numbers one is missing. The chain shows that nothing is missing between sealed rows.
fn skipped(before: &AuditEvent, row: &AuditEvent) -> Option<Issue> {
    let place = |row: &AuditEvent| Some(read_link(row).ok()??.0.seq);
    let places = place(before).zip(place(row));
    let follows = places.is_some_and(|(before, own)| own.checked_sub(1) == Some(before));
    let (first, then) = (before.id, row.id);
    let message = format!("row {then} of the log comes after row {first}: a number is skipped");
    let issue = Issue::noted("audit-number-skipped", message).at_row("gate_audit_log", then);
    let hint = "Compare the log with a copy: a row may have been deleted. A write that was undone looks the same.";
    (then.saturating_sub(first) > 1 && !follows).then(|| issue.hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::gate::samples::{event, gate};

    /// Returns a row of the log with this number, kind, time of 25 January 2026, and place in the chain.
    fn row(id: i64, kind: &str, at: &str, place: Option<u64>) -> AuditEvent {
        let zeros = "0".repeat(64);
        let chain = place.map(|seq| {
            format!(r#"{{"chain":{{"seq":{seq},"prev":"{zeros}","hash":"{zeros}"}}}}"#).into()
        });
        AuditEvent {
            timestamp: Some(Stamp::parse(&format!("2026-01-25 {at}"))),
            metadata: chain,
            ..event(id, kind)
        }
    }

    fn decided(created: &str, resolved: &str) -> Gate {
        let at = |time: &str| Some(Stamp::parse(&format!("2026-01-25 {time}")));
        Gate {
            created: at(created),
            resolved: at(resolved),
            ..gate("approved")
        }
    }

    fn run(gates: &[Gate], log: &[AuditEvent], form: Form) -> Run {
        Run {
            gates: gates.to_vec(),
            audit: log.to_vec(),
            form,
            ..Run::default()
        }
    }

    #[track_caller]
    fn check(gates: &[Gate], log: &[AuditEvent], expected: &[(&str, &str)]) {
        let found = out_of_order(&run(gates, log, Form::Unknown));
        let found: Vec<_> = found.iter().map(|i| (&*i.rule, &*i.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_decision_before_its_creation_is_told() {
        let rule = "gate-decided-before-creation";
        let early = "gate deploy was decided at 2026-01-25T11:59:00Z, before its creation at 2026-01-25T12:00:00Z";
        check(&[decided("12:00:00", "11:59:00")], &[], &[(rule, early)]);
        // The log has the times if the gate lacks them.
        let undated = Gate {
            created: None,
            ..gate("approved")
        };
        let log = [
            row(1, "created", "12:00:00", None),
            row(2, "approved", "11:59:00", None),
        ];
        let back = "row 2 of the log has the time 2026-01-25T11:59:00Z, but row 1 has 2026-01-25T12:00:00Z";
        check(
            &[undated],
            &log,
            &[(rule, early), ("audit-clock-back", back)],
        );
        let log = [
            row(1, "approved", "12:00:00", None),
            row(2, "created", "12:00:00", None),
        ];
        let swapped = "row 1 of the log decides gate deploy, but row 2 creates the gate";
        check(&[gate("approved")], &log, &[(rule, swapped)]);
    }

    #[test]
    fn times_of_whole_seconds_and_sound_logs_are_no_finding() {
        let log = [
            row(1, "created", "12:00:00.900", None),
            row(2, "viewed", "12:00:00", None),
            row(3, "approved", "12:00:01", None),
        ];
        check(&[decided("12:00:00.900", "12:00:00")], &log, &[]);
        check(&[gate("pending")], &[event(7, "created")], &[]);
        check(&[], &[], &[]);
    }

    #[test]
    fn a_clock_that_goes_back_is_told_once() {
        let times = ["12:00:00", "13:00:00", "12:30:00", "12:00:00"];
        let log = (1..5)
            .zip(times)
            .map(|(id, at)| row(id, "viewed", at, None));
        let back = "row 3 of the log has the time 2026-01-25T12:30:00Z, but row 2 has 2026-01-25T13:00:00Z";
        let mut log: Vec<AuditEvent> = log.collect();
        log.reverse();
        check(&[], &log, &[("audit-clock-back", back)]);
    }

    #[test]
    fn a_skipped_number_is_told_unless_seals_show_that_nothing_is_missing() {
        let log = |places: [Option<u64>; 2]| {
            [
                row(3, "created", "12:00:00", places[0]),
                row(6, "viewed", "12:00:00", places[1]),
            ]
        };
        let skipped = "row 6 of the log comes after row 3: a number is skipped";
        let skipped = [("audit-number-skipped", skipped)];
        check(&[], &log([None, None]), &skipped);
        check(&[], &log([Some(1), None]), &skipped);
        check(&[], &log([Some(1), Some(2)]), &[]);
        // Runs on a server share their numbers.
        assert_eq!(
            out_of_order(&run(
                &[],
                &log([None, None]),
                Form::Postgres { receipts: false }
            )),
            []
        );
        let far = [i64::MIN, i64::MAX].map(|id| row(id, "viewed", "12:00:00", Some(u64::MAX)));
        assert_eq!(out_of_order(&run(&[], &far, Form::Unknown)).len(), 1);
    }
}
