use serde::{Deserialize, Serialize};

use super::{BindingRef, GateView, NodeRef, Part, Unread};
use crate::time::Stamp;

/// What happened, where it stopped and why: the first page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Overview {
    /// The run's id.
    pub run: String,
    /// The program's name or path.
    pub program: Option<String>,
    /// What it was read as, in words: `SQLite, append-only`.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunForm"))]
    pub form: String,
    /// What was opened, in words: a path, a dropped folder.
    pub label: String,
    /// What is believed of its status.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::RunStatus"))]
    pub status: String,
    /// Who says so.
    pub status_source: String,
    /// Why, in one sentence.
    pub status_reason: String,
    /// What each source says, when they disagree.
    pub claims: Vec<(String, String)>,
    /// One line: `Waiting at gate deploy since 25 Jan 2026, 13:04 UTC`.
    pub headline: String,
    /// What is left to do, as a clause: `up to 13 statements, from line 32 on`; empty for a store of agents.
    #[serde(default)]
    pub left: String,
    /// What to do next, as a clause: `go on at line 32`; empty for a store of agents.
    #[serde(default)]
    pub next: String,
    /// The command that does it, or shows how; `None` where there is none.
    #[serde(default)]
    pub next_command: Option<String>,
    /// Three sentences on what happened.
    pub story: Vec<String>,
    /// When it started; `None`: not recorded.
    pub started: Option<Stamp>,
    /// What that was read from where nothing records a start: `the run's id, which names no time zone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_from: Option<String>,
    /// The last sign of life: the latest time that the run records.
    pub last_sign: Option<Stamp>,
    /// What that was read from.
    pub last_sign_from: Option<String>,
    /// How long ago that was, when `now` is given: `3d 4h ago`.
    pub last_sign_ago: Option<String>,
    /// When a file of the run was last changed, where the run records no time at all. No sign of life: copies and
    /// checkouts reset it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_changed: Option<Stamp>,
    /// Running, but a day without a sign of life.
    pub stale: bool,
    /// From the start to the last sign of life, where both are recorded; milliseconds.
    pub duration_ms: Option<i64>,
    /// The same in words.
    pub duration: Option<String>,
    /// Whether any statement carries a time (errata X14).
    pub times_recorded: bool,
    /// Statements that started. One that ran several times counts each time; a block around others does not count.
    pub statements: u32,
    /// Those of them that finished.
    pub statements_done: u32,
    /// Statements of the program that may run, where its source is there.
    pub statements_in_program: Option<u32>,
    /// How many statements have which status, those that did not start included.
    pub by_status: Vec<StatusCount>,
    /// Nodes that were retried.
    pub retried: u32,
    /// Nodes that failed and were recovered.
    pub recovered: u32,
    /// Where the run stands (the first 20).
    pub positions: Vec<NodeRef>,
    /// How many places that are in all.
    #[serde(default)]
    pub position_count: u32,
    /// The first cause of a failure; of a completed run, what failed first and nothing recovered.
    pub failure: Option<Failure>,
    /// Gates that wait for a decision.
    pub pending_gates: Vec<GateView>,
    /// What a completed run answered: its outputs at the root, as they were left (the first 20).
    #[serde(default)]
    pub outputs: Vec<BindingRef>,
    /// How many bindings there are.
    pub bindings: u32,
    /// Their values' bytes together.
    pub bindings_bytes: u64,
    /// How many of them name an attachment.
    pub attachments: u32,
    /// How many agents.
    pub agents: u32,
    /// How many gates.
    pub gates: u32,
    /// How many imports.
    pub imports: u32,
    /// How many rows the trace has, blocks and rounds included.
    pub trace_nodes: u32,
    /// How many tables and files.
    pub tables: u32,
    /// How many files.
    pub files: u32,
    /// Issues by severity.
    pub issues: Counts,
    /// What of the run could not be read to its end; counts of these parts may be too low.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// No run row: what was found instead.
    pub missing: Option<String>,
    /// What the run's own records say that no other field holds: `upstream` and `root` of a log, keys of run.json, header
    /// keys of a state file unknown to OpenProse.
    pub facts: Vec<(String, String)>,
    /// Other runs in the same database, by id.
    pub other_runs: Vec<String>,
}

/// What a store of agents is read as ([`Overview::form`]).
pub(crate) const AGENTS: &str = "agents";

impl Overview {
    /// Whether it is a store of agents and no run.
    pub fn is_of_agents(&self) -> bool {
        self.form == AGENTS
    }

    /// The state file, where it is encrypted.
    pub fn sealed(&self) -> Option<&str> {
        let sealed = self.unread.iter().find(|unread| unread.sealed)?;
        Some(&sealed.what)
    }

    /// How its status is known, in words.
    pub fn status_from(&self) -> String {
        match self.status_source.as_str() {
            "" | "nothing" => "not recorded".to_owned(),
            "run row" | "state file" | "log" => "as recorded".to_owned(),
            "pending gate at every position" => "from the open gate".to_owned(),
            source => format!("by {source}"),
        }
    }

    /// What is said of a time that is not there: the rows that may have it could be unreadable.
    pub fn no_time(&self) -> &'static str {
        match self.is_unread(Part::Statements) {
            true => "not readable",
            false => "not recorded",
        }
    }

    /// Whether a part of the run could not be read to its end: that it is empty must then not be said.
    pub fn is_unread(&self, part: Part) -> bool {
        self.unread.iter().any(|unread| unread.concerns(part))
    }
}

/// How many statements have a status.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatusCount {
    /// The status in words.
    #[cfg_attr(feature = "typescript", ts(as = "super::known::StatementStatus"))]
    pub status: String,
    /// How many.
    pub count: u32,
}

/// Issues by severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Counts {
    /// Severity error.
    pub error: u32,
    /// Severity warning.
    pub warning: u32,
    /// Severity note.
    pub note: u32,
}

impl Counts {
    /// Counts issues.
    pub fn of<'i>(issues: impl IntoIterator<Item = &'i crate::issue::Issue>) -> Counts {
        use crate::issue::Severity;
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

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            error: self.error + other.error,
            warning: self.warning + other.warning,
            note: self.note + other.note,
        }
    }

    /// All of them.
    pub fn total(self) -> u32 {
        self.error + self.warning + self.note
    }
}

/// What failed first, and what failed because of it (errata T9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Failure {
    /// The first cause.
    pub cause: NodeRef,
    /// Its error; `None`: no message was recorded.
    pub error: Option<String>,
    /// Failed or stopped because of it, from the inside out (the first 20).
    pub because_of: Vec<NodeRef>,
    /// How many that are in all.
    #[serde(default)]
    pub because_of_count: u32,
    /// The same in words: `it ended the 6 blocks around it`; empty where nothing else failed. Of a completed run, why it
    /// went on, where that is known.
    #[serde(default)]
    pub because_words: String,
}
