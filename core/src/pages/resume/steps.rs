//! Lists the steps that continue a run, in order.

use crate::model::text::short;
use crate::pages::view::{GateOutcomeView, NeedState, ResumeView, StepView, Stop};

/// Limit for the number of values that are named one by one.
const NAMED: usize = 4;

/// Returns the steps that continue a run, from its view.
pub fn steps(view: &ResumeView) -> Vec<StepView> {
    let mut steps: Vec<StepView> = Vec::new();
    let mut add = |text: String, commands: Vec<String>| steps.push(StepView { text, commands });
    if !view.resumable {
        return steps;
    }
    let pending = view.gates.iter().filter(|_| view.status != "failed");
    for GateOutcomeView { gate, outcomes } in pending {
        let id = &gate.id;
        if gate.overdue {
            let then = &outcomes.if_timed_out;
            add(
                format!("Record that gate {id} timed out: {then}."),
                gate.expire_command.iter().cloned().collect(),
            );
            continue;
        }
        add(
            format!(
                "Have gate {id} decided by {}. Approved: {}. Rejected: {}.",
                gate.allow_words, outcomes.if_approved, outcomes.if_rejected
            ),
            vec![gate.approve_command.clone(), gate.reject_command.clone()],
        );
    }
    for asked in &view.questions {
        let question = asked
            .question
            .as_deref()
            .unwrap_or("the program asks without words");
        let input = &asked.input;
        add(
            format!("Have a person answer {input}: {question} A model does not answer it."),
            Vec::new(),
        );
    }
    let asks = |line: Option<u32>| {
        let mut lines = view.questions.iter().map(|asked| asked.node.as_ref()?.line);
        line.is_some() && lines.any(|of| of == line)
    };
    for caution in view.cautions.iter().filter(|c| c.risk.looks_back()) {
        let line = caution.node.as_ref().and_then(|node| node.line);
        let place = line.map_or(String::new(), |line| format!(" (line {line})"));
        let text = format!("Find out what was done{place}: {}.", caution.text);
        add(text, Vec::new());
    }
    let first = |lines: &[u32]| lines.first().copied().unwrap_or_default();
    for need in view.needs.iter().filter(|n| n.is_missing() && n.sure) {
        let (name, line, why) = (&need.name, first(&need.lines), &need.reason);
        add(
            format!("Give {name} a value before line {line}: {why}."),
            Vec::new(),
        );
    }
    let memories = view.memories.iter();
    for memory in memories.filter(|m| m.state == NeedState::Nowhere) {
        let (agent, line) = (&memory.agent, first(&memory.lines));
        let text = format!(
            "Find the memory of agent {agent} before line {line}, or let the agent start without a memory."
        );
        add(text, Vec::new());
    }
    let names: Vec<&str> = view.there().map(|n| n.name.as_str()).collect();
    if !names.is_empty() {
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let names: Vec<&str> = names.into_iter().take(NAMED).collect();
        let names = names.join(", ");
        add(
            format!("Pass on the values that are still needed: {names}{more}."),
            view.there()
                .take(NAMED)
                .map(|n| n.command.clone())
                .collect(),
        );
    }
    for position in &view.positions {
        let frame = position.frame;
        let frame = frame.map_or(String::new(), |id| format!(" in frame {id}"));
        let next = position.next.as_ref();
        let next =
            next.map(|next| format!("line {}{frame}, `{}`", next.line, short(&next.text, 60)));
        let text = match (next, position.how) {
            (_, Stop::Gate) => continue,
            _ if asks(position.line) => continue,
            (_, Stop::Refused) => format!(
                "Carry out what follows for the gate at line {}, which was turned down: {}.",
                position.line.unwrap_or_default(),
                position
                    .meaning
                    .as_deref()
                    .unwrap_or("the action is not recorded")
            ),
            (Some(next), Stop::Failed) => {
                format!("Begin again at {next}, after removing the cause of the failure.")
            }
            (Some(next), _) => format!("Go on at {next}."),
            (None, _) => continue,
        };
        add(text, position.commands.clone());
    }
    steps
}
