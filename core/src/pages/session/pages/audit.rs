//! Builds the pages of `prosescope audit` for one run or several (OpenProse's sqlite.md, "Common Audit Queries").

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::issue::Issue;
use crate::model::time::{Stamp, human_duration};
use crate::model::{AuditEvent, AuditKind, Gate, Run};
use crate::pages::session::{Opened, unread};
use crate::pages::view::{
    AuditCheck, AuditRow, AuditStat, AuditTimeout, AuditView, ExpectedHead, GateWait,
};
use crate::read::gate::audit::{AuditHead, Finding};
use crate::read::gate::lifecycle::{Lifecycle, on_behalf_of};
use crate::read::gate::{self, audit, lost};

/// A selection of rows of the audit log; by default all rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only rows of this gate; `None` for all gates.
    pub gate: Option<String>,
    /// Only rows of this principal; `None` for all principals.
    pub by: Option<String>,
    /// Only rows recorded at this time or later, in milliseconds since 1970 UTC. Rows without a readable time are left
    /// out.
    pub since: Option<i64>,
    /// Only approvals and rejections.
    pub decisions: bool,
}

impl AuditFilter {
    /// Returns whether a row is selected.
    pub fn wants(&self, row: &AuditRow) -> bool {
        let kind = AuditKind::parse(&row.event);
        (!self.decisions || matches!(kind, AuditKind::Approved | AuditKind::Rejected))
            && self.is_of(&row.gate, row.principal.as_deref(), row.timestamp.as_ref())
    }

    fn is_of(&self, gate: &str, by: Option<&str>, at: Option<&Stamp>) -> bool {
        self.gate.as_deref().is_none_or(|wanted| wanted == gate)
            && self.by.as_deref().is_none_or(|wanted| Some(wanted) == by)
            && self
                .since
                .is_none_or(|since| at.and_then(Stamp::millis).is_some_and(|at| at >= since))
    }
}

/// Builds the page of the audit log with its verification, which includes comparing gates with their sealed rows.
/// `expect_head` is a head that was noted earlier (count and hash), which the chain must contain.
pub fn audit(opened: &Opened, expect_head: Option<(u64, &str)>) -> AuditView {
    let mut report = gate::verify(&opened.run.gates, &opened.run.audit, expect_head);
    report.lost(gone(&opened.run));
    let of_files = opened.run.issues.iter();
    let of_log = ["gate-files-disagree", "json-key-twice"];
    report.add(of_files.filter(|issue| of_log.contains(&&*issue.rule)));
    let rows = opened.run.audit.iter();
    AuditView {
        rows: rows.map(|row| audit_row(opened, row)).collect(),
        chain: report.state.word().to_owned(),
        chain_reason: report.sentence(),
        head: report.head().map(|head| AuditHead {
            run: opened.named(Some(&head.run)).into(),
            ..head.clone()
        }),
        issues: [
            report.errors(),
            report.notes,
            gate::out_of_order(&opened.run),
        ]
        .concat(),
    }
}

/// Finds deleted audit logs. A log that could not be read completely does not count as deleted; another issue reports
/// that log.
pub(in crate::pages::session) fn gone(run: &Run) -> Vec<Finding> {
    if unread::lacks_log(run) {
        Vec::new()
    } else {
        lost::logs(run)
    }
}

/// Builds the result of `audit verify`: the verification, and whether the log's triggers exist.
pub fn audit_check(opened: &Opened, expect_head: Option<(u64, &str)>) -> AuditCheck {
    let mut view = audit(opened, expect_head);
    let guard = |issue: &&Issue| issue.rule == "audit-unguarded";
    view.issues
        .extend(opened.run.issues.iter().filter(guard).cloned());
    let missed = |rule: &str| matches!(rule, "audit-tail-cut" | "audit-head-differs");
    AuditCheck {
        run: opened.named(None),
        rows: u32::try_from(view.rows.len()).unwrap_or(u32::MAX),
        expected: expect_head.map(|(count, hash)| ExpectedHead {
            count,
            hash: hash.to_owned(),
            found: !view.issues.iter().any(|issue| missed(&issue.rule)),
        }),
        chain: view.chain,
        chain_reason: view.chain_reason,
        head: view.head,
        issues: view.issues,
    }
}

/// Lists how long decided gates waited, the longest first.
pub fn gate_waits(opened: &Opened, filter: &AuditFilter) -> Vec<GateWait> {
    // For each gate, the first row that records its decision.
    let mut decided: BTreeMap<&str, &AuditEvent> = BTreeMap::new();
    for row in opened.run.audit.iter().filter(|row| row.kind.resolves()) {
        decided.entry(&row.gate_id).or_insert(row);
    }
    let wait = |gate: &Gate| wait(opened, gate, decided.get(&*gate.id).copied(), filter);
    let mut waits: Vec<GateWait> = opened.run.gates.iter().filter_map(wait).collect();
    longest_first(&mut waits);
    waits
}

fn wait(
    opened: &Opened,
    gate: &Gate,
    decided: Option<&AuditEvent>,
    filter: &AuditFilter,
) -> Option<GateWait> {
    let resolution = Lifecycle::of(gate, None).resolution?;
    // OpenProse's time-out does not record a time in the gate, but the log may (errata G6).
    let logged = || decided?.timestamp.clone();
    let at = resolution.at.or_else(logged);
    let by = resolution.by.as_deref();
    if !filter.is_of(&gate.id, by, at.as_ref()) {
        return None;
    }
    let created = gate.created.as_ref().and_then(Stamp::millis);
    let until = at.as_ref().and_then(Stamp::millis);
    let passed = created.zip(until);
    let waited_ms = passed.and_then(|(from, to)| to.checked_sub(from));
    let waited_ms = waited_ms.filter(|ms| *ms >= 0);
    Some(GateWait {
        run: opened.named(gate.run_id.as_deref()),
        gate: gate.id.to_string(),
        status: gate.status.word().to_owned(),
        resolved_by: by.map(str::to_owned),
        created: gate.created.clone(),
        resolved: at,
        waited_ms,
        waited: waited_ms.map(human_duration),
    })
}

