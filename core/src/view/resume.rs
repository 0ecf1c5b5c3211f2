use serde::{Deserialize, Serialize};

use super::{BindingRef, GateView, NodeRef};
use crate::time::Stamp;

/// What going on with a run takes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ResumeView {
    /// The run's id.
    pub run: String,
    /// The program's name or path.
    pub program: Option<String>,
    /// What is believed of its status.
    pub status: String,
    /// Why, in one sentence.
    pub status_reason: String,
    /// One line: `Stands at 2 places`, `Completed: nothing to resume`.
    pub headline: String,
    /// Whether there is anything to go on with.
    pub resumable: bool,
    /// What is done.
    pub done: DoneView,
    /// Every current position, or where a failed run can begin again (the first 50).
    pub positions: Vec<PositionView>,
    /// How many there are in all.
    pub position_count: u32,
    /// The names that the rest of the program uses (the first 200).
    pub needs: Vec<NeedView>,
    /// How many there are in all.
    pub need_count: u32,
    /// The agents whose memory the rest reads.
    pub memories: Vec<MemoryNeedView>,
    /// Gates that wait for a decision, and what each outcome means.
    pub gates: Vec<GateOutcomeView>,
    /// What may have happened already: not to be repeated without a look (the first 50).
    pub cautions: Vec<CautionView>,
    /// What to do next, in order.
    pub steps: Vec<StepView>,
    /// The statements ahead (the first 200).
    pub ahead: Vec<AheadView>,
    /// How many there are in all.
    pub ahead_count: u32,
    /// What is not known.
    pub notes: Vec<String>,
}

/// What is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DoneView {
    /// Statements that are done.
    pub statements_done: u32,
    /// Statements that were seen.
    pub statements: u32,
    /// Statements of the program that may run, where its source is there.
    pub statements_in_program: Option<u32>,
    /// How many bindings there are.
    pub bindings: u32,
    /// The sentences of the overview on how much ran and what went wrong.
    pub story: Vec<String>,
    /// What ended last, the latest first (at most 5).
    pub last: Vec<NodeRef>,
    /// The last sign of life.
    pub last_sign: Option<Stamp>,
}

/// A place where the run stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PositionView {
    /// `open`: begun without a recorded end; `failed`: the first cause; `gate`: it waits; `between`: nothing is open,
    /// the place follows from what ended last; `refused`: nothing is open behind a gate that was turned down.
    pub how: String,
    /// The node; `None` for `between`.
    pub node: Option<NodeRef>,
    /// The frame that it lies in; `None` is the root.
    pub frame: Option<i64>,
    /// The way to that frame, from the outside in; empty at the root.
    pub frame_path: String,
    /// Its line in the program.
    pub line: Option<u32>,
    /// That line.
    pub source: String,
    /// The tie to the line is a guess.
    pub guessed: bool,
    /// When it was begun; `None`: not recorded.
    pub since: Option<Stamp>,
    /// Its error, cut at 400 characters.
    pub error: Option<String>,
    /// Attempts so far.
    pub attempts: u32,
    /// The most attempts, where recorded.
    pub max: Option<u32>,
    /// What the decision of a gate means that was turned down; of a failure, with what around it another attempt begins.
    pub meaning: Option<String>,
    /// What comes first when the run goes on here.
    pub next: Option<AheadView>,
    /// The commands that begin another attempt at what failed; empty where nothing did, or no record has an id for it.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// A statement ahead.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AheadView {
    /// Its line.
    pub line: u32,
    /// The first line of its text.
    pub text: String,
    /// How many columns the program indents the line.
    #[serde(default)]
    pub indent: u32,
    /// `here`, `next`, `again` (another round), `maybe` (a condition decides), `called` (in a block that is called).
    pub how: String,
    /// The frame that its names are resolved from; `None` is the root.
    pub frame: Option<i64>,
}

/// A name that the rest of the program uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NeedView {
    /// The name.
    pub name: String,
    /// `there`; `empty`: bound, but its value is missing; `given`: a parameter or counter that no binding records;
    /// `made`: a statement ahead makes it first; `import`: of another run; `nowhere`.
    pub state: String,
    /// Why it is this value, or where it comes from.
    pub reason: String,
    /// The binding.
    pub binding: Option<BindingRef>,
    /// The frame that it is resolved from; `None` is the root.
    pub from: Option<i64>,
    /// Bytes of its value, the attachment's where it has one.
    pub len: Option<u64>,
    /// The beginning of its value on one line, at most 80 characters.
    pub preview: String,
    /// The lines ahead that use it (the first 12).
    pub lines: Vec<u32>,
    /// Whether it can only be a name; `{x}` inside of a text may just be text.
    pub sure: bool,
    /// The command that prints the value; empty where there is none.
    pub command: String,
}

impl NeedView {
    /// Whether the rest of the program cannot have it.
    pub fn is_missing(&self) -> bool {
        matches!(self.state.as_str(), "nowhere" | "empty")
    }
}

/// An agent whose memory the rest of the program reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MemoryNeedView {
    /// The agent's name.
    pub agent: String,
    /// How long its memory lives, as the program declares it.
    pub scope: String,
    /// `there`; `made`: a session ahead begins it; `nowhere`.
    pub state: String,
    /// Which store it lies in.
    pub store: String,
    /// Bytes of it.
    pub len: Option<u64>,
    /// How many segments are recorded.
    pub segments: u32,
    /// The beginning of it on one line, at most 80 characters.
    pub preview: String,
    /// The lines ahead that resume the agent.
    pub lines: Vec<u32>,
}

/// A gate that waits, and what each outcome means.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateOutcomeView {
    /// The gate.
    #[serde(flatten)]
    pub gate: GateView,
    /// Its line in the program.
    pub line: Option<u32>,
    /// What happens when it is approved.
    pub if_approved: String,
    /// What happens when it is rejected.
    pub if_rejected: String,
    /// What happens when its deadline passes.
    pub if_timed_out: String,
}

/// Something that may have happened already.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CautionView {
    /// `exec`, `begun`, `written`, `memory`, `outside`, `attempts`, `branches`, `rounds`.
    pub risk: String,
    /// The node that it speaks of.
    pub node: Option<NodeRef>,
    /// What is known, in one sentence.
    pub text: String,
}

/// A step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StepView {
    /// What to do.
    pub text: String,
    /// Commands that do it, or help.
    pub commands: Vec<String>,
}
