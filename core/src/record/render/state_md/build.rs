//! Builds the state file of any run from its rows, its trace and its program.

use std::collections::{BTreeMap, BTreeSet};

use typed_index_collections::TiVec;

use super::marks::{Paths, StatementMarks, ahead, live, status};
use crate::model::{
    AgentScope, CallFrame, Form, IndexedAgent, IndexedBinding, LoopState, ParallelState, Run,
    RunStatus, StateFile, Status, Text, TraceLine, ValueAt,
};
use crate::program::{Listing, Statement, StatementKind, scan};
use crate::trace::{NodeId, NodeKind, NodeStatus, Trace, recorded, source_of_trace};

/// The least and the greatest number of program lines that are written after the last line that ran.
const AHEAD: (usize, usize) = (5, 10);
/// The deepest indentation of a trace that is built from nodes without a program.
const DEEPEST: u32 = 40;

/// How much of the program a state file contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether the file contains the whole program, not only the lines that ran and five to ten lines after them.
    pub whole_program: bool,
}

/// Renders a run in any form as a state.md of form A. See [`state_file_of`].
pub fn from_run(
    run: &Run,
    trace: &Trace,
    program: Option<&Listing>,
    options: &RenderOptions,
) -> String {
    super::from_state_file(&state_file_of(run, trace, program, options))
}

/// Builds the content of a run's state.md: its annotated source, open constructs, index and call stack.
///
/// Without a program, the source is taken from the run's own state file, or else from the statements' texts. If there
/// are several rounds or frames, the annotations show the current round or frame.
pub fn state_file_of(
    run: &Run,
    trace: &Trace,
    program: Option<&Listing>,
    options: &RenderOptions,
) -> StateFile {
    let word = Some(trace.verdict.status.as_str()).filter(|s| !s.is_empty());
    // A status that was only inferred from a folder's marks and files is not written as if it were recorded.
    let says_status = !matches!(run.form, Form::Folder { .. }) || !recorded(run).is_empty();
    let mut file = StateFile {
        run: Some(run.id.clone()).filter(|id| !id.is_empty()),
        program: run.program.path.clone(),
        started: run.started.clone(),
        updated: run
            .updated
            .clone()
            .or_else(|| trace.verdict.last_sign.clone()),
        status: word
            .filter(|_| says_status)
            .map(RunStatus::parse)
            .or_else(|| run.status.clone()),
        bindings: bindings(run),
        agents: agents(run, program),
        call_stack: call_stack(trace),
        ..StateFile::default()
    };
    let trace_program;
    let mut lines = None;
    let listing = match program {
        Some(listing) => listing,
        None => {
            let own = source_of_trace(run);
            trace_program = if !run.recorded_in_rows() && !own.is_empty() {
                scan(&own)
            } else {
                let (text, of_node) = texts(trace);
                lines = Some(of_node);
                scan(&text)
            };
            &trace_program
        }
    };
    let marks = StatementMarks::new(run, trace, listing, lines.as_ref());
    let beyond = match program {
        Some(_) if !run.recorded_in_rows() => marks.beyond_program(),
        _ => Vec::new(),
    };
    let whole = options.whole_program || program.is_none() || !beyond.is_empty();
    let mut window = WrittenLines::new(&marks, &file, whole);
    // If the last line that ran is not in the program, the next statements are unknown.
    let last = trace
        .nodes
        .iter()
        .rfind(|node| node.state_line.is_some() && !node.kind.is_round());
    if !beyond.is_empty() && last.is_some_and(|last| last.line.is_none()) {
        window.ahead.clear();
    }
    file.trace = window.lines(&marks);
    file.trace.extend(beyond);
    constructs(&marks, &window, &mut file);
    file
}

