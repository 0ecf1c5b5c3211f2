//! Arguments of the commands about gates and their audit log.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::record::InsistArgs;
use super::run::{RUN_HELP, RunArgs, RunOption, SAME, one, run_name};
use crate::error::CliError;
use crate::locate::{RUN_ENV, in_environment};

/// What every decision is told.
pub(super) const CLAIM: &str = "\
--as and --for are claims: nothing checks them. The audit log also records the operating system's
user. Exit code 4: the gate is not pending, is past its deadline, or does not allow that name.
Nothing is recorded then, except a time-out with --record-timeout.";

/// Lists gates.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GatesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<GatesCommand>,
    #[command(flatten)]
    pub(crate) run: AnyRun,
    /// Only pending gates (the default without RUN)
    #[arg(long, conflicts_with = "all")]
    pub(crate) pending: bool,
    /// Only pending gates whose deadline is within this time: 30m, 1h, 2h30m
    #[arg(long, value_name = "DURATION", conflicts_with = "all")]
    pub(crate) expiring: Option<String>,
    /// Decided gates too (the default with RUN)
    #[arg(long)]
    pub(crate) all: bool,
}

/// What is done with many gates.
#[derive(Debug, Subcommand)]
pub(crate) enum GatesCommand {
    /// Record the time-out of every gate that is past its deadline; safe to repeat
    Expire {
        #[command(flatten)]
        run: AnyRun,
        /// Also gates whose creation no sealed row of the log records; the override is recorded too
        #[arg(long = "override")]
        overrides: bool,
        /// Who overrides; not checked
        #[arg(
            long = "as",
            value_name = "NAME",
            default_value = "user",
            requires = "overrides"
        )]
        by: String,
    },
}

/// Names the run of a command that works on all runs where none is named.
#[derive(Debug, Args)]
pub(crate) struct AnyRun {
    #[arg(value_parser = run_name, help = format!("{RUN_HELP} [default: all runs below `.prose/`, whatever {RUN_ENV} names]"))]
    run: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
}

impl AnyRun {
    /// Returns the run that is named, if any.
    pub(crate) fn given(&self) -> Result<Option<String>, CliError> {
        one(self.run.as_deref(), self.named.as_deref())
    }
}

/// What is done with one gate.
#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Show a gate with its history, and log the view in the audit log
    #[command(override_usage = "prosescope gate show [OPTIONS] [RUN] <GATE>")]
    Show {
        #[command(flatten)]
        gate: GateArgs,
        /// Do not log the view
        #[arg(long)]
        no_log: bool,
    },
    /// Record that the run waits at a gate; prints the gate's id, `ID#2` for its second visit
    Create(CreateArgs),
    /// Record a decision that was made on a copy of the run, if the gate is still as the copy shows it
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
}

/// What an import compares.
const IMPORT: &str = "\
The gate must be pending in the run, by this machine's clock not past its deadline, with the prompt
and the list of names that the copy shows; its list must allow the name; and the audit log must
contain the last row that the copy shows. Exit code 4: one of these is not so, or the gate is decided
already. Nothing is recorded then.

The names and the time in the copy are claims: nothing checks them. The audit log records them beside
the time of the import.";

/// Imports a decision.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A decision file (*.decision.json); or a copy of the run in which the gate was decided: a database, a run folder, a shared file
    #[arg(value_name = "COPY")]
    pub(crate) copy: PathBuf,
    #[arg(value_parser = run_name, help = format!("{RUN_HELP} [default: the run that the copy names]"))]
    run: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// The gate [default: the only one that the copy decides]
    #[arg(long, value_name = "ID")]
    pub(crate) gate: Option<String>,
    /// Decide in this name instead of the one that the copy claims; not checked
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) by: Option<String>,
}

impl ImportArgs {
    /// Returns the run that is named, if any.
    pub(crate) fn given(&self) -> Result<Option<String>, CliError> {
        one(self.run.as_deref(), self.named.as_deref())
    }
}

/// Creates a gate.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The gate's id in the program [default: the gate at --line]
    #[arg(required_unless_present = "line")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// The question for the approver [default: from the program]
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Who may decide, separated by commas; `user` is any person [default: from the program, else user]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allow: Option<Vec<String>>,
    /// How long the gate waits: 30s, 30m, 4h, 7d, 2h30m [default: from the program, else no limit]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// What the program does after a rejection or a time-out [default: from the program]
    #[arg(long, value_name = "TEXT")]
    pub(crate) on_reject: Option<String>,
    /// The execution that contains the gate: a branch, a loop, a called block [default: found among the open executions]
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) item: super::record::ItemArg,
    /// The gate's line in the program, which gives all defaults
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
}

