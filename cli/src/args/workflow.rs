//! Arguments of the commands on workflows and their events.

use clap::{Args, Subcommand};

/// Where workflows are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreOption {
    /// Where workflows are kept: `sqlite` (`.prose/workflows.db`), `postgres` (OPENPROSE_POSTGRES_URL), or a path to a database
    #[arg(
        long = "state",
        value_name = "WHERE",
        env = "PROSE_WORKFLOWS",
        hide_env_values = true,
        default_value = "sqlite"
    )]
    pub(crate) store: String,
}

/// What every command that changes a workflow takes.
#[derive(Debug, Args)]
pub(crate) struct ChangeOptions {
    #[command(flatten)]
    pub(crate) store: StoreOption,
    /// Refuse when the workflow has another version than this: it changed after it was read
    #[arg(long, value_name = "N")]
    pub(crate) if_version: Option<i64>,
}

/// Names a workflow.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    /// The workflow: its id, the unique beginning of it, or `latest`
    pub(crate) workflow: String,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

/// What is done with workflows.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Print the SQL of the tables; create them with --apply. Tables of other programs stay and get columns named x_…
    Setup {
        /// Create the tables
        #[arg(long)]
        apply: bool,
        #[command(flatten)]
        store: StoreOption,
    },
    /// Begin a run: a turn of a conversation; without --workflow a new workflow. Prints their ids
    Start(StartArgs),
    /// Ask the person a question: the run waits for input
    Ask {
        /// The run
        run: String,
        /// The question; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        question: String,
        /// More of it for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        #[command(flatten)]
        options: ChangeOptions,
    },
    /// Answer the question of the run that waits: it runs again
    Input {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The answer; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        /// The run, where several wait
        #[arg(long)]
        run: Option<String>,
        /// The most messages that the context keeps [default: 100]
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        tail: u32,
    },
    /// Pause a workflow: it takes no new run
    Pause(WorkflowArgs),
    /// Resume a workflow that is paused or has an error
    Resume(WorkflowArgs),
    /// Cancel a workflow with its open runs; with --run that run alone
    Cancel {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The run
        #[arg(long)]
        run: Option<String>,
    },
    /// Record that the workflow itself went wrong
    Error {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// What went wrong: a text, or a JSON object
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        error: String,
    },
    /// End a run with its error
    Fail {
        /// The run
        run: String,
        /// What went wrong: a text, or a JSON object
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        error: String,
        #[command(flatten)]
        options: ChangeOptions,
    },
    /// End a run with its output
    Finish(FinishArgs),
    /// Show a workflow: its runs, the open question, the conversation
    Show {
        /// The workflow: its id, the unique beginning of it, or `latest`
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
        /// Preferences to set; a value that is not JSON is a text
        #[arg(value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// A preference to remove; may be repeated
        #[arg(long, value_name = "KEY")]
        remove: Vec<String>,
    },
    /// Keep an important step of a workflow, for its later runs
    Step {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// The step; `-` reads it from standard input
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
        /// The run that it belongs to
        #[arg(long)]
        run: Option<String>,
        /// More of it for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
    },
    /// Record that a run is worked on; exit code 4 tells its engine to stop
    Heartbeat {
        /// The run
        run: String,
        /// Who works on it: a claim
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        #[command(flatten)]
        options: ChangeOptions,
    },
}

/// Begins a run.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The person's message; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) input: String,
    /// The workflow to continue: its id, the unique beginning of it, or `latest`
    #[arg(long)]
    pub(crate) workflow: Option<String>,
    /// The id of a new workflow [default: a new one]
    #[arg(long, value_name = "UUID", conflicts_with = "workflow")]
    pub(crate) id: Option<String>,
    /// The id of the run: the same command again, with the same id and input, changes nothing
    #[arg(long, value_name = "UUID")]
    pub(crate) run: Option<String>,
    /// The engine may not ask back
    #[arg(long)]
    pub(crate) no_clarifications: bool,
    /// Begin the run although another one of the workflow is open
    #[arg(long)]
    pub(crate) parallel: bool,
    /// Who works on the run: a claim
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// The most messages that the context keeps [default: 100]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) tail: u32,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

/// Ends a run.
#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    /// The run
    pub(crate) run: String,
    /// The output: JSON; `-` reads it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) output: String,
    /// The assistant's message, appended to the conversation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) message: Option<String>,
    /// A summary of the conversation so far: messages before it may be dropped
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) summary: Option<String>,
    /// The most messages that the context keeps [default: 100]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) tail: u32,
    #[command(flatten)]
    pub(crate) options: ChangeOptions,
}

/// Lists workflows.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only workflows of this status: active, paused, cancelled, error
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only workflows of which a run waits for input
    #[arg(long)]
    pub(crate) waiting: bool,
    /// List running runs without a sign of life for this time [default: 5m]
    #[arg(long, value_name = "DURATION", num_args = 0..=1, default_missing_value = "5m", conflicts_with_all = ["status", "waiting"])]
    pub(crate) stuck: Option<String>,
    /// The most workflows to print [default: 50]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}

/// What is done with events.
#[derive(Debug, Subcommand)]
pub(crate) enum EventsCommand {
    /// Append an event to a workflow; prints its id
    Append {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// progress, status, warning, error or final
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
        /// The run that it belongs to
        #[arg(long)]
        run: Option<String>,
        /// More of it for programs: a JSON object
        #[arg(long, value_name = "JSON")]
        payload: Option<String>,
        /// Read events from standard input, one JSON object a line (text, kind, run, payload), and append all of them or none
        #[arg(long, conflicts_with_all = ["text", "run", "payload"])]
        lines: bool,
    },
    /// Print the events of a workflow after a cursor, in order
    Tail(TailArgs),
    /// Remove events of runs that ended, as far as named followers have read them
    Prune {
        #[command(flatten)]
        workflow: WorkflowArgs,
        /// Only events with ids up to this one
        #[arg(long, value_name = "ID")]
        up_to: Option<i64>,
        /// Events of open runs and of no run too
        #[arg(long)]
        all: bool,
        /// Also those that a named follower has not read
        #[arg(long)]
        force: bool,
    },
}

/// Prints events.
#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// The workflow: its id, the unique beginning of it, or `latest`
    pub(crate) workflow: String,
    /// Only events after this one [default: from the first; with --as after the last that was read]
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<i64>,
    /// Go on with new events until the command is stopped
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Keep what was read under this name: pruning keeps the rest
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// End after so many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}

const SERVE_HELP: &str = "\
Without --token-file and PROSE_SERVE_TOKEN a token is made and printed on standard error.
Ctrl-C or SIGTERM ends the server: requests are answered, and streams told their cursor.
docs/reference/serve.md describes requests, streams, and how to put a TLS proxy before it.";

/// Serves workflows.
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8737")]
    pub(crate) listen: std::net::SocketAddr,
    /// A file whose first line is the token that requests must send
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    pub(crate) token_file: Option<std::path::PathBuf>,
    /// Answer requests without a token; only on a loopback address
    #[arg(long)]
    pub(crate) no_token: bool,
    /// A host name that requests may use, beside those of loopback; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The origin of a page that may send requests, as `https://app.example`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) origin: Vec<String>,
    /// The most requests a second of one peer; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) rate: u32,
    /// The most connections
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) connections: usize,
    #[command(flatten)]
    pub(crate) store: StoreOption,
}
