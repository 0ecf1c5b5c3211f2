use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::render::text::escape;
use prosescope_core::view::{AuditView, GateView, icon};

use super::style::{BAD, BOLD, FAINT, OK, RESET, WAIT, of};
use super::table::{Fit, Table};
use super::wrap;

pub(crate) fn gates(gates: &[GateView], width: usize) -> String {
    if gates.is_empty() {
        return "no gates\n".to_owned();
    }
    let mut out = String::new();
    for (i, gate) in gates.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let tone = of(&gate.status);
        let _ = writeln!(
            out,
            "{tone}{}{RESET}  {BOLD}{}{RESET}  {FAINT}{}{RESET}",
            escape(&format!("{} {}", icon(&gate.status), gate.standing), false),
            escape(&gate.id, false),
            escape(&gate.run, false)
        );
        for line in gate.prompt.lines() {
            out.push_str(&wrap(line, width.min(88), "  "));
        }
        let mut fact = |name: &str, value: &str| {
            let _ = writeln!(out, "  {FAINT}{name:<12}{RESET}{}", escape(value, false));
        };
        fact("may decide", &gate.allow_words);
        let deadline = match (&gate.deadline, &gate.remaining) {
            (None, _) => "none".to_owned(),
            (Some(at), None) => at.to_string(),
            (Some(at), Some(left)) => format!("{at}, {left}"),
        };
        fact("deadline", &deadline);
        if let Some(action) = &gate.on_reject {
            fact("on reject", action);
        }
        if let Some(by) = &gate.resolved_by {
            let at = gate
                .resolved
                .as_ref()
                .map(|at| format!(" at {at}"))
                .unwrap_or_default();
            fact("decided by", &format!("{by} (as claimed){at}"));
        }
        if let Some(comment) = &gate.comment {
            fact("comment", comment);
        }
        if let Some(waited) = &gate.waited {
            fact("waited", waited);
        }
    }
    out
}

pub(crate) fn audit(view: &AuditView, width: usize) -> String {
    let mut out = String::new();
    let tone = match view.chain.as_str() {
        "consistent" => OK,
        "broken" => BAD,
        _ => WAIT,
    };
    let _ = writeln!(
        out,
        "{tone}{}{RESET}  {}",
        escape(&view.chain, false),
        escape(&view.chain_reason, false)
    );
    if let Some((count, hash)) = &view.head {
        let _ = writeln!(
            out,
            "{FAINT}head: {count} rows, {}{RESET}",
            escape(hash, false)
        );
    }
    if view.rows.is_empty() {
        out.push_str("no audit rows\n");
        return out;
    }
    let mut table = Table::new(&[
        ("ID", Fit::Right),
        ("TIME", Fit::Fixed),
        ("GATE", Fit::Shrinks),
        ("EVENT", Fit::Fixed),
        ("PRINCIPAL", Fit::Shrinks),
        ("COMMENT", Fit::Shrinks),
        ("", Fit::Fixed),
    ]);
    let plain = Style::new();
    // Where nothing is sealed, the first line has said so.
    let none_sealed = view.rows.iter().all(|row| !row.sealed);
    for row in &view.rows {
        table.row(vec![
            (row.id.to_string(), FAINT),
            (
                row.timestamp
                    .as_ref()
                    .map_or_else(|| "not recorded".to_owned(), ToString::to_string),
                FAINT,
            ),
            (row.gate.clone(), plain),
            (row.event.clone(), of(&row.event)),
            (row.principal.clone().unwrap_or_default(), plain),
            (row.comment.clone().unwrap_or_default(), plain),
            (
                if row.sealed || none_sealed {
                    String::new()
                } else {
                    "unsealed".to_owned()
                },
                FAINT,
            ),
        ]);
    }
    out.push('\n');
    out.push_str(&table.print(width));
    for issue in &view.issues {
        let _ = write!(
            out,
            "\n{BAD}✗ {}{RESET}\n{}",
            escape(&issue.rule, false),
            wrap(&issue.message, width, "    ")
        );
    }
    out
}
