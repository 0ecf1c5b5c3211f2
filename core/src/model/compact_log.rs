use super::{GateStatus, RunStatus, Status, Text};
use crate::model::time::Stamp;

/// A decoded compact log: one event per line, in the order written (docs/reference/formats.md).
///
/// Readers rely on the order of the lines only. Statement numbers are as the writer counted them: they repeat and skip.
/// Only trailers have times. These end in `Z` (UTC) but are often local times, so no duration is computed from them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompactLog {
    /// The file's name in the run folder: `state.md`, `vm.log.md`.
    pub file: Text,
    /// The run's id, program, times and other facts in the head of the file.
    pub head: RunHead,
    /// Whether the file begins with encrypted text, which hides the earlier events.
    pub sealed: bool,
    /// The run's status in the last trailer, or else in the head. `None` if neither contains one, or if the log
    /// continues after its trailer.
    pub status: Option<RunStatus>,
    /// The time in the last trailer; without a trailer, the end time in the head.
    pub ended: Option<Stamp>,
    /// The index in [`CompactLog::lines`] of the last trailer, such as an `---end` line; `None` without a trailer.
    pub trailer: Option<u32>,
    /// All lines except the header, fences and blank lines.
    pub lines: Vec<LogLine>,
}

/// The facts about a run that the head of a state file, or a record such as `run.json`, contains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunHead {
    /// The run's id, from a heading `# run:{id} {program}` or a key `run_id`.
    pub run: Option<Text>,
    /// The name or path of the run's program.
    pub program: Option<Text>,
    /// The value of the key `state_backend`: the kind of store that the writer used.
    pub mode: Option<Text>,
    /// When the run started.
    pub started: Option<Stamp>,
    /// When the run was last updated; if that is not recorded, when it ended.
    pub ended: Option<Stamp>,
    /// The run's status: `status: failed` in front matter, `- outcome: complete`.
    pub status: Option<RunStatus>,
    /// Further keys of the head and their values, including `root` and `upstream`, the ids of the runs whose results
    /// this run used.
    pub facts: Vec<(Text, Text)>,
}

impl CompactLog {
    /// Returns the error with which the log says that the run failed: the key `error` of its head, or else the text of
    /// its last trailer. `None` if the log contains neither.
    pub fn error(&self) -> Option<&str> {
        let mut facts = self.head.facts.iter();
        let stated = facts.find(|(key, _)| &**key == "error");
        let trailer = || self.lines.get(self.trailer? as usize)?.note.as_deref();
        stated.map(|(_, error)| &**error).or_else(trailer)
    }

    /// Returns whether any line records a statement, has a statement's number, or is a trailer.
    pub fn has_events(&self) -> bool {
        self.lines.iter().any(|line| {
            let named = matches!(
                line.event,
                LogEvent::Statement { .. } | LogEvent::Trailer { .. }
            );
            named || line.number.is_some()
        })
    }
}

/// A line of a compact log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// The number of the line in the file, from 1.
    pub line: u32,
    /// The statement's number: 3 of `3a→`.
    pub number: Option<u32>,
    /// The branch letter or name, between number and arrow: `a` of `3a→`.
    pub branch: Option<Text>,
    /// The id of the frame that the line belongs to: 1 of `5→ #1 impl ✓`.
    pub frame: Option<i64>,
    /// Whether a condition held, if the line records that: false for `if(false) skip`, `if: false (n is 4)` and `else
    /// not executed`, true for `if: true`. [`LogLine::event`] is then a skipped or completed statement whose text is
    /// the condition; the note is the reason.
    pub held: Option<bool>,
    /// Whether the statement was postponed (`⊘ deferred (no key)`): its status is skipped, and a later line with the
    /// same number or name continues it.
    pub deferred: bool,
    /// The event that the line records.
    pub event: LogEvent,
    /// The text after the status mark: an error, a reason or a remark.
    pub note: Option<Text>,
    /// The whole line, trimmed.
    pub raw: Text,
}

