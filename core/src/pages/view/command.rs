//! Defines the `--json` output of commands that neither show a page nor record a change, with one struct for each.

use serde::{Deserialize, Serialize};

use super::{
    CheckedRun, CleanPlan, Counts, FilesView, ImportsView, IssuesView, Overview, ProgramView,
    ResolutionView, ValueView,
};
use crate::model::time::Stamp;

/// A run at a glance, with the pages that have no command of their own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunShown {
    /// The overview: what happened, where the run stopped, and why.
    pub overview: Overview,
    /// The program's lines, with the result of each.
    pub program: ProgramView,
    /// Imported programs and their runs.
    pub imports: ImportsView,
    /// The run's files and tables.
    pub files: FilesView,
    /// The issues of the run.
    pub issues: IssuesView,
}

/// The value that a name means, with the reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NamedValue {
    /// The value that the name means.
    #[serde(flatten)]
    pub value: ValueView,
    /// Every candidate for the name, the winner first.
    pub resolution: ResolutionView,
    /// The folder of the imported run that has the binding, for a name of an import (`alias.name`); absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub import: Option<String>,
}

/// A segment of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SegmentText {
    /// The name of the agent that worked in this segment.
    pub agent: String,
    /// How long the agent's memory lives: `execution`, `project`, `user` or `custom`.
    pub scope: String,
    /// The segment's number, from 1.
    pub segment: i64,
    /// When the segment was recorded; `None` if not recorded.
    pub timestamp: Option<Stamp>,
    /// What the agent was asked; `None` if that is not recorded.
    pub prompt: Option<String>,
    /// What the agent did; `None` if that is not recorded.
    pub summary: Option<String>,
}

/// The records of an agent of the project or the user, and whether they were deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentDeleted {
    /// The name of the agent that was deleted, or would be with `--yes`.
    pub agent: String,
    /// The agent's scope: `project` or `user`.
    pub scope: String,
    /// The `.prose` folder that contains the agent.
    pub place: String,
    /// How many rows of `agents.db` belong to the agent.
    pub rows: u64,
    /// Bytes of the agent's memory in `agents.db`.
    pub memory_bytes: u64,
    /// How many files the agent's folder has; `None` without a folder.
    pub files: Option<u64>,
    /// Whether the agent was deleted (`--yes`).
    pub done: bool,
}

/// The result of `prosescope clean`: runs that were removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunsCleaned {
    /// The runs that are removed and kept.
    #[serde(flatten)]
    pub plan: CleanPlan,
    /// Whether everything in the plan was removed. False without `--yes`, or if `failed` is not empty.
    pub done: bool,
    /// Folders that could not be removed, each with the reason.
    pub failed: Vec<String>,
}

/// A converted copy of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunConverted {
    /// The id of the run that was converted. The copy has the same id.
    pub run: String,
    /// The new folder; relative to the working directory if the folder is inside of that.
    pub folder: String,
    /// How the copy keeps its state: `filesystem` or `sqlite`.
    pub state: String,
    /// Parts of the run that the copy lacks, or has in another form.
    pub left: Vec<CopyLoss>,
    /// Whether the folder already contained the same run, so that nothing was copied.
    pub already: bool,
}

/// A repaired copy of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunRepaired {
    /// The id of the repaired run, or the name of its folder if the run has no id.
    pub run: String,
    /// The copy's folder; relative to the working directory if the folder is inside of that. `None` if nothing needed
    /// repair, because then no copy is written.
    pub copy: Option<String>,
    /// The repairs that were made.
    pub repaired: Vec<MadeRepair>,
    /// The issues of the original run, by severity.
    pub before: Counts,
    /// The check of the repaired copy; of the run itself if there is no copy.
    pub after: CheckedRun,
}

/// The local server of the viewer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Serving {
    /// The address to open in a browser; it contains a secret.
    pub address: String,
}

/// The address and token of a server that `prosescope workflow serve` started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServingWorkflows {
    /// The server's address, with its port.
    pub address: String,
    /// The token that the command generated; `null` if the caller gave one or the server requires none.
    pub token: Option<String>,
}

/// A command that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommandFailed {
    /// The reason for the failure.
    pub error: CommandError,
}

/// The reason why a command failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommandError {
    /// What went wrong, for people.
    pub message: String,
    /// What to do next, for people.
    pub hints: Vec<String>,
    /// The exit code, from 2 to 7.
    pub exit: u8,
    /// The word for the exit code: `usage` (2), `not-found` (3), `refused` (4), `unreadable` (5), `io` (6), `recorded`
    /// (7).
    pub kind: String,
    /// The name of the rule that refused the command; present exactly if `kind` is `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub rule: Option<String>,
}

/// A part of a run that a copy lacks or has in another form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CopyLoss {
    /// The part of the run: a binding, an agent, a file, a table, …
    pub place: String,
    /// What the part contains, and what happened to it.
    pub what: String,
}

impl CopyLoss {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> CopyLoss {
        CopyLoss {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// A repair, and how often it was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MadeRepair {
    /// The rule whose issue was repaired; empty if no rule reports the repaired defect.
    pub rule: String,
    /// The repair, in a sentence.
    pub did: String,
    /// How often the repair was made.
    pub count: u64,
}
