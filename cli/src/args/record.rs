//! Arguments of the commands that record.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::upkeep::DeleteAgentArgs;
use super::{RUN_HELP, run_name};
use crate::locate::{LATEST, RUN_ENV};

/// Opens a new run.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The program: a `.prose` file; the run keeps a copy
    pub(crate) program: PathBuf,
    /// Where the run keeps its state
    #[arg(long, value_enum, default_value_t = StateMode::Filesystem)]
    pub(crate) state: StateMode,
    /// The run's id; made from the time and chance without it
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

/// Where a run keeps its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateMode {
    /// Files: state.md, bindings, agents
    Filesystem,
    /// A database, state.db
    Sqlite,
}

/// Names the run that is recorded.
#[derive(Debug, Args)]
pub(crate) struct RunOption {
    #[arg(long, default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
}

/// Names a statement.
#[derive(Debug, Args)]
pub(crate) struct StatementArgs {
    /// The statement, as the program writes it
    #[arg(value_name = "STATEMENT")]
    pub(crate) text: Option<String>,
    /// Its line in the program, which says all that is not given
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    /// The execution that it runs in: a branch, a loop, a called block; taken from what stands open without it
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
}

/// Records something against the program, or out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct InsistArgs {
    /// Record a flag that contradicts the program, and that it does
    #[arg(long = "override")]
    pub(crate) overrides: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// Records something out of sequence.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ForceArgs {
    /// Record it although something is open, or waits, that should come first; that it was forced is recorded too
    #[arg(long)]
    pub(crate) force: bool,
}

