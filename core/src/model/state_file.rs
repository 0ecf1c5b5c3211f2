use super::{AgentScope, RunStatus, Text};
use crate::model::time::Stamp;

/// A decoded state.md in OpenProse's form, called form A in docs/reference/formats.md;
/// [`crate::record::render::state_md`] writes one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateFile {
    /// The header line `run:`, with the run's id.
    pub run: Option<Text>,
    /// The header line `program:`.
    pub program: Option<Text>,
    /// The header line `started:`.
    pub started: Option<Stamp>,
    /// The header line `updated:`, or `completed:` in files that use it instead.
    pub updated: Option<Stamp>,
    /// The header line `status:`, which OpenProse does not define but some files contain.
    pub status: Option<RunStatus>,
    /// The header keys unknown to OpenProse, in order.
    pub extra: Vec<(Text, Text)>,
    /// The source lines of the trace with their annotations.
    pub trace: Vec<TraceLine>,
    /// The open and finished parallel blocks listed under "Active Constructs".
    pub parallels: Vec<ParallelState>,
    /// The loops listed under "Active Constructs".
    pub loops: Vec<LoopState>,
    /// The index of bindings.
    pub bindings: Vec<IndexedBinding>,
    /// The index of agents.
    pub agents: Vec<IndexedAgent>,
    /// The call stack, innermost frame first.
    pub call_stack: Vec<CallFrame>,
    /// The status of the root frame; `None` if the table of the call stack has no row for the root.
    pub root: Option<super::Status>,
    /// Sections unknown to OpenProse: heading and text (docs/reference/formats.md).
    pub sections: Vec<(Text, Text)>,
}

/// Maximum number of lines shown from sections unknown to OpenProse. Such sections may have megabytes.
const MOST_REMARKS: usize = 1_000;

impl StateFile {
    /// Returns the lines of the sections unknown to OpenProse, each section after its heading.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Text> {
        let lines = self.sections.iter().flat_map(|(heading, text)| {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            std::iter::once(format!("## {heading}").into()).chain(lines.map(Text::from))
        });
        let more = self
            .sections
            .iter()
            .map(|(_, text)| text.lines().count() + 1);
        let cut = more.sum::<usize>() > MOST_REMARKS;
        let cut = cut.then(|| Text::from("… the rest is in the state file"));
        lines.take(MOST_REMARKS).chain(cut)
    }
}

/// One line of the execution trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceLine {
    /// The line number, from 1. If the trace is a faithful excerpt of the program, as the form demands, this is the
    /// program's own line number. `None` for all lines after one that replaces several lines
    /// (`...remaining stages...`).
    pub line: Option<u32>,
    /// The program's source on the line, without the annotation and trailing blanks.
    pub text: Text,
    /// The annotation after the source.
    pub annotation: Option<Annotation>,
}

/// The annotation of a trace line (filesystem.md, "Status annotations"; errata F1).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotation {
    /// The statement's status; `None` if only a path is given, which means completed.
    pub status: Option<super::Status>,
    /// The file with the statement's output: `# --> path`.
    pub path: Option<Text>,
    /// The number of the attempt and, if given, the maximum: `(attempt 2/3)`.
    pub attempt: Option<(u32, Option<u32>)>,
    /// The error message: `(failed: message)`.
    pub error: Option<Text>,
    /// The words after a status that is no failure: `(complete - order 5512)`.
    pub note: Option<Text>,
    /// The id of the gate at which the statement waits: `<-- WAITING (gate id)`.
    pub gate: Option<Text>,
    /// Whether the statement is marked as not reached: `[not yet entered]` or `[...next...]`.
    pub ahead: bool,
    /// Whether the statement is marked as a declaration, which does not run: `[registered]`, `✓ defined`.
    pub declared: bool,
    /// The annotation as written.
    pub raw: Text,
}

/// A parallel block listed under "Active Constructs".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParallelState {
    /// The first and last line of the parallel block in the program, if given.
    pub lines: Option<(u32, u32)>,
    /// The branches and their status words, in order.
    pub branches: Vec<(Text, super::Status)>,
}

/// A loop under "Active Constructs".
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoopState {
    /// The first and last line of the loop in the program, if given.
    pub lines: Option<(u32, u32)>,
    /// The status as written, which may be `not yet entered`.
    pub status: Text,
    /// The current round; 0 before the first round.
    pub iteration: Option<u32>,
    /// The maximum number of rounds.
    pub max: Option<u32>,
    /// The condition without its asterisks.
    pub condition: Option<Text>,
}

/// A row of the index of bindings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexedBinding {
    /// The name of the binding.
    pub name: Text,
    /// The kind of the binding, as written.
    pub kind: Text,
    /// The path of the binding's file as written; empty if the row has no path (`- round1: (pending)`).
    pub path: Text,
    /// The id of the binding's frame; `None` is `(root)`.
    pub execution_id: Option<i64>,
}

/// A row of the index of agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexedAgent {
    /// The name of the agent.
    pub name: Text,
    /// The agent's scope, if the table has that column.
    pub scope: Option<AgentScope>,
    /// The path of the agent's memory, if the table has that column.
    pub path: Option<Text>,
}

/// A row of the call stack.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFrame {
    /// The frame's id.
    pub execution_id: i64,
    /// The name of the block that the frame runs.
    pub block: Text,
    /// The depth of the frame, from 1.
    pub depth: Option<i64>,
    /// The status of the frame, as written.
    pub status: super::Status,
}
