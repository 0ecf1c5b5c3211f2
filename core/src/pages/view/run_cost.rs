//! Defines the JSON of `prosescope cost`: the tokens of each statement, and where each number is from.

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
    /// The transcripts within the run's time that belong to no statement, or to an unknown one. Those that name the run
    /// are first.
    pub not_joined: Vec<TranscriptCost>,
    /// The measured tokens of each model: first those of statements, then those of transcripts that are not joined, but
    /// whose session contains the run's id.
    pub by_model: Vec<ModelCost>,
    /// What the run reports; `None` if it reports no tokens.
    pub reported: Option<CostView>,
    /// Prices that are recorded. No price is computed.
    pub money: Vec<RecordedPrice>,
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
    /// The measured tokens; `None` if they are unknown.
    pub tokens: Option<TokenUse>,
    /// How many of the transcripts record no tokens. If there is one, `tokens` is too low.
    pub without_tokens: u32,
    /// The models, in alphabetical order.
    pub models: Vec<String>,
    /// The transcripts that belong to the statement.
    pub transcripts: Vec<JoinedTranscript>,
}

/// A transcript that belongs to a statement, and the evidence for that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct JoinedTranscript {
    /// The path of the file.
    pub file: String,
    /// The id of the subagent; `None` for a whole session.
    pub agent: Option<String>,
    /// The evidence: `tool use` (the call that started the subagent names the statement), `tool use and time` (it names
    /// several, and the time decides) or `time` (only this statement was executing).
    pub by: String,
    /// What the call names, such as `bindings/draft.md`; `None` for `time`.
    pub named: Option<String>,
}

/// A transcript that belongs to no statement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TranscriptCost {
    /// The path of the file.
    pub file: String,
    /// The id of the subagent; `None` for a whole session.
    pub agent: Option<String>,
    /// Why the transcript is not joined.
    pub why: String,
    /// Whether its session contains the run's id.
    pub names_run: bool,
    /// The models, in alphabetical order.
    pub models: Vec<String>,
    /// The tokens within the run's time; `None` if the transcript records none.
    pub tokens: Option<TokenUse>,
    /// How many answers are outside of the run's time, and are not counted.
    pub outside: u32,
}

/// The measured tokens of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelCost {
    /// The model, as recorded; empty if it is not recorded.
    pub model: String,
    /// Whether the tokens are those of statements.
    pub joined: bool,
    /// The tokens.
    pub tokens: TokenUse,
}

/// A price that a record contains.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RecordedPrice {
    /// The path of the file, or `the run`.
    pub from: String,
    /// The name of the field: `price_cents`, `total_cost_usd` or `costUSD`.
    pub field: String,
    /// The amount as recorded, in the unit that the name of the field tells. Amounts of `costUSD` are added.
    pub amount: f64,
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
    /// How many conversations are outside of the run's time. They are not joined.
    pub other_time: u32,
    /// How many conversations only repeat answers of other conversations. They are not counted.
    pub copies: u32,
    /// How many lines are not readable: cut off, not JSON, or too long.
    pub unreadable_lines: u64,
    /// The files and folders that could not be read, each with the cause.
    pub unread: Vec<String>,
}
