//! Defines the JSON of `prosescope cost`: the tokens of each statement, and where each number is from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CostView;
use crate::model::TokenUse;

/// What a run cost: as transcripts record it, and as the run itself reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunCost {
    /// The run's id.
    pub run: String,
    /// The path or name of the program, as recorded.
    pub program: Option<String>,
    /// The best source that exists: `measured` (counted from transcripts), `reported` (written by the run itself) or
    /// `unknown`.
    pub source: String,
    /// The source in one sentence, and what to do if nothing is known.
    pub note: String,
    /// The statements that ran and may have asked a model, in the order in which they began.
    pub statements: Vec<StatementCost>,
    /// The transcripts within the run's time that belong to no statement, or to an unknown one. Those whose session
    /// contains the run's id are first.
    pub not_joined: Vec<TranscriptCost>,
    /// The measured tokens of each model: those of the statements, and those of transcripts that are not joined, but
    /// whose session contains the run's id.
    pub by_model: BTreeMap<String, TokenUse>,
    /// What the run reports; `None` if it reports no tokens.
    pub reported: Option<CostView>,
    /// The price of a hosted run in cents, as the run records it. No price is computed.
    pub price_cents: Option<f64>,
    /// The sum of the prices in US dollars that the transcripts of `by_model` record, each for a whole session.
    pub total_cost_usd: Option<f64>,
    /// What was read of the transcripts; `None` if none were given.
    pub transcripts: Option<TranscriptsRead>,
}

/// The tokens of all executions of a statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatementCost {
    /// The statement's line in the program; `None` if the line is not known.
    pub line: Option<u32>,
    /// The statement, or the name of the node.
    pub text: String,
    /// The places of the executions in the trace, ascending.
    pub nodes: Vec<u32>,
    /// The measured tokens of each model; empty if they are unknown.
    pub tokens: BTreeMap<String, TokenUse>,
    /// The transcripts that belong to the statement.
    pub transcripts: Vec<TranscriptCost>,
}

/// A transcript of a session or of a subagent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TranscriptCost {
    /// The path of the file.
    pub file: String,
    /// The id of the subagent; `None` for a whole session.
    pub agent: Option<String>,
    /// The evidence that it belongs to its statement: `tool use` (the call that started the subagent names the
    /// statement) or `time` (only this statement was executing). `None` if it is not joined.
    pub by: Option<String>,
    /// What the call names, such as `bindings/draft.md`; empty for `time`. If the transcript is not joined: why.
    pub why: String,
    /// The tokens of each model, within the run's time; empty if the transcript records none.
    pub tokens: BTreeMap<String, TokenUse>,
}

/// What was read of the transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TranscriptsRead {
    /// The folder, as given.
    pub folder: String,
    /// How many files with the extension `.jsonl` were read.
    pub files: u32,
    /// How many of these files are not transcripts of Claude Code or Codex, or contain no answer of a model.
    pub foreign: u32,
    /// How many lines are not readable: cut off, not JSON, or too long.
    pub unreadable_lines: u64,
    /// The files and folders that could not be read, each with the cause.
    pub unread: Vec<String>,
}