/// Records statements.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecCommand {
    /// A statement begins; prints its execution id
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        /// The block that it calls, when its text does not say so
        #[arg(long, value_name = "NAME")]
        block: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
    /// A session begins; prints its execution id and the brief for the subagent that carries it out
    Run {
        #[command(flatten)]
        statement: StatementArgs,
        /// Begin the loop of this line first, or the call of a block, and run in it
        #[arg(long = "in", value_name = "LINE", conflicts_with = "round")]
        within: Option<u32>,
        /// End the round of the loop around it first
        #[arg(long)]
        round: bool,
        #[command(flatten)]
        run: RunOption,
    },
    /// Executions are done; refused until the binding that the program has for them is there
    Complete {
        /// What `exec begin` printed; several are completed in this order, all or none. The one that stands open without it
        #[arg(value_name = "EXECUTION_ID")]
        ids: Vec<i64>,
        /// The binding that it had to write, where the program does not say
        #[arg(long, value_name = "NAME")]
        binding: Option<String>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// An execution ended with an error
    Fail {
        /// What `exec begin` printed
        #[arg(value_name = "EXECUTION_ID")]
        id: i64,
        /// What went wrong
        #[arg(long, value_name = "TEXT")]
        error: String,
        #[command(flatten)]
        run: RunOption,
    },
    /// An execution is passed over
    Skip {
        /// What `exec begin` printed
        #[arg(value_name = "EXECUTION_ID")]
        id: i64,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// Another attempt begins at an execution that failed
    Retry {
        /// What `exec begin` printed
        #[arg(value_name = "EXECUTION_ID")]
        id: i64,
        /// The most attempts, the first one included; as the program says (`retry: 3`) without it
        #[arg(long, value_name = "N")]
        max: Option<i64>,
        /// What went wrong, where `exec fail` has not recorded it yet
        #[arg(long, value_name = "TEXT")]
        error: Option<String>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
}

/// Says what a parallel is made of.
#[derive(Debug, Args)]
pub(crate) struct BranchesArgs {
    /// Its branches, with commas between them; the program's without them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) branches: Vec<String>,
    /// When it goes on: all, first, any; as the program says without it
    #[arg(long, value_name = "WORD")]
    pub(crate) strategy: Option<String>,
}

/// Records parallels.
#[derive(Debug, Subcommand)]
pub(crate) enum ParallelCommand {
    /// A parallel is entered; prints its execution id
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        #[command(flatten)]
        branches: BranchesArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// A parallel is entered and all of its branches begin; prints each branch's execution id and brief
    Run {
        #[command(flatten)]
        statement: StatementArgs,
        #[command(flatten)]
        branches: BranchesArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// A branch begins; prints its execution id, which `exec complete` ends
    Branch {
        /// The parallel's execution id
        #[arg(value_name = "PARALLEL_ID")]
        parallel: i64,
        /// The branch
        name: String,
        /// Its statement, as the program writes it
        #[arg(value_name = "STATEMENT")]
        text: Option<String>,
        /// Its statement's line in the program
        #[arg(long, value_name = "N")]
        line: Option<u32>,
        #[command(flatten)]
        insist: InsistArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// The branches come together
    Join {
        /// The parallel's execution id; the one that stands open without it
        #[arg(value_name = "PARALLEL_ID")]
        parallel: Option<i64>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
}

/// Records loops.
#[derive(Debug, Subcommand)]
pub(crate) enum LoopCommand {
    /// A loop is entered; prints its execution id
    Begin {
        #[command(flatten)]
        statement: StatementArgs,
        /// The most rounds; as the program says without it
        #[arg(long, value_name = "N")]
        max: Option<i64>,
        /// Until what, as the program says it
        #[arg(long, value_name = "TEXT")]
        condition: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
    /// A round ended
    Iterate {
        /// The loop's execution id; the one that stands open without it
        #[arg(value_name = "LOOP_ID")]
        id: Option<i64>,
        #[command(flatten)]
        force: ForceArgs,
        #[command(flatten)]
        run: RunOption,
    },
    /// The loop is left
    Exit {
        /// The loop's execution id; the one that stands open without it
        #[arg(value_name = "LOOP_ID")]
        id: Option<i64>,
        /// A round ends first
        #[arg(long)]
        round: bool,
        #[command(flatten)]
        force: ForceArgs,
        /// Why: condition_satisfied, max_reached, or in words
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
}

/// Writes a binding.
#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The name
    #[arg(required_unless_present = "anon")]
    pub(crate) name: Option<String>,
    /// Take the next free `anon_…` name
    #[arg(long, conflicts_with = "name")]
    pub(crate) anon: bool,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// The execution that writes it; its block's frame is the scope, the root without one
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) execution: Option<i64>,
    /// input, output, let or const; as the program says, else let
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// The statement that makes it; as the program says, where it is not given
    #[arg(long, value_name = "TEXT")]
    pub(crate) source: Option<String>,
    /// What it is, in a sentence; the value's first line without it
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// Read the value from this file instead of standard input
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Complete the execution with it, in the same transaction: only where whoever gave you the task asks for it
    #[arg(long, requires = "execution")]
    pub(crate) done: bool,
    /// Write this file's text as the memory of the agent that carried it out
    #[arg(long, value_name = "PATH")]
    pub(crate) memory: Option<PathBuf>,
    /// Add this file's text as that agent's next segment
    #[arg(long, value_name = "PATH")]
    pub(crate) segment: Option<PathBuf>,
    /// The agent; the one that the execution's statement names without it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
}

/// Ends a run.
#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// How it ends: completed, failed, or interrupted (it goes on later)
    #[arg(long, value_enum, required_unless_present = "vacuum")]
    pub(crate) status: Option<Ending>,
    /// Make a database small again; of a finished run that alone is done, as often as you like
    #[arg(long)]
    pub(crate) vacuum: bool,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ending {
    /// Done
    Completed,
    /// With an error
    Failed,
    /// It goes on later
    Interrupted,
}

/// Writes what agents keep.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Read or write an agent's memory
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Read or record an invocation of an agent
    #[command(subcommand)]
    Segment(SegmentCommand),
    /// Say what is kept of an agent of the project or the user, and delete it with --yes
    Delete(DeleteAgentArgs),
}

/// An agent's memory.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Print the memory, byte for byte
    Get(AgentArgs),
    /// Write the memory; it comes on standard input, the earlier one is kept
    Set(AgentArgs),
}

/// An agent's invocations.
#[derive(Debug, Subcommand)]
pub(crate) enum SegmentCommand {
    /// Print a segment: its prompt, an empty line, its summary, byte for byte
    Get {
        #[command(flatten)]
        agent: AgentArgs,
        /// Which one; the last without it
        number: Option<i64>,
    },
    /// Add a segment; what the agent did comes on standard input, the number is the next one
    Add {
        #[command(flatten)]
        agent: AgentArgs,
        /// What the agent was asked
        #[arg(long, value_name = "TEXT")]
        prompt: String,
    },
}

/// Names an agent and its store.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The agent
    pub(crate) name: String,
    /// How long its memory lives; as the program declares it, else execution
    #[arg(long, value_enum, conflicts_with = "path")]
    pub(crate) scope: Option<Scope>,
    /// A database or a folder of agents of your own (`persist: "path"`): it is only ever opened when named here
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunOption,
}

/// How long a memory lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// It dies with the run
    Execution,
    /// It survives runs in the project: `.prose/agents.db`, `.prose/agents/`
    Project,
    /// It survives across projects: `~/.prose`
    User,
}

/// Registers imports.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Register a program under a handle; in the folder form its nested run is opened, which every command names RUN/handle--slug
    Add {
        /// The handle
        alias: String,
        /// Where it came from; as the program's `use` says without it
        source: Option<String>,
        /// The program itself: its nested run keeps a copy
        #[arg(long, value_name = "PATH")]
        program: Option<PathBuf>,
        /// Its inputs, as JSON
        #[arg(long, value_name = "JSON")]
        inputs: Option<String>,
        /// Its outputs, as JSON
        #[arg(long, value_name = "JSON")]
        outputs: Option<String>,
        #[command(flatten)]
        run: RunOption,
    },
}

/// Tells what happened in markers.
#[derive(Debug, Args)]
pub(crate) struct NarrateArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// Only this execution, and what ran in it
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) execution: Option<i64>,
    /// In which words
    #[arg(long, value_enum, default_value_t = Markers::Compact)]
    pub(crate) style: Markers,
}

/// Words for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Markers {
    /// `1→ research ✓`
    Compact,
    /// `[Position] Statement 1: …`
    Positions,
}

/// Instructs a subagent.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// The binding that it writes; the one of the execution's statement without it, else an anonymous one
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// The execution that it carries out
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) execution: Option<i64>,
    /// The persistent agent that it is
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Ask for `put --done`, which completes the execution too
    #[arg(long, requires = "execution")]
    pub(crate) done: bool,
    /// Say what `sqlite3` would need as well
    #[arg(long)]
    pub(crate) sqlite3: bool,
}
