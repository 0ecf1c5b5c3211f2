//! Defines the JSON of a run's overview: status, start and end, counts, the first failure, and the next command.

use serde::{Deserialize, Serialize};

use super::{BindingRef, CostView, GateView, NodeRef, QuestionView, RunPart, Unread};
use crate::model::Form;
use crate::model::time::Stamp;

/// The first page of a run: what happened, where the run stopped, and why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Overview {
    /// The run's id; for a store of agents, the name of its file.
    pub run: String,
    /// The name or path of the program that the run executes; `None` if not recorded.
    pub program: Option<String>,
    /// The form that the run was read as, in words: `SQLite, append-only`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunForm"))]
    pub form: String,
    /// The source that was opened, in words: a path, a dropped folder.
    pub label: String,
    /// The run's most likely status. If its records disagree, `claims` contains what each says.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// The source that decides the status, such as `run row` or `log`.
    pub status_source: String,
    /// The reason for the status, in one sentence.
    pub status_reason: String,
    /// The sources of the status, each with the status that it gives; empty unless they disagree.
    pub claims: Vec<(String, String)>,
    /// The result in one line: `Waiting at gate deploy since 25 Jan 2026, 13:04 UTC`.
    pub headline: String,
    /// What the run first did against its program, in words: `went on past the rejected gate deploy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub against: Option<String>,
    /// The remaining work, as a clause: `up to 13 statements, from line 32 on`; empty for a store of agents.
    #[serde(default)]
    pub left: String,
    /// The next action, as a clause: `go on at line 32`; empty for a store of agents.
    #[serde(default)]
    pub next: String,
    /// The command that carries out the next action, or that shows how to carry it out; `None` without a command.
    #[serde(default)]
    pub next_command: Option<String>,
    /// A description of what happened, in three sentences.
    pub story: Vec<String>,
    /// When the run started; `None` if that is not recorded.
    pub started: Option<Stamp>,
    /// The source of `started` if the start itself is not recorded: `the run's id, which names no time zone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_from: Option<String>,
    /// The last sign of life, which is the latest time that the run records; `None` without a time.
    pub last_sign: Option<Stamp>,
    /// The source of `last_sign`, in words: `execution 31`, `state file`; `None` if `last_sign` is `None`.
    pub last_sign_from: Option<String>,
    /// The age of `last_sign`, if `now` is given: `3d 4h ago`.
    pub last_sign_ago: Option<String>,
    /// Whether the run is running and gave a sign of life so recently that a model may still be carrying it out.
    #[serde(default)]
    pub is_alive: bool,
    /// For how many milliseconds the overview stays true while nothing is recorded: until a deadline passes, or, if the
    /// run is alive, until `last_sign_ago` changes. `None` if time alone does not make it wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub true_for_ms: Option<i64>,
    /// When a file of the run was last changed, if the run records no times. This time is weaker evidence than a sign
    /// of life, because copies and checkouts change it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changed: Option<Stamp>,
    /// Whether the run is recorded as running but has had no sign of life for a day.
    pub stale: bool,
    /// Time from the start to the last sign of life, in milliseconds; `None` unless both are recorded.
    pub duration_ms: Option<i64>,
    /// The time from the start to the last sign of life in words: `5m 3s`; `None` if `duration_ms` is `None`.
    pub duration: Option<String>,
    /// Whether at least one statement has a time (errata X14).
    pub times_recorded: bool,
    /// How many statements started. A statement that ran several times counts each time; a block around others does not
    /// count.
    pub statements: u32,
    /// How many of the started statements finished.
    pub statements_done: u32,
    /// How many statements of the program may run; `None` without the source.
    pub statements_in_program: Option<u32>,
    /// How many statements have each status, including statements that did not start.
    pub by_status: Vec<StatusCount>,
    /// What the run cost; `None` if no record has tokens.
    #[serde(default)]
    pub cost: Option<CostView>,
    /// How many nodes were retried.
    pub retried: u32,
    /// How many nodes failed and were recovered.
    pub recovered: u32,
    /// The nodes at the current positions of the run (the first 20).
    pub positions: Vec<NodeRef>,
    /// How many current positions the run has in all.
    #[serde(default)]
    pub position_count: u32,
    /// The first cause of a failure. In a completed run: the first failure that was not recovered; `None` without a
    /// failure.
    pub failure: Option<Failure>,
    /// Gates that wait for a decision.
    pub pending_gates: Vec<GateView>,
    /// The questions to people that have no answer yet.
    #[serde(default)]
    pub questions: Vec<QuestionView>,
    /// The results of a completed run: its outputs at the root, with their last values (the first 20).
    #[serde(default)]
    pub outputs: Vec<BindingRef>,
    /// The value that the last statement wrote, in a completed run without such outputs; `None` if several branches
    /// ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub last_value: Option<BindingRef>,
    /// How many bindings the run has.
    pub bindings: u32,
    /// Bytes of all bindings' values together.
    pub bindings_bytes: u64,
    /// How many bindings have the path of an attachment.
    pub attachments: u32,
    /// How many agents the run has.
    pub agents: u32,
    /// How many gates the run has.
    pub gates: u32,
    /// How many imports the run has.
    pub imports: u32,
    /// How many rows the trace has, counting blocks and rounds.
    pub trace_nodes: u32,
    /// How many tables the run has.
    pub tables: u32,
    /// How many files the run has.
    pub files: u32,
    /// How many errors, warnings and notes the page of issues lists.
    pub issues: Counts,
    /// The parts of the run that could not be read completely. The counts of these parts may be too low.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// A description of the database's content, if the database has no row for the run.
    pub missing: Option<String>,
    /// Recorded facts that have no other field: `upstream` and `root` of a log, keys of run.json, header keys of a
    /// state file that OpenProse does not define, exit codes in the headers of values, runs whose results were reused.
    pub facts: Vec<(String, String)>,
    /// The ids of other runs in the same database.
    pub other_runs: Vec<String>,
}

