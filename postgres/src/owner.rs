//! The owner of rows that are read or written: a run, all runs, or the keeper of agents that outlive runs.

use std::borrow::Cow;

use crate::server::{Bound, text, texts};

/// The prefix of the names of a user's agents in a database of runs (postgres.md, errata P4).
pub(crate) const USER: &str = "__user__";

/// The owner of rows: selects the rows that are read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowOwner {
    /// One run.
    Run(String),
    /// The rows of these runs; `None` means those of all runs.
    Runs(Option<Vec<String>>),
    /// The agents of a keeper, which outlive runs.
    Agents(Keeper),
}

/// The keeper of agents that outlive runs. In the rows of these agents, `run_id` is NULL (errata P13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeper {
    /// A project: rows with its name, and shared rows without a project. The project's own agent hides a shared agent
    /// of the same name. `None` means shared agents only.
    Project(Option<String>),
    /// The user's own agents. Their stored names begin with `__user__`.
    User,
}

impl Keeper {
    /// Returns the name under which the tables store an agent.
    pub(crate) fn stored<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self {
            Keeper::Project(_) => Cow::Borrowed(name),
            Keeper::User => Cow::Owned(format!("{USER}{name}")),
        }
    }
}

impl RowOwner {
    /// Returns the value that a statement binds to `$1`: the run, the runs or the project.
    pub(crate) fn key(&self) -> Bound<'_> {
        match self {
            RowOwner::Run(run) => text(&**run),
            RowOwner::Runs(Some(runs)) => texts(runs.iter().map(|run| Some(run.as_str()))),
            RowOwner::Agents(Keeper::Project(Some(project))) => text(&**project),
            RowOwner::Runs(None) | RowOwner::Agents(_) => text(""),
        }
    }

    /// Returns the run's id, if the owner is a single run.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            RowOwner::Run(run) => Some(run),
            _ => None,
        }
    }
}
