use serde::{Deserialize, Serialize};

/// A part of a run that a page or a command lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The program's source.
    Program,
    /// What was executed, and the run's own row.
    Statements,
    /// Named values.
    Bindings,
    /// Agents and their segments.
    Agents,
    /// Gates.
    Gates,
    /// The audit log.
    Audit,
    /// Imports.
    Imports,
}

impl Part {
    /// All parts: those of a database that cannot be opened.
    pub const ALL: [Part; 7] = [
        Part::Program,
        Part::Statements,
        Part::Bindings,
        Part::Agents,
        Part::Gates,
        Part::Audit,
        Part::Imports,
    ];
}

/// Something of a run that could not be read to its end. What it holds is unknown: "none" must not be said of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Unread {
    /// What could not be read: `table bindings of state.db`, `gates`.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to do next; may be empty.
    pub next: String,
    /// The parts of the run that are kept there; none where it is something else, such as the program.
    pub parts: Vec<Part>,
    /// Whether reading failed (no permission, a lock, an I/O error), so that another try may succeed; else what is there
    /// cannot be understood.
    pub failed: bool,
    /// It is encrypted: nothing failed and nothing is damaged, but only its owner can read it.
    #[serde(default)]
    pub sealed: bool,
    /// It lies around the run, as the agents of a project do: the run itself was read.
    pub around: bool,
}

impl Unread {
    /// Whether a part of the run is kept in what could not be read.
    pub fn concerns(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }
}
