//! Defines the JSON of a search: hits by run and by kind.

use serde::{Deserialize, Serialize};

/// The result of a search in one run or in several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SearchView {
    /// The text that was searched for.
    pub text: String,
    /// Whether the search distinguishes capital and small letters, because the text has a capital letter.
    pub case_sensitive: bool,
    /// The runs that were searched.
    pub runs: Vec<SearchedRun>,
}

/// The hits in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SearchedRun {
    /// The run's name, as commands take it.
    pub run: String,
    /// Why the run could not be opened; `None` if the run was opened.
    pub error: Option<String>,
    /// The hits by kind; kinds without a hit are left out.
    pub groups: Vec<HitGroup>,
    /// How many bytes of values and memories were searched so far.
    pub read: u64,
    /// How many bytes of values and memories there are. The number grows when the search finds an attachment.
    pub of: u64,
    /// Whether the search is complete.
    pub done: bool,
    /// Values that were not searched (the first 20).
    pub skipped: Vec<SkippedValue>,
    /// How many more values were not searched.
    pub more_skipped: u32,
}

/// The kind of text that a search looks through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    /// Executed statements, and statements of the program that were not executed.
    Statements,
    /// Errors of statements.
    Errors,
    /// Prompts in the program, and prompts that agents received.
    Prompts,
    /// Names and values of bindings, attachments included.
    Values,
    /// Memories of agents, and the texts of their segments.
    Memories,
    /// Gates: their names, prompts, reasons, principals and comments.
    Gates,
    /// Names of the run's files.
    Files,
    /// Rows of tables and columns that OpenProse does not define: `x_notes`.
    Tables,
}

/// Hits of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitGroup {
    /// The kind of these hits.
    pub kind: HitKind,
    /// The first 50 hits, at most 5 of them from one place.
    pub hits: Vec<SearchHit>,
    /// How many more lines match, beyond those in `hits`.
    pub more: u64,
}

/// A line that matches the search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SearchHit {
    /// The place of the hit in words: `#7 let draft = session`, `draft in frame 3`, `memory of captain`.
    pub place: String,
    /// The index in the trace of the node that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// The execution id of the node that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The program line of the statement that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The index of the binding that contains the hit, among the run's bindings, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<u32>,
    /// The index of the agent whose memory or segment contains the hit, among the run's agents, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<u32>,
    /// The number of the agent's segment that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<i64>,
    /// The id of the gate that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The path inside the run of the file that contains the hit, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The table of the database, if OpenProse does not define the table or its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The line of the hit in its text, from 1.
    pub text_line: u64,
    /// Position of the match in the whole text, in bytes.
    pub offset: u64,
    /// The line, or the part of a long line around the match; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The first match in `text`: start and end, counted in characters (Unicode scalar values), not in bytes.
    pub range: (u32, u32),
}

/// A value that was not searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkippedValue {
    /// The place of the value, in words.
    pub place: String,
    /// Bytes of the value.
    pub len: u64,
    /// Why the value was not searched: the value is not text, or reading failed.
    pub why: String,
    /// Whether reading the value failed.
    pub failed: bool,
}
