//! Computes the state of a gate at a given time: pending → approved, rejected or timeout (OpenProse's sqlite.md, "Gate
//! Lifecycle").
//!
//! Deadlines are compared as instants, not as texts. As a text, `2026-01-25T16:00:00Z` sorts after
//! `2026-01-25 17:00:00` (errata G5). A gate stays pending after its deadline until the time-out is recorded. Meanwhile
//! it is shown as overdue, and only a time-out can be recorded for it (errata G3).

use std::collections::BTreeMap;

use crate::model::time::Stamp;
use crate::model::timeout::expires_in;
use crate::model::{AuditEvent, Gate, GateStatus, Text};

/// The decision of a gate, from the gate's own row, which takes precedence over the log (errata G13). A gate has one
/// decision, even if several rows of the log record decisions (errata G10).
#[derive(Debug, Clone, PartialEq)]
pub struct GateResolved {
    /// The principal that decided, as claimed. For a time-out recorded without a name, this is `system` (errata G6,
    /// G9).
    pub by: Option<Text>,
    /// The principal for which `by` acted: `metadata.on_behalf_of` (errata G4).
    pub on_behalf_of: Option<String>,
    /// The time of the decision, if recorded.
    pub at: Option<Stamp>,
    /// The comment of the decision.
    pub comment: Option<Text>,
}

/// The state of a gate at a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct Lifecycle {
    /// Whether the deadline passed and the time-out is not recorded yet.
    pub overdue: bool,
    /// The state in words: `pending`, `overdue: its time-out is not recorded yet`.
    pub words: String,
    /// Time until the deadline, or since: `expires in 3h 12m`, `expired 5m ago`. `None` without a deadline, without
    /// `now`, or after a decision.
    pub remaining: Option<String>,
    /// How long the gate waited, or has been waiting, in milliseconds; `None` if a time is missing.
    pub waited_ms: Option<i64>,
    /// The decision; `None` before the decision.
    pub resolution: Option<GateResolved>,
}

impl Lifecycle {
    /// Returns the state at `now` (milliseconds since 1970 UTC); without `now`, a gate is never overdue.
    pub fn of(gate: &Gate, now: Option<i64>) -> Lifecycle {
        let pending = gate.status == GateStatus::Pending;
        let deadline = gate.timeout_at.as_ref().and_then(Stamp::millis);
        let overdue = pending && deadline.zip(now).is_some_and(|(at, now)| at < now);
        let words = match &gate.status {
            GateStatus::Pending if overdue => "overdue: its time-out is not recorded yet",
            GateStatus::Timeout => "timed out",
            status => status.word(),
        };
        let created = gate.created.as_ref().and_then(Stamp::millis);
        let until = if pending {
            now
        } else {
            gate.resolved.as_ref().and_then(Stamp::millis)
        };
        let waited = created
            .zip(until)
            .and_then(|(from, to)| to.checked_sub(from));
        Lifecycle {
            overdue,
            words: words.to_owned(),
            remaining: deadline
                .zip(now)
                .filter(|_| pending)
                .map(|(deadline, now)| expires_in(deadline, now)),
            waited_ms: waited.filter(|ms| *ms >= 0),
            resolution: gate.status.is_decided().then(|| resolution(gate)),
        }
    }
}

fn resolution(gate: &Gate) -> GateResolved {
    let by = gate.resolved_by.clone();
    GateResolved {
        by: by.or_else(|| (gate.status == GateStatus::Timeout).then(|| "system".into())),
        on_behalf_of: on_behalf_of(gate.metadata.as_deref()),
        at: gate.resolved.clone(),
        comment: gate.comment.clone(),
    }
}

pub(crate) fn on_behalf_of(metadata: Option<&str>) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(metadata?).ok()?;
    Some(
        value
            .get(super::columns::ON_BEHALF_OF)?
            .as_str()?
            .to_owned(),
    )
}

/// An audit log, grouped by gate.
#[derive(Debug, Clone, Default)]
pub struct History<'a> {
    by_gate: BTreeMap<&'a str, Vec<&'a AuditEvent>>,
}

impl<'a> History<'a> {
    /// Groups a log by gate.
    pub fn new(log: &'a [AuditEvent]) -> History<'a> {
        let mut by_gate: BTreeMap<&str, Vec<&AuditEvent>> = BTreeMap::new();
        for event in log {
            by_gate.entry(&event.gate_id).or_default().push(event);
        }
        for rows in by_gate.values_mut() {
            rows.sort_by_key(|event| event.id);
        }
        History { by_gate }
    }

    /// Returns the rows about a gate in order of id, because several rows may have the same time (errata G8). A gate
    /// without a run gets the rows of all runs (errata G11).
    pub fn of(&self, gate: &Gate) -> impl Iterator<Item = &'a AuditEvent> {
        let rows = self.by_gate.get(&*gate.id).map_or(&[][..], Vec::as_slice);
        rows.iter()
            .copied()
            .filter(|event| gate.run_id.as_ref().is_none_or(|run| *run == event.run_id))
    }

