//! Finds the task of a session in its program. The brief for a subagent is rendered from this task.

use super::inputs::inputs;
use super::instance::{depth, frame_of, meta};
use super::source::{LineLookup, ProgramSource};
use super::{Facts, WriteError};
use crate::model::Execution;
use crate::program::{Listing, Property, Statement, StatementKind as Kind, same_name};
use crate::record::render::brief::{AgentOfTask, FrameView, RoleOfTask, SettingOfTask, TaskView};
use crate::trace::frame_block;

impl TaskView {
    /// Returns the task of a session or a resumed agent, without its frame and inputs; `None` for any other statement.
    /// `program` is the listing that declares the agents.
    pub(crate) fn of(listing: &Listing, at: u32, program: &Listing) -> Option<TaskView> {
        let statement = listing.get(at)?;
        if !matches!(statement.kind, Kind::Session | Kind::Resume) {
            return None;
        }
        let (binding, kind) = statement.output().unzip();
        let declared = statement.target.as_deref();
        let declared = declared.and_then(|name| declared_agent(program, name));
        Some(TaskView {
            binding: binding.map(str::to_owned),
            kind: kind.map(|kind| kind.word().to_owned()),
            agent: agent(program, statement.target.as_deref(), statement.kind),
            role: declared.map(|declared| RoleOfTask {
                name: declared.name.clone().unwrap_or_default(),
                prompt: declared.property("prompt").map(str::to_owned),
            }),
            prompt: prompt(listing, at),
            settings: settings(statement, declared),
            ..TaskView::default()
        })
    }
}

/// Returns the task of the statement that this row opens; `None` if the statement is not for a subagent.
pub(super) fn task_of(
    facts: &Facts<'_>,
    source: &ProgramSource<'_>,
    found: &LineLookup,
    row: &Execution,
) -> Result<Option<TaskView>, WriteError> {
    let parent = row.parent;
    let branch = meta(row).branch;
    let (listing, at) = source.listed(found);
    let listing = listing.as_ref();
    let Some(task) = TaskView::of(listing, at, source.listing.unwrap_or(listing)) else {
        return Ok(None);
    };
    Ok(Some(TaskView {
        frame: frame(facts, parent)?,
        inputs: inputs(facts, listing, at, parent, branch.as_deref())?,
        ..task
    }))
}

/// Returns the frame at or around an execution, as a brief shows it.
pub(super) fn frame(facts: &Facts<'_>, from: Option<i64>) -> Result<Option<FrameView>, WriteError> {
    let Some(frame) = frame_of(facts, from)? else {
        return Ok(None);
    };
    let block = frame_block(frame).unwrap_or_default().to_owned();
    Ok(Some(FrameView {
        id: frame.id,
        block,
        depth: depth(facts, Some(frame.id))?,
    }))
}

fn declared_agent<'l>(program: &'l Listing, name: &str) -> Option<&'l Statement> {
    let first = program.named(Kind::Agent, name).first()?;
    program.get(*first)
}

/// Returns what a session is asked: the text after its keyword, and its `prompt:`.
fn prompt(listing: &Listing, at: u32) -> Option<String> {
    let asked = listing.asked(at)?;
    match listing.title(at) {
        Some(title) if title != asked => Some(format!("{title}\n\n{asked}")),
        _ => Some(asked),
    }
}

/// The properties of a session or an agent that the VM carries out, or that a brief contains in another place.
const OF_THE_VM: &[&str] = &[
    "prompt", "context", "persist", "retry", "backoff", "timeout", "on-fail",
];

/// Returns the properties of a session and of its agent that are for the subagent; the session's own come first and
/// replace the agent's.
fn settings(own: &Statement, declared: Option<&Statement>) -> Vec<SettingOfTask> {
    let mut all: Vec<SettingOfTask> = Vec::new();
    let agent = declared.into_iter().flat_map(|agent| &agent.properties);
    for Property { name, text, .. } in own.properties.iter().chain(agent) {
        let of_the_vm = OF_THE_VM.iter().any(|own| same_name(own, name));
        let is_set = all.iter().any(|of| same_name(&of.name, name));
        if text.trim().is_empty() || of_the_vm || is_set {
            continue;
        }
        all.push(SettingOfTask {
            name: name.clone(),
            value: text.clone(),
        });
    }
    all
}

/// Returns the agent of a session if the agent keeps a memory: it is declared with `persist:`, or resumed.
fn agent(listing: &Listing, name: Option<&str>, kind: Kind) -> Option<AgentOfTask> {
    let name = name?;
    let declared = declared_agent(listing, name);
    let keeps =
        declared.is_some_and(|s| !matches!(s.property("persist"), None | Some("false" | "")));
    (keeps || kind == Kind::Resume).then(|| AgentOfTask::new(name, Some(listing)))
}

/// Returns the name and the kind of the binding that an execution's statement writes.
pub(super) fn output_of(source: &ProgramSource<'_>, row: &Execution) -> Option<(String, String)> {
    let Some(statement) = source.of_row(row).and_then(|at| source.get(at)) else {
        // The text of a statement that the program does not have tells its value.
        let own = crate::program::scan(&row.text);
        let (name, kind) = own.get(0)?.output()?;
        return Some((name.to_owned(), kind.word().to_owned()));
    };
    // A branch that was begun by its name alone has the statement of its parallel block. That statement writes no
    // binding for the branch.
    if meta(row).branch.is_some() && statement.kind == Kind::Parallel {
        return None;
    }
    let (name, kind) = statement.output()?;
    Some((name.to_owned(), kind.word().to_owned()))
}
