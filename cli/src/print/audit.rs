use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::view::{
    AuditCheck, AuditRow, AuditStat, AuditTimeout, AuditView, GateWait, RunAudit,
};
use prosescope_core::read::gate::audit::AuditHead;
use prosescope_core::record::render::text::escape;

use super::issues;
use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT, of};
use super::table::{Fit, PrintedTable};

/// Formats the audit log of one run.
pub(crate) fn audit(view: &AuditView, width: usize) -> String {
    let mut out = verdict(&view.chain, &view.chain_reason, view.head.as_ref());
    if !view.rows.is_empty() {
        out.push('\n');
        out.push_str(&rows(&view.rows, width));
    }
    issues(&mut out, &view.issues, width);
    out
}

/// Formats the audit logs of several runs. Runs without rows are left out.
pub(crate) fn audits(runs: &[RunAudit], width: usize) -> String {
    let mut out = String::new();
    let told = |run: &&RunAudit| !run.audit.rows.is_empty() || !run.audit.issues.is_empty();
    for run in runs.iter().filter(told) {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{BOLD}{}{RESET}", escape(&run.run, false));
        out.push_str(&audit(&run.audit, width));
    }
    if out.is_empty() {
        "no audit rows\n".to_owned()
    } else {
        out
    }
}

/// Formats the result of a verification.
pub(crate) fn audit_check(check: &AuditCheck, width: usize) -> String {
    let mut out = verdict(&check.chain, &check.chain_reason, check.head.as_ref());
    if let Some(expected) = &check.expected {
        let (tone, word) = if expected.found {
            (OK, "found in the chain")
        } else {
            (BAD, "not in the chain")
        };
        let _ = writeln!(
            out,
            "expected head: {}:{}  {tone}{word}{RESET}",
            expected.count,
            escape(&expected.hash, false)
        );
    }
    issues(&mut out, &check.issues, width);
    if check.chain == "consistent" && check.expected.is_none() {
        let _ = writeln!(
            out,
            "{FAINT}A log that was cut or completely rewritten is consistent, too; --expect-head detects such a log.{RESET}"
        );
    }
    out
}

/// Formats rows of a log.
pub(super) fn rows(rows: &[AuditRow], width: usize) -> String {
    let mut table = PrintedTable::new(&[
        ("ID", Fit::Right),
        ("TIME", Fit::Fixed),
        ("GATE", Fit::Shrinks),
        ("EVENT", Fit::Fixed),
        ("PRINCIPAL", Fit::Shrinks),
        ("COMMENT", Fit::Shrinks),
        ("", Fit::Fixed),
    ]);
    let plain = Style::new();
    // Rows are not marked if none is sealed, because the first line already reports that.
    let none_sealed = rows.iter().all(|row| !row.sealed);
    for row in rows {
        let unsealed = if row.sealed || none_sealed {
            String::new()
        } else {
            "unsealed".to_owned()
        };
        table.row(vec![
            (row.id.to_string(), FAINT),
            (time(row.timestamp.as_ref()), FAINT),
            (row.gate.clone(), plain),
            (row.event.clone(), of(&row.event)),
            (row.who().unwrap_or_default(), plain),
            (row.comment.clone().unwrap_or_default(), plain),
            (unsealed, FAINT),
        ]);
    }
    table.print(width)
}

/// Formats recorded time-outs.
pub(crate) fn audit_timeouts(timeouts: &[AuditTimeout], width: usize) -> String {
    if timeouts.is_empty() {
        return "no gate timed out\n".to_owned();
    }
    let mut table = PrintedTable::new(&[
        ("RUN", Fit::Fixed),
        ("GATE", Fit::Shrinks),
        ("DEADLINE", Fit::Fixed),
        ("RECORDED", Fit::Fixed),
        ("ON REJECT", Fit::Shrinks),
    ]);
    for row in timeouts {
        table.row(vec![
            (row.run.clone(), FAINT),
            (row.gate.clone(), Style::new()),
            (time(row.deadline.as_ref()), FAINT),
            (time(row.timestamp.as_ref()), FAINT),
            (row.on_reject.clone().unwrap_or_default(), Style::new()),
        ]);
    }
    table.print(width)
}

/// Formats the counts of events.
pub(crate) fn audit_stats(stats: &[AuditStat], width: usize) -> String {
    if stats.is_empty() {
        return "no audit rows\n".to_owned();
    }
    let mut table = PrintedTable::new(&[
        ("EVENT", Fit::Fixed),
        ("COUNT", Fit::Right),
        ("PRINCIPALS", Fit::Right),
    ]);
    for stat in stats {
        table.row(vec![
            (stat.event.clone(), of(&stat.event)),
            (stat.count.to_string(), Style::new()),
            (stat.principals.to_string(), Style::new()),
        ]);
    }
    table.print(width)
}

/// Formats the waiting times of gates.
pub(crate) fn gate_waits(waits: &[GateWait], width: usize) -> String {
    if waits.is_empty() {
        return "no gate was decided\n".to_owned();
    }
    let mut table = PrintedTable::new(&[
        ("RUN", Fit::Fixed),
        ("GATE", Fit::Shrinks),
        ("DECISION", Fit::Fixed),
        ("BY", Fit::Shrinks),
        ("AT", Fit::Fixed),
        ("WAITED", Fit::Right),
    ]);
    for wait in waits {
        let waited = wait.waited.clone();
        table.row(vec![
            (wait.run.clone(), FAINT),
            (wait.gate.clone(), Style::new()),
            (wait.status.clone(), of(&wait.status)),
            (wait.resolved_by.clone().unwrap_or_default(), Style::new()),
            (time(wait.resolved.as_ref()), FAINT),
            (waited.unwrap_or_else(|| "unknown".to_owned()), Style::new()),
        ]);
    }
    table.print(width)
}

/// Formats the state of the hash chain, the reason for this state, and the head of the log.
fn verdict(chain: &str, reason: &str, head: Option<&AuditHead>) -> String {
    let tone = match chain {
        "consistent" => OK,
        "broken" | "contradicted" | "gone" => BAD,
        _ => WAIT,
    };
    let mut out = format!(
        "{tone}{}{RESET}  {}\n",
        escape(chain, false),
        escape(reason, false)
    );
    if let Some(head) = head {
        let _ = writeln!(
            out,
            "{FAINT}head: {}{RESET}",
            escape(&super::head(head), false)
        );
    }
    out
}

fn time(at: Option<&Stamp>) -> String {
    at.map_or_else(|| "not recorded".to_owned(), ToString::to_string)
}
