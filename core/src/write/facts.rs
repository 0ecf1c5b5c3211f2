use std::ops::ControlFlow;

use super::Fault;
use crate::gate::audit::Chain;
use crate::model::{AgentScope, AuditEvent, BindingKind, Execution, Gate, RunStatus};
use crate::program::Statement;
use crate::time::Stamp;

/// The form in which a store records executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A database in which each event is a new row (sqlite.md).
    AppendOnly,
    /// A database with one row for each execution, which is updated (sqlite-earlier.md). A run that began in this form
    /// keeps the form.
    InPlace,
    /// A run folder: events are lines of a log, everything else is in files (filesystem.md).
    Files,
}

/// The queries with which a plan reads its store. Each query looks rows up by key, so that it costs the same in a run
/// of ten rows and in a run of a hundred thousand.
pub trait Facts {
    /// Returns the form in which the store records executions.
    fn style(&self) -> Style;

    /// Returns the run's id, name, status, and last update.
    ///
    /// # Errors
    /// A [`Fault`] if the store cannot be read; the same for all methods.
    fn run(&self) -> Result<RunFact, Fault>;

    /// Returns the text of the program, if the run has one.
    fn program(&self) -> Result<Option<String>, Fault>;

    /// Returns the id for the next execution row.
    fn next_execution(&self) -> Result<i64, Fault>;

    /// Returns the execution row with this id.
    fn execution(&self, id: i64) -> Result<Option<Execution>, Fault>;

