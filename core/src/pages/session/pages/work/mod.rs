//! Builds the details of a statement's work: its prompt, its inputs, and its answers.
//!
//! A store keeps only the last value of a name, so the value that a statement received or wrote may have been replaced.
//! A value is only shown without a note if the records show that the statement received or wrote it. Otherwise a note
//! explains that the value was replaced, or that this is unknown.

mod attempts;
mod context;
mod kept;
mod order;

use super::program::statement_of;
use super::trace::node_ref;
use super::writes::{written, wrote};
use crate::model::text::short;
use crate::model::{Gate, GateStatus, Text};
use crate::pages::session::values::ValueTable;
use crate::pages::session::{Session, shown};
use crate::pages::view::{
    AgentOfTask, AnswerView, AskedAgent, BindingRef, Excerpt, NodeWork, RunPart, TaskView,
    ValueFormat,
};
use crate::program::{Statement, StatementKind, scan};
use crate::trace::{Node, NodeId, NodeKind, NodeStatus};

/// The largest numbers of bytes and of lines of a value that are shown.
const BYTES: usize = 1_200;
const LINES: usize = 10;

/// Builds the prompt, inputs and answers of a node.
pub(super) fn work(session: &Session, node: NodeId) -> Option<NodeWork> {
    let at = session.node(node)?;
    let mut work = NodeWork::default();
    prompt(session, at, &mut work);
    context::add(session, node, at, &mut work);
    answers(session, node, at, &mut work);
    attempts::add(session, at, &mut work);
    if work.context_note == work.prompt_note {
        // Both notes are equal, and pages show the note on the prompt.
        work.context_note = None;
    }
    Some(work)
}

/// Returns the index of a node's statement in the program; `None` if the node's line is not known.
fn tied(session: &Session, node: &Node) -> Option<u32> {
    session.listing.as_ref()?.begun_at(node.line?)
}

/// The complete prompt of a node.
#[derive(Default)]
pub(super) struct NodePrompt {
    /// The text of the prompt; `None` if the prompt is not known.
    pub(super) prompt: Option<String>,
    /// A note on the prompt, or why the prompt is not known; `None` without a note.
    note: Option<String>,
    agent: Option<AgentOfTask>,
}

fn prompt(session: &Session, node: &Node, work: &mut NodeWork) {
    let asked = asked(session, node);
    work.prompt = asked.prompt.as_deref().map(of_text);
    work.prompt_note = asked.note;
    work.agent = asked.agent;
    work.by = by(session, node);
}

/// Returns the agent of a `session` or `resume` statement, as the program declares it.
fn by(session: &Session, node: &Node) -> Option<AskedAgent> {
    let listing = session.listing.as_ref()?;
    let name = match tied(session, node).filter(|_| !node.line_guessed) {
        Some(at) => listing.get(at).and_then(agent_of),
        None => scan(&node.text).statements.first().and_then(agent_of),
    }?;
    let declared = listing.agent(&name)?;
    let of = |key: &str| declared.property(key).filter(|text| !text.is_empty());
    Some(AskedAgent {
        model: of("model").map(|model| short(model, 80)),
        prompt: of("prompt").map(of_text),
        name,
    })
}

fn agent_of(statement: &Statement) -> Option<String> {
    let asks = matches!(
        statement.kind,
        StatementKind::Session | StatementKind::Resume
    );
    statement
        .target
        .as_deref()
        .filter(|_| asks)
        .map(str::to_owned)
}

