//! Defines the command line for clap: commands, arguments and help texts. docs/reference/commands is generated from
//! these types.
//!
//! clap defines the arguments of a command only when the command is called (`defer`), because defining those of all
//! commands takes longer than most commands run. A doc comment on a type of arguments would then replace the
//! description of its command, so these types have plain comments.

pub(crate) mod cost;
pub(crate) mod diff;
mod examples;
pub(crate) mod gates;
mod groups;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod server;
pub(crate) mod share;
pub(crate) mod upkeep;
pub(crate) mod workflow;
pub(crate) mod wrapped;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use prosescope_core::pages::session::search::Needle;

use gates::{ApproveArgs, AuditArgs, GateCommand, GatesArgs, RejectArgs};
use record::{
    AgentCommand, BeginArgs, BriefArgs, EndArgs, FailArgs, FinishArgs, InitArgs, PutArgs,
    RetryArgs, RoundArgs, SkipArgs,
};
use run::{RunArgs, RunOption, SAME, run_name, several};

use crate::error::CliError;
use crate::locate::unnamed;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  done, but the records have issues of severity error (a failed run is not such an issue); see `check --deny`
  2  wrong usage
  3  not found
  4  refused by a rule
  5  unreadable input
  6  an input or output error
  7  recorded, but a later step failed (printing, confirming or vacuuming); do not repeat the command";

const GET_EXIT: &str = "\
Exit code 1: the records that were read have an issue of severity error. In a database, the command reads only the rows that \
the name needs. In a folder, and with --explain or --json, it reads the whole run.";

const COMPLETIONS_HELP: &str = "\
Load the script when a shell starts:
  bash   eval \"$(prosescope completions bash)\"       in ~/.bashrc
  zsh    eval \"$(prosescope completions zsh)\"        in ~/.zshrc, after compinit
  fish   prosescope completions fish | source        in ~/.config/fish/config.fish";

/// Inspect and record runs of OpenProse programs. Commands that inspect never change a run; only
/// `gate show` adds a row to the audit log.
#[derive(Debug, Parser)]
#[command(name = "prosescope", bin_name = "prosescope", version, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// Print JSON; errors as JSON on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Parses a command line, whose first word is the name of the program. After an error call [`parse_completely`], which
/// also accepts negative numbers.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    parse_with(&mut Cli::command(), words)
}

/// Parses a command line, with the whole text of help and errors. Takes several times as long as [`parse`].
pub(crate) fn parse_completely(words: &[OsString]) -> Result<Cli, clap::Error> {
    parse_with(&mut complete(wrapped::columns()), words)
}

fn parse_with(command: &mut clap::Command, words: &[OsString]) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(command))
}

/// Returns all commands with their arguments.
pub(crate) fn whole() -> clap::Command {
    let mut whole = Cli::command();
    whole.build();
    whole
}

/// Adds what the types cannot express: groups of commands, wrapped texts, negative numbers.
fn complete(width: usize) -> clap::Command {
    let command = with_negative_numbers(whole()).mut_subcommands(examples::added);
    let command = groups::grouped(command, width);
    wrapped::command(command, width)
}