impl Overview {
    /// Returns the program's line at which the run failed or stands; `None` if it completed, or if the line is not
    /// certain.
    pub fn line(&self) -> Option<u32> {
        let failed = self.failure.as_ref().map(|failure| &failure.cause);
        let place = failed.or(self.positions.first());
        let place = place.filter(|node| self.status != "completed" && !node.line_guessed);
        place?.line
    }

    /// Returns whether this is a store of agents and not a run.
    pub fn is_of_agents(&self) -> bool {
        self.form == Form::Agents.words()
    }

    /// Returns the name of the state file if it is encrypted.
    pub fn sealed(&self) -> Option<&str> {
        let sealed = self.unread.iter().find(|unread| unread.sealed)?;
        Some(&sealed.what)
    }

    /// Returns the source of the status in words.
    pub fn status_from(&self) -> String {
        match self.status_source.as_str() {
            "" | "nothing" => "not recorded".to_owned(),
            "run row" | "state file" | "log" => "as recorded".to_owned(),
            "pending gate at every position" => "from the open gate".to_owned(),
            source => format!("by {source}"),
        }
    }

    /// Returns the words for a missing time: `not recorded`, or `not readable` if the statements could not be read.
    pub fn no_time(&self) -> &'static str {
        if self.is_unread(RunPart::Statements) {
            "not readable"
        } else {
            "not recorded"
        }
    }

    /// Returns whether a part of the run could not be read completely. Do not report that part as empty then.
    pub fn is_unread(&self, part: RunPart) -> bool {
        self.unread.iter().any(|unread| unread.concerns(part))
    }
}

/// The number of statements with one status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatusCount {
    /// The status in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// How many statements have the status.
    pub count: u32,
}

/// The number of issues of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Counts {
    /// How many errors there are.
    pub error: u32,
    /// How many warnings there are.
    pub warning: u32,
    /// How many notes there are.
    pub note: u32,
}

impl Counts {
    /// Counts the issues by severity.
    pub fn of<'i>(issues: impl IntoIterator<Item = &'i crate::model::issue::Issue>) -> Counts {
        use crate::model::issue::Severity;
        let mut counts = Counts::default();
        for issue in issues {
            match issue.severity {
                Severity::Error => counts.error += 1,
                Severity::Warning => counts.warning += 1,
                Severity::Note => counts.note += 1,
            }
        }
        counts
    }

    /// Returns the sum of both counts.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            error: self.error + other.error,
            warning: self.warning + other.warning,
            note: self.note + other.note,
        }
    }

    /// Returns the number of issues of all severities.
    pub fn total(self) -> u32 {
        self.error + self.warning + self.note
    }
}

/// The first failure of a run, and the failures that it caused (errata T9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Failure {
    /// The node that failed first.
    pub cause: NodeRef,
    /// The cause's error; `None` if no message is recorded.
    pub error: Option<String>,
    /// The nodes that failed or stopped because of the cause, innermost first (the first 20).
    pub because_of: Vec<NodeRef>,
    /// How many nodes failed or stopped because of the cause in all.
    #[serde(default)]
    pub because_of_count: u32,
    /// The consequences in words: `it ended the 6 blocks around it`; empty if nothing else failed. For a completed run:
    /// why the run continued after the failure, if that is known.
    #[serde(default)]
    pub because_words: String,
    /// How many percent of the run's duration the cause took, from its begin to its end; `None` if times are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub percent: Option<u32>,
}
