use serde::{Deserialize, Serialize};

use super::{
    Agent, AuditEvent, Binding, CompactLog, Execution, FileInfo, Gate, RunStatus, StateFile,
    TableInfo, Text,
};
use crate::issue::Issue;
use crate::run_id::RunId;
use crate::time::Stamp;

/// A run, as decoded from its store: the rows and what is known of the values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Its id: the `run` row's, else the state file's, else the folder's name. Empty when nothing names it.
    pub id: Text,
    /// What it was read as.
    pub form: Form,
    /// The run folder's path inside its source, ending in `/`, or empty: [`Run::files`] are named from there, the
    /// paths of [`super::ValueAt::File`] begin with it.
    pub root: Text,
    /// The program.
    pub program: Program,
    /// When it started, as recorded.
    pub started: Option<Stamp>,
    /// When it was last updated, as recorded (errata X15: writers forget it).
    pub updated: Option<Stamp>,
    /// The status as recorded; what is believed is [`crate::trace::Trace::verdict`].
    pub status: Option<RunStatus>,
    /// `state_mode` as recorded.
    pub state_mode: Option<Text>,
    /// Rows of `execution`, in order of id.
    pub executions: Vec<Execution>,
    /// Whether a folder keeps a log of events, even if it is empty: then that log alone says what ran.
    pub keeps_events: bool,
    /// All bindings, root and scoped, in the store's order.
    pub bindings: Vec<Binding>,
    /// Agents of the run's own store, then those of the project's and the user's.
    pub agents: Vec<Agent>,
    /// Imported programs.
    pub imports: Vec<Import>,
    /// Approval gates, in order of creation.
    pub gates: Vec<Gate>,
    /// The audit log, in order of id.
    pub audit: Vec<AuditEvent>,
    /// The folder's own state file of form A.
    pub state_file: Option<StateFile>,
    /// The folder's own log of form B, or of form C where it is written in the same words.
    pub log: Option<CompactLog>,
    /// Lines of a state file that records no statement in a form that is known.
    pub remarks: Vec<Text>,
    /// The folder's state file, where it is encrypted: what it records is not readable, which is not the same as none.
    pub sealed: Option<Text>,
    /// What other files of the folder record of the run's status: run.json, receipts.jsonl.
    pub recorded: Vec<Recorded>,
    /// What the folder records of the run and no other field holds: keys and values of run.json.
    pub facts: Vec<(Text, Text)>,
    /// Tables of the database, unknown ones included.
    pub tables: Vec<TableInfo>,
    /// Files of the folder.
    pub files: Vec<FileInfo>,
    /// The latest time that any file of the run was changed, where the source knows it. No sign of life: copies and
    /// checkouts reset it.
    pub touched: Option<Stamp>,
    /// What was odd, missing or contradictory while decoding.
    pub issues: Vec<Issue>,
}

impl Run {
    /// When the run started, by its id (`20260115-143052-a7b3c9`): for runs that record no start.
    pub fn started_by_id(&self) -> Option<Stamp> {
        RunId::parse(&self.id).started().map(Stamp::Zoneless)
    }

    /// Whether rows say what ran; else a state file, a log or the bindings of a folder do.
    pub fn told_by_rows(&self) -> bool {
        self.keeps_events || !self.executions.is_empty()
    }
}

/// What a file of the folder records of the run's status.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The file.
    pub file: Text,
    /// What it says.
    pub status: RunStatus,
    /// When it was written, where that is recorded.
    pub at: Option<Stamp>,
}

/// What a run was read as.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "store")]
pub enum Form {
    /// A SQLite `state.db`.
    Sqlite {
        /// Which dialect its execution rows speak.
        dialect: Dialect,
    },
    /// Rows in PostgreSQL, among those of other runs.
    Postgres,
    /// A run folder.
    Folder {
        /// Which format its state file has.
        form: FolderForm,
    },
    /// An `agents.db`, or the agents of a `.prose` folder: no run, agents only.
    Agents,
    /// Nothing was decoded yet.
    #[default]
    Unknown,
}

/// How execution rows are written (sqlite.md against sqlite-earlier.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Each event is a new row.
    AppendOnly,
    /// Rows are updated.
    InPlace,
    /// Both in one file.
    Mixed,
    /// Too few rows to tell.
    Undecided,
}

/// The format of a folder's state file (docs/reference/formats.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FolderForm {
    /// A: `# Execution State`.
    StateMd,
    /// B: `# run:{id} {program}`, one event a line.
    CompactLog,
    /// C: `vm.log.md` beside `root.prose.md`.
    VmLog,
    /// D: `# Run State — {id}` with run.json and receipts.jsonl.
    Receipts,
    /// A state file that is none of these (an encrypted envelope, other text).
    Foreign,
    /// No state file.
    Bare,
}

/// The program of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// Its name or path as recorded.
    pub path: Option<Text>,
    /// Its source.
    pub source: Option<Text>,
    /// Where the source came from: `run.program_source`, `program.prose`, …
    pub source_from: Option<Text>,
}

impl Program {
    /// Says that the run holds no program, or which file of it cannot be read (encrypted, or reading failed).
    pub fn missing(&self) -> String {
        match (&self.source, &self.source_from) {
            (None, Some(file)) => format!("the program, {file}, is not readable"),
            _ => "the run holds no program".to_owned(),
        }
    }
}

/// An imported program (sqlite.md `imports`; filesystem.md, "Imports Recursive Structure").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Import {
    /// The handle it is used by.
    pub alias: Text,
    /// Where it came from.
    pub source_url: Option<Text>,
    /// When it was fetched.
    pub fetched: Option<Stamp>,
    /// `inputs_schema` as recorded (JSON).
    pub inputs_schema: Option<Text>,
    /// `outputs_schema` as recorded (JSON).
    pub outputs_schema: Option<Text>,
    /// Path of the nested run inside this run's folder (`imports/{handle}--{slug}`), where there is one.
    pub nested: Option<Text>,
}
