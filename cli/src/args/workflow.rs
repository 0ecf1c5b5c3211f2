//! Defines the arguments of the commands on workflows and their events.

use clap::{Args, Subcommand};

// The store of workflows, given by `--state`.
#[derive(Debug, Args)]
pub(crate) struct StoreOption {
    /// Where workflows are kept: `sqlite` (`.prose/workflows.db`), `postgres` (OPENPROSE_POSTGRES_URL), or a path to a
    /// database
    #[arg(
        long = "state",
        value_name = "WHERE",
        env = "PROSE_WORKFLOWS",
        hide_env_values = true,
        default_value = "sqlite"
    )]
    pub(crate) store: String,
}

// The options of all commands that change a workflow.
#[derive(Debug, Args)]
pub(crate) struct ChangeOptions {
    #[command(flatten)]
    pub(crate) store: StoreOption,
    /// Refuse the command if the workflow has another version, because it changed after you read it
    #[arg(long, value_name = "N")]
    pub(crate) if_version: Option<i64>,
}

// A workflow, and the options of a command that changes it.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    /// The workflow: its id, a unique prefix of the id, or `latest`
    pub(crate) workflow: String,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

/// Commands for workflows.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum WorkflowCommand {
    /// Print the SQL that creates the tables; with --apply, create the tables. Existing tables of other programs stay
    /// and get columns named x_…
    Setup {
        /// Create the tables
        #[arg(long)]
        apply: bool,
        #[command(flatten)]
        store: StoreOption,
    },
    /// Begin a run, which is a turn of the conversation; without --workflow, begin a new workflow. Prints the ids of
    /// the workflow and the run
    Start(StartArgs),
    /// Ask the person a question; the run then waits for input
    Ask {
        /// The run that asks
        run: String,
        /// The question; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        question: String,
        /// Data for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        /// The name of the engine, as it claimed the run; not checked
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        #[command(flatten)]
        options: ChangeOptions,
    },
    /// Answer the question of the waiting run; the run then continues
    Input {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The answer; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        /// The run, if several runs wait
        #[arg(long)]
        run: Option<String>,
        /// The maximum number of messages in the context [default: 100]
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        tail: u32,
    },
    /// Pause a workflow, so that no new run can begin
    Pause(WorkflowArgs),
    /// Resume a workflow that is paused or that has an error
    Resume(WorkflowArgs),
    /// Cancel a workflow and its open runs; with --run, only that run
    Cancel {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// Cancel only this run
        #[arg(long)]
        run: Option<String>,
    },
    /// Record an error of the workflow itself
    Error {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The error: a text, or a JSON object
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        error: String,
    },
    /// End a run with an error
    Fail {
        /// The run that failed
        run: String,
        /// The error: a text, or a JSON object
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        error: String,
        /// The name of the engine, as it claimed the run; not checked
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        #[command(flatten)]
        options: ChangeOptions,
    },
    /// End a run with an output
    Finish(WorkflowFinishArgs),
    /// Show the runs, the open question and the conversation of a workflow
    Show {
        /// The workflow: its id, a unique prefix of the id, or `latest`
        #[arg(default_value = "latest")]
        workflow: String,
        #[command(flatten)]
        store: StoreOption,
    },
    /// List workflows, the newest first
    List(ListArgs),
    /// Print or change the preferences of a workflow
    Prefer {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The preferences to set; a value that is not JSON is stored as text
        #[arg(value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// A preference to remove; may be repeated
        #[arg(long, value_name = "KEY")]
        remove: Vec<String>,
    },
    /// Record an important step of a workflow for its later runs
    Step {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The step; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        /// The run of the step or event
        #[arg(long)]
        run: Option<String>,
        /// Data for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
    },
    /// Append, follow and prune the events of workflows
    #[command(subcommand)]
    Events(EventsCommand),
    /// Serve workflows over HTTP: pages, commands and live events
    Serve(ServeArgs),
    /// Record a sign of life of a run, which extends the engine's lease; after exit code 4, the engine must stop. Prints
    /// the status of the run and of the workflow
    Heartbeat {
        /// The run that is still worked on
        run: String,
        /// The name of the engine that works on the run; not checked
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        /// How long the engine keeps the run that it claimed
        #[arg(long, value_name = "DURATION", default_value = "60s")]
        lease: String,
        #[command(flatten)]
        options: ChangeOptions,
    },
    /// Give the oldest run that needs work to an engine: a running one that no other engine works on. Prints the run's id;
    /// exit code 3 means that no run needs work
    Claim {
        /// The run to claim [default: the oldest that needs work]
        run: Option<String>,
        /// The name of the engine; not checked. Two engines need two names
        #[arg(long, value_name = "NAME")]
        owner: String,
        /// Only a run of this workflow
        #[arg(long)]
        workflow: Option<String>,
        /// How long the engine keeps the run; heartbeats extend this time
        #[arg(long, value_name = "DURATION", default_value = "60s")]
        lease: String,
        #[command(flatten)]
        store: StoreOption,
    },
    /// Print the checkpoint of a run; with --set, replace it
    State {
        /// The run
        run: String,
        /// The new checkpoint: a JSON object without `pending_input`; `-` reads it from standard input
        #[arg(long, value_name = "JSON")]
        set: Option<String>,
        /// The name of the engine, as it claimed the run; not checked
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        #[command(flatten)]
        options: ChangeOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The person's message; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) input: String,
    /// The workflow to continue: its id, a unique prefix of the id, or `latest`
    #[arg(long)]
    pub(crate) workflow: Option<String>,
    /// The id of the new workflow [default: generated]
    #[arg(long, value_name = "UUID", conflicts_with = "workflow")]
    pub(crate) id: Option<String>,
    /// The id of the run. Repeating the command with the same id and the same input changes nothing
    #[arg(long, value_name = "UUID")]
    pub(crate) run: Option<String>,
    /// Do not let the engine ask questions
    #[arg(long)]
    pub(crate) no_clarifications: bool,
    /// Begin the run even if another run of the workflow is open
    #[arg(long)]
    pub(crate) parallel: bool,
    /// The name of the engine that works on the run; not checked
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// The maximum number of messages in the context [default: 100]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) tail: u32,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

#[derive(Debug, Args)]
pub(crate) struct WorkflowFinishArgs {
    /// The run to end
    pub(crate) run: String,
    /// The output as JSON; `-` reads it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) output: String,
    /// The assistant's message, which is appended to the conversation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) message: Option<String>,
    /// A summary of the conversation so far; messages before the summary may then be dropped
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) summary: Option<String>,
    /// The maximum number of messages in the context [default: 100]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) tail: u32,
    /// The name of the engine, as it claimed the run; not checked
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only workflows with this status: active, paused, cancelled, error
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only workflows with a run that waits for input
    #[arg(long)]
    pub(crate) waiting: bool,
    /// List running runs that gave no sign of life for this time [default: 5m]
    #[arg(long, value_name = "DURATION", num_args = 0..=1, default_missing_value = "5m", conflicts_with_all = ["status", "waiting"])]
    pub(crate) stuck: Option<String>,
    /// The maximum number of workflows to print [default: 50]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}

/// Commands for events.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum EventsCommand {
    /// Append an event to a workflow; prints the id of the event
    Append {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The kind: progress, status, warning, error or final
        #[arg(long, default_value = "progress")]
        kind: String,
        /// The text; `-` reads it from standard input
        #[arg(
            long,
            value_name = "TEXT",
            allow_hyphen_values = true,
            required_unless_present = "lines"
        )]
        text: Option<String>,
        /// The run of the step or event
        #[arg(long)]
        run: Option<String>,
        /// Data for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        /// Read events from standard input, one JSON object per line (text, kind, run, payload), and append all or none
        #[arg(long, conflicts_with_all = ["text", "run", "payload"])]
        lines: bool,
    },
    /// Print the events of a workflow after a cursor, in their order
    Tail(TailArgs),
    /// Remove events of ended runs
    Prune {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// Only events up to this id
        #[arg(long, value_name = "ID")]
        up_to: Option<i64>,
        /// Include events of open runs, and events without a run
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// The workflow: its id, a unique prefix of the id, or `latest`
    pub(crate) workflow: String,
    /// Only events after this id [default: all events]
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<i64>,
    /// Wait for new events until the command is stopped
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// End after this number of events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}

const SERVE_HELP: &str = "\
Without --token-file and PROSE_SERVE_TOKEN, the server makes a token and prints this token on standard error.

After Ctrl-C or SIGTERM, the server answers the open requests, sends a last cursor to each stream, and ends.

docs/reference/serve.md describes requests, streams, and how to put a TLS proxy before the server.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 means any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8737")]
    pub(crate) listen: std::net::SocketAddr,
    /// A file whose first line is the token that requests must send
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    pub(crate) token_file: Option<std::path::PathBuf>,
    /// Answer requests without a token; only on a loopback address
    #[arg(long)]
    pub(crate) no_token: bool,
    /// A host name that requests may use, beside the loopback names; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The origin of a page that may send requests, such as `https://app.example`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    /// The maximum number of requests per second from one peer; 0 means no limit
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) rate: u32,
    /// The maximum number of connections
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) connections: usize,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}
