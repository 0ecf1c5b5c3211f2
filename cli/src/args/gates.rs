//! Defines the arguments of the commands about gates and their audit log.

use clap::{Args, Subcommand};
use prosescope_core::model::run_id::RunId;

use super::record::InsistArgs;
use super::run::{RUN_HELP, RunArgs, RunOption, SAME, one, run_name};
use crate::error::CliError;
use crate::locate::{RUN_ENV, in_environment};

/// The part of the help texts that all commands for decisions share.
pub(super) const CLAIM: &str = "\
The names in --as and --for are claims: nothing checks them. The audit log also records the operating system's user.

Exit code 4: the gate is not pending, is past its deadline, or does not allow the name in --as. Nothing is recorded, \
except a time-out with --record-timeout.";

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
    /// Include decided gates (the default with RUN)
    #[arg(long)]
    pub(crate) all: bool,
}

// Commands for all gates of a run, or of all runs.
#[derive(Debug, Subcommand)]
pub(crate) enum GatesCommand {
    /// Record the time-out of each gate that is past its deadline; safe to repeat
    Expire {
        #[command(flatten)]
        run: AnyRun,
        /// Include gates whose creation the audit log does not record in a sealed row; the override is recorded, too
        #[arg(long = "override")]
        overrides: bool,
        /// The name of the person who overrides; not checked
        #[arg(
            long = "as",
            value_name = "NAME",
            default_value = "user",
            requires = "overrides"
        )]
        by: String,
    },
}

// The run of a command that works on all runs by default.
#[derive(Debug, Args)]
pub(crate) struct AnyRun {
    #[arg(value_parser = run_name, help = format!("{RUN_HELP} [default: all runs below `.prose/`, whatever {RUN_ENV} names]"))]
    run: Option<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
}

impl AnyRun {
    /// Returns the run that the command line names, if any.
    pub(crate) fn given(&self) -> Result<Option<String>, CliError> {
        one(self.run.as_deref(), self.named.as_deref())
    }
}

/// Commands for one gate.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum GateCommand {
    /// Show a gate with its history, and record the view in the audit log
    #[command(override_usage = "prosescope gate show [OPTIONS] [RUN] <GATE>")]
    Show {
        #[command(flatten)]
        gate: GateArgs,
        /// Do not record the view
        #[arg(long)]
        no_log: bool,
    },
    /// Wait until a gate is decided. Exit code 0: it was approved; 4: it was rejected, timed out, or --for is over
    #[command(override_usage = "prosescope gate wait [OPTIONS] [RUN] <GATE>")]
    Wait {
        #[command(flatten)]
        gate: GateArgs,
        /// Stop waiting after this time: 30s, 30m, 2h [default: no limit]
        #[arg(long = "for", value_name = "DURATION")]
        limit: Option<String>,
    },
    /// Record that the run waits at a gate; prints the gate's id (`ID#2` for the second visit)
    Create(CreateArgs),
}

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
    /// The action of the program after a rejection or a time-out [default: from the program]
    #[arg(long, value_name = "TEXT")]
    pub(crate) on_reject: Option<String>,
    /// The execution that contains the gate: a branch, a loop, a called block [default: found among the open
    /// executions]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) parent: Option<i64>,
    #[command(flatten)]
    pub(crate) item: super::record::ItemArg,
    /// The gate's line in the program; the program gives all defaults
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
}

// A gate and its run. Of two arguments, the first is the run and the second is the gate; a single argument is the
// gate. clap's own setting for an optional first argument (`allow_missing_positional`) is not used, because it rejects
// `RUN --as NAME GATE`.
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
    /// Returns the run and the gate that the command line names; the run may also be in `PROSE_RUN`. The newest run
    /// is not a default, because a decision on a gate cannot be undone.
    pub(crate) fn names(&self) -> Result<(String, &str), CliError> {
        let (run, gate) = match (&self.run, &self.gate) {
            (Some(run), Some(gate)) => (Some(run.as_str()), gate),
            (Some(gate), None) | (None, Some(gate)) => (None, gate),
            (None, None) => {
                return Err(CliError::usage("the id of the gate is missing")
                    .hint("give the id; `prosescope gates` lists the pending gates"));
            }
        };
        let named = one(run, self.named.as_deref())?;
        match named.map_or_else(in_environment, |run| Ok(Some(run)))? {
            Some(run) => Ok((run, gate)),
            None if RunId::parse(gate).is_well_formed() => {
                let named = CliError::usage(format!("{gate} names a run, and no gate is named"));
                Err(named.hint(format!(
                    "name the gate behind the run; `prosescope gates {gate}` lists the gates"
                )))
            }
            None => Err(CliError::usage(format!("the run of gate {gate} is not named")).hint(
                format!("name the run before the gate, with --run or in {RUN_ENV}; `prosescope gates` lists the pending gates with their runs"),
            )),
        }
    }
}

// The options that `approve` and `reject` share.
#[derive(Debug, Args)]
pub(crate) struct Decider {
    #[command(flatten)]
    pub(crate) gate: GateArgs,
    /// The name of the person who decides; not checked
    #[arg(long = "as", value_name = "NAME", default_value = "user")]
    pub(crate) by: String,
    /// The name of the person or team on whose behalf you decide; not checked
    #[arg(long = "for", value_name = "NAME")]
    pub(crate) acting_for: Option<String>,
    /// Record the time-out if the deadline has passed
    #[arg(long)]
    pub(crate) record_timeout: bool,
    /// Decide a gate whose creation the audit log does not record in a sealed row; the override is recorded, too
    #[arg(long = "override")]
    pub(crate) overrides: bool,
}

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
    /// The reason for the rejection
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
#[command(override_usage = "prosescope reject [OPTIONS] --reason <TEXT> [RUN] <GATE>")]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) decider: Decider,
    /// The reason for the rejection
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

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
    /// Only events of this gate
    #[arg(long, value_name = "ID")]
    pub(crate) gate: Option<String>,
    /// Only decisions by this principal
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Only decisions since a time (`2026-01-25`, RFC 3339) or within a duration before now (`24h`)
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

// Commands for an audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify the hash chain of the audit log, and compare the gates with the log; exit code 1 if they differ
    #[command(after_help = "\
A log can be consistent although all of its rows were rewritten, because the hashes need no secret. To detect a rewritten \
log, keep the head that a decision prints, and pass this head as --expect-head. docs/reference/audit.md lists what the \
command compares, and which changes the command cannot detect.")]
    Verify {
        #[command(flatten)]
        run: RunArgs,
        /// The head that a decision printed. The sealed row number COUNT must have this HASH; later rows are allowed
        #[arg(long, value_name = "COUNT:HASH")]
        expect_head: Option<String>,
    },
}