/// Returns the prompt of a node: from the program, or from the node's record if that is more reliable.
pub(super) fn asked(session: &Session, node: &Node) -> NodePrompt {
    if let NodeKind::Gate { gate } = &node.kind {
        let gate = session.index.gate(&session.run, gate);
        let prompt = gate.and_then(|g| g.prompt.as_deref()).map(str::to_owned);
        let none = gate.is_some() && prompt.is_none();
        return NodePrompt {
            prompt,
            note: none.then(|| "The gate's record has no prompt.".to_owned()),
            agent: None,
        };
    }
    let listing = session.listing.as_ref();
    let alone = scan(&node.text);
    let own = alone.asked_whole(0);
    // A prompt that the record contains completely is certain, even if the line is a guess.
    let of_line = tied(session, node).filter(|_| !node.line_guessed || own.is_none());
    if let Some((listing, at)) = listing.zip(of_line) {
        let task = TaskView::of(listing, at, listing);
        let agent = task.as_ref().and_then(|task| task.agent.clone());
        let prompt = task.and_then(|task| task.prompt);
        return NodePrompt {
            note: guessed(node).filter(|_| prompt.is_some()),
            prompt,
            agent,
        };
    }
    // If the node's line in the program is unknown, the prompt is read from the statement's text in the node's row.
    let asks = |s: &Statement| matches!(s.kind, StatementKind::Session | StatementKind::Resume);
    if !alone.statements.first().is_some_and(asks) {
        return NodePrompt::default();
    }
    let is_whole = own.is_some();
    let task = TaskView::of(&alone, 0, listing.unwrap_or(&alone));
    let prompt = own.or_else(|| alone.asked(0));
    let note = match (&prompt, listing) {
        (Some(_), _) if is_whole => "As recorded.".to_owned(),
        (Some(_), _) => "As recorded, possibly shortened.".to_owned(),
        (None, Some(_)) => "The line of the statement in the program is not known.".to_owned(),
        (None, None) => sentence(&session.run.program.missing()),
    };
    NodePrompt {
        prompt,
        note: Some(note),
        agent: task.and_then(|task| task.agent),
    }
}

/// Returns a note that the line, and so the prompt, may belong to another statement.
fn guessed(node: &Node) -> Option<String> {
    let line = node.line.filter(|_| node.line_guessed)?;
    let why = node.line_by.map(|by| by.why_guessed());
    let why = why.map_or(String::new(), |why| format!(": {why}"));
    Some(format!("Line {line} is a guess{why}."))
}

fn answers(session: &Session, node: NodeId, at: &Node, work: &mut NodeWork) {
    work.answers = wrote(session, node)
        .into_iter()
        .map(|binding| answer(session, node, at, binding))
        .collect();
    if work.answers.is_empty() {
        work.answer_note = no_answer(session, node, at);
    }
}

fn answer(session: &Session, node: NodeId, at: &Node, binding: BindingRef) -> AnswerView {
    let of = session.run.bindings.get(binding.binding as usize);
    if !binding.overwritten {
        let note = "Which statement wrote the value was inferred from names and order.";
        return AnswerView {
            value: of.and_then(|of| of_binding(session, of)),
            note: binding.inferred.then(|| note.to_owned()),
            binding,
            ..AnswerView::default()
        };
    }
    let by = written(session, binding.binding, None).by;
    let replaced_by = by
        .filter(|by| *by != node)
        .and_then(|by| node_ref(session, by));
    let kept = of.map_or(kept::EarlierValue::None, |of| {
        kept::written_in(session, of, at.worked(&session.run))
    });
    let (value, note) = match kept {
        kept::EarlierValue::Value(value) => (
            Some(value),
            "Another write replaced this value; the earlier value is shown.",
        ),
        kept::EarlierValue::Some => (
            None,
            "Another write replaced the value. The run keeps earlier values, but not which statement wrote each of them.",
        ),
        kept::EarlierValue::None => (
            None,
            "Another write replaced the value, and the earlier value was not kept.",
        ),
    };
    AnswerView {
        note: Some(note.to_owned()),
        value,
        binding,
        replaced_by,
    }
}