impl LogLine {
    /// Returns the word in brackets before a statement's name: `input` of `1→ [input] topic ✓`.
    pub fn tag(&self) -> Option<&str> {
        let LogEvent::Statement { .. } = &self.event else {
            return None;
        };
        let (before, rest) = self.raw.split_once('[')?;
        let word = before.split_whitespace().next_back().unwrap_or_default();
        let begins = word.ends_with(['→', '>']) || word.starts_with('#') || word.is_empty();
        let (tag, _) = rest.split_once(']').filter(|_| begins)?;
        Some(tag.trim())
    }

    /// Returns whether the line records an event before the first statement: an input (`[input]`), or a check of the
    /// environment (`[preflight]`).
    pub fn is_given(&self) -> bool {
        let is = |tag: &str| {
            let tag = tag.to_ascii_lowercase().replace('-', "");
            tag.starts_with("input") || tag.starts_with("preflight")
        };
        self.tag().is_some_and(is)
    }
}

/// The event that a line of a compact log records.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEvent {
    /// A statement: `research ✓`, `✗ timeout`, `exec .version ✓`, `if(false) skip`, `⊘ deferred (…)`.
    Statement {
        /// The statement's name or text; empty for an anonymous statement.
        text: Text,
        /// The statement's status; `None` if the line contains only its text.
        status: Option<Status>,
    },
    /// `∥start a,b`: a parallel block begins.
    Fork {
        /// The branches that the line announces.
        branches: Vec<Text>,
    },
    /// `∥done`: the branches of a parallel block joined.
    Join {
        /// The status of the parallel block: completed or failed.
        status: Status,
    },
    /// A round of a loop begins or ends: `loop:2/5`, `loop:2/5 exit(**done**)`.
    Round {
        /// The round's number.
        n: Option<u32>,
        /// Maximum number of rounds.
        max: Option<u32>,
        /// Whether the round ended: `loop:2/5 ✓`.
        over: bool,
        /// Whether the loop was left; [`LogLine::note`] contains the reason.
        exit: bool,
    },
    /// `block:implement#1 TASK-001`: a frame of a block begins.
    Enter {
        /// The name of the block.
        block: Text,
        /// The frame's id, which is also the scope of its bindings.
        id: Option<i64>,
        /// The status with which the frame ended, if the same line also ends it: `block:implement#1 ✓`.
        status: Option<Status>,
    },
    /// `#1 done`: a frame ends.
    Leave {
        /// The status of the frame: completed or failed.
        status: Status,
    },
    /// The status of a gate: `gate:fast_tests ✓ approved`.
    Gate {
        /// The gate's id; empty if the line contains only the word `gate`.
        gate: Text,
        /// The gate's status.
        status: GateStatus,
    },
    /// `retry:2/3`: another attempt begins.
    Retry {
        /// The name of the retried statement. If empty, the number of the line identifies the retried statement.
        text: Text,
        /// The number of the attempt; the first try is attempt 1.
        attempt: Option<u32>,
        /// Maximum number of attempts.
        max: Option<u32>,
    },
    /// The end, failure or resumption of the run: `---end TS`, `---error TS message`, `---resume TS (note)`.
    Trailer {
        /// The run's status after the line; `running` after a `---resume`.
        status: RunStatus,
        /// The time in the trailer; `None` if there is no time.
        at: Option<Stamp>,
    },
    /// Text that does not record a statement: `[outage] …`, `[input] question ✓`, or anything else.
    Note,
}

impl LogEvent {
    /// Returns the event for a statement with this text and status.
    pub(crate) fn statement(text: &str, status: Option<Status>) -> LogEvent {
        LogEvent::Statement {
            text: text.into(),
            status,
        }
    }

    /// Returns whether the event is a statement or a gate with a name.
    pub(crate) fn names_something(&self) -> bool {
        match self {
            LogEvent::Statement { text: name, .. } | LogEvent::Gate { gate: name, .. } => {
                !name.is_empty()
            }
            _ => false,
        }
    }

    /// Returns whether the event is a skipped statement.
    pub(crate) fn is_skipped(&self) -> bool {
        matches!(self, LogEvent::Statement { status: Some(status), .. } if *status == Status::Skipped)
    }
}