    /// Passes the rows at `place` to `each`, from the newest down to the row with the id `since`, until `each` breaks.
    fn executions_back(
        &self,
        place: &Place<'_>,
        since: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// Passes the rows of the run to `each`, the newest first, until `each` breaks.
    fn newest(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault>;

    /// Passes the opening rows of executions that may be open to `each`, the newest first, until `each` breaks. Such a
    /// row has a status such as `executing` and no end time. A store may pass more rows, but not fewer.
    fn open(&self, each: &mut dyn FnMut(Execution) -> ControlFlow<()>) -> Result<(), Fault>;

    /// Passes the rows with this parent to `each`, in order of id, until `each` breaks.
    fn children(
        &self,
        parent: i64,
        each: &mut dyn FnMut(Execution) -> ControlFlow<()>,
    ) -> Result<(), Fault>;

    /// Returns a binding of a frame (`None`: the root) with exactly this name.
    fn binding(&self, name: &str, frame: Option<i64>) -> Result<Option<BindingFact>, Fault>;

    /// Returns the value of a binding of a frame, if it is text of at most `most` bytes that is not in an attachment.
    fn short_text(
        &self,
        name: &str,
        frame: Option<i64>,
        most: usize,
    ) -> Result<Option<String>, Fault>;

    /// Returns the name of a binding in this frame that differs from `name` only in case. In a folder, both bindings
    /// would share a file.
    fn binding_by_case(&self, name: &str, frame: Option<i64>) -> Result<Option<String>, Fault>;

    /// Returns the highest number of an `anon_…` binding, or 0.
    fn last_anonymous(&self) -> Result<u32, Fault>;

    /// Returns whether an attachment with this path (`attachments/…`) exists.
    fn attachment(&self, path: &str) -> Result<bool, Fault>;

    /// Returns the facts about the agent with this name in this store.
    fn agent(&self, name: &str) -> Result<Option<AgentFact>, Fault>;

    /// Returns the facts about the import with this alias.
    fn import(&self, alias: &str) -> Result<Option<ImportFact>, Fault>;

    /// Returns all gates of the run, in order of creation.
    fn gates(&self) -> Result<Vec<Gate>, Fault>;

    /// Returns gates whose recorded id differs from the id in their file name, each with the id in the file name.
    /// [`Facts::gates`] leaves these gates out; [`Facts::gate`] reports a fault for them.
    fn misnamed_gates(&self) -> Result<Vec<(String, Gate)>, Fault> {
        Ok(Vec::new())
    }

    /// Returns the gate of the run with exactly this id.
    fn gate(&self, id: &str) -> Result<Option<Gate>, Fault>;

    /// Returns the id of another run in the same store that has a gate with this id.
    fn gate_elsewhere(&self, _id: &str) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    /// Returns the audit rows about a gate, in order of id, without the rows that record a viewing.
    fn gate_events(&self, gate: &str) -> Result<Vec<AuditEvent>, Fault>;

    /// Passes the rows of the run's audit log to `each`, in order of id, until `each` breaks. A command that
    /// changes a gate needs all of them if the log has no row for the creation of that gate.
    fn audit_rows(&self, each: &mut dyn FnMut(AuditEvent) -> ControlFlow<()>) -> Result<(), Fault>;

    /// Returns whether the run has gates but no row in its audit log. Every command calls this method, so a store must
    /// answer without reading rows.
    ///
    /// # Errors
    /// A [`Fault`] also if the store sees at once that the log was emptied, or that its last row was cut off.
    fn lacks_log(&self) -> Result<bool, Fault>;

    /// Returns the next id and the last seal of the run's audit log.
    fn audit_tail(&self) -> Result<AuditTail, Fault>;
}

/// The place of a statement: its parent, and its line or, without a line, its text (errata T1). Because the text is
/// compared, a store need not return every row without a line, of which a run may contain many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The row id of the execution that the statement runs in.
    pub parent: Option<i64>,
    /// The column `statement_index`, which contains the line in the program.
    pub index: Option<i64>,
    /// The column `statement_text`, which is compared only if the row has no `statement_index`.
    pub text: &'a str,
}

impl<'a> Place<'a> {
    /// Returns the place of a row.
    pub fn of(row: &'a Execution) -> Place<'a> {
        Place {
            parent: row.parent,
            index: row.index,
            text: &row.text,
        }
    }

    /// Returns the place of a statement of the program that runs in `parent`.
    pub(super) fn of_statement(parent: Option<i64>, own: &'a Statement) -> Place<'a> {
        Place {
            parent,
            index: Some(own.line.into()),
            text: &own.text,
        }
    }

    /// Returns whether a row has this place.
    pub fn holds(&self, row: &Execution) -> bool {
        row.parent == self.parent
            && row.index == self.index
            && (self.index.is_some() || *row.text == *self.text)
    }
}

/// The facts about a run, from its database row or from the head of its `state.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFact {
    /// The run's id.
    pub id: String,
    /// The name for commands: `postgres:ID` in PostgreSQL, else the id.
    pub name: String,
    /// The run's recorded status, or `running` if none is recorded.
    pub status: RunStatus,
    /// The time of the last write to the run, if it is recorded.
    pub updated: Option<Stamp>,
}

/// The facts about a binding.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingFact {
    /// The binding's name.
    pub name: String,
    /// The binding's kind.
    pub kind: BindingKind,
    /// The text of the statement that wrote the binding.
    pub source: Option<String>,
    /// The time of the last write to the binding.
    pub updated: Option<Stamp>,
    /// The path of the attachment that contains the value, such as `attachments/x.md`, if there is one.
    pub attachment: Option<String>,
}

/// The facts about an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFact {
    /// The agent's scope.
    pub scope: AgentScope,
    /// Whether the agent has a memory.
    pub has_memory: bool,
    /// The highest number of the agent's segments, or 0.
    pub last_segment: i64,
}

/// The facts about an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportFact {
    /// The address of the imported program, if recorded.
    pub source_url: Option<String>,
    /// The inputs of the imported program, as JSON.
    pub inputs_schema: Option<String>,
    /// The outputs of the imported program, as JSON.
    pub outputs_schema: Option<String>,
    /// The folders of the import's nested run, relative to the run (`imports/{handle}--{slug}`): normally one; other
    /// tools may have created more.
    pub nested: Vec<String>,
}

/// The end of an audit log, after which new rows are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditTail {
    /// The id for the next row of the log.
    pub next: i64,
    /// The seal of the last sealed row; `None` if no row is sealed.
    pub chain: Option<Chain>,
}