    /// Returns the gates that the log mentions, each with its rows.
    pub fn gates(&self) -> impl Iterator<Item = (&'a str, &[&'a AuditEvent])> {
        self.by_gate
            .iter()
            .map(|(gate, rows)| (*gate, rows.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{event, gate};
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn now(text: &str) -> Option<i64> {
        Stamp::parse(text).millis()
    }

    /// Deadlines in both notations are compared as instants, on the same day too (errata G5). After its deadline, a
    /// gate is still pending (errata G3).
    #[test]
    fn a_gate_past_its_deadline_is_overdue_g3_g5() {
        for (deadline, at, overdue, remaining) in [
            (
                "2026-01-25T16:00:00Z",
                "2026-01-25 15:59:59",
                false,
                "expires in 1s",
            ),
            (
                "2026-01-25T16:00:00Z",
                "2026-01-25 16:00:00",
                false,
                "expires now",
            ),
            (
                "2026-01-25T16:00:00Z",
                "2026-01-25 16:05:00",
                true,
                "expired 5m ago",
            ),
            (
                "2026-01-25 16:00:00",
                "2026-01-25T16:05:00Z",
                true,
                "expired 5m ago",
            ),
            (
                "2026-01-25T17:00:00+01:00",
                "2026-01-25 12:48:00",
                false,
                "expires in 3h 12m",
            ),
        ] {
            let mut gate = gate("pending");
            gate.timeout_at = Some(Stamp::parse(deadline));
            let life = Lifecycle::of(&gate, now(at));
            assert_eq!(life.overdue, overdue, "{deadline} at {at}");
            assert_eq!(life.remaining.as_deref(), Some(remaining));
            assert_eq!(life.resolution, None);
        }
        let mut odd = gate("pending");
        odd.timeout_at = Some(Stamp::parse("soon"));
        let life = Lifecycle::of(&odd, Some(i64::MAX));
        assert_eq!((life.overdue, life.remaining), (false, None));
        odd.timeout_at = Some(Stamp::parse("2026-01-25 16:00:00"));
        let life = Lifecycle::of(&odd, None);
        assert_eq!((life.overdue, life.remaining), (false, None));
    }

    #[test]
    fn what_was_decided_has_one_resolution_from_its_own_row() {
        let mut gate = gate("Approved");
        gate.resolved_by = Some("raymond".into());
        gate.metadata = Some(r#"{"on_behalf_of": "ops-team"}"#.into());
        gate.resolved = Some(Stamp::parse("2026-01-25T14:00:00Z"));
        gate.timeout_at = Some(Stamp::parse("2026-01-25 13:00:00"));
        let life = Lifecycle::of(&gate, now("2027-01-01"));
        assert_eq!((life.overdue, &*life.words), (false, "approved"));
        assert_eq!((life.remaining, life.waited_ms), (None, Some(2 * HOUR)));
        let resolution = life.resolution.unwrap();
        assert_eq!(resolution.by.as_deref(), Some("raymond"));
        assert_eq!(resolution.on_behalf_of.as_deref(), Some("ops-team"));
        // OpenProse records a time-out without a name, so the reader supplies `system` (errata G6, G9).
        let life = Lifecycle::of(&self::gate("timeout"), None);
        assert_eq!(life.words, "timed out");
        assert_eq!(life.resolution.unwrap().by.as_deref(), Some("system"));
        let life = Lifecycle::of(&self::gate("paused"), None);
        assert_eq!(life.words, "paused");
        assert_eq!(life.resolution, None);
    }

    #[test]
    fn waiting_is_counted_to_now_or_to_the_decision() {
        let mut gate = gate("pending");
        assert_eq!(
            Lifecycle::of(&gate, now("2026-01-25 13:00:00")).waited_ms,
            Some(HOUR)
        );
        assert_eq!(
            Lifecycle::of(&gate, now("2026-01-25 11:00:00")).waited_ms,
            None
        );
        assert_eq!(Lifecycle::of(&gate, None).waited_ms, None);
        gate.created = None;
        assert_eq!(
            Lifecycle::of(&gate, now("2026-01-25 13:00:00")).waited_ms,
            None
        );
    }

    /// A gate's rows are ordered by id, because several may have the same time (errata G8).
    #[test]
    fn history_is_in_order_of_id_g8() {
        let mut other = event(2, "viewed");
        other.gate_id = "other".into();
        let mut elsewhere = event(4, "viewed");
        elsewhere.run_id = "r2".into();
        let log = [event(3, "approved"), other, event(1, "created"), elsewhere];
        let history = History::new(&log);
        let ids: Vec<i64> = history.of(&gate("approved")).map(|e| e.id).collect();
        assert_eq!(ids, [1, 3]);
        // A gate without a run has the rows of all runs (errata G11).
        let mut lost = gate("approved");
        lost.run_id = None;
        assert_eq!(history.of(&lost).count(), 3);
    }
}
