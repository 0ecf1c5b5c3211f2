//! The command line as types; docs/cli.md is generated from it.

pub(crate) mod gates;
pub(crate) mod record;
pub(crate) mod upkeep;

use clap::{Args, Parser, Subcommand, ValueEnum};

use gates::{ApproveArgs, AuditArgs, GateCommand, GatesArgs, RejectArgs};
use record::{
    AgentCommand, BriefArgs, ExecCommand, FinishArgs, ImportCommand, InitArgs, LoopCommand,
    NarrateArgs, ParallelCommand, PutArgs,
};

use crate::locate::{LATEST, RUN_ENV};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  done, but issues of severity error were found (a failed run is not one); see check --deny
  2  wrong usage
  3  not found
  4  refused: a rule says no
  5  unreadable input
  6  I/O failed";

const GET_EXIT: &str = "\
Exit code 1: an issue of severity error was met on the way to the value. Of a database only the
rows of that name are read, and executions where some of them lie in frames; of a folder, or to
say why (--explain, --json), the whole run.";

const RUN_HELP: &str =
    "A run: its id, a unique beginning of it, `latest`, or a path to a run folder or a database";

/// Refuses an empty name: it comes from a variable that is not set, and would be the beginning of any run's id.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    match text.is_empty() {
        true => Err(format!(
            "the name of the run is empty: expected an id, `latest` or a path; check that the variable it comes from is set (or {RUN_ENV} unset)"
        )),
        false => Ok(text.to_owned()),
    }
}

/// Look into the runs of OpenProse programs, and record them. Reading never changes a byte of what it reads.
#[derive(Debug, Parser)]
#[command(name = "prose", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the runs below `.prose/`
    Runs(RunsArgs),
    /// Say what happened in a run, where it stopped and why
    Show(RunArgs),
    /// Print the tree of what ran
    Trace(TraceArgs),
    /// Print state.md, rendered from the run's data
    State(StateArgs),
    /// List a run's bindings
    Bindings(RunArgs),
    /// Print the value of a name
    #[command(after_help = GET_EXIT)]
    Get(GetArgs),
    /// List a run's agents with their memory and segments
    Agents(RunArgs),
    /// List approval gates; without RUN the pending ones of all runs
    Gates(GatesArgs),
    /// Show one gate, or create one
    #[command(subcommand)]
    Gate(GateCommand),
    /// Approve a gate that waits for a decision
    #[command(after_help = gates::CLAIM)]
    Approve(ApproveArgs),
    /// Reject a gate that waits for a decision
    #[command(after_help = gates::CLAIM)]
    Reject(RejectArgs),
    /// Print the audit log of a run's gates and verify its chain
    Audit(AuditArgs),
    /// Say what going on with a run takes: where it stands, what the rest needs, what not to repeat
    Resume(ResumeArgs),
    /// Look for everything that is odd in runs, and say what to do about it
    Check(CheckArgs),
    /// Open a new run of a program; prints its id
    Init(InitArgs),
    /// Record statements: begin, complete, fail, skip, retry
    #[command(subcommand)]
    Exec(ExecCommand),
    /// Record parallels: begin, branch, join
    #[command(subcommand)]
    Parallel(ParallelCommand),
    /// Record loops: begin, iterate, exit
    #[command(subcommand)]
    Loop(LoopCommand),
    /// Write a binding; the value comes on standard input
    Put(PutArgs),
    /// Read and write what agents keep: memory, segments; delete those that outlive runs
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Register imported programs
    #[command(subcommand)]
    Import(ImportCommand),
    /// Print what happened as markers for a VM's conversation
    Narrate(NarrateArgs),
    /// Print the instructions for a subagent: where its output goes, and the commands that write it
    Brief(BriefArgs),
    /// Record how a run ended
    Finish(FinishArgs),
    /// Say which runs could go, and remove them with --yes
    #[command(after_help = upkeep::CLEAN_HELP)]
    Clean(upkeep::CleanArgs),
    /// Write a run in the other form, as a new folder, and say what could not be carried; the run itself stays as it is
    Convert(upkeep::ConvertArgs),
    /// Look whether this place is fit to record runs in: tools, git, file systems, journals, schemas; recommend a state mode
    Doctor(upkeep::DoctorArgs),
    /// Serve the viewer on 127.0.0.1, showing a run
    View(ViewArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Looks for runs.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Where to look instead: a `.prose` folder, or any folder that holds runs
    pub(crate) path: Option<String>,
    /// Only runs of this status: completed, failed, waiting, running, interrupted, unreadable … (several with commas)
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only runs begun since: a time (`2026-01-25`, RFC 3339) or how long ago (`7d`, `2h30m`)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only runs whose program has this in its path
    #[arg(long, value_name = "TEXT")]
    pub(crate) program: Option<String>,
    /// Only runs with a gate that waits for a decision
    #[arg(long)]
    pub(crate) pending: bool,
    /// In this order
    #[arg(long, value_enum, default_value_t = Sort::Newest)]
    pub(crate) sort: Sort,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// An order of runs; see [`prosescope_core::session::Order`].
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
}

