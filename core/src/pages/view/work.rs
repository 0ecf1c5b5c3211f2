//! Defines the JSON of one statement's work: its prompt, its inputs, its answers and its attempts.

use serde::{Deserialize, Serialize};

use super::{AgentOfTask, BindingRef, NodeRef, ValueFormat};
use crate::model::time::Stamp;

/// The prompt, inputs and answers of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeWork {
    /// The prompt as the program writes it, or as the statement's record has it if the record is more reliable.
    pub prompt: Option<Excerpt>,
    /// A note on the prompt, or why the prompt is not known; `None` without a note.
    pub prompt_note: Option<String>,
    /// The persistent agent that carried out the statement, if any.
    pub agent: Option<AgentOfTask>,
    /// The statement's agent (`captain` of `session: captain`) as the program declares it, if any.
    #[serde(default)]
    pub by: Option<AskedAgent>,
    /// The names whose values the statement received, resolved in the statement's frame (the first 50).
    pub context: Vec<GivenName>,
    /// How many more names the statement received.
    pub more_context: u32,
    /// A note on all names in `context`, or why the names are not known; `None` without a note.
    pub context_note: Option<String>,
    /// The bindings that the statement wrote.
    pub answers: Vec<AnswerView>,
    /// Why the answer is missing or not known. For a gate: how the gate was decided. `None` otherwise.
    pub answer_note: Option<String>,
    /// The attempts, as far as rows record them; empty if there was only one attempt.
    pub attempts: Vec<AttemptView>,
    /// Facts about the attempts that the rows do not record, if any.
    pub attempts_note: Option<String>,
}

/// The agent of a session, as the program declares it. The run's records of the agent may differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskedAgent {
    /// The name under which the program declares the agent.
    pub name: String,
    /// The model that the agent requests; `None` if the program does not name a model.
    pub model: Option<String>,
    /// The agent's own prompt, which precedes the prompt of each session; `None` without a prompt.
    pub prompt: Option<Excerpt>,
}

/// The first lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Excerpt {
    /// The beginning of the text: at most ten lines and 1,200 bytes. For a value that is not text, its first bytes in
    /// hexadecimal.
    pub text: String,
    /// Bytes of the whole text.
    pub len: u64,
    /// Whether `text` is shorter than the whole text.
    pub cut: bool,
    /// The format in which the text is best displayed.
    pub format: ValueFormat,
}

/// Whether the present value of a name is the value that a statement received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Received {
    /// The present value is the value that the statement received, because nothing wrote the binding since; or the
    /// value that a statement which has not begun, or a gate that waits, would receive now.
    Same,
    /// The value was replaced later. The earlier value is shown if the run keeps it.
    Replaced,
    /// The records do not show whether the value was replaced.
    #[default]
    Unknown,
    /// The name did not refer to a recorded binding.
    Nothing,
}

/// A name whose value a statement received as input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GivenName {
    /// The name, as the statement uses it.
    pub name: String,
    /// The binding that the name referred to; `None` if there is no such binding.
    pub binding: Option<BindingRef>,
    /// The statement that wrote the received value. Only set if `seen` is `same` and a record identifies the writer.
    #[serde(default)]
    pub written_by: Option<NodeRef>,
    /// Why the name referred to this binding, or to none.
    pub why: String,
    /// Whether the present value is the value that the statement received.
    pub seen: Received,
    /// Whether `seen` was inferred from the order of the statements, because the recorded times are not enough to know
    /// it.
    pub inferred: bool,
    /// The first lines of the received value, or of the present value if `seen` is `unknown`; `None` if the received
    /// value was not kept.
    pub value: Option<Excerpt>,
    /// A note which says what replaced the value, or why it is unknown whether the value is the same; `None` without a
    /// note.
    pub note: Option<String>,
}

/// A binding that a statement wrote.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AnswerView {
    /// The binding; `overwritten` means that its present value is from a later write.
    pub binding: BindingRef,
    /// The first lines of the value that the statement wrote, not of a later value; `None` if that value was not kept.
    pub value: Option<Excerpt>,
    /// The statement that replaced the value, if that statement is known.
    pub replaced_by: Option<NodeRef>,
    /// A note which says whether the value was replaced, and whether the run keeps the earlier value; `None` without a
    /// note.
    pub note: Option<String>,
}

/// An attempt to carry out a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AttemptView {
    /// The number of the attempt, from 1.
    pub number: u32,
    /// The id of the first row that records the attempt.
    pub id: i64,
    /// The status of the attempt, in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// When the attempt began; `None` if that is not recorded.
    pub started: Option<Stamp>,
    /// When the attempt ended; `None` if that is not recorded.
    pub ended: Option<Stamp>,
    /// The error of the attempt, cut at 400 characters, if any.
    pub error: Option<String>,
}
