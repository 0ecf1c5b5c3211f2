use serde::{Deserialize, Serialize};

use super::{
    Agent, AuditEvent, Binding, CompactLog, Execution, ExecutionState, FileInfo, Gate, GateRecord,
    ReportedCost, RunStatus, StateFile, TableInfo, Text,
};
use crate::model::issue::Issue;
use crate::model::run_id::RunId;
use crate::model::time::Stamp;

/// A decoded run: its rows, and the locations of its values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The run's id: from the `run` row, else from the state file, else the folder's name; otherwise empty.
    pub id: Text,
    /// The kind of store from which the run was read.
    pub form: Form,
    /// Whether the run is in a shared file. Commands record nothing in such a copy.
    pub is_copy: bool,
    /// The run folder's path inside its source, ending in `/`, or empty. [`Run::files`] are relative to it; the paths
    /// of [`super::ValueAt::File`] include it.
    pub root: Text,
    /// The program that the run executes.
    pub program: Program,
    /// When the run started, as recorded.
    pub started: Option<Stamp>,
    /// When the run was last updated, as recorded. Writers often forget to renew this time (errata X15).
    pub updated: Option<Stamp>,
    /// The status as recorded; the status that Prosescope derives is [`crate::trace::Trace::verdict`].
    pub status: Option<RunStatus>,
    /// The column `state_mode` as recorded: the kind of store that the writer used, such as `sqlite`.
    pub state_mode: Option<Text>,
    /// The rows of `execution`, in order of id.
    pub executions: Vec<Execution>,
    /// The states of executions that the store keeps apart from the rows, in order of the execution's id, then of time.
    pub events: Vec<ExecutionState>,
    /// Whether the run is a folder with a log of events, even an empty one. If so, only that log records what ran.
    pub keeps_events: bool,
    /// The nodes of the run's graph that have no receipt (contract 2) or that nothing records (contract 1), in the order
    /// of the graph.
    pub nodes_ahead: Vec<Text>,
    /// The tokens of executions, as receipts report them, in order of the execution's id.
    pub costs: Vec<ReportedCost>,
    /// All bindings, root and scoped, in the store's order.
    pub bindings: Vec<Binding>,
    /// The agents of the run's own store, then those of the project and of the user.
    pub agents: Vec<Agent>,
    /// The imported programs.
    pub imports: Vec<Import>,
    /// The approval gates, in order of creation.
    pub gates: Vec<Gate>,
    /// The audit log, in order of id.
    pub audit: Vec<AuditEvent>,
    /// The folder's own state file in OpenProse's form, called form A ([`FolderForm`]).
    pub state_file: Option<StateFile>,
    /// The folder's own compact log: form B, or form C if it uses the same notation ([`FolderForm`]).
    pub log: Option<CompactLog>,
    /// The lines of a state file that does not record statements in a known form.
    pub remarks: Vec<Text>,
    /// The name of the folder's state file if that file is encrypted. It distinguishes an encrypted file from an absent
    /// one.
    pub sealed: Option<Text>,
    /// The run's status in other files of the folder: run.json, receipts.jsonl.
    pub recorded: Vec<RecordedStatus>,
    /// Facts about the run that have no field of their own: keys and values of run.json.
    pub facts: Vec<(Text, Text)>,
    /// The tables of the database, including those that OpenProse does not define.
    pub tables: Vec<TableInfo>,
    /// The files of the run's folder.
    pub files: Vec<FileInfo>,
    /// The latest modification time of the run's files, if the source provides it. A recent time does not prove that
    /// the run is alive, because copies and checkouts reset it.
    pub touched: Option<Stamp>,
    /// The defects found while decoding: odd, missing or contradictory records.
    pub issues: Vec<Issue>,
}

impl Run {
    /// Returns the start time in the run's id (`20260115-143052-a7b3c9`), for runs that record no start.
    pub fn started_by_id(&self) -> Option<Stamp> {
        RunId::parse(&self.id).started().map(Stamp::Zoneless)
    }

    /// Returns whether the rows in [`Run::executions`] record what ran. If not, the folder's state file, log or
    /// bindings do.
    pub fn recorded_in_rows(&self) -> bool {
        self.keeps_events || !self.executions.is_empty()
    }

    /// Returns the states of an execution that the store keeps apart from the rows, in order.
    pub fn events_of(&self, execution: i64) -> &[ExecutionState] {
        let first = self
            .events
            .partition_point(|event| event.row.id < execution);
        let rest = self.events.get(first..).unwrap_or_default();
        let count = rest.partition_point(|event| event.row.id == execution);
        rest.get(..count).unwrap_or_default()
    }

    /// Returns the gates that have a row or a file, without those that only a state file or a log mentions.
    pub fn recorded_gates(&self) -> impl Iterator<Item = &Gate> {
        let all = self.gates.iter();
        all.filter(|gate| gate.recorded != GateRecord::Told)
    }
}

/// The run's status as one file of the folder records it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStatus {
    /// The name of the file, such as `run.json`.
    pub file: Text,
    /// The recorded status.
    pub status: RunStatus,
    /// When the status was written, if recorded.
    pub at: Option<Stamp>,
}

impl RecordedStatus {
    /// The names, instead of a file's, under which receipts record a completion that something else puts in doubt.
    pub const DOUBTFUL: [&str; 3] = [
        "receipts of an unknown graph",
        "damaged receipts",
        "receipts against the log",
    ];
}

