//! Defines the JSON of `prosescope resume`: positions, needed values, open gates, cautions and steps.

use serde::{Deserialize, Serialize};

use super::{BindingRef, GateView, NodeRef, QuestionView, words};
use crate::model::time::Stamp;

/// Everything that is needed to continue a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ResumeView {
    /// The id of the run to continue.
    pub run: String,
    /// The name or path of the program to continue; `None` if not recorded.
    pub program: Option<String>,
    /// The run's most likely status, for which `status_reason` gives the reason.
    pub status: String,
    /// The reason for the status, in one sentence.
    pub status_reason: String,
    /// The result in one line: `Stands in 2 places`, `Completed: nothing to resume`.
    pub headline: String,
    /// Whether the run can be continued.
    pub resumable: bool,
    /// The work that the run has done.
    pub done: DoneView,
    /// The run's positions, or the places at which a failed run can begin again (the first 50).
    pub positions: Vec<PositionView>,
    /// How many positions there are in all.
    pub position_count: u32,
    /// The names that the rest of the program uses (the first 200).
    pub needs: Vec<NeedView>,
    /// How many names the rest of the program uses in all.
    pub need_count: u32,
    /// The agents whose memory the rest of the program reads.
    pub memories: Vec<MemoryNeedView>,
    /// The questions to people that have no answer yet.
    #[serde(default)]
    pub questions: Vec<QuestionView>,
    /// The gates that wait for a decision, and the consequence of each outcome.
    pub gates: Vec<GateOutcomeView>,
    /// Actions that may have happened already, to check before they are repeated (the first 50).
    pub cautions: Vec<CautionView>,
    /// The steps to take, in order.
    pub steps: Vec<StepView>,
    /// The statements that remain to run (the first 200).
    pub ahead: Vec<AheadView>,
    /// How many statements remain to run in all.
    pub ahead_count: u32,
    /// Notes on facts that are not known.
    pub notes: Vec<String>,
}

impl ResumeView {
    /// Returns the needs whose values exist.
    pub fn there(&self) -> impl Iterator<Item = &NeedView> + Clone {
        self.needs.iter().filter(|n| n.state == NeedState::There)
    }

    /// Describes each name and memory that the rest of the program uses and that is missing. The flag is false for text
    /// such as `{x}` that may not be a name at all.
    pub fn missing(&self) -> Vec<(String, bool)> {
        let needs = self.needs.iter().filter(|n| n.is_missing());
        let needs = needs.map(|n| {
            let (name, lines) = (&n.name, numbers(&n.lines));
            (format!("{name} (line {lines}): {}", n.reason), n.sure)
        });
        let memories = self.memories.iter();
        let memories = memories.filter(|m| m.state == NeedState::Nowhere).map(|m| {
            let (agent, lines) = (&m.agent, numbers(&m.lines));
            (format!("the memory of agent {agent} (line {lines})"), true)
        });
        needs.chain(memories).collect()
    }
}

/// Joins line numbers for a sentence: `3, 7`.
pub fn numbers(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    lines.join(", ")
}

/// The work that is done in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoneView {
    /// How many of the started statements finished.
    pub statements_done: u32,
    /// How many statements started.
    pub statements: u32,
    /// How many statements of the program may run; `None` without the source.
    pub statements_in_program: Option<u32>,
    /// How many bindings the run has.
    pub bindings: u32,
    /// The sentences of the overview about how much ran and what failed.
    pub story: Vec<String>,
    /// The nodes that ended last, the latest first (at most 5).
    pub last: Vec<NodeRef>,
    /// What the record says besides its statements' states: the reason of a condition, the words behind a mark, lines
    /// in free text. The last 40, in the order of the trace.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The last sign of life of the run; `None` if the run records no time.
    pub last_sign: Option<Stamp>,
}

/// A current position of the run, at which the program continues.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PositionView {
    /// Why the run is at this position.
    pub how: Stop,
    /// The node at this position; `None` if `how` is `between`.
    pub node: Option<NodeRef>,
    /// The execution id of the frame around the position; `None` is the root.
    pub frame: Option<i64>,
    /// The calls that lead to that frame, outermost first; empty at the root.
    pub frame_path: String,
    /// The position's line in the program; `None` if the line is not known.
    pub line: Option<u32>,
    /// The text of the position's line in the program.
    pub source: String,
    /// Whether `line` is a guess, because the row does not record its line.
    pub guessed: bool,
    /// When the node began; `None` if that is not recorded.
    pub since: Option<Stamp>,
    /// The node's error, cut at 400 characters; `None` if not recorded.
    pub error: Option<String>,
    /// How many attempts there were so far.
    pub attempts: u32,
    /// The limit on attempts, if it is recorded.
    pub max: Option<u32>,
    /// For a gate that was rejected or timed out: what the decision means. For a failure: which enclosing block the
    /// next attempt starts with. `None` otherwise.
    pub meaning: Option<String>,
    /// The first statement to run at this position, if it is known.
    pub next: Option<AheadView>,
    /// The commands that begin another attempt at a failed node; empty without a failure, or if no record has an id.
    #[serde(default)]
    pub commands: Vec<String>,
}

words! {
    /// Why a run is at a position.
    Stop {
        /// The statement began and its end is not recorded.
        #[default]
        Open = "open",
        /// The statement is the first cause of the run's failure.
        Failed = "failed",
        /// The run waits at a gate.
        Gate = "gate",
        /// Nothing is running; the position follows from the statement that ended last.
        Between = "between",
        /// A gate was rejected or timed out, and the program's reaction to that did not begin yet.
        Refused = "refused",
    }
}

