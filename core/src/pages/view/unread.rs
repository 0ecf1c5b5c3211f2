//! Defines the JSON of the parts of a run that could not be read.

use serde::{Deserialize, Serialize};

/// A part of a run that pages and commands list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunPart {
    /// The program's source.
    Program,
    /// The executed statements, and the run's own row.
    Statements,
    /// The run's bindings and their values.
    Bindings,
    /// Agents and their segments.
    Agents,
    /// The run's gates.
    Gates,
    /// The audit log.
    Audit,
    /// The run's imports.
    Imports,
}

impl RunPart {
    /// All parts, for a database that cannot be opened.
    pub const ALL: [RunPart; 7] = [
        RunPart::Program,
        RunPart::Statements,
        RunPart::Bindings,
        RunPart::Agents,
        RunPart::Gates,
        RunPart::Audit,
        RunPart::Imports,
    ];
}

/// A part of a run that could not be read completely. Its content is unknown, so do not report it as empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unread {
    /// The place that could not be read: `table bindings of state.db`, `gates`.
    pub what: String,
    /// Why the place could not be read.
    pub why: String,
    /// What to do next; may be empty.
    pub next: String,
    /// The parts of the run that the unreadable place contains; empty for other data, such as a folder `workspace`.
    pub parts: Vec<RunPart>,
    /// Whether reading failed (permission denied, a lock, an I/O error), so that another try may succeed. False if the
    /// content was read and could not be understood.
    pub failed: bool,
    /// Whether the content is encrypted. Such content is not damaged, but only its owner can read it.
    #[serde(default)]
    pub sealed: bool,
    /// Whether the content lies outside of the run, like the agents of a project; the run itself was read.
    pub around: bool,
}

impl Unread {
    /// Returns whether the unreadable place contains the given part of the run.
    pub fn concerns(&self, part: RunPart) -> bool {
        self.parts.contains(&part)
    }
}
