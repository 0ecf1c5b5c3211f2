//! Defines the arguments of `prosescope cost`.

use std::path::PathBuf;

use clap::Args;

use super::run::RunArgs;

pub(super) const COST_HELP: &str = "\
Each number is one of:
  measured  counted from the transcripts; each answer of a model is counted once
  reported  written by the run itself, such as receipts; a model may have invented it
  unknown   not recorded; unknown is never shown as 0

A transcript is joined with a statement:
  by tool use  the tool call that started the subagent names this statement only: its folder workspace/NODE/, its file \
bindings/NAME.md, its name, or its prompt
  by time      the transcript lies in the recorded time of one statement only
Other transcripts are listed with the reason. No price is computed; prices that are recorded are shown.

Transcripts of Claude Code are in ~/.claude/projects, those of Codex in ~/.codex/sessions. They are only read, and never \
shared.";

#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Count the tokens from the transcripts (*.jsonl) of Claude Code and Codex in this folder, and in all folders in it
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Option<PathBuf>,
}
