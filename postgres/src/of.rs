//! Whose rows are read or written: those of a run, of all runs, or of agents that outlive runs.

use std::borrow::Cow;

use crate::server::{Bound, text, texts};

/// What the names of a user's agents begin with in a database of runs (postgres.md, errata P4).
pub(crate) const USER: &str = "__user__";

/// Whose rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Of {
    /// Of one run.
    Run(String),
    /// Of these runs; `None`: of all.
    Runs(Option<Vec<String>>),
    /// Of agents that outlive runs.
    Agents(Keeper),
}

/// Whose agents that outlive runs are meant. In their rows `run_id` is NULL (errata P13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeper {
    /// A project's: rows of its name, and those of no project, which are everybody's. An agent of its own hides everybody's of
    /// the same name. Without a project, everybody's alone.
    Project(Option<String>),
    /// The user's, beside those of projects: their names begin with `__user__`.
    User,
}

impl Keeper {
    /// The name in the tables of an agent.
    pub(crate) fn stored<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self {
            Keeper::Project(_) => Cow::Borrowed(name),
            Keeper::User => Cow::Owned(format!("{USER}{name}")),
        }
    }
}

impl Of {
    /// What `$1` of a question is.
    pub(crate) fn key(&self) -> Bound<'_> {
        match self {
            Of::Run(run) => text(&**run),
            Of::Runs(Some(runs)) => texts(runs.iter().map(|run| Some(run.as_str()))),
            Of::Agents(Keeper::Project(Some(project))) => text(&**project),
            Of::Runs(None) | Of::Agents(_) => text(""),
        }
    }

    /// The run, where there is one.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Of::Run(run) => Some(run),
            _ => None,
        }
    }
}
