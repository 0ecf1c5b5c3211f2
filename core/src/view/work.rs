use serde::{Deserialize, Serialize};

use super::{AgentOfTask, BindingRef, NodeRef, ValueFormat};
use crate::time::Stamp;

/// What a statement was asked, what it was given, and what it answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NodeWork {
    /// What it was asked: as the program says it, or as its record has it where that tells more surely.
    pub prompt: Option<Excerpt>,
    /// What to know of the prompt, or why it is not known.
    pub prompt_note: Option<String>,
    /// The persistent agent that carried it out.
    pub agent: Option<AgentOfTask>,
    /// The agent that it names, as the program declares it.
    #[serde(default)]
    pub by: Option<AskedAgent>,
    /// The names that it was given, as they are resolved in its frame; the first fifty.
    pub context: Vec<GivenName>,
    /// How many more names there are.
    pub more_context: u32,
    /// What to know of all of them, or why they are not known.
    pub context_note: Option<String>,
    /// The bindings that it wrote.
    pub answers: Vec<AnswerView>,
    /// Why there is no answer, or why it is not known.
    pub answer_note: Option<String>,
    /// Its attempts, as far as rows tell of them; empty where there was one.
    pub attempts: Vec<AttemptView>,
    /// What the rows do not tell of its attempts.
    pub attempts_note: Option<String>,
}

/// An agent that a session names, as the program declares it: what a record says of it may differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskedAgent {
    /// Its name.
    pub name: String,
    /// The model that it asks for; `None`: the program names none.
    pub model: Option<String>,
    /// Its own prompt, which stands before that of each session.
    pub prompt: Option<Excerpt>,
}

/// The first lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Excerpt {
    /// The first lines, at most ten of them and 1,200 bytes; of what is no text, the first bytes as hexadecimal digits.
    pub text: String,
    /// Bytes in all.
    pub len: u64,
    /// Whether `text` is not all of it.
    pub cut: bool,
    /// How it reads best.
    pub format: ValueFormat,
}

/// Whether a value that is there now is the one that a statement was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// It is: nothing wrote it since.
    Same,
    /// It is not: the value was written later. The earlier one is shown where the run keeps it.
    Replaced,
    /// The records do not decide it.
    #[default]
    Unknown,
    /// The name meant nothing that is recorded.
    Nothing,
}

/// A name that a statement was given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GivenName {
    /// The name.
    pub name: String,
    /// The binding that it meant.
    pub binding: Option<BindingRef>,
    /// The statement that wrote the value that it was given, where `seen` is `same` and a record tells which.
    #[serde(default)]
    pub written_by: Option<NodeRef>,
    /// Why it meant this one, or none.
    pub why: String,
    /// Whether the value there now is the one that was given.
    pub seen: Seen,
    /// `seen` follows from the order of the statements, as times do not decide it.
    pub inferred: bool,
    /// The first lines of what it was given; where `seen` is `unknown`, of the value that is there now; `None` where what it
    /// was given is not kept.
    pub value: Option<Excerpt>,
    /// What to know: what replaced the value, or why it is not known whether it is the one.
    pub note: Option<String>,
}

/// A binding that a statement wrote.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AnswerView {
    /// The binding; `overwritten` says that its present value is of a later write.
    pub binding: BindingRef,
    /// The first lines of what the statement wrote; `None` where that is not kept. Never of a later value.
    pub value: Option<Excerpt>,
    /// Who replaced the value, where that is known.
    pub replaced_by: Option<NodeRef>,
    /// What to know: it was replaced, and whether it is kept.
    pub note: Option<String>,
}

/// An attempt to carry a statement out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AttemptView {
    /// Its number, from 1.
    pub number: u32,
    /// The row that tells of it first.
    pub id: i64,
    /// Its status in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// When it began; `None`: not recorded.
    pub started: Option<Stamp>,
    /// When it ended; `None`: not recorded.
    pub ended: Option<Stamp>,
    /// Its error, cut at 400 characters.
    pub error: Option<String>,
}
