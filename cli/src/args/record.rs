//! Defines the arguments of the commands that record a run.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::run::RunOption;
use super::upkeep::DeleteAgentArgs;
use crate::error::CliError;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The program, a `.prose` file; the run contains a copy
    pub(crate) program: PathBuf,
    /// The form in which the run is stored
    #[arg(long, value_enum, default_value_t = NewState::Filesystem)]
    pub(crate) state: NewState,
    /// The run's id [default: the time and six random characters]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

/// The form in which a new run is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewState {
    /// Files: state.md, bindings, agents
    Filesystem,
    /// A database, state.db
    Sqlite,
    /// PostgreSQL: OPENPROSE_POSTGRES_URL in .prose/.env or the environment, else DATABASE_URL; the run has the name
    /// postgres:ID
    Postgres,
}

/// The form of a converted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateMode {
    /// Files: state.md, bindings, agents
    Filesystem,
    /// A database, state.db
    Sqlite,
    /// Rows in the PostgreSQL database of the project
    Postgres,
}

// An item of a `parallel for` or a pipe, or a branch of a `parallel`.
#[derive(Debug, Args)]
pub(crate) struct ItemArg {
    /// The branch that contains the statement, or the item of a `parallel for` or a pipe. An item begins with its first
    /// statement [default: the open item, else the next number]
    #[arg(long, value_name = "NAME")]
    pub(crate) item: Option<String>,
}

// The options `--override` and `--force`, to record against the program or out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct InsistArgs {
    /// Record values that contradict the program; the override is recorded, too
    #[arg(long = "override")]
    pub(crate) overrides: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

// The option `--force`, to record out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ForceArgs {
    /// Record although a rule about the order refuses; the force is recorded, too
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "prosescope begin [OPTIONS] <LINE>\n       prosescope begin [OPTIONS] --text <STATEMENT>"
)]
pub(crate) struct BeginArgs {
    /// The line of the program at which the statement begins
    #[arg(
        value_name = "LINE",
        required_unless_present = "text",
        conflicts_with = "text"
    )]
    pub(crate) line: Option<u32>,
    /// A statement that the program does not have, such as `session "Look again"`
    #[arg(long, value_name = "STATEMENT")]
    pub(crate) text: Option<String>,
    /// The execution that contains the statement: a branch, a loop, a called block [default: found among the open
    /// executions; with --text, the program's top]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) item: ItemArg,
    /// For a `use`: the file of the imported program; the run keeps a copy
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

