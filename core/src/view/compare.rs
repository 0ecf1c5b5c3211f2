//! What `prosescope diff` says: two runs of one program, or of two versions of it, row by row.

use serde::{Deserialize, Serialize};

use super::NodeRef;

/// Two runs compared. A is the run that is named first, B the second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareView {
    /// The first run.
    pub a: ComparedRun,
    /// The second run.
    pub b: ComparedRun,
    /// How both ended, in one line: `B failed at line 38: session "Ship"; A completed in 5m`.
    pub headline: String,
    /// What was found, in one line: `3 rows differ, 1 row is only in A`.
    pub found: String,
    /// Whether nothing differs but durations, and all of both runs was read and compared. It says nothing of programs that
    /// the runs do not hold.
    pub equal: bool,
    /// Whether a part of a run could not be read: what is not named may differ all the same.
    pub incomplete: bool,
    /// How much longer B took than A, in milliseconds, negative where it took less; `None` unless both durations are
    /// recorded and differ.
    pub longer_ms: Option<i64>,
    /// The same in words: `+9m 12s`.
    pub longer: Option<String>,
    /// The two programs.
    pub programs: ComparedPrograms,
    /// The rows that differ, with the rows around them, as a tree in preorder; with `all`, every row. At most 20,000.
    pub rows: Vec<ComparedRow>,
    /// How many more rows that would be.
    pub rows_left_out: u32,
    /// Values that differ and that no row is known to have written in both runs: inputs, for example.
    pub values: Vec<ComparedValue>,
    /// Memories of agents that differ.
    pub memories: Vec<ComparedValue>,
    /// Names of the outputs that differ, or that one run has and the other has not.
    pub outputs: Vec<String>,
    /// Values and memories that could not be compared (the first 20), each with the reason.
    pub not_compared: Vec<NotCompared>,
    /// How many of them there are in all.
    pub not_compared_count: u32,
    /// How many rows and values were compared, and what came of it.
    pub counts: CompareCounts,
    /// What a reader must know: what of a run is not readable, or not recorded.
    pub notes: Vec<String>,
}

/// One of two runs that are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRun {
    /// What commands call it.
    pub run: String,
    /// The program's name or path.
    pub program: Option<String>,
    /// What is believed of its status.
    pub status: String,
    /// What happened, in one line.
    pub headline: String,
    /// From its start to its last sign of life, where both are recorded; milliseconds.
    pub duration_ms: Option<i64>,
    /// The same in words.
    pub duration: Option<String>,
}

/// How the programs of two runs relate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRelation {
    /// The same text.
    Same,
    /// Two versions of a program.
    Differs,
    /// Hardly a statement is in both.
    Different,
    /// A run does not hold its program.
    #[default]
    Unknown,
}

/// The programs of two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedPrograms {
    /// How they relate.
    pub relation: ProgramRelation,
    /// The same in a sentence: `The programs differ: 12 of 14 statements are in both.`
    pub words: String,
    /// Statements that both programs have, word for word.
    pub shared: u32,
    /// Statements of A's program.
    pub a_statements: u32,
    /// Statements of B's program.
    pub b_statements: u32,
    /// Lines that differ (the first 40).
    pub lines: Vec<ChangedLine>,
    /// How many more lines differ.
    pub more_lines: u32,
}

/// A line that only one of two texts has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChangedLine {
    /// `-` only in A, `+` only in B.
    pub mark: char,
    /// The text, cut at 400 characters; of two long lines the part around their first difference.
    pub text: String,
    /// How many characters of `text` are the same as in the line that replaced it, or that it replaced; 0 where there is
    /// none.
    #[serde(default)]
    pub alike: u32,
}

/// In what a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Only A records it.
    OnlyA,
    /// Only B records it.
    OnlyB,
    /// The statement's text.
    Text,
    /// The status.
    Status,
    /// How many attempts it took.
    Attempts,
    /// The error.
    Error,
    /// Who decided a gate and how, or the comment.
    Outcome,
    /// A value that it wrote.
    Values,
    /// The duration: by ten seconds and by a fifth at least.
    Duration,
}

/// A row of one run beside the row of the other that stands for the same thing: the same statement, in the same call of a
/// block, the same round and the same branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRow {
    /// Levels below the root.
    pub level: u32,
    /// `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`.
    pub kind: String,
    /// The row in A; `None` where only B records it.
    pub a: Option<ComparedNode>,
    /// The row in B; `None` where only A records it.
    pub b: Option<ComparedNode>,
    /// In what they differ; empty for a row that is there for those below it.
    pub differs: Vec<Difference>,
    /// That the two rows stand for the same is a guess: an edited statement, or the tie to its line, is guessed.
    pub guessed: bool,
    /// Rows below it that are not listed, because one run alone records it and all of them.
    pub below: u32,
    /// How much longer B took than A, in milliseconds, negative where it took less; `None` unless both durations are
    /// recorded and differ.
    pub longer_ms: Option<i64>,
    /// The same in words: `+9m 12s`.
    pub longer: Option<String>,
    /// Values that it wrote and that differ.
    pub values: Vec<ComparedValue>,
}

/// A row as one run records it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedNode {
    /// The row, with its text, status, line and error.
    pub at: NodeRef,
    /// Attempts, 1 without a retry.
    pub attempts: u32,
    /// From its begin to its end, where both are recorded; milliseconds.
    pub duration_ms: Option<i64>,
    /// The same in words.
    pub duration: Option<String>,
    /// Of a gate that was decided, how, by whom, and with which comment.
    pub outcome: Option<String>,
}

/// A value, or an agent's memory, that differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedValue {
    /// The binding's or the agent's name.
    pub name: String,
    /// The binding's kind as recorded (`let`, `output` …), or the agent's scope.
    pub kind: String,
    /// Its index among A's bindings or agents; `None` where A has none.
    pub a: Option<u32>,
    /// Its index among B's bindings or agents; `None` where B has none.
    pub b: Option<u32>,
    /// Bytes in A; `None` where there is no value, or NULL.
    pub a_len: Option<u64>,
    /// Bytes in B; `None` where there is no value, or NULL.
    pub b_len: Option<u64>,
    /// The lines that differ (the first 40), of the first 64 KiB of each value. Empty of a value that only one run has, and
    /// of one that is not text.
    pub lines: Vec<ChangedLine>,
    /// How many more lines differ.
    pub more_lines: u32,
    /// Whether only the first 64 KiB were compared line by line.
    pub cut: bool,
    /// Why there are no lines, or what they do not show.
    pub note: Option<String>,
    /// That the row wrote it follows from names and order, as times are not recorded.
    pub inferred: bool,
}

/// A value of which it is not known whether it differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NotCompared {
    /// The binding's name, or `memory of NAME`.
    pub name: String,
    /// Why it was not compared.
    pub why: String,
}

/// How much was compared, and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareCounts {
    /// Rows of A's trace.
    pub a_rows: u32,
    /// Rows of B's trace.
    pub b_rows: u32,
    /// Rows that both runs record.
    pub paired: u32,
    /// Those of them that differ in more than their duration.
    pub differ: u32,
    /// Those of them that differ in nothing but their duration, by ten seconds and by a fifth at least.
    pub durations: u32,
    /// Rows that only A records, those below others included.
    pub only_a: u32,
    /// Rows that only B records, those below others included.
    pub only_b: u32,
    /// Values and memories that were compared, those that only one run has included.
    pub values: u32,
    /// Those of them that differ.
    pub values_differ: u32,
}
