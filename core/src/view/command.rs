//! What a command prints that is neither a page nor the record of a change.

use serde::{Deserialize, Serialize};

use super::{
    CheckedRun, CleanPlan, Counts, FilesView, ImportsView, IssuesView, Overview, ProgramView,
    ResolutionView, ValueView,
};
use crate::time::Stamp;

/// A run at a glance: the pages that have no command of their own, too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunShown {
    /// What happened, where it stopped and why.
    pub overview: Overview,
    /// The program's lines, with what ran there.
    pub program: ProgramView,
    /// Imported programs and their runs.
    pub imports: ImportsView,
    /// The run's files and tables.
    pub files: FilesView,
    /// What was odd.
    pub issues: IssuesView,
}

/// A name's value, and why the name means it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NamedValue {
    /// The value.
    #[serde(flatten)]
    pub value: ValueView,
    /// Every candidate for the name, the winner first.
    pub resolution: ResolutionView,
    /// The folder of the run that has the binding, for a name of an import (`alias.name`); absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub import: Option<String>,
}

/// A segment of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SegmentText {
    /// The agent.
    pub agent: String,
    /// How long its memory lives: `execution`, `project`, `user` or `custom`.
    pub scope: String,
    /// The segment's number, from 1.
    pub segment: i64,
    /// When it was recorded.
    pub timestamp: Option<Stamp>,
    /// What the agent was asked; `None` if it is not recorded.
    pub prompt: Option<String>,
    /// What the agent did; `None` if it is not recorded.
    pub summary: Option<String>,
}

/// What happened in a run, as markers for a VM's conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Narration {
    /// The run's id.
    pub run: String,
    /// The markers, one a line, in order.
    pub lines: Vec<String>,
}

/// Instructions for a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BriefView {
    /// The run's id.
    pub run: String,
    /// The instructions, in Markdown.
    pub text: String,
    /// The command that writes the output, which is its standard input.
    pub put: String,
}

/// What is kept of an agent of the project or the user, and whether it was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentDeleted {
    /// The agent.
    pub agent: String,
    /// `project` or `user`.
    pub scope: String,
    /// The `.prose` folder that keeps it.
    pub place: String,
    /// How many rows `agents.db` has of it.
    pub rows: u64,
    /// Bytes of its memory in `agents.db`.
    pub memory_bytes: u64,
    /// How many files its folder has; `None` without a folder.
    pub files: Option<u64>,
    /// Whether it was deleted (`--yes`).
    pub done: bool,
}

/// Runs that were removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunsCleaned {
    /// What goes and what stays.
    #[serde(flatten)]
    pub plan: CleanPlan,
    /// Whether all of it was removed: not without `--yes`, nor where something in `failed` could not be.
    pub done: bool,
    /// What could not be removed, each with the reason.
    pub failed: Vec<String>,
}

/// A converted copy of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunConverted {
    /// The run's id.
    pub run: String,
    /// The new folder, relative to the working directory where it lies below that.
    pub folder: String,
    /// How the copy keeps its state: `filesystem` or `sqlite`.
    pub state: String,
    /// What the copy lacks, or has in another form.
    pub left: Vec<Left>,
    /// Whether the same run was there already: nothing was copied.
    pub already: bool,
}

/// A repaired copy of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunRepaired {
    /// The run's id.
    pub run: String,
    /// The copy's folder, relative to the working directory where it lies below that.
    pub copy: String,
    /// What was repaired.
    pub repaired: Vec<Done>,
    /// Issues of the run.
    pub before: Counts,
    /// The copy's own check.
    pub after: CheckedRun,
}

/// The local server of the viewer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Serving {
    /// The address to open in a browser; it contains a secret.
    pub address: String,
}

/// Where `prosescope serve` answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServingWorkflows {
    /// The server's address, with the port that it listens on.
    pub address: String,
    /// The token that it made; `null` where one was given, or none is asked for.
    pub token: Option<String>,
}

/// A command that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommandFailed {
    /// Why.
    pub error: CommandError,
}

/// Why a command failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CommandError {
    /// What was found and why the command stopped, for people.
    pub message: String,
    /// What to do next, for people.
    pub hints: Vec<String>,
    /// The exit code, from 2 to 6.
    pub exit: u8,
    /// The word for the exit code: `usage` (2), `not-found` (3), `refused` (4), `unreadable` (5), `io` (6), `recorded` (7).
    pub kind: String,
    /// The rule that refused; present exactly if `kind` is `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub rule: Option<String>,
}

/// What was not carried, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Left {
    /// Where it is in the run: a binding, an agent, a file, a table, …
    pub place: String,
    /// What it is, and what became of it.
    pub what: String,
}

impl Left {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> Left {
        Left {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// What was repaired, and how often.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Done {
    /// The rule, empty where none speaks of it.
    pub rule: String,
    /// What was done, in a sentence.
    pub did: String,
    /// How often.
    pub count: u64,
}
