use std::ops::ControlFlow;

use super::Fault;
use crate::gate::audit::Chain;
use crate::model::{AgentScope, AuditEvent, BindingKind, Execution, Gate, RunStatus};
use crate::program::Statement;
use crate::time::Stamp;

/// How a store writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A database in which each event is a new row (sqlite.md).
    AppendOnly,
    /// A database whose rows are updated (sqlite-earlier.md), because it already is so.
    InPlace,
    /// A run folder: events are lines, all else is files (filesystem.md).
    Files,
}

/// What a plan may ask of the store that it is for. Every question is answered by key: none costs more in a run of a
/// hundred thousand rows than in one of ten.
pub trait Facts {
    /// How the store writes.
    fn style(&self) -> Style;

    /// The run.
    ///
    /// # Errors
    /// A [`Fault`] when the store cannot answer; so for all questions.
    fn run(&self) -> Result<RunFact, Fault>;

    /// The program's source.
    fn program(&self) -> Result<Option<String>, Fault>;

    /// The id that the next execution row gets.
    fn next_execution(&self) -> Result<i64, Fault>;

    /// An execution row.
    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault>;

    /// The rows of a statement in its parent, from `since` on, the newest first, until `each` breaks.
    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// The rows of the run, the newest first, until `each` breaks.
    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault>;

    /// The rows that opened an instance which may not be over, the newest first, until `each` breaks: those whose status
    /// is an opening word, and that no end was written into. More than these may be handed on, never fewer.
    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault>;

    /// The rows whose parent this is, in order of id, until `each` breaks.
    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// A binding of a frame (`None`: the root), by its very name.
    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault>;

    /// The value of a binding of a frame, where it is text of at most `most` bytes that lies in the binding itself.
    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault>;

    /// A binding's name in this frame that differs from `name` in its case only: in a folder they would share a file.
    fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Result<Option<String>, Fault>;

    /// The highest number of an `anon_…` binding, 0 without one.
    fn last_anonymous(&self) -> Result<u32, Fault>;

    /// Whether an attachment of this path (`attachments/…`) is there.
    fn attachment(&self, path: &str) -> Result<bool, Fault>;

    /// An agent of this store.
    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault>;

    /// An import, by its alias.
    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault>;

    /// All gates of the run, in order of creation.
    fn gates(&self) -> Result<Vec<Gate>, Fault>;

    /// Gates that [`Facts::gates`] leaves out because they call themselves by another id than their place does, each with the
    /// id of its place: [`Facts::gate`] says of that one what is wrong.
    fn misnamed_gates(&self) -> Result<Vec<(String, Gate)>, Fault> {
        Ok(Vec::new())
    }

    /// A gate of the run, by its very id.
    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault>;

    /// The run of the same store that a gate of this id belongs to, when it is another one.
    fn gate_elsewhere(&self, _id: &str) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    /// The rows of the audit log that speak of a gate, other than that somebody looked at it, in order of id.
    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault>;

    /// The rows of the run's audit log, in order of id, until `each` breaks: for a gate whose creation the log does not have.
    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault>;

    /// Whether the run has gates, and no row of its audit log. Every command asks this, so it is answered without reading rows.
    ///
    /// # Errors
    /// Also when the log was emptied, or its last row cut off, as far as the store sees that at once.
    fn lacks_log(&self) -> Result<bool, Fault>;

    /// Where the run's audit log ends.
    fn audit_tail(&self) -> Result<AuditTail, Fault>;
}

/// A statement in its parent, as rows tell it from others (errata T1): by its line, or, where it has none, by its
/// text. A run may hold any number of rows without a line, and a store must not hand on all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The row that it runs in.
    pub parent: Option<i64>,
    /// `statement_index`.
    pub index: Option<i64>,
    /// `statement_text`; it decides without an index only.
    pub text: &'a str,
}

impl<'a> Place<'a> {
    /// The place of a row.
    pub fn of(row: &'a Execution) -> Place<'a> {
        Place {
            parent: row.parent,
            index: row.index,
            text: &row.text,
        }
    }

    /// The place of a program's statement in what it runs in.
    pub(super) fn of_statement(parent: Option<i64>, own: &'a Statement) -> Place<'a> {
        Place {
            parent,
            index: Some(own.line.into()),
            text: &own.text,
        }
    }

    /// Whether a row is of this place.
    pub fn holds(&self, row: &Execution) -> bool {
        row.parent == self.parent
            && row.index == self.index
            && (self.index.is_some() || *row.text == *self.text)
    }
}

/// A run, as its own row or state file says.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFact {
    /// Its id.
    pub id: String,
    /// What commands call it: `postgres:ID` in PostgreSQL, else its id.
    pub name: String,
    /// Its status as recorded; nothing recorded is running.
    pub status: RunStatus,
    /// When it was last written to, where the store says so.
    pub updated: Option<Stamp>,
}

/// What is known of a binding.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingFact {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: BindingKind,
    /// The statement that wrote it.
    pub source: Option<String>,
    /// When it was last written.
    pub updated: Option<Stamp>,
    /// Its attachment.
    pub attachment: Option<String>,
}

/// What is known of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFact {
    /// Its scope.
    pub scope: AgentScope,
    /// Whether it has a memory.
    pub has_memory: bool,
    /// The highest number of its segments, 0 without one.
    pub last_segment: i64,
}

/// What is known of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportFact {
    /// Where it came from, where the store says so.
    pub source_url: Option<String>,
    /// Its inputs, JSON.
    pub inputs_schema: Option<String>,
    /// Its outputs, JSON.
    pub outputs_schema: Option<String>,
    /// Folders of its nested run inside the run's (`imports/{handle}--{slug}`): one, unless somebody else made more.
    pub nested: Vec<String>,
}

/// The end of an audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditTail {
    /// The id that the next row gets.
    pub next: i64,
    /// The chain of the run's last sealed row.
    pub chain: Option<Chain>,
}