/// Lets every argument take `-3` as its value. Otherwise clap reads `-3` as an unknown option, and the error does not
/// mention the expected number.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| {
            if arg.get_action().takes_values() {
                arg.allow_negative_numbers(true)
            } else {
                arg
            }
        })
        .mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List the runs below `.prose/`
    #[command(aliases = ["ls", "list"])]
    Runs(RunsArgs),
    /// Summarize a run: what happened, where it stopped and why
    #[command(aliases = ["log", "status", "info"])]
    Show(ShowArgs),
    /// Print the tree of executed statements
    Trace(TraceArgs),
    /// Print the program with line numbers, and what became of each line
    Program(RunArgs),
    /// Render state.md from a run's data
    State(StateArgs),
    /// List a run's bindings
    Bindings(RunArgs),
    /// Print the value of a binding
    #[command(after_help = GET_EXIT)]
    Get(GetArgs),
    /// Search a run for a text
    ///
    /// Searches statements, errors, prompts, values, memories, gates, file names and other tables.
    Search(SearchArgs),
    /// Compare two runs of a program
    ///
    /// Prints the rows, values, memories, gates, files and other records that differ.
    #[command(after_help = diff::DIFF_HELP)]
    Diff(diff::DiffArgs),
    /// Show the tokens of each statement, counted from transcripts
    ///
    /// Without --transcripts the command shows what the run itself reports.
    #[command(after_help = cost::COST_HELP)]
    Cost(cost::CostArgs),
    /// Query a run with SQL; reads only
    ///
    /// Statements, values, gates and agents are tables, beside the tables of the run itself.
    #[command(after_help = query::QUERY_HELP)]
    Query(query::QueryArgs),
    /// List a run's agents with their memory and segments
    Agents(RunArgs),
    /// List the gates of a run, or the pending gates of all runs
    Gates(GatesArgs),
    /// Show or create a gate, or wait for its decision
    #[command(subcommand)]
    Gate(GateCommand),
    /// Approve a pending gate
    #[command(after_help = gates::CLAIM)]
    Approve(ApproveArgs),
    /// Reject a pending gate
    #[command(after_help = gates::CLAIM)]
    Reject(RejectArgs),
    /// Print the audit log of a run's gates, and verify its hash chain
    Audit(AuditArgs),
    /// Show how to continue a run
    ///
    /// Shows where the run stopped, what the remaining statements need, and which work must not be repeated.
    Resume(ResumeArgs),
    /// Check runs for errors, and print how to fix them
    Check(CheckArgs),
    /// Create a run of a program; prints the run's id
    Init(InitArgs),
    /// Record that a statement begins; prints its number
    ///
    /// A session, a call, a loop, a parallel block with all of its branches, a gate, an import: whatever stands at the
    /// line. For a session, the second line is for its subagent.
    Begin(BeginArgs),
    /// Write a value from standard input, and complete its statement
    Put(PutArgs),
    /// Record that a statement, a loop or a parallel ended
    ///
    /// Refused while something is open inside, and while the value is missing that the statement writes. A loop ends
    /// with its present round; the branches of a parallel are joined.
    End(EndArgs),
    /// Record that a round of a loop ended, and another follows
    Round(RoundArgs),
    /// Record that an execution failed
    Fail(FailArgs),
    /// Record another attempt at a failed execution
    Retry(RetryArgs),
    /// Record that a statement was skipped, or an input not given
    Skip(SkipArgs),
    /// Read and write agents' memory and segments; delete agents
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Print the instructions for a subagent
    ///
    /// The instructions contain the task, the inputs, and the command that writes the output.
    Brief(BriefArgs),
    /// Print the next command for an open run, and why
    Next(RunArgs),
    /// Record the end of a run
    Finish(FinishArgs),
    /// List runs that can be removed; with --yes, remove these runs
    #[command(after_help = upkeep::CLEAN_HELP)]
    Clean(upkeep::CleanArgs),
    /// Copy a run into another form: folder, SQLite or PostgreSQL
    ///
    /// Lists what the copy lacks. The run itself does not change.
    Convert(upkeep::ConvertArgs),
    /// Write runs into one file to send, without secrets
    ///
    /// The file is an HTML page with the viewer, a zip, or a database.
    #[command(after_help = share::SHARE_HELP)]
    Share(share::ShareArgs),
    /// Check that this folder is ready for recording
    ///
    /// Checks tools, git, a PostgreSQL server, journals and schemas.
    Doctor,
    /// Set up and check a PostgreSQL database for runs
    #[command(subcommand)]
    Postgres(server::PostgresCommand),
    /// Record and show workflows: conversations whose turns are runs
    #[command(subcommand)]
    Workflow(workflow::WorkflowCommand),
    /// Serve the viewer of a run on 127.0.0.1
    #[command(alias = "open")]
    View(ViewArgs),
    /// Write the file in which agents find how to record runs
    ///
    /// The file contains what `prosescope help vm` prints, in the form of a skill (SKILL.md). Without options it is written
    /// into the current folder twice: for Claude Code, and for agents that look into .agents, such as Codex.
    Skill(SkillArgs),
    /// Print a script that completes commands and run ids in a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArgs),
    /// Write one manual page per command into a folder
    #[command(hide = true)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// A `.prose` folder, or another folder that contains runs [default: the nearest `.prose`]
    pub(crate) path: Option<String>,
    /// Only runs with these statuses, separated by commas: completed, failed, waiting, running, silent (running,
    /// without a sign of life for a day), interrupted, unreadable …
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only runs that began since a time (`2026-01-25`, RFC 3339) or within a duration before now (`7d`, `2h30m`)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only runs that began before a time, or longer ago than a duration
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// Only runs whose program path contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,
    /// Only runs with a pending gate
    #[arg(long)]
    pub(crate) pending: bool,
    /// Sort order
    #[arg(long, value_enum, default_value_t = Sort::Newest)]
    pub(crate) sort: Sort,
    /// The maximum number of runs to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// An order of runs; see [`prosescope_core::pages::session::ListOrder`].
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Sort {
    /// The newest first
    Newest,
    /// The oldest first
    Oldest,
    /// The longest first
    Duration,
    /// By status
    Status,
    /// By program
    Program,
    /// Runs that need attention first: unreadable, failed, waiting for a decision, interrupted, most issues
    Problems,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print Markdown for a comment at a pull request: the verdict, what failed, the names of the values. Secrets are
    /// replaced as in `share`
    #[arg(long, conflicts_with_all = ["for_model", "json"])]
    pub(crate) markdown: bool,
    /// Exit with 1 unless the run completed and did nothing against its program
    #[arg(long)]
    pub(crate) exit_status: bool,
    /// Print Markdown for a language model: the first failure of a failed run, the gate of a waiting run, else the
    /// whole run. Secrets and personal details are replaced as in `share`
    #[arg(long)]
    pub(crate) for_model: bool,
    /// With --for-model: print one row of the trace, by the number of its execution or by its place ~N in the trace
    #[arg(
        long,
        value_name = "EXECUTION",
        allow_hyphen_values = true,
        requires = "for_model"
    )]
    pub(crate) node: Option<String>,
    /// With --for-model: the maximum length of the text, in thousands of bytes
    #[arg(long, value_name = "KB", value_parser = ["8", "32", "128"], default_value = "32", requires = "for_model")]
    pub(crate) size: String,
    #[command(flatten, next_help_heading = "Contents of --for-model")]
    pub(crate) wishes: share::WishArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The maximum number of rows to print
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Print one row with its prompt, inputs, answer, error and attempts, by the number of its execution or by its
    /// place ~N in the trace (`node` in the JSON of the tree)
    #[arg(
        long,
        value_name = "EXECUTION",
        allow_hyphen_values = true,
        conflicts_with = "limit"
    )]
    pub(crate) node: Option<String>,
    /// Draw the rows on a time axis instead; idle time is shortened
    #[arg(long, conflicts_with = "node")]
    pub(crate) timeline: bool,
    /// Only rows with this text in the statement or the error
    #[arg(long, value_name = "TEXT", conflicts_with = "node")]
    pub(crate) text: Option<String>,
    /// Only rows with this status, as in the tree: failed, waiting, completed …
    #[arg(long, value_name = "STATUS", conflicts_with = "node")]
    pub(crate) status: Option<String>,
    /// Only rows of this kind
    #[arg(long, value_name = "KIND", conflicts_with = "node",
        value_parser = ["statement", "parallel", "branch", "loop", "round", "frame", "gate"])]
    pub(crate) kind: Option<String>,
    /// Only rows that took at least a duration (`10s`, `1m30s`)
    #[arg(long, value_name = "DURATION", conflicts_with = "node")]
    pub(crate) at_least: Option<String>,
    /// Sort order; a sorted or filtered trace is printed as a list, not as a tree
    #[arg(long, value_enum, default_value_t = TraceSort::Ran, conflicts_with = "node")]
    pub(crate) sort: TraceSort,
}

