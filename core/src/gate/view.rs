//! Gates and their log as the shells show them.

use super::allow::Allow;
use super::audit::{is_sealed, verify};
use super::lifecycle::{History, Lifecycle, Standing};
use crate::model::{AuditEvent, Gate, Run};
use crate::time::human_duration;
use crate::view::{AuditRow, AuditView, GateView, GatesView};

/// The gates of a run as they stand at `now` (milliseconds since 1970 UTC), and its audit log, verified. The node
/// of a gate and the place of the run are left to whoever knows them.
///
/// `expect_head` is the head of the chain that somebody noted earlier: see [`verify`].
pub fn gates(run: &Run, now: Option<i64>, expect_head: Option<(u64, &str)>) -> GatesView {
    let history = History::new(&run.audit);
    GatesView {
        gates: run
            .gates
            .iter()
            .map(|g| gate(&run.id, g, &history, now))
            .collect(),
        audit: audit(&run.audit, expect_head),
    }
}

/// One gate as it stands at `now`; `run` is the id of the run that shows it.
pub fn gate(run: &str, gate: &Gate, history: &History<'_>, now: Option<i64>) -> GateView {
    let life = Lifecycle::of(gate, now);
    let allow = Allow::parse(gate.allow.as_deref());
    let text = |text: &Option<crate::model::Text>| text.as_ref().map(ToString::to_string);
    let of_run = gate.run_id.as_deref().unwrap_or(run);
    let undecided = matches!(life.standing, Standing::Pending | Standing::Overdue);
    let command = |verb: &str, more: &str| {
        let words = [quoted(of_run), quoted(&gate.id)].join(" ");
        match undecided {
            true => format!("prose {verb} {words}{more}"),
            false => String::new(),
        }
    };
    let resolution = life.resolution.as_ref();
    GateView {
        run: of_run.to_owned(),
        id: gate.id.to_string(),
        status: gate.status.word().to_owned(),
        standing: life.words.clone(),
        prompt: text(&gate.prompt).unwrap_or_default(),
        allow: allow
            .as_ref()
            .map(|allow| allow.entries().to_vec())
            .unwrap_or_default(),
        allow_words: match &allow {
            Ok(allow) => allow.words(),
            Err(_) => "unreadable: refused".to_owned(),
        },
        timeout: text(&gate.timeout),
        deadline: gate.timeout_at.clone(),
        remaining: life.remaining.clone(),
        overdue: life.standing == Standing::Overdue,
        on_reject: text(&gate.on_reject),
        created: gate.created.clone(),
        resolved: gate.resolved.clone(),
        resolved_by: resolution
            .and_then(|resolution| text(&resolution.by))
            .or_else(|| text(&gate.resolved_by)),
        comment: text(&gate.comment),
        waited_ms: life.waited_ms,
        waited: life.waited_ms.map(human_duration),
        execution_id: gate.execution_id,
        history: history.of(gate).map(row).collect(),
        metadata: text(&gate.metadata),
        approve_command: command("approve", ""),
        reject_command: command("reject", " --reason '…'"),
        ..GateView::default()
    }
}

/// The audit log, verified.
pub fn audit(log: &[AuditEvent], expect_head: Option<(u64, &str)>) -> AuditView {
    let report = verify(log, expect_head);
    let mut rows: Vec<&AuditEvent> = log.iter().collect();
    rows.sort_by_key(|event| event.id);
    AuditView {
        rows: rows.into_iter().map(row).collect(),
        chain: report.state.word().to_owned(),
        chain_reason: report.sentence(),
        head: report.head().map(|head| (head.count, head.hash.clone())),
        issues: report.findings.iter().map(|f| f.issue()).collect(),
    }
}

fn row(event: &AuditEvent) -> AuditRow {
    let text = |text: &Option<crate::model::Text>| text.as_ref().map(ToString::to_string);
    AuditRow {
        id: event.id,
        gate: event.gate_id.to_string(),
        run: event.run_id.to_string(),
        event: event.kind.word().to_owned(),
        principal: text(&event.principal),
        comment: text(&event.comment),
        timestamp: event.timestamp.clone(),
        metadata: text(&event.metadata),
        sealed: is_sealed(event),
    }
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&b);
    if !word.is_empty() && !word.starts_with('-') && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AuditKind, GateStatus};
    use crate::time::Stamp;

    fn run() -> Run {
        let gate = |id: &str, status: &str| Gate {
            id: id.into(),
            run_id: None,
            execution_id: Some(3),
            prompt: Some("Go?".into()),
            allow: None,
            timeout: Some("4h".into()),
            timeout_at: Some(Stamp::parse("2026-01-25 16:00:00")),
            on_reject: Some("throw".into()),
            status: GateStatus::parse(status),
            created: Some(Stamp::parse("2026-01-25 12:00:00")),
            resolved: None,
            resolved_by: None,
            comment: None,
            metadata: None,
        };
        let event = |id, gate_id: &str, kind: &str| AuditEvent {
            id,
            gate_id: gate_id.into(),
            run_id: "20260125-125506-002755".into(),
            kind: AuditKind::parse(kind),
            principal: None,
            comment: None,
            timestamp: None,
            metadata: None,
            row_json: None,
        };
        let mut odd = gate("it's -rf #2", "pending");
        odd.allow = Some("nobody".into());
        Run {
            id: "20260125-125506-002755".into(),
            gates: vec![gate("deploy", "pending"), gate("late", "timeout"), odd],
            audit: vec![event(2, "late", "timeout"), event(1, "deploy", "created")],
            ..Run::default()
        }
    }

    #[test]
    fn a_gate_says_how_it_stands_and_what_to_type() {
        let view = gates(&run(), Stamp::parse("2026-01-25 12:48:00").millis(), None);
        let [deploy, late, odd] = &view.gates[..] else {
            panic!("three gates");
        };
        assert_eq!(deploy.standing, "pending");
        assert_eq!(deploy.remaining.as_deref(), Some("expires in 3h 12m"));
        assert_eq!(deploy.waited.as_deref(), Some("48m"));
        assert_eq!(deploy.allow_words, "anyone");
        assert_eq!(deploy.history.len(), 1);
        assert_eq!(
            deploy.approve_command,
            "prose approve 20260125-125506-002755 deploy"
        );
        assert_eq!(
            deploy.reject_command,
            "prose reject 20260125-125506-002755 deploy --reason '…'"
        );
        assert_eq!(
            (late.resolved_by.as_deref(), late.remaining.as_deref()),
            (Some("system"), None)
        );
        assert_eq!(late.approve_command, "");
        assert_eq!(odd.allow_words, "unreadable: refused");
        assert_eq!(
            odd.approve_command,
            r"prose approve 20260125-125506-002755 'it'\''s -rf #2'"
        );
        let ids: Vec<i64> = view.audit.rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, [1, 2]);
        assert_eq!(view.audit.chain, "unsealed");
        let late = gates(&run(), Stamp::parse("2026-01-25 16:05:00").millis(), None);
        assert!(late.gates[0].overdue);
        assert_eq!(
            late.gates[0].standing,
            "pending, past its deadline: time-out not recorded yet"
        );
        assert_eq!(gates(&Run::default(), None, None).audit.chain, "empty");
    }
}