/// Returns the reason why a node has no answer; for a gate, how the gate was decided. `None` if no answer is expected.
fn no_answer(session: &Session, node: NodeId, at: &Node) -> Option<String> {
    if let NodeKind::Gate { gate } = &at.kind {
        return outcome(session.index.gate(&session.run, gate)?);
    }
    let statement = statement_of(session, at);
    let binds = statement.and_then(|s| s.output().map(|(name, _)| name));
    let asks = |kind| matches!(kind, StatementKind::Session | StatementKind::Resume);
    if binds.is_none() && !statement.is_some_and(|s| asks(s.kind)) {
        return None;
    }
    if session
        .unread()
        .iter()
        .any(|u| u.concerns(RunPart::Bindings))
    {
        return Some("Not all values could be read.".to_owned());
    }
    let words = match (&at.status, binds) {
        (NodeStatus::Pending, _) => "The statement has not begun.".to_owned(),
        (NodeStatus::Skipped, _) => "The statement was skipped.".to_owned(),
        (NodeStatus::Completed, Some(name)) if there(session, node, name) => {
            format!("{name} has a value, but the records do not show that this statement wrote it.")
        }
        (NodeStatus::Completed, Some(name)) => {
            format!("The statement completed, but no value of {name} is recorded in its frame.")
        }
        (NodeStatus::Completed, None) => {
            "The statement binds no name, and no anonymous binding belongs to it.".to_owned()
        }
        (status, _) if status.is_open() && !session.is_at_rest() => {
            "No value is recorded yet.".to_owned()
        }
        _ => "No value is recorded.".to_owned(),
    };
    Some(words)
}

/// Describes how a gate was decided, by whom, and with which comment; `None` while the gate is pending.
pub(super) fn outcome(gate: &Gate) -> Option<String> {
    let by = gate.resolved_by.as_deref().map(|by| format!(" by {by}"));
    let comment = gate
        .comment
        .as_deref()
        .map(|c| format!(": {}", short(c, 400)));
    let (by, comment) = (by.unwrap_or_default(), comment.unwrap_or_default());
    let word = sentence_start(gate.status.word());
    (gate.status != GateStatus::Pending).then(|| format!("{word}{by}{comment}"))
}

/// Returns whether a binding of this name exists in the frame to which a node writes.
fn there(session: &Session, node: NodeId, name: &str) -> bool {
    let above = session.node(node).and_then(|at| at.parent);
    let frame = session.trace.frame(above);
    session.run.bindings.iter().any(|binding| {
        let of = binding.execution_id.and_then(|id| session.node_of_row(id));
        *binding.name == *name && of == frame && (frame.is_some() || binding.execution_id.is_none())
    })
}

/// Returns the first lines of a binding's attachment, or of the binding's value if there is no attachment.
fn of_binding(session: &Session, binding: &crate::model::Binding) -> Option<Excerpt> {
    let place = session.values.of_binding(binding);
    let view = session.values.view(&place, BYTES).ok()?;
    Some(cut_lines(view.text, view.len, view.format))
}

/// Returns the first lines of a value, given its first bytes.
fn of_bytes(bytes: &[u8], len: u64) -> Excerpt {
    let cut = (bytes.len() as u64) < len;
    let (text, _) = shown::to_text(bytes, cut);
    let format = shown::format_of(bytes, &text);
    let text = match format {
        ValueFormat::Binary => shown::hex(bytes, BYTES),
        _ => text,
    };
    cut_lines(text, len, format)
}

fn of_text(text: &str) -> Excerpt {
    let head = text.get(..text.floor_char_boundary(BYTES));
    let head = head.unwrap_or_default().to_owned();
    cut_lines(head, text.len() as u64, ValueFormat::Text)
}

fn cut_lines(mut text: String, len: u64, format: ValueFormat) -> Excerpt {
    let cut = if format == ValueFormat::Binary {
        // The text is hexadecimal, with three characters for each byte.
        text.truncate(3 * 64);
        text.truncate(text.trim_end().len());
        len > 64
    } else {
        if let Some((end, _)) = text.match_indices('\n').nth(LINES - 1) {
            text.truncate(end);
        }
        (text.trim_end_matches('\n').len() as u64) < len && (text.len() as u64) + 1 < len
    };
    Excerpt {
        text,
        len,
        cut,
        format,
    }
}

/// Turns a clause into a sentence, with a capital letter and a full stop.
pub(super) fn sentence(clause: &str) -> String {
    format!("{}.", sentence_start(clause))
}

pub(super) fn sentence_start(clause: &str) -> String {
    let mut chars = clause.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