/// An order of rows of the trace; see [`prosescope_core::pages::session::pages::TraceOrder`].
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TraceSort {
    /// In the order in which they ran
    Ran,
    /// The longest first, then rows that contain other timed rows, then rows without times
    Longest,
    /// Failures first, then rows that failed because of another row, then open rows
    Problems,
}

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Include the whole program, not only statements that ran or come next
    #[arg(long)]
    pub(crate) all: bool,
    /// Compare with the state.md of the run folder
    #[arg(long)]
    pub(crate) diff: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The binding's name; `alias.name` for a binding of an import
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// Resolve the name in the frame of this execution, and in the frames around it [default: the root]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) from: Option<i64>,
    /// List all bindings that the name could mean, the chosen one first
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print control characters unescaped on a terminal, too
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The text. A text in lower case also matches upper case
    #[arg(value_parser = wanted, allow_hyphen_values = true)]
    pub(crate) text: Needle,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// Search all runs below `.prose/`
    #[arg(long, conflicts_with = "run")]
    pub(crate) all: bool,
}

/// Parses the text of a search.
fn wanted(text: &str) -> Result<Needle, String> {
    Needle::new(text).map_err(|empty| empty.to_string())
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print a Markdown prompt of limited length for a model; text from the run is marked as data
    #[arg(long, conflicts_with = "json")]
    pub(crate) prompt: bool,
    /// Reopen an interrupted or waiting run for recording
    #[arg(long, conflicts_with = "prompt")]
    pub(crate) begin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Runs: ids, unique prefixes of ids, `latest`, or paths; or programs: paths to `.prose` files [default: PROSE_RUN,
    /// else latest]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME, conflicts_with = "all")]
    named: Option<String>,
    /// Check all runs below `.prose/`, or below the path that is given in place of RUN
    #[arg(long)]
    pub(crate) all: bool,
    /// Only these rules, separated by commas; may be repeated
    #[arg(long = "rule", value_name = "RULE", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// Only issues with this severity or a higher one
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "note",
        hide_default_value = true
    )]
    pub(crate) severity: Level,
    /// Exit with 1 if there are issues with this severity or a higher one
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "error",
        hide_default_value = true
    )]
    pub(crate) deny: Level,
    /// Print SARIF 2.1.0 for code scanning in CI
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
    /// Write a repaired copy of the run, and list the repairs; the run itself does not change
    #[arg(long, conflicts_with_all = ["all", "rules", "sarif", "explain"])]
    pub(crate) fix: bool,
    /// The copy's folder, which must not exist yet [default: RUN-fixed, beside the run]
    #[arg(long, value_name = "PATH", requires = "fix")]
    pub(crate) out: Option<std::path::PathBuf>,
    /// Also repair a shared file that was changed after it was shared
    #[arg(long, requires = "fix")]
    pub(crate) anyway: bool,
    /// Explain a rule with an example and what to do; without RULE, list all rules
    #[arg(long, value_name = "RULE", num_args = 0..=1, conflicts_with_all = ["runs", "named", "all", "rules", "sarif"])]
    pub(crate) explain: Option<Option<String>>,
}

