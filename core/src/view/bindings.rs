use serde::{Deserialize, Serialize};

use super::NodeRef;
use crate::issue::Issue;
use crate::render::download::ValueFormat;
use crate::scope::Outcome;
use crate::text::counted;
use crate::time::Stamp;

/// A window of the bindings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingsPage {
    /// How many there are in all, by scope: root first, then frame by frame.
    pub total: u32,
    /// The first row's place among them.
    pub from: u32,
    /// The rows.
    pub rows: Vec<BindingRow>,
}

/// A binding in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingRow {
    /// Index into the run's bindings: what a shell passes back.
    pub binding: u32,
    /// Its name.
    pub name: String,
    /// Its frame; `None` is the root.
    pub execution_id: Option<i64>,
    /// The way to the frame, from the outside in: `do process(data) #41 › do process(half) #42`; empty at the root.
    pub frame_path: String,
    /// The node of its frame in the trace, where it is there.
    pub frame_node: Option<u32>,
    /// The kind as written.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::BindingKind"))]
    pub kind: String,
    /// Bytes; `None`: NULL, or missing.
    pub len: Option<u64>,
    /// How it is stored: `text`, `blob`, `null`, `file`, `missing` …
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StoredAs"))]
    pub stored: String,
    /// The beginning of the value on one line, at most 160 characters.
    pub preview: String,
    /// The statement that made it.
    pub source: Option<String>,
    /// When it was first written.
    pub created: Option<Stamp>,
    /// When it was last written.
    pub updated: Option<Stamp>,
    /// The node that wrote the value: it was under way at that time. `None` when none was, or when several may have
    /// written it.
    #[serde(default)]
    pub written_by: Option<NodeRef>,
    /// `written_by` follows from names and order, as times are not recorded.
    #[serde(default)]
    pub writer_inferred: bool,
    /// `attachment_path` as recorded.
    pub attachment: Option<String>,
    /// Fields of its file's header that no document knows (`agent`, `exit_code`, `stderr`), in order; the first 20.
    #[serde(default)]
    pub fields: Vec<(String, String)>,
    /// What is missing of it was not given: single files of the run were opened, not its folder.
    #[serde(default)]
    pub not_given: bool,
    /// Whether the attachment is there: its bytes; `None` with a path means that it is missing.
    pub attachment_len: Option<u64>,
    /// How many rows claim this name and frame (errata S2): 1, unless the table lets it happen.
    pub versions: u32,
    /// How many earlier values the store keeps aside (errata B6).
    pub earlier: u32,
    /// A later row claims the same name and frame.
    pub superseded: bool,
}

/// A value, opened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueView {
    /// What it is a value of: a binding's name, an agent's memory, a file.
    pub title: String,
    /// Its beginning, up to the length that was asked for; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Bytes in all.
    pub len: u64,
    /// Whether `text` is not all of it.
    pub cut: bool,
    /// How it reads best.
    pub format: ValueFormat,
    /// Where it lies: `state.db, bindings`, `bindings/a.md`, `attachments/report.md`.
    pub from: String,
    /// The summary in the row, where the value itself is an attachment.
    pub summary: Option<String>,
    /// What to know: the attachment is missing, bytes were replaced.
    pub note: Option<String>,
    /// Why the value is not there: `text` is then empty, or what the row has in its place.
    pub missing: Option<String>,
}

/// What a name means in a frame, and why, in words and links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ResolutionView {
    /// The name that was asked for.
    pub name: String,
    /// The frame it was asked from; `None` is the root.
    pub from: Option<i64>,
    /// The way that was walked, from the frame asked from outward, ending in `root`; cut in its middle when long.
    pub chain: Vec<String>,
    /// The candidates, the winner first.
    pub candidates: Vec<CandidateView>,
    /// How many more there are, farther away than these.
    #[serde(default)]
    pub more: u32,
    /// What bent the walk.
    pub issues: Vec<Issue>,
}

impl ResolutionView {
    /// The candidate that the name means, if it means any.
    pub fn winner(&self) -> Option<&CandidateView> {
        self.candidates.iter().find(|c| c.outcome == Outcome::Wins)
    }
}

/// A candidate of a resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CandidateView {
    /// The binding.
    pub row: BindingRow,
    /// Steps up; `None` for the root and for those out of reach.
    pub distance: Option<u32>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, in one sentence.
    pub reason: String,
}

/// The agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentsView {
    /// The agents: the run's own, then the project's, then the user's.
    pub agents: Vec<AgentView>,
    /// Agents whose memory the program keeps at a path of its own: it is not opened from a run's data.
    #[serde(default)]
    pub elsewhere: Vec<AgentElsewhere>,
}

/// An agent that is kept at a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentElsewhere {
    /// Its name.
    pub name: String,
    /// The path, as the program says it (`persist: "path"`).
    pub path: String,
    /// The command that reads its memory there.
    pub command: String,
}

/// An agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentView {
    /// Index into the run's agents: what a shell passes back to open its memory.
    pub agent: u32,
    /// Its name.
    pub name: String,
    /// Its scope.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::AgentScope"))]
    pub scope: String,
    /// Which store it was read from.
    pub store: String,
    /// Another store of the same scope has an agent of this name, and the run uses that one.
    #[serde(default)]
    pub shadowed: bool,
    /// Its memory and its times are kept in what could not be read: that it has none must not be said.
    #[serde(default)]
    pub memory_unread: bool,
    /// Not all of its invocations could be read.
    #[serde(default)]
    pub segments_unread: bool,
    /// Bytes of its memory; `None`: it has none.
    pub memory_len: Option<u64>,
    /// The beginning of its memory on one line.
    pub memory_preview: String,
    /// When it was first written.
    pub created: Option<Stamp>,
    /// When its memory was last written.
    pub updated: Option<Stamp>,
    /// Its invocations in order.
    pub segments: Vec<SegmentView>,
}

/// An invocation of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SegmentView {
    /// Its number.
    pub number: i64,
    /// When; `None`: not recorded.
    pub timestamp: Option<Stamp>,
    /// What it was asked.
    pub prompt: Option<String>,
    /// What it did.
    pub summary: Option<String>,
    /// Lines of the summary that the one before did not have (`+`), and those that are gone (`-`); empty for the
    /// first.
    pub changes: Vec<(char, String)>,
}

impl AgentView {
    /// What is said of its memory in a list: `memory 1.2 KB`, by what says bytes in words.
    pub fn memory_words(&self, bytes: impl Fn(u64) -> String) -> String {
        match (self.memory_len, self.memory_unread) {
            (Some(len), _) => format!("memory {}", bytes(len)),
            (None, true) => "memory not readable".to_owned(),
            (None, false) => "no memory".to_owned(),
        }
    }

    /// How many invocations it has, as far as they could be read: `3 invocations`.
    pub fn segment_words(&self) -> String {
        let count = self.segments.len() as u64;
        match (count, self.segments_unread) {
            (0, true) => "invocations not readable".to_owned(),
            (_, true) => format!(
                "{}, others not readable",
                counted(count, "invocation", "invocations")
            ),
            (_, false) => counted(count, "invocation", "invocations"),
        }
    }
}