/// Returns the statements' texts as a program, with the line of each node.
fn texts(trace: &Trace) -> (String, BTreeMap<NodeId, u32>) {
    let live = live(trace);
    let mut text = String::new();
    let mut lines = BTreeMap::new();
    let mut number = 1;
    let mut indents: TiVec<NodeId, u32> = TiVec::with_capacity(trace.nodes.len());
    for (at, node) in trace.nodes.iter_enumerated() {
        let round = matches!(node.kind, NodeKind::Round { .. });
        let above = node
            .parent
            .and_then(|p| indents.get(p))
            .copied()
            .unwrap_or(0);
        indents.push((above + u32::from(!round)).min(DEEPEST));
        if round || live.get(at) != Some(&true) {
            continue;
        }
        lines.insert(at, number);
        let said = match (&node.kind, node.text.trim()) {
            (NodeKind::Branch { branch }, text)
                if text.starts_with("parallel") || text == &**branch =>
            {
                format!("{branch} = session")
            }
            (_, "") => node.kind.word().to_owned(),
            (_, text) => text.to_owned(),
        };
        for line in said.lines() {
            text.push_str(&"  ".repeat(above as usize));
            text.push_str(line.trim_end());
            text.push('\n');
            number += 1;
        }
    }
    (text, lines)
}

/// The lines of the program to write, and the statements that come next.
struct WrittenLines {
    /// The last line of the program to write.
    end: u32,
    /// The indexes of the statements that come next.
    ahead: Vec<u32>,
}

impl WrittenLines {
    fn new(marks: &StatementMarks<'_>, file: &StateFile, whole: bool) -> WrittenLines {
        let mut last = 0;
        for (at, statement) in (0_u32..).zip(&marks.listing.statements) {
            if let Some(node) = marks.node(at) {
                let pending = node.status == NodeStatus::Pending && node.derived;
                if !pending {
                    last = last.max(if statement.has_body() {
                        statement.line
                    } else {
                        statement.end
                    });
                }
            }
        }
        let count = marks.listing.lines.len() as u32;
        let end = if whole {
            count
        } else {
            end(marks.listing, last)
        };
        let open = !file.status.as_ref().is_some_and(RunStatus::is_finished);
        let comes = |at: &u32| {
            let Some(statement) = marks.listing.get(*at) else {
                return false;
            };
            let inside =
                statement
                    .parent
                    .is_none_or(|p| match marks.listing.get(p).map(|s| s.kind) {
                        Some(StatementKind::Block) => matches!(marks.open_frame(*at), Ok(Some(_))),
                        // A branch does not count as a next statement, because branches are listed under "Active
                        // Constructs".
                        Some(StatementKind::Parallel) => false,
                        _ => marks
                            .node(p)
                            .is_some_and(|n| n.status.is_open() && n.status != NodeStatus::Pending),
                    });
            let declared = !statement.kind.runs() || !statement.kind.is_work();
            statement.line > last
                && statement.line <= end
                && marks.node(*at).is_none()
                && inside
                && !declared
        };
        let ahead = (0..marks.of.len() as u32)
            .filter(|at| open && comes(at))
            .collect();
        WrittenLines { end, ahead }
    }

    fn lines(&self, marks: &StatementMarks<'_>) -> Vec<TraceLine> {
        let mut said = BTreeMap::new();
        for (at, statement) in (0_u32..).zip(&marks.listing.statements) {
            let annotation = match self.ahead.binary_search(&at) {
                Ok(_) => Some(ahead(statement.kind)),
                Err(_) => marks.annotation(at),
            };
            if let Some(annotation) = annotation {
                said.insert(statement.line, annotation);
            }
        }
        (1..=self.end)
            .zip(&marks.listing.lines)
            .map(|(number, line)| TraceLine {
                line: Some(number),
                text: line.text.trim_end().into(),
                annotation: said.remove(&number),
            })
            .collect()
    }
}

