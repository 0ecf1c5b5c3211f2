//! Defines the JSON of bindings, values and resolved names.

use serde::{Deserialize, Serialize};

use super::NodeRef;
use crate::model::issue::Issue;
use crate::model::time::Stamp;
use crate::record::render::download::ValueFormat;
use crate::trace::scope::Outcome;

/// Some consecutive rows of the list of bindings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingsPage {
    /// How many bindings there are in all. The list has the root's bindings first, then the bindings of each frame.
    pub total: u32,
    /// The position of the first row in the whole list, from 0.
    pub from: u32,
    /// The bindings of this page of the list.
    pub rows: Vec<BindingRow>,
}

/// A binding in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingRow {
    /// Index into the run's bindings. Callers open the value by this index.
    pub binding: u32,
    /// The name by which the program uses the value.
    pub name: String,
    /// The execution id of the binding's frame; `None` is the root.
    pub execution_id: Option<i64>,
    /// The scope in words: `root`, a call by its block and its first argument (`translate("4.2 Torque tables")`), or a
    /// frame by its number (`frame 43`).
    #[serde(default)]
    pub scope: String,
    /// The calls that lead to the frame, outermost first: `do process(data) #41 › do process(half) #42`; empty at the
    /// root.
    pub frame_path: String,
    /// The index of the frame's node in the trace; `None` if the trace does not contain the frame.
    pub frame_node: Option<u32>,
    /// The binding's kind as recorded (`let`, `output` …).
    #[cfg_attr(feature = "typescript", ts(as = "super::known::BindingKind"))]
    pub kind: String,
    /// Bytes of the value; `None` if the value is NULL or missing.
    pub len: Option<u64>,
    /// How the value is stored: `text`, `blob`, `null`, `file`, `missing` …
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StoredAs"))]
    pub stored: String,
    /// The beginning of the value on one line, at most 160 characters.
    pub preview: String,
    /// The statement that made the value, as recorded; `None` if not recorded.
    pub source: Option<String>,
    /// When the binding was first written; `None` if not recorded.
    pub created: Option<Stamp>,
    /// When the binding was last written; `None` if not recorded.
    pub updated: Option<Stamp>,
    /// The node that wrote the value: the node that was running when the value was written. `None` if no node was
    /// running, or if several may have written the value.
    #[serde(default)]
    pub written_by: Option<NodeRef>,
    /// Whether `written_by` was inferred from names and order, because times are not recorded.
    #[serde(default)]
    pub writer_inferred: bool,
    /// The column `attachment_path`, as recorded; `None` without an attachment.
    pub attachment: Option<String>,
    /// Fields in the header of the binding's file that OpenProse does not define (`agent`, `exit_code`, `stderr`), in
    /// order; the first 20.
    #[serde(default)]
    pub fields: Vec<(String, String)>,
    /// Whether the missing value or attachment may exist after all: only single files of the run were opened, not its
    /// folder.
    #[serde(default)]
    pub not_given: bool,
    /// Bytes of the attachment; `None` if no path is recorded, or if the file is missing.
    pub attachment_len: Option<u64>,
    /// How many rows have this name and frame (errata S2); more than 1 only if the table has no uniqueness constraint.
    pub versions: u32,
    /// How many earlier values of the binding the store keeps (errata B6).
    pub earlier: u32,
    /// Whether a later row has the same name and frame.
    pub superseded: bool,
}

/// A value in full, up to the length that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueView {
    /// What the value belongs to: a binding's name, an agent's memory, or a file.
    pub title: String,
    /// The beginning of the value, up to the length that was asked for; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Bytes of the whole value.
    pub len: u64,
    /// Whether `text` is shorter than the value.
    pub cut: bool,
    /// The format in which the value is best displayed.
    pub format: ValueFormat,
    /// Where the value is stored: `state.db, bindings`, `bindings/a.md`, `attachments/report.md`.
    pub from: String,
    /// The summary that the row contains, if the value itself is an attachment.
    pub summary: Option<String>,
    /// A note for the reader: the attachment is missing, or bytes were replaced; `None` without a note.
    pub note: Option<String>,
    /// Why the value is missing; `None` if the value exists. Without the value, `text` is empty, or the text that the
    /// row contains instead.
    pub missing: Option<String>,
}

/// The binding that a name means in a frame, with the reasons, in words and links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ResolutionView {
    /// The name that was resolved.
    pub name: String,
    /// The execution id of the frame in which the name was resolved; `None` is the root.
    pub from: Option<i64>,
    /// The frames that were searched, from the frame `from` outward to `root`; the middle of a long list is left out.
    pub chain: Vec<String>,
    /// The bindings with this name, the winner first.
    pub candidates: Vec<CandidateView>,
    /// How many more candidates there are, all farther away than the listed ones.
    #[serde(default)]
    pub more: u32,
    /// Issues in the records that changed which frames were searched.
    pub issues: Vec<Issue>,
}

impl ResolutionView {
    /// Returns the candidate that the name means, if there is one.
    pub fn winner(&self) -> Option<&CandidateView> {
        self.candidates.iter().find(|c| c.outcome == Outcome::Wins)
    }
}

/// A binding that a name could mean, with the outcome of the resolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CandidateView {
    /// The candidate's binding.
    pub row: BindingRow,
    /// How many frames outward the candidate is; `None` for the root and for frames that are not searched.
    pub distance: Option<u32>,
    /// Whether the candidate wins, is hidden, or is out of reach.
    pub outcome: Outcome,
    /// The reason for the outcome, in one sentence.
    pub reason: String,
}
