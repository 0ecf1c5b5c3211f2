//! Reads the rules of `--rules FILE`, and collects the secrets and names that `share` replaces: from `.env` files,
//! environment variables, and this machine.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use prosescope_share::copy::Redactor;
use prosescope_share::redact::{LONGEST_FILE, RuleKind, Rules, names_secret};
use prosescope_share::wishes::{LONGEST, LocalSecret, in_env};

use super::runs::RunsToShare;
use crate::args::share::WishArgs;
use crate::error::CliError;
use crate::{input, locate};

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

/// Returns the secrets in `.env` files and environment variables, and the names of the user and of this machine.
/// `around` contains the folders of the runs.
pub(crate) fn known<'a>(around: impl Iterator<Item = &'a PathBuf>) -> Vec<LocalSecret> {
    let mut known = Vec::new();
    for file in env_files(around) {
        known.extend(in_env(&fs::read_to_string(&file).unwrap_or_default()));
    }
    // Variables that are not UTF-8 are skipped: a text cannot contain them.
    let variables = std::env::vars_os();
    let texts = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let secrets = texts.filter(|(name, _)| names_secret(name));
    known.extend(secrets.map(|(name, value)| LocalSecret {
        name,
        value,
        kind: RuleKind::Secret,
    }));
    let user = whoami::username().ok();
    let host = whoami::hostname().ok();
    for (name, value) in [("user", user), ("host", host)] {
        known.extend(value.map(|value| LocalSecret {
            name: name.to_owned(),
            value,
            kind: RuleKind::Personal,
        }));
    }
    known
}

/// Returns the `.env` files of these folders, of the projects that contain them, and of the working directory.
fn env_files<'a>(around: impl Iterator<Item = &'a PathBuf>) -> BTreeSet<PathBuf> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    folders.extend(std::env::current_dir());
    folders.extend(locate::project());
    for dir in around {
        folders.insert(dir.clone());
        let mut above = dir.ancestors();
        if let Some(prose) = above.find(|dir| dir.ends_with(".prose")) {
            folders.insert(prose.to_owned());
            folders.extend(prose.parent().map(Path::to_owned));
        }
    }
    let files = folders.into_iter().map(|dir| dir.join(".env"));
    let is_file = |file: &PathBuf| {
        let meta = file.metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST)
    };
    files.filter(is_file).collect()
}