/// Returns the last line to write: at most ten and at least five lines after the last line that ran, preferably at the
/// end of a statement or paragraph.
fn end(listing: &Listing, last: u32) -> u32 {
    let count = listing.lines.len();
    let (least, most) = (last as usize + AHEAD.0, last as usize + AHEAD.1);
    let breaks = |at: usize| {
        let Some(next) = listing.lines.get(at) else {
            return true;
        };
        next.text.trim().is_empty() || !next.text.starts_with([' ', '\t'])
    };
    let mut end = (least..=most)
        .rev()
        .find(|at| breaks(*at))
        .unwrap_or(most)
        .min(count);
    while end > last as usize
        && listing
            .lines
            .get(end - 1)
            .is_some_and(|l| l.text.trim().is_empty())
    {
        end -= 1;
    }
    end as u32
}

/// Adds the open parallels and loops, and the loops that come next.
fn constructs(marks: &StatementMarks<'_>, window: &WrittenLines, file: &mut StateFile) {
    let spoken: BTreeMap<NodeId, u32> = (0_u32..)
        .zip(&marks.of)
        .filter_map(|(s, n)| Some(((*n)?, s)))
        .collect();
    let live = live(marks.trace);
    // A construct inside of an ended construct has ended, too, even if no record shows that.
    let mut over: TiVec<NodeId, bool> = TiVec::with_capacity(live.len());
    for (at, node) in marks.trace.nodes.iter_enumerated() {
        let closed = |p| marks.trace.node(p).is_some_and(|n| !n.status.is_open());
        let above = node.parent;
        over.push(above.is_some_and(|p| over.get(p) == Some(&true) || closed(p)));
        let own = spoken.get(&at).copied().or_else(|| {
            // If this frame called its block again, the line shows the inner call. This frame waits for that call and
            // keeps its own statement.
            let waits = node.descendants > 0 && !node.derived && marks.in_open_frame(at);
            marks.listing.statement_at(node.line.filter(|_| waits)?)
        });
        let statement = own.and_then(|s| marks.listing.get(s));
        // Whether the node's line in the program shows a later pass over that line instead of this node.
        let passed = statement.is_none() && node.line.is_some();
        let gone = over.last() == Some(&true) || live.get(at) != Some(&true);
        if !node.status.is_open() || passed || gone {
            continue;
        }
        let lines = statement.map(|s| (s.line, s.end));
        let children = || {
            let children = marks.trace.children(Some(at));
            children.filter_map(|child| marks.trace.node(child))
        };
        match node.kind {
            NodeKind::Parallel => {
                let branches = children().filter_map(|child| match &child.kind {
                    NodeKind::Branch { branch } => {
                        Some((branch.clone(), branch_status(&status(&child.status))))
                    }
                    _ => None,
                });
                let mut branches: Vec<(Text, Status)> = branches.collect();
                // A branch that ran again has the status of its last pass.
                let latest: BTreeMap<Text, Status> = branches.iter().cloned().collect();
                let mut seen = BTreeSet::new();
                branches.retain(|(name, _)| seen.insert(name.clone()));
                for (name, status) in &mut branches {
                    if let Some(now) = latest.get(name) {
                        status.clone_from(now);
                    }
                }
                // Branches come in the order of the program; branches that the program lacks come last.
                branches.sort_by_key(|(name, _)| {
                    let line = own.and_then(|own| marks.listing.branch_of(own, name));
                    line.unwrap_or(u32::MAX)
                });
                file.parallels.push(ParallelState { lines, branches });
            }
            NodeKind::Loop => {
                let round = children().filter_map(|child| match child.kind {
                    NodeKind::Round { n } => Some(n),
                    _ => None,
                });
                let round = round.max().unwrap_or(0);
                file.loops
                    .push(looped(statement, lines, "executing", round, node.max));
            }
            _ => {}
        }
    }
    for at in &window.ahead {
        if let Some(statement) = marks.listing.get(*at).filter(|s| s.kind.is_loop()) {
            file.loops.push(looped(
                Some(statement),
                Some((statement.line, statement.end)),
                "not yet entered",
                0,
                None,
            ));
        }
    }
}

/// The first and last line of a construct.
type ConstructLines = Option<(u32, u32)>;

