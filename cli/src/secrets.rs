//! Collects the secrets and names that are replaced in what is shown or shared: from `.env` files, environment variables,
//! and this machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_share::redact::{RuleKind, names_secret};
use prosescope_share::wishes::{LONGEST, LocalSecret, in_env};

use crate::locate;

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
