use super::{GateStatus, RunStatus, Status, Text};
use crate::time::Stamp;

/// A decoded compact log: one event a line, in the order written (docs/reference/formats.md).
///
/// Order is that of the lines. Numbers are statement numbers as the writer counted them: they repeat and skip.
/// Times stand in trailers alone, and their `Z` is often local time: no durations are made of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompactLog {
    /// The file's name in the run folder: `state.md`, `vm.log.md`.
    pub file: Text,
    /// What its head says.
    pub head: RunHead,
    /// An encrypted envelope stands before the lines: what happened before them is told in there.
    pub sealed: bool,
    /// What the last trailer says of the run, else the head; `None`: neither does, or the log goes on after its end.
    pub status: Option<RunStatus>,
    /// When that trailer was written, else the end that the head gives.
    pub ended: Option<Stamp>,
    /// Index into [`CompactLog::lines`] of that trailer.
    pub trailer: Option<u32>,
    /// Every line that is not the header, a fence or blank.
    pub lines: Vec<LogLine>,
}

/// What a head or a record says of a run, whichever form has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunHead {
    /// Its id: `# run:{id} {program}`, `run_id`.
    pub run: Option<Text>,
    /// Its program.
    pub program: Option<Text>,
    /// `state_backend`.
    pub mode: Option<Text>,
    /// When it started.
    pub started: Option<Stamp>,
    /// When it was updated, else when it ended.
    pub ended: Option<Stamp>,
    /// How it stands: `status: failed` in front matter, `- outcome: complete`.
    pub status: Option<RunStatus>,
    /// Other keys, and their values; also `root`, and `upstream`, the ids of runs that this one read from.
    pub facts: Vec<(Text, Text)>,
}

impl CompactLog {
    /// Returns whether some line records a statement, or the end of the run.
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
    /// Its number in the file, from 1.
    pub line: u32,
    /// The statement's number: 3 of `3a→`.
    pub number: Option<u32>,
    /// What stands between number and arrow: `a` of `3a→`.
    pub branch: Option<Text>,
    /// The frame that it speaks of: 1 of `5→ #1 impl ✓`.
    pub frame: Option<i64>,
    /// Whether a condition held, where the line records that: false of `if(false) skip`, `if: false (n is 4)` and
    /// `else not executed`, true of `if: true`. The event is then a statement, skipped or completed, whose text is the
    /// condition, and the note is the reason.
    pub held: Option<bool>,
    /// The statement was put off, not ended (`⊘ deferred (no key)`): its status is skipped, and a later line under its
    /// number or name continues it.
    pub deferred: bool,
    /// What it tells.
    pub event: LogEvent,
    /// What stands behind the marker: an error, a reason, a remark.
    pub note: Option<Text>,
    /// The whole line, trimmed.
    pub raw: Text,
}

impl LogLine {
    /// The word in brackets before the name of a statement: `input` of `1→ [input] topic ✓`.
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

    /// Whether it tells of what was there or was looked at before the first statement ran: an input, a check of the
    /// surroundings.
    pub fn is_given(&self) -> bool {
        let is = |tag: &str| {
            let tag = tag.to_ascii_lowercase().replace('-', "");
            tag.starts_with("input") || tag.starts_with("preflight")
        };
        self.tag().is_some_and(is)
    }
}

/// What a line of a compact log tells.
#[derive(Debug, Clone, PartialEq)]
pub enum LogEvent {
    /// `research ✓`, `✗ timeout`, `exec .version ✓`, `if(false) skip`, `⊘ deferred (…)`.
    Statement {
        /// Its name or words; empty when it is anonymous.
        text: Text,
        /// How it stands; `None`: nothing but its text is there.
        status: Option<Status>,
    },
    /// `∥start a,b`: a parallel begins.
    Fork {
        /// The branches that it announces.
        branches: Vec<Text>,
    },
    /// `∥done`: its branches came together.
    Join {
        /// Completed, or failed.
        status: Status,
    },
    /// `loop:2/5`, `loop:2/5 exit(**done**)`.
    Round {
        /// The round's number.
        n: Option<u32>,
        /// The most rounds.
        max: Option<u32>,
        /// The round is over: `loop:2/5 ✓`.
        over: bool,
        /// The loop was left; the note says why.
        exit: bool,
    },
    /// `block:implement#1 TASK-001`: a block is entered.
    Enter {
        /// The block.
        block: Text,
        /// The frame's id, the scope of its bindings.
        id: Option<i64>,
        /// `block:implement#1 ✓`: it is over as well.
        status: Option<Status>,
    },
    /// `#1 done`: a frame is over.
    Leave {
        /// Completed, or failed.
        status: Status,
    },
    /// `gate:fast_tests ✓ approved`.
    Gate {
        /// Its id; empty where the line says no more than `gate`.
        gate: Text,
        /// Where it stands.
        status: GateStatus,
    },
    /// `retry:2/3`: another attempt begins.
    Retry {
        /// What is tried again; empty: the statement of that number.
        text: Text,
        /// The attempt; the first try is attempt 1.
        attempt: Option<u32>,
        /// The most attempts.
        max: Option<u32>,
    },
    /// `---end TS`, `---error TS message`, `---resume TS (note)`.
    Trailer {
        /// What it says of the run: running for a `---resume`.
        status: RunStatus,
        /// When it was written.
        at: Option<Stamp>,
    },
    /// Text that tells of no statement: `[outage] …`, `[input] question ✓`, anything else.
    Note,
}

impl LogEvent {
    /// How a statement stands.
    pub(crate) fn statement(text: &str, status: Option<Status>) -> LogEvent {
        LogEvent::Statement {
            text: text.into(),
            status,
        }
    }

    /// Whether it is a statement or a gate that has a name.
    pub(crate) fn names_something(&self) -> bool {
        match self {
            LogEvent::Statement { text: name, .. } | LogEvent::Gate { gate: name, .. } => {
                !name.is_empty()
            }
            _ => false,
        }
    }

    /// Whether it is a statement that was passed over.
    pub(crate) fn is_skipped(&self) -> bool {
        matches!(self, LogEvent::Statement { status: Some(status), .. } if *status == Status::Skipped)
    }
}
