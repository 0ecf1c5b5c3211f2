//! What is a secret on this machine, and what the user keeps.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use prosescope_share::copy::{Redactor, known};
use prosescope_share::redact::{Exact, Kind, Rules, names_secret, rules, variables};
use prosescope_share::what::{Content, What};

use super::runs::Runs;
use crate::args::share::{self, Put, ShareArgs};
use crate::error::CliError;
use crate::locate;

/// A longer `.env` is none.
const LONGEST: u64 = 1 << 20;

pub(super) fn redactor(args: &ShareArgs, runs: &Runs) -> Result<Redactor, CliError> {
    let personal = args.with.contains(&Put::Personal);
    let mut rules = match personal {
        true => Rules::new().without(Kind::Personal),
        false => Rules::new(),
    };
    for name in &args.keep {
        let of_rule = self::rules().any(|rule| rule.id == name.as_str());
        match of_rule {
            true => {
                rules.without_rule(name);
            }
            false => rules.keep_name(name),
        }
    }
    for file in env_files(runs) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for variable in variables(&text) {
            if variable.is_secret() {
                known(&mut rules, &variable.name, &variable.value);
            }
        }
    }
    for (name, value) in std::env::vars() {
        if names_secret(&name) {
            known(&mut rules, &name, &value);
        }
    }
    if !personal {
        let user = whoami::username().ok();
        let host = whoami::hostname().ok();
        for (name, value) in [("user", user), ("host", host)] {
            if let Some(value) = value {
                // One that is short is a word as well.
                let _ = rules.exact(Exact::personal(name, &value));
            }
        }
    }
    for text in &args.redact {
        rules
            .asked(text)
            .map_err(|refused| CliError::usage(format!("--redact {text}: {refused}")))?;
    }
    let mut redactor = match args.raw {
        true => Redactor::raw(rules),
        false => Redactor::new(
            rules,
            What {
                without: without(args),
                max_value: args.max_value,
                people: personal,
            },
        ),
    };
    for session in runs.sessions() {
        redactor.meet(session);
    }
    Ok(redactor)
}

fn without(args: &ShareArgs) -> BTreeSet<Content> {
    let mut without: BTreeSet<Content> = args
        .without
        .iter()
        .map(|content| match content {
            share::Content::Values => Content::Values,
            share::Content::Prompts => Content::Prompts,
            share::Content::Memories => Content::Memories,
            share::Content::Program => Content::Program,
            share::Content::Attachments => Content::Attachments,
        })
        .collect();
    if !args.with.contains(&Put::History) {
        without.insert(Content::History);
    }
    without
}

/// The `.env` files around the runs, and here.
fn env_files(runs: &Runs) -> BTreeSet<PathBuf> {
    let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
    folders.extend(std::env::current_dir());
    folders.extend(locate::project());
    for dir in runs.folders() {
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
