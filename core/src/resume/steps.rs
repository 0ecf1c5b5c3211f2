//! What to do next, in order.

use crate::text::short;
use crate::view::{ResumeView, StepView};

/// Values that are named one by one.
const NAMED: usize = 4;

/// The steps to go on with a run, from what its view says.
pub fn steps(view: &ResumeView) -> Vec<StepView> {
    let mut steps: Vec<StepView> = Vec::new();
    let mut add = |text: String, commands: Vec<String>| steps.push(StepView { text, commands });
    if !view.resumable {
        return steps;
    }
    let finished = view.status == "failed";
    for gate in &view.gates {
        let id = &gate.gate.id;
        if finished {
            continue;
        }
        if gate.gate.overdue {
            add(
                format!("Record that gate {id} timed out: {}.", gate.if_timed_out),
                Vec::new(),
            );
        } else {
            add(
                format!(
                    "Have gate {id} decided by {}. Approved: {}. Rejected: {}.",
                    gate.gate.allow_words, gate.if_approved, gate.if_rejected
                ),
                vec![
                    gate.gate.approve_command.clone(),
                    gate.gate.reject_command.clone(),
                ],
            );
        }
    }
    for caution in view.cautions.iter().filter(|c| looks_back(&c.risk)) {
        let place = caution
            .node
            .as_ref()
            .and_then(|n| n.line)
            .map_or(String::new(), |line| format!(" (line {line})"));
        add(
            format!("Find out what was done{place}: {}.", caution.text),
            Vec::new(),
        );
    }
    for need in view.needs.iter().filter(|n| n.is_missing() && n.sure) {
        add(
            format!(
                "Give {} a value before line {}: {}.",
                need.name,
                need.lines.first().copied().unwrap_or_default(),
                need.reason
            ),
            Vec::new(),
        );
    }
    for memory in view.memories.iter().filter(|m| m.state == "nowhere") {
        add(
            format!(
                "Find the memory of agent {} before line {}, or let it begin anew.",
                memory.agent,
                memory.lines.first().copied().unwrap_or_default()
            ),
            Vec::new(),
        );
    }
    let there: Vec<_> = view.needs.iter().filter(|n| n.state == "there").collect();
    if !there.is_empty() {
        let more = there.len().saturating_sub(NAMED);
        let names: Vec<&str> = there.iter().take(NAMED).map(|n| n.name.as_str()).collect();
        let more = match more {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        add(
            format!(
                "Pass on the values that the rest needs: {}{more}.",
                names.join(", ")
            ),
            there
                .iter()
                .take(NAMED)
                .map(|n| n.command.clone())
                .collect(),
        );
    }
    for position in &view.positions {
        let frame = position
            .frame
            .map_or(String::new(), |id| format!(" in frame {id}"));
        let text = match (&position.next, position.how.as_str()) {
            (_, "gate") => continue,
            (_, "refused") => format!(
                "Act on the gate at line {} that was turned down: {}.",
                position.line.unwrap_or_default(),
                position.meaning.as_deref().unwrap_or("nothing says how")
            ),
            (Some(next), "failed") => format!(
                "Begin again at line {}{frame}, `{}`, once what made it fail is changed.",
                next.line,
                short(&next.text, 60)
            ),
            (Some(next), _) => format!(
                "Go on at line {}{frame}, `{}`.",
                next.line,
                short(&next.text, 60)
            ),
            (None, _) => continue,
        };
        add(text, position.commands.clone());
    }
    steps
}

/// Whether a risk asks for a look at what was done; the others only say what is done.
fn looks_back(risk: &str) -> bool {
    matches!(risk, "exec" | "begun" | "memory" | "outside")
}
