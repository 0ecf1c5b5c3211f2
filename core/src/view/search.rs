use serde::{Deserialize, Serialize};

/// What a search found: in one run, or in several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SearchView {
    /// The text that was looked for.
    pub text: String,
    /// Whether capitals and small letters differ: they do where the text has a capital.
    pub case_sensitive: bool,
    /// The runs that were searched.
    pub runs: Vec<SearchedRun>,
}

/// What was found in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SearchedRun {
    /// The run, as commands name it.
    pub run: String,
    /// Why it could not be opened.
    pub error: Option<String>,
    /// What was found, by kind; kinds without a hit are left out.
    pub groups: Vec<HitGroup>,
    /// Bytes of values and memories that were read.
    pub read: u64,
    /// How many there are. It grows when an attachment turns up.
    pub of: u64,
    /// Whether the search came to its end.
    pub done: bool,
    /// Values that were not searched; the first twenty.
    pub skipped: Vec<SkippedValue>,
    /// How many more of them there are.
    pub more_skipped: u32,
}

/// What is searched, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    /// Statements: those that were executed, and those of the program that were not.
    Statements,
    /// Errors of statements.
    Errors,
    /// Prompts: of the program, and of what agents were asked.
    Prompts,
    /// Names and values of bindings, attachments included.
    Values,
    /// Memories of agents, and what their segments say.
    Memories,
    /// Gates: their names, prompts, reasons, who decided, comments.
    Gates,
    /// Names of the run's files.
    Files,
    /// Rows of tables, and columns, unknown to OpenProse: `x_notes`.
    Tables,
}

/// Hits of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitGroup {
    /// The kind.
    pub kind: HitKind,
    /// The first fifty, and of one place the first five.
    pub hits: Vec<Hit>,
    /// How many more lines match.
    pub more: u64,
}

/// A line that matches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Hit {
    /// Where it is, in words: `#7 let draft = session`, `draft in frame 3`, `memory of captain`.
    pub place: String,
    /// The node of the trace, by its place there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// The execution id of that node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The line of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The binding, by its place among the run's bindings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<u32>,
    /// The agent, by its place among the run's agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<u32>,
    /// The agent's segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<i64>,
    /// The gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The file, by its path inside the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The table of the database, where no document lists it or its column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The line of the text, from 1.
    pub text_line: u64,
    /// Where the match begins in the text, in bytes.
    pub offset: u64,
    /// The line, or the part of a long line that is around the match; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// The first match in `text`: from and up to, counted in characters (Unicode scalar values), not in bytes.
    pub range: (u32, u32),
}

/// A value that was not searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkippedValue {
    /// Where it is, in words.
    pub place: String,
    /// Bytes.
    pub len: u64,
    /// Why: it is no text, or it could not be read.
    pub why: String,
    /// Whether reading failed.
    pub failed: bool,
}