/// Names a gate and its run. Of two arguments the run is the first; one is the gate. clap's own way to leave out the first
/// (`allow_missing_positional`) reads `RUN --as NAME GATE` as one argument too many.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    #[arg(value_name = "RUN", value_parser = run_name, help = format!("{RUN_HELP} [default: {RUN_ENV}]"))]
    run: Option<String>,
    /// The gate's id
    #[arg(value_name = "GATE")]
    gate: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
}

impl GateArgs {
    /// Returns the run and the gate. The newest run is no default: what is recorded at a gate cannot be taken back.
    pub(crate) fn names(&self) -> Result<(String, &str), CliError> {
        let (run, gate) = match (&self.run, &self.gate) {
            (Some(run), Some(gate)) => (Some(run.as_str()), gate),
            (Some(gate), None) | (None, Some(gate)) => (None, gate),
            (None, None) => {
                return Err(CliError::usage("no gate is named")
                    .hint("give its id; `prosescope gates` lists the pending gates"));
            }
        };
        let named = one(run, self.named.as_deref())?;
        match named.map_or_else(in_environment, |run| Ok(Some(run)))? {
            Some(run) => Ok((run, gate)),
            None => Err(CliError::usage(format!("the run of gate {gate} is not named")).hint(
                format!("name it before the gate, with --run or in {RUN_ENV}; `prosescope gates` lists the pending gates with their runs"),
            )),
        }
    }
}

/// Who decides which gate.
#[derive(Debug, Args)]
pub(crate) struct Decider {
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// Who decides; not checked
    #[arg(long = "as", value_name = "NAME", default_value = "user")]
    pub(crate) by: String,
    /// On whose behalf; not checked
    #[arg(long = "for", value_name = "NAME")]
    pub(crate) acting_for: Option<String>,
    /// If the deadline has passed, record the time-out
    #[arg(long)]
    pub(crate) record_timeout: bool,
    /// Decide a gate whose creation no sealed row of the log records; the override is recorded too
    #[arg(long = "override")]
    pub(crate) overrides: bool,
}

/// Approves.
#[derive(Debug, Args)]
#[command(override_usage = "prosescope approve [OPTIONS] [RUN] <GATE>")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decider: Decider,
    /// A comment for the audit log
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// Approve (the default)
    #[arg(long, conflicts_with = "reject")]
    pub(crate) approve: bool,
    /// Reject, like `prosescope reject`
    #[arg(long, requires = "reason", conflicts_with = "comment")]
    pub(crate) reject: bool,
    /// Why the gate is rejected
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) reason: Option<String>,
}

/// Rejects.
#[derive(Debug, Args)]
#[command(override_usage = "prosescope reject [OPTIONS] --reason <TEXT> [RUN] <GATE>")]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) decider: Decider,
    /// Why the gate is rejected
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Reads the audit log.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// All runs below `.prose/`
    #[arg(long, conflicts_with_all = ["run", "named"])]
    pub(crate) all: bool,
    /// Only this gate
    #[arg(long, value_name = "ID")]
    pub(crate) gate: Option<String>,
    /// Only decisions by this principal
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Only decisions since a time (`2026-01-25`, RFC 3339) or within a duration (`24h`)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// List time-outs with their deadlines
    #[arg(long, group = "report")]
    pub(crate) timeouts: bool,
    /// Count the events of each kind, and their principals
    #[arg(long, group = "report")]
    pub(crate) stats: bool,
    /// List how long gates waited for their decisions, longest first
    #[arg(long, group = "report")]
    pub(crate) waits: bool,
}

/// What is done with an audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify the hash chain of the audit log, and compare the gates with it; exit code 1 if they differ
    #[command(after_help = "\
A consistent log may still have been rewritten as a whole, because its hashes need no secret. To
detect that, keep the head that a decision prints, and pass it as --expect-head. docs/reference/audit.md lists
what is compared, and what cannot be noticed.")]
    Verify {
        #[command(flatten)]
        run: RunArgs,
        /// A head that a decision printed: the log must contain that row at that position; later rows are allowed
        #[arg(long, value_name = "COUNT:HASH")]
        expect_head: Option<String>,
    },
}