/// The kind of store that a run was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "store")]
pub enum Form {
    /// A SQLite `state.db`.
    Sqlite {
        /// The dialect of the execution rows.
        dialect: Dialect,
    },
    /// PostgreSQL tables that hold rows of several runs.
    Postgres {
        /// Whether receipts record what ran (contract 2).
        receipts: bool,
    },
    /// A run folder.
    Folder {
        /// The format of the folder's state file.
        form: FolderForm,
    },
    /// An `agents.db`, or the agents of a `.prose` folder: agents without a run.
    Agents,
    /// The run is not decoded yet.
    #[default]
    Unknown,
}

impl Form {
    /// Returns whether a folder has a form that is read, but in which nothing is recorded.
    pub fn is_only_read(&self) -> bool {
        let others = [FolderForm::Record, FolderForm::Hosted].map(FolderForm::form);
        let dialect = Dialect::Renamed;
        self.has_nodes() || others.contains(self) || *self == Form::Sqlite { dialect }
    }

    /// Returns whether receipts of nodes record what ran, and no statements of a program (contract 2).
    pub fn has_nodes(&self) -> bool {
        let ledgers = [FolderForm::Mounted, FolderForm::Reactor].map(FolderForm::form);
        let (dialect, receipts) = (Dialect::Receipts, true);
        let tables = [Form::Sqlite { dialect }, Form::Postgres { receipts }];
        ledgers.contains(self) || tables.contains(self)
    }

    /// Returns the form in words: `SQLite, append-only`, `folder, state.md`.
    pub fn words(&self) -> &'static str {
        match self {
            Form::Sqlite { dialect } => match dialect {
                Dialect::AppendOnly => "SQLite, append-only",
                Dialect::InPlace => "SQLite, in place",
                Dialect::Mixed => "SQLite, both dialects",
                Dialect::Undecided => "SQLite",
                Dialect::Receipts => "SQLite, contract 2, receipts",
                Dialect::Renamed => "SQLite, contract 2",
            },
            Form::Postgres { receipts: false } => "PostgreSQL",
            Form::Postgres { receipts: true } => "PostgreSQL, contract 2, receipts",
            Form::Folder { form } => form.words(),
            Form::Agents => "agents",
            Form::Unknown => "unknown",
        }
    }
}

/// The dialect of execution rows (sqlite.md and sqlite-earlier.md define one each).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Each event is a new row (sqlite.md).
    AppendOnly,
    /// Later events update the same row (sqlite-earlier.md).
    InPlace,
    /// Rows of both dialects in one file.
    Mixed,
    /// Too few rows to tell the dialects apart.
    Undecided,
    /// A database of contract 2 whose receipts record what ran.
    Receipts,
    /// A database of contract 2 without receipts, as of a lone function.
    Renamed,
}

/// The format of a folder's state file (docs/reference/formats.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FolderForm {
    /// Form A: a file that begins with `# Execution State`.
    StateMd,
    /// Form B: a log that begins with `# run:{id} {program}`, with one event per line.
    CompactLog,
    /// Form C: a file `vm.log.md` beside `root.prose.md`.
    VmLog,
    /// Form D: a file that begins with `# Run State — {id}`, with run.json and receipts.jsonl.
    Receipts,
    /// A mounted run of contract 2: `compiled-intent.json`, `receipts/`, `world-model/`.
    Mounted,
    /// The state directory of a reactor: `receipts.json`, `world-models/`, `compile/`.
    Reactor,
    /// A `run.json` with a `component_ref`, as a branch of OpenProse wrote in April 2026.
    Record,
    /// The download of a hosted run: `.prose-run-manifest.json`.
    Hosted,
    /// Any other state file, such as an encrypted envelope or unrelated text.
    Foreign,
    /// The folder has no state file.
    Bare,
}

impl FolderForm {
    /// Returns the form in words: `folder, state.md`.
    pub fn words(self) -> &'static str {
        match self {
            FolderForm::StateMd => "folder, state.md",
            FolderForm::CompactLog => "folder, compact log",
            FolderForm::VmLog => "folder, vm.log.md",
            FolderForm::Receipts => "folder, receipts",
            FolderForm::Mounted => "folder, contract 2",
            FolderForm::Reactor => "folder, reactor",
            FolderForm::Record => "folder, run record of April 2026",
            FolderForm::Hosted => "folder, download of a hosted run",
            FolderForm::Foreign => "folder, unknown state file",
            FolderForm::Bare => "folder, no state file",
        }
    }

    /// Returns the form of a run in such a folder.
    pub fn form(self) -> Form {
        Form::Folder { form: self }
    }
}

/// The program of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// The name or path of the program, as recorded.
    pub path: Option<Text>,
    /// The source text of the program.
    pub source: Option<Text>,
    /// The column or file with the program's source: `run.program_source`, `program.prose`, …
    pub source_from: Option<Text>,
}

impl Program {
    /// Returns the message for a run without a program that lists statements. If a program file exists, the message
    /// contains its name: the file cannot be read, is encrypted, or has no statements, as a contract.
    pub fn missing(&self) -> String {
        match (&self.source, &self.source_from) {
            (None, Some(file)) => format!("the program, {file}, is not readable"),
            (Some(_), Some(file)) => format!("the program, {file}, has no statements"),
            _ => "the program was not saved with the run".to_owned(),
        }
    }
}

/// An imported program (sqlite.md `imports`; filesystem.md, "Imports Recursive Structure").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Import {
    /// The name by which the program uses the import.
    pub alias: Text,
    /// The address or path from which the program was imported.
    pub source_url: Option<Text>,
    /// When the imported program was fetched.
    pub fetched: Option<Stamp>,
    /// The column `inputs_schema` as recorded (JSON).
    pub inputs_schema: Option<Text>,
    /// The column `outputs_schema` as recorded (JSON).
    pub outputs_schema: Option<Text>,
    /// Path of the nested run inside this run's folder (`imports/{handle}--{slug}`), if it exists.
    pub nested: Option<Text>,
}