/// Sorts the waiting times of several runs: the longest first, unknown times last.
pub fn longest_first(waits: &mut [GateWait]) {
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.waited_ms));
}

/// Counts the rows of each kind of event, and the principals in them.
pub fn audit_stats<'a>(rows: impl IntoIterator<Item = &'a AuditRow>) -> Vec<AuditStat> {
    let mut stats: BTreeMap<&str, (u32, BTreeSet<&str>)> = BTreeMap::new();
    for row in rows {
        let (count, principals) = stats.entry(&row.event).or_default();
        *count = count.saturating_add(1);
        principals.extend(row.principal.as_deref());
    }
    let stat = |(event, (count, principals)): (&str, (u32, BTreeSet<&str>))| AuditStat {
        event: event.to_owned(),
        count,
        principals: u32::try_from(principals.len()).unwrap_or(u32::MAX),
    };
    stats.into_iter().map(stat).collect()
}

/// Returns the time-outs among these rows.
pub fn audit_timeouts<'a>(rows: impl IntoIterator<Item = &'a AuditRow>) -> Vec<AuditTimeout> {
    let timed_out = |row: &&AuditRow| AuditKind::parse(&row.event) == AuditKind::Timeout;
    rows.into_iter()
        .filter(timed_out)
        .map(|row| {
            let said: Value = row
                .metadata
                .as_deref()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default();
            let text = |key: &str| said.get(key)?.as_str().map(str::to_owned);
            AuditTimeout {
                run: row.run.clone(),
                gate: row.gate.clone(),
                timestamp: row.timestamp.clone(),
                deadline: text("timeout_at").map(|at| Stamp::parse(&at)),
                on_reject: text("on_reject"),
            }
        })
        .collect()
}

pub(super) fn audit_row(opened: &Opened, event: &AuditEvent) -> AuditRow {
    AuditRow {
        id: event.id,
        gate: event.gate_id.to_string(),
        run: opened.named(Some(&event.run_id)),
        event: event.kind.word().to_owned(),
        principal: event.principal.as_deref().map(str::to_owned),
        on_behalf_of: on_behalf_of(event.metadata.as_deref()),
        comment: event.comment.as_deref().map(str::to_owned),
        timestamp: event.timestamp.clone(),
        metadata: event.metadata.as_deref().map(str::to_owned),
        sealed: audit::is_sealed(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(gate: &str, event: &str, by: Option<&str>, at: &str) -> AuditRow {
        AuditRow {
            gate: gate.into(),
            event: event.into(),
            principal: by.map(str::to_owned),
            timestamp: Some(Stamp::parse(at)),
            metadata: Some(
                r#"{"timeout_at":"2026-01-25T16:00:00Z","on_reject":"continue"}"#.into(),
            ),
            ..AuditRow::default()
        }
    }

    fn log() -> Vec<AuditRow> {
        vec![
            row("a", "created", Some("system"), "2026-01-25 12:00:00"),
            row("a", "viewed", Some("ray"), "2026-01-25 12:10:00"),
            row("a", "approved", Some("ray"), "2026-01-25T12:20:00Z"),
            row("b", "timeout", Some("system"), "2026-01-25 16:00:01"),
            row("c", "approved", Some("lee"), "soon"),
            row("c", "approved", None, "2026-01-25 17:00:00"),
        ]
    }

    #[test]
    fn rows_are_chosen_as_the_documents_queries_do() {
        let by = |name: &str| AuditFilter {
            by: Some(name.into()),
            decisions: true,
            ..AuditFilter::default()
        };
        let since = |at: &str, decisions: bool| AuditFilter {
            since: Stamp::parse(at).millis(),
            decisions,
            ..AuditFilter::default()
        };
        let of = AuditFilter {
            gate: Some("a".into()),
            ..AuditFilter::default()
        };
        for (filter, expected) in [
            (AuditFilter::default(), &[0, 1, 2, 3, 4, 5][..]),
            (of, &[0, 1, 2]),
            (by("ray"), &[2]),
            (by("system"), &[]),
            (since("2026-01-25 12:20:00", true), &[2, 5]),
            (since("2026-01-25 12:20:00", false), &[2, 3, 5]),
        ] {
            let log = log();
            let chosen: Vec<usize> = (0..log.len()).filter(|i| filter.wants(&log[*i])).collect();
            assert_eq!(chosen, expected, "{filter:?}");
        }
    }

    #[test]
    fn stats_count_rows_and_names_and_timeouts_tell_their_deadline() {
        let log = log();
        let stats = audit_stats(&log);
        let told: Vec<(&str, u32, u32)> = stats
            .iter()
            .map(|s| (s.event.as_str(), s.count, s.principals))
            .collect();
        let expected = [
            ("approved", 3, 2),
            ("created", 1, 1),
            ("timeout", 1, 1),
            ("viewed", 1, 1),
        ];
        assert_eq!(told, expected);
        let outs = audit_timeouts(&log);
        assert_eq!(outs.len(), 1);
        assert_eq!(outs[0].deadline, Some(Stamp::parse("2026-01-25 16:00:00")));
        assert_eq!(outs[0].on_reject.as_deref(), Some("continue"));
    }
}
