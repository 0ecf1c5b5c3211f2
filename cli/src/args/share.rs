//! Arguments of `share`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prosescope_share::what::Content;
use prosescope_share::wishes::Wishes;

use super::run::{SAME, run_name, several};
use crate::error::CliError;
use crate::locate::unnamed;

pub(crate) const SHARE_HELP: &str = "\
What is left out or replaced:
  secrets     tokens, keys, passwords, and every value of .env files and of variables
              whose names say secret: always
  personal    home directories, e-mail addresses, names of people, users and machines:
              unless --with personal
  history     values and memories that were replaced: unless --with history
  the rest    stays, but for what --without and --max-value leave out

Nothing finds every secret: look at what --report lists before you send the file.
Exit code 4: something that was replaced is still in what was written; no file is left.";

/// Shares runs as one file.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ShareArgs {
    /// The runs: ids, unique prefixes, paths, postgres:ID, or a database of workflows [default: PROSE_RUN, else latest]
    #[arg(value_parser = run_name)]
    runs: Vec<String>,
    #[arg(long = "run", value_name = "RUN", value_parser = run_name, help = SAME)]
    named: Option<String>,
    /// The file to write; what is there is kept unless --overwrite is given
    #[arg(short, long, value_name = "FILE", required_unless_present = "report")]
    pub(crate) out: Option<PathBuf>,
    /// The form [default: by the file's name: .html, .zip, .db, .txt]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Write the summary alone, as plain text
    #[arg(long)]
    pub(crate) plain: bool,
    /// List what would be replaced and left out, and write nothing
    #[arg(long)]
    pub(crate) report: bool,
    #[command(flatten)]
    wishes: WishArgs,
    /// Sign the manifest with this SSH key; `check --allowed-signers` verifies it. Whoever holds the key signed exactly this
    /// manifest: that the run is true, or all of it, is not proved
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
    /// Do not ask before writing
    #[arg(long)]
    pub(crate) yes: bool,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// What leaves when a run is shared, or written for a model.
#[derive(Debug, Args)]
pub(crate) struct WishArgs {
    /// Leave this out as a whole; may be given several times, or separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "CONTENT")]
    without: Vec<LeftOut>,
    /// Put this in
    #[arg(
        long = "with",
        value_enum,
        value_delimiter = ',',
        value_name = "CONTENT"
    )]
    with: Vec<Put>,
    /// Keep what is called so in the report (`github-token #1`), or all that a rule finds (`github-token`)
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// Replace this text as well, wherever it stands; between slashes, a regular expression
    #[arg(long, value_name = "TEXT")]
    redact: Vec<String>,
    /// Leave out values and files that are longer: `500k`, `2M`
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_value: Option<u64>,
    /// Replace nothing and leave nothing out; says what the file holds
    #[arg(long, conflicts_with_all = ["without", "with", "keep", "redact", "max_value"])]
    raw: bool,
}

/// The form of a shared file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A page with the viewer and the run in it
    Html,
    /// The run's files
    Zip,
    /// The run's database
    Db,
}

/// A content that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeftOut {
    /// Values of bindings, answers of agents
    Values,
    /// Prompts of agents
    Prompts,
    /// Memories of agents
    Memories,
    /// The program's text; the statements that ran stay
    Program,
    /// Files that bindings name
    Attachments,
}

impl From<LeftOut> for Content {
    fn from(of: LeftOut) -> Content {
        match of {
            LeftOut::Values => Content::Values,
            LeftOut::Prompts => Content::Prompts,
            LeftOut::Memories => Content::Memories,
            LeftOut::Program => Content::Program,
            LeftOut::Attachments => Content::Attachments,
        }
    }
}

/// A content that is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Put {
    /// Values and memories that were replaced
    History,
    /// Home directories, e-mail addresses, names of people, users and machines
    Personal,
}

impl WishArgs {
    /// What is to leave.
    pub(crate) fn wishes(&self) -> Wishes {
        Wishes {
            without: self.without.iter().map(|of| (*of).into()).collect(),
            personal: self.with.contains(&Put::Personal),
            history: self.with.contains(&Put::History),
            keep: self.keep.clone(),
            redact: self.redact.clone(),
            max_value: self.max_value,
            raw: self.raw,
            opens: None,
        }
    }
}

impl ShareArgs {
    /// What is to leave.
    pub(crate) fn wishes(&self) -> Wishes {
        self.wishes.wishes()
    }

    /// The runs that are shared.
    pub(crate) fn runs(&self) -> Result<Vec<String>, CliError> {
        let runs = several(&self.runs, self.named.as_deref())?;
        match runs.is_empty() {
            true => Ok(vec![unnamed()?]),
            false => Ok(runs),
        }
    }
}

/// A number of bytes: `200`, `500k`, `2M`, `1G`.
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
