//! Defines the results of recording commands, which are returned to the caller and printed with `--json`. A field `run`
//! contains the name by which commands take the run: its id, or `postgres:ID` for a run in PostgreSQL.

use serde::{Deserialize, Serialize};

use crate::model::time::Stamp;
use crate::read::gate::audit::AuditHead;
use crate::record::render::brief::{NextStep, TaskView};

/// A run that was created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunOpened {
    /// The new run: its id, or `postgres:ID` in PostgreSQL. Later commands take it as `RUN`.
    pub run: String,
    /// The run's folder; relative to the working directory if the folder is below that.
    pub folder: String,
    /// How the run keeps its state: `filesystem` or `sqlite`.
    pub state: String,
}

/// A run that ended, or was interrupted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunFinished {
    /// The run that was ended or interrupted.
    pub run: String,
    /// The run's status: `completed`, `failed` or `interrupted`.
    pub status: String,
    /// Whether the run had ended before, so that the command wrote nothing.
    #[serde(skip)]
    pub before: bool,
}

/// A statement, loop, parallel or branch that began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExecutionBegun {
    /// The run in which the statement began.
    pub run: String,
    /// The statement's execution id. Later commands take it as `EXECUTION`.
    pub id: i64,
    /// The text of the statement that began.
    pub statement: String,
    /// The line of the program that began, from 1; `None` if the program has no such statement.
    pub line: Option<i64>,
    /// The execution that the statement runs in; `None` at the root.
    pub parent: Option<i64>,
    /// The `loop_id` of a loop, the `parallel_id` of a parallel, the name of a branch; `None` for other statements.
    pub name: Option<String>,
    /// The block that the statement calls; `None` if the statement calls no block.
    pub block: Option<String>,
    /// The depth of that call in frames, from 1; `None` if the statement calls no block.
    pub depth: Option<i64>,
    /// The work for a subagent; `None` if the statement is not a session.
    pub task: Option<TaskView>,
    /// What to do next; `None` if the statement is a session.
    pub next: Option<NextStep>,
    /// Notes, one sentence each: the statement was recorded out of the program's order or without a line, or an item
    /// began with it.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A parallel block whose branches have all begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ParallelRunning {
    /// The parallel block.
    #[serde(flatten)]
    pub parallel: ExecutionBegun,
    /// The block's branches, in the order of the program.
    pub branches: Vec<ExecutionBegun>,
}

/// An execution that ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExecutionEnded {
    /// The run in which the execution ended.
    pub run: String,
    /// The execution's id.
    pub id: i64,
    /// The status that was recorded: `completed`, `failed` or `skipped`; `joined` for a parallel; `iteration` for the
    /// end of a loop's round, `exited` for the end of a loop.
    pub status: String,
    /// The text of the statement that the execution ran.
    pub statement: String,
    /// The line of the program that the execution ran, from 1; `None` if the program has no such statement.
    pub line: Option<i64>,
    /// The name of the branch; `None` if the execution is not a branch.
    pub branch: Option<String>,
    /// Notes if the execution lacks something that its program says, such as rounds; one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A parallel that was joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ParallelJoined {
    /// The parallel block.
    #[serde(flatten)]
    pub parallel: ExecutionEnded,
    /// The block's branches, in the order of the program.
    pub branches: Vec<BranchStatus>,
}

/// The status of a branch at the join.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BranchStatus {
    /// The branch's name.
    pub branch: String,
    /// The branch's status; `pending` if the branch never began.
    pub status: String,
}

/// A loop that finished a round or was left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LoopRounds {
    /// The loop's execution.
    #[serde(flatten)]
    pub of: ExecutionEnded,
    /// Number of finished rounds.
    pub iteration: i64,
    /// The limit for the number of rounds; `None` if the program sets no limit.
    pub max: Option<i64>,
}

/// Another attempt at an execution that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AttemptBegun {
    /// The run in which the failed execution is attempted again.
    pub run: String,
    /// The id of the execution that failed and is attempted again.
    pub id: i64,
    /// The text of the statement that is attempted again.
    pub statement: String,
    /// The line of the program that is attempted again, from 1; `None` if the program has no such statement.
    pub line: Option<i64>,
    /// The number of the attempt, from 2.
    pub attempt: i64,
    /// The limit for the number of attempts, the first one included; `None` if the program sets no limit.
    pub max: Option<i64>,
    /// The work for a subagent; `None` if the statement is not a session.
    pub task: Option<TaskView>,
}