impl CheckArgs {
    /// Returns the runs to check. Not used with `--all`.
    pub(crate) fn runs(&self) -> Result<Vec<String>, CliError> {
        let named = several(&self.runs, self.named.as_deref())?;
        if named.is_empty() {
            Ok(vec![unnamed()?])
        } else {
            Ok(named)
        }
    }
}

/// The severity of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// A value that is shown may be wrong, or a part could not be read
    #[value(alias = "errors")]
    Error,
    /// The output may be incomplete
    #[value(alias = "warnings")]
    Warning,
    /// Information that needs no action
    #[value(aliases = ["notes", "info"])]
    Note,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Runs or paths to show [default: PROSE_RUN, else latest]
    #[arg(value_name = "RUN|PATH")]
    runs: Vec<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// The port to listen on; 0 means any free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Allow decisions on the page, for the gates of one run, in the name of --as
    #[arg(long, requires = "by")]
    allow_decisions: bool,
    /// With --allow-decisions: the name that decides on the page; not checked
    #[arg(long = "as", value_name = "NAME", requires = "allow_decisions")]
    pub(crate) by: Option<String>,
}

impl ViewArgs {
    /// Returns the runs and paths to serve.
    pub(crate) fn runs(&self) -> Result<Vec<String>, CliError> {
        several(&self.runs, self.named.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    /// Write only the file of these agents
    #[arg(long = "for", value_enum, value_name = "AGENT")]
    pub(crate) agent: Option<SkillAgent>,
    /// Write into the home directory, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// Write only this file, for agents that look elsewhere
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["agent", "user"])]
    pub(crate) out: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// An agent, or a group of agents, that looks for skills in the same folder.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SkillAgent {
    /// Claude Code: .claude/skills
    Claude,
    /// Codex, and others that look into .agents/skills
    Agents,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder, which must exist
    pub(crate) folder: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Cli, complete, parse_with, whole};

    /// Calls `check` with each command below one of clap's own, and with the words that call it.
    fn each(below: &clap::Command, words: &[&str], check: &mut dyn FnMut(&clap::Command, &[&str])) {
        for command in below.get_subcommands().filter(|c| c.get_name() != "help") {
            let words = [words, &[command.get_name()]].concat();
            check(command, &words);
            each(command, &words, check);
        }
    }

    #[test]
    fn a_description_stays_when_the_arguments_are_defined() {
        let deferred = Cli::command();
        each(&whole(), &[], &mut |built, words| {
            let of = words
                .iter()
                .try_fold(&deferred, |of, word| of.find_subcommand(word));
            // A command below arguments, such as `gates expire`, is deferred itself.
            let Some(of) = of else { return };
            assert_eq!(built.get_about(), of.get_about(), "{words:?}");
            assert_eq!(built.get_long_about(), of.get_long_about(), "{words:?}");
        });
    }

    #[test]
    fn the_called_command_alone_answers_like_all_commands_together() {
        let mut all = complete(100);
        let mut compared = 0;
        each(&whole(), &["prosescope"], &mut |command, words| {
            let mut ends = vec![vec![], vec!["--help"], vec!["-h"], vec!["--no-such"]];
            ends.extend([vec!["x"], vec!["x", "y", "z"], vec!["--json", "7"]]);
            let options: Vec<String> = command.get_arguments().map(|arg| arg.to_string()).collect();
            for option in &options {
                let name = option.split(' ').next().unwrap_or_default();
                ends.extend([vec![name], vec![name, "x"], vec!["7", name, "7"]]);
            }
            for end in ends {
                let line = [words, &end].concat();
                let os: Vec<_> = line.iter().map(Into::into).collect();
                let parsed = [&mut Cli::command(), &mut all].map(|tree| {
                    let parsed = parse_with(tree, &os);
                    parsed.map_or_else(|e| e.kind().to_string(), |cli| format!("{cli:?}"))
                });
                assert_eq!(parsed[0], parsed[1], "{line:?}");
                compared += 1;
            }
        });
        assert!(compared > 1000, "{compared}");
    }

    #[test]
    fn the_number_of_an_execution_has_one_name() {
        each(&whole(), &[], &mut |command, words| {
            for arg in command.get_arguments() {
                let names = arg.get_value_names().unwrap_or_default();
                let is_old = |name: &clap::builder::Str| name.ends_with("_ID");
                assert!(!names.iter().any(is_old), "{words:?}: {names:?}");
            }
        });
    }

    /// Checks that every command that takes a run as an argument also takes `--run`, and requires neither the argument
    /// nor `--run`. Returns how many commands were checked.
    fn check_runs(command: &clap::Command) -> usize {
        let mut found = 0;
        for below in command.get_subcommands() {
            // Skips `clean`, which takes several runs. Skips `workflow`, in which a run is a turn of a conversation.
            if ["clean", "workflow"].contains(&below.get_name()) {
                continue;
            }
            let positional = below.get_positionals().find(|arg| arg.get_id() == "run");
            let option = below
                .get_arguments()
                .find(|arg| arg.get_long() == Some("run"));
            if let Some(run) = positional {
                found += 1;
                assert!(option.is_some(), "{} has no --run", below.get_name());
                assert!(!run.is_required_set(), "{} needs a run", below.get_name());
            }
            found += check_runs(below);
        }
        found
    }

    #[test]
    fn a_command_that_takes_a_run_as_an_argument_takes_it_with_run_too_and_requires_neither() {
        assert!(check_runs(&whole()) > 15);
    }

    #[test]
    fn the_pages_of_json_have_a_section_for_every_command() {
        // A published crate does not contain docs/, so the test compares nothing there.
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        if !docs.is_dir() {
            return;
        }
        let files = std::fs::read_dir(docs.join("reference/json")).expect("docs/reference/json");
        let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()));
        let page: String = texts.map(|text| text.expect("a page")).collect();
        let mut all = Vec::new();
        // `gates` and `gates expire` can run; `gate` only groups others.
        each(&whole(), &["prosescope"], &mut |command, words| {
            all.extend((!command.is_subcommand_required_set()).then(|| words.join(" ")));
        });
        assert!(all.len() > 40, "{all:?}");
        for command in all {
            // These commands print a text or write files, so `--json` does not change their output.
            let texts = ["completions", "man", "skill"];
            let written = page.contains(&format!("\n## {command}\n"));
            assert_eq!(
                written,
                !texts
                    .iter()
                    .any(|name| command == format!("prosescope {name}")),
                "{command}: tests/tests/e2e/json.rs has the examples that docs/reference/json is made of"
            );
        }
    }
}
