use std::fmt::Write as _;

use prosescope_core::gate::audit::Head;
use prosescope_core::render::text::escape;
use prosescope_core::view::icon;
use prosescope_core::write::{Decided, TimedOut};

use super::fact;
use super::style::{BOLD, FAINT, RESET, WAIT, of};

/// A head of an audit log, as `--expect-head` takes it.
pub(crate) fn head(head: &Head) -> String {
    format!("{}:{}", head.count, head.hash)
}

/// A decision that counts, and what it is worth.
pub(crate) fn decided(run: &str, done: &Decided, waited: Option<&str>) -> String {
    let mut out = line(done.status, &done.gate, run);
    let by = match &done.on_behalf_of {
        Some(other) => format!("{}, for {other}", done.by),
        None => done.by.clone(),
    };
    fact(
        &mut out,
        "decided by",
        &format!("{by} (claimed, not checked)"),
    );
    if let Some(waited) = waited {
        fact(&mut out, "waited", waited);
    }
    if let Some(action) = &done.on_reject {
        fact(&mut out, "on reject", action);
    }
    told_head(&mut out, done.head.as_ref(), run);
    out
}

/// Time-outs that were recorded, each with its run.
pub(crate) fn expired(done: &[(String, TimedOut)]) -> String {
    if done.is_empty() {
        return "no gate is past its deadline\n".to_owned();
    }
    let mut out = String::new();
    for (run, gate) in done {
        out.push_str(&line("timeout", &gate.gate, run));
        if let Some(deadline) = &gate.deadline {
            fact(&mut out, "deadline", &deadline.to_string());
        }
        if let Some(action) = &gate.on_reject {
            fact(&mut out, "on reject", action);
        }
        told_head(&mut out, gate.head.as_ref(), run);
    }
    out
}

/// A note for people, beside what was asked for.
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

fn told_head(out: &mut String, last: Option<&Head>, run: &str) {
    let Some(last) = last else { return };
    let last = head(last);
    fact(out, "head", &last);
    let _ = writeln!(
        out,
        "  {FAINT}Keep the head: `prose audit verify {} --expect-head …` detects a log that was cut or rewritten.{RESET}",
        escape(run, false)
    );
}