/// Returns a branch's status in the words of state.md, which uses `started` only for whole constructs.
fn branch_status(status: &Status) -> Status {
    match status {
        Status::Started | Status::Iteration => Status::Executing,
        other => other.clone(),
    }
}

fn looped(
    statement: Option<&Statement>,
    lines: ConstructLines,
    word: &str,
    round: u32,
    max: Option<u32>,
) -> LoopState {
    let property = |name: &str| statement.and_then(|s| s.property(name));
    LoopState {
        lines,
        status: word.into(),
        iteration: Some(round),
        max: max.or_else(|| property("max")?.trim().parse().ok()),
        condition: property("condition")
            .filter(|c| !c.is_empty())
            .map(Text::from),
    }
}

fn bindings(run: &Run) -> Vec<IndexedBinding> {
    let paths = Paths::new(run);
    let row = |binding: &crate::model::Binding| IndexedBinding {
        name: binding.name.clone(),
        kind: binding.kind.word().into(),
        path: paths.of(binding),
        execution_id: binding.execution_id,
    };
    // Values of an imported run belong to the index in that run's own state file.
    let nested = |b: &crate::model::Binding| match &b.value {
        ValueAt::File { path, .. } => path
            .strip_prefix(&*run.root)
            .is_some_and(|path| path.starts_with("imports/")),
        _ => false,
    };
    let indexed: BTreeSet<&str> = run
        .state_file
        .iter()
        .flat_map(|file| file.bindings.iter().map(|b| &*b.name))
        .collect();
    run.bindings
        .iter()
        .filter(|b| !b.superseded && (!nested(b) || indexed.contains(&*b.name)))
        .map(row)
        .collect()
}

/// Returns the run's own agents, and agents of the project and the user that the program or the run's index names.
fn agents(run: &Run, program: Option<&Listing>) -> Vec<IndexedAgent> {
    let file = run.state_file.as_ref();
    let declared = program.iter().flat_map(|p| &p.statements);
    let known: BTreeSet<&str> = declared
        .filter(|s| s.kind == StatementKind::Agent)
        .filter_map(|s| s.name.as_deref())
        .chain(file.iter().flat_map(|f| f.agents.iter().map(|a| &*a.name)))
        .collect();
    let own = |agent: &&crate::model::Agent| {
        let elsewhere = matches!(agent.scope, AgentScope::Project | AgentScope::User);
        !elsewhere || known.contains(&*agent.name)
    };
    let row = |agent: &crate::model::Agent| IndexedAgent {
        name: agent.name.clone(),
        scope: Some(agent.scope.clone()),
        path: Some(match agent.scope {
            AgentScope::Project => format!(".prose/agents/{}/", agent.name).into(),
            AgentScope::User => format!("~/.prose/agents/{}/", agent.name).into(),
            _ => format!("agents/{}/", agent.name).into(),
        }),
    };
    run.agents.iter().filter(own).map(row).collect()
}

/// Returns the open frames, the innermost first.
fn call_stack(trace: &Trace) -> Vec<CallFrame> {
    let is_open = |at: NodeId| {
        let node = trace.node(at)?;
        match &node.kind {
            // A frame without an id cannot be a row of the call stack.
            NodeKind::Frame { block, depth } if node.status.is_open() && node.id.is_some() => {
                Some((node, block, *depth))
            }
            _ => None,
        }
    };
    let calls = trace.above(|at, _| is_open(at).is_some());
    let nodes = trace.nodes.keys();
    nodes
        .rev()
        .filter_map(|at| {
            let (node, block, depth) = is_open(at)?;
            let waits = calls.get(at) == Some(&true) || node.status == NodeStatus::Waiting;
            Some(CallFrame {
                execution_id: node.id?,
                block: block.clone(),
                depth: Some(i64::from(depth)),
                status: if waits {
                    Status::Waiting
                } else {
                    Status::Executing
                },
            })
        })
        .collect()
}
