//! Defines the arguments of the commands that record a run.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::run::{RunArgs, RunOption};
use super::upkeep::DeleteAgentArgs;

/// The arguments of `init`.
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
    /// PostgreSQL: OPENPROSE_POSTGRES_URL in .prose/.env or the environment, else DATABASE_URL; the run has the name postgres:ID
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

/// A statement, and the execution or item that contains the statement.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// The statement's text, as in the program
    #[arg(value_name = "STATEMENT")]
    pub(crate) text: Option<String>,
    /// The statement's line in the program; the program gives all defaults
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// The execution that contains the statement: a branch, a loop, a called block [default: found among the open executions]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) item: ItemArg,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
}

/// An item of a `parallel for` or a pipe, or a branch of a `parallel`.
#[derive(Debug, Args)]
pub(crate) struct ItemArg {
    /// The branch that contains the statement, or the item of a `parallel for` or a pipe. An item begins with its first
    /// statement [default: the open item, else the next number]
    #[arg(long, value_name = "NAME", conflicts_with = "parent")]
    pub(crate) item: Option<String>,
}

/// The options `--override` and `--force`, to record against the program or out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct InsistArgs {
    /// Record values that contradict the program; the override is recorded, too
    #[arg(long = "override")]
    pub(crate) overrides: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// The option `--force`, to record out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ForceArgs {
    /// Record out of sequence, while a statement that should end first is open; the force is recorded, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// Commands that record statements.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecCommand {
    /// Record that a statement begins; prints the number of its execution
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        /// The block that the statement calls [default: from its text]
        #[arg(long, value_name = "NAME")]
        block: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that a session begins; prints the number of its execution and the brief for its subagent
    Run {
        #[command(flatten)]
        statement: StatementArgs,
        /// First begin the loop or the block call at this line, and run the session in this loop or call
        #[arg(long = "in", value_name = "LINE", conflicts_with = "round")]
        within: Option<u32>,
        /// First end the open statements before this one: join a parallel, leave a loop after its round, complete calls
        /// and blocks
        #[arg(long)]
        close: bool,
        /// First end the current round of the enclosing loop
        #[arg(long)]
        round: bool,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that executions completed; refused until the binding of each execution is written
    Complete {
        /// The executions, as `exec begin` printed them. All are completed, in this order, or none [default: the open execution]
        #[arg(value_name = "EXECUTION")]
        ids: Vec<i64>,
        /// The binding that the execution writes [default: from the program]
        #[arg(long, value_name = "NAME")]
        binding: Option<String>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that an execution failed
    Fail {
        /// The execution, as `exec begin` printed it
        #[arg(value_name = "EXECUTION")]
        id: i64,
        /// The error
        #[arg(long, value_name = "TEXT")]
        error: String,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that an execution was skipped
    #[command(group(clap::ArgGroup::new("which").required(true)))]
    Skip {
        /// The execution, as `exec begin` printed it
        #[arg(value_name = "EXECUTION", group = "which")]
        id: Option<i64>,
        /// The line of a statement that did not begin; the command records its begin and the skip in one transaction
        #[arg(long, value_name = "N", group = "which")]
        line: Option<u32>,
        /// The execution that would contain the statement [default: found among the open executions]
        #[arg(long, value_name = "EXECUTION", conflicts_with = "id")]
        parent: Option<i64>,
        /// The item or the branch that would contain the statement
        #[arg(
            long,
            value_name = "NAME",
            conflicts_with_all = ["id", "parent"]
        )]
        item: Option<String>,
        /// The reason for the skip
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record another attempt at a failed execution
    Retry {
        /// The execution, as `exec begin` printed it
        #[arg(value_name = "EXECUTION")]
        id: i64,
        /// The maximum number of attempts, including the first [default: from the program (`retry: 3`)]
        #[arg(long, value_name = "N")]
        max: Option<i64>,
        /// The error, if `exec fail` did not record the error already
        #[arg(long, value_name = "TEXT")]
        error: Option<String>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
}

/// The branches of a parallel block, and its join strategy.
#[derive(Debug, Args)]
pub(crate) struct BranchesArgs {
    /// The branches, separated by commas [default: from the program]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) branches: Vec<String>,
    /// Which branches the join waits for: all, first, any [default: from the program, else all]
    #[arg(long, value_name = "WORD")]
    pub(crate) strategy: Option<String>,
}

/// Commands that record parallel blocks.
#[derive(Debug, Subcommand)]
pub(crate) enum ParallelCommand {
    /// Record that a parallel block begins; prints the number of its execution
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        #[command(flatten)]
        branches: BranchesArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that a parallel block and all its branches begin; prints the numbers of their executions, and their briefs
    Run {
        #[command(flatten)]
        statement: StatementArgs,
        #[command(flatten)]
        branches: BranchesArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that a branch begins; prints the number of its execution for `exec complete`
    Branch {
        /// The execution of the parallel block
        #[arg(value_name = "EXECUTION")]
        parallel: i64,
        /// The branch's name
        name: String,
        /// The branch's statement, as in the program
        #[arg(value_name = "STATEMENT")]
        text: Option<String>,
        /// The line of the branch's statement in the program
        #[arg(long, value_name = "N")]
        line: Option<u32>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that the branches are joined
    Join {
        /// The execution of the parallel block [default: the open block]
        #[arg(value_name = "EXECUTION")]
        parallel: Option<i64>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
}

/// Commands that record loops.
#[derive(Debug, Subcommand)]
pub(crate) enum LoopCommand {
    /// Record that a loop begins; prints the number of its execution
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        /// The maximum number of rounds [default: from the program]
        #[arg(long, value_name = "N")]
        max: Option<i64>,
        /// The loop's condition [default: from the program]
        #[arg(long, value_name = "TEXT")]
        condition: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that a round ended; also called `loop round`
    #[command(alias = "round")]
    Iterate {
        /// The execution of the loop [default: the open loop]
        #[arg(value_name = "EXECUTION")]
        id: Option<i64>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Record that the loop ended
    Exit {
        /// The execution of the loop [default: the open loop]
        #[arg(value_name = "EXECUTION")]
        id: Option<i64>,
        /// First end the current round
        #[arg(long)]
        round: bool,
        #[command(flatten)]
        force: ForceArgs,
        /// The reason: condition_satisfied, max_reached, or a text
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
}

/// The arguments of `put`.
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
    /// The execution that writes the binding; its frame is the scope of the binding [default: the root; with --done, the only
    /// open statement]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) execution: Option<i64>,
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
    /// Also complete the execution, in the same transaction. Use --done only if your instructions contain --done
    #[arg(long)]
    pub(crate) done: bool,
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

/// The arguments of `finish`.
#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The status at the end of the run
    #[arg(long, value_enum, required_unless_present = "vacuum")]
    pub(crate) status: Option<Ending>,
    /// Compact the database; also allowed for a finished run, any number of times
    #[arg(long)]
    pub(crate) vacuum: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// The status at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ending {
    /// The program ran to its end
    Completed,
    /// The run ended with an error
    Failed,
    /// The run stopped and can be resumed
    Interrupted,
}

/// Commands for the memory and the segments of agents.
#[derive(Debug, Subcommand)]
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
pub(crate) enum MemoryCommand {
    /// Print the memory, byte for byte
    Get(AgentArgs),
    /// Write the memory from standard input; the earlier memory stays as history
    Set(AgentArgs),
}

/// Commands for the segments of an agent.
#[derive(Debug, Subcommand)]
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

/// An agent and its store.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent's name
    pub(crate) name: String,
    /// The scope: how long the memory is kept [default: from the program, else execution]
    #[arg(long, value_enum, conflicts_with = "path")]
    pub(crate) scope: Option<Scope>,
    /// The database or folder of agents that the program declares (`persist: "path"`). Such a path is opened only if
    /// you give the path here
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

/// How long a memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// Kept as long as the run
    Execution,
    /// Kept across the runs of the project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// Kept across projects: `~/.prose`
    User,
}

/// Commands for imports.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Register an imported program under a handle; in folder form, this creates its nested run, RUN/handle--slug
    Add {
        /// The handle in the program
        alias: String,
        /// The source of the imported program [default: from the `use` statement]
        source: Option<String>,
        /// The program file; the nested run contains a copy
        #[arg(long, value_name = "PATH")]
        program: Option<PathBuf>,
        /// The program's inputs, as JSON
        #[arg(long, value_name = "JSON")]
        inputs: Option<String>,
        /// The program's outputs, as JSON
        #[arg(long, value_name = "JSON")]
        outputs: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
}

/// The arguments of `brief`.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// The binding that the subagent writes [default: from the execution's statement, else anonymous]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// The execution that the subagent carries out
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) execution: Option<i64>,
    /// The persistent agent of the subagent [default: from the execution's statement]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Tell the subagent to use `put --done`, which also completes the execution
    #[arg(long, requires = "execution")]
    pub(crate) done: bool,
    /// Also print `sqlite3` commands that do the same as `put`
    #[arg(long)]
    pub(crate) sqlite3: bool,
}
