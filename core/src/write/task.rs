//! What a session is to do, as its program says it: what a brief is made of.

use super::instance::{depth, frame_of, meta};
use super::source::{Found, Source};
use super::{Facts, WriteError};
use crate::model::{AgentScope, Execution};
use crate::program::{self, Listing, StatementKind as Kind};
use crate::trace::frame_block;

/// What a subagent carries out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// The binding that it writes, and its kind; an anonymous one without it.
    pub output: Option<(String, String)>,
    /// The frame that its names live in: execution id, block and depth from 1; the root without it.
    pub frame: Option<(i64, String, i64)>,
    /// The persistent agent that it is, and how long that memory lives.
    pub agent: Option<(String, AgentScope)>,
    /// What it is asked.
    pub prompt: Option<String>,
    /// The names that it is given.
    pub context: Vec<String>,
}

impl Task {
    /// The task of a session or a resumed agent, but for the frame that it runs in; `None` for any other statement.
    /// `program` declares the agents.
    pub(crate) fn of(listing: &Listing, at: u32, program: &Listing) -> Option<Task> {
        let statement = listing.get(at)?;
        if !matches!(statement.kind, Kind::Session | Kind::Resume) {
            return None;
        }
        let given = listing.given(at);
        let used = listing.uses(at).into_iter();
        let context = used.filter(|used| used.sure && !given.contains_key(&used.name));
        let output = statement.output();
        Some(Task {
            output: output.map(|(name, kind)| (name.to_owned(), kind.word().to_owned())),
            frame: None,
            agent: agent(program, statement.target.as_deref(), statement.kind),
            prompt: listing.asked(at),
            context: context.map(|used| used.name).collect(),
        })
    }
}

/// The task of a statement that runs in `parent`; `None` for what no subagent carries out.
pub(super) fn task_of(
    facts: &dyn Facts,
    source: &Source,
    found: &Found,
    parent: Option<i64>,
) -> Result<Option<Task>, WriteError> {
    let alone;
    let (listing, at) = match (&source.listing, found.statement) {
        (Some(listing), Some(at)) => (listing, at),
        _ => {
            alone = program::scan(&found.text);
            (&alone, 0)
        }
    };
    let Some(task) = Task::of(listing, at, source.listing.as_ref().unwrap_or(listing)) else {
        return Ok(None);
    };
    Ok(Some(Task {
        frame: frame(facts, parent)?,
        ..task
    }))
}

/// The frame at or around an execution, as a brief names it.
pub(super) fn frame(
    facts: &dyn Facts,
    from: Option<i64>,
) -> Result<Option<(i64, String, i64)>, WriteError> {
    let Some(frame) = frame_of(facts, from)? else {
        return Ok(None);
    };
    let block = frame_block(&frame).unwrap_or_default().to_owned();
    let deep = depth(facts, Some(frame.id))?;
    Ok(Some((frame.id, block, deep)))
}

/// The agent, where it keeps a memory: it is declared `persist:`, or resumed.
fn agent(listing: &Listing, name: Option<&str>, kind: Kind) -> Option<(String, AgentScope)> {
    let name = name?;
    let declared = listing
        .statements
        .iter()
        .find(|s| s.kind == Kind::Agent && s.name.as_deref() == Some(name));
    let keeps =
        declared.is_some_and(|s| !matches!(s.property("persist"), None | Some("false" | "")));
    (keeps || kind == Kind::Resume).then(|| {
        (
            name.to_owned(),
            listing.agent_scope(name).unwrap_or(AgentScope::Execution),
        )
    })
}

/// The binding that an execution's statement writes, by the program: name and kind.
pub(super) fn output_of(source: &Source, row: &Execution) -> Option<(String, String)> {
    let statement = source.get(source.of_row(row)?)?;
    // A branch that was begun by its name alone is known by that.
    if meta(row).branch.is_some() && statement.kind == Kind::Parallel {
        return None;
    }
    let (name, kind) = statement.output()?;
    Some((name.to_owned(), kind.word().to_owned()))
}
