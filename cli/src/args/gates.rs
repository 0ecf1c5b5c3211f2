//! Arguments of the commands about gates and their audit log.

use clap::{Args, Subcommand};

use super::record::{InsistArgs, RunOption};
use super::{RUN_HELP, run_name};
use crate::locate::{LATEST, RUN_ENV};

/// What every decision is told.
pub(super) const CLAIM: &str = "\
Who decides is what --as and --for claim: nothing here checks it. The system's user is noted
beside it, as the system says it. Exit code 4: the gate is not pending, past its deadline, or does
not admit that name; nothing was changed then, unless --record-timeout recorded a time-out.";

/// Lists gates.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GatesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<GatesCommand>,
    #[arg(help = RUN_HELP)]
    pub(crate) run: Option<String>,
    /// Only those that wait for a decision (the default without RUN)
    #[arg(long, conflicts_with = "all")]
    pub(crate) pending: bool,
    /// Only those that wait and whose deadline comes within this time: 30m, 1h, 2h30m
    #[arg(long, value_name = "DURATION", conflicts_with = "all")]
    pub(crate) expiring: Option<String>,
    /// Decided ones too (the default with RUN)
    #[arg(long)]
    pub(crate) all: bool,
}

/// What is done with many gates.
#[derive(Debug, Subcommand)]
pub(crate) enum GatesCommand {
    /// Record the time-out of every gate that is past its deadline, once; safe to repeat
    Expire {
        /// Only those of this run; of all runs below `.prose/` without it
        run: Option<String>,
    },
}

/// What is done with one gate.
#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Show a gate with its history; the audit log notes that it was viewed
    Show {
        #[arg(help = RUN_HELP)]
        run: String,
        /// The gate
        gate: String,
        /// Note nothing in the audit log
        #[arg(long)]
        no_log: bool,
    },
    /// The program stands at a gate; prints the gate's id, `ID#2` when it is met again
    Create(CreateArgs),
}

/// Creates a gate.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Its id, as the program has it; the gate at --line without it
    #[arg(required_unless_present = "line")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunOption,
    /// What the approver is asked; as the program says without it
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Who may decide, with commas between the names; as the program says without it. `user` is any person, and who is
    /// meant where the program does not say
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allow: Option<Vec<String>>,
    /// How long it waits: 30s, 30m, 4h, 7d, 2h30m; as the program says without it
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// What the program does on a rejection or a time-out; as it says without it
    #[arg(long, value_name = "TEXT")]
    pub(crate) on_reject: Option<String>,
    /// The execution that it stands in: a branch, a loop, a called block; taken from what stands open without it
    #[arg(long, value_name = "EXECUTION_ID")]
    pub(crate) parent: Option<i64>,
    /// Its line in the program, which says all that is not given
    #[arg(long, value_name = "N")]
    pub(crate) line: Option<u32>,
    #[command(flatten)]
    pub(crate) insist: InsistArgs,
}

/// Who decides which gate.
#[derive(Debug, Args)]
pub(crate) struct Decider {
    #[arg(help = RUN_HELP)]
    pub(crate) run: String,
    /// The gate
    pub(crate) gate: String,
    /// Who decides: a claim
    #[arg(long = "as", value_name = "NAME", default_value = "user")]
    pub(crate) by: String,
    /// For whom they act: a claim as well
    #[arg(long = "for", value_name = "NAME")]
    pub(crate) acting_for: Option<String>,
    /// Past the deadline, record the time-out that is due
    #[arg(long)]
    pub(crate) record_timeout: bool,
}

/// Approves.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) decider: Decider,
    /// What to note with it
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
    /// Approve: what happens anyway
    #[arg(long, conflicts_with = "reject")]
    pub(crate) approve: bool,
    /// Reject instead, as `prose reject` does
    #[arg(long, requires = "reason", conflicts_with = "comment")]
    pub(crate) reject: bool,
    /// Why it is rejected
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) reason: Option<String>,
}

/// Rejects.
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) decider: Decider,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}

/// Reads the audit log.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AuditCommand>,
    #[arg(help = format!("{RUN_HELP} (the one that {RUN_ENV} names, else the latest, without it)"))]
    pub(crate) run: Option<String>,
    /// Over all runs below `.prose/`
    #[arg(long, conflicts_with = "run")]
    pub(crate) all: bool,
    /// Only this gate
    #[arg(long, value_name = "ID")]
    pub(crate) gate: Option<String>,
    /// Only what this principal approved or rejected
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Only what was approved or rejected since: a time (`2026-01-25`, RFC 3339) or how long ago (`24h`)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// The time-outs, with their deadlines
    #[arg(long, group = "report")]
    pub(crate) timeouts: bool,
    /// How often each thing happened, and how many principals are named
    #[arg(long, group = "report")]
    pub(crate) stats: bool,
    /// How long gates waited for their decision, the longest first
    #[arg(long, group = "report")]
    pub(crate) waits: bool,
}

/// What is done with an audit log.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Say whether the audit log agrees with its chain; exit code 1 when it does not
    #[command(after_help = "\
A log that agrees with itself is consistent, and no more: its hashes need no secret, so somebody
may have made all of it anew. What was noted elsewhere shows that: give the head that a decision
printed with --expect-head.")]
    Verify {
        #[arg(default_value = LATEST, env = RUN_ENV, hide_env_values = true, value_parser = run_name, help = RUN_HELP)]
        run: String,
        /// The head that a decision printed: the log must have that row at that place, and may have grown since
        #[arg(long, value_name = "COUNT:HASH")]
        expect_head: Option<String>,
    },
}
