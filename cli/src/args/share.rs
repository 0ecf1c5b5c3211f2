//! Defines the arguments of `prosescope share`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prosescope_share::what::SharedContent;
use prosescope_share::wishes::Wishes;

use super::run::{SAME, run_name, several};
use crate::error::CliError;
use crate::locate::unnamed;

pub(crate) const SHARE_HELP: &str = "\
Left out or replaced:
  secrets     always: tokens, keys, passwords, all values of .env files, and the values of variables with a name for secrets
  personal    unless --with personal: home directories, e-mail addresses, names of people, users and machines
  history     unless --with history: earlier values and memories
  the rest    stays, except what --without and --max-value leave out

No rule finds every secret: read what --report lists before you send the file.

Exit code 4: the file still contained a text that the command had to replace, so the command removed the file.";

#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ShareArgs {
    /// The runs: ids, unique prefixes, paths, postgres:ID, or a database of workflows [default: PROSE_RUN, else latest]
    #[arg(value_parser = run_name)]
    runs: Vec<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// The file to write; an existing file is kept unless --overwrite is given
    #[arg(short, long, value_name = "FILE", required_unless_present = "report")]
    pub(crate) out: Option<PathBuf>,
    /// The form of the file [default: from its name: .html, .zip, .db, .txt]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write only the summary, as plain text
    #[arg(long)]
    pub(crate) plain: bool,
    /// Write nothing; list what would be replaced and left out
    #[arg(long)]
    pub(crate) report: bool,
    #[command(flatten)]
    pub(crate) wishes: WishArgs,
    /// Do not ask before writing
    #[arg(long)]
    pub(crate) yes: bool,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Also share a shared file that was changed, which the new file does not record, and more secrets than can be
    /// searched for after they were replaced
    #[arg(long)]
    pub(crate) anyway: bool,
}

// The options that choose the contents of a shared run, or of a text for a model.
#[derive(Debug, Default, Args)]
pub(crate) struct WishArgs {
    /// Leave out this content; may be repeated, or separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CONTENT")]
    without: Vec<LeftOut>,
    /// Include this content, which is left out or replaced by default
    #[arg(
        long = "with",
        value_enum,
        value_delimiter = ',',
        value_name = "CONTENT"
    )]
    with: Vec<DefaultContent>,
    /// Do not replace one finding of `share --report` (`github-token #1`), or all findings of a rule (`github-token`)
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// Also replace this text everywhere; a text between slashes is a regular expression
    #[arg(long, value_name = "TEXT")]
    redact: Vec<String>,
    /// Also apply the rules of this TOML file; docs/reference/sharing.md explains its form
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Leave out values and files that are longer than SIZE: `500k`, `2M`
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_value: Option<u64>,
    /// Replace nothing and leave nothing out; the output lists the secrets in the file
    #[arg(long, conflicts_with_all = ["without", "with", "keep", "redact", "rules", "max_value"])]
    raw: bool,
}

/// The form of a shared file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An HTML page with the viewer and the run
    Html,
    /// The run's files
    Zip,
    /// The run's database
    Db,
}

/// Contents that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeftOut {
    /// Values of bindings, answers of agents
    Values,
    /// Prompts of agents
    Prompts,
    /// Memories of agents
    Memories,
    /// The program's text; statements that ran stay
    Program,
    /// Files that are values of bindings
    Attachments,
}

impl From<LeftOut> for SharedContent {
    fn from(of: LeftOut) -> SharedContent {
        match of {
            LeftOut::Values => SharedContent::Values,
            LeftOut::Prompts => SharedContent::Prompts,
            LeftOut::Memories => SharedContent::Memories,
            LeftOut::Program => SharedContent::Program,
            LeftOut::Attachments => SharedContent::Attachments,
        }
    }
}

/// Contents that are left out or replaced by default. `--with` includes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DefaultContent {
    /// Earlier values and memories
    History,
    /// Home directories, e-mail addresses, names of people, users and machines
    Personal,
}

impl WishArgs {
    /// Returns the contents that the options choose.
    pub(crate) fn wishes(&self) -> Wishes {
        Wishes {
            without: self.without.iter().map(|of| (*of).into()).collect(),
            personal: self.with.contains(&DefaultContent::Personal),
            history: self.with.contains(&DefaultContent::History),
            keep: self.keep.clone(),
            redact: self.redact.clone(),
            max_value: self.max_value,
            raw: self.raw,
            anyway: false,
            opens: None,
        }
    }
}

impl ShareArgs {
    /// Returns the contents that the options choose.
    pub(crate) fn wishes(&self) -> Wishes {
        Wishes {
            anyway: self.anyway,
            ..self.wishes.wishes()
        }
    }

    /// Returns the runs to share.
    pub(crate) fn runs(&self) -> Result<Vec<String>, CliError> {
        let runs = several(&self.runs, self.named.as_deref())?;
        if runs.is_empty() {
            Ok(vec![unnamed()?])
        } else {
            Ok(runs)
        }
    }
}

/// Parses a number of bytes: `200`, `500k`, `2M`, `1G`.
fn size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, unit) = match lower.strip_suffix('b').unwrap_or(&lower) {
        of if of.ends_with('k') => (of.trim_end_matches('k'), 1 << 10),
        of if of.ends_with('m') => (of.trim_end_matches('m'), 1 << 20),
        of if of.ends_with('g') => (of.trim_end_matches('g'), 1 << 30),
        of => (of, 1_u64),
    };
    let number: Option<u64> = number.trim().parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "give a number of bytes, such as 500k or 2M".to_owned())
}
