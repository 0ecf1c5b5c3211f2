//! Defines the JSON of `prosescope diff`, which compares two runs row by row. The runs are of one program, or of two
//! versions of a program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{NodeRef, TokenCount};

/// Two runs compared: A is the run that was named first, B the second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareView {
    /// The first run.
    pub a: ComparedRun,
    /// The second run.
    pub b: ComparedRun,
    /// How both runs ended, in one line: `B failed at line 38: session "Ship"; A completed in 5m`.
    pub headline: String,
    /// The result in one line: `3 rows differ, 1 row is only in A`.
    pub found: String,
    /// Whether the runs are equal except for ids, times and durations, and both were read and compared completely:
    /// `not_compared` is empty. A program that neither run contains is not compared.
    pub equal: bool,
    /// Whether a part of a run could not be read, so that there may be differences that are not listed.
    pub incomplete: bool,
    /// How much longer B took than A, in milliseconds; negative if B took less. `None` unless both durations are
    /// recorded and differ.
    pub longer_ms: Option<i64>,
    /// The difference of the durations in words: `+9m 12s`; `None` if `longer_ms` is `None`.
    pub longer: Option<String>,
    /// How the programs of the two runs differ.
    pub programs: ComparedPrograms,
    /// The rows that differ, with the rows around them, as a tree in preorder; with `all`, every row. At most 20,000.
    pub rows: Vec<ComparedRow>,
    /// How many rows `rows` lacks because of its limit of 20,000.
    pub rows_left_out: u32,
    /// Values that differ, such as inputs, except values that a row of both runs is known to have written.
    pub values: Vec<ComparedValue>,
    /// The memories of agents that differ between the runs.
    pub memories: Vec<ComparedValue>,
    /// What differs beside rows, values and memories: `gate`, `audit log`, `segment`, `import`, `metadata` of a row, `table`,
    /// `file`, `value` (its kind, source or attachment) and `run` (the path of the program); at most 1,000. `a` and `b`
    /// are 0, or `None` if the run lacks the record. The lines have the form `FIELD: VALUE`, except those of files.
    #[serde(default)]
    pub records: Vec<ComparedValue>,
    /// Names of the outputs that differ, or that only one run has.
    pub outputs: Vec<String>,
    /// The first 20 parts of the runs that could not be compared, such as values, tables and files, each with the
    /// reason.
    pub not_compared: Vec<NotCompared>,
    /// How many parts could not be compared in all.
    pub not_compared_count: u32,
    /// How many rows and values were compared, and how many differ.
    pub counts: CompareCounts,
    /// Notes on parts of a run that are not readable or not recorded.
    pub notes: Vec<String>,
}

/// One of two runs that are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRun {
    /// The run's name, as commands take it.
    pub run: String,
    /// The name or path of the program that the compared run executes; `None` if not recorded.
    pub program: Option<String>,
    /// The status that the compared run most likely has.
    pub status: String,
    /// What happened in the run, in one line.
    pub headline: String,
    /// Time from the run's start to its last sign of life, in milliseconds; `None` unless both are recorded.
    pub duration_ms: Option<i64>,
    /// The duration of the run in words: `5m 3s`; `None` if `duration_ms` is `None`.
    pub duration: Option<String>,
    /// The tokens that the compared run's receipts report; `None` if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub tokens: Option<TokenCount>,
}

/// How the programs of two runs relate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRelation {
    /// Both runs have the same text.
    Same,
    /// The programs are two versions of one program.
    Differs,
    /// The texts have hardly a statement in common.
    Different,
    /// It is unknown whether the programs differ, because at least one run does not contain its program.
    #[default]
    Unknown,
}

/// The programs of two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedPrograms {
    /// How the two texts relate.
    pub relation: ProgramRelation,
    /// The relation in a sentence: `The programs differ: 12 of 14 statements are in both.`
    pub words: String,
    /// How many statements both programs have, word for word.
    pub shared: u32,
    /// How many statements A's program has.
    pub a_statements: u32,
    /// How many statements B's program has.
    pub b_statements: u32,
    /// The first 40 lines that differ.
    pub lines: Vec<ChangedLine>,
    /// How many more lines differ, beyond those in `lines`.
    pub more_lines: u32,
}

/// A line that only one of two texts has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChangedLine {
    /// `-` for a line that only A has, `+` for a line that only B has.
    pub mark: char,
    /// The text of the line, cut at 400 characters. Of a longer line with a counterpart, the part around the first
    /// difference is kept.
    pub text: String,
    /// How many characters at the beginning of `text` are the same as in its counterpart in the other text; 0 without a
    /// counterpart.
    #[serde(default)]
    pub alike: u32,
}