/// A binding that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BindingWritten {
    /// The run that the binding was written to.
    pub run: String,
    /// The name of the binding that got the value.
    pub name: String,
    /// The frame that the binding belongs to; `None` is the root.
    pub execution_id: Option<i64>,
    /// The binding's kind: `input`, `output`, `let` or `const`.
    pub kind: String,
    /// Where the value is kept: a file, or a row of a database.
    pub location: String,
    /// The value's summary: `--summary`, or the value's first line.
    pub summary: String,
    /// The file inside the run that contains the value; `None` if the binding contains the value itself.
    pub attachment: Option<String>,
    /// Whether the value replaced an earlier one, which is kept as history.
    pub replaced: bool,
    /// The execution that was completed with the value; `None` if none was.
    pub completed: Option<i64>,
    /// The number of the agent's segment that was added with the value (`--segment`); `None` if none was.
    pub segment: Option<i64>,
    /// Notes if the value is empty or the program does not contain its name; one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// An agent whose memory was written, or that got a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AgentWritten {
    /// The run's id; `None` for an agent of the project, of the user, or in a custom store.
    pub run: Option<String>,
    /// The name of the agent that got the memory or the segment.
    pub agent: String,
    /// How long the agent's memory lives: `execution`, `project`, `user` or `custom`.
    pub scope: String,
    /// The database or folder that keeps the agent; `None` if the run keeps the agent.
    pub store: Option<String>,
    /// The number of the segment that was added; `None` if the memory was written.
    pub segment: Option<i64>,
    /// Whether the memory replaced an earlier one, which is kept as history.
    pub replaced: bool,
}

/// An imported program that was registered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportRegistered {
    /// The run that imports the program.
    pub run: String,
    /// The handle by which the program uses the import.
    pub alias: String,
    /// The name of the import's own run, which every command takes as RUN. `None` in a database, because it keeps no
    /// nested runs.
    pub nested: Option<String>,
    /// Whether the handle was already registered.
    pub again: bool,
}

/// A gate that was created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateOpened {
    /// The run in which the gate was created.
    pub run: String,
    /// The gate's id, which `approve` and `reject` take: `ID#2` for the second visit of gate `ID`.
    pub gate: String,
    /// The number of this visit to the gate, from 1.
    pub visit: u32,
    /// The execution that waits at the gate.
    pub execution_id: i64,
    /// The text of the statement that asks at the gate.
    pub statement: String,
    /// The line of the program that asks at the gate, from 1; `None` if the program has no such statement.
    pub line: Option<i64>,
    /// The question to the approver.
    pub prompt: String,
    /// Names in braces in the prompt that have no value.
    pub open_names: Vec<String>,
    /// Who may decide, in words: `anyone`, `ops-team or raymond`.
    pub may_decide: String,
    /// The deadline; `None` without a time-out.
    pub deadline: Option<Stamp>,
    /// The head of the audit log after the command.
    pub head: Option<AuditHead>,
    /// Notes for the caller, such as a warning that statements before the gate are not recorded.
    pub notes: Vec<String>,
}

/// A gate that was approved or rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateDecided {
    /// The run in which the gate was decided.
    pub run: String,
    /// The id of the gate that was approved or rejected.
    pub gate: String,
    /// The gate's new status: `approved` or `rejected`.
    pub status: String,
    /// The principal that decided, as claimed (`--as`).
    pub resolved_by: String,
    /// The principal for which that person acted, as claimed (`--for`); `None` if they acted for themselves.
    pub on_behalf_of: Option<String>,
    /// Always true: the identity of the person is not verified.
    pub claimed: bool,
    /// Whether the gate was decided although its creation has no sealed row (`--override`). A separate log row records
    /// the override.
    pub overridden: bool,
    /// How long the gate waited, in milliseconds; `None` if the time of its creation is not recorded.
    pub waited_ms: Option<i64>,
    /// What the program does after the rejection; `None` after an approval, or if the program does not say.
    pub on_reject: Option<String>,
    /// The execution that waited at the gate; `None` if none is recorded.
    pub execution_id: Option<i64>,
    /// The head of the audit log after the command.
    pub head: Option<AuditHead>,
}

/// A gate whose time-out was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateTimedOut {
    /// The run that waited at the gate until its time-out.
    pub run: String,
    /// The id of the gate that timed out.
    pub gate: String,
    /// The gate's new status, always `timeout`.
    pub status: String,
    /// The principal that decided, always `system`.
    pub resolved_by: String,
    /// The deadline that had passed.
    pub deadline: Option<Stamp>,
    /// What the program does after the time-out; `None` if the program does not say.
    pub on_reject: Option<String>,
    /// The execution that waited at the gate; `None` if none is recorded.
    pub execution_id: Option<i64>,
    /// The head of the audit log after the command.
    pub head: Option<AuditHead>,
}
