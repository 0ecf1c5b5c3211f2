use serde::{Deserialize, Serialize};

use super::{BindingRef, GateView, NodeRef, words};
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

impl ResumeView {
    /// The needs whose values are there.
    pub fn there(&self) -> impl Iterator<Item = &NeedView> + Clone {
        self.needs.iter().filter(|n| n.state == NeedState::There)
    }

    /// What the rest uses and nothing has, in words; and whether it can only be a name.
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

/// `3, 7`.
pub fn numbers(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    lines.join(", ")
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
    /// Why it stands there.
    pub how: Stop,
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

words! {
    /// Why a run stands somewhere.
    Stop {
        /// The statement was begun, and no end is recorded.
        #[default]
        Open = "open",
        /// It is the first cause of the run's failure.
        Failed = "failed",
        /// It waits at a gate.
        Gate = "gate",
        /// Nothing is open: the place follows from what ended last.
        Between = "between",
        /// Nothing is open behind a gate that was turned down: what that means is still to be done.
        Refused = "refused",
    }
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
    /// How it comes to run.
    pub how: How,
    /// The frame that its names are resolved from; `None` is the root.
    pub frame: Option<i64>,
}

words! {
    /// How a statement ahead comes to run.
    How {
        /// The run stands at it.
        #[default]
        Here = "here",
        /// It follows.
        Next = "next",
        /// It lies in a loop's body and runs if there is another round.
        Again = "again",
        /// A condition, an error or a choice decides.
        Maybe = "maybe",
        /// It lies in a block that a statement ahead calls.
        Called = "called",
    }
}

/// A name that the rest of the program uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NeedView {
    /// The name.
    pub name: String,
    /// Where it comes from.
    pub state: NeedState,
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
        matches!(self.state, NeedState::Nowhere | NeedState::Empty)
    }
}

words! {
    /// Where a name or a memory comes from that the rest of the program uses.
    NeedState {
        /// The run has it.
        There = "there",
        /// It is bound, but its value is missing.
        Empty = "empty",
        /// A parameter, a counter, an error or an item that no binding records.
        Given = "given",
        /// A statement ahead makes it first.
        Made = "made",
        /// It is a value of an import, which is another run.
        Import = "import",
        /// Nothing has it.
        #[default]
        Nowhere = "nowhere",
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
    /// Where it comes from: it is there, a session ahead begins it, or it is nowhere.
    pub state: NeedState,
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
    /// What each outcome means.
    #[serde(flatten)]
    pub outcomes: GateOutcomes,
}

/// What each outcome of a gate means for the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GateOutcomes {
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
    /// What kind of risk it is.
    pub risk: Risk,
    /// The node that it speaks of.
    pub node: Option<NodeRef>,
    /// What is known, in one sentence.
    pub text: String,
}

words! {
    /// A kind of risk.
    Risk {
        /// A command may have run.
        Exec = "exec",
        /// A session was begun, and no end is recorded.
        #[default]
        Begun = "begun",
        /// Its result is there already.
        Written = "written",
        /// An agent's memory may hold the turn already.
        Memory = "memory",
        /// It may have changed things outside of the run.
        Outside = "outside",
        /// Attempts were used up, in part or all.
        Attempts = "attempts",
        /// Some branches are done.
        Branches = "branches",
        /// Some rounds, or a part of one, are done.
        Rounds = "rounds",
    }
}

impl Risk {
    /// Whether something may have been done in part; of a parallel and a loop only what is done is said.
    pub fn is_open(self) -> bool {
        !matches!(self, Risk::Branches | Risk::Rounds)
    }

    /// Whether it asks for a look at what was done; the others only say what is done.
    pub fn looks_back(self) -> bool {
        matches!(
            self,
            Risk::Exec | Risk::Begun | Risk::Memory | Risk::Outside
        )
    }
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