/// Names a run.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
}

/// Prints the tree.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// Print at most this many rows
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

/// Renders state.md.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// Write the whole program, not only what ran and what comes next
    #[arg(long)]
    pub(crate) all: bool,
    /// Compare with the folder's own state file
    #[arg(long)]
    pub(crate) diff: bool,
}

/// Reads a value.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The name; an import's binding reads `alias.name`
    pub(crate) name: String,
    #[arg(long, default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// Resolve from this frame, outward; without it from the root
    #[arg(long, value_name = "EXECUTION_ID", allow_negative_numbers = true)]
    pub(crate) from: Option<i64>,
    /// Say why the name means this value: every candidate, the winner first
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print control characters as they are, to a terminal too
    #[arg(long)]
    pub(crate) raw: bool,
}

/// Plans how to go on.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
    pub(crate) run: String,
    /// Print a bounded Markdown prompt to hand to a model, the run's text fenced as data
    #[arg(long, conflicts_with = "json")]
    pub(crate) prompt: bool,
    /// Open an interrupted or waiting run again, to record what follows
    #[arg(long, conflicts_with = "prompt")]
    pub(crate) begin: bool,
}

/// Checks runs.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Runs, named as everywhere; the one that PROSE_RUN names, else the latest, without any
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Check every run below `.prose/`; with a path, every run below it
    #[arg(long)]
    pub(crate) all: bool,
    /// Only these rules; repeat it, or put commas between them
    #[arg(long = "rule", value_name = "RULE", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// Only what is at least so severe
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "note",
        hide_default_value = true
    )]
    pub(crate) severity: Level,
    /// End with 1 for warnings, or for notes, and not only for errors
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        default_value = "error",
        hide_default_value = true
    )]
    pub(crate) deny: Level,
    /// Print SARIF 2.1.0, for code scanning in CI
    #[arg(long, conflicts_with = "json")]
    pub(crate) sarif: bool,
    /// Write a repaired copy of a run beside it, and say what was repaired; the run itself stays as it is
    #[arg(long, conflicts_with_all = ["all", "rules", "sarif", "explain"])]
    pub(crate) fix: bool,
    /// Where the copy goes: a folder that is not there yet; RUN-fixed beside the run without it
    #[arg(long, value_name = "PATH", requires = "fix")]
    pub(crate) out: Option<std::path::PathBuf>,
    /// Say what a rule means and what to do, with an example; list all rules without RULE
    #[arg(long, value_name = "RULE", num_args = 0..=1, conflicts_with_all = ["runs", "all", "rules", "sarif"])]
    pub(crate) explain: Option<Option<String>>,
}

/// How severe an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// A fact shown may be wrong, or something could not be read
    #[value(alias = "errors")]
    Error,
    /// What is shown may be incomplete
    #[value(alias = "warnings")]
    Warning,
    /// Worth knowing
    #[value(aliases = ["notes", "info"])]
    Note,
}

/// Serves the viewer.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Runs or paths to show; the run that PROSE_RUN names, else the latest, without any
    #[arg(value_name = "RUN|PATH")]
    pub(crate) runs: Vec<String>,
    /// Listen on this port; any free one without it
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
}

/// Prints completions.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    /// Every command that does something: `gates` and `gates expire`, but not `exec`.
    fn commands(command: &clap::Command, above: &str, out: &mut Vec<String>) {
        for below in command.get_subcommands() {
            let name = format!("{above} {}", below.get_name());
            if !below.is_subcommand_required_set() {
                out.push(name.clone());
            }
            commands(below, &name, out);
        }
    }

    #[test]
    fn docs_json_md_has_a_section_for_every_command() {
        let page = include_str!("../../../docs/json.md");
        let mut all = Vec::new();
        commands(&Cli::command(), "prose", &mut all);
        assert!(all.len() > 40, "{all:?}");
        for command in all {
            // It prints a script, whatever `--json` says.
            let written = page.contains(&format!("\n## {command}\n"));
            assert_eq!(
                written,
                command != "prose completions",
                "{command}: tests/tests/e2e/json.rs has the examples that docs/json.md is made of"
            );
        }
    }
}
