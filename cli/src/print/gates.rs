use std::fmt::Write as _;

use prosescope_core::pages::view::{GateView, QuestionView, icon};
use prosescope_core::record::render::text::escape;

use super::style::{BOLD, FAINT, RESET, of};
use super::{fact, wrap};

pub(crate) fn gates(gates: &[GateView], questions: &[QuestionView], width: usize) -> String {
    if gates.is_empty() && questions.is_empty() {
        return "no gates\n".to_owned();
    }
    let mut out = String::new();
    for asked in questions {
        let _ = writeln!(
            out,
            "{}{} asks{RESET}  {BOLD}{}{RESET}  {FAINT}{}{RESET}",
            of("waiting"),
            icon("waiting"),
            escape(&asked.input, false),
            escape(&asked.run, false)
        );
        let question = asked.question.as_deref().unwrap_or("(no words)");
        out.push_str(&wrap(question, width.min(88), "  > "));
    }
    if !gates.is_empty() && !questions.is_empty() {
        out.push('\n');
    }
    for (i, gate) in gates.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        one(&mut out, gate, width);
    }
    out
}

/// Formats a gate with its history and the commands that decide it.
pub(crate) fn gate(gate: &GateView, width: usize) -> String {
    let mut out = String::new();
    one(&mut out, gate, width);
    if !gate.history.is_empty() {
        out.push('\n');
        out.push_str(&super::audit::rows(&gate.history, width));
    }
    if gate.status == "pending" && !gate.overdue && !gate.is_copy {
        let _ = write!(
            out,
            "\n{FAINT}{}\n{}{RESET}\n",
            escape(&gate.approve_command, false),
            escape(&gate.reject_command, false)
        );
    }
    out
}

fn one(out: &mut String, gate: &GateView, width: usize) {
    let status = match gate.contradicted {
        Some(_) => "contradicted",
        None => &gate.status,
    };
    let tone = of(status);
    let _ = writeln!(
        out,
        "{tone}{}{RESET}  {BOLD}{}{RESET}  {FAINT}{}{RESET}",
        escape(&format!("{} {}", icon(status), gate.standing), false),
        escape(&gate.id, false),
        escape(&gate.run, false)
    );
    for line in gate.prompt.lines() {
        out.push_str(&wrap(line, width.min(88), "  > "));
    }
    let mut fact = |name: &str, value: &str| fact(out, name, value);
    fact("may decide", &gate.allow_words);
    if gate.is_copy && gate.status == "pending" {
        fact("copy", "decide the gate where the run is recorded");
    }
    let deadline = match (&gate.deadline, &gate.remaining) {
        (None, _) => "none".to_owned(),
        (Some(at), None) => at.to_string(),
        (Some(at), Some(left)) => format!("{at}, {left}"),
    };
    fact("deadline", &deadline);
    if let Some(action) = &gate.on_reject {
        fact("on reject", action);
    }
    if let Some(why) = &gate.contradicted {
        fact("contradicted", &format!("by the audit log: {why}"));
    }
    if let Some(why) = &gate.unsealed {
        fact("unsealed", why);
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
