//! Defines plain structs of facts about a run. Every user interface shows these structs, so that all screens agree.
//!
//! There is one struct for each page, built by [`crate::pages::session::pages`]. `prosescope … --json` prints the
//! struct as JSON, and the browser's worker sends the same JSON. Structs do not contain large values: lists have
//! lengths and previews, and a whole value is read when a user opens the value.
//!
//! | page | struct | command |
//! |---|---|---|
//! | list of runs | [`RunList`] | `prosescope runs` |
//! | Overview | [`Overview`] | `prosescope show` |
//! | Program | [`ProgramView`] | (in `prosescope show --json`) |
//! | Trace | [`TracePage`], [`NodeDetail`] | `prosescope trace` |
//! | (two runs) | [`CompareView`] | `prosescope diff` |
//! | (cost) | [`RunCost`] | `prosescope cost` |
//! | Search | [`SearchView`] | `prosescope search` |
//! | (SQL) | [`QueryView`], [`QueryTables`] | `prosescope query` |
//! | Bindings | [`BindingsPage`], [`ValueView`], [`ResolutionView`] | `prosescope bindings`, `prosescope get` |
//! | Agents | [`AgentsView`] | `prosescope agents` |
//! | Gates | [`GatesView`], [`AuditView`] | `prosescope gates`, `prosescope audit` |
//! | (audit, over runs) | [`RunAudit`], [`AuditCheck`], [`AuditTimeout`], [`AuditStat`], [`GateWait`] | `prosescope audit` |
//! | Imports | [`ImportsView`] | (in `prosescope show --json`) |
//! | state.md | [`StateMdView`] | `prosescope state` |
//! | Files and tables | [`FilesView`], [`TableRows`] | (in `prosescope show --json`) |
//! | Resume | [`ResumeView`] | `prosescope resume` |
//! | Issues | [`IssuesView`], [`CheckReport`] | `prosescope check` |
//!
//! Every page has [`Unread`] entries for the parts of the run that could not be read.
//!
//! Commands that record print the structs of `record/recorded.rs`; other commands without a page print those of
//! `command.rs`. docs/reference/json lists the struct of every command.
//!
//! [`TimeoutView`] is not a page: the JavaScript package returns it for a parsed duration.

mod agents;
mod audit;
mod bindings;
mod check;
mod clean;
mod command;
mod compare;
mod cost;
mod files;
mod for_model;
mod gates;
#[cfg(feature = "typescript")]
pub(crate) mod known;
mod nodes;
mod overview;
mod query;
mod resume;
mod run_cost;
mod runs;
mod search;
mod section;
mod share;
mod timeline;
mod timeout;
mod unread;
mod words;
mod work;