#[derive(Debug, Args)]
pub(crate) struct EndArgs {
    /// The executions, as `begin` printed them. All end, in this order, or none [default: the innermost open execution]
    #[arg(value_name = "EXECUTION")]
    pub(crate) ids: Vec<i64>,
    /// Why a loop ended: condition_satisfied, max_reached, or a text
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: Option<String>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

#[derive(Debug, Args)]
pub(crate) struct RoundArgs {
    /// The execution of the loop [default: the open loop]
    #[arg(value_name = "EXECUTION")]
    pub(crate) id: Option<i64>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

// The arguments of `fail`. clap's own setting for an optional first argument is not used, because its usage line is
// hard to read.
#[derive(Debug, Args)]
#[command(override_usage = "prosescope fail [OPTIONS] [EXECUTION] <TEXT>")]
pub(crate) struct FailArgs {
    /// The error. Of two arguments, the first is the execution, as `begin` printed it [default: the innermost open
    /// execution]
    #[arg(value_name = "TEXT")]
    first: String,
    #[arg(hide = true)]
    second: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

impl FailArgs {
    /// Returns the execution, if it was given, and the error.
    pub(crate) fn parts(&self) -> Result<(Option<i64>, String), CliError> {
        let Some(error) = &self.second else {
            return match self.first.parse::<i64>() {
                Ok(id) => Err(CliError::usage("the error is missing")
                    .hint(format!("say what failed: `prosescope fail {id} TEXT`"))),
                Err(_) => Ok((None, self.first.clone())),
            };
        };
        match self.first.parse() {
            Ok(id) => Ok((Some(id), error.clone())),
            Err(_) => Err(CliError::usage(format!(
                "{} is not the number of an execution",
                self.first
            ))
            .hint("put the text in quotes: `prosescope fail EXECUTION \"TEXT\"`")
            .hint("`prosescope trace` lists the executions")),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The execution that failed, as `begin` printed it
    #[arg(value_name = "EXECUTION")]
    pub(crate) id: i64,
    /// The maximum number of attempts, including the first [default: from the program (`retry: 3`)]
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<i64>,
    /// The error, if `fail` did not record it already
    #[arg(long, value_name = "TEXT")]
    pub(crate) error: Option<String>,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

#[derive(Debug, Args)]
pub(crate) struct SkipArgs {
    /// The line of the program at which the statement begins
    #[arg(value_name = "LINE")]
    pub(crate) line: u32,
    /// The execution that contains the statement [default: found among the open executions]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) item: ItemArg,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: Option<String>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The binding's name
    #[arg(required_unless_present = "anon")]
    pub(crate) name: Option<String>,
    /// Write an anonymous binding under the next free name `anon_…`
    #[arg(long, conflicts_with = "name")]
    pub(crate) anon: bool,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// The execution that the value is for; its frame is the scope of the binding [default: the open statement that
    /// writes the name, else the root; with --anon, the open statement]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) into: Option<i64>,
    /// The kind: input, output, let or const [default: from the program, else let]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// The statement that makes the value [default: from the program]
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// A summary in one sentence [default: the value's first line]
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// Read the value from this file, not from standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Leave the execution open. Without this option, the value completes it
    #[arg(long)]
    pub(crate) not_done: bool,
    /// Also write the text of this file as the memory of the execution's agent
    #[arg(long, value_name = "PATH")]
    pub(crate) memory: Option<PathBuf>,
    /// Also add the text of this file as the next segment of the execution's agent
    #[arg(long, value_name = "PATH")]
    pub(crate) segment: Option<PathBuf>,
    /// The agent of --memory and --segment [default: from the execution's statement]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    /// How the run ended [default: completed; with --vacuum, as it did]
    #[arg(value_enum)]
    pub(crate) status: Option<FinishWord>,
    /// With `failed`: the error of what is still open
    #[arg(value_name = "TEXT")]
    pub(crate) error: Option<String>,
    /// Compact the database; also allowed for a finished run, any number of times
    #[arg(long)]
    pub(crate) vacuum: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

/// The status at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FinishWord {
    /// The program ran to its end
    Completed,
    /// The run ended with an error
    Failed,
    /// The run stopped and can be resumed
    Interrupted,
}

/// Commands for the memory and the segments of agents.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AgentCommand {
    /// Read or write an agent's memory
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Read or add a segment: the record of one invocation of an agent
    #[command(subcommand)]
    Segment(SegmentCommand),
    /// List what is stored of an agent of the project or the user; with --yes, delete the agent
    Delete(DeleteAgentArgs),
}

/// Commands for the memory of an agent.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum MemoryCommand {
    /// Print the memory, byte for byte
    Get(AgentArgs),
    /// Write the memory from standard input; the earlier memory stays as history
    Set(AgentArgs),
}

/// Commands for the segments of an agent.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SegmentCommand {
    /// Print a segment, byte for byte: its prompt, an empty line, its summary
    Get {
        #[command(flatten)]
        agent: AgentArgs,
        /// The segment's number [default: the last]
        number: Option<i64>,
    },
    /// Add the next segment from standard input: what the agent did
    Add {
        #[command(flatten)]
        agent: AgentArgs,
        /// The prompt of the agent
        #[arg(long, value_name = "TEXT")]
        prompt: String,
    },
}

// An agent and its store.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent's name
    pub(crate) name: String,
    /// The scope: how long the memory is kept [default: from the program, else execution]
    #[arg(long, value_enum, conflicts_with = "path")]
    pub(crate) scope: Option<MemoryScope>,
    /// The database or folder of agents that the program declares (`persist: "path"`). Such a path is opened only if
    /// you give the path here
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

/// How long a memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryScope {
    /// Kept as long as the run
    Execution,
    /// Kept across the runs of the project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// Kept across projects: `~/.prose`
    User,
}

#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// The execution that the subagent carries out, as `begin` printed it
    #[arg(value_name = "EXECUTION")]
    pub(crate) execution: i64,
    #[command(flatten)]
    pub(crate) run: RunOption,
}