/// An aspect in which two rows differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Only A records the row.
    OnlyA,
    /// Only B records the row.
    OnlyB,
    /// The statement's text differs.
    Text,
    /// The status differs.
    Status,
    /// The number of attempts differs.
    Attempts,
    /// The error differs.
    Error,
    /// The principal, outcome or comment of a gate's decision differs.
    Outcome,
    /// A value that the row wrote differs.
    Values,
    /// The duration differs by at least ten seconds and at least a fifth of the longer duration.
    Duration,
}

/// A row of one run with its counterpart in the other run: the same statement, in the same call of a block, the same
/// round and the same branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRow {
    /// The depth in the tree; 0 for outermost rows.
    pub level: u32,
    /// The kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`.
    pub kind: String,
    /// The row in A; `None` if only B records it.
    pub a: Option<ComparedNode>,
    /// The row in B; `None` if only A records it.
    pub b: Option<ComparedNode>,
    /// The aspects in which the two rows differ; empty for a row that is listed only because rows below it differ.
    pub differs: Vec<Difference>,
    /// Whether the pair is a guess, because the statement was edited, or because a row's line is a guess.
    pub guessed: bool,
    /// How many rows below this row are not listed, because only one run records this row and the rows below.
    pub below: u32,
    /// How much longer B took than A, in milliseconds; negative if B took less. `None` unless both durations are
    /// recorded and differ.
    pub longer_ms: Option<i64>,
    /// The difference of the durations in words: `+9m 12s`; `None` if `longer_ms` is `None`.
    pub longer: Option<String>,
    /// Values that the row wrote and that differ.
    pub values: Vec<ComparedValue>,
}

/// A row of a comparison, as one of the two runs records it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedNode {
    /// The row's text, status, line and error.
    pub at: NodeRef,
    /// How many attempts there were; 1 without a retry.
    pub attempts: u32,
    /// Time from the row's begin to its end, in milliseconds; `None` unless both are recorded.
    pub duration_ms: Option<i64>,
    /// The duration of the row in this run, in words: `5m 3s`; `None` if `duration_ms` is `None`.
    pub duration: Option<String>,
    /// A gate's outcome, with its principal and comment; `None` for other rows and undecided gates.
    pub outcome: Option<String>,
}

/// A value, an agent's memory or another record that differs between two runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedValue {
    /// The name of the binding, agent or record.
    pub name: String,
    /// The binding's kind as recorded (`let`, `output` …), the agent's scope, or the kind of record (`gate`, `file` …).
    pub kind: String,
    /// Index among A's bindings or agents; `None` if A does not have it.
    pub a: Option<u32>,
    /// Index among B's bindings or agents; `None` if B does not have it.
    pub b: Option<u32>,
    /// Bytes in A; `None` if the value is missing or NULL.
    pub a_len: Option<u64>,
    /// Bytes in B; `None` if the value is missing or NULL.
    pub b_len: Option<u64>,
    /// The first 40 lines that differ, of the first 64 KiB of each value. Empty for a value that only one run has, or
    /// that is not text.
    pub lines: Vec<ChangedLine>,
    /// How many more lines differ, beyond those in `lines`.
    pub more_lines: u32,
    /// Whether only the first 64 KiB were compared line by line.
    pub cut: bool,
    /// Why `lines` is empty or incomplete; `None` if there is nothing to explain.
    pub note: Option<String>,
    /// Whether the row that wrote the value was inferred from names and order, because times are not recorded.
    pub inferred: bool,
}

/// A part of the runs that could not be compared, so that it may differ.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NotCompared {
    /// The binding's name, or another name of the part: `memory of NAME`, `file PATH`, `table NAME`.
    pub name: String,
    /// Why the part was not compared.
    pub why: String,
}

/// How many rows and values were compared, and how many differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareCounts {
    /// How many rows A's trace has.
    pub a_rows: u32,
    /// How many rows B's trace has.
    pub b_rows: u32,
    /// How many rows both runs record.
    pub paired: u32,
    /// How many rows in both runs differ in more than their duration.
    pub differ: u32,
    /// How many rows in both runs differ only in their duration, as [`Difference::Duration`] defines it.
    pub durations: u32,
    /// How many rows only A records, counting rows below other rows.
    pub only_a: u32,
    /// How many rows only B records, counting rows below other rows.
    pub only_b: u32,
    /// How many values and memories were compared, counting those that only one run has.
    pub values: u32,
    /// How many of these values and memories differ.
    pub values_differ: u32,
    /// How many other records were compared, such as gates and files, counting those that only one run has.
    #[serde(default)]
    pub records: u32,
    /// How many of these records differ, by kind, such as `gate`.
    #[serde(default)]
    pub records_differ: BTreeMap<String, u32>,
}