/// A statement that remains to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AheadView {
    /// The statement's line.
    pub line: u32,
    /// The first line of the statement's text.
    pub text: String,
    /// The line's indentation in the program, in columns.
    #[serde(default)]
    pub indent: u32,
    /// The circumstances under which the statement runs.
    pub how: How,
    /// The execution id of the frame in which the statement's names are resolved; `None` is the root.
    pub frame: Option<i64>,
}

words! {
    /// The circumstances under which a remaining statement runs.
    How {
        /// The statement is at a current position of the run.
        #[default]
        Here = "here",
        /// The statement follows a statement that runs.
        Next = "next",
        /// The statement is in a loop's body and runs if there is another round.
        Again = "again",
        /// A condition, an error or a choice decides whether the statement runs.
        Maybe = "maybe",
        /// The statement is in a block that a remaining statement calls.
        Called = "called",
    }
}

/// A name that the rest of the program uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NeedView {
    /// The name, as the program uses it.
    pub name: String,
    /// Whether the value exists, and where it comes from.
    pub state: NeedState,
    /// Why the name means this value, or where the value will come from.
    pub reason: String,
    /// The binding that has the value; `None` if there is no binding.
    pub binding: Option<BindingRef>,
    /// The scope of the binding in words, as in [`super::BindingRow::scope`]; empty if there is no binding.
    #[serde(default)]
    pub scope: String,
    /// The execution id of the frame in which the name is resolved; `None` is the root.
    pub from: Option<i64>,
    /// Bytes of the value, or of its attachment; `None` without a value.
    pub len: Option<u64>,
    /// The beginning of the value on one line, at most 80 characters.
    pub preview: String,
    /// The remaining lines that use the name (the first 12).
    pub lines: Vec<u32>,
    /// Whether the text is certainly a name; `{x}` in a text may be plain text.
    pub sure: bool,
    /// The command that prints the value; empty without a value.
    pub command: String,
}

impl NeedView {
    /// Returns whether the rest of the program lacks this value.
    pub fn is_missing(&self) -> bool {
        matches!(self.state, NeedState::Nowhere | NeedState::Empty)
    }
}

words! {
    /// The origin of a name or memory that the rest of the program uses.
    NeedState {
        /// The run has the value or the memory.
        There = "there",
        /// The binding exists, but its value is missing.
        Empty = "empty",
        /// The name is a parameter, a counter, an error or an item, which bindings do not record.
        Given = "given",
        /// A remaining statement makes the value before the value is used.
        Made = "made",
        /// The value belongs to an import, which is a run of its own.
        Import = "import",
        /// The value or the memory is missing.
        #[default]
        Nowhere = "nowhere",
    }
}

/// An agent whose memory the rest of the program reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryNeedView {
    /// The name of the agent that the remaining statements resume.
    pub agent: String,
    /// How long the memory lives, as the program declares it.
    pub scope: String,
    /// Whether the memory exists, is begun by a remaining session, or is missing.
    pub state: NeedState,
    /// The store that contains the memory.
    pub store: String,
    /// Bytes of the memory; `None` without a memory.
    pub len: Option<u64>,
    /// How many segments of the agent are recorded.
    pub segments: u32,
    /// The beginning of the memory on one line, at most 80 characters.
    pub preview: String,
    /// The remaining lines that resume the agent.
    pub lines: Vec<u32>,
}

/// A gate that waits for a decision, with the consequence of each outcome.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateOutcomeView {
    /// The gate itself.
    #[serde(flatten)]
    pub gate: GateView,
    /// The consequences of each outcome.
    #[serde(flatten)]
    pub outcomes: GateOutcomes,
}

/// The consequence of each outcome of a gate for the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateOutcomes {
    /// The gate's line in the program; `None` if the line is not known.
    pub line: Option<u32>,
    /// What happens after an approval.
    pub if_approved: String,
    /// What happens after a rejection.
    pub if_rejected: String,
    /// What happens after a time-out.
    pub if_timed_out: String,
}

/// An action that may have happened already, so that repeating it could do harm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CautionView {
    /// The kind of risk of repeating the action.
    pub risk: Risk,
    /// The node that may have acted, if it is known.
    pub node: Option<NodeRef>,
    /// What is known about the action, in one sentence.
    pub text: String,
}

words! {
    /// The kind of risk of repeating an action.
    Risk {
        /// A command may have run already.
        Exec = "exec",
        /// A session began and its end is not recorded.
        #[default]
        Begun = "begun",
        /// The statement's result exists already.
        Written = "written",
        /// An agent's memory may contain the session already.
        Memory = "memory",
        /// The statement may have changed things outside of the run.
        Outside = "outside",
        /// Some or all attempts are used up.
        Attempts = "attempts",
        /// Some branches of a parallel are done.
        Branches = "branches",
        /// Some rounds of a loop, or a part of a round, are done.
        Rounds = "rounds",
    }
}

impl Risk {
    /// Returns whether the action may be half done. Cautions about branches and rounds only report finished work.
    pub fn is_open(self) -> bool {
        !matches!(self, Risk::Branches | Risk::Rounds)
    }

    /// Returns whether a person should check what the action did before it is repeated.
    pub fn looks_back(self) -> bool {
        matches!(
            self,
            Risk::Exec | Risk::Begun | Risk::Memory | Risk::Outside
        )
    }
}

/// A step towards continuing a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StepView {
    /// The action to take.
    pub text: String,
    /// The commands that carry out the step or help with it.
    pub commands: Vec<String>,
}