pub use crate::model::{ShownCell, TableRows, TokenUse};
pub use crate::record::render::brief::{
    AgentOfTask, FrameView, InputOfTask, InputState, NextStep, RoleOfTask, SettingOfTask, TaskView,
};
pub use crate::record::render::download::ValueFormat;
pub use crate::record::{
    AgentWritten, AttemptBegun, Begun, BindingWritten, BranchStatus, EndedPart, ExecutionBegun,
    ExecutionEnded, GateDecided, GateOpened, GateTimedOut, ImportRegistered, LoopRounds,
    NextChoice, NextView, ParallelJoined, ParallelRunning, RunFinished, RunOpened,
};
pub use agents::{AgentElsewhere, AgentView, AgentsView, SegmentView};
pub use audit::{AuditCheck, AuditStat, AuditTimeout, ExpectedHead, GateWait, RunAudit};
pub use bindings::{BindingRow, BindingsPage, CandidateView, ResolutionView, ValueView};
pub use check::{CheckReport, CheckedRun, ExamplePart, RuleView};
pub use clean::{CleanPlan, CleanRun, Leftover};
pub use command::{
    AgentDeleted, CommandError, CommandFailed, CopyLoss, MadeRepair, NamedValue, RunConverted,
    RunRepaired, RunShown, RunsCleaned, SegmentText, Serving, ServingWorkflows,
};
pub use compare::{
    ChangedLine, CompareCounts, CompareView, ComparedNode, ComparedPrograms, ComparedRow,
    ComparedRun, ComparedValue, Difference, NotCompared, ProgramRelation,
};
pub use cost::{CostView, TokenCount};
pub use files::{
    FilesView, ImportView, ImportsView, IssueView, IssuesView, StateLine, StateMdView,
};
pub use for_model::{ForModel, ModelAbout, ModelSize, ReplacedInText};
pub use gates::{AuditRow, AuditView, GateView, GatesView, QuestionView, WaitingGate, acting};
pub(crate) use nodes::number;
pub use nodes::{
    BindingRef, NodeDetail, NodeRef, ProgramLine, ProgramView, PropertyView, RowView, TracePage,
    TreeRow,
};
pub(crate) use nodes::{DERIVED, RECOVERED, WAS_EXECUTING, WAS_WAITING};
pub use overview::{Counts, Failure, Overview, StatusCount};
pub use query::{QueryColumn, QueryTable, QueryTables, QueryView, StoredQuestion};
pub use resume::{
    AheadView, CautionView, DoneView, GateOutcomeView, GateOutcomes, How, MemoryNeedView,
    NeedState, NeedView, PositionView, ResumeView, Risk, StepView, Stop, numbers,
};
pub use run_cost::{RunCost, StatementCost, TranscriptCost, TranscriptsRead};
pub(crate) use runs::LEFT_OUT;
pub use runs::{RunList, RunSummary};
pub use search::{HitGroup, HitKind, SearchHit, SearchView, SearchedRun, SkippedValue};
pub use section::{Item, Section, Sections};
pub use share::{
    LeftOutOfShare, LogSealedAnew, RunShared, SecretFound, SecretsReplaced, SharedPart,
};
pub use timeline::{Bar, BarEnd, Dense, Gap, Longest, Timeline};
pub use timeout::TimeoutView;
pub use unread::{RunPart, Unread};
use words::words;
pub use work::{AnswerView, AskedAgent, AttemptView, Excerpt, GivenName, NodeWork, Received};

use serde::{Deserialize, Serialize};

/// The colour group of a status. A word and an icon always accompany the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// The status is completed, approved or recovered.
    Ok,
    /// The status means that something is running.
    Run,
    /// The status means that the run waits for a person.
    Wait,
    /// The status is failed, rejected, timed out or broken.
    Bad,
    /// The status is not reached, skipped, abandoned or unknown.
    Quiet,
}

/// The status word of a run that did something against its program, whatever else it is: it never looks like a run that
/// did what its program says.
pub const AGAINST: &str = "against the program";

/// Returns the colour group for a status word of a node, a run or a gate.
pub fn tone(status: &str) -> Tone {
    match status {
        "completed" | "approved" | "recovered" | "active" => Tone::Ok,
        "running" | "executing" | "started" | "iteration" | "retry" => Tone::Run,
        "waiting" | "waiting_for_input" | "paused" | "pending" | "interrupted" => Tone::Wait,
        "failed" | "error" | "rejected" | "timeout" | "broken" | "contradicted" | "gone"
        | AGAINST => Tone::Bad,
        _ => Tone::Quiet,
    }
}

/// Returns the icon for a status word, one column wide.
pub fn icon(status: &str) -> &'static str {
    match status {
        "completed" | "approved" => "✓",
        "recovered" | "retry" => "↻",
        "failed" | "error" | "rejected" => "✗",
        "timeout" => "◔",
        "running" | "executing" | "started" | "iteration" => "●",
        "waiting" | "waiting_for_input" | "pending" => "◷",
        "interrupted" | "was executing" | "was waiting" => "■",
        "paused" => "‖",
        AGAINST | "contradicted" => "!",
        "active" => "○",
        "skipped" | "cancelled" => "⊘",
        "unchanged" => "=",
        "cut off" | "abandoned" => "◌",
        _ => "·",
    }
}
