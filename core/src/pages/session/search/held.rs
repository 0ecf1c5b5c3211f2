//! Searches the parts of a run that are in memory: statements, errors, prompts, gates, names.

use std::collections::BTreeSet;

use super::{Needle, SearchSoFar};
use crate::model::Binding;
use crate::model::text::short;
use crate::pages::session::Session;
use crate::pages::session::pages::{error_of, scope_words};
use crate::pages::view::{HitKind, SearchHit, number};
use crate::trace::{Node, NodeId};

/// The largest number of characters of a statement in the place of a hit.
const TEXT: usize = 60;

pub(super) fn look(session: &Session, needle: &Needle, found: &mut SearchSoFar) {
    for (at, node) in session.trace.nodes.iter_enumerated() {
        let place = || of_node(at, node);
        found.text(needle, HitKind::Statements, &node.text, place);
        if let Some(error) = error_of(session, at, node) {
            found.text(needle, HitKind::Errors, error, place);
        }
    }
    program(session, needle, found);
    for (at, agent) in (0..).zip(&session.run.agents) {
        let place = |segment| SearchHit {
            place: match segment {
                Some(number) => format!("{}, segment {number}", agent.name),
                None => agent.name.to_string(),
            },
            agent: Some(at),
            segment,
            ..SearchHit::default()
        };
        found.text(needle, HitKind::Memories, &agent.name, || place(None));
        for segment in &agent.segments {
            let place = || place(Some(segment.number));
            if let Some(prompt) = &segment.prompt {
                found.text(needle, HitKind::Prompts, prompt, place);
            }
            if let Some(summary) = &segment.summary {
                found.text(needle, HitKind::Memories, summary, place);
            }
        }
    }
    for gate in &session.run.gates {
        let texts = [
            Some(&gate.id),
            gate.prompt.as_ref(),
            gate.on_reject.as_ref(),
            gate.resolved_by.as_ref(),
            gate.comment.as_ref(),
        ];
        for text in texts.into_iter().flatten() {
            found.text(needle, HitKind::Gates, text, || SearchHit {
                place: format!("gate {}", gate.id),
                gate: Some(gate.id.to_string()),
                node: gate
                    .execution_id
                    .and_then(|id| session.node_of_row(id))
                    .map(NodeId::get),
                id: gate.execution_id,
                ..SearchHit::default()
            });
        }
    }
    for (at, binding) in (0..).zip(&session.run.bindings) {
        found.text(needle, HitKind::Values, &binding.name, || SearchHit {
            place: format!("the name {}", in_scope(session, binding)),
            binding: Some(at),
            ..SearchHit::default()
        });
    }
    for file in &session.run.files {
        found.text(needle, HitKind::Files, &file.path, || SearchHit {
            place: "file".to_owned(),
            file: Some(file.path.clone()),
            ..SearchHit::default()
        });
    }
}

/// Searches the program for statements without a node and for prompts on lines of their own.
fn program(session: &Session, needle: &Needle, found: &mut SearchSoFar) {
    let Some(listing) = &session.listing else {
        return;
    };
    let ran: BTreeSet<u32> = session.index.lines.iter().map(|(line, _)| *line).collect();
    for (at, statement) in (0..).zip(&listing.statements) {
        let node = session.index.at_line(statement.line).next();
        let place = || SearchHit {
            place: format!("line {} {}", statement.line, short(&statement.text, TEXT)),
            line: Some(statement.line),
            node: node.map(NodeId::get),
            id: node.and_then(|node| session.node(node)?.id),
            ..SearchHit::default()
        };
        if !ran.contains(&statement.line) {
            found.text(needle, HitKind::Statements, &statement.text, place);
        }
        let own = listing.asked(at);
        let declared = || statement.property("prompt").map(str::to_owned);
        // A prompt on the statement's own line is found as part of the statement.
        let prompt = own.or_else(declared);
        if let Some(prompt) = prompt.filter(|prompt| !statement.text.contains(prompt.as_str())) {
            found.text(needle, HitKind::Prompts, &prompt, place);
        }
    }
}

fn of_node(at: NodeId, node: &Node) -> SearchHit {
    let text = short(&node.text, TEXT);
    SearchHit {
        place: format!("{} {text}", number(at.get(), node.id)),
        node: Some(at.get()),
        id: node.id,
        line: node.line,
        ..SearchHit::default()
    }
}

/// Returns a binding's name with its scope: `draft in frame 3`.
pub(super) fn in_scope(session: &Session, binding: &Binding) -> String {
    match binding.execution_id {
        Some(_) => format!(
            "{} in {}",
            binding.name,
            scope_words(session, binding.execution_id)
        ),
        None => binding.name.to_string(),
    }
}
