use std::fmt::Write as _;

use prosescope_core::model::shell::command;
use prosescope_core::model::time::human_duration;
use prosescope_core::pages::view::{GateDecided, GateTimedOut, acting, icon};
use prosescope_core::read::gate::audit::AuditHead;
use prosescope_core::record::render::text::escape;

use super::fact;
use super::style::{BOLD, FAINT, RESET, WAIT, of};

/// Formats the head of an audit log, as `--expect-head` takes it.
pub(crate) fn head(head: &AuditHead) -> String {
    format!("{}:{}", head.count, head.hash)
}

/// Formats a recorded decision, and which of its facts are only claims that prosescope did not check.
pub(crate) fn decided(done: &GateDecided) -> String {
    let mut out = line(&done.status, &done.gate, &done.run);
    let by = acting(&done.resolved_by, done.on_behalf_of.as_deref());
    fact(
        &mut out,
        "decided by",
        &format!("{by} (claimed, not checked)"),
    );
    if done.overridden {
        fact(
            &mut out,
            "override",
            "no sealed row records the creation of the gate; the audit log records that this gate was decided nevertheless",
        );
    }
    if let Some(waited) = done.waited_ms {
        fact(&mut out, "waited", &human_duration(waited));
    }
    if let Some(action) = &done.on_reject {
        fact(&mut out, "on reject", action);
    }
    told_head(&mut out, done.head.as_ref());
    out
}

/// Formats recorded time-outs.
pub(crate) fn expired(done: &[GateTimedOut]) -> String {
    if done.is_empty() {
        return "no gate is past its deadline\n".to_owned();
    }
    let mut out = String::new();
    for gate in done {
        out.push_str(&line(&gate.status, &gate.gate, &gate.run));
        if let Some(deadline) = &gate.deadline {
            fact(&mut out, "deadline", &deadline.to_string());
        }
        if let Some(action) = &gate.on_reject {
            fact(&mut out, "on reject", action);
        }
        told_head(&mut out, gate.head.as_ref());
    }
    out
}

/// Formats a note, which is printed beside an answer.
pub(crate) fn note(text: &str) -> String {
    format!("{WAIT}note:{RESET} {}", escape(text, true))
}

fn line(status: &str, gate: &str, run: &str) -> String {
    let tone = of(status);
    format!(
        "{tone}{} {status}{RESET}  {BOLD}{}{RESET}  {FAINT}{}{RESET}\n",
        icon(status),
        escape(gate, false),
        escape(run, false)
    )
}

fn told_head(out: &mut String, last: Option<&AuditHead>) {
    let Some(last) = last else { return };
    let head = head(last);
    fact(out, "head", &head);
    let _ = writeln!(
        out,
        "  {FAINT}Keep the head: `{}` detects a log that was cut or rewritten.{RESET}",
        command(
            "audit verify",
            &[&last.run],
            &format!("--expect-head {head}")
        )
    );
}
