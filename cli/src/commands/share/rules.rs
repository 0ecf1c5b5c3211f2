//! Reads the rules of `--rules FILE`.

use std::io::Read as _;
use std::path::Path;

use prosescope_share::copy::Redactor;
use prosescope_share::redact::{LONGEST_FILE, Rules};

use super::runs::RunsToShare;
use crate::args::share::WishArgs;
use crate::error::CliError;
use crate::input;
use crate::secrets::known;

/// Returns a redactor for the rules and texts that the options name, and for the secrets and names of this machine and
/// the runs' projects.
pub(in crate::commands) fn redactor(
    args: &WishArgs,
    runs: &RunsToShare,
) -> Result<Redactor, CliError> {
    let rules = rules(args.rules.as_deref())?;
    let redactor = args.wishes().redactor(rules, known(runs.folders()));
    redactor.map_err(|(text, refused)| CliError::usage(format!("--redact {text}: {refused}")))
}

/// Returns the built-in rules and those of the file.
fn rules(file: Option<&Path>) -> Result<Rules, CliError> {
    let mut rules = Rules::new();
    if let Some(path) = file {
        let mut bytes = Vec::new();
        // `add_file` refuses a longer file.
        let read = input::file(path)?
            .take(LONGEST_FILE + 1)
            .read_to_end(&mut bytes);
        read.map_err(|cause| input::unread(&path.display().to_string(), &cause))?;
        let added = rules.add_file(&bytes);
        added.map_err(|wrong| CliError::usage(format!("--rules {}: {wrong}", path.display())))?;
    }
    Ok(rules)
}
